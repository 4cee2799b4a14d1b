"""A study of a file: how long it takes, what sharing its steps saves, and which kind of step takes the time.

    python -m bench.study --people 2000 --days 7
    python -m bench.study --people 100000 --lab study.duckdb

Five kinds of cells, three lengths of slots, four protections, three adversaries and two measures of utility: 60
releases and 300 answers. Prints the steps that are done, those that each answer would take by itself, and the time.
With `--lab` the lab is kept: a run that was stopped goes on from its last step, as a study does anywhere.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import trajlab as tl
from trajlab.study import whole
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
    parser.add_argument("--lab", help="the lab to keep, and to go on in")
    parser.add_argument("--output", help="where to draw risk against loss")
    args = parser.parse_args()
    text = SMALL if args.small else WHOLE
    plan = make_plan(parse_study(text))
    share = 1 - len(plan.steps) / plan.unshared
    print(f"{len(plan.steps)} steps instead of {plan.unshared}: {share:.0%} saved by sharing", flush=True)
    spent: dict[str, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
    _watch(spent)
    with tempfile.TemporaryDirectory() as folder, tl.open(args.lab or Path(folder) / "lab.duckdb") as lab:
        if not len(lab.sql("select 1 from records.fix limit 1")):
            start = time.perf_counter(), time.process_time()
            lab.ingest(tl.simulate(people=args.people, days=args.days, seed=1), tz="Europe/Lisbon")
            _print("simulated and ingested", *start)
        file = Path(folder) / "study.toml"
        file.write_text(text, encoding="utf-8")
        start = time.perf_counter(), time.process_time()
        try:
            found = lab.study(file)
        finally:
            _print("study", *start)
            for result, (steps, seconds, cpu) in sorted(spent.items()):
                print(f"  {result:8} {steps:4.0f} steps  {seconds:8.1f} s  {cpu:8.1f} s of processors", flush=True)
        print(f"{found}\n{args.people:,} people × {args.days} days, {found.made} steps made in this run")
        start = time.perf_counter(), time.process_time()
        lab.study(file)
        _print("asked again", *start)
        for note in found.notes:
            print(note)
        if args.output:
            print(found.save(args.output))


def _watch(spent: dict[str, list[float]]) -> None:
    """Add up steps, seconds and processor time by kind of step."""
    do = whole._Study._do

    def timed(self: whole._Study, step: Any, made: Any) -> list[str]:
        start, cpu = time.perf_counter(), time.process_time()
        ids = do(self, step, made)
        kind = spent[step.result]
        kind[0] += 1
        kind[1] += time.perf_counter() - start
        kind[2] += time.process_time() - cpu
        return ids

    whole._Study._do = timed  # type: ignore[method-assign]


def _print(what: str, start: float, cpu: float) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    took = time.perf_counter() - start
    print(f"{what}: {took:.1f} s, {time.process_time() - cpu:.1f} s of processors, {peak:.2f} GB at most", flush=True)


if __name__ == "__main__":
    main()
