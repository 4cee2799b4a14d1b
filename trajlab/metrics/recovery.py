"""How much an attack recovered: the scores of a run, against the truth that the attack never saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from trajlab.errors import UnknownNameError
from trajlab.metrics import optimal
from trajlab.metrics.control import control, other_people
from trajlab.metrics.headline import headline
from trajlab.metrics.pairing import PAIRINGS, pair
from trajlab.metrics.parts import night_slots, parts
from trajlab.progress import Progress
from trajlab.query import Query, catalogue
from trajlab.release.truth import unprotected_id

if TYPE_CHECKING:
    from trajlab.store import Store

Cells = npt.NDArray[np.int32]


def score_run(
    store: Store,
    run_id: str,
    *,
    pairings: Sequence[str] = PAIRINGS,
    seed: int = 0,
    bootstrap: int = 1000,
    progress: Progress | None = None,
) -> None:
    """Replace the scores of one run, from `metrics.pair` to `metrics.recovery`, with fresh ones.

    Call it inside a transaction, with the tracks and `study.run` in place, the yardsticks first. A run that
    stopped early is scored over the slots it has. Where the lab does not know the truth (a
    release that somebody else published), only the uniqueness of what was recovered is found.
    Above `optimal.UP_TO` people the optimal pairing is left out.
    """
    for name in pairings:
        if name not in PAIRINGS:
            raise UnknownNameError("pairing", name, PAIRINGS)
    found = store.rows("select release_id from study.run where run_id = $run_id", run_id=run_id)
    if not found:
        raise UnknownNameError("run", run_id, [name for (name,) in store.rows("select run_id from study.run")])
    release_id = unprotected_id(store, str(found[0][0]))  # whose people these are, in the same cells and slots
    progress = progress or Progress()
    _write_pairs(store, run_id, release_id, pairings, progress, seed=seed, bootstrap=bootstrap)
    tables = _tables_of_a_run()
    for query in (query for query in tables if "metrics.recovery" not in _sources(query)):
        with progress.step(query.table, poll=store.engine.percent_done):
            store.build(query, run_id=run_id, release_id=release_id)
    people = store.frame("select * from metrics.person_recovery where run_id = $run_id order by person", run_id=run_id)
    sets = store.frame("select * from metrics.top_set where run_id = $run_id order by member", run_id=run_id)
    with progress.step("metrics.recovery"):
        scores = headline(people, sets, seed=seed, replicates=bootstrap)
    store.clear(Query.load("metrics.recovery"), run_id=run_id)
    store.insert("metrics.recovery", scores.select(pl.lit(run_id).alias("run_id"), pl.all()))
    for query in (query for query in tables if "metrics.recovery" in _sources(query)):
        store.build(query, run_id=run_id, release_id=release_id)


def _tables_of_a_run() -> list[Query]:
    """What is built of every run, in the order in which the tables read each other: their parameters say so."""
    queries = [query for query in catalogue().values() if query.kind == "table" and "run_id" in query.scope]
    return [query for query in queries if set(query.params) <= {"run_id", "release_id"}]


def _sources(query: Query) -> set[str]:
    """Every relation that the query reads, and those that these read."""
    return set(query.reads).union(*(_sources(Query.load(table)) for table in query.reads))


@dataclass(frozen=True, slots=True)
class _Case:
    """Tracks and truth as arrays; row i is tracks[i] and people[i], cell j lies at xy[j]."""

    tracks: npt.NDArray[np.int32]
    people: npt.NDArray[np.int32]
    recovered: Cells
    truth: Cells
    xy: npt.NDArray[np.float64]

    @property
    def can_be_optimal(self) -> bool:
        visited = np.zeros(len(self.xy), dtype=bool)
        for cells in (self.recovered, self.truth):
            visited[cells[cells >= 0]] = True
        return max(len(self.people), len(self.tracks)) <= optimal.UP_TO and bool(np.isfinite(self.xy[visited]).all())


def _write_pairs(
    store: Store,
    run_id: str,
    release_id: str,
    pairings: Sequence[str],
    progress: Progress,
    *,
    seed: int,
    bootstrap: int,
) -> None:
    """Pairs, and what the same tracks score against people who are not meant."""
    store.clear(Query.load("metrics.pair"), run_id=run_id)
    store.clear(Query.load("metrics.control"), run_id=run_id)
    case = _case(store, run_id, release_id)
    if case is None:
        return
    starts, per_day = store.rows(
        "select starts, slots_per_day from counts.release where release_id = $id", id=release_id
    )[0]
    stretches = parts(case.truth.shape[1], per_day, night_slots(starts.time(), per_day))
    track_of: dict[str, npt.NDArray[np.int64]] = {}
    for pairing in pairings:
        if pairing == "optimal" and not case.can_be_optimal:
            continue
        with progress.step(f"{pairing} pairing"):
            pairs = pair(pairing, case.recovered, case.truth, case.xy, stretches, progress.show)
        track_of[pairing] = pairs.filter(stage=3).sort("person")["track"].fill_null(-1).to_numpy()
        store.insert(
            "metrics.pair",
            pairs.with_columns(
                run_id=pl.lit(run_id),
                pairing=pl.lit(pairing),
                person=pl.Series(case.people).gather(pairs["person"]),
                track=pl.Series(case.tracks).gather(pairs["track"]),
            ),
        )
    store.check_grain(Query.load("metrics.pair"), run_id=run_id)
    with progress.step("control"):
        others = other_people(store, release_id, *case.truth.shape, seed=seed)
        chance = control(
            case.recovered, case.truth, case.xy, track_of, others, seed=seed, replicates=bootstrap
        )  # fmt: skip
    store.insert("metrics.control", chance.with_columns(run_id=pl.lit(run_id)))


def _case(store: Store, run_id: str, release_id: str) -> _Case | None:
    """What the run recovered and what is true, over the slots of the run; None where the truth is not known."""
    slots = store.rows("select max(slot) + 1 from attacks.track where run_id = $id", id=run_id)[0][0]
    lived = "from slots.position where release_id = $id and slot < $slots"
    people = store.frame(f"select distinct person as who {lived} order by who", id=release_id, slots=slots)
    if not len(people):
        return None
    rows = "from attacks.track where run_id = $id"
    tracks = store.frame(f"select distinct track as who {rows} order by who", id=run_id)
    cells = store.frame(
        "select cell.cell, cell.x, cell.y from grid.cell as cell join counts.release as release using (index_id) "
        "where release.release_id = $id order by cell.cell",
        id=release_id,
    )

    def laid_out(points: pl.DataFrame, who: pl.DataFrame) -> Cells:
        table = np.full((len(who), slots), -1, dtype=np.int32)
        row = np.searchsorted(who["who"].to_numpy(), points["who"].to_numpy())
        table[row, points["slot"].to_numpy()] = np.searchsorted(cells["cell"].to_numpy(), points["cell"].to_numpy())
        return table

    return _Case(
        tracks=tracks["who"].to_numpy(),
        people=people["who"].to_numpy(),
        recovered=laid_out(store.frame(f"select track as who, slot, cell {rows}", id=run_id), tracks),
        truth=laid_out(
            store.frame(f"select person as who, slot, cell {lived}", id=release_id, slots=slots),
            people,
        ),
        xy=cells.select("x", "y").to_numpy(),
    )
