"""The sources of one call, taken in one after another.

Each source is known by a fingerprint of its content. One that the lab already has adds
nothing; the same content read with other settings is refused, since both readings cannot
be true.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import duckdb

from trajlab.errors import IngestError
from trajlab.ingest.columns import resolve
from trajlab.ingest.intake import Survey, refuse_unreadable_times, survey, take_in
from trajlab.ingest.judge import judge, pick
from trajlab.ingest.kinds import Kind, Placing
from trajlab.ingest.tables import Table, frame_fingerprint

Progress = Callable[[str], None]


@dataclass
class Batch:
    con: duckdb.DuckDBPyConnection
    reader: Kind
    kind: str
    tz: str | None
    columns: Mapping[str, str] | None
    reference_given: bool
    first: int
    notes: list[str]
    tell: Progress
    sources: list[str] = field(default_factory=list)
    skipped_sources: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    mapping: dict[str, str] = field(default_factory=dict)
    rows: int = 0
    at_zero: int = 0
    people_new: int = 0

    def add(self, table: Table) -> None:
        self.notes += table.notes
        mapping = resolve(table.columns, self.reader.columns, self.reader.needs, self.columns, table.name)
        placing = self.reader.place(self.con, mapping, table.name, reference_given=self.reference_given)
        raw = pick(table, placing)
        fingerprint = table.fingerprint or frame_fingerprint(self.con, table)
        settings = {"kind": self.kind, "tz": self.tz, "columns": placing.mapping}
        if self._known(table.name, fingerprint, settings):
            return
        self.tell(f"reading {table.name}")
        placing, seen = self._look(table, placing, raw)
        if not seen.rows:
            self.empty.append(table.name)
            self.notes.append(f"{table.name}: no data rows")
            return
        self._write(table, placing, seen, fingerprint, settings)

    def _look(self, table: Table, placing: Placing, raw: duckdb.DuckDBPyRelation) -> tuple[Placing, Survey]:
        seen = self._judge(table, placing, raw)
        said = self.columns or {}
        if seen.looks_swapped and self.reader.reads_columns and not ("lat" in said and "lng" in said):
            lat, lng = placing.mapping["lat"], placing.mapping["lng"]
            self.notes.append(
                f"{table.name}: lat and lng look swapped: {lng!r} was read as latitude and {lat!r} as "
                "longitude; pass columns= with both to override"
            )
            placing = replace(placing, mapping={**placing.mapping, "lat": lng, "lng": lat})
            seen = self._judge(table, placing, pick(table, placing))
        refuse_unreadable_times(seen, tz=self.tz, column=placing.mapping["ts"], where=table.name)
        return placing, seen

    def _judge(self, table: Table, placing: Placing, raw: duckdb.DuckDBPyRelation) -> Survey:
        judge(self.con, raw, placing, tz=self.tz, where=table.name)
        try:
            if table.dear:
                self.con.execute("create or replace temp table ingest_kept as from ingest_judged")
                self.con.register("ingest_judged", self.con.table("ingest_kept"))
            return survey(self.con)
        except duckdb.Error as error:
            if type(error) in (duckdb.Error, duckdb.InvalidInputException, duckdb.IOException):
                raise IngestError(_engine_says(table, error)) from None
            raise  # out of memory, interrupted, or a mistake of ours

    def _write(
        self, table: Table, placing: Placing, seen: Survey, fingerprint: str, settings: Mapping[str, object]
    ) -> None:
        source_id = self.first + len(self.sources)
        self.con.execute(
            "insert into records.source values ($id, $name, $kind, $fingerprint, $tz, $settings, $rows)",
            {
                "id": source_id,
                "name": table.name,
                "kind": self.kind,
                "fingerprint": fingerprint,
                "tz": self.tz,
                "settings": json.dumps({**settings, "read_as": placing.mapping}, sort_keys=True),
                "rows": seen.rows,
            },
        )
        given = {"place" if name == "station" else name for name in placing.mapping}
        self.people_new += take_in(self.con, source_id, given=given, faults=seen.faults)
        self.sources.append(table.name)
        self.rows += seen.rows
        self.mapping = placing.mapping
        pairs = ", ".join(f"{name} = {column!r}" for name, column in placing.mapping.items())
        self.notes.append(f"{table.name}: read {pairs}")
        if seen.repeated:
            self.notes.append(
                f"{table.name}: {seen.repeated:,} local times were shown twice by the clock; the first was taken"
            )
        self.at_zero += seen.at_zero

    def _known(self, name: str, fingerprint: str, settings: Mapping[str, object]) -> bool:
        before = self.con.sql(
            "select name, settings from records.source where fingerprint = $fingerprint",
            params={"fingerprint": fingerprint},
        ).fetchall()
        if not before:
            return False
        known_as, text = before[0]
        earlier = json.loads(text)
        changed = [key for key in settings if earlier.get(key) != settings[key]]
        if changed:
            raise IngestError(
                f"{name}: the lab already has this content (as {known_as!r}), read with another "
                f"{' and '.join(changed)}; pass the same settings, or open a new lab"
            )
        self.skipped_sources.append(name)
        self.notes.append(f"{name}: already in the lab, nothing added")
        return True


def _engine_says(table: Table, error: duckdb.Error) -> str:
    """The engine's own words quote the record, so only what kind of trouble it is gets through."""
    if "line size" in str(error).lower():
        return f"{table.name}: a line is far too long; is a quote left open?"
    return f"{table.name}: the file is damaged, the engine cannot read it to the end"
