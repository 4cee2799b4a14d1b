"""Tables of the lab as files, all of them or only what may leave the house.

A table may be published when its SQL file says `publish: yes`; silence means no.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from trajlab.engine.duckdb import said_kindly
from trajlab.errors import LabError, UnknownNameError
from trajlab.query import Query, catalogue

if TYPE_CHECKING:
    from trajlab.store import Store

FORMS = ("parquet", "csv")


def export(store: Store, folder: Path, *, publishable: bool, form: str) -> list[Path]:
    """Write `schema.table.<form>` for each table, in the order of its key; all files or none."""
    if form not in FORMS:
        raise UnknownNameError("format", form, FORMS)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise LabError(f"{folder} is not an empty folder: choose a new one, nothing is overwritten")
    make_folder(folder.parent)
    tables = [q for q in catalogue().values() if q.publishable or not publishable]
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".export-") as scratch:
        for query in tables:
            _write(store, query, Path(scratch) / f"{query.table}.{form}", publishable=publishable)
        folder.mkdir(exist_ok=True)
        return [Path(shutil.move(file, folder / file.name)) for file in sorted(Path(scratch).iterdir())]


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, or say why it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(f"{folder} cannot be made: {error.strerror or error}") from error


def _write(store: Store, query: Query, file: Path, *, publishable: bool) -> None:
    order = f"order by {', '.join(query.grain)}" if query.grain else ""
    seen = (
        "where (index_id, cell) in (select release.index_id, occupancy.cell from counts.occupancy as occupancy "
        "join counts.release as release using (release_id))"
        if publishable and query.table == "grid.cell"
        else ""
    )
    form = file.suffix.removeprefix(".")
    with said_kindly(f"exporting {query.table}"):
        store.con.execute(
            f"copy (select * from {query.table} {seen} {order}) to $file (format {form})",  # noqa: S608
            {"file": str(file)},
        )
