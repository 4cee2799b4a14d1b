"""Commands that answer whether a table may be published."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from trajlab.cli.terminal import Commands, engine_options, lab_options, list_in_help, only_release, opened, pairs
from trajlab.errors import PolicyError, TrajlabError

if TYPE_CHECKING:
    from trajlab.decide.groups import CubeDecision


def decide(args: argparse.Namespace) -> int:
    """Decide whether a release may be published: every rule of a policy, answered.

    What a rule asks for (an attack, a risk, a comparison of flows) is made, or used where the lab has it. Each
    rule and the whole is pass, fail or review; the command ends with 0 (publish), 1 (do not), 3 (review) or
    2 (a mistake). Everything is stored: study.decision, metrics.verdict, report.verdict.
    """
    from trajlab.certificate import check_path
    from trajlab.decide.run import EXIT

    if args.cube is not None and (args.release is not None or args.certificate is not None):
        raise PolicyError("--cube names what is decided, group by group: leave out --release and --certificate")
    if args.certificate is not None:
        check_path(args.certificate)
    with opened(args, must_exist=True) as lab:
        reasons = pairs(args.exception, "--exception")
        if args.cube is not None:
            return _decide_cube(lab.decide_cube(args.cube, args.policy, exceptions=reasons, seed=args.seed))
        release = only_release(lab, args.release)
        decision = lab.decide(release, args.policy, exceptions=reasons, seed=args.seed)
        print(f"decision {decision.id} on release {decision.release_id}")
        for rule in decision.rules.iter_rows(named=True):
            print(f"{rule['verdict']:<7}{rule['position']:>2}  {rule['rule']} [{rule['concern']}]: {rule['sentence']}")
            if rule["exception"]:
                print(f"{'':<11}exception: {rule['exception']}")
        print(decision)
        if args.certificate is not None:
            for file in lab.certificate(decision, args.certificate):
                print(f"wrote {file}")
        return EXIT[decision.verdict]


def _decide_cube(decision: CubeDecision) -> int:
    from trajlab.decide.run import EXIT

    print(f"decision {decision.id} on cube {decision.cube_id}")
    for rule in decision.rules.iter_rows(named=True):
        print(f"{rule['verdict']:<7}{rule['position']:>2}  {rule['rule']} [{rule['concern']}]: {rule['sentence']}")
        bad = rule["failing_groups"] + rule["review_groups"]
        print(f"{'':<11}group {rule['value']}, the worst; {bad:,} of {rule['groups']:,} groups do not pass")
        if rule["exception"]:
            print(f"{'':<11}exception: {rule['exception']}")
    print(decision)
    return EXIT[decision.verdict]


def _decide_options(c: argparse.ArgumentParser) -> None:
    list_in_help(c, _list_presets)
    lab_options(c)
    c.add_argument("--release", metavar="ID", help="the release (default: the only one in the lab)")
    c.add_argument(
        "--cube", metavar="ID", help="a cube instead, group by group (trajlab cube): the worst group decides"
    )
    c.add_argument("--policy", required=True, help="a preset, see below, or a TOML file")
    c.add_argument(
        "--exception",
        action="append",
        metavar="RULE=REASON",
        help="decide without this rule (its name or number), for a reason in words that stays in the record",
    )
    c.add_argument("--seed", type=int, default=0, help="seed of attacks and samples (default: 0)")
    c.add_argument(
        "--certificate",
        metavar="FILE",
        help="write the decision as sealed JSON, which trajlab verify checks, and as a sheet of paper beside it",
    )


def verify(args: argparse.Namespace) -> int:
    """Check a certificate: that no byte of it was changed, and that a lab says the same.

    With --lab, its policy is asked again of its release, and every number that comes out otherwise is named. Without,
    only the seal is checked: the file is whole, which does not make it true. Ends with 0 where it
    holds, 1 where it does not, 2 for a mistake.
    """
    from trajlab import certificate

    if args.lab is None:
        done = certificate.check(args.file)
    else:
        certificate.read(Path(args.file))
        with opened(args, must_exist=True) as lab:
            done = lab.verify(args.file)
    print(done)
    return 0 if done.holds else 1


def _verify_options(c: argparse.ArgumentParser) -> None:
    c.add_argument("file", help="the certificate, such as decision.json")
    c.add_argument("--lab", type=os.path.expanduser, help="the lab to ask again, such as lab.duckdb")
    engine_options(c)


def policy(args: argparse.Namespace) -> None:
    """Show the policies that come with trajlab, and the rules that a policy may have."""
    from trajlab.decide.policy import Policy

    if args.rules:
        print(_list_rules())
    elif args.show is not None:
        print(Policy.load(args.show).text.rstrip())
    elif args.list:
        print(_list_presets())
    else:
        raise TrajlabError("say what to show: --list, --show NAME or --rules")


def _policy_options(c: argparse.ArgumentParser) -> None:
    c.add_argument("--list", action="store_true", help="the presets, and what each asks for")
    c.add_argument("--show", metavar="NAME", help="one of them, or a file, as text: a start for a policy of your own")
    c.add_argument("--rules", action="store_true", help="the rules, their limits and their settings")


def _list_presets() -> str:
    from trajlab.decide.policy import Policy, presets

    return "\n".join(["presets:", *(f"  {name:<12}{Policy.load(name).title}" for name in presets())])


def _list_rules() -> str:
    import dataclasses
    import inspect

    from trajlab import decide

    lines = []
    for name in decide.names():
        kind = decide.rule(name)
        text = inspect.cleandoc(str(kind.__doc__)).replace("\n", "\n    ")
        chosen = [f"{field.name} = {field.default!r}" for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
        lines.append(f"{name}: {', '.join([kind.limit, *chosen])}\n    {text}")
    return "\n\n".join(lines)


COMMANDS: Commands = {policy: _policy_options, decide: _decide_options, verify: _verify_options}
