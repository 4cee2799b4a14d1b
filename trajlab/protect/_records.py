"""The records of protected traces as a file that can be handed on: no uid, no number, no source row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from trajlab.engine.duckdb import translate_errors
from trajlab.errors import LabError, ProtectionError
from trajlab.plain import spelled
from trajlab.protect import load_traces as load_protection
from trajlab.query import step
from trajlab.risk.traces import UNPROTECTED, Traces, tick_seconds
from trajlab.risk.traces import load as load_traces
from trajlab.scratch import scratch_folder

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
    if not load_protection(traces.protection).keeps_visits:
        raise ProtectionError(
            f"{traces.protection} changes visits, which are cells and slots: there are no records of its traces"
        )
    with translate_errors(f"writing records protected with {traces.protection}"):
        try:
            _find_parts(store, traces)
            with scratch_folder(path) as scratch:
                written = _copy(store, traces, scratch / path.name, path.suffix.lower().removeprefix("."))
                (scratch / path.name).rename(path)
        except OSError as error:
            raise LabError(f"cannot write {path.name!r}: {error.strerror or error}") from error
        finally:
            store.execute("drop table if exists part_of_slot")
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
    parts = step("3_slots/_part_of_slot")
    store.execute(f"create or replace temp table part_of_slot as {parts}", traces_id=traces.id)
    if store.rows("select 1 from part_of_slot where part <> last_part limit 1"):
        raise ProtectionError(f"{traces.protection} divides people otherwise than by time: no record has one part")


def _copy(store: Store, traces: Traces, file: Path, form: str) -> int:
    of = {"traces_id": traces.id, "release_id": traces.release_id}
    ((last_source, grid, behind),) = store.rows(step("3_slots/_records_behind"), **of)
    place = spelled("record", {"place": "VARCHAR"}) if form == "csv" else "record.place"
    columns, order = f"pseudonym, ts, lat, lng, {place}", "trace, ts, lat, lng, record.place"
    rows = f"select {columns} from ({step('3_slots/_protected_record')}) as record order by {order}"  # noqa: S608
    area = json.loads(grid)
    west, south, east, north = area["box"]
    ((written,),) = store.rows(
        f"copy ({rows}) to $file (format {form})",
        **of,
        file=str(file),
        last_source=last_source,
        tick=tick_seconds(store, traces.release_id),
        everywhere=area["outside"] != "drop",
        west=west,
        south=south,
        east=east,
        north=north,
    )
    if written != behind:
        raise ProtectionError(
            f"{behind:,} records are behind release {traces.release_id} and the lab has {written:,} of them now: were "
            "people taken out of it since (drop_single_location)? No file was made"
        )
    return int(written)
