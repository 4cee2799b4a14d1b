"""Tables of the lab as files: all of them, or one release with what may leave the house.

A table may be published when its SQL file says `publish: yes`; silence means no. One release goes into a
folder: whoever has two of the same people takes one from the other, and has counts that both left out. A cube goes
without the counts of its release for the same reason. What is published has its metadata beside it (`datapackage`).
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajlab import datapackage, geoparquet, plain
from trajlab.cubes import TABLES, Cube, load_cube
from trajlab.engine.duckdb import translate_errors
from trajlab.errors import LabError, RefusedError, ReleaseError, UnknownNameError
from trajlab.query import Query, catalogue, step
from trajlab.report import listing
from trajlab.scratch import scratch_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trajlab.decide.policy import Policy
    from trajlab.lab import Lab
    from trajlab.store import Store

FORMS = ("parquet", "csv", "multimno")
CUBES = (*TABLES, "study.cube")
OF_A_CUBE = (*CUBES, "counts.release", "slots.slot", "grid.index", "grid.cell")
"""What goes with a cube: all but the counts of everybody, from which those of a group could be computed."""


class Exported(list[Path]):
    """The files that were written, the release they are of (None for the whole lab), and notes to read first."""

    def __init__(self, files: list[Path], release_id: str | None, notes: tuple[str, ...]) -> None:
        super().__init__(files)
        self.release_id, self.notes = release_id, notes


def export(
    store: Store,
    folder: Path,
    *,
    publishable: bool,
    form: str,
    release: str | None,
    cube: str | None = None,
    decision: Mapping[str, Any] | None = None,
    geo: bool = False,
) -> Exported:
    """Write `schema.table.<form>` for each table, in the order of its key; all files or none.

    With `geo`, tables about cells are GeoParquet (`geoparquet.TABLES`). CSV is read by spreadsheets: text that
    begins like a formula begins with an apostrophe there. The form `multimno` is its one table, in folders of days.
    """
    if form not in FORMS:
        raise UnknownNameError("format", form, FORMS)
    if geo and form != "parquet":
        raise LabError(f"shapes are written as GeoParquet: leave out geo, or the format {form}")
    if release is not None and not publishable:
        raise LabError("a release is exported with publishable: without it every table of the lab is, whole")
    if cube is not None and (release is not None or not publishable):
        raise LabError("a cube is exported with publishable and without a release: it says which release it is of")
    if form == "multimno" and (cube is not None or not publishable):
        raise LabError("multimno's table is of one release: export it with publishable, and without a cube")
    refuse_folder(folder)
    found = None if cube is None else load_cube(store, cube)
    chosen = found.release_id if found else one_release(store, release) if publishable else None
    notes = () if chosen is None else tuple(_cube_notes(found) if found else _notes(store, chosen))
    make_folder(folder.parent)
    tables = [q for q in catalogue().values() if not q.view and (q.publishable or not publishable)]
    if publishable:
        tables = [q for q in tables if (q.table in OF_A_CUBE if found else q.table not in CUBES)]
    with scratch_folder(folder) as scratch:
        if form == "multimno":
            _write_population(store, scratch, str(chosen))
        else:
            for query in tables:
                _write(store, query, scratch / f"{query.table}.{form}", chosen, cube, geo=geo)
            if chosen is not None:
                _write_metadata(store, scratch, chosen, cube, decision, geo=geo)
        if folder.exists():
            _fill(folder, scratch)
        else:
            scratch.rename(folder)
    return Exported(sorted(path for path in folder.rglob("*") if path.is_file()), chosen, notes)


def refuse_folder(folder: Path) -> None:
    """A folder that there is, with something in it, is not written to; to be asked before long work."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise LabError(f"{folder} is not an empty folder: choose a new one, nothing is overwritten")


def let_out(lab: Lab, folder: Path, release: str | None, policy: str | Path | Policy) -> dict[str, Any]:
    """Decide on the release that is to be exported: what the metadata says of it, or RefusedError."""
    refuse_folder(folder)
    decision = lab.decide(one_release(lab._store, release), policy)
    rules = decision.rules.rows(named=True)
    if decision.verdict != "pass":
        broken = [
            f"{row['rule']} ({row['verdict']})" for row in rules if row["verdict"] != "pass" and not row["exception"]
        ]
        raise RefusedError(
            f"policy {decision.policy} does not let release {decision.release_id} out: {', '.join(broken)}; nothing "
            "was written. `trajlab decide` has the numbers; an exception belongs into the policy, with its reason",
            decision.verdict,
        )
    text = "select policy_hash from study.decision where decision_id = $id"
    return {
        "decision_id": decision.id,
        "release_id": decision.release_id,
        "policy": decision.policy,
        "policy_hash": lab.sql(text, id=decision.id).item(),
        "verdict": decision.verdict,
        "exceptions": {row["rule"]: row["exception"] for row in rules if row["exception"]},
    }


def _write_metadata(
    store: Store, folder: Path, release: str, cube: str | None, decision: Mapping[str, Any] | None, *, geo: bool
) -> None:
    (row,) = store.frame("from counts.release where release_id = $id", id=release).to_dicts()
    text = datapackage.describe(sorted(folder.iterdir()), row, cube=cube, decision=decision, geo=geo)
    (folder / datapackage.NAME).write_text(text, encoding="utf-8")


def _fill(folder: Path, scratch: Path) -> None:
    """Put the files into an empty folder that is there: all at once, by putting theirs into its place.

    Where that cannot be (a link, a mount, a folder of somebody else) or must not be, because it is the folder
    that we were called from, they come one by one, and go again if one of them cannot.
    """
    old, new = folder.stat(), scratch.stat()
    if not folder.samefile(Path.cwd()) and (old.st_uid, old.st_gid) == (new.st_uid, new.st_gid):
        with suppress(OSError):
            shutil.copymode(folder, scratch)
            scratch.rename(folder)
            return
    if any(folder.iterdir()):
        raise LabError(f"{folder} is no longer empty: choose a new one, nothing is overwritten")
    moved: list[Path] = []
    try:
        for file in sorted(scratch.iterdir()):
            moved.append(file.rename(folder / file.name))  # noqa: PERF401
    except BaseException:
        for file in moved:
            file.rename(scratch / file.name)
        raise


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, or say why it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(f"{folder} cannot be made: {error.strerror or error}") from error


def _known(store: Store) -> dict[str, str]:
    """What to call each release, by its id."""
    rows = store.frame(listing.RELEASES).to_dicts()
    return dict(zip((str(row["release_id"]) for row in rows), listing.lines(rows), strict=True))


def one_release(store: Store, release: str | None) -> str:
    """The release to export: the one given, or the only one."""
    known = _known(store)
    if release is not None:
        if release not in known:
            raise UnknownNameError("release", release, known.values())
        return release
    if not known:
        raise ReleaseError("the lab has no release yet: there is nothing to publish")
    whole = listing.of_everybody(store.frame(listing.RELEASES).to_dicts())
    if len(whole) == 1:
        return str(whole[0]["release_id"])
    if len(known) > 1:
        raise ReleaseError(
            f"the lab has {len(known)} releases and one is published at a time: say which; "
            f"there are: {'; '.join(known.values())}"
        )
    return next(iter(known))


def _notes(store: Store, chosen: str) -> Iterator[str]:
    """What is exported, and what could undo it."""
    known = _known(store)
    ((least, recipe),) = store.rows("select min_count, recipe from counts.release where release_id = $id", id=chosen)
    yield f"release {known.pop(chosen)}"
    if least <= 1 and not recipe:
        yield "warning: its counts begin at one person, nothing was left out; min_count leaves out small ones"
    elif known:
        some = "; ".join(list(known.values())[:3])
        more = f" and {len(known) - 3} more" if len(known) > 3 else ""
        yield (
            f"warning: publish no other release of this lab beside it ({some}{more}): counts left out here can be "
            "computed from those of cells or slots that lie within each other, and from lower thresholds"
        )


def _cube_notes(cube: Cube) -> Iterator[str]:
    """The same of a cube."""
    yield f"cube {cube.id} of release {cube.release_id} by {cube.by}, counts from {cube.min_count}"
    if cube.min_count <= 1:
        yield "warning: its counts begin at one person, nothing was left out; min_count leaves out small ones"
    yield (
        "warning: publish neither the counts of its release nor another cube of it beside it: counts left out here can "
        "be computed from theirs"
    )
    yield from cube.notes


def _write(store: Store, query: Query, file: Path, release: str | None, cube: str | None, *, geo: bool) -> None:
    """A whole table, or the rows that belong to a release or a cube; of its cells those that have a count."""
    form = file.suffix.removeprefix(".")
    columns = {column.name: column.type for column in query.columns}
    of_cube = cube is not None and (query.table in CUBES or query.table == "grid.cell")
    rows = query.table if release is None else f"({_rows(query.table, of_cube=of_cube)})"
    listed = plain.spelled("exported", columns) if form == "csv" else "exported.*"
    order = f"order by {', '.join(f'exported.{name}' for name in query.grain)}" if query.grain else ""
    params = {} if release is None else {"release_id": release}
    params |= {"cube_id": str(cube)} if of_cube else {}
    with translate_errors(f"exporting {query.table}"):
        if geo and query.table in geoparquet.TABLES:
            cells = "grid.cell" if release is None else f"({_rows('grid.cell', of_cube=cube is not None)})"
            geoparquet.write_file(store, query, file, rows, cells, **params)
            return
        store.execute(
            f"copy (select {listed} from {rows} as exported {order}) to $file (format {form})",  # noqa: S608
            file=str(file),
            **params,
        )


def _write_population(store: Store, folder: Path, release: str) -> None:
    """The counts as multimno's present population: `year=…/month=…/day=…/population.parquet`, nothing beside it."""
    ((index, rows),) = store.rows(
        "select index_name, (select count(*) from counts.occupancy where release_id = $id) from counts.release "
        "where release_id = $id",
        id=release,
    )
    if not str(index).startswith("inspire:"):
        raise LabError(
            f"multimno's tiles are those of the European grid, and the cells of release {release} are {index}: "
            "make one with inspire:100 or inspire:1000"
        )
    if not rows:
        raise LabError(f"release {release} has no counts: there is nothing to export")
    text = step("4_counts/_present_population")
    days = store.rows(f"select distinct year, month, day from ({text}) order by all", release_id=release)  # noqa: S608
    for year, month, day in days:  # one file a day: the engine's own partitions depend on its threads
        file = folder / f"year={year}" / f"month={month}" / f"day={day}" / "population.parquet"
        file.parent.mkdir(parents=True)
        with translate_errors("exporting the population present"):
            store.execute(
                f'copy (select grid_id, population, "timestamp" from ({text}) '  # noqa: S608
                "where year = $year and month = $month and day = $day order by all) to $file (format parquet)",
                file=str(file), release_id=release, year=year, month=month, day=day,
            )  # fmt: skip


def _rows(table: str, *, of_cube: bool) -> str:
    steps = {"grid.index": "2_grid/_index_of_release", "grid.cell": "2_grid/_cells_of_release"}
    if of_cube:
        steps["grid.cell"] = "2_grid/_cells_of_cube"
    if table in steps:
        return step(steps[table])
    of_this = "release_id = $release_id" + (" and cube_id = $cube_id" if of_cube else "")
    return f"select * from {table} where {of_this}"  # noqa: S608
