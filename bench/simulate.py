"""How fast the city is simulated, and whether memory stays flat as it grows.

    python bench/simulate.py --people 10000 100000

Each size is written to one Parquet file by a fresh process, so that the peak memory
reported is its own. `growth` is the time over that of the size before, divided by the
ratio of the sizes: 1 means that time grows in proportion.
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--interval", default="30min")
    parser.add_argument("--mode", default="gps", choices=["gps", "cdr", "campus"])
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.people[0], args.days, args.interval, args.mode)))
        return
    print(f"{'people':>10} {'rows':>12} {'seconds':>8} {'rows/s':>12} {'growth':>7} {'peak MB':>8} {'file MB':>8}")
    before: tuple[int, float] | None = None
    for people in args.people:
        found = in_fresh_process(people, args)
        seconds = found["seconds"]
        growth = "" if before is None else f"{seconds / before[1] / (people / before[0]):.2f}"
        print(
            f"{people:>10,} {int(found['rows']):>12,} {seconds:>8.1f} {found['rows'] / seconds:>12,.0f} {growth:>7} "
            f"{found['peak_mb']:>8,.0f} {found['file_mb']:>8,.0f}"
        )
        before = people, seconds


def measure(people: int, days: int, interval: str, mode: str) -> dict[str, float]:
    from trajlab.simulation import write

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "city.parquet"
        began = time.perf_counter()
        rows = write(path, people, days, interval=interval, mode=mode)  # type: ignore[arg-type]
        seconds = time.perf_counter() - began
        size = path.stat().st_size
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    return {"rows": rows, "seconds": seconds, "peak_mb": peak, "file_mb": size / 2**20}


def in_fresh_process(people: int, args: argparse.Namespace) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", "--people", str(people), "--days", str(args.days)]
    command += ["--interval", args.interval, "--mode", args.mode]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    main()
