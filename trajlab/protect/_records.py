"""The records of protected traces as a file that can be handed on: no uid, no number, no source row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from trajlab.engine.duckdb import said_kindly
from trajlab.errors import LabError, ProtectionError
from trajlab.plain import spelled
from trajlab.protect import load
from trajlab.risk.traces import UNPROTECTED, Traces, tick_seconds
from trajlab.risk.traces import load as load_traces
from trajlab.unfinished import unfinished

if TYPE_CHECKING:
    from trajlab.store import Store

FORMS = (".parquet", ".csv")


def protected_records(store: Store, traces: Traces, path: Path) -> int:
    """Write the records of protected traces to a new `.parquet` or `.csv` file; returns how many.

    Every record of the release's people and period is there once, under the id of the part that its slot
    is in: `pseudonym, ts, lat, lng, place`, in that order and sorted by it, so that the order of rows
    says nothing. In CSV a place that a spreadsheet would take for a formula begins with an apostrophe. The
    file appears when it is complete, or not at all.
    """
    refuse_file(path)
    traces = load_traces(store, traces.id)
    if traces.protection == UNPROTECTED:
        raise ProtectionError(f"traces {traces.id} are not protected: their records would carry nobody's fresh id")
    if not load(traces.protection).keeps_visits:
        raise ProtectionError(
            f"{traces.protection} changes visits, which are cells and slots: there are no records of its traces"
        )
    with said_kindly(f"writing records protected with {traces.protection}"):
        try:
            _find_parts(store, traces)
            with unfinished(path) as scratch:
                written = _copy(store, traces, scratch / path.name, path.suffix.lower().removeprefix("."))
                (scratch / path.name).rename(path)
        except OSError as error:
            raise LabError(f"cannot write {path.name!r}: {error.strerror or error}") from error
        finally:
            store.con.execute("drop table if exists part_of_slot")
    return written


def refuse_file(path: Path) -> None:
    """Say now what is wrong with a file to be written later."""
    if path.suffix.lower() not in FORMS:
        raise ProtectionError(f"cannot write {path.name!r}: the name must end in {' or '.join(FORMS)}")
    if path.exists() or not path.parent.is_dir():
        raise ProtectionError(f"cannot write {path.name!r}: it must be a new file in a folder that exists")


def _find_parts(store: Store, traces: Traces) -> None:
    """Which part a record belongs to, by its slot; the same for everybody, or it cannot be told.

    A table and not a frame: the engine plans joins badly around frames, whose size it does not know.
    """
    store.con.execute(
        """
        create or replace temp table part_of_slot as
        select visit.slot, min(trace.part) as part, max(trace.part) as last_part
        from slots.visit as visit
        join slots.trace as trace on trace.traces_id = $id and trace.trace = visit.trace
        where visit.traces_id = $id
        group by visit.slot
        """,
        {"id": traces.id},
    )
    if store.rows("select 1 from part_of_slot where part <> last_part limit 1"):
        raise ProtectionError(f"{traces.protection} divides people otherwise than by time: no record has one part")


def _copy(store: Store, traces: Traces, file: Path, form: str) -> int:
    ((last_source, grid, kept),) = store.rows(
        """
        select
            study.last_source,
            (select settings from grid.index where index_id = release.index_id),
            (select sum(records) from (select distinct person, records from slots.trace where traces_id = $id))
        from counts.release as release
        join study.release as study on study.release_id = release.release_id
        where release.release_id = $release
        """,
        id=traces.id,
        release=traces.release_id,
    )
    place = spelled("fix", {"place": "VARCHAR"}) if form == "csv" else "fix.place"
    area = json.loads(grid)
    west, south, east, north = area["box"]
    ((written,),) = store.rows(
        f"""
        copy (
            select trace.pseudonym, fix.ts, fix.lat, fix.lng, {place}
            from records.fix as fix
            join slots.clock as clock
                on clock.release_id = $release
                and clock.tick = floor(epoch(fix.ts) / $tick)::bigint
            join slots.person as person
                on person.release_id = $release and person.person = fix.person and person.kept
            join part_of_slot on part_of_slot.slot = clock.slot - person.first_slot
            join slots.trace as trace
                on trace.traces_id = $id and trace.person = fix.person and trace.part = part_of_slot.part
            where fix.source_id <= $last_source and (
                $everywhere or fix.lng is null
                or (fix.lng between $west and $east and fix.lat between $south and $north)
            )
            order by trace.trace, fix.ts, fix.lat, fix.lng, fix.place
        ) to $file (format {form})
        """,  # noqa: S608
        file=str(file),
        id=traces.id,
        release=traces.release_id,
        last_source=last_source,
        tick=tick_seconds(store, traces.release_id),
        everywhere=area["outside"] != "drop",
        west=west,
        south=south,
        east=east,
        north=north,
    )
    if written != kept:
        raise ProtectionError(
            f"{kept:,} records are behind release {traces.release_id} and the lab has {written:,} of them now: were "
            "people taken out of it since (drop_single_location)? No file was made"
        )
    return int(written)
