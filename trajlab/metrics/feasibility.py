"""Whether recovering people from counts can work at all: the statistics of xu2017, sections 3 and 4.

Each needs the truth behind a release and no attack: how few places hold a person's time, how few
points single a person out, how still the nights are, how well the next place can be guessed, and how much
the days of one person resemble each other. Who is singled out is asked as anybody would ask it
(`trajlab.risk`), so that one question has one answer; the others are tables of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trajlab.errors import MetricError, UnknownNameError
from trajlab.metrics.parts import night_slots
from trajlab.query import Query, tables_of
from trajlab.release.truth import unprotected_id
from trajlab.risk import run as risk
from trajlab.risk import traces

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.store import Store

MOST = 5
"""Places or points known, at most (xu2017, figure 3)."""


def build(store: Store, release_id: str, *, seed: int = 0, progress: Progress) -> None:
    """Replace the feasibility statistics of one release, and answer its questions of who is singled out.

    They are about the people behind it: of a release with protected counts, those of the one it was made from.
    `seed` decides which points are drawn of each person and whose days are compared with
    whose; another seed replaces the comparison, and asks questions of its own.
    """
    release_id = unprotected_id(store, release_id)
    params = _params(store, release_id) | {"seed": str(seed)}
    if not store.rows("select 1 from slots.position where release_id = $id limit 1", id=release_id):
        raise MetricError(f"release {release_id} was made elsewhere: the lab does not know the people behind it")
    with store.transaction("feasibility"):
        _measure_singled_out(store, release_id, seed, progress)
        for query in tables(params):
            with progress.step(query.table, poll=store.engine.percent_done):
                store.build(query, **params)


def tables(params: dict[str, object]) -> list[Query]:
    """Every metric of a release that needs nothing but these parameters, in the order of building."""
    return tables_of("release_id", params)


def _measure_singled_out(store: Store, release_id: str, seed: int, progress: Progress) -> None:
    """The questions that metrics.singled_out shows, as far as anybody has so many places or points."""
    searched = traces.of_release(store, release_id, "slots", progress)
    ((places, points),) = store.rows(
        "select max(places), max(points) from (select count(distinct cell) as places, count(*) as points "
        "from slots.visit where traces_id = $id group by trace)",
        id=searched.id,
    )
    texts = [f"top:{size}:unordered" for size in range(1, min(MOST, places) + 1)]
    texts += [f"{kind}:{size}" for kind in ("points", "cont") for size in range(1, min(MOST, points) + 1)]
    kinds = [risk.parse_question(text, seed=seed, sample=None, settings={}) for text in texts]
    risk.measure_all(store, searched, searched, kinds, seed=seed, sample=None, progress=progress)


def _params(store: Store, release_id: str) -> dict[str, object]:
    found = store.rows("select slots, slots_per_day, starts from counts.release where release_id = $id", id=release_id)
    if not found:
        known = [name for (name,) in store.rows("select release_id from counts.release")]
        raise UnknownNameError("release", release_id, known)
    slots, slots_per_day, starts = found[0]
    return {
        "release_id": release_id,
        "slots": slots,
        "slots_per_day": slots_per_day,
        "night_slots": night_slots(starts.time(), slots_per_day),
    }
