"""An attack on a release, run once and kept: tracks, the proof of each step, scores.

A run is named by a digest of release, attack, settings and seed. The two yardsticks run
beside every attack. An attack that works day by day is stored day by day: what is done can
be read while it goes on, and an interrupted run continues from its last finished day.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import itertools
import json
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from trajlab import attacks
from trajlab.attacks import Attack, Online, Tracks
from trajlab.attacks._steps import Step, StepLog
from trajlab.errors import AttackError, UnknownNameError
from trajlab.ids import digest
from trajlab.metrics import optimal
from trajlab.metrics.pairing import PAIRINGS
from trajlab.query import Query
from trajlab.release import Release
from trajlab.settings import whole_number
from trajlab.version import versions

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.store import Store

YARDSTICKS = ("shuffle", "stay")


@dataclass(frozen=True, slots=True)
class Run:
    """One attack on one release; its rows in the lab carry `id` as run_id."""

    id: str
    release_id: str
    attack: str
    seed: int
    settings: dict[str, Any]
    people: int
    days: int
    complete: bool


def run(
    store: Store, release: Release, name: str, *, seed: int, settings: dict[str, Any], pairing: str, progress: Progress
) -> Run:
    """The run and its yardsticks, made and scored unless the lab has them."""
    days = run_by_day(store, release, name, seed=seed, settings=settings, pairing=pairing, progress=progress)
    return deque(days, maxlen=1).pop()


def run_by_day(
    store: Store, release: Release, name: str, *, seed: int, settings: dict[str, Any], pairing: str, progress: Progress
) -> Iterator[Run]:
    """The same, told after each day that is stored; an attack that is not online is told once.

    What cannot be done is refused at once, not when the first day is asked for.
    """
    attack = attacks.load(name, **settings)
    pairings = _pairings(pairing)
    seed = whole_number("seed", seed, 0, 2**63 - 1, error=AttackError)
    release.require(*attack.requires)
    if pairing == "optimal" and release.people > optimal.UP_TO:
        raise AttackError(
            f"optimal pairing is for up to {optimal.UP_TO:,} people, not {release.people:,}: use pairing='greedy'"
        )
    return _day_by_day(store, release, name, attack, seed=seed, pairings=pairings, progress=progress)


def _day_by_day(
    store: Store,
    release: Release,
    name: str,
    attack: Attack,
    *,
    seed: int,
    pairings: tuple[str, ...],
    progress: Progress,
) -> Iterator[Run]:
    adopt(store, release)
    for yardstick in YARDSTICKS:
        if yardstick != name:
            for _ in _stored(store, release, yardstick, attacks.load(yardstick), seed, progress):
                pass
            _score(store, _named(release, yardstick, attacks.load(yardstick), seed), pairings, progress)
    yield from _stored(store, release, name, attack, seed, progress)
    _score(store, _named(release, name, attack, seed), pairings, progress)


def recover(
    counts: Any,
    xy: Any,
    *,
    slots_per_day: int | None = None,
    method: str = "dsilva2024",
    seed: int = 0,
    start: dt.datetime | str | None = None,
    unit: Any = None,
    **settings: Any,
) -> npt.NDArray[np.int32]:
    """Recover tracks from a table of counts: (T, m) people per slot and cell -> (n, T) cell numbers.

    `xy` (m, 2) holds the cells' coordinates in metres. `method` and its settings are those of
    `lab.attack`; `counts`, `xy`, `start` and `unit` may be whatever `Release.from_matrix` takes.
    """
    release = Release.from_matrix(counts, xy, slots_per_day, start=start, unit=unit)
    return attacks.load(method, **settings).recover(release, np.random.default_rng(seed), StepLog())


def recover_by_day(
    counts: Any,
    xy: Any,
    *,
    slots_per_day: int | None = None,
    method: str = "dsilva2024",
    seed: int = 0,
    start: dt.datetime | str | None = None,
    unit: Any = None,
    **settings: Any,
) -> Iterator[npt.NDArray[np.int32]]:
    """The same day by day: each time (n, slots so far)."""
    release = Release.from_matrix(counts, xy, slots_per_day, start=start, unit=unit)
    attack = attacks.load(method, **settings)
    if not isinstance(attack, Online):
        raise AttackError(f"attack {method} does not work day by day; use recover")
    release.require(*attack.requires)
    days = attack.days(release, np.random.default_rng(seed), StepLog(), None)
    return itertools.accumulate(days, lambda before, day: np.concatenate([before, day], axis=1))


def _named(release: Release, name: str, attack: Attack, seed: int) -> Run:
    settings = dataclasses.asdict(attack)  # type: ignore[call-overload]
    days = -(-release.slots // release.slots_per_day)
    run_id = "a" + digest(release.id, name, sorted(settings.items()), seed)
    return Run(run_id, release.id, name, seed, settings, release.people, days, complete=True)


def _stored(store: Store, release: Release, name: str, attack: Attack, seed: int, progress: Progress) -> Iterator[Run]:
    """Make what the lab does not have of a run, and store it."""
    whole = _named(release, name, attack, seed)
    done = _days_done(store, whole)
    if done == whole.days:
        yield whole
        return
    with progress.step(f"{name} on {release.id}", watched=False):  # between two days others work
        log = StepLog(progress.show)
        rng = np.random.default_rng(seed)
        if isinstance(attack, Online):
            known = _known(store, whole, release, done)
            for tracks in attack.days(release, rng, log, known):
                done += 1
                so_far = dataclasses.replace(whole, days=done, complete=done == whole.days)
                _write(store, so_far, release, tracks, (done - 1) * release.slots_per_day, log)
                yield so_far
        else:
            _write(store, whole, release, attack.recover(release, rng, log), 0, log)
            yield whole


def _write(store: Store, run: Run, release: Release, tracks: Tracks, first: int, log: StepLog) -> None:
    """Add tracks from slot `first` on, and the steps since the last time."""
    row = {
        "run_id": run.id,
        "release_id": run.release_id,
        "attack": run.attack,
        "seed": run.seed,
        "settings": json.dumps(run.settings, sort_keys=True),
        "people": run.people,
        "days": run.days,
        "complete": run.complete,
        "versions": versions("numpy", "scipy", "POT", "numba"),
    }
    steps, log.steps = sorted(log.steps, key=lambda step: step.slot), []
    cells = release.cells["cell"].to_numpy()
    with store.transaction(f"attack {run.attack}"):
        store.clear(Query.load("study.run"), run_id=run.id)
        store.insert("study.run", pl.DataFrame([row]))
        store.insert("attacks.step", _steps(run, steps))
        for start in range(0, tracks.shape[1], release.slots_per_day):
            day = tracks[:, start : start + release.slots_per_day]
            number, slot = np.divmod(np.arange(day.size, dtype=np.int32), np.int32(day.shape[1]))
            frame = pl.DataFrame({"track": number, "slot": slot + np.int32(first + start), "cell": cells[day.ravel()]})
            somewhere = pl.Series(day.ravel() >= 0)
            store.insert("attacks.track", frame.filter(somewhere).with_columns(run_id=pl.lit(run.id)))
            if log.confidence is not None:
                sure = pl.Series("confidence", log.confidence[:, start : start + release.slots_per_day].ravel())
                believed = frame.select("track", "slot", sure).filter(somewhere)
                store.insert("attacks.confidence", believed.with_columns(run_id=pl.lit(run.id)))


def _steps(run: Run, steps: Sequence[Step]) -> pl.DataFrame:
    schema = {
        "slot": pl.Int32, "stage": pl.String, "sources": pl.Int64, "sinks": pl.Int64,
        "cost": pl.Float64, "bound": pl.Float64, "rounds": pl.Int32,
    }  # fmt: skip
    frame = pl.DataFrame([dataclasses.asdict(step) for step in steps], schema=schema).rename({"stage": "phase"})
    gap = pl.when(pl.col("cost") > 0).then((pl.col("cost") - pl.col("bound")) / pl.col("cost")).otherwise(0.0)
    return frame.with_columns(run_id=pl.lit(run.id), gap=gap)


def _days_done(store: Store, run: Run) -> int:
    found = store.rows("select days from study.run where run_id = $id", id=run.id)
    return int(found[0][0]) if found else 0


def _known(store: Store, run: Run, release: Release, days: int) -> Tracks | None:
    if not days:
        return None
    rows = store.frame("select track, slot, cell from attacks.track where run_id = $id", id=run.id)
    known = np.full((run.people, days * release.slots_per_day), -1, dtype=np.int32)
    cell = np.searchsorted(release.cells["cell"].to_numpy(), rows["cell"].to_numpy())
    known[rows["track"].to_numpy(), rows["slot"].to_numpy()] = cell
    return known


def _score(store: Store, run: Run, pairings: tuple[str, ...], progress: Progress) -> None:
    from trajlab.metrics import score_run

    if store.rows("select 1 from metrics.recovery where run_id = $id", id=run.id):
        found = {p for (p,) in store.rows("select distinct pairing from metrics.pair where run_id = $id", id=run.id)}
        possible = {p for p in pairings if p != "optimal" or run.people <= optimal.UP_TO}
        if not found or possible <= found:  # nothing found: there is no truth to pair with
            return
        pairings = tuple(p for p in PAIRINGS if p in found | possible)
    with store.transaction(f"scores of {run.attack}"):
        score_run(store, run.id, pairings=pairings, seed=run.seed, progress=progress)


def _pairings(pairing: str) -> tuple[str, ...]:
    if pairing == "both":
        return PAIRINGS
    if pairing not in PAIRINGS:
        raise UnknownNameError("pairing", pairing, ["both", *PAIRINGS])
    return (pairing,)


def adopt(store: Store, release: Release) -> None:
    """Keep a release that somebody else published beside the lab's own; the lab knows no truth of it."""
    if store.rows("select 1 from counts.release where release_id = $id", id=release.id):
        return
    index_id = int(digest(release.id)[:12], 16)
    seconds = 86_400 // release.slots_per_day
    slot = np.arange(release.slots, dtype=np.int32)
    starts = pl.Series([release.start.replace(tzinfo=None)]).dt.cast_time_unit("us") + pl.Series(
        slot.astype(np.int64) * seconds * 1_000_000
    ).cast(pl.Duration("us"))
    published = {
        "release_id": release.id,
        "index_id": index_id,
        "index_name": release.index,
        "starts": starts[0],
        "tz": release.tz,
        "slot_seconds": seconds,
        "slots_per_day": release.slots_per_day,
        "slots": release.slots,
        "fill": "as published",
        "min_count": release.min_count,
        "recipe": " ".join(release.recipe),
        "total_low": None if release.total is None else release.total[0],
        "total_high": None if release.total is None else release.total[1],
    }
    nothing = {name: pl.lit(None) for name in ("lng", "lat", "area_km2", "parent_cell", "polygon")}
    calendar = pl.DataFrame({"slot": slot, "starts": starts}).with_columns(
        release_id=pl.lit(release.id),
        day=pl.col("slot") // release.slots_per_day,
        slot_of_day=pl.col("slot") % release.slots_per_day,
        weekday=pl.col("starts").dt.weekday().cast(pl.Int32),
    )
    with store.transaction(f"keeping {release.id}"):
        whole = {"total_low": pl.Int64, "total_high": pl.Int64}
        store.insert("counts.release", pl.DataFrame([published], schema_overrides=whole))
        store.insert("counts.occupancy", release.counts.with_columns(release_id=pl.lit(release.id)))
        store.insert("grid.cell", release.cells.select("cell", "label", "x", "y", index_id=pl.lit(index_id), **nothing))
        store.insert("slots.slot", calendar)
