"""How far a published table is from the one that it was made from: people in cells, and flows, slot by slot.

Protections of counts (leaving small ones out, rounding, noise) change the table itself. Here it is compared with the
unprotected table, row by row: what is not published counts as nobody. `metrics.count_error` has the
answer, `metrics.count_error_by_hour` and `metrics.count_error_by_cell` when and where.
"""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from trajlab.errors import UnknownNameError, UtilityError
from trajlab.matching import transport
from trajlab.query import Query, step
from trajlab.release.making import Settings, make_release
from trajlab.release.truth import unprotected_id

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.store import Store

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

TABLES = ("occupancy", "flow")
MEASURES = (
    "relative_error",
    "median_relative_error",
    "hidden_people",
    "hidden_rows",
    "invented_rows",
    "total_bias",
    "rank_correlation",
    "busiest_overlap",
    "distance_m",
)
PLACES = 100_000
"""Slots times cells up to which the distance on the map is found for every slot: some seconds."""
FEWEST = 24
"""Slots that have a distance at least."""
REPLICATES = 1000


@dataclass(frozen=True, eq=False)
class CountUtility:
    """One comparison of a published table with the unprotected one.

    `errors` has a row for each table (occupancy, flow) and measure, with the columns of metrics.count_error;
    `by_hour` and `by_cell` are those of metrics.count_error_by_hour and metrics.count_error_by_cell.
    """

    release_id: str
    unprotected_id: str
    errors: pl.DataFrame
    by_hour: pl.DataFrame
    by_cell: pl.DataFrame
    notes: tuple[str, ...] = ()

    def error(self, measure: str = "relative_error", table: str = "occupancy") -> float | None:
        """One of the errors; None where there is nothing to take it of."""
        for kind, name, known in (("measure", measure, MEASURES), ("table", table, TABLES)):
            if name not in known:
                raise UnknownNameError(kind, name, known)
        found = self.errors.filter(measure=measure, published_table=table)["estimate"]
        return None if not len(found) else found.item()

    def __repr__(self) -> str:
        lost, hidden = self.error("relative_error"), self.error("hidden_people")
        size = "" if lost is None or hidden is None else f", relative error {lost:.3g}, {hidden:.1%} hidden"
        return f"<CountUtility of {self.release_id} beside {self.unprotected_id}{size}>"


def unprotected(store: Store, release_id: str, progress: Progress) -> str:
    """The release that this one was made from: the same settings, and every count; made where the lab lacks it."""
    found = store.rows("select settings, fingerprint from study.release where release_id = $id", id=release_id)
    if not found:
        raise UtilityError(
            f"release {release_id} was made elsewhere: the lab does not have the table it was made from; name a "
            "release to compare it with (unprotected=...)"
        )
    if (made_from := unprotected_id(store, release_id)) != release_id:
        return made_from
    ((settings, fingerprint),) = found
    asked = json.loads(settings)
    if asked["min_count"] == 1:
        return release_id
    asked["box"] = None if asked["box"] is None else tuple(asked["box"])
    made = make_release(store, dataclasses.replace(Settings(**asked), min_count=1), progress)
    ((now,),) = store.rows("select fingerprint from study.release where release_id = $id", id=made.id)
    if now != fingerprint:
        raise UtilityError(
            f"records were added after release {release_id} was made, and the lab has no release of min_count=1 of "
            "those before: make the release again"
        )
    return made.id


def compare(store: Store, release_id: str, other_id: str, progress: Progress, *, seed: int = 0) -> CountUtility:
    """Every error of one table beside the other, unless the lab has them; call it inside a transaction."""
    ids = {"release_id": release_id, "unprotected_id": other_id}
    _refuse_others(store, release_id, other_id)
    if not len(store.relation(Query.load("metrics.count_error"), **ids)):
        for table in ("metrics.count_change", "metrics.count_error_by_slot"):
            with progress.step(table, poll=store.engine.percent_done):
                store.build(Query.load(table), **ids)
        with progress.step("metrics.count_distance"):
            distances = _distances(store, ids, progress)
        slots = store.relation(Query.load("metrics.count_error_by_slot"), **ids)
        medians = dict(store.rows(step("6_metrics/_count_median"), **ids))
        rows = _errors(slots, distances, medians, seed)
        for table, frame in (("metrics.count_distance", distances), ("metrics.count_error", rows)):
            store.clear(Query.load(table), **ids)
            store.insert(table, frame.with_columns(**{name: pl.lit(value) for name, value in ids.items()}))
            store.check_grain(Query.load(table), **ids)
    return load(store, release_id, other_id)


def load(store: Store, release_id: str, other_id: str) -> CountUtility:
    """A comparison that the lab has."""
    ids = {"release_id": release_id, "unprotected_id": other_id}
    errors, by_hour, by_cell = (
        store.relation(Query.load(f"metrics.{table}"), **ids).drop(*ids)
        for table in ("count_error", "count_error_by_hour", "count_error_by_cell")
    )
    order = [pl.col("published_table").cast(pl.Enum(TABLES)), pl.col("measure").cast(pl.Enum(MEASURES))]
    slots = store.rows("select slots from counts.release where release_id = $id", id=release_id)[0][0]
    seen = errors.filter(measure="distance_m")["slots"].to_list()
    notes = (
        f"the distance on the map is that of {seen[0]} of {slots} slots, spread evenly over the period"
        if seen and 0 < seen[0] < slots
        else None,
        "cells without coordinates: there is no distance on the map" if not seen else None,
        "no flow is published: all of them are lost"
        if len(errors.filter(pl.col("estimate") == 1, published_table="flow", measure="hidden_rows"))
        else None,
    )
    return CountUtility(
        release_id, other_id, errors.sort(order), by_hour, by_cell, tuple(note for note in notes if note)
    )


def _refuse_others(store: Store, release_id: str, other_id: str) -> None:
    """Two tables of the same slots and cells, or none that could be compared row by row."""
    columns = ("index_id", "index_name", "starts", "tz", "slot_seconds", "slots")
    both = []
    for name in (release_id, other_id):
        found = store.rows(f"select {', '.join(columns)} from counts.release where release_id = $id", id=name)  # noqa: S608
        if not found:
            known = [known for (known,) in store.rows("select release_id from counts.release")]
            raise UnknownNameError("release", name, known)
        both.append(dict(zip(columns, found[0], strict=True)))
    for name in ("index_name", "index_id", "slot_seconds", "starts", "slots", "tz"):
        one, other = (release[name] for release in both)
        if one != other:
            raise UtilityError(
                f"releases {release_id} and {other_id} differ in {name} ({one} and {other}): a published table "
                "is compared with the one it was made from, of the same cells and slots"
            )
    if not store.rows("select 1 from counts.occupancy where release_id = $id limit 1", id=other_id):
        raise UtilityError(f"release {other_id} has no count: there is nothing to compare with")


def _errors(slots: pl.DataFrame, distances: pl.DataFrame, medians: dict[str, float], seed: int) -> pl.DataFrame:
    rows: list[dict[str, object]] = []
    for (table,), part in slots.group_by("published_table", maintain_order=True):
        bias = part["published_people"] - part["true_people"]
        ratios = {
            "relative_error": (part["absolute_error"], part["true_people"]),
            "hidden_people": (part["hidden_people"], part["true_people"]),
            "hidden_rows": (part["hidden_rows"], part["true_rows"]),
            "invented_rows": (part["invented_rows"], part["listed_rows"]),
            "total_bias": (bias, part["true_people"]),
            **{name: _each(part[name]) for name in ("rank_correlation", "busiest_overlap")},
        }
        if table == "occupancy" and len(distances):
            ratios["distance_m"] = _each(distances["distance_m"])
        for measure, (above, below) in ratios.items():
            estimate, low, high = ratio(above.to_numpy(), below.to_numpy(), seed=seed)
            rows.append(_row(str(table), measure, int((below > 0).sum()), estimate, low, high))
        rows.append(_row(str(table), "median_relative_error", len(part), medians.get(str(table)), None, None))
    numbers = {"slots": pl.Int32, **dict.fromkeys(("estimate", "low", "high"), pl.Float64)}
    return pl.DataFrame(rows, schema_overrides=numbers)


def _each(values: pl.Series) -> tuple[pl.Series, pl.Series]:
    """A mean over the slots that have a value, as a ratio of sums."""
    return values.fill_null(0.0), values.is_not_null().cast(pl.Int64)


def _row(
    table: str, measure: str, slots: int, estimate: float | None, low: float | None, high: float | None
) -> dict[str, object]:
    return {
        "published_table": table,
        "measure": measure,
        "slots": slots,
        "estimate": estimate,
        "low": low,
        "high": high,
        "about": "table",
    }


def ratio(
    above: npt.ArrayLike, below: npt.ArrayLike, *, seed: int, replicates: int = REPLICATES
) -> tuple[float | None, float | None, float | None]:
    """Σ above / Σ below, and where 95 % of it lie when slots are drawn with replacement; None where Σ below is 0."""
    up, down = (np.asarray(values, dtype=np.float64) for values in (above, below))
    total = math.fsum(down)
    if total == 0:
        return None, None, None
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(up), size=(replicates, len(up)))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = up[drawn].sum(axis=1) / down[drawn].sum(axis=1)
    low, high = np.quantile(found[np.isfinite(found)], [0.025, 0.975])
    return math.fsum(up) / total, float(low), float(high)


def _distances(store: Store, ids: dict[str, str], progress: Progress) -> pl.DataFrame:
    """The distance of every slot, or of a sample of them; no row where a cell has no coordinates."""
    schema = {"slot": pl.Int32, "distance_m": pl.Float64}
    cells = store.frame(
        "select cell.cell, cell.x, cell.y from grid.cell as cell join counts.release as release using (index_id) where "
        "release.release_id = $release_id and cell.cell in (select cell from metrics.count_change where release_id = "
        "$release_id and unprotected_id = $unprotected_id) order by cell.cell",
        **ids,
    )
    where = cells.select("x", "y").to_numpy()
    if not np.isfinite(where).all():
        return pl.DataFrame(schema=schema)
    ((slots,),) = store.rows("select slots from counts.release where release_id = $id", id=ids["release_id"])
    chosen = sample(slots, len(cells))
    rows = store.frame(
        "select slot, cell, true_people, published_people from metrics.count_change where release_id = $release_id "
        "and unprotected_id = $unprotected_id and slot in (select unnest($chosen)) order by slot, cell",
        chosen=chosen.tolist(),
        **ids,
    )
    found: list[tuple[int, float | None]] = []
    for n, ((slot,), part) in enumerate(rows.group_by("slot", maintain_order=True)):
        progress.show(n, len(chosen))
        here = where[np.searchsorted(cells["cell"].to_numpy(), part["cell"].to_numpy())]
        before, after = (part[name].to_numpy() for name in ("true_people", "published_people"))
        found.append((int(str(slot)), earth_movers_distance(here, before, after)))
    return pl.DataFrame(found, schema=schema, orient="row")


def sample(slots: int, cells: int) -> Ints:
    """The slots that get a distance: all, or as many as there is time for, spread evenly."""
    some = max(FEWEST, PLACES // max(cells, 1))
    if some >= slots:
        return np.arange(slots)
    return ((np.arange(some) + 0.5) * slots / some).astype(np.int64)


def earth_movers_distance(xy: Floats, before: Floats, after: Floats) -> float | None:
    """Metres that the mass of one table is moved on average to become the other; None where one holds nothing.

    Each is divided by its sum; below 0 is taken for 0. Mass that both have in a cell stays there, which is never
    dearer: only the surplus moves. Amounts are whole, to a thousandth of a person, so the answer is exact.
    """
    first, second = (np.rint(1000 * np.maximum(values, 0)).astype(np.int64) for values in (before, after))
    sums = int(first.sum()), int(second.sum())
    if 0 in sums:
        return None
    common = math.gcd(*sums)
    surplus = first * (sums[1] // common) - second * (sums[0] // common)
    share = np.gcd.reduce(surplus)
    if share == 0:
        return 0.0
    surplus //= share
    source, sink = np.flatnonzero(surplus > 0), np.flatnonzero(surplus < 0)
    keys = np.arange(len(xy), dtype=np.uint64)
    plan = transport(
        xy[source], surplus[source], xy[sink], -surplus[sink], source_keys=keys[source], sink_keys=keys[sink]
    )
    return plan.cost * int(share) / (sums[0] * (sums[1] // common))
