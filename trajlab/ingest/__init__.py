"""Files and frames become records: `records.fix`, and `records.rejected` with a reason for every other row.

    source -> table -> columns mapped -> times parsed -> rows checked -> people, fixes, rejected rows -> duplicates out

For every source, rows = rows in `records.fix` + rows in `records.rejected`. The same source
again adds nothing. Everything happens in the caller's transaction, so a refused file leaves
the lab as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

import duckdb

from trajlab.errors import IngestError
from trajlab.ingest._batch import Batch, Progress
from trajlab.ingest._kinds import find_kind, names
from trajlab.ingest._reference import add_places, add_places_seen, add_stations
from trajlab.ingest._rejections import (
    DUPLICATE,
    SINGLE_LOCATION,
    reject_duplicates,
    reject_single_location_people,
    reject_zero_zero,
)
from trajlab.ingest._times import NO_ZONE, check_zone

__all__ = ["Ingested", "add_places", "add_stations", "ingest", "names"]

SOUND = {DUPLICATE, SINGLE_LOCATION}
"""Reasons for which a row is rejected that can be read."""
VIEWS = (
    "ingest_frame", "ingest_event", "ingest_plt", "ingest_trip", "ingest_written", "ingest_raw", "ingest_form",
    "ingest_numbered", "ingest_interaction", "ingest_owner",
    "ingest_calendar", "ingest_instant", "ingest_timed", "ingest_coordinates", "ingest_gazetteer", "ingest_located",
    "ingest_checked", "ingest_row", "ingest_part", "ingest_source",
)  # fmt: skip
TEMPORARY = (
    "ingest_read_once", "ingest_reference", "ingest_day", "ingest_stored", "ingest_survey", "ingest_name",
    "ingest_person",
)  # fmt: skip
"""What the steps leave on the connection."""


@dataclass(frozen=True)
class Ingested:
    """What one call of `ingest` did."""

    rows: int
    kept: int
    rejected: dict[str, int]
    sources: list[str]
    mapping: dict[str, str]
    notes: list[str] = field(default_factory=list)
    people_new: int = 0
    skipped_sources: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.rows:,} rows read, {self.kept:,} kept, new people: {self.people_new:,}"]
        most_first = sorted(self.rejected.items(), key=lambda item: (-item[1], item[0]))
        lines += [f"  {count:,} rejected: {reason}" for reason, count in most_first]
        lines += [f"  {note}" for note in self.notes[:20]]
        if len(self.notes) > 20:
            lines.append(f"  and {len(self.notes) - 20} more notes")
        return "\n".join(lines)


def ingest(
    con: duckdb.DuckDBPyConnection,
    source: object,
    *,
    kind: str = "gps",
    tz: str | None = None,
    columns: Mapping[str, str] | None = None,
    stations: object = None,
    places: object = None,
    drop_single_location: bool = False,
    progress: Progress | None = None,
) -> Ingested:
    """Read files, folders or frames into the lab, inside the transaction that the caller holds.

    `tz` is the zone of times that carry none. `columns` maps uid, ts, lat, lng (station or
    place, direction, region) to columns whose names are not understood. `stations` and
    `places` are tables of coordinates for kinds `cdr` and `wifi`.
    """
    batch = read_sources(
        con, source, kind=kind, tz=tz, columns=columns, stations=stations, places=places, progress=progress
    )
    refuse_if_empty(batch)
    first_source, notes = batch.first_source, batch.notes
    if batch.at_zero and (note := reject_zero_zero(con, first_source)):
        notes.append(note)
    if tz is None and batch.sources:
        notes.append(NO_ZONE)
    batch.progress("looking for duplicates")
    reject_duplicates(con, first_source)
    if batch.reader.reference == "places":
        add_places_seen(con, first_source)
    if drop_single_location:
        people = reject_single_location_people(con)
        notes.append(f"{people:,} people seen at a single location were taken out of the lab")
    result = _result(con, batch)
    refuse_if_nothing_is_left(result)
    return result


def read_sources(
    con: duckdb.DuckDBPyConnection,
    source: object,
    *,
    kind: str,
    tz: str | None,
    columns: Mapping[str, str] | None,
    stations: object = None,
    places: object = None,
    reference_given: bool = False,
    progress: Progress | None = None,
) -> Batch:
    """The sources as records, before anything is rejected that can be seen among all of them only.

    `reference_given` says that the reference table of this call is in the lab already.
    """
    reader = find_kind(kind)
    progress = progress or (lambda _: None)
    if tz is not None:
        check_zone(con, tz)
    if columns and not reader.reads_columns:
        raise IngestError(f"kind {kind!r} has a fixed layout: columns= means nothing there")
    for argument, given in (("stations", stations), ("places", places)):
        if given is not None and reader.reference != argument:
            raise IngestError(f"{argument}= means nothing for kind {kind!r}")
    first_source = con.sql("select coalesce(max(source_id), 0) + 1 from records.source").fetchall()[0][0]
    notes: list[str] = []
    batch = Batch(
        con=con,
        reader=reader,
        kind=kind,
        tz=tz,
        columns=columns,
        first_source=first_source,
        notes=notes,
        progress=progress,
        reference_given=reference_given or stations is not None or places is not None,
    )
    with ExitStack() as cleanup:
        cleanup.callback(_drop_steps, con)
        if stations is not None:
            notes += add_stations(con, stations)
        if places is not None:
            notes += add_places(con, places)
        for table in reader.open_source(con, source, cleanup, notes):
            batch.add(table)
    return batch


def refuse_if_empty(batch: Batch) -> None:
    if batch.empty and not batch.sources and not batch.skipped_sources:
        raise IngestError(f"{batch.empty[0]}: no data rows, only column names")


def refuse_if_nothing_is_left(result: Ingested) -> None:
    """Rows that the lab has already, or that were taken out on request, are no failure."""
    unreadable = {reason: count for reason, count in result.rejected.items() if reason not in SOUND}
    if result.rows and sum(unreadable.values()) == result.rows:
        most_first = sorted(unreadable.items(), key=lambda item: (-item[1], item[0]))
        reasons = ", ".join(f"{reason} ({count:,})" for reason, count in most_first)
        where = result.sources[0] + (f" and {len(result.sources) - 1:,} more" if len(result.sources) > 1 else "")
        raise IngestError(f"{where}: not one of {result.rows:,} rows could be kept: {reasons}; nothing was added")


def _result(con: duckdb.DuckDBPyConnection, batch: Batch) -> Ingested:
    since = {"first_source": batch.first_source}
    ((kept,),) = con.sql("select count(*) from records.fix where source_id >= $first_source", params=since).fetchall()
    reasons = con.sql(_REASONS, params=since).fetchall()
    return Ingested(
        rows=batch.rows,
        kept=int(kept),
        rejected=dict(reasons),
        sources=batch.sources,
        mapping=batch.mapping,
        notes=batch.notes,
        people_new=batch.people_new,
        skipped_sources=batch.skipped_sources,
    )


_REASONS = """
select reason, count(*) from records.rejected where source_id >= $first_source
group by reason order by reason"""


def _drop_steps(con: duckdb.DuckDBPyConnection) -> None:
    with suppress(duckdb.Error):  # after an error the transaction takes nothing more, and rolls these back
        for view in VIEWS:
            con.unregister(view)
        for table in TEMPORARY:
            con.execute(f"drop table if exists {table}")
