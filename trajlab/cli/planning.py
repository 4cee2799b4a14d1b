"""The command that says beforehand what a cluster would have to carry."""

from __future__ import annotations

import argparse

from trajlab.cli.terminal import Commands


def plan(args: argparse.Namespace) -> None:
    """Say what a study would take of a cluster: shards, memory, what travels, processor time.

    An estimate by the formula of docs/scale.md, from files to the counts and flows of one release, with unit
    costs measured on two cores and up to five million records. Nothing is opened and nothing starts.
    """
    from trajlab.cluster.plan import Plan

    print(Plan(args.people, args.days, args.records, args.slots, args.cores, args.memory, args.record_bytes))


def _plan_options(c: argparse.ArgumentParser) -> None:
    c.add_argument("--people", type=int, required=True, help="people in the records")
    c.add_argument("--days", type=int, required=True, help="days they are followed")
    c.add_argument("--records", type=float, default=48, help="records of a person in a day (default: 48)")
    c.add_argument("--slots", type=int, default=48, help="slots of a day in the release (default: 48)")
    c.add_argument("--cores", type=int, default=16, help="cores of all workers (default: 16)")
    c.add_argument("--memory", type=float, default=2.0, help="gigabytes of a task, --memory-limit (default: 2)")
    c.add_argument("--record-bytes", type=float, default=25, help="bytes of a record in Parquet (default: 25)")


COMMANDS: Commands = {plan: _plan_options}
