"""The report of a large lab: time, memory and size of the page; start-up of the package and of its command.

    python -m bench.report --people 100000

A lab of simulated people (seven days, half hours) with two releases, one of them searched; attacks are left out, since
what the report shows of them does not grow with people. Time is given on the clock and of the processor.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--lab", help="a lab to keep between runs (default: one that is thrown away)")
    args = parser.parse_args()
    for told, command in {
        "import trajlab": ["-c", "import trajlab"],
        "trajlab --help": ["-m", "trajlab", "--help"],
    }.items():
        began = time.perf_counter()
        subprocess.run([sys.executable, *command], check=True, capture_output=True)
        print(f"{told:<16} {time.perf_counter() - began:5.2f} s", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(args.lab or Path(scratch) / "lab.duckdb")
        if not path.exists():
            made(path, args.people)
        command = [sys.executable, "-m", "trajlab", "report", str(path), "-o", str(Path(scratch) / "report.html")]
        began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        size = (Path(scratch) / "report.html").stat().st_size
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"report of {args.people:,} people: {took:.1f} s on the clock, {processor:.1f} s of the processor, "
        f"peak {after.ru_maxrss / 2**20:.1f} GiB, page {size / 1e6:.1f} MB"
    )


def made(path: Path, people: int) -> None:
    import trajlab as tl
    from trajlab.simulation import write

    file = path.with_suffix(".parquet")
    write(file, people, 7, seed=0, interval="30min")
    with tl.open(path, memory_limit="4GB", threads=2) as lab:
        lab.ingest(file, tz="Europe/Lisbon")
        release = lab.release("square:500", "30min")
        lab.release("h3:8", "1h", min_count=5)
        for known in ("top:2", "points:2", "points:4"):
            lab.risk(release, known)
    file.unlink()


if __name__ == "__main__":
    main()
