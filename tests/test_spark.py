"""A lab on a real Spark cluster: a master and two workers on this machine, started and killed here."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from test_cluster import SETTINGS, assert_same_rows, files, one_file_a_task
from test_cluster import work as make_releases

import trajlab as tl
from trajlab.cluster import spark
from trajlab.cluster.folder import Folder
from trajlab.errors import LabError

__all__ = ["files", "one_file_a_task"]  # fixtures

MISSING = [
    what
    for what, there in (("pyspark", importlib.util.find_spec("pyspark")), ("Java", shutil.which("java")))
    if not there
]
REQUIRED = os.environ.get("TRAJLAB_SPARK") == "required"
pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(bool(MISSING) and not REQUIRED, reason=f"no {' and no '.join(MISSING)}: make spark installs it"),
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning"),
]
SECRET = "key-that-nobody-may-read"
PATIENCE = 120
"""Seconds that a master may take to listen."""
MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"


ASKED = ("points:2", "unique:2")


def work(lab: tl.Lab, files: Path) -> None:
    """Records, releases, and questions in which everybody is compared with everybody."""
    make_releases(lab, files)
    release = lab.release(**SETTINGS[1])
    for known in ASKED:
        lab.risk(release, known)


@pytest.fixture(scope="module")
def embedded(files) -> tl.Lab:
    lab = tl.open(quiet=True)
    work(lab, files)
    return lab


class Cluster:
    def __init__(self, folder: Path) -> None:
        self.folder, self.processes = folder, []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"spark://127.0.0.1:{port}"
        self.start(MASTER, "--port", str(port))
        self.wait_for_master(port)
        for _ in range(2):
            self.add_worker()

    def add_worker(self) -> None:
        number = len(self.processes)
        self.start(
            WORKER, self.url, "--cores", "1", "--memory", "1g", "--work-dir", str(self.folder / f"worker{number}")
        )

    def start(self, what: str, *words: str) -> None:
        home = Path(importlib.util.find_spec("pyspark").origin).parent
        command = [home / "bin" / "spark-class", what, "--host", "127.0.0.1", "--webui-port", "0", *words]
        log = (self.folder / f"log{len(self.processes)}").open("wb")
        environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"}
        with log:
            self.processes.append(
                subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
            )

    def wait_for_master(self, port: int) -> None:
        """A program that asks before the master listens gives up after a minute, however busy the machine is."""
        until = time.monotonic() + PATIENCE
        while True:
            with socket.socket() as asking:
                if asking.connect_ex(("127.0.0.1", port)) == 0:
                    return
            log = (self.folder / "log0").read_text(errors="replace")
            assert self.processes[0].poll() is None, f"the master ended: {log}"
            assert time.monotonic() < until, f"the master does not listen: {log}"
            time.sleep(0.2)

    def kill(self, number: int) -> None:
        os.killpg(self.processes[number].pid, signal.SIGKILL)
        self.processes[number].wait()

    def stop(self) -> None:
        for number, process in enumerate(self.processes):
            if process.poll() is None:
                self.kill(number)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    if MISSING:
        pytest.fail(f"no {' and no '.join(MISSING)}")
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def session(cluster) -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.hadoop.fs.s3a.secret.key": SECRET,
    }
    builder = SparkSession.builder.master(cluster.url).appName("trajlab tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def open_spark(folder: Path, session: Any, shards: int | None = None) -> tl.Lab:
    return tl.open(folder, engine="spark", session=session, shards=shards, memory_limit="400MB", quiet=True)


@pytest.mark.parametrize("shards", [1, 2, 7])
def test_spark_has_the_rows_of_the_embedded_engine(
    shards, session, files, embedded, tmp_path, one_file_a_task, caplog, monkeypatch
):
    if shards == 1:
        monkeypatch.setattr(spark, "_context", lambda session: None)  # as over Spark Connect
    if shards == 2:
        monkeypatch.setattr(spark, "FEW_FILES", 0)  # Spark shuffles
    with open_spark(tmp_path / "lab", session, shards) as lab:
        work(lab, files)
        assert_same_rows(lab, embedded)
    assert SECRET not in caplog.text
    assert not [
        file for file in (tmp_path / "lab").rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()
    ]


def test_a_worker_killed_in_mid_job_changes_no_row(cluster, session, files, embedded, tmp_path):
    folder = tmp_path / "lab"
    killed = []

    def kill_one() -> None:
        for _ in range(6000):
            if list(folder.glob("tables/grid.fix/*/*.parquet")):
                cluster.kill(1)
                killed.append(list(folder.glob("tables/slots.position/*/_done.json")))
                return
            time.sleep(0.02)

    thread = threading.Thread(target=kill_one)
    thread.start()
    with open_spark(folder, session, 7) as lab:
        work(lab, files)
        thread.join()
        assert killed == [[]]  # before the positions were there
        assert_same_rows(lab, embedded)
    cluster.add_worker()


DRIVER = """
import sys
from pathlib import Path
from test_spark import work
from trajlab.cluster.lab import open_cluster
work(open_cluster(sys.argv[1], master="local[1]", shards=3, quiet=True), Path(sys.argv[2]))
"""


def test_a_driver_that_was_killed_goes_on_after_the_last_finished_table(session, files, embedded, tmp_path):
    folder = tmp_path / "lab"
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(folder), str(files)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while driver.poll() is None and not list(folder.glob("tables/slots.observed/*/_done.json")):
        time.sleep(0.05)
    assert driver.poll() is None
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    finished = {file: Path(file).stat().st_mtime_ns for file in Folder.open(folder).files("grid.fix")}
    assert finished
    with open_spark(folder, session) as lab:
        work(lab, files)
        assert_same_rows(lab, embedded)
    assert finished == {file: Path(file).stat().st_mtime_ns for file in finished}


MEMORY = """
import json
import os
import resource
import sys
from pathlib import Path

from trajlab.cluster.lab import open_cluster

os.environ["PYSPARK_SUBMIT_ARGS"] = "--driver-memory 512m pyspark-shell"
lab = open_cluster(sys.argv[1], master="local[2]", shards=4, task_memory="100MB", quiet=True)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


found = [peak()]
lab.ingest(sys.argv[2], tz="UTC")
release = lab.release("square:2000", "1h", "none")
for known in ("top:2", "points:2", "unique:2"):
    lab.risk(release, known)
found.append(peak())
rows = [lab.sql(f"select * from {table}") for table in ("records.fix", "slots.position", "slots.visit")]
print(json.dumps([*found, peak()]))
"""


def test_a_driver_of_512_mb_is_enough_because_nothing_of_everybody_comes_to_it(tmp_path):
    (tmp_path / "files").mkdir()
    for number in range(4):
        rows = tl.simulate(people=1500, days=5, seed=number)
        rows = rows.with_columns(uid=rows["uid"].cast(str) + f"-{number}")
        rows.write_parquet(tmp_path / "files" / f"{number}.parquet")
    words = [sys.executable, "-c", MEMORY, tmp_path / "lab", tmp_path / "files"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    begin, end, with_everybody = json.loads(done.stdout.splitlines()[-1])
    assert end < 512
    # What is about everybody would have shown: it alone takes more than all that the driver took.
    assert with_everybody - end > end - begin


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A disk of its own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk)], capture_output=True)
    if made.returncode:
        pytest.skip("only root may mount a small disk")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_full_disk_is_one_clear_message_and_the_same_line_goes_on_later(session, small_disk, tmp_path):
    file, ballast = tmp_path / "records.parquet", small_disk / "ballast"
    tl.simulate(people=400, days=4, seed=0).write_parquet(file)
    with open_spark(small_disk / "lab", session, 2) as lab, tl.open(quiet=True) as embedded:
        with ballast.open("wb") as rest, suppress(OSError):
            while rest.write(bytes(2**16)):
                rest.flush()
        with pytest.raises(LabError, match="the disk of a worker is full; nothing of this table is read.") as error:
            lab.ingest(file, tz="UTC")
        assert str(tmp_path) not in str(error.value)
        ballast.unlink()
        for each in (lab, embedded):
            each.ingest(file, tz="UTC")
        assert_same_rows(lab, embedded)


def test_commands_run_on_spark(files, tmp_path):
    def run(*words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "trajlab", "--engine", "spark", *map(str, words)], capture_output=True, text=True
        )

    lab, rows = tmp_path / "lab", files / "a.parquet"
    wrong = run("--master", "nowhere", "ingest", lab, rows)
    assert "trajlab: no Spark session on master 'nowhere': " in wrong.stderr
    assert wrong.returncode == 2
    assert not lab.exists()
    done = run("--master", "local[1]", "--shards", 2, "ingest", lab, rows, "--tz", "UTC")
    assert done.returncode == 0, done.stderr
    assert "rows read" in done.stdout
    with tl.open(quiet=True) as embedded, tl.open(lab, read_only=True) as made:
        embedded.ingest(rows, tz="UTC")
        assert_same_rows(made, embedded)


def test_a_mistake_in_a_task_comes_back_in_our_own_words(session, tmp_path):
    (tmp_path / "bad.csv").write_text("uid,ts\na,2024-01-01 10:00:00\n")
    with open_spark(tmp_path / "lab", session, 2) as lab, pytest.raises(tl.TrajlabError, match="bad.csv: ") as error:
        lab.ingest(tmp_path / "bad.csv")
    assert str(tmp_path) not in str(error.value)
