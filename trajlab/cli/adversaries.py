"""Commands that let an adversary loose on what is published."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from trajlab.cli import sentences
from trajlab.cli.terminal import (
    Commands,
    lab_options,
    list_in_help,
    number_or_text,
    only_release,
    opened,
    pairs,
    release_options,
    say_before,
    show,
    table_option,
)
from trajlab.errors import TrajlabError

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release


def feasibility(args: argparse.Namespace) -> None:
    """Measure how regular and how singular the people behind a release are (xu2017, figures 2 to 7).

    Fills metrics.place_share, night_places, night_share, prediction_error and day_gain, and asks the questions
    of `trajlab risk` that metrics.singled_out shows.
    """
    with opened(args, must_exist=True) as lab:
        release_id = only_release(lab, args.release)
        lab.feasibility(release_id, seed=args.seed)
        if not args.table:
            for line in sentences.feasibility(lab, release_id, args.seed):
                print(line)
            return
        show(
            lab.sql(
                "select knowledge, points, people, unique_people, estimate, low, high from metrics.singled_out "
                "where release_id = $id and seed = $seed order by knowledge, points",
                id=release_id,
                seed=args.seed,
            ),
            "table",
            40,
        )


def _feasibility_options(c: argparse.ArgumentParser) -> None:
    lab_options(c)
    c.add_argument("--release", metavar="ID", help="the release to measure (default: the only one in the lab)")
    c.add_argument("--seed", type=int, default=0, help="which points are drawn of each person (default: 0)")
    table_option(c)


def attack(args: argparse.Namespace) -> None:
    """Recover tracks from a release's counts, and score them against the truth.

    The yardsticks shuffle and stay run beside every attack. dsilva2024 works day by day: an
    interrupted run keeps its finished days, and the same command goes on from there.
    Everything is stored: attacks.track, attacks.step, metrics.*, report.every_metric.
    """
    with opened(args, must_exist=True) as lab:
        settings = {name: number_or_text(text) for name, text in pairs(args.set, "--set").items()}
        found = lab.published(only_release(lab, args.release))
        _say_how_long(lab, args, found)
        run = lab.attack(found, args.attack, seed=args.seed, pairing=args.pairing, **settings)
        print(f"run {run.id} of {run.attack} on release {run.release_id}: {run.people:,} tracks over {run.days} days")
        if not args.table:
            for line in sentences.attack(lab, run.id):
                print(line)
            return
        scores = lab.sql(
            "select metric, level, pairing, estimate, low, high, shuffle, stay, control from report.every_metric "
            "where run_id = $id and of = 'recovered' order by metric, level, pairing",
            id=run.id,
        )
        show(scores, "table", 60)


_TIMES = {"habits": 9.0}
"""What an attack takes of what the two of the papers take, where that is something else."""


def _say_how_long(lab: Lab, args: argparse.Namespace, release: Release) -> None:
    """How long the attack will take, unless it was run before or takes no time."""
    from trajlab.study.cost import Size

    again = "select 1 from study.run where release_id = $id and attack = $attack and seed = $seed and complete"
    if args.attack in ("stay", "shuffle") or len(lab.sql(again, id=release.id, attack=args.attack, seed=args.seed)):
        return
    days = -(-release.slots // release.slots_per_day)
    seconds = Size(0, release.people, days).seconds_of("recovery", 86_400 / release.slots_per_day)
    what = f"{args.attack} on {release.people:,} people and {release.slots:,} slots"
    say_before(args, what, seconds * _TIMES.get(args.attack, 1.0))


def _attack_options(c: argparse.ArgumentParser) -> None:
    from trajlab.attacks import names

    lab_options(c)
    c.add_argument("attack", help=f"one of {', '.join(names())}")
    c.add_argument("--release", metavar="ID", help="the release to attack (default: the only one in the lab)")
    c.add_argument("--seed", type=int, default=0, help="another number, other ties (default: 0)")
    c.add_argument(
        "--pairing",
        default="both",
        help="tracks to people for the scores: optimal (up to 5,000 people), greedy or both (default: both)",
    )
    c.add_argument(
        "--set",
        action="append",
        metavar="NAME=VALUE",
        help="a setting: night_hours and direct_link_below of xu2017, lookback of dsilva2024",
    )
    table_option(c)


def people(args: argparse.Namespace) -> None:
    """Read a table of people, so that risk is given by group too: a column uid, and what else is known."""
    with opened(args, must_exist=True) as lab:
        for note in lab.people(Path(args.file)):
            print(note)


def _people_options(c: argparse.ArgumentParser) -> None:
    lab_options(c)
    c.add_argument("file", help="CSV or Parquet with a column uid")


def risk(args: argparse.Namespace) -> None:
    """Ask in how large a crowd people hide from somebody who knows a little of them.

    What is known is said as top:2, points:4 and so on; all kinds are listed below. Searched are
    the true traces behind a release (--release), those that `trajlab protect` made of them
    (--traces), or those that an attack recovered (--run). Everybody's k is in metrics.anonymity,
    summaries in metrics.risk, metrics.anonymity_curve and metrics.exposure.
    """
    from trajlab.risk.run import parse_question

    settings = {name: number_or_text(text) for name, text in pairs(args.set, "--set").items()}
    for known in args.knowledge:  # all make sense before the first is answered
        parse_question(known, seed=args.seed, sample=args.sample, settings=settings)
    with opened(args, must_exist=True) as lab:
        searched, notes = _searched(lab, args), []
        for known in args.knowledge:
            found = lab.risk(searched, known, basis=args.basis, seed=args.seed, sample=args.sample, **settings)
            print(sentences.risk(lab, found) if not args.table else f"risk {found.id}: {found.knowledge}")
            notes.append(found.description)
            if searched not in (found.release_id, found.searched_id) and args.run_id is None:
                notes.append(f"the counts of release {searched} are protected, and these are the traces behind them: "
                             f"those of release {found.release_id}, which would have to leak")  # fmt: skip
            if args.table:
                summary = lab.sql(
                    "select scope, metric, level, about, people, estimate, low, high from metrics.risk "
                    "where risk_id = $id order by scope, metric, level",
                    id=found.id,
                )
                show(summary, "table", 60)
        for note in dict.fromkeys(notes):
            print(note)


def _searched(lab: Lab, args: argparse.Namespace) -> str:
    """The id of what is searched; of three ways to say it, one."""
    given = [id_ for id_ in (args.release, args.traces, args.run_id) if id_ is not None]
    if len(given) > 1:
        raise TrajlabError("one set of traces is searched: say one of --release, --traces and --run")
    return given[0] if given else only_release(lab, None)


def _risk_options(c: argparse.ArgumentParser) -> None:
    list_in_help(c, _list_knowledge)
    lab_options(c)
    c.add_argument("knowledge", nargs="+", help="what is known, such as top:2 or points:4; several are asked in turn")
    release_options(c)
    c.add_argument("--traces", metavar="ID", help="search traces that `trajlab protect` made")
    c.add_argument("--run", dest="run_id", metavar="ID", help="search the tracks that an attack run recovered")
    c.add_argument("--sample", type=int, help="look for so many people, drawn at random (default: everybody)")
    c.add_argument("--seed", type=int, default=0, help="another number, other points known (default: 0)")
    c.add_argument("--set", action="append", metavar="NAME=VALUE", help="a setting by name, such as min_share=0.2")
    table_option(c)


def _list_knowledge() -> str:
    from trajlab.risk.knowledge import listing

    return f"what may be known, settings in capitals, those with a value may be left out:\n{listing()}"


def membership(args: argparse.Namespace) -> None:
    """Ask whether it shows in the published table that a person is in it (a likelihood-ratio test).

    Groups of people of the release are drawn, half of them with the target, counted and published by the
    release's recipe. How well an adversary tells them apart is in metrics.membership: 0.5 is guessing for auc and
    auc_pooled, 0 for advantage, 0.01 for tpr_at_1_percent. --recipe tries others on the same people.
    """
    with opened(args, must_exist=True) as lab:
        found = lab.membership(
            only_release(lab, args.release),
            adversary=args.adversary,
            reference=args.reference,
            sizes=args.sizes,
            targets=args.targets,
            groups=args.groups,
            recipes=args.recipe,
            seed=args.seed,
        )
        watched = f", reference {found.reference}" if found.reference else ""
        print(
            f"membership in release {found.release_id}: adversary {found.adversary}{watched}, {args.targets:,} targets"
        )
        if args.table:
            print(found.description)
            show(found.table, "table", 60)
        else:
            print(f"{found.description.partition('. ')[0]}:")
            for line in sentences.membership(found):
                print(line)


def _membership_options(c: argparse.ArgumentParser) -> None:
    list_in_help(c, _list_adversaries)
    lab_options(c)
    c.add_argument("--release", metavar="ID", help="the release (default: the only one in the lab)")
    c.add_argument("--adversary", default="reference", help="reference or release-only, see below (default: reference)")
    c.add_argument("--reference", help="what was watched: earlier, period or people, see below (default: earlier)")
    c.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        metavar="PEOPLE",
        help="people in a group (default: 100, 1000 and 10000, as far as the release has twice as many)",
    )
    c.add_argument("--targets", type=int, default=100, help="people who are looked for (default: 100)")
    c.add_argument("--groups", type=int, default=100, help="groups drawn, half of them with the target (default: 100)")
    c.add_argument(
        "--recipe",
        action="append",
        metavar="TEXT",
        help="try these protections of counts, such as exact or 'suppress:10, round:5'; may be repeated "
        "(default: the release's own)",
    )
    c.add_argument("--seed", type=int, default=0, help="another number, other targets and groups (default: 0)")
    table_option(c)


def _list_adversaries() -> str:
    from trajlab.membership.question import ADVERSARIES, REFERENCES

    lines = ["adversaries:", *(f"  {name:<13} {text}" for name, text in ADVERSARIES.items())]
    return "\n".join([*lines, "references:", *(f"  {name:<13} {text}" for name, text in REFERENCES.items())])


def smallest(args: argparse.Namespace) -> None:
    """Find the fewest places at times that single one person out, and how the crowd thins out.

    An exact search among the person's own points: it is what this person would have to keep to
    themselves. `others` is how many others still fit after each point.
    """
    with opened(args, must_exist=True) as lab:
        release_id = only_release(lab, args.release)
        found = lab.smallest_set(release_id, args.uid, most=args.most, basis=args.basis, limit=args.limit)
        times = lab.sql("select slot, starts from slots.slot where release_id = $id", id=release_id)
        cells = lab.sql(
            "select cell.cell, cell.label from grid.cell as cell "
            "join counts.release as release using (index_id) where release.release_id = $id",
            id=release_id,
        )
        points = found.join(times, on="slot", maintain_order="left").join(cells, on="cell", maintain_order="left")
        show(points.select("rank", "slot", "starts", "label", "others"), "table", 60)


def _smallest_options(c: argparse.ArgumentParser) -> None:
    lab_options(c)
    c.add_argument("uid", help="whom, as in the records")
    release_options(c)
    c.add_argument("--most", type=int, default=5, help="give up beyond so many points (default: 5)")
    c.add_argument("--limit", type=int, default=500_000, help="give up after so many sets begun (default: 500000)")


COMMANDS: Commands = {
    feasibility: _feasibility_options,
    attack: _attack_options,
    people: _people_options,
    risk: _risk_options,
    membership: _membership_options,
    smallest: _smallest_options,
}
