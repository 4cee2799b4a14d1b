"""Commands that bring records into a lab: simulated, prepared or read from files."""

from __future__ import annotations

import argparse
from pathlib import Path

from trajlab.cli.terminal import Commands, lab_options, new_lab_only_if_it_works, pairs


def demo(args: argparse.Namespace) -> None:
    """Simulate a city and go the whole way, from records to a report.

    Writes lab.duckdb, report.html, a certificate of the decision and the simulated input into a folder.
    """
    from trajlab.demo import run

    run(Path(args.folder), people=args.people, days=args.days, seed=args.seed)


def _demo_options(c: argparse.ArgumentParser) -> None:
    c.add_argument("folder", nargs="?", default="demo", help="where to write (default: demo)")
    c.add_argument("--people", type=int, default=2000, help="people of the city (default: 2000)")
    c.add_argument("--days", type=int, default=7, help="days they are followed (default: 7)")
    c.add_argument("--seed", type=int, default=0, help="another number, another city (default: 0)")


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


def prepare(args: argparse.Namespace) -> None:
    """Make a sub-dataset of D'Silva et al. 2024 from its public download, in a new lab.

    Datasets: geolife-37, geolife-38, geolife-43 (give the folder Data), porto-3x3, porto-7x7
    (give train.csv). docs/prepare.md says every step and where its numbers come from.
    """
    with new_lab_only_if_it_works(args) as lab:
        print(lab.prepare(args.dataset, args.download))


def _prepare_options(c: argparse.ArgumentParser) -> None:
    c.add_argument("dataset", help="such as geolife-37 or porto-7x7")
    c.add_argument("download", help="GeoLife's folder Data, or Porto's train.csv")
    lab_options(c)


def geography(args: argparse.Namespace) -> None:
    """Load base stations, named places or zones into a lab.

    Stations and places are CSV or Parquet tables; zones are GeoJSON or GeoParquet polygons.
    """
    with new_lab_only_if_it_works(args) as lab:
        for note in lab.geography(stations=args.stations, places=args.places, zones=args.zones):
            print(note)


def _references(c: argparse.ArgumentParser) -> None:
    c.add_argument("--stations", help="table of base stations: station, lat, lng")
    c.add_argument("--places", help="table of named places: place, and optionally lat, lng, parent")


def _geography_options(c: argparse.ArgumentParser) -> None:
    lab_options(c)
    _references(c)
    c.add_argument("--zones", help="GeoJSON or GeoParquet polygons")


def ingest(args: argparse.Namespace) -> None:
    """Read records into a lab: CSV, Parquet, gz, whole folders.

    Columns are recognised by the names that common tools give them; --column says
    otherwise. Every row ends in records.fix, or in records.rejected with its reason.
    Ingesting the same file twice adds nothing.
    """
    with new_lab_only_if_it_works(args) as lab:
        done = lab.ingest(
            args.files if len(args.files) > 1 else args.files[0],
            kind=args.kind,
            tz=args.tz,
            columns=_columns(args.column),
            stations=args.stations,
            places=args.places,
            drop_single_location=args.drop_single_location,
        )
        print(done)


def _ingest_options(c: argparse.ArgumentParser) -> None:
    lab_options(c)
    c.add_argument("files", nargs="+", help="CSV or Parquet files, or folders")
    c.add_argument("--kind", default="gps", help="gps, cdr, wifi, geolife, porto, multimno or bandicoot (default: gps)")
    c.add_argument("--tz", help="zone of times that carry none, and local zone, such as Asia/Shanghai")
    c.add_argument("--column", action="append", metavar="NAME=COLUMN", help="such as uid=device; may be repeated")
    _references(c)
    c.add_argument("--drop-single-location", action="store_true", help="reject people seen at one location only")


def _columns(given: list[str] | None) -> dict[str, str] | None:
    return pairs(given, "--column") or None


COMMANDS: Commands = {
    demo: _demo_options,
    simulate: _simulate_options,
    prepare: _prepare_options,
    geography: _geography_options,
    ingest: _ingest_options,
}
