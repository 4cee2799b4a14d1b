"""The command that asks what crowds give away of people's weekly schedules."""

from __future__ import annotations

import argparse
from typing import Any

from trajlab.cli import sentences
from trajlab.cli.terminal import Commands, lab_options, only_release, opened, show, table_option


def schedule(args: argparse.Namespace) -> None:
    """Ask what anonymity sets give away of people's weekly schedules (ma2017).

    Known are a few points of everybody. All who pass through them are the anonymity set; where
    most of it has the same habit, so has the person. The timetable is a .csv or .toml file (weekday,
    from, to), grid:60min for every day in equal slots, found for one read off arrivals and departures,
    or found:'classroom-*' for that at places with such names. Several values of --index or --slot
    compare remedies: a release is made for each and the same asked. Everybody's answer is in
    metrics.person_leak, summaries by the size of sets in metrics.leak and metrics.leak_curve,
    schedules in slots.schedule.
    """
    question: dict[str, Any] = {
        "points": args.points,
        "short": args.short,
        "min_k": args.min_k,
        "keep": args.keep,
        "holidays": args.holiday or (),
        "seed": args.seed,
        "sample": args.sample,
    }
    with opened(args, must_exist=True) as lab:
        if args.index or args.slot:
            from trajlab.risk.run import VISITS

            found = lab.remedies(
                args.timetable,
                index=args.index or ["places"],
                slot=args.slot or ["30min"],
                basis=args.basis or "observed",
                **question,
            )
            print(VISITS[args.basis or "observed"])
            show(found.drop("leak_id"), "table", 80)
            return
        of = args.traces or args.run_id or only_release(lab, args.release)
        leak = lab.schedule(args.timetable, of, basis=args.basis, truth=args.truth, **question)
        for line in sentences.schedule(lab, leak, args.truth):
            print(line)
        if not args.table:
            return
        by_size = lab.sql(
            "select min_k, people, totally, partly, prob_m, ssr, ntr, ssr_ntr, effective as effective_l "
            "from metrics.leak_by_size where leak_id = $id and people > 0 order by min_k",
            id=leak.id,
        )
        show(by_size, "table", 60)
        if args.truth:
            by_slot = lab.table("report.extracted_schedule", leak_id=leak.id).drop("leak_id", "number")
            show(by_slot.rename({"slot_name": "slot"}), "table", 400)


def _schedule_options(c: argparse.ArgumentParser) -> None:
    lab_options(c)
    c.add_argument("timetable", help="timetable.csv, timetable.toml, grid:60min, found or found:PATTERN")
    c.add_argument("--release", metavar="ID", help="the release (default: the only one in the lab)")
    c.add_argument("--traces", metavar="ID", help="search traces that `trajlab protect` made")
    c.add_argument("--run", dest="run_id", metavar="ID", help="search the tracks that an attack run recovered")
    c.add_argument("--index", nargs="+", help="compare these kinds of cells, the finest first, such as places places:1")
    c.add_argument("--slot", nargs="+", help="compare these lengths of a slot, such as 30min 2h")
    c.add_argument(
        "--basis", help="records at their exact times, observed or slots (default: records; observed to compare)"
    )
    c.add_argument("--points", type=int, default=3, help="points known of everybody (default: 3)")
    c.add_argument(
        "--short", default="all", help="people with fewer points: all of theirs are known, or drop (default: all)"
    )
    c.add_argument("--min-k", type=int, default=4, help="report sets of this size or more first (default: 4)")
    c.add_argument(
        "--keep", type=float, default=0.6, help="a habit has more than this share of the weeks (default: 0.6)"
    )
    c.add_argument(
        "--holiday", action="append", metavar="DATE", help="a date to skip, such as 2016-04-04; may be repeated"
    )
    c.add_argument("--truth", help="true timetables to compare with: a table with uid, weekday, from, to, place")
    c.add_argument("--sample", type=int, help="look for so many people, drawn at random (default: everybody)")
    c.add_argument("--seed", type=int, default=0, help="another number, other points known (default: 0)")
    table_option(c)


COMMANDS: Commands = {schedule: _schedule_options}
