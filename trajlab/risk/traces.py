"""Traces: whereabouts of people under pseudonyms, as somebody might publish them or an attack recover them.

An adversary who knows a little of a person searches a set of traces. There are those of
a release (everybody's whole trace), those that a protection made of them, and those that
an attack run recovered from counts. Each set is built once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from trajlab.errors import RiskError, UnknownNameError
from trajlab.ids import digest
from trajlab.query import Query, step
from trajlab.release.truth import unprotected_id

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.store import Store

BASES = ("slots", "observed", "records")
"""What counts as a visit of a person: see sql/3_slots/visit.sql."""
UNPROTECTED = "none"


@dataclass(frozen=True, slots=True)
class Traces:
    """A set of traces in the lab; its rows carry `id` as traces_id."""

    id: str
    release_id: str
    run_id: str | None
    basis: str
    protection: str
    traces: int
    visits: int


def find(store: Store, name: str, basis: str | None, progress: Progress, *, otherwise: str = "slots") -> Traces:
    """The traces of a release, of a run, or those with this id; `basis` is chosen for a release alone."""
    if store.rows("select 1 from counts.release where release_id = $id", id=name):
        return of_release(store, name, otherwise if basis is None else basis, progress)
    if store.rows("select 1 from study.run where run_id = $id", id=name):
        found = of_run(store, name, progress)
    elif has(store, name):
        found = load(store, name)
    else:
        known = store.rows(
            "select release_id from counts.release union all select run_id from study.run "
            "union all select traces_id from study.traces"
        )
        raise UnknownNameError("release, run or set of traces", name, [each for (each,) in known])
    if basis not in (None, "slots", found.basis):
        raise RiskError(
            f"traces {found.id} are on the basis {found.basis!r}: {basis!r} can be asked of a release alone"
        )
    return found


def of_release(store: Store, release_id: str, basis: str, progress: Progress) -> Traces:
    """The true traces behind a release; of one with protected counts, behind the one that it was made from."""
    if basis not in BASES:
        raise UnknownNameError("basis", basis, BASES)
    release_id = unprotected_id(store, release_id)
    _refuse_made_elsewhere(store, release_id)
    return _build(store, "t" + digest(release_id, basis), release_id, None, basis, progress)


def of_run(store: Store, run_id: str, progress: Progress) -> Traces:
    """The tracks that an attack recovered."""
    found = store.rows("select release_id, complete from study.run where run_id = $id", id=run_id)
    if not found:
        raise UnknownNameError("run", run_id, [name for (name,) in store.rows("select run_id from study.run")])
    complete = found[0][1]
    release_id = unprotected_id(store, found[0][0])
    if not complete:
        raise RiskError(f"run {run_id} is not complete: let the attack finish first")
    _refuse_made_elsewhere(store, release_id)
    return _build(store, "t" + digest(run_id), release_id, run_id, "recovered", progress)


def load(store: Store, traces_id: str) -> Traces:
    """A set that the lab has."""
    found = store.rows(
        "select traces_id, release_id, run_id, basis, protection, traces, visits from study.traces "
        "where traces_id = $id",
        id=traces_id,
    )
    if not found:
        known = [name for (name,) in store.rows("select traces_id from study.traces")]
        raise UnknownNameError("set of traces", traces_id, known)
    return Traces(*found[0])


def has(store: Store, traces_id: str) -> bool:
    return bool(store.rows("select 1 from study.traces where traces_id = $id", id=traces_id))


def tick_seconds(store: Store, release_id: str) -> int:
    """How long a tick of the release's clock is (slots.clock), from when the period begins or, at 1970, ends."""
    ((length,),) = store.rows(step("3_slots/_tick_seconds"), release_id=release_id)
    return int(length)


def describe(store: Store, traces_id: str, release_id: str, run_id: str | None, basis: str, protection: str) -> Traces:
    """Write the row of study.traces for traces that are in the lab now; call it inside their transaction."""
    ((visits,),) = store.rows("select count(*) from slots.visit where traces_id = $id", id=traces_id)
    ((traces,),) = store.rows("select count(*) from slots.trace where traces_id = $id", id=traces_id)
    if not visits:
        raise RiskError(f"release {release_id} has no visits on the basis {basis!r}: there is nobody to look for")
    made = Traces(traces_id, release_id, run_id, basis, protection, traces, visits)
    row = pl.DataFrame(
        [
            {
                "traces_id": made.id,
                "release_id": made.release_id,
                "run_id": made.run_id,
                "basis": made.basis,
                "protection": made.protection,
                "traces": made.traces,
                "visits": made.visits,
            }
        ],
        schema_overrides={"run_id": pl.String},
    )
    store.clear(Query.load("study.traces"), traces_id=traces_id)
    store.insert("study.traces", row)
    return made


def _build(store: Store, traces_id: str, release_id: str, run_id: str | None, basis: str, progress: Progress) -> Traces:
    if has(store, traces_id):
        return load(store, traces_id)
    ((index_id, slots),) = store.rows(
        "select index_id, slots from counts.release where release_id = $id", id=release_id
    )
    params = {
        "traces_id": traces_id,
        "release_id": release_id,
        "run_id": run_id,
        "index_id": index_id,
        "slots": slots,
        "tick_seconds": tick_seconds(store, release_id),
        "basis": basis,
    }
    with store.transaction(f"traces of {run_id or release_id}"):
        for table in ("slots.trace", "slots.visit"):
            with progress.step(table, poll=store.engine.percent_done):
                store.build(Query.load(table), **params)
        return describe(store, traces_id, release_id, run_id, basis, UNPROTECTED)


def _refuse_made_elsewhere(store: Store, release_id: str) -> None:
    if not store.rows("select 1 from slots.person where release_id = $id limit 1", id=release_id):
        raise RiskError(f"release {release_id} was made elsewhere: the lab does not know the people behind it")
