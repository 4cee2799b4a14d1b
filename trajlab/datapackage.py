"""The metadata of what is published: a Data Package descriptor (version 2) beside the files.

Columns are described in the words of the SQL headers, so that the descriptor says what `trajlab describe` says.
It holds what `counts.release` publishes anyway, and no date: the same release gives the same bytes. The licence is
for the publisher to choose: `licenses` is left out, and is to be added before the folder goes anywhere.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from trajlab import geoparquet
from trajlab.query import Query
from trajlab.report import words
from trajlab.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

NAME = "datapackage.json"
PROFILES = "https://datapackage.org/profiles/2.0"
MEDIA = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
TYPES = {
    "VARCHAR": "string",
    "INTEGER": "integer",
    "BIGINT": "integer",
    "UBIGINT": "integer",
    "DOUBLE": "number",
    "TIMESTAMP": "datetime",
    "BOOLEAN": "boolean",
}
"""The type of a field by that of its column; every type of a table that may be published stands here."""
_FORMULAS = "Text that a spreadsheet would take for a formula begins with an apostrophe here."


def describe(
    files: Sequence[Path],
    release: Mapping[str, Any],
    *,
    cube: str | None = None,
    decision: Mapping[str, Any] | None = None,
    geo: bool = False,
) -> str:
    """The descriptor of these files as JSON; `release` is the row of counts.release, `decision` what a policy says.

    With `geo`, tables about cells have a column with their shape.
    """
    cells, slots = words.lower_first(words.cells(release["index_name"])), words.span(release["slot_seconds"])
    package: dict[str, Any] = {
        "$schema": f"{PROFILES}/datapackage.json",
        "name": f"trajlab-{cube or release['release_id']}".lower(),
        "title": f"People in {cells} during slots of {slots}" + (", by group" if cube else ""),
        "description": _protection(release),
        "release": {key: _plain(value) for key, value in release.items() if key != "index_id"},
        "made_with": {"trajlab": __version__},
        "resources": [_resource(file, geo=geo) for file in files],
    }
    if decision is not None:
        package["decision"] = dict(decision)
    return json.dumps(package, indent=2, ensure_ascii=False) + "\n"


def _protection(release: Mapping[str, Any]) -> str:
    done = [f"Protections that the counts went through, in order: {release['recipe']}."] if release["recipe"] else []
    if release["min_count"] > 1:
        done.append(f"Counts below {release['min_count']} are left out: a missing row means too few to say, or nobody.")
    filling = f"Slots without a record were filled: {release['fill']}." if release["fill"] != "none" else ""
    return " ".join([*(done or ["Nothing was left out of the counts and nothing was changed."]), filling]).strip()


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


def _resource(file: Path, *, geo: bool) -> dict[str, Any]:
    query, form = Query.load(file.stem), file.suffix.removeprefix(".")
    with file.open("rb") as content:
        hashed = hashlib.file_digest(content, "sha256").hexdigest()
    described = [words.upper_first(query.summary), *([_FORMULAS] if form == "csv" else [])]
    return {
        "$schema": f"{PROFILES}/dataresource.json",
        "name": query.table,
        "path": file.name,
        "type": "table",
        "description": " ".join(described),
        "format": form,
        "mediatype": MEDIA[form],
        **({"encoding": "utf-8"} if form == "csv" else {}),
        "bytes": file.stat().st_size,
        "hash": f"sha256:{hashed}",
        "schema": _schema(query, form, geo=geo and query.table in geoparquet.TABLES),
    }


def _schema(query: Query, form: str, *, geo: bool) -> dict[str, Any]:
    fields: list[dict[str, str]] = []
    for column in query.columns:
        field = {"name": column.name, "type": TYPES[column.type], "description": column.meaning}
        if column.type == "TIMESTAMP" and form == "csv":
            field["format"] = "%Y-%m-%d %H:%M:%S"
        fields.append(field)
    if geo:
        fields.append({"name": geoparquet.COLUMN, "type": "any", "description": geoparquet.MEANING})
    key = {"primaryKey": list(query.grain)} if query.grain else {}
    return {"$schema": f"{PROFILES}/tableschema.json", "fields": fields, **key}
