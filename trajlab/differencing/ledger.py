"""The ledger: which releases and cubes are out, and since when. What is out cannot be taken back."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from trajlab.errors import DifferencingError, UnknownNameError

if TYPE_CHECKING:
    from trajlab.store import Store


@dataclass(frozen=True, slots=True)
class Published:
    """A release or a cube that is out."""

    id: str
    release_id: str
    cube_id: str | None
    date: dt.date
    note: str | None


def publish(store: Store, published_id: str, date: str | dt.date, note: str | None = None) -> Published:
    """Write down that a release or a cube is out; once written, its date stays.

    The same once more changes nothing; another date or note is refused.
    """
    day = _parse_date(date)
    if note is not None and not isinstance(note, str):
        raise DifferencingError(f"note is text, not {note!r}")
    release_id, cube_id = find(store, published_id)
    there = store.rows("select published_on, note from study.published where published_id = $id", id=published_id)
    if there and there[0][0] != day:
        raise DifferencingError(
            f"{published_id} is out since {there[0][0]}: it cannot be published again on {day}, nor be withdrawn, "
            "since whoever has it keeps it"
        )
    if there and note is not None and there[0][1] != note:
        raise DifferencingError(f"{published_id} is out since {day} with another note: the ledger is not rewritten")
    made = Published(published_id, release_id, cube_id, day, there[0][1] if there else note)
    if not there:
        row = {"published_id": made.id, "release_id": release_id, "cube_id": cube_id, "published_on": day, "note": note}
        with store.transaction("publishing"):
            store.insert(
                "study.published", pl.DataFrame([row], schema_overrides={"cube_id": pl.String, "note": pl.String})
            )
    return made


def find(store: Store, published_id: str) -> tuple[str, str | None]:
    """The release that an id names, and the cube where it names one; refused where the lab has neither."""
    if store.rows("select 1 from counts.release where release_id = $id", id=published_id):
        return published_id, None
    cubes = dict(store.rows("select cube_id, release_id from study.cube"))
    if published_id in cubes:
        return str(cubes[published_id]), published_id
    releases = [name for (name,) in store.rows("select release_id from counts.release")]
    raise UnknownNameError("release or cube", published_id, [*releases, *cubes])


def everything(store: Store) -> list[str]:
    """The ids of all that is out, in the order in which it came out."""
    return [
        name for (name,) in store.rows("select published_id from study.published order by published_on, published_id")
    ]


def _parse_date(date: object) -> dt.date:
    if isinstance(date, dt.datetime):
        return date.date()
    if isinstance(date, dt.date):
        return date
    try:
        if not isinstance(date, str):
            raise ValueError
        return dt.date.fromisoformat(date.strip())
    except ValueError:
        raise DifferencingError(f"date {date!r} is not a date like '2026-11-18'") from None
