"""Ask what published mobility counts give away.

The flow, from files to a page to look at:

  trajlab ingest lab.duckdb traces.parquet --kind gps --tz Europe/Lisbon
  trajlab release lab.duckdb --index h3:8 --slot 30min
  trajlab attack lab.duckdb dsilva2024
  trajlab risk lab.duckdb top:2 points:4
  trajlab membership lab.duckdb
  trajlab schedule lab.duckdb grid:60min
  trajlab utility lab.duckdb square:1000 --zones h3:7
  trajlab decide lab.duckdb --policy strict
  trajlab sql lab.duckdb "select * from report.every_metric"
  trajlab report lab.duckdb -o report.html

No data at hand? `trajlab demo` simulates a city and goes all the way. Too much for one machine?
`trajlab --engine spark --master URL ingest FOLDER ...` spreads it over a cluster (docs/cluster.md).
"""

from __future__ import annotations

import argparse
import inspect
import io
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout

from trajlab.cli import (
    adversaries,
    answers,
    cubes,
    deciding,
    flows,
    ledger,
    planning,
    publishing,
    records,
    schedules,
    studies,
)
from trajlab.cli.terminal import cluster_options, refuse_off_the_cluster
from trajlab.errors import TrajlabError
from trajlab.plain import Plain, one_line

IN_ORDER = (
    "demo",
    "simulate",
    "prepare",
    "geography",
    "plan",
    "ingest",
    "release",
    "cube",
    "audit",
    "feasibility",
    "attack",
    "people",
    "protect",
    "risk",
    "membership",
    "smallest",
    "schedule",
    "utility",
    "differencing",
    "policy",
    "decide",
    "verify",
    "publish",
    "study",
    "study tradeoff",
    "recommend",
    "sql",
    "describe",
    "export",
    "figure",
    "report",
    "explore",
)
"""Commands in the order of a study."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it worked, 2 with one line on stderr when the user must fix something.

    `decide` says more: 0 publish, 1 do not, 3 review; `verify` ends with 1 where a certificate does not hold.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Unicode shows ? and goes on
    with redirect_stdout(Plain(sys.stdout)), redirect_stderr(Plain(sys.stderr)):
        return _run(_joined(list(sys.argv[1:] if argv is None else argv)))


def _run(given: list[str]) -> int:
    command = next((word for word in given if word in IN_ORDER), None)
    args = parser(command).parse_args(given)
    try:
        refuse_off_the_cluster(args, str(command))
        code = args.run(args)
        sys.stdout.flush()
    except TrajlabError as error:
        print(f"trajlab: {one_line(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("trajlab: interrupted; the step that was under way left nothing in the lab", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output (head, less) went away
        sys.stderr.close()
        return 0
    except OSError as error:
        print(f"trajlab: {f'{error.filename}: ' if error.filename else ''}{error.strerror or error}", file=sys.stderr)
        return 2
    return int(code or 0)


def parser(command: str | None) -> argparse.ArgumentParser:
    """Every command, with the options of the one that is to run: those of some need imports that take a moment."""
    from trajlab.version import __version__

    top = argparse.ArgumentParser(prog="trajlab", description=__doc__, formatter_class=_shape)
    top.add_argument("--version", action="version", version=f"trajlab {__version__}")
    cluster_options(top)
    commands = top.add_subparsers(required=True, metavar="command", title="commands, in the order of a study")
    modules = (adversaries, answers, cubes, deciding, flows, ledger, planning, publishing, records, schedules, studies)
    known = {run: options for module in modules for run, options in module.COMMANDS.items()}
    for run, options in sorted(known.items(), key=lambda each: IN_ORDER.index(_name(each[0]))):
        text = inspect.cleandoc(str(run.__doc__))
        short = text.splitlines()[0].rstrip(".")
        added = commands.add_parser(
            _name(run), help=short[0].lower() + short[1:], description=text, formatter_class=_shape
        )
        if _name(run) == command:
            options(added)
        added.set_defaults(run=run)
    return top


def _name(run: Callable[..., int | None]) -> str:
    return run.__name__.replace("_", " ")


def _joined(words: list[str]) -> list[str]:
    """A command of two words is one for the parser: `study tradeoff` stands beside `study LAB`."""
    at = words.index("study") if "study" in words else len(words)
    both = words[at : at + 2]
    return [*words[:at], " ".join(both), *words[at + 2 :]] if both == ["study", "tradeoff"] else words


def _shape(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=28, width=100)
