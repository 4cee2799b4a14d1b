"""How fast trajlab assigns H3 cells, beside a plain loop over h3-py on the same points."""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from h3.api import basic_int

from trajlab.spatial import StudyArea, build

T = TypeVar("T")


def best(rounds: int, work: Callable[[], T]) -> tuple[T, float]:
    """What the work returns, and the seconds of its fastest round."""
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return result, min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=2_000_000)
    parser.add_argument("--resolution", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many counts, for both")
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    lon, lat = rng.uniform(116.0, 116.8, args.points), rng.uniform(39.6, 40.2, args.points)
    index = build(f"h3:{args.resolution}", StudyArea((116.0, 39.6, 116.8, 40.2)))
    index.assign(lon[:1], lat[:1])  # imports are not assignment

    bulk, bulk_seconds = best(args.rounds, lambda: index.assign(lon, lat))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    points = list(zip(lon.tolist(), lat.tolist(), strict=True))
    latlng_to_cell, resolution = basic_int.latlng_to_cell, args.resolution
    loop, loop_seconds = best(args.rounds, lambda: [latlng_to_cell(y, x, resolution) for x, y in points])

    if not np.array_equal(bulk, np.array(loop, dtype=np.uint64)):
        raise SystemExit("the two disagree")
    print(f"{args.points:,} points at resolution {args.resolution}, same cells from both")
    print(f"trajlab     {args.points / bulk_seconds / 1e6:6.2f} M points/s, peak memory {peak:,.0f} MiB")
    print(f"h3-py loop  {args.points / loop_seconds / 1e6:6.2f} M points/s")
    print(f"ratio       {loop_seconds / bulk_seconds:6.2f}")


if __name__ == "__main__":
    main()
