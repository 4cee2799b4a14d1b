"""The sources of one call, taken in table by table.

Each source is known by a fingerprint of its content. One that the lab already has adds
nothing; the same content read with other settings is refused, since both readings cannot
be true. A table may hold many small sources; each is checked, counted and noted by itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import duckdb
import numpy as np
import pyarrow as pa

from trajlab.errors import IngestError
from trajlab.ingest._checks import check_rows, select_columns
from trajlab.ingest._columns import date_and_clock, resolve
from trajlab.ingest._joined_parquet import first_damaged
from trajlab.ingest._kinds import Kind, Placing
from trajlab.ingest._records import write_records
from trajlab.ingest._survey import Survey, refuse_unreadable_times, survey_rows
from trajlab.ingest._tables import Table, frame_fingerprint, join_date_and_clock, replace_commas
from trajlab.query import step

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Source:
    """A source of a table that the lab does not have yet."""

    id: int
    name: str
    fingerprint: str
    first_row: int = 1


@dataclass
class Batch:
    con: duckdb.DuckDBPyConnection
    reader: Kind
    kind: str
    tz: str | None
    columns: Mapping[str, str] | None
    reference_given: bool
    first_source: int
    notes: list[str]
    progress: Progress
    sources: list[str] = field(default_factory=list)
    skipped_sources: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    mapping: dict[str, str] = field(default_factory=dict)
    rows: int = 0
    at_zero: int = 0
    people_new: int = 0

    def add(self, table: Table) -> None:
        table, columns = self._with_times(table)
        mapping = resolve(table.columns, self.reader.columns, self.reader.needs, columns, table.name)
        placing = self.reader.place(self.con, mapping, table.name, reference_given=self.reference_given)
        degrees = [column for name, column in placing.mapping.items() if name in ("lat", "lng")]
        if commas := [column for column in degrees if column in table.commas]:
            table = replace_commas(table, commas)
        self.notes += table.notes
        settings = {"kind": self.kind, "tz": self.tz, "columns": placing.mapping}
        sources = self._new_sources(table, settings)
        if sources:
            self.progress(f"reading {table.name}")
            chosen = self.columns or {}
            may_swap = self.reader.reads_columns and not ("lat" in chosen and "lng" in chosen)
            self._add_sources(table, placing, sources, settings, may_swap=may_swap)
        for stamp in table.stamps:
            stamp.check()

    def _with_times(self, table: Table) -> tuple[Table, Mapping[str, str] | None]:
        """The table with dates and clocks joined to times where it has them apart, and what is said of its columns."""
        columns = self.columns or {}
        pair = date_and_clock(table.columns) if self.reader.reads_columns and "ts" not in columns else None
        if pair is None or set(pair) & set(columns.values()):
            return table, self.columns
        joined = join_date_and_clock(table, *pair)
        return (table, self.columns) if joined is None else (joined[0], {**columns, "ts": joined[1]})

    def _new_sources(self, table: Table, settings: Mapping[str, object]) -> list[Source]:
        """The sources of the table that are to be read; notes on the others."""
        new: list[Source] = []
        if not table.parts:
            fingerprint = table.fingerprint or frame_fingerprint(self.con, table)
            if not self._has(table.name, fingerprint, settings, self._earlier_sources([fingerprint])):
                new.append(Source(self._next_id, table.name, fingerprint))
            return new
        earlier = self._earlier_sources([part.fingerprint for part in table.parts])
        row = 1
        for part in table.parts:
            self.notes += part.notes
            if not part.rows:
                self._note_empty(part.name)
            elif not self._has(part.name, part.fingerprint, settings, earlier):
                new.append(Source(self._next_id + len(new), part.name, part.fingerprint, row))
                earlier[part.fingerprint] = (part.name, settings)
            row += part.rows
        return new

    @property
    def _next_id(self) -> int:
        return self.first_source + len(self.sources)

    def _note_empty(self, name: str) -> None:
        self.empty.append(name)
        self.notes.append(f"{name}: no data rows")

    def _add_sources(
        self,
        table: Table,
        placing: Placing,
        sources: list[Source],
        settings: Mapping[str, object],
        *,
        may_swap: bool,
    ) -> None:
        surveys = self._survey(table, placing, sources)
        if not surveys:
            self._note_empty(table.name)
            return
        swapped = [source for source in sources if may_swap and surveys[source.id].looks_swapped]
        upright = [source for source in sources if source not in swapped]
        if swapped and upright:
            ids = {"ids": [source.id for source in swapped]}
            self.con.execute("delete from ingest_stored where source_id in $ids", ids)
            self.con.execute("delete from ingest_survey where source_id in $ids", ids)
        if upright:
            counted = {source: surveys[source.id] for source in upright}
            self._write(placing, counted, settings, several_sources=bool(table.parts))
        if swapped:
            lat, lng = placing.mapping["lat"], placing.mapping["lng"]
            self.notes += [
                f"{source.name}: lat and lng look swapped: {lng!r} was read as latitude and {lat!r} as "
                "longitude; pass columns= with both to override"
                for source in swapped
            ]
            turned = replace(placing, mapping={**placing.mapping, "lat": lng, "lng": lat})
            self._add_sources(table, turned, swapped, settings, may_swap=False)

    def _survey(self, table: Table, placing: Placing, sources: list[Source]) -> dict[int, Survey]:
        """Define the view `ingest_row`, every checked row with its `source_id`, and count it."""
        check_rows(self.con, select_columns(table, placing), placing, tz=self.tz, where=table.name)
        try:
            rows = self._store(table, sources) if table.slow_to_scan else "ingest_checked"
            if table.parts:
                self.con.register("ingest_row", self.con.table(rows))
            else:
                of_one = f"select $source_id::integer as source_id, * from {rows}"  # noqa: S608
                self.con.register("ingest_row", self.con.sql(of_one, params={"source_id": sources[0].id}))
            return survey_rows(self.con)
        except duckdb.Error as error:
            if type(error) in (duckdb.Error, duckdb.InvalidInputException, duckdb.IOException):
                raise IngestError(_engine_trouble(table, error)) from None
            raise  # out of memory, interrupted, or a mistake of ours

    def _store(self, table: Table, sources: list[Source]) -> str:
        """Store checked rows in the temporary table `ingest_stored`, with their `source_id` where there are several."""
        rows = "from ingest_checked"
        if table.parts:
            self.con.register("ingest_part", _parts(table, sources))
            rows = step("1_records/_row_sources")
        ((read,),) = self.con.execute(f"create or replace temp table ingest_stored as {rows}").fetchall()
        if table.rows not in (None, read):
            raise IngestError(
                f"{table.name}: {table.rows:,} lines, of which the engine reads {read:,} as rows: "
                "look at its quotes and line breaks"
            )
        if table.parts:
            self.con.execute("delete from ingest_stored where source_id is null")
        return "ingest_stored"

    def _write(
        self,
        placing: Placing,
        surveys: Mapping[Source, Survey],
        settings: Mapping[str, object],
        *,
        several_sources: bool,
    ) -> None:
        for source, survey in surveys.items():
            refuse_unreadable_times(survey, tz=self.tz, column=placing.mapping["ts"], where=source.name)
        names, rows = [source.name for source in surveys], [survey.rows for survey in surveys.values()]
        ids, fingerprints = [source.id for source in surveys], [source.fingerprint for source in surveys]
        listed = pa.table({"source_id": ids, "name": names, "fingerprint": fingerprints, "rows": rows})
        self.con.register("ingest_source", listed)
        read_as = json.dumps({**settings, "read_as": placing.mapping}, sort_keys=True)
        self.con.execute(_ADD_SOURCES, {"kind": self.kind, "tz": self.tz, "settings": read_as})
        columns = {"place" if name == "station" else name for name in placing.mapping}
        faults = sum(survey.faults for survey in surveys.values())
        self.people_new += write_records(self.con, columns=columns, faults=faults, several_sources=several_sources)
        self.sources += names
        self.rows += sum(rows)
        self.mapping = placing.mapping
        pairs = ", ".join(f"{name} = {column!r}" for name, column in placing.mapping.items())
        for source, survey in surveys.items():
            self.notes.append(f"{source.name}: read {pairs}")
            if survey.repeated:
                self.notes.append(
                    f"{source.name}: {survey.repeated:,} local times were shown twice by the clock; the first was taken"
                )
            self.at_zero += survey.at_zero

    def _earlier_sources(self, fingerprints: list[str]) -> dict[str, tuple[str, Mapping[str, object]]]:
        """Name and settings of the sources that the lab has, by their fingerprint."""
        found = self.con.sql(
            "select fingerprint, name, settings from records.source where fingerprint in $fingerprints",
            params={"fingerprints": fingerprints},
        ).fetchall()
        return {fingerprint: (name, json.loads(text)) for fingerprint, name, text in found}

    def _has(
        self,
        name: str,
        fingerprint: str,
        settings: Mapping[str, object],
        earlier: Mapping[str, tuple[str, Mapping[str, object]]],
    ) -> bool:
        """Whether the lab has the content already; read with other settings it is refused."""
        if fingerprint not in earlier:
            return False
        known_as, settings_then = earlier[fingerprint]
        changed = [key for key in settings if settings_then.get(key) != settings[key]]
        if changed:
            raise IngestError(
                f"{name}: the lab already has this content (as {known_as!r}), read with another "
                f"{' and '.join(changed)}; pass the same settings, or open a new lab"
            )
        self.skipped_sources.append(name)
        self.notes.append(f"{name}: already in the lab, nothing added")
        return True


def _parts(table: Table, sources: list[Source]) -> pa.Table:
    """For every row of the table its source, none where that is left out, and its number there."""
    ids = {source.first_row: source.id for source in sources}
    sizes = np.array([part.rows for part in table.parts])
    before = np.cumsum(sizes) - sizes
    rows = np.arange(1, sizes.sum() + 1)
    own = pa.array(
        [ids.get(int(row) + 1) if size else None for row, size in zip(before, sizes, strict=True)], pa.int32()
    )
    return pa.table(
        {
            "row": rows,
            "source_id": own.take(pa.array(np.repeat(np.arange(len(sizes)), sizes))),
            "source_row": rows - np.repeat(before, sizes),
        }
    )


def _engine_trouble(table: Table, error: duckdb.Error) -> str:
    """The engine's own words quote the record, so only what kind of trouble it is gets through."""
    if "line size" in str(error).lower():
        return f"{table.name}: a line is far too long; is a quote left open?"
    file = first_damaged(table.stamps) if table.parts else None
    return f"{file.name if file else table.name}: the file is damaged, the engine cannot read it to the end"


_ADD_SOURCES = """
insert into records.source
select source_id, name, $kind, fingerprint, $tz, $settings, rows from ingest_source order by source_id"""
