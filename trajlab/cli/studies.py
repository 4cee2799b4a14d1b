"""Commands that vary what is published: studies, and the least change that passes."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from trajlab.cli.terminal import Commands, lab_options, only_release, opened, show
from trajlab.errors import StudyError
from trajlab.report import check_form

if TYPE_CHECKING:
    import polars as pl

    from trajlab.study.whole import WholeStudy

_FACTORS: dict[str, Any] = {
    "attack": ["xu2017"],
    "index": ["square:500"],
    "slot": ["30min"],
    "people": None,
    "protect": ["none"],
    "fill": "static",
    "tz": None,
    "start": None,
    "days": None,
    "coverage": 0.0,
    "seed": 0,
    "pairing": "both",
}
"""Options that a file says instead, and what they are when nobody gives them."""


def study(args: argparse.Namespace) -> None:
    """Vary cells, slots, people or protection, attack each release, and draw what changes (xu2017, figures 9 to 11).

    Give several values to what is to vary: --index square:250 square:500 square:1000, or --protect none suppress:5
    suppress:10 "suppress:5 round:5".

    FILE, a study.toml, says it all at once: cells, slots, protections, attacks, adversaries, utility, membership,
    seeds. Every release holds the same people, each step is done once and kept, and the same command goes on
    after a kill. Answers are in report.study_metric; a study beyond its budget is refused unless --yes.
    """
    if args.output:
        check_form(args.output, "study")
    if args.file:
        _refuse_factors(args)
        with opened(args, must_exist=True) as lab:
            _print(lab.study(args.file, yes=args.yes, runs=args.runs, minutes=args.minutes), args)
        return
    for flag in ("yes", "runs", "minutes", "risk", "loss"):
        if getattr(args, flag):
            raise StudyError(f"--{flag} goes with a study file: trajlab study {args.lab} study.toml --{flag}")
    given = {"tz": args.tz, "start": args.start, "days": args.days, "fill": args.fill, "coverage": args.coverage}
    with opened(args, must_exist=True) as lab:
        found = lab.study(
            attack=args.attack,
            index=args.index,
            slot=args.slot,
            people=args.people,
            protect=[None if recipe == "none" else recipe for recipe in args.protect],
            seed=args.seed,
            pairing=args.pairing,
            **given,
        )
        show(found.table.filter(of="recovered", metric="accuracy").drop("release_id", "run_id"), "table", 80)
        if args.output:
            print(f"wrote {found.save(args.output)}")


def _refuse_factors(args: argparse.Namespace) -> None:
    for name, unless_given in _FACTORS.items():
        if getattr(args, name) != unless_given:
            raise StudyError(f"the file says what varies: leave out --{name}, or write it into {args.file}")


def _print(found: WholeStudy, args: argparse.Namespace) -> None:
    for note in found.notes:
        print(note)
    alone = f"{found.steps + found.saved:,} if each answer were found by itself"
    print(f"study {found.id}: {found.steps} steps, {found.made} of them made now ({alone})")
    if {"risk", "loss"} <= _drawable(found):
        show(found.points(args.risk, args.loss).drop("release_id"), "table", 80)
        if args.output:
            print(f"wrote {found.save(args.output, args.risk, args.loss)}")
    elif args.output or args.risk or args.loss:
        found.points(args.risk, args.loss)  # says what is missing


def _drawable(found: WholeStudy) -> set[str]:
    kinds = set(found.table["result"])
    return {
        *(["risk"] if kinds & {"recovery", "risk", "membership"} else []),
        *(["loss"] if kinds & {"flows", "counts"} else []),
    }


def _study_options(c: argparse.ArgumentParser) -> None:
    lab_options(c)
    c.add_argument("file", nargs="?", help="a study file, such as study.toml, see docs/study.md")
    c.add_argument("--yes", action="store_true", help="with a file: go on beyond its budget")
    c.add_argument("--runs", type=int, metavar="N", help="with a file: refuse more than so many runs")
    c.add_argument("--minutes", type=float, metavar="M", help="with a file: refuse what takes longer, by a rough guess")
    c.add_argument("--risk", help="with a file: the risk to draw, such as xu2017, points:4 or 'points:4 on xu2017'")
    c.add_argument("--loss", help="with a file: the loss to draw, counts or such as flows:h3:7")
    c.add_argument("--attack", nargs="+", default=["xu2017"], help="one or more attacks (default: xu2017)")
    c.add_argument("--index", nargs="+", default=["square:500"], help="kinds of cells (default: square:500)")
    c.add_argument("--slot", nargs="+", default=["30min"], help="lengths of a slot (default: 30min)")
    c.add_argument("--people", nargs="+", type=int, help="sizes of seeded samples (default: everybody)")
    c.add_argument("--protect", nargs="+", default=["none"], help="recipes for the counts (default: none)")
    c.add_argument("--fill", default="static", help="static or linear (default: static)")
    c.add_argument("--tz", help="local zone (default: the zone of the records)")
    c.add_argument("--start", help="first local day (default: that of the first record)")
    c.add_argument("--days", type=int, help="length of the period (default: to the last record)")
    c.add_argument("--coverage", type=float, default=0.0, help="leave out people seen in a smaller share of slots")
    c.add_argument("--seed", type=int, default=0, help="seed of samples and attacks (default: 0)")
    c.add_argument("--pairing", default="both", help="optimal, greedy or both (default: both)")
    c.add_argument("-o", "--output", help="where to draw it: study.svg, study.png or study.html")


def recommend(args: argparse.Namespace) -> int:
    """Find the least change of a release that passes a policy, and what it loses.

    Larger cells and longer slots are tried with thresholds, rounding and noise from weak to strong; a stronger one of
    these is taken to have no more risk, so that most need not be measured, nor does what loses more than others that
    do as much. With --policy, the cheapest three that pass and the commands that make them; without, the frontier:
    changes that none beats in both risk and loss, those whose risks differ by more than two points. The command ends
    with 1 where nothing passes. Everything is stored: study.recommendation, metrics.recommendation.
    """
    if args.output:
        check_form(args.output, "recommend")
    with opened(args, must_exist=True) as lab:
        found = lab.recommend(
            only_release(lab, args.release),
            policy=args.policy,
            risk=args.risk,
            index=args.index,
            slot=args.slot,
            suppress=args.suppress,
            round=args.round,
            eps=args.eps,
            unit=args.unit,
            seed=args.seed,
            thorough=args.thorough,
        )
        print(f"recommendation {found.id}: {found.looked_at} of {found.candidates} changes measured")
        shown = found.main_points if args.policy is None else found.cheapest
        _print_changes(shown, found.risk_name)
        file = shlex.quote(args.lab)
        if args.policy is not None and not len(shown):
            print(
                f"no change that was tried passes {found.policy}: try larger cells, longer slots or higher thresholds"
            )
        for place, command in enumerate(found.cheapest["command"], start=1):
            print(f"to make change {place}: {command.replace(' LAB ', f' {file} ', 1)}")
        if args.policy is None:
            asked = "from metrics.recommendation select command where recommendation_id = $id and not_beaten"
            print(f"their commands: trajlab sql {file} --param id={found.id} '{asked}'")
        if args.output:
            print(f"wrote {found.save(args.output)}")
        return 1 if args.policy is not None and not len(shown) else 0


def _print_changes(changes: pl.DataFrame, risk_name: str) -> None:
    """One line for each change: what it loses, its risk, and what it is."""
    if len(changes):
        print(f"loss: what the table has not in common with the one without protection; risk: {risk_name}")
    for place, row in enumerate(changes.iter_rows(named=True), start=1):
        settings = f"{row['index_name']}, {row['slot_minutes']:g} min"
        recipe = row["recipe"] or "counts as they are"
        print(f"{place:>2}  loss {row['loss']:6.1%}  risk {row['risk']:6.1%}  {settings}, {recipe}")


def _recommend_options(c: argparse.ArgumentParser) -> None:
    lab_options(c)
    c.add_argument("--release", metavar="ID", help="the release to change (default: the only one in the lab)")
    c.add_argument("--policy", help="what has to pass: a preset (`trajlab policy --list`) or a TOML file")
    c.add_argument(
        "--risk",
        help="without a policy: an attack, what is known (points:4) or membership (default: xu2017)",
    )
    c.add_argument("--index", nargs="*", help="larger cells, the finest first (default: twice and four times the size)")
    c.add_argument("--slot", nargs="*", help="longer slots (default: twice and four times the length)")
    c.add_argument(
        "--suppress",
        nargs="*",
        type=int,
        metavar="K",
        help="thresholds (default: what the policy asks for, or 5 10 15 20)",
    )
    c.add_argument(
        "--round", nargs="*", type=int, metavar="N", help="steps of rounding (default: what the policy asks for, or 5)"
    )
    c.add_argument(
        "--eps", nargs="*", type=float, help="ε of geometric noise (default: what the policy allows, or none)"
    )
    c.add_argument("--unit", default="person-day", help="what ε is spent on (default: person-day)")
    c.add_argument("--thorough", action="store_true", help="measure every combination")
    c.add_argument("--seed", type=int, default=0, help="seed of attacks and adversaries (default: 0)")
    c.add_argument("-o", "--output", help="where to draw it: recommend.svg, recommend.png or recommend.html")


COMMANDS: Commands = {
    study: _study_options,
    recommend: _recommend_options,
}
