"""Protected traces: a protection applied, and a fresh id for every part.

An id is the beginning of a SHA-256 of a key, the person's uid and the part. Without the key nobody can
compute it, nor see which ids belong together. The lab draws a key of its own and keeps it in `study.secret`.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

import polars as pl

from trajlab.errors import ProtectionError
from trajlab.ids import digest
from trajlab.protect import Period, Protection, name_of
from trajlab.protect import load_traces as load_protection
from trajlab.query import Query, step
from trajlab.risk.traces import UNPROTECTED, Traces, describe, has
from trajlab.risk.traces import load as load_traces

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.store import Store

SHORTEST_KEY = 16
AT_ONCE = 1_000_000
"""Visits that are in memory at once, or those of one person."""
_VISITS = {"person": pl.Int32, "slot": pl.Int32, "cell": pl.UInt64, "visits": pl.Int32, "part": pl.Int32}


def protect(store: Store, source: Traces, text: str, *, key: str | None, progress: Progress) -> Traces:
    """The traces of a release after a protection such as `cut:6h`, each part under a fresh id; made once.

    Without a `key`, ids differ in every set of traces, and only this lab can make them again.
    With one they depend on the key, the protection, the start of the release, the uid and
    the part alone, so that labs which share a key give the same ids: use a key for one
    publication, and keep it as secret as the uids.
    """
    protection = load_protection(text)
    named = name_of(protection)
    source = load_traces(store, source.id)
    _refuse_what_is_not_a_release(source)
    if key is not None:
        _refuse_guessable(key)
    with store.transaction(f"protecting traces with {named}"):
        secret = key if key is not None else _secret(store)
        traces_id = "t" + digest(source.id, named, _sha256(secret))
        if has(store, traces_id):
            return load_traces(store, traces_id)
        ((starts, tz, slots, slot_seconds),) = store.rows(
            "select starts, tz, slots, slot_seconds from counts.release where release_id = $id", id=source.release_id
        )
        salt = (source.id,) if key is None else (starts.isoformat(), tz)
        with progress.step(named):
            _apply(store, source, protection, Period(slots, slot_seconds))
        _check(store, source, protection)
        with progress.step("fresh ids", poll=store.engine.percent_done):
            _write_traces(store, traces_id, source.id, _sha256(":".join([secret, named, *salt])))
        with progress.step("slots.visit", poll=store.engine.percent_done):
            _write_visits(store, traces_id)
        store.execute("drop table protected_visit")
        return describe(store, traces_id, source.release_id, None, source.basis, named)


def _refuse_what_is_not_a_release(source: Traces) -> None:
    if source.run_id is not None:
        raise ProtectionError(
            f"traces {source.id} were recovered by run {source.run_id} and are nobody's for sure: "
            "protect the traces of a release"
        )
    if source.protection != UNPROTECTED:
        raise ProtectionError(
            f"traces {source.id} are protected already ({source.protection}): protections are not put on top of "
            f"each other, start from release {source.release_id}"
        )


def _refuse_guessable(key: str) -> None:
    if not isinstance(key, str) or len(key) < SHORTEST_KEY or len(set(key)) < 5:
        raise ProtectionError(
            f"the key can be guessed: give at least {SHORTEST_KEY} characters drawn at random, or none, "
            "and the lab draws one"
        )


def _secret(store: Store) -> str:
    found = store.rows("select secret from study.secret where name = 'pseudonyms'")
    if not found:
        drawn = secrets.token_hex(32)
        store.insert("study.secret", pl.DataFrame({"name": ["pseudonyms"], "secret": [drawn]}))
        return drawn
    return str(found[0][0])


def _apply(store: Store, source: Traces, protection: Protection, period: Period) -> None:
    """Fill `protected_visit` with what the protection makes of the visits, some people at a time."""
    store.execute(
        "create or replace temp table protected_visit "
        "(person integer, slot integer, cell ubigint, visits integer, part integer)"
    )
    for first, last in store.rows(step("3_slots/_blocks_of_people"), traces_id=source.id, at_once=AT_ONCE):
        visits = store.frame(
            "select trace as person, slot, cell, visits::integer as visits from slots.visit "
            "where traces_id = $id and trace between $first and $last",
            id=source.id,
            first=first,
            last=last,
        )
        store.engine.insert("temp.main.protected_visit", _applied(visits, protection, period))


def _applied(visits: pl.DataFrame, protection: Protection, period: Period) -> pl.DataFrame:
    made = protection.apply(visits.lazy(), period)
    if set(made.collect_schema()) != set(_VISITS):
        raise ProtectionError(f"{name_of(protection)} must give the columns {', '.join(_VISITS)}")
    try:
        return made.select(pl.col(name).cast(kind) for name, kind in _VISITS.items()).collect()
    except pl.exceptions.InvalidOperationError as error:
        raise ProtectionError(f"{name_of(protection)} gave numbers that its columns cannot hold") from error


def _check(store: Store, source: Traces, protection: Protection) -> None:
    """Whoever adds a protection cannot invent people or times, nor lose what it promises to keep."""
    ((visits, wrong, strangers, total),) = store.rows(
        step("3_slots/_protected_check"), traces_id=source.id, release_id=source.release_id
    )
    named = name_of(protection)
    if not visits:
        raise ProtectionError(f"{named} leaves no visit of anybody: there is nothing to publish")
    if wrong or strangers:
        raise ProtectionError(
            f"{named} gave {strangers:,} visits of people who had none and {wrong:,} without a slot of the release, "
            "a cell, a part or a number of visits"
        )
    ((before,),) = store.rows("select sum(visits) from slots.visit where traces_id = $id", id=source.id)
    if protection.keeps_visits and (visits, total) != (source.visits, before):
        raise ProtectionError(f"{named} says that it keeps visits, but {before:,} became {total:,}")


def _write_traces(store: Store, traces_id: str, source_id: str, key: str) -> None:
    store.execute(
        f"insert into slots.trace by name {step('3_slots/_protected_trace')}",
        traces_id=traces_id,
        source_id=source_id,
        key=key,
    )


def _write_visits(store: Store, traces_id: str) -> None:
    rows = step("3_slots/_protected_visit")
    store.execute(f"insert into slots.visit by name {rows}", traces_id=traces_id)
    store.check_grain(Query.load("slots.visit"), traces_id=traces_id)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
