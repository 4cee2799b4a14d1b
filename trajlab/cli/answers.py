"""Commands that show what a lab holds."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from trajlab.cli.terminal import Commands, lab_options, opened, pairs, show, show_blocks
from trajlab.errors import FigureError


def sql(args: argparse.Namespace) -> None:
    """Ask the lab in SQL; the lab is opened read-only.

    `trajlab describe` lists the tables. Values can be passed as --param name=value
    and used as $name.
    """
    from trajlab import answer

    query = sys.stdin.read() if args.query == "-" else args.query
    params = pairs(args.param, "--param")
    with opened(args, read_only=True) as lab:
        show_blocks(answer.blocks(lab._store, query, dict(params)), args.format, args.rows)


def _sql_options(c: argparse.ArgumentParser) -> None:
    lab_options(c)
    c.add_argument("query", help="one SELECT, or - to read it from standard input")
    c.add_argument("--param", action="append", metavar="NAME=VALUE", help="a value for $name in the query")
    c.add_argument("--format", choices=("table", "csv", "json"), default="table", help="default: table")
    c.add_argument("--rows", type=int, default=40, help="rows shown as a table (default: 40)")


def describe(args: argparse.Namespace) -> None:
    """Say what a table holds: one row per what, and what each column means.

    Without a name, one line for each table. No lab is needed: every lab has the same tables.
    """
    from trajlab.query import describe as described

    print(described(args.table))


def _describe_options(c: argparse.ArgumentParser) -> None:
    c.add_argument("table", nargs="?", help="for example counts.occupancy")


def report(args: argparse.Namespace) -> None:
    """Write one self-contained HTML page about the lab; it opens offline.

    It holds nobody's trace. --example-people 3 adds a true day of three people beside what an attack
    recovered of it: for people who are simulated, or who agreed to it.
    """
    with opened(args, read_only=True) as lab:
        print(lab.report(args.output, example_people=args.example_people, backdrop=args.backdrop))


def _report_options(c: argparse.ArgumentParser) -> None:
    lab_options(c)
    c.add_argument("-o", "--output", default="report.html", help="default: report.html")
    c.add_argument(
        "--example-people",
        type=int,
        default=0,
        metavar="N",
        help="draw true and recovered days of so many people: simulated or consenting ones only (default: 0)",
    )
    c.add_argument(
        "--backdrop",
        metavar="FILE",
        help="GeoJSON to draw behind the cells of maps (default: land, water, borders and names of the package)",
    )


def figure(args: argparse.Namespace) -> None:
    """Draw a figure of one of the papers from the lab's tables, the published numbers marked on it.

    `trajlab figure --list` says which there are and what a lab needs for each. Prints the numbers, and
    writes them as a drawing with -o: .svg, or .png for a page that wants one.
    """
    from trajlab import figures

    if args.list:
        print(figures.listing())
        return
    if args.lab is None or args.name is None:
        raise FigureError("name a lab and a figure, or ask for --list")
    with opened(args, read_only=True) as lab:
        drawn = lab.figure(args.name, args.output, release=args.release)
        show(drawn.table, "table", 60)
        if args.output:
            print(f"wrote {args.output}")


def _figure_options(c: argparse.ArgumentParser) -> None:
    lab_options(c, needed=False)
    c.add_argument("name", nargs="?", help="such as xu2017-fig8a")
    c.add_argument("--list", action="store_true", help="say which figures there are")
    c.add_argument("--release", metavar="ID", help="the release (default: the only one that has what it takes)")
    c.add_argument("-o", "--output", help="where to draw it: a .svg or .png file")


def explore(args: argparse.Namespace) -> None:
    """Open a playground on the lab, for a browser on this machine; nothing in it can change the lab.

    Choose a release, an attack and an adversary, look at tables, charts and maps, and ask in SQL with
    the meaning of every table beside it. It listens on loopback alone, at an address with a secret part,
    and a query can reach neither files nor extensions. While it is open, other commands can read the lab
    and not change it.
    """
    from trajlab.explore import serve

    serve(
        Path(args.lab),
        port=args.port,
        seconds=args.seconds,
        rows=args.rows,
        memory_limit=args.memory_limit,
        threads=args.threads,
        say=lambda line: print(line, flush=True),
    )


def _explore_options(c: argparse.ArgumentParser) -> None:
    lab_options(c)
    c.add_argument("--port", type=int, default=0, help="default: any that is free")
    c.add_argument("--seconds", type=float, default=30, help="a query is stopped after so long (default: 30)")
    c.add_argument("--rows", type=int, default=1000, help="rows that an answer shows at most (default: 1000)")


COMMANDS: Commands = {
    sql: _sql_options,
    describe: _describe_options,
    figure: _figure_options,
    report: _report_options,
    explore: _explore_options,
}
