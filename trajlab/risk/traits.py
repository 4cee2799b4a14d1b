"""Traits: what else is known of people, so that groups can be compared: age, tariff, district."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import duckdb
from duckdb import ColumnExpression

from trajlab.errors import IngestError
from trajlab.ingest._reference import refuse_torn_rows
from trajlab.ingest._tables import Table, open_tables
from trajlab.query import Query, step

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.store import Store

UID = "uid"


def add(store: Store, people: object, progress: Progress) -> list[str]:
    """Read a people table, a frame or a file, into `records.trait`; notes for the user.

    Its column `uid` says who, every other column is a trait. A trait given again replaces the person's
    earlier value. Empty values are none. Call it inside a transaction: answers that the
    lab has are divided by the new groups as well.
    """
    notes: list[str] = []
    with ExitStack() as files:
        for table in open_tables(store.con, people, files, notes):
            notes += [*table.notes, _add(store, table)]
    store.check_grain(Query.load("records.trait"))
    for (risk_id,) in store.rows("select risk_id from study.risk order by risk_id"):
        with progress.step("metrics.risk_by_group", poll=store.engine.percent_done):
            store.build(Query.load("metrics.risk_by_group"), risk_id=risk_id)
    return notes


def _add(store: Store, table: Table) -> str:
    if UID not in table.columns:
        raise IngestError(f"{table.name}: no column {UID!r} says who is meant; it has {', '.join(table.columns)}")
    traits = {name: column for name, column in table.columns.items() if name != UID and name.strip()}
    if not traits:
        raise IngestError(f"{table.name}: nothing to compare people by; it needs a column beside {UID!r}")
    refuse_torn_rows(store.con, table, [table.columns[UID], *traits.values()])
    who = ColumnExpression(table.columns[UID])
    if str(table.relation.select(who).types[0]) in ("DOUBLE", "FLOAT"):
        who = who.cast("HUGEINT")  # as in ingest: what a frame made 7.0 is the person 7
    uid = who.cast("VARCHAR").alias("uid")
    try:
        store.con.register("trait_rows", table.relation.select(uid))
        store.execute(f"create or replace temp table trait_who as {step('1_records/_trait_who')}")
        notes = _check(store, table.name)
        for trait, column in traits.items():
            value = ColumnExpression(column).cast("VARCHAR").alias("value")
            store.con.register("trait_rows", table.relation.select(uid, value))
            store.execute(
                "delete from records.trait where trait = $trait "
                "and person in (select person from trait_who where person is not null)",
                trait=trait,
            )
            store.execute(f"insert into records.trait by name {step('1_records/_trait_given')}", trait=trait)
    finally:
        with suppress(duckdb.Error):  # a transaction that has failed refuses this too
            store.con.unregister("trait_rows")
    store.execute("drop table trait_who")
    return f"{notes}; {', '.join(traits)}"


def _check(store: Store, name: str) -> str:
    ((rows, nobody, distinct, known),) = store.rows(
        "select count(*), count(*) filter (uid is null), count(distinct uid), count(person) from trait_who"
    )
    if nobody:
        raise IngestError(f"{name}: {nobody:,} of {rows:,} rows have no {UID}: take them out")
    if distinct < rows:
        raise IngestError(f"{name}: {rows - distinct:,} rows repeat a {UID}: give one row for each person")
    if not known:
        raise IngestError(f"{name}: none of its {rows:,} people has records in the lab: is {UID} written as there?")
    unknown = f", {rows - known:,} more have no records and are left out" if known < rows else ""
    return f"{name}: traits of {known:,} people{unknown}"
