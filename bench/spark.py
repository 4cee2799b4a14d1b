"""The same records on the embedded engine and on Spark (`python -m bench.spark`): processor seconds of each.

Every size is a process of its own, from Parquet files to a release with counts and flows. Of Spark, the seconds of the
driver, of the Java machine and of all workers on this machine are added up; starting the session is apart.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import trajlab as tl

DAYS, ROWS = 7, 336
"""Of a simulated person: half-hourly records."""
RELEASE = {"index": "h3:8", "slot": "30min", "fill": "static"}


def main(people: int, times: tuple[int, ...] = (1, 3, 10)) -> None:
    for factor in times:
        with tempfile.TemporaryDirectory() as folder:
            rows = _write_files(Path(folder) / "files", people * factor)
            found = {engine: _measure(engine, Path(folder)) for engine in ("duckdb", "spark")}
        ratio = found["spark"]["work"] / found["duckdb"]["work"]
        print(
            f"{rows:>12,} rows: embedded {found['duckdb']['work']:.1f} s, Spark {found['spark']['work']:.1f} s "
            f"({ratio:.2f} times) and {found['spark']['start']:.1f} s to start, "
            f"same counts: {found['duckdb']['sum'] == found['spark']['sum']}",
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


def _measure(engine: str, folder: Path) -> dict[str, float]:
    words = [sys.executable, "-m", "bench.spark", "--one", engine, str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _one(engine: str, folder: Path) -> None:
    start = 0.0
    if engine == "spark":
        from trajlab.cluster.lab import open_cluster

        lab: tl.Lab = open_cluster(folder / "lab", master="local[2]", shards=4, quiet=True)
        start = _processor_seconds()
    else:
        lab = tl.open(folder / "lab.duckdb", quiet=True)
    before = _processor_seconds()
    lab.ingest(folder / "files", tz="Europe/Lisbon")
    release = lab.release(**RELEASE)  # type: ignore[arg-type]
    work = _processor_seconds() - before
    total = int(release.counts["people"].sum()) + (0 if release.flows is None else len(release.flows)) * 10**6
    print(json.dumps({"work": work, "start": start, "sum": total}))


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
        main(int(sys.argv[1]) if sys.argv[1:] else 5000)
