"""Files become records on a cluster, row for row as the embedded engine makes them of the same files.

    read      a task for some of the files: the embedded engine's own reading, people numbered as they are met
    send      everybody's records go to the shard of the person
    number    people the lab does not know are numbered in the order in which one reader would have met them
    clean     a task for each shard: what lies at 0, 0, duplicates, people who never move

Each phase leaves a mark with what it returned; the same call again goes on after the last one.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa

from trajlab.cluster.folder import write_whole
from trajlab.cluster.shard import ShardStore, Shared
from trajlab.errors import IngestError
from trajlab.ids import digest
from trajlab.ingest import Ingested, add_stations, read_sources, refuse_if_nothing_is_left
from trajlab.ingest._files import DataFile, find
from trajlab.ingest._kinds import find_kind
from trajlab.ingest._rejections import (
    move_zero_zero,
    reject_duplicates,
    reject_single_location_people,
    why_zero_zero_stays,
)
from trajlab.ingest._times import NO_ZONE, check_zone
from trajlab.query import Query, step

if TYPE_CHECKING:
    from trajlab.cluster.store import ClusterStore

KINDS = ("gps", "cdr")
GROUP = 128 * 2**20
"""Bytes of files that one task reads, unless a single one is larger."""
WRITTEN = ("records.fix", "records.person", "records.rejected", "records.call")
TURNS = 2**32
"""People whom one task may meet."""


@dataclass(frozen=True)
class Reading:
    """How the files of one call are to be read."""

    kind: str
    tz: str | None
    columns: Mapping[str, str] | None
    reference_given: bool
    drop_single_location: bool


def ingest(
    store: ClusterStore,
    source: Any,
    *,
    kind: str,
    tz: str | None,
    columns: Mapping[str, str] | None,
    stations: Any,
    drop_single_location: bool,
) -> Ingested:
    """Read files and folders into the lab, inside the transaction that the caller holds."""
    find_kind(kind)
    if kind not in KINDS:
        raise IngestError(f"kind {kind!r} is read by the embedded engine alone: a cluster reads {' and '.join(KINDS)}")
    items = list(source) if isinstance(source, list | tuple) else [source]
    if not all(isinstance(item, str | os.PathLike) for item in items):
        raise IngestError("a cluster reads files and folders that every worker sees: write the frame to Parquet first")
    if stations is not None and kind != "cdr":
        raise IngestError(f"stations= means nothing for kind {kind!r}")
    if tz is not None:
        check_zone(store.con, tz)
    files, notes = find(items)
    if stations is not None:
        notes += add_stations(store.con, stations)
    ((first_source,),) = store.rows("select coalesce(max(source_id), 0) + 1 from records.source")
    if drop_single_location and first_source > 1:
        raise IngestError(
            "drop_single_location looks at everything: on a cluster, only the first ingest can ask for it"
        )
    reading = Reading(kind, tz, columns, stations is not None, drop_single_location)
    return _Ingestion(store, [DataFile(f.path.absolute(), f.name) for f in files], reading, first_source, notes).run()


class _Ingestion:
    def __init__(
        self, store: ClusterStore, files: list[DataFile], reading: Reading, first_source: int, notes: list[str]
    ) -> None:
        self.store, self.folder, self.reading, self.first_source = store, store.folder, reading, first_source
        self.notes = notes
        self.groups = _groups(files)
        states = [(file.name, file.path.stat().st_size, file.path.stat().st_mtime_ns) for file in files]
        self.name = digest(states, reading, first_source)
        self.work = self.folder.work(self.name)
        self.key = f"from-{first_source:07d}"

    def run(self) -> Ingested:
        store, shards, tasks = self.store, self.folder.shards, len(self.groups)
        small = ("records.source", "records.station")
        read = self.phase(
            "read",
            lambda: store.run(
                _Read(store.shared("reading files", small), self.groups, self.reading, self.work),
                "reading files",
                tasks,
            ),
        )
        numbers, sources = self._number_sources(read)
        result = self._result(read, sources)
        if not sources:
            self._finish()
            return result
        for name in ("fix", "person"):
            self._send(
                f"read_{name}",
                "shard",
                f"sent_{name}",
                [self.work / f"read_{name}" / f"{n}.parquet" for n in range(tasks)],
            )
        shared = store.shared("ingest", ())
        sent = _Sent(shared, self.work, numbers, self.first_source)
        edges = _edges([part["people"] for part in read], shards)
        counts = self.phase("newcomers", lambda: store.run(_Newcomers(sent, edges), "meeting people"))
        ((before,),) = store.totals("select coalesce(max(person), 0) as person from records.person", "max(person)")
        self._send("newcomers", "block", "blocks", [self.work / "newcomers" / f"{n}.parquet" for n in range(shards)])
        offsets = np.cumsum([before, *np.sum(np.array(counts, dtype=np.int64).reshape(shards, -1), axis=0)])
        self.phase("number", lambda: store.run(_Number(shared, self.work, offsets.tolist()), "numbering people"))
        self._send("numbered", "shard", "people", [self.work / "numbered" / f"{n}.parquet" for n in range(shards)])
        move_zero = self._judge_zero(read, sent)
        cleaned = self.phase(
            "clean",
            lambda: store.run(
                _Clean(sent, self.key, tasks, self.reading.drop_single_location, move_zero), "cleaning records"
            ),
        )
        return self._write(result, read, sources, cleaned)

    def phase(self, name: str, work: Callable[[], Any]) -> Any:
        """What the phase returned, now or before."""
        mark = self.work / f"{name}.json"
        if not mark.is_file():
            write_whole(mark, json.dumps(work()))
        return json.loads(mark.read_text(encoding="utf-8"))

    def _send(self, what: str, by: str, to: str, files: list[Path]) -> None:
        def send() -> bool:
            self.store.runner.spread(files, by, self.work / to, self.folder.shards)
            return True

        self.phase(f"send-{what}", send)

    def _number_sources(self, read: list[dict[str, Any]]) -> tuple[pa.Table, list[dict[str, Any]]]:
        """The sources in the order of the files, and the number of each for what a task called it."""
        met: dict[str, dict[str, Any]] = {}
        rows: list[tuple[int, int, int]] = []
        for task, part in enumerate(read):
            for source in part["sources"]:
                if source["fingerprint"] in met:
                    said = f"{source['name']}: read "
                    part["notes"] = [note for note in part["notes"] if not note.startswith(said)]
                    part["notes"].append(f"{source['name']}: already in the lab, nothing added")
                    part["skipped"].append(source["name"])
                    continue
                number = self.first_source + len(met)
                rows.append((task, source["source_id"], number))
                met[source["fingerprint"]] = source | {"source_id": number}
        columns = dict(zip(("task", "read_as", "source_id"), zip(*rows, strict=True), strict=True)) if rows else {}
        return pa.table({name: pa.array(values, pa.int32()) for name, values in columns.items()}), list(met.values())

    def _judge_zero(self, read: list[dict[str, Any]], sent: _Sent) -> bool:
        """Whether fixes at 0, 0 are to be rejected: all that the lab has is counted."""
        if not sum(part["at_zero"] for part in read):
            return False
        counted = self.phase("zero", lambda: self.store.run(_AroundZero(sent), "looking around 0, 0"))
        zero, near, others = (sum(column) for column in zip(*counted, strict=True))
        if not zero:
            return False
        note = why_zero_zero_stays(zero, near, others)
        self.notes_at_end = [note] if note else []
        return note is None

    notes_at_end: list[str] = []  # noqa: RUF012  replaced, never changed

    def _result(self, read: list[dict[str, Any]], sources: list[dict[str, Any]]) -> Ingested:
        notes = [*self.notes, *(note for part in read for note in part["notes"])]
        skipped = [name for part in read for name in part["skipped"]]
        empty = [name for part in read for name in part["empty"]]
        if empty and not sources and not skipped:
            raise IngestError(f"{empty[0]}: no data rows, only column names")
        return Ingested(
            rows=sum(source["rows"] for source in sources),
            kept=0,
            rejected={},
            sources=[source["name"] for source in sources],
            mapping=next((part["mapping"] for part in reversed(read) if part["mapping"]), {}),
            notes=notes,
            skipped_sources=skipped,
        )

    def _write(
        self, begun: Ingested, read: list[dict[str, Any]], sources: list[dict[str, Any]], cleaned: list[dict[str, Any]]
    ) -> Ingested:
        reasons: Counter[str] = Counter()
        for part in cleaned:
            reasons.update(part["reasons"])
        notes = [*begun.notes, *self.notes_at_end, *([NO_ZONE] if self.reading.tz is None else [])]
        if self.reading.drop_single_location:
            single = sum(part["single"] for part in cleaned)
            notes.append(f"{single:,} people seen at a single location were taken out of the lab")
        done = Ingested(
            rows=begun.rows,
            kept=sum(part["rows"]["records.fix"] for part in cleaned),
            rejected=dict(sorted(reasons.items())),
            sources=begun.sources,
            mapping=begun.mapping,
            notes=notes,
            people_new=sum(part["rows"]["records.person"] for part in cleaned),
            skipped_sources=begun.skipped_sources,
        )
        refuse_if_nothing_is_left(done)
        columns = [column.name for column in Query.load("records.source").columns]
        self.store.insert("records.source", pl.DataFrame(sources, infer_schema_length=None).select(columns))
        for table in WRITTEN:
            self.folder.mark_done(table, self.key, [part["rows"][table] for part in cleaned])
        self._finish()
        return done

    def _finish(self) -> None:
        self.folder.show(self.store.engine, *WRITTEN)
        self.store.at_commit(lambda: shutil.rmtree(self.work, ignore_errors=True))


@dataclass(frozen=True)
class _Read:
    """Read some files as the embedded engine does."""

    shared: Shared
    groups: list[list[DataFile]]
    reading: Reading
    work: Path

    def __call__(self, task: int) -> dict[str, Any]:
        with self.shared.open(task) as store:
            for table in ("fix", "person", "rejected", "call", "place", "zone"):
                store.create(f"records.{table}")
            batch = read_sources(
                store.con,
                self.groups[task],
                kind=self.reading.kind,
                tz=self.reading.tz,
                columns=self.reading.columns,
                reference_given=self.reading.reference_given,
            )
            params = {"task": task, "shards": self.shared.folder.shards}
            for name, sql in (
                ("fix", step("1_records/_shard_read_fixes")),
                ("person", step("1_records/_shard_read_people")),
            ):
                store.write(sql, params, self.work / f"read_{name}" / f"{task}.parquet")
            store.write("select * from records.rejected", {}, self.work / "rejected" / f"{task}.parquet")
            ((people,),) = store.rows("select count(*) from records.person")
            sources = store.frame(
                "select * from records.source where source_id >= $first order by source_id", first=batch.first_source
            )
            return {
                "sources": sources.to_dicts(),
                "people": people,
                "at_zero": batch.at_zero,
                "notes": batch.notes,
                "skipped": batch.skipped_sources,
                "empty": batch.empty,
                "mapping": batch.mapping,
            }


@dataclass(frozen=True)
class _Sent:
    """What was sent to a shard, and what sources are called in the lab."""

    shared: Shared
    work: Path
    sources: pa.Table
    first_source: int

    def give(self, store: ShardStore, shard: int) -> None:
        for name in ("fix", "person"):
            give_part(store, f"sent_{name}", self.work / f"sent_{name}" / f"shard={shard}", self.work / f"read_{name}")
        store.con.register("source_number", self.sources)
        store.give("records.person", self.shared.folder.files("records.person", shard))

    def give_records(self, store: ShardStore, shard: int) -> None:
        """People, and fixes: those sent now, and those that the lab had."""
        self.give(store, shard)
        known = self.shared.folder.files("records.person", shard)
        store.execute("create temp table known_person as select * from records.person")
        store.execute(f"drop {'view' if known else 'table'} records.person")
        store.create("records.person")
        give_part(store, "new_person", self.work / "people" / f"shard={shard}", self.work / "numbered")
        store.execute("insert into records.person by name select * from known_person")
        store.execute("insert into records.person by name select person, uid from new_person")
        store.create("records.fix")
        store.execute(f"insert into records.fix by name {step('1_records/_shard_fixes')}")


def give_part(store: ShardStore, name: str, part: Path, like: Path) -> None:
    """Let SQL read one part of what was spread; one without rows has no file, and looks like what was spread."""
    files = sorted(part.glob("*.parquet"))
    rows, only = (files, "") if files else (sorted(like.glob("*.parquet"))[:1], " limit 0")
    listed = ", ".join("'" + str(file).replace("'", "''") + "'" for file in rows)
    store.execute(
        f"create view {name} as select * from read_parquet([{listed}], hive_partitioning = false){only}"  # noqa: S608
    )


@dataclass(frozen=True)
class _Newcomers:
    """Find the people whom the lab does not know; how many fall into each block of turns."""

    sent: _Sent
    edges: list[int]

    def __call__(self, shard: int) -> list[int]:
        with self.sent.shared.open(shard) as store:
            self.sent.give(store, shard)
            new = store.frame(step("1_records/_shard_newcomers"))
            block = np.searchsorted(np.array(self.edges, dtype=np.int64), new["turn"].to_numpy(), side="right")
            frame = new.with_columns(block=pl.Series(block, dtype=pl.Int64), shard=pl.lit(shard, pl.Int64))
            with store.engine.frames(newcomer=frame):
                store.write("select * from newcomer", {}, self.sent.work / "newcomers" / f"{shard}.parquet")
            counted: list[int] = np.bincount(block, minlength=len(self.edges) + 1).tolist()
            return counted


@dataclass(frozen=True)
class _Number:
    """Number the people of a block of turns, after those of the blocks before."""

    shared: Shared
    work: Path
    offsets: list[int]

    def __call__(self, block: int) -> int:
        with self.shared.open(block) as store:
            give_part(store, "newcomer", self.work / "blocks" / f"block={block}", self.work / "newcomers")
            numbered = (
                "select ($offset + row_number() over (order by turn))::integer as person, uid, shard from newcomer"
            )
            params = {"offset": self.offsets[block]}
            return store.write(numbered, params, self.work / "numbered" / f"{block}.parquet")


@dataclass(frozen=True)
class _AroundZero:
    sent: _Sent

    def __call__(self, shard: int) -> list[int]:
        with self.sent.shared.open(shard) as store:
            self.sent.give_records(store, shard)
            _give_earlier(store, self.sent, shard, "true")
            ((zero, near, others),) = store.rows(
                step("1_records/_reject_around_zero"), first_source=self.sent.first_source
            )
            return [zero, near, others]


@dataclass(frozen=True)
class _Clean:
    """Reject what can be seen among all records of a person only, and write the records of a shard."""

    sent: _Sent
    key: str
    tasks: int
    drop_single_location: bool
    move_zero: bool

    def __call__(self, shard: int) -> dict[str, Any]:
        first = self.sent.first_source
        with self.sent.shared.open(shard) as store:
            self.sent.give_records(store, shard)
            store.create("records.call")
            store.execute(
                "insert into records.call select n.source_id, source_row, direction, region from sent_fix as f join "
                "source_number as n on n.task = f.task and n.read_as = f.source_id where called"
            )
            _give_earlier(
                store, self.sent, shard, "ts between (select min(ts) from new_fix) and (select max(ts) from new_fix)"
            )
            store.create("records.rejected")
            self._give_rejected(store, shard)
            if self.move_zero:
                move_zero_zero(store.con, first)
            reject_duplicates(store.con, first)
            single = reject_single_location_people(store.con) if self.drop_single_location else 0
            new = {"first": first}
            selects = {
                "records.fix": (
                    "select * from records.fix where source_id >= $first order by source_id, person, ts, source_row",
                    new,
                ),
                "records.person": ("select person, uid from new_person order by person", {}),
                "records.rejected": ("select * from records.rejected order by all", {}),
                "records.call": ("select * from records.call where source_id >= $first order by all", new),
            }
            folder = self.sent.shared.folder
            rows = {
                t: store.write(sql, params, folder.part(t, self.key, shard)) for t, (sql, params) in selects.items()
            }
            reasons = store.rows("select reason, count(*) from records.rejected group by reason")
            return {"rows": rows, "reasons": dict(reasons), "single": single}

    def _give_rejected(self, store: ShardStore, shard: int) -> None:
        """Rows refused while files were read: nobody knows whose they are, so shards take them in turn."""
        for task in range(shard, self.tasks, self.sent.shared.folder.shards):
            store.execute(
                "insert into records.rejected by name select n.source_id, source_row, reason from read_parquet($file) "
                "as r join source_number as n on n.task = $task and n.read_as = r.source_id",
                file=str(self.sent.work / "rejected" / f"{task}.parquet"), task=task,
            )  # fmt: skip


def _give_earlier(store: ShardStore, sent: _Sent, shard: int, which: str) -> None:
    """Add fixes that the lab had: what is new is compared with them."""
    store.execute("create temp table new_fix as select ts from records.fix")
    for table, name in (("records.fix", "earlier_fix"), ("records.call", "earlier_call")):
        files = sent.shared.folder.files(table, shard)
        if not files:
            continue
        listed = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
        store.execute(f"create view {name} as select * from read_parquet([{listed}])")  # noqa: S608
        if table == "records.fix":
            store.execute(f"insert into records.fix by name select * from {name} where {which}")  # noqa: S608
        elif store.rows("select 1 from duckdb_tables() where schema_name = 'records' and table_name = 'call'"):
            store.execute(f"insert into records.call by name select * from {name}")  # noqa: S608


def _groups(files: list[DataFile]) -> list[list[DataFile]]:
    """Files that one task reads, in order."""
    groups: list[list[DataFile]] = []
    size = GROUP + 1
    for file in files:
        own = file.path.stat().st_size
        if size + own > GROUP:
            groups.append([])
            size = 0
        groups[-1].append(file)
        size += own
    return groups


def _edges(people: list[int], blocks: int) -> list[int]:
    """Where blocks of turns begin, the first one left out: about as many turns in each."""
    ends = np.cumsum(people)
    wanted = np.arange(1, blocks) * (int(ends[-1]) / blocks)
    task = np.searchsorted(ends, wanted, side="right").clip(max=len(people) - 1)
    within = wanted - (ends - np.array(people))[task]
    edges: list[int] = (task * TURNS + within.astype(np.int64) + 1).tolist()
    return edges
