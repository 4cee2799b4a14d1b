"""The same records on the embedded engine and on Spark (`python -m bench.spark`): processor seconds of each.

Every size is a process of its own, from Parquet files to a release with counts and flows, and then some questions about
re-identification. Of Spark, the seconds of the driver, of the Java machine and of all workers on this machine are added
up; starting the session is apart. `python -m bench.spark PEOPLE TIMES ...` takes other sizes (1 3 10).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import trajlab as tl

DAYS = 7
SHARDS = 4
ASKED = ("points:2", "points:4", "top:2", "unique:2")
RELEASE = {"index": "h3:8", "slot": "30min", "fill": "static"}


def main(people: int, times: tuple[int, ...] = (1, 3, 10)) -> None:
    for factor in times:
        with tempfile.TemporaryDirectory() as folder:
            rows = _write_files(Path(folder) / "files", people * factor)
            found = {engine: _measure(engine, Path(folder)) for engine in ("duckdb", "spark")}
        print(f"{rows:,} rows, {found['spark']['start']:.1f} s to start Spark", flush=True)
        for what in ("release", *ASKED):
            seconds = [found[engine][what] for engine in ("duckdb", "spark")]
            same = found["duckdb"]["sums"][what] == found["spark"]["sums"][what]
            print(
                f"  {what:<10} embedded {seconds[0]:.1f} s, Spark {seconds[1]:.1f} s, "
                f"{seconds[1] / seconds[0]:.2f} times; same answer: {same}",
                flush=True,
            )


def _write_files(folder: Path, people: int) -> int:
    """Files of a thousand people each."""
    folder.mkdir()
    rows = 0
    for number, first in enumerate(range(0, people, 1000)):
        frame = tl.simulate(people=min(1000, people - first), days=DAYS, seed=number)
        uid = frame["uid"].cast(str) + f"-{number}"
        frame.with_columns(uid=uid).write_parquet(folder / f"{number:05d}.parquet")
        rows += len(frame)
    return rows


def _measure(engine: str, folder: Path) -> dict[str, Any]:
    words = [sys.executable, "-m", "bench.spark", "--one", engine, str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _one(engine: str, folder: Path) -> None:
    start = 0.0
    if engine == "spark":
        from trajlab.cluster.lab import open_cluster

        lab: tl.Lab = open_cluster(folder / "lab", master="local[2]", shards=SHARDS, quiet=True)
        start = _processor_seconds()
    else:
        lab = tl.open(folder / "lab.duckdb", quiet=True)
    before = _processor_seconds()
    lab.ingest(folder / "files", tz="Europe/Lisbon")
    release = lab.release(**RELEASE)  # type: ignore[arg-type]
    found: dict[str, Any] = {"start": start, "release": _processor_seconds() - before, "sums": {}}
    total = int(release.counts["people"].sum()) + (0 if release.flows is None else len(release.flows)) * 10**6
    found["sums"]["release"] = total
    for asked in ASKED:
        before = _processor_seconds()
        risk = lab.risk(release, asked)
        found[asked] = _processor_seconds() - before
        found["sums"][asked] = (risk.id, risk.people, risk.unique_share)
    print(json.dumps(found))


def _processor_seconds() -> float:
    """Of this process and of everything that it started, also what has ended."""
    parents, ticks = {}, {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            after = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(entry.parent.name)
        parents[number], ticks[number] = int(after[1]), sum(map(int, after[11:15]))
    own = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in own} - own:
        own |= more
    return sum(ticks.get(number, 0) for number in own) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        _one(sys.argv[2], Path(sys.argv[3]))
    else:
        people, *times = map(int, sys.argv[1:] or ["5000"])
        main(people, tuple(times) or (1, 3, 10))
