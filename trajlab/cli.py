"""Ask what published mobility counts give away.

The flow, from files to a page to look at:

  trajlab ingest lab.duckdb traces.parquet --kind gps --tz Europe/Lisbon
  trajlab release lab.duckdb --index h3:8 --slot 30min
  trajlab attack lab.duckdb dsilva2024
  trajlab sql lab.duckdb "select * from report.every_metric"
  trajlab report lab.duckdb -o report.html

No data at hand? `trajlab demo` simulates a city and goes all the way.
"""

from __future__ import annotations

import argparse
import inspect
import io
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from trajlab.errors import LabError, QueryError, TrajlabError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import polars as pl

    from trajlab.lab import Lab


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it worked, 2 with one line on stderr when the user must fix something."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Unicode shows ? and goes on
    args = _parser().parse_args(argv)
    try:
        args.run(args)
        sys.stdout.flush()
    except TrajlabError as error:
        print(f"trajlab: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("trajlab: interrupted; the step that was under way left nothing in the lab", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output (head, less) went away
        sys.stderr.close()
        return 0
    except OSError as error:
        print(f"trajlab: {error.strerror or error}", file=sys.stderr)
        return 2
    return 0


def demo(args: argparse.Namespace) -> None:
    """Simulate a city and go the whole way, from records to a report.

    Writes lab.duckdb, report.html and the simulated input into a folder.
    """
    from trajlab.demo import run

    run(Path(args.folder), people=args.people, days=args.days, seed=args.seed)


def simulate(args: argparse.Namespace) -> None:
    """Write a seeded city of simulated people to a Parquet or CSV file.

    Modes: gps (regular positions), cdr (sparse calls at base stations), campus (Wi-Fi
    records of students with timetables). cdr and campus write their reference tables
    beside the records.
    """
    from trajlab.demo import simulate_to_files

    for line in simulate_to_files(
        Path(args.file),
        mode=args.mode,
        people=args.people,
        days=args.days,
        seed=args.seed,
        interval=args.interval,
        start=args.start,
        tz=args.tz,
        stations=args.stations,
    ):
        print(line)


def ingest(args: argparse.Namespace) -> None:
    """Read records into a lab: CSV, Parquet, gz, whole folders.

    Columns are recognised by the names that common tools give them; --column says
    otherwise. Every row ends in records.fix, or in records.rejected with its reason.
    Ingesting the same file twice adds nothing.
    """
    with _new_lab_only_if_it_works(args.lab), _open(args) as lab:
        done = lab.ingest(
            [Path(file) for file in args.files] if len(args.files) > 1 else Path(args.files[0]),
            kind=args.kind,
            tz=args.tz,
            columns=_columns(args.column),
            stations=args.stations,
            places=args.places,
            drop_single_location=args.drop_single_location,
        )
        print(done)


def geography(args: argparse.Namespace) -> None:
    """Load base stations, named places or zones into a lab.

    Stations and places are CSV or Parquet tables; zones are GeoJSON or GeoParquet polygons.
    """
    with _new_lab_only_if_it_works(args.lab), _open(args) as lab:
        for note in lab.geography(stations=args.stations, places=args.places, zones=args.zones):
            print(note)


def release(args: argparse.Namespace) -> None:
    """Publish counts: people per cell and slot, and flows between slots.

    The index is one of square:<metres>, h3:<resolution>, stations, stations:<metres>,
    zones, places, or square:like=<another> for squares of equal area.
    """
    with _open(args, must_exist=True) as lab:
        made = lab.release(
            args.index,
            args.slot,
            args.fill,
            tz=args.tz,
            start=args.start,
            days=args.days,
            align=args.align,
            coverage=args.coverage,
            min_count=args.min_count,
            people=args.people,
            seed=args.seed,
            box=tuple(args.box) if args.box else None,
            outside=args.outside,
        )
        summary = lab.sql("select * from report.summary where release_id = $id", id=made.id)
        print(_as_lines(summary))


def prepare(args: argparse.Namespace) -> None:
    """Make a sub-dataset of D'Silva et al. 2024 from its public download, in a new lab.

    Datasets: geolife-37, geolife-38, geolife-43 (give the folder Data), porto-3x3, porto-7x7
    (give train.csv). docs/prepare.md says every step and where its numbers come from.
    """
    with _new_lab_only_if_it_works(args.lab), _open(args) as lab:
        print(lab.prepare(args.dataset, args.download))


def attack(args: argparse.Namespace) -> None:
    """Recover tracks from a release's counts, and score them against the truth.

    The yardsticks shuffle and stay run beside every attack. dsilva2024 works day by day: an
    interrupted run keeps its finished days, and the same command goes on from there.
    Everything is stored: attacks.track, attacks.step, metrics.*, report.every_metric.
    """
    with _open(args, must_exist=True) as lab:
        settings = {name: _value(text) for name, text in _pairs(args.set, "--set").items()}
        found = lab.published(_release(lab, args.release))
        run = lab.attack(found, args.attack, seed=args.seed, pairing=args.pairing, **settings)
        print(f"run {run.id} of {run.attack} on release {run.release_id}: {run.people:,} tracks over {run.days} days")
        scores = lab.sql(
            "select metric, level, pairing, estimate, low, high, shuffle, stay from report.every_metric "
            "where run_id = $id and of = 'recovered' order by metric, level, pairing",
            id=run.id,
        )
        _print(scores, "table", 60)


def feasibility(args: argparse.Namespace) -> None:
    """Measure how regular and how singular the people behind a release are (xu2017, figures 2 to 7).

    Fills metrics.place_share, singled_out, night_places, night_share, prediction_error and day_gain.
    """
    with _open(args, must_exist=True) as lab:
        found = lab.published(_release(lab, args.release))
        lab.feasibility(found, seed=args.seed)
        _print(
            lab.sql(
                "select knowledge, points, people, unique_people, estimate, low, high from metrics.singled_out "
                "where release_id = $id order by knowledge, points",
                id=found.id,
            ),
            "table",
            40,
        )


def risk(args: argparse.Namespace) -> None:
    """Ask in how large a crowd people hide from somebody who knows a little of them.

    What is known is said as top:2, points:4 and so on; all kinds are listed below. Searched are
    the true traces behind a release (--release), those that `trajlab protect` made of them
    (--traces), or those that an attack recovered (--run). Everybody's k is in metrics.anonymity,
    summaries in metrics.risk, metrics.anonymity_curve and metrics.exposure.
    """
    with _open(args, must_exist=True) as lab:
        searched = args.traces or args.run_id or _release(lab, args.release)
        for known in args.knowledge:
            settings = {name: _value(text) for name, text in _pairs(args.set, "--set").items()}
            found = lab.risk(searched, known, basis=args.basis, seed=args.seed, sample=args.sample, **settings)
            print(f"risk {found.id}: {found.knowledge} on traces {found.searched_id}, {found.people:,} looked for")
            summary = lab.sql(
                "select scope, metric, level, people, estimate, low, high from metrics.risk "
                "where risk_id = $id order by scope, metric, level",
                id=found.id,
            )
            _print(summary, "table", 60)


def protect(args: argparse.Namespace) -> None:
    """Make the traces behind a release fit to publish: cut:6h divides them into windows of six hours.

    Every (person, window) gets a fresh id that cannot be guessed. --output writes the
    records themselves under these ids; `trajlab risk --traces` measures what was gained.
    """
    output = Path(args.output) if args.output else None
    if output is not None:
        from trajlab.protect.records import refuse_file

        refuse_file(output)
    key = Path(args.key_file).read_text(encoding="utf-8").strip() if args.key_file else None
    with _open(args, must_exist=True) as lab:
        made = lab.protect(_release(lab, args.release), args.protection, basis=args.basis, key=key)
        print(f"traces {made.id}: {made.protection}, {made.traces:,} traces with {made.visits:,} visits")
        if output is not None:
            print(f"wrote {lab.protected_records(made, output):,} records to {output}")


def people(args: argparse.Namespace) -> None:
    """Read a table of people, so that risk is given by group too: a column uid, and what else is known."""
    with _open(args, must_exist=True) as lab:
        for note in lab.people(Path(args.file)):
            print(note)


def study(args: argparse.Namespace) -> None:
    """Vary cells, slots or people, attack each release, and draw what changes (xu2017, figures 9 to 11).

    Give several values to what is to vary: --index square:250 square:500 square:1000.
    """
    given = {"tz": args.tz, "start": args.start, "days": args.days, "fill": args.fill, "coverage": args.coverage}
    if args.output and Path(args.output).suffix.lower() not in (".svg", ".html"):
        raise LabError(f"{args.output!r} is neither .svg nor .html: name the file study.svg or study.html")
    with _open(args, must_exist=True) as lab:
        found = lab.study(
            attack=args.attack,
            index=args.index,
            slot=args.slot,
            people=args.people,
            seed=args.seed,
            pairing=args.pairing,
            **given,
        )
        _print(found.table.filter(of="recovered", metric="accuracy").drop("release_id", "run_id"), "table", 80)
        if args.output:
            print(f"wrote {found.save(args.output)}")


def sql(args: argparse.Namespace) -> None:
    """Ask the lab in SQL; the lab is opened read-only.

    `trajlab describe` lists the tables. Values can be passed as --param name=value
    and used as $name.
    """
    query = sys.stdin.read() if args.query == "-" else args.query
    params = _pairs(args.param, "--param")
    with _open(args, read_only=True) as lab:
        _print(lab.sql(query, **params), args.format, args.rows)


def describe(args: argparse.Namespace) -> None:
    """Say what a table holds: one row per what, and what each column means.

    Without a name, one line for each table. No lab is needed: every lab has the same tables.
    """
    from trajlab.query import describe as described

    print(described(args.table))


def export(args: argparse.Namespace) -> None:
    """Copy tables to Parquet or CSV files in a new folder.

    --publishable copies only tables that hold nobody's trace: counts, cells, calendar.
    """
    with _open(args, read_only=True) as lab:
        for file in lab.export(args.folder, publishable=args.publishable, form=args.format):
            print(file)


def report(args: argparse.Namespace) -> None:
    """Write one self-contained HTML page about the lab; it opens offline."""
    with _open(args, read_only=True) as lab:
        print(lab.report(args.output))


def _parser() -> argparse.ArgumentParser:
    from trajlab import __version__

    parser = argparse.ArgumentParser(prog="trajlab", description=__doc__, formatter_class=_shape)
    parser.add_argument("--version", action="version", version=f"trajlab {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command", title="commands, in the order of a study")
    for run, options in COMMANDS.items():
        text = inspect.cleandoc(str(run.__doc__))
        short = text.splitlines()[0].rstrip(".")
        command = commands.add_parser(
            run.__name__, help=short[0].lower() + short[1:], description=text, formatter_class=_shape
        )
        options(command)
        command.set_defaults(run=run)
    return parser


def _lab(c: argparse.ArgumentParser) -> None:
    c.add_argument("lab", help="the lab file, such as lab.duckdb")
    c.add_argument("--memory-limit", help="what the engine may hold before it spills to disk, such as 4GB")
    c.add_argument("--threads", type=int, help="threads of the engine; results do not depend on it")


def _demo_options(c: argparse.ArgumentParser) -> None:
    c.add_argument("folder", nargs="?", default="demo", help="where to write (default: demo)")
    c.add_argument("--people", type=int, default=2000, help="people of the city (default: 2000)")
    c.add_argument("--days", type=int, default=7, help="days they are followed (default: 7)")
    c.add_argument("--seed", type=int, default=0, help="another number, another city (default: 0)")


def _simulate_options(c: argparse.ArgumentParser) -> None:
    c.add_argument("file", help="where to write: a .parquet or .csv file")
    c.add_argument("--mode", default="gps", help="gps, cdr or campus (default: gps)")
    c.add_argument("--people", type=int, default=1000, help="default: 1000")
    c.add_argument("--days", type=int, default=7, help="default: 7")
    c.add_argument("--interval", default="30min", help="time between positions, gps only (default: 30min)")
    c.add_argument("--start", default="2024-03-04", help="first local day (default: 2024-03-04, a Monday)")
    c.add_argument("--tz", default="Europe/Lisbon", help="local zone (default: Europe/Lisbon)")
    c.add_argument("--stations", type=int, default=300, help="number of base stations, cdr only (default: 300)")
    c.add_argument("--seed", type=int, default=0, help="another number, another city (default: 0)")


def _references(c: argparse.ArgumentParser) -> None:
    c.add_argument("--stations", help="table of base stations: station, lat, lng")
    c.add_argument("--places", help="table of named places: place, and optionally lat, lng, parent")


def _geography_options(c: argparse.ArgumentParser) -> None:
    _lab(c)
    _references(c)
    c.add_argument("--zones", help="GeoJSON or GeoParquet polygons")


def _ingest_options(c: argparse.ArgumentParser) -> None:
    _lab(c)
    c.add_argument("files", nargs="+", help="CSV or Parquet files, or folders")
    c.add_argument("--kind", default="gps", help="gps, cdr, wifi, geolife or porto (default: gps)")
    c.add_argument("--tz", help="zone of times that carry none, and local zone, such as Asia/Shanghai")
    c.add_argument("--column", action="append", metavar="NAME=COLUMN", help="such as uid=device; may be repeated")
    _references(c)
    c.add_argument("--drop-single-location", action="store_true", help="reject people seen at one location only")


def _release_options(c: argparse.ArgumentParser) -> None:
    _lab(c)
    c.add_argument("--index", default="square:500", help="how the map is cut into cells (default: square:500)")
    c.add_argument("--slot", default="30min", help="length of a time slot; it must divide a day (default: 30min)")
    c.add_argument(
        "--fill",
        default="static",
        help="slots without records: static repeats the last cell, linear, none (default: static)",
    )
    c.add_argument("--tz", help="local zone (default: the zone of the records)")
    c.add_argument("--start", help="first local day, such as 2013-04-01 (default: that of the first record)")
    c.add_argument("--days", type=int, help="length of the period (default: to the last record)")
    c.add_argument(
        "--align", action="store_true", help="with --days: lay everybody's best-covered days onto one period"
    )
    c.add_argument("--coverage", type=float, default=0.0, help="leave out people seen in a smaller share of slots")
    c.add_argument("--min-count", type=int, default=1, help="leave out counts below this (default: 1)")
    c.add_argument("--people", type=int, help="keep a seeded sample of this many people")
    c.add_argument("--seed", type=int, default=0, help="seed of that sample (default: 0)")
    c.add_argument(
        "--box", type=float, nargs=4, metavar=("WEST", "SOUTH", "EAST", "NORTH"), help="study box in degrees"
    )
    c.add_argument(
        "--outside", default="clamp", help="points beyond the box: clamp to its edge, or drop (default: clamp)"
    )


def _prepare_options(c: argparse.ArgumentParser) -> None:
    c.add_argument("dataset", help="such as geolife-37 or porto-7x7")
    c.add_argument("download", help="GeoLife's folder Data, or Porto's train.csv")
    _lab(c)


def _attack_options(c: argparse.ArgumentParser) -> None:
    from trajlab.attacks import names

    _lab(c)
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


def _feasibility_options(c: argparse.ArgumentParser) -> None:
    _lab(c)
    c.add_argument("--release", metavar="ID", help="the release to measure (default: the only one in the lab)")
    c.add_argument("--seed", type=int, default=0, help="which points are drawn of each person (default: 0)")


def _searched(c: argparse.ArgumentParser) -> None:
    c.add_argument("--release", metavar="ID", help="the release (default: the only one in the lab)")
    c.add_argument(
        "--basis",
        default="slots",
        help="what counts as a visit: slots (filled ones too), observed, or records (default: slots)",
    )


def _risk_options(c: argparse.ArgumentParser) -> None:
    if "--help" in sys.argv or "-h" in sys.argv:  # reading all kinds takes a moment that only help is worth
        from trajlab.knowledge import listing

        c.epilog = f"what may be known, settings in capitals:\n{listing()}"
    _lab(c)
    c.add_argument("knowledge", nargs="+", help="what is known, such as top:2 or points:4; several are asked in turn")
    _searched(c)
    c.add_argument("--traces", metavar="ID", help="search traces that `trajlab protect` made")
    c.add_argument("--run", dest="run_id", metavar="ID", help="search the tracks that an attack run recovered")
    c.add_argument("--sample", type=int, help="look for so many people, drawn at random (default: everybody)")
    c.add_argument("--seed", type=int, default=0, help="another number, other points known (default: 0)")
    c.add_argument("--set", action="append", metavar="NAME=VALUE", help="a setting by name, such as min_share=0.2")


def _protect_options(c: argparse.ArgumentParser) -> None:
    _lab(c)
    c.add_argument("protection", help="such as cut:6h")
    _searched(c)
    c.add_argument("--key-file", help="a file with the key of the ids (default: one that the lab draws and keeps)")
    c.add_argument("-o", "--output", help="write the records under their fresh ids: a new .parquet or .csv file")


def _people_options(c: argparse.ArgumentParser) -> None:
    _lab(c)
    c.add_argument("file", help="CSV or Parquet with a column uid")


def _study_options(c: argparse.ArgumentParser) -> None:
    _lab(c)
    c.add_argument("--attack", nargs="+", default=["xu2017"], help="one or more attacks (default: xu2017)")
    c.add_argument("--index", nargs="+", default=["square:500"], help="kinds of cells (default: square:500)")
    c.add_argument("--slot", nargs="+", default=["30min"], help="lengths of a slot (default: 30min)")
    c.add_argument("--people", nargs="+", type=int, help="sizes of seeded samples (default: everybody)")
    c.add_argument("--fill", default="static", help="static or linear (default: static)")
    c.add_argument("--tz", help="local zone (default: the zone of the records)")
    c.add_argument("--start", help="first local day (default: that of the first record)")
    c.add_argument("--days", type=int, help="length of the period (default: to the last record)")
    c.add_argument("--coverage", type=float, default=0.0, help="leave out people seen in a smaller share of slots")
    c.add_argument("--seed", type=int, default=0, help="seed of samples and attacks (default: 0)")
    c.add_argument("--pairing", default="both", help="optimal, greedy or both (default: both)")
    c.add_argument("-o", "--output", help="where to draw it: study.svg or study.html")


def _sql_options(c: argparse.ArgumentParser) -> None:
    _lab(c)
    c.add_argument("query", help="one SELECT, or - to read it from standard input")
    c.add_argument("--param", action="append", metavar="NAME=VALUE", help="a value for $name in the query")
    c.add_argument("--format", choices=("table", "csv", "json"), default="table", help="default: table")
    c.add_argument("--rows", type=int, default=40, help="rows shown as a table (default: 40)")


def _describe_options(c: argparse.ArgumentParser) -> None:
    c.add_argument("table", nargs="?", help="for example counts.occupancy")


def _export_options(c: argparse.ArgumentParser) -> None:
    _lab(c)
    c.add_argument("folder", help="a new folder")
    c.add_argument("--publishable", action="store_true", help="only tables that hold nobody's trace")
    c.add_argument("--format", default="parquet", help="parquet or csv (default: parquet)")


def _report_options(c: argparse.ArgumentParser) -> None:
    _lab(c)
    c.add_argument("-o", "--output", default="report.html", help="default: report.html")


COMMANDS: dict[Callable[[argparse.Namespace], None], Callable[[argparse.ArgumentParser], None]] = {
    demo: _demo_options,
    simulate: _simulate_options,
    prepare: _prepare_options,
    geography: _geography_options,
    ingest: _ingest_options,
    release: _release_options,
    feasibility: _feasibility_options,
    attack: _attack_options,
    people: _people_options,
    protect: _protect_options,
    risk: _risk_options,
    study: _study_options,
    sql: _sql_options,
    describe: _describe_options,
    export: _export_options,
    report: _report_options,
}


def _shape(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=28, width=100)


@contextmanager
def _new_lab_only_if_it_works(name: str) -> Iterator[None]:
    """A command that fails leaves no new, empty lab behind."""
    there = Path(name).exists()
    try:
        yield
    except BaseException:
        if not there:
            Path(name).unlink(missing_ok=True)
        raise


def _open(args: argparse.Namespace, *, read_only: bool = False, must_exist: bool = False) -> Lab:
    from trajlab.lab import open_lab

    if (read_only or must_exist) and not Path(args.lab).exists():
        raise LabError(f"{args.lab}: no such lab; `trajlab ingest {args.lab} FILE` makes one")
    return open_lab(args.lab, memory_limit=args.memory_limit, threads=args.threads, read_only=read_only)


def _pairs(given: list[str] | None, flag: str) -> dict[str, str]:
    for pair in given or []:
        if "=" not in pair:
            raise TrajlabError(f"{flag} takes name=value, not {pair!r}")
    return dict(pair.split("=", 1) for pair in given or [])


def _value(text: str) -> int | float | str:
    """A setting as the number that it looks like."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def _release(lab: Lab, asked: str | None) -> str:
    """The release asked for; without asking, the only one there is."""
    if asked is not None:
        return asked
    known = lab.sql(
        "select release_id, release_id || ' (' || index_name || ', ' || slot_seconds // 60 || ' min, fill ' || fill "
        "|| ')' as told from counts.release order by index_name, release_id"
    )
    if len(known) == 1:
        return str(known["release_id"][0])
    if not len(known):
        raise TrajlabError("the lab has no release yet: make one with trajlab release")
    there = ", ".join(known["told"])
    raise TrajlabError(f"the lab has {len(known)} releases: say which with --release; there are: {there}")


def _columns(given: list[str] | None) -> dict[str, str] | None:
    return _pairs(given, "--column") or None


def _as_lines(frame: pl.DataFrame) -> str:
    width = max(map(len, frame.columns))
    row = frame.row(0, named=True)
    return "\n".join(f"{name:<{width}}  {_told(value)}" for name, value in row.items())


def _told(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)


def _print(frame: pl.DataFrame, form: str, rows: int) -> None:
    import polars as pl

    if form == "csv":
        nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
        if nested:
            raise QueryError(f"CSV cannot hold the lists of column {nested[0]!r}: use --format json")
        sys.stdout.write(frame.write_csv())
    elif form == "json":
        print(frame.write_json())
    else:
        with pl.Config(
            tbl_rows=rows,
            tbl_cols=-1,
            tbl_hide_column_data_types=True,
            tbl_width_chars=160,
            fmt_str_lengths=60,
        ):
            print(frame)
