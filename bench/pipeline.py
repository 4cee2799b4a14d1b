"""Ingest, clean, grid, slot and count: rows per second, growth from a tenth of the rows, peak memory.

    python -m bench.pipeline --rows 50000000

Each measurement runs in a process of its own, on a Parquet file of simulated people
(one position every four minutes, seven days), with two threads. The engine's
memory_limit is 6GB; the peak is that of the whole process.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROWS_PER_PERSON = 7 * 24 * 15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--index", nargs="+", default=["square:500", "h3:8"])
    parser.add_argument("--memory-limit", default="6GB")
    parser.add_argument("--folder", help="where to put the simulated files (default: a temporary folder)")
    parser.add_argument("--one", nargs=2, metavar=("FILE", "INDEX"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(Path(args.one[0]), args.one[1], args.memory_limit)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(args.folder or scratch)
        files = [simulated(folder, rows) for rows in (args.rows // 10, args.rows)]
        for index in args.index:
            small, large = (in_a_process_of_its_own(file, index, args.memory_limit) for file in files)
            show(index, small, large)


def simulated(folder: Path, rows: int) -> Path:
    from trajlab.simulation import write

    file = folder / f"gps-{rows}.parquet"
    if not file.exists():
        write(file, people=max(rows // ROWS_PER_PERSON, 1), days=7, interval="4min", seed=0)
    return file


def in_a_process_of_its_own(file: Path, index: str, memory_limit: str) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.pipeline", "--memory-limit", memory_limit, "--one", str(file), index]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def measure(file: Path, index: str, memory_limit: str) -> dict[str, float]:
    import trajlab as tl

    with (
        tempfile.TemporaryDirectory(dir=file.parent) as scratch,
        tl.open(Path(scratch) / "lab.duckdb", memory_limit=memory_limit, threads=2) as lab,
    ):
        began = time.perf_counter()
        done = lab.ingest(file, tz="Europe/Lisbon")
        ingested = time.perf_counter()
        release = lab.release(index=index, slot="30min", fill="static")
        published = time.perf_counter()
    return {
        "rows": done.rows,
        "people": release.people,
        "ingest": ingested - began,
        "release": published - ingested,
        "total": published - began,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def show(index: str, small: dict[str, float], large: dict[str, float]) -> None:
    for run in (small, large):
        print(
            f"{index:<12} {run['rows']:>12,} rows  ingest {run['ingest']:6.1f} s  release {run['release']:6.1f} s  "
            f"total {run['total']:6.1f} s  {run['rows'] / run['total'] / 1e6:5.2f} M rows/s  "
            f"peak {run['peak_gb']:.1f} GiB"
        )
    growth, cost = large["rows"] / small["rows"], large["total"] / small["total"]
    print(f"{index:<12} {growth:.1f} times the rows costs {cost:.1f} times the time", flush=True)


if __name__ == "__main__":
    main()
