"""The audit of what is published together: seconds and memory for a million published counts.

    python -m bench.differencing
    python -m bench.differencing --people 2000

A simulated city, one record in half an hour: squares of 250 m, suppressed, beside squares of 500 m and of 1,000 m. With
`--hexagons`, h3:9 beside h3:8 and h3:7 instead, whose sums do not all hold, so that linear programmes are solved.
"""

from __future__ import annotations

import argparse
import resource
import time

import trajlab as tl


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=20_000)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--hexagons", action="store_true")
    args = parser.parse_args()
    lab = tl.open(":memory:", quiet=True)
    lab.ingest(tl.simulate(people=args.people, days=args.days, interval="30min", seed=1), tz="Europe/Lisbon")
    indexes = ("h3:9", "h3:8", "h3:7") if args.hexagons else ("square:250", "square:500", "square:1000")
    fine, *others = (lab.release(index, "30min", protect=["suppress:3"]) for index in indexes)
    listed = sum(len(release.counts) for release in (fine, *others))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    start, cpu = time.perf_counter(), time.process_time()
    found = lab.differencing(fine, beside=others, width=2, least=3)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{listed:,} published counts, {found.hidden:,} hidden, {found.sums:,} sums, {found.left_out_sums:,} left out"
    )
    print(f"{found.recovered:,} recovered, {found.narrow:,} narrow, {found.unsolved:,} unsolved")
    print(f"{seconds:.1f} s ({cpu:.1f} s of processors), {peak:.2f} GB at most, {before:.2f} GB before the audit")


if __name__ == "__main__":
    main()
