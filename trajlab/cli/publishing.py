"""Commands that make what is published: counts, protected traces, files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from trajlab.cli.terminal import Commands, as_lines, lab_options, list_in_help, only_release, opened, release_options
from trajlab.errors import ProtectionError, RefusedError, ReleaseError
from trajlab.plain import one_line


def release(args: argparse.Namespace) -> None:
    """Publish counts: people per cell and slot, and flows between slots.

    The index is one of square:<metres>, h3:<resolution>, stations, stations:<metres>,
    zones, places, inspire:<metres> for the European statistical grid with its official codes,
    quadkey:<level> for tiles of web maps, or square:like=<another> for squares of equal area. With --protect, the
    counts are changed before they are published; the release without it is made and kept too.
    """
    with opened(args, must_exist=True) as lab:
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
            group=parse_group(args.group),
            protect=args.protect,
            population=args.population,
        )
        summary = lab.sql("select * from report.summary where release_id = $id", id=made.id)
        print(as_lines(summary))
        for note in made.notes:
            print(note)


def _list_count_protections() -> str:
    from trajlab.protect import COUNTS, SETTINGS, describe, names

    found = [*names(SETTINGS), *names(COUNTS)]
    return "protections:\n" + "\n".join(f"  {name}  {describe(name).splitlines()[0]}" for name in found)


def _release_options(c: argparse.ArgumentParser) -> None:
    list_in_help(c, _list_count_protections)
    lab_options(c)
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
        "--outside", default="drop", help="points beyond the box: drop, or clamp to its edge (default: drop)"
    )
    c.add_argument(
        "--group",
        metavar="BY=VALUE",
        help="only the people of one group: home:<index>=<cell>, or a column of `trajlab people` and its value",
    )
    c.add_argument("--population", metavar="ID", help="the people whom a study pinned, see study.population")
    c.add_argument(
        "--protect",
        nargs="+",
        action="extend",
        default=[],
        metavar="TEXT",
        help="what is done to the counts, in order, such as suppress:15 (listed below)",
    )


def parse_group(text: str | None) -> tuple[str, str] | None:
    """What people are divided by, and the value; an index may have an equals sign of its own."""
    if text is None:
        return None
    by, _, value = text.rpartition("=") if text.startswith("home:") else text.partition("=")
    if not by or not value:
        raise ReleaseError(f"--group takes BY=VALUE, such as home:zones=north, not {text!r}")
    return by, value


def audit(args: argparse.Namespace) -> None:
    """Check that the noise of a release hides as much as it claims.

    The noise is drawn many times over on two tables that differ by one person. What is seen more often in one than in
    the other gives a bound of ε that holds in 95 of 100 audits; a bound above the claim contradicts it.
    """
    with opened(args, read_only=True) as lab:
        noisy = lab.sql("select release_id from counts.release where contains(recipe, 'noise:')")["release_id"]
        only = args.release or (noisy.item() if len(noisy) == 1 else None)
        found = lab.audit(only_release(lab, only), seed=args.seed)
        print(found)
        if not found.holds:
            raise ProtectionError("publish nothing made with this noise")


def _audit_options(c: argparse.ArgumentParser) -> None:
    lab_options(c)
    c.add_argument("--release", metavar="ID", help="the release (default: the only one in the lab with noise)")
    c.add_argument("--seed", type=int, default=0, help="seed of the draws (default: 0)")


def protect(args: argparse.Namespace) -> None:
    """Make the traces behind a release fit to publish: cut:6h divides them into windows of six hours.

    Every (person, window) gets a fresh id that cannot be guessed. --output writes the
    records themselves under these ids; `trajlab risk --traces` measures what was gained.
    """
    output = Path(args.output) if args.output else None
    if output is not None:
        from trajlab.protect._records import refuse_file

        refuse_file(output)
    key = _key(Path(args.key_file)) if args.key_file else None
    with opened(args, must_exist=True) as lab:
        made = lab.protect(only_release(lab, args.release), args.protection, basis=args.basis, key=key)
        print(f"traces {made.id}: {made.protection}, {made.traces:,} traces with {made.visits:,} visits")
        if output is not None:
            print(f"wrote {lab.protected_records(made, output):,} records to {output}")


def _key(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise ProtectionError(f"{file.name}: the key must be text, such as 64 random hexadecimal digits") from None


def _list_protections() -> str:
    from trajlab.protect import describe, names

    return "protections:\n" + "\n".join(f"  {name}  {describe(name).splitlines()[0]}" for name in names("traces"))


def _protect_options(c: argparse.ArgumentParser) -> None:
    list_in_help(c, _list_protections)
    lab_options(c)
    c.add_argument("protection", help="such as cut:6h")
    release_options(c)
    c.add_argument("--key-file", help="a file with the key of the ids (default: one that the lab draws and keeps)")
    c.add_argument("-o", "--output", help="write the records under their fresh ids: a new .parquet or .csv file")


def export(args: argparse.Namespace) -> int:
    """Copy tables to Parquet or CSV files in a new folder.

    --publishable copies only tables that hold nobody's trace, counts, cells, calendar, of one release:
    whoever has two of the same people can compute counts that both left out. Beside them,
    datapackage.json says what they are (Frictionless Data Package 2); add licenses to it. In CSV, text that a
    spreadsheet would take for a formula (= + - @) begins with an apostrophe; Parquet has it as it is.
    With --geo, cells, counts, flows and exposure are GeoParquet 1.1, for GIS and kepler.gl. With --publishable
    --format multimno, the counts of a release on the European grid (inspire:100) are what Eurostat's pipeline calls
    the present population: grid_id, population, timestamp, in folders year=/month=/day=.
    With --policy, a release that does not pass is not written; the command then ends as trajlab decide does.
    """
    from trajlab.decide.run import EXIT

    with opened(args, read_only=args.policy is None, must_exist=True) as lab:
        try:
            files = lab.export(
                args.folder,
                publishable=args.publishable,
                form=args.format,
                release=args.release,
                cube=args.cube,
                policy=args.policy,
                geo=args.geo,
            )
        except RefusedError as refused:
            print(f"trajlab: {one_line(str(refused))}", file=sys.stderr)
            return EXIT[refused.verdict]
        for line in (*files.notes, *files):
            print(line)
        return 0


def _export_options(c: argparse.ArgumentParser) -> None:
    lab_options(c)
    c.add_argument("folder", help="a new folder")
    c.add_argument("--publishable", action="store_true", help="only tables that hold nobody's trace, of one release")
    c.add_argument("--release", metavar="ID", help="the release to publish (default: the only one in the lab)")
    c.add_argument("--cube", metavar="ID", help="publish a cube instead, without the counts of its release")
    c.add_argument("--policy", metavar="P", help="write nothing unless this policy passes: a preset or a TOML file")
    c.add_argument("--format", default="parquet", help="parquet, csv or multimno (default: parquet)")
    c.add_argument("--geo", action="store_true", help="GeoParquet: outlines of cells and lines of flows in a column")


COMMANDS: Commands = {
    release: _release_options,
    audit: _audit_options,
    protect: _protect_options,
    export: _export_options,
}
