"""A decision: what each rule of a policy costs on a simulated city, and what all of them cost together.

    python -m bench.decide --people 10000
    python -m bench.decide --people 100000 --policy strict --protect suppress:21

Each rule is asked by itself, in the order of the policy, in one lab: what a rule needs and an earlier one has made
is not paid for again, as in `trajlab decide`. Processor time, and the peak of memory so far.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import trajlab as tl
from trajlab.attacks.run import adopt
from trajlab.decide.policy import Policy
from trajlab.decide.run import _answer, _row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=10_000)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--index", default="square:1000")
    parser.add_argument("--slot", default="60min")
    parser.add_argument("--protect", nargs="*", default=["suppress:21"])
    parser.add_argument("--policy", default="strict")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, tl.open(Path(folder) / "lab.duckdb", quiet=True) as lab:
        began = time.process_time(), time.perf_counter()
        lab.ingest(tl.simulate(people=args.people, days=args.days, seed=0), tz="Europe/Lisbon")
        release = lab.release(args.index, args.slot, protect=args.protect)
        show("ingest and release", *began, f"{release.slots} slots x {len(release.cells):,} cells")
        adopt(lab._store, release)
        start = time.process_time(), time.perf_counter()
        for position, rule in enumerate(Policy.load(args.policy).rules, 1):
            began = time.process_time(), time.perf_counter()
            row = _row(position, rule, _answer(lab, release, rule, 0))
            show(rule.name, *began, f"{row['verdict']}: {row['sentence']}")
        show("all rules", *start, "")
        began = time.process_time(), time.perf_counter()
        decision = lab.decide(release, args.policy)
        show("asked again", *began, str(decision))


def show(what: str, cpu: float, clock: float, text: str) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    used = f"{time.process_time() - cpu:9.1f} s CPU {time.perf_counter() - clock:9.1f} s {peak:6.2f} GB"
    print(f"{what:20} {used}  {text}", flush=True)


if __name__ == "__main__":
    main()
