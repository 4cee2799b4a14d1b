"""The tables an index is built on: refused when wrong, sorted by id, named by a hash.

Ids are text and sort as text, so "10" comes before "9". A table in this form does
not depend on the row order or the column types it was given with.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import polars as pl

from trajlab.errors import SpatialError

EVERYTHING = "everything"
_DEEPEST = 32


def stations(frame: pl.DataFrame) -> pl.DataFrame:
    """Masts as station, lat, lng; each must have a position."""
    frame = _typed(frame, "station", {"lat": pl.Float64, "lng": pl.Float64}, optional=())
    _refuse(frame, "station", ~_on_the_globe(), "have no usable lat and lng")
    return frame


def places(frame: pl.DataFrame) -> pl.DataFrame:
    """Places as place, lat, lng, parent; a place has both coordinates or none."""
    columns = {"lat": pl.Float64, "lng": pl.Float64, "parent": pl.String}
    frame = _typed(frame, "place", columns, optional=("lat", "lng", "parent"))
    nowhere = pl.col("lat").is_null() & pl.col("lng").is_null()
    _refuse(frame, "place", ~(nowhere | _on_the_globe()), "have a wrong or half-missing lat and lng")
    return frame


def zones(frame: pl.DataFrame) -> pl.DataFrame:
    """Zones as zone, parent, polygon; the geometry itself is checked where it is read."""
    frame = _typed(frame, "zone", {"parent": pl.String, "polygon": pl.Binary}, optional=("parent",))
    _refuse(frame, "zone", pl.col("polygon").is_null(), "have no polygon")
    return frame


def fingerprint(rows: Iterable[tuple[object, ...]]) -> str:
    """First 8 hex digits of a SHA-256 over the rows, in the order given."""
    content = json.dumps(list(rows), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()[:8]


def split_hash(kind: str, argument: str, found: str) -> str:
    """The argument without its leading hash, refused when that is not the table's own.

    Eight hex digits are always a hash; as a size in metres they would go beyond the globe.
    """
    head, _, rest = argument.partition(":")
    if len(head) != 8 or not set(head) <= set("0123456789abcdef"):
        return argument
    if head != found:
        raise SpatialError(
            f"{kind}:{argument} was built on another table of {kind}: its hash is {head}, that of the "
            f"table at hand is {found}; give the table it was built on, or {kind!r} without a hash"
        )
    return rest


def lineage(kind: str, ids: list[str], parents: list[str | None]) -> list[list[str]]:
    """For each level, from the ids themselves up to one root, the ancestor of every id.

    An id without a parent stays as it is for as long as others have one; when no id
    has a parent left, the next level is one root. A parent may be listed as an id with
    a parent of its own, or stand for itself.
    """
    above = {child: parent for child, parent in zip(ids, parents, strict=True) if parent is not None}
    levels = [list(ids)]
    while (upper := [above.get(name, name) for name in levels[-1]]) != levels[-1]:
        levels.append(upper)
        if len(levels) > _DEEPEST:
            raise SpatialError(
                f"the parents of {kind} form a loop or a chain of more than {_DEEPEST}, "
                f"for instance at {upper[0] if upper else ''!r}: a parent must not descend from its child"
            )
    if len(set(levels[-1])) > 1:
        levels.append([EVERYTHING] * len(ids))
    return levels


def level_of(kind: str, argument: str, levels: list[list[str]]) -> int:
    """How many times up from the table's own ids: the argument of `zones:1` or `places:2`."""
    if argument == "":
        return 0
    if not argument.isascii() or not argument.isdigit() or int(argument) >= len(levels):
        raise SpatialError(
            f"no level {argument!r} of {kind}: give {kind!r}, or {kind}:<level> "
            f"with a level from 0 to {len(levels) - 1}"
        )
    return int(argument)


def ranked(labels: list[str]) -> tuple[list[str], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The distinct labels in order, the first row of each, and the rank of every row's label."""
    distinct, first, rank = np.unique(np.array(labels, dtype=object), return_index=True, return_inverse=True)
    return distinct.tolist(), first.astype(np.int64), rank.ravel().astype(np.int64)


def few(names: Iterable[object], limit: int = 3) -> str:
    """The first names of a long list, for a message."""
    names = list(names)
    shown = ", ".join(str(name) for name in names[:limit])
    return f"{shown}, ..." if len(names) > limit else shown


def _typed(
    frame: pl.DataFrame, key: str, columns: dict[str, type[pl.DataType]], optional: tuple[str, ...]
) -> pl.DataFrame:
    missing = [name for name in (key, *columns) if name not in (*frame.columns, *optional)]
    if missing:
        raise SpatialError(
            f"the table of {key}s has no column {' and '.join(missing)}; it has: {', '.join(frame.columns)}"
        )
    if frame.is_empty():
        raise SpatialError(f"the table of {key}s has no rows")
    wanted: dict[str, type[pl.DataType]] = {key: pl.String}
    picked = [
        pl.col(name).cast(kind) if name in frame.columns else pl.lit(None, dtype=kind).alias(name)
        for name, kind in (wanted | columns).items()
    ]
    try:
        frame = frame.select(picked)
    except pl.exceptions.PolarsError as error:
        kinds = ", ".join(f"{name} {kind.__name__}" for name, kind in columns.items())
        raise SpatialError(f"the table of {key}s needs {kinds}; a value does not convert") from error
    blank = frame.filter(pl.col(key).is_null() | (pl.col(key) == "")).height
    if blank:
        raise SpatialError(f"{blank} of {frame.height} {key}s have no id; fill the column {key!r}")
    _refuse(frame, key, pl.col(key).is_duplicated(), "share an id with another row")
    return frame.sort(key)


def _on_the_globe() -> pl.Expr:
    inside = pl.col("lat").is_between(-90, 90) & pl.col("lng").is_between(-180, 180)
    return inside.fill_null(value=False)


def _refuse(frame: pl.DataFrame, key: str, wrong: pl.Expr, why: str) -> None:
    ids = frame.filter(wrong).get_column(key).unique().sort().to_list()
    if ids:
        rows = frame.filter(wrong).height
        raise SpatialError(f"{rows} of {frame.height} {key}s {why}: {few(ids)}; mend or drop these rows")
