"""A study of a file: how long it takes, and what sharing its steps saves.

    python -m bench.study --people 2000 --days 7

Five kinds of cells, three lengths of slots, four protections, three adversaries and two measures of utility: 60
releases and 300 answers. Prints the steps that are done, those that each answer would take by itself, and the time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import trajlab as tl
from trajlab.study.file import parse_study
from trajlab.study.plan import make_plan

WHOLE = """\
title = "Cells, slots and thresholds"
index = ["square:500", "square:1000", "square:2000", "h3:8", "h3:7"]
slot = ["30min", "1h", "2h"]
protect = ["none", "suppress:5", "suppress:15", "suppress:5 round:5"]
adversary = ["points:4", "top:2", "locations:2"]
utility = ["counts", "flows:square:2000"]
"""
SMALL = """\
title = "Cells, slots and thresholds"
index = ["square:1000", "square:2000"]
slot = ["1h", "2h"]
protect = ["none", "suppress:5"]
adversary = ["points:4", "top:2"]
utility = ["counts", "flows:square:2000"]
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=2_000)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--small", action="store_true", help="two of each instead of the whole product")
    parser.add_argument("--output", help="where to draw risk against loss")
    args = parser.parse_args()
    text = SMALL if args.small else WHOLE
    plan = make_plan(parse_study(text))
    share = 1 - len(plan.steps) / plan.unshared
    print(f"{len(plan.steps)} steps instead of {plan.unshared}: {share:.0%} saved by sharing")
    with tempfile.TemporaryDirectory() as folder, tl.open(Path(folder) / "lab.duckdb") as lab:
        lab.ingest(tl.simulate(people=args.people, days=args.days, seed=1), tz="Europe/Lisbon")
        file = Path(folder) / "study.toml"
        file.write_text(text, encoding="utf-8")
        began = time.perf_counter()
        found = lab.study(file)
        took = time.perf_counter() - began
        print(f"{found}\n{args.people:,} people × {args.days} days: {took:.1f} s, {took / found.steps:.2f} s a step")
        began = time.perf_counter()
        lab.study(file)
        print(f"asked again: {time.perf_counter() - began:.1f} s")
        for note in found.notes:
            print(note)
        if args.output:
            print(found.save(args.output))


if __name__ == "__main__":
    main()
