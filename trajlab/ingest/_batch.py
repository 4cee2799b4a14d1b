"""The sources of one call, taken in table by table.

Each source is known by a fingerprint of its content. One that the lab already has adds
nothing; the same content read with other settings is refused, since both readings cannot
be true. A table may hold many small sources; each is judged, counted and noted by itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import duckdb
import numpy as np
import pyarrow as pa

from trajlab.errors import IngestError
from trajlab.ingest._columns import resolve
from trajlab.ingest._intake import Survey, refuse_unreadable_times, survey, take_in
from trajlab.ingest._judge import judge, pick
from trajlab.ingest._kinds import Kind, Placing
from trajlab.ingest._tables import Table, frame_fingerprint, with_points

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
        mapping = resolve(table.columns, self.reader.columns, self.reader.needs, self.columns, table.name)
        placing = self.reader.place(self.con, mapping, table.name, reference_given=self.reference_given)
        degrees = [column for name, column in placing.mapping.items() if name in ("lat", "lng")]
        if commas := [column for column in degrees if column in table.commas]:
            table = with_points(table, commas)
        self.notes += table.notes
        settings = {"kind": self.kind, "tz": self.tz, "columns": placing.mapping}
        fresh = self._fresh(table, settings)
        if fresh:
            self.tell(f"reading {table.name}")
            said = self.columns or {}
            may_swap = self.reader.reads_columns and not ("lat" in said and "lng" in said)
            self._take(table, placing, fresh, settings, may_swap=may_swap)
        for stamp in table.stamps:
            stamp.check()

    def _fresh(self, table: Table, settings: Mapping[str, object]) -> list[Source]:
        """The sources of the table that are to be read; notes on the others."""
        fresh: list[Source] = []
        if not table.parts:
            fingerprint = table.fingerprint or frame_fingerprint(self.con, table)
            if not self._known(table.name, fingerprint, settings, self._before([fingerprint])):
                fresh.append(Source(self._next_id, table.name, fingerprint))
            return fresh
        before = self._before([part.fingerprint for part in table.parts])
        row = 1
        for part in table.parts:
            self.notes += part.notes
            if not part.rows:
                self._say_empty(part.name)
            elif not self._known(part.name, part.fingerprint, settings, before):
                fresh.append(Source(self._next_id + len(fresh), part.name, part.fingerprint, row))
                before[part.fingerprint] = (part.name, settings)
            row += part.rows
        return fresh

    @property
    def _next_id(self) -> int:
        return self.first + len(self.sources)

    def _say_empty(self, name: str) -> None:
        self.empty.append(name)
        self.notes.append(f"{name}: no data rows")

    def _take(
        self,
        table: Table,
        placing: Placing,
        sources: list[Source],
        settings: Mapping[str, object],
        *,
        may_swap: bool,
    ) -> None:
        seen = self._judge(table, placing, sources)
        if not seen:
            self._say_empty(table.name)
            return
        swapped = [source for source in sources if may_swap and seen[source.id].looks_swapped]
        upright = [source for source in sources if source not in swapped]
        if swapped and upright:
            ids = {"ids": [source.id for source in swapped]}
            self.con.execute("delete from ingest_kept where source_id in $ids", ids)
            self.con.execute("delete from ingest_survey where source_id in $ids", ids)
        if upright:
            only = None if table.parts else upright[0].id
            self._write(placing, {source: seen[source.id] for source in upright}, settings, only)
        if swapped:
            lat, lng = placing.mapping["lat"], placing.mapping["lng"]
            self.notes += [
                f"{source.name}: lat and lng look swapped: {lng!r} was read as latitude and {lat!r} as "
                "longitude; pass columns= with both to override"
                for source in swapped
            ]
            turned = replace(placing, mapping={**placing.mapping, "lat": lng, "lng": lat})
            self._take(table, turned, swapped, settings, may_swap=False)

    def _judge(self, table: Table, placing: Placing, sources: list[Source]) -> dict[int, Survey]:
        judge(self.con, pick(table, placing), placing, tz=self.tz, where=table.name)
        try:
            if table.dear:
                if table.parts:
                    self.con.register("ingest_part", _parts(table, sources))
                statement = _KEEP_PARTS if table.parts else _KEEP
                ((read,),) = self.con.execute(statement).fetchall()
                if table.rows not in (None, read):
                    raise IngestError(
                        f"{table.name}: {table.rows:,} lines, of which the engine reads {read:,} as rows: "
                        "look at its quotes and line breaks"
                    )
                if table.parts:
                    self.con.execute("delete from ingest_kept where source_id is null")
                self.con.register("ingest_judged", self.con.table("ingest_kept"))
            return survey(self.con, None if table.parts else sources[0].id)
        except duckdb.Error as error:
            if type(error) in (duckdb.Error, duckdb.InvalidInputException, duckdb.IOException):
                raise IngestError(_engine_says(table, error)) from None
            raise  # out of memory, interrupted, or a mistake of ours

    def _write(
        self, placing: Placing, seen: Mapping[Source, Survey], settings: Mapping[str, object], only: int | None
    ) -> None:
        for source, counted in seen.items():
            refuse_unreadable_times(counted, tz=self.tz, column=placing.mapping["ts"], where=source.name)
        names, rows = [source.name for source in seen], [counted.rows for counted in seen.values()]
        ids, fingerprints = [source.id for source in seen], [source.fingerprint for source in seen]
        listed = pa.table({"source_id": ids, "name": names, "fingerprint": fingerprints, "rows": rows})
        self.con.register("ingest_source", listed)
        read_as = json.dumps({**settings, "read_as": placing.mapping}, sort_keys=True)
        self.con.execute(_SOURCES, {"kind": self.kind, "tz": self.tz, "settings": read_as})
        given = {"place" if name == "station" else name for name in placing.mapping}
        faults = sum(counted.faults for counted in seen.values())
        self.people_new += take_in(self.con, only, given=given, faults=faults)
        self.sources += names
        self.rows += sum(rows)
        self.mapping = placing.mapping
        pairs = ", ".join(f"{name} = {column!r}" for name, column in placing.mapping.items())
        for source, counted in seen.items():
            self.notes.append(f"{source.name}: read {pairs}")
            if counted.repeated:
                self.notes.append(
                    f"{source.name}: {counted.repeated:,} local times were shown twice by the clock; "
                    "the first was taken"
                )
            self.at_zero += counted.at_zero

    def _before(self, fingerprints: list[str]) -> dict[str, tuple[str, Mapping[str, object]]]:
        """Name and settings of the sources that the lab has, by their fingerprint."""
        found = self.con.sql(
            "select fingerprint, name, settings from records.source where fingerprint in $fingerprints",
            params={"fingerprints": fingerprints},
        ).fetchall()
        return {fingerprint: (name, json.loads(text)) for fingerprint, name, text in found}

    def _known(
        self,
        name: str,
        fingerprint: str,
        settings: Mapping[str, object],
        before: Mapping[str, tuple[str, Mapping[str, object]]],
    ) -> bool:
        if fingerprint not in before:
            return False
        known_as, earlier = before[fingerprint]
        changed = [key for key in settings if earlier.get(key) != settings[key]]
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


def _engine_says(table: Table, error: duckdb.Error) -> str:
    """The engine's own words quote the record, so only what kind of trouble it is gets through."""
    if "line size" in str(error).lower():
        return f"{table.name}: a line is far too long; is a quote left open?"
    return f"{table.name}: the file is damaged, the engine cannot read it to the end"


_KEEP = "create or replace temp table ingest_kept as from ingest_judged"

# Joined by row and not by range: the engine compares every row with every range.
_KEEP_PARTS = """
create or replace temp table ingest_kept as
select part.source_id, judged.* replace (part.source_row as source_row)
from ingest_judged as judged
left join ingest_part as part on part.row = judged.source_row
"""

_SOURCES = """
insert into records.source
select source_id, name, $kind, fingerprint, $tz, $settings, rows
from ingest_source
order by source_id
"""
