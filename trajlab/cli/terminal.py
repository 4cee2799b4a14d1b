"""What commands share: opening a lab, options, settings as text, tables on a terminal."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from trajlab import plain
from trajlab.errors import LabError, QueryError, TrajlabError

if TYPE_CHECKING:
    import polars as pl

    from trajlab.lab import Lab

Commands = dict[Callable[[argparse.Namespace], int | None], Callable[[argparse.ArgumentParser], None]]
"""What each command does (and ends with, where that is not 0), and the function that adds its options."""


def lab_options(c: argparse.ArgumentParser, *, needed: bool = True) -> None:
    home = os.path.expanduser
    c.add_argument("lab", type=home, nargs=None if needed else "?", help="the lab file, such as lab.duckdb")
    engine_options(c)


def engine_options(c: argparse.ArgumentParser) -> None:
    c.add_argument("--memory-limit", help="what the engine may hold before it spills to disk, such as 4GB")
    c.add_argument("--threads", type=int, help="threads of the engine; results do not depend on it")
    c.add_argument("--quiet", action="store_true", help="say nothing of how far long work is")


def cluster_options(c: argparse.ArgumentParser) -> None:
    """Of every command that opens a lab, before its name."""
    c.add_argument("--engine", default="duckdb", help="duckdb, or spark for a lab on a cluster, docs/cluster.md")
    c.add_argument("--master", metavar="URL", help="the cluster, such as spark://host:7077, or local[2] to try it here")
    c.add_argument("--shards", type=int, metavar="N", help="parts that a new lab on a cluster has (default: 16)")


def refuse_off_the_cluster(args: argparse.Namespace, command: str) -> None:
    """Say what a command cannot do on a cluster before anything starts there."""
    if args.engine != "spark":
        if args.master is not None or args.shards is not None:
            raise LabError("--master and --shards go with --engine spark")
        return
    from trajlab.cluster.lab import COMMANDS, refusal

    if command not in COMMANDS:
        raise refusal(command)
    if getattr(args, "threads", None) is not None:
        raise LabError("--threads is for the embedded engine: on a cluster every task has one")


def release_options(c: argparse.ArgumentParser) -> None:
    c.add_argument("--release", metavar="ID", help="the release (default: the only one in the lab)")
    c.add_argument(
        "--basis",
        default="slots",
        help="what counts as a visit: slots (filled ones too), observed, or records (default: slots)",
    )


def table_option(c: argparse.ArgumentParser) -> None:
    c.add_argument("--table", action="store_true", help="every number of the answer as a table, instead of in words")


def list_in_help(c: argparse.ArgumentParser, write: Callable[[], str]) -> None:
    """Put a list below the help of a command: what it takes to write it is only worth its time for help."""
    without = c.format_help

    def format_help() -> str:
        c.epilog = write()
        return without()

    c.format_help = format_help  # type: ignore[method-assign]


@contextmanager
def new_lab_only_if_it_works(args: argparse.Namespace) -> Iterator[Lab]:
    """An open lab; a command that fails leaves no new, empty one behind."""
    with opened(args) as lab:
        try:
            yield lab
        except BaseException:
            lab._store.take_back()
            raise


def opened(args: argparse.Namespace, *, read_only: bool = False, must_exist: bool = False) -> Lab:
    from trajlab.opening import open_lab

    if (read_only or must_exist) and not Path(args.lab).exists():
        raise LabError(f"{args.lab}: no such lab; `trajlab ingest {args.lab} FILE` makes one")
    if args.engine == "spark":
        from trajlab.cluster.folder import Folder
        from trajlab.cluster.lab import open_cluster

        if read_only or must_exist:
            Folder.open(args.lab)  # what is no folder of a cluster is said to be none before anything starts
        if not read_only:
            if args.master is None:
                raise LabError("--engine spark needs --master, such as spark://host:7077, or local[2] to try it here")
            return open_cluster(
                args.lab, master=args.master, shards=args.shards, task_memory=args.memory_limit, quiet=args.quiet
            )
    return open_lab(
        args.lab,
        engine="duckdb" if args.engine == "spark" else args.engine,  # which reads what the cluster made
        memory_limit=args.memory_limit,
        threads=args.threads,
        read_only=read_only,
        quiet=args.quiet,
    )


WORTH_SAYING = 20.0
"""Seconds of work from which on a command says how long it will take before it begins."""


def say_before(args: argparse.Namespace, what: str, seconds: float) -> None:
    """A guess on stderr, to tell minutes from hours; the bar of the work itself is better as soon as it moves."""
    from trajlab.progress import duration

    if seconds >= WORTH_SAYING and not args.quiet:
        print(f"{what}: about {duration(seconds)} of one core, by its size", file=sys.stderr, flush=True)


def pairs(given: list[str] | None, flag: str) -> dict[str, str]:
    for pair in given or []:
        if "=" not in pair:
            raise TrajlabError(f"{flag} takes name=value, not {pair!r}")
    return dict(pair.split("=", 1) for pair in given or [])


def number_or_text(text: str) -> int | float | str:
    """A setting as the number that it looks like."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def only_release(lab: Lab, given: str | None) -> str:
    """The release given for; without asking, the only one there is of everybody."""
    if given is not None:
        return given
    from trajlab.report import listing

    known = listing.of_everybody(lab.sql(listing.RELEASES).to_dicts())
    if len(known) == 1:
        return str(known[0]["release_id"])
    if not known:
        raise TrajlabError("the lab has no release yet: make one with trajlab release")
    there = "; ".join(listing.lines(known))
    raise TrajlabError(f"the lab has {len(known)} releases: say which with --release; there are: {there}")


def as_lines(frame: pl.DataFrame) -> str:
    width = max(map(len, frame.columns))
    row = frame.row(0, named=True)
    return "\n".join(f"{name:<{width}}  {_as_text(value)}" for name, value in row.items())


def _as_text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)


def show(frame: pl.DataFrame, form: str, rows: int) -> None:
    show_blocks(iter([frame]), form, rows)


def show_blocks(blocks: Iterator[pl.DataFrame], form: str, rows: int) -> None:
    """A frame that comes in blocks, of which no more is held than is shown."""
    if form == "csv":
        for number, block in enumerate(blocks):
            nested = [name for name, kind in block.schema.items() if kind.is_nested()]
            if nested:
                raise QueryError(f"CSV cannot hold the lists of column {nested[0]!r}: use --format json")
            _for_programs(plain.cells(block).write_csv(include_header=number == 0))
    elif form == "json":
        before = "["
        for block in blocks:
            _for_programs(before + block.write_json()[1:-1])
            before = ","
        _for_programs("]\n")
    else:
        _show_table(blocks, rows)


def _show_table(blocks: Iterator[pl.DataFrame], rows: int) -> None:
    """The first and the last rows, half of each, and how many there are of them."""
    import polars as pl

    top = last = next(blocks)
    total = len(top)
    for block in blocks:
        total += len(block)
        if 0 <= rows < len(top):
            last = pl.concat([last, block]).tail(rows + 1)
        else:
            top = last = pl.concat([top, block])
    cut = top if rows < 0 or len(top) == total else pl.concat([top.head(rows + 1), last.tail(rows + 1)])
    with pl.Config(
        tbl_rows=rows,
        tbl_cols=-1,
        tbl_hide_column_data_types=True,
        tbl_hide_dataframe_shape=True,
        tbl_width_chars=160,
        fmt_str_lengths=60,
    ):
        print(f"shape: ({total:_}, {cut.width:_})\n{cut}")


def _for_programs(text: str) -> None:
    """To the byte into a file or a pipe; on a terminal, control characters are spelled out."""
    (sys.stdout if sys.stdout.isatty() else plain.exact(sys.stdout)).write(text)
