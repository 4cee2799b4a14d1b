"""The command that divides what is published by an attribute of people."""

from __future__ import annotations

import argparse

from trajlab.cli.terminal import Commands, lab_options, only_release, opened, show


def cube(args: argparse.Namespace) -> None:
    """Publish counts and flows by an attribute of people: place by hour by home area.

    --by is home:<index> for the area in which people spend most nights, such as home:zones or home:h3:6, or a
    column that `trajlab people` read. Counts are in counts.cube, flows in counts.flow_cube. --attack and --risk let
    an adversary loose on every group: report.cube_recovery and report.cube_risk.
    """
    if args.attack is not None:
        from trajlab.attacks import load

        load(args.attack)  # all makes sense before the cube is made
    if args.risk:
        from trajlab.risk.run import parse_question

        for knowledge in args.risk:
            parse_question(knowledge, seed=args.seed, sample=None, settings={})
    with opened(args, must_exist=True) as lab:
        made = lab.cube(
            only_release(lab, args.release),
            args.by,
            weights=args.weights,
            min_count=args.min_count,
            protect=args.protect,
        )
        counted = lab.sql(
            "select count(*), coalesce(sum(people), 0)::bigint from counts.cube where cube_id = $id", id=made.id
        )
        print(f"cube {made.id} of release {made.release_id} by {made.by}")
        print(f"{made.people:,} people in {made.groups:,} groups")
        print("{:,} counts of {:,} person-slots".format(*counted.row(0)))
        for note in made.notes:
            print(note)
        if args.attack is not None:
            runs = lab.attack_cube(made, args.attack, seed=args.seed, pairing=args.pairing)
            print(f"{args.attack}: {runs.description}")
            scores = lab.sql(
                "select scope, value, pairing, people, attacked_people, estimate, low, high, shuffle, stay, reason "
                "from report.cube_recovery where cube_id = $id and attack = $attack and seed = $seed "
                "order by scope, value, pairing",
                id=made.id,
                attack=args.attack,
                seed=args.seed,
            )
            show(scores, "table", 60)
        for knowledge in args.risk or ():
            found = lab.risk_cube(made, knowledge, seed=args.seed)
            print(found.everybody.description)
            crowds = lab.sql(
                "select risk.* exclude (cube_id, attribute, seed, basis) from report.cube_risk as risk "
                "join study.risk as asked on asked.in_full = risk.knowledge and asked.risk_id = $risk "
                "where risk.cube_id = $id and risk.seed = $seed and risk.basis = 'slots' order by scope, value",
                id=made.id,
                risk=found.everybody.id,
                seed=args.seed,
            )
            show(crowds, "table", 60)


def _cube_options(c: argparse.ArgumentParser) -> None:
    lab_options(c)
    c.add_argument("--by", required=True, help="home:<index>, or a column that `trajlab people` read")
    c.add_argument("--release", metavar="ID", help="the release (default: the only one of everybody in the lab)")
    c.add_argument("--weights", metavar="COLUMN", help="how many people each stands for: its sum is published too")
    c.add_argument(
        "--min-count",
        type=int,
        help="leave out counts of fewer different people, whatever they weigh (default: as in the release)",
    )
    c.add_argument(
        "--protect",
        nargs="+",
        action="extend",
        default=[],
        metavar="TEXT",
        help="what is done to the counts of each group, as in `trajlab release`, such as suppress:15",
    )
    c.add_argument("--attack", help="attack every group, such as dsilva2024")
    c.add_argument(
        "--risk", nargs="+", metavar="KNOWLEDGE", help="ask within groups and among everybody, such as top:2"
    )
    c.add_argument("--seed", type=int, default=0, help="seed of attack and risk (default: 0)")
    c.add_argument("--pairing", default="both", help="optimal, greedy or both (default: both)")


COMMANDS: Commands = {cube: _cube_options}
