"""What whoever makes a release should know of it: kept in `study.note`, told by every door."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from trajlab.ingest._times import NO_ZONE
from trajlab.protect import name_of

if TYPE_CHECKING:
    from trajlab.store import Store

MANY = 0.01
"""Share of records outside the study box above which a note is a warning."""
MOSTLY = 0.5
"""Share of filled positions above which a note says so."""


def of(store: Store, release_id: str) -> tuple[str, ...]:
    """The notes of a release, warnings first; a lab of an older trajlab, open for reading, has none."""
    if not store.rows("select 1 from duckdb_tables() where schema_name = 'study' and table_name = 'note'"):
        return ()
    found = store.rows(
        "select note from study.note where release_id = $id order by not starts_with(note, 'warning'), subject",
        id=release_id,
    )
    return tuple(note for (note,) in found)


def zones(store: Store) -> list[str]:
    """The zones in which records were ingested, by name."""
    found = store.rows("select distinct tz from records.source where tz is not null order by tz")
    return [str(tz) for (tz,) in found]


def write(store: Store, release_id: str, *, zone_given: bool) -> None:
    """Look at a release that was just built; call it inside its transaction."""
    found = [_outside(store, release_id), _filled(store, release_id)]
    if not zone_given and not zones(store):
        found.append(("tz", 1.0, NO_ZONE))
    rows = [(release_id, *one) for one in found if one is not None]
    if rows:
        store.insert("study.note", pl.DataFrame(rows, schema=["release_id", "subject", "share", "note"], orient="row"))


def write_protected(
    store: Store, release_id: str, unprotected_id: str, steps: Sequence[Any], said: Sequence[tuple[str, float, str]]
) -> None:
    """What is said of the release underneath holds here too; and what the protections did, in their own words."""
    store.execute(
        "insert into study.note by name select * replace ($id as release_id) from study.note "
        "where release_id = $unprotected_id",
        id=release_id,
        unprotected_id=unprotected_id,
    )
    ((hidden,),) = store.rows("select hidden from report.summary where release_id = $id", id=release_id)
    recipe = ", ".join(map(name_of, steps))
    note = f"counts protected with {recipe}: {hidden:.1%} of person-slots are in cells that are not listed"
    rows = [(release_id, "protected", hidden, note), *((release_id, *one) for one in said)]
    store.insert("study.note", pl.DataFrame(rows, schema=["release_id", "subject", "share", "note"], orient="row"))


def zone_was_meant(store: Store, release_id: str) -> None:
    """Somebody asks for the release again and says UTC: there is nothing to note any more."""
    store.execute("delete from study.note where release_id = $id and subject = 'tz'", id=release_id)


def _outside(store: Store, release_id: str) -> tuple[str, float, str] | None:
    ((beyond, settings),) = store.rows(
        "select outside, settings from study.release where release_id = $id", id=release_id
    )
    if not beyond:
        return None
    clamped = json.loads(settings)["outside"] == "clamp"
    records, people = store.totals(
        "select count(*) as records, count(distinct person) as people from records.fix", "sum(records), sum(people)"
    )[0]
    ((index_id,),) = store.rows("select index_id from counts.release where release_id = $id", id=release_id)
    in_the_box = "select count(distinct person) as people from grid.fix where index_id = $id"
    ((placed,),) = store.totals(in_the_box, "sum(people)", id=index_id)
    share = beyond / records
    note = f"{beyond:,} of {records:,} records ({share:.2%}) lie outside the study box and were "
    note += "moved to its edge, where nobody was" if clamped else "left out"
    if people > placed:
        note += f", and with them {people - placed:,} of {people:,} people"
    if share > MANY:
        note = f"warning: {note}; a box of your own (box=, --box) says which belong to the study"
    return "outside", share, note


def _filled(store: Store, release_id: str) -> tuple[str, float, str] | None:
    ((observed,),) = store.rows("select observed_share from report.summary where release_id = $id", id=release_id)
    if 1 - observed <= MOSTLY:
        return None
    note = (
        f"{1 - observed:.1%} of the positions behind the counts are filled in, not recorded: longer slots, "
        "coverage=... (--coverage) or fill='none' rest on more records"
    )
    return "filled", 1 - observed, note
