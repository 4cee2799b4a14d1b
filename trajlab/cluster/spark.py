"""Tasks on Apache Spark 3.5 or 4: Spark schedules, retries and shuffles; DuckDB computes inside each task."""

from __future__ import annotations

import errno
import importlib.util
import logging
import os
import pickle
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from trajlab.cluster.shard import SendPart
from trajlab.errors import LabError, TrajlabError

FEW_FILES = 10_000
"""So many files may tasks write into the lab's folder to send rows to shards; beyond them, Spark shuffles."""
QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
LIGHT = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""Java here only hands out tasks: what it would spend to become faster takes longer than the work it does."""
RESULT = "number long, result binary"
NO_PYSPARK = "engine 'spark' needs pyspark, which is not installed: pip install 'trajlab[spark]'"
NO_JAVA = "engine 'spark' needs Java 17 or newer, which was not found: install it, or set JAVA_HOME"
NO_TRAJLAB = (
    "the Python of the workers lacks trajlab or what it needs: install trajlab there, and name that Python in "
    "PYSPARK_PYTHON before the session starts"
)
DISK_FULL = (
    "{doing}: the disk of a worker is full; nothing of this table is read. Free space in the folder of the lab and in "
    "the workers' temporary folders, or use more shards, and run it again: it goes on after the last finished table"
)
FULL = ("no space left", "disk full", "disk is full", "quota exceeded", "max_temp_directory_size")


class Spark:
    """A `Runner` over a Spark session, classic or Connect; workers need trajlab installed and see the lab's folder."""

    def __init__(self, session: Any) -> None:
        self.session = session

    def run(self, task: Callable[[int], Any], tasks: int, doing: str) -> list[Any]:
        sent = pickle.dumps(task)
        context = _context(self.session)
        if context is None:
            results = self._run_in_arrow(sent, tasks, doing)
        else:
            numbers = context.parallelize(range(tasks), tasks)
            pickled = self._guard(numbers.map(lambda number: pickle.dumps(run_one(sent, number, doing))).collect, doing)
            results = list(map(pickle.loads, pickled))
        for result in results:
            if isinstance(result, TrajlabError):
                raise result
        return results

    def _run_in_arrow(self, sent: bytes, tasks: int, doing: str) -> list[Any]:
        """Over Spark Connect, which has no tasks but those of frames."""

        def in_task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in batch.column(0).to_pylist():  # one number a task
                    result = pickle.dumps(run_one(sent, number, doing))
                    yield pa.record_batch([pa.array([number]), pa.array([result])], names=["number", "result"])

        numbers = self.session.range(0, tasks, 1, tasks)
        rows = self._guard(numbers.mapInArrow(in_task, RESULT).collect, doing)
        found = {row["number"]: pickle.loads(row["result"]) for row in rows}
        return [found[number] for number in range(tasks)]

    def spread(self, files: Sequence[Path], by: str, folder: Path, parts: int) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        doing = "sending records to their shards"
        if len(files) * parts <= FEW_FILES:
            self.run(SendPart(tuple(files), by, folder), len(files), doing)
            return
        rows = self.session.read.parquet(*(file.as_uri() for file in files))
        self._guard(
            lambda: rows.repartition(parts, by).sortWithinPartitions(by).write.partitionBy(by).parquet(folder.as_uri()),
            doing,
        )

    def _guard(self, work: Callable[[], Any], doing: str) -> Any:
        try:
            return work()
        except Exception as error:
            if isinstance(error, TrajlabError) or not type(error).__module__.startswith(("pyspark", "py4j")):
                raise
            text = str(error)
            if any(sign in text.lower() for sign in FULL):
                raise LabError(DISK_FULL.format(doing=doing)) from None
            if "ModuleNotFoundError" in text:
                raise LabError(NO_TRAJLAB) from None
            raise LabError(f"{doing}: Spark gave up: {_last_words(text)}; its own log says where") from None


def _context(session: Any) -> Any:
    """What runs bare tasks: a job of them takes a fraction of what the same job over frames takes."""
    try:
        return session.sparkContext
    except Exception as error:
        if type(error).__module__.startswith("pyspark"):  # over Connect there is none
            return None
        raise


def run_one(sent: bytes, number: int, doing: str) -> Any:
    """What a task returns: its result, or an error that would come back however often it were tried."""
    try:
        return pickle.loads(sent)(number)
    except TrajlabError as error:
        if any(sign in str(error).lower() for sign in FULL):
            return LabError(DISK_FULL.format(doing=doing))
        return _without_cause(error)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return LabError(DISK_FULL.format(doing=doing))
        raise


def _without_cause(error: TrajlabError) -> TrajlabError:
    """The error as it can be sent: what it was raised from may hold a path or a record."""
    error.__cause__ = error.__context__ = None
    return error


def _last_words(text: str) -> str:
    """The kind of the error, without its text: that may name paths or quote records."""
    kinds = [line.strip().partition(":")[0] for line in text.splitlines()]
    named = [kind for kind in kinds if kind.endswith(("Error", "Exception")) and " " not in kind]
    return named[-1].rpartition(".")[2] if named else "unknown error"


def start_session(master: str) -> Any:
    """A session for the command line; programs bring their own."""
    refuse_without_pyspark()
    if not (shutil.which("java") or (Path(os.environ.get("JAVA_HOME", "/nowhere")) / "bin" / "java").exists()):
        raise LabError(NO_JAVA)
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    logging.getLogger("py4j").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    builder = SparkSession.builder.master(master).appName("trajlab")
    for name, value in (QUIET | LIGHT if master.startswith("local") else QUIET).items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except Exception as error:
        raise LabError(f"no Spark session on master {master!r}: {type(error).__name__}") from None
    session.sparkContext.setLogLevel("ERROR")
    return session


def refuse_without_pyspark() -> None:
    if importlib.util.find_spec("pyspark") is None:
        raise LabError(NO_PYSPARK)
