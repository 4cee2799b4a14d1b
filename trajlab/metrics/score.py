"""The scores of recovered tracks against the truth, from arrays: no lab needed."""

from __future__ import annotations

import datetime as dt

import numpy as np
import numpy.typing as npt
import polars as pl

from trajlab.errors import MetricError, UnknownNameError
from trajlab.metrics import optimal
from trajlab.metrics.headline import headline
from trajlab.metrics.pairing import PAIRINGS, pair
from trajlab.metrics.parts import night_slots as count_night_slots
from trajlab.metrics.parts import parts

Cells = npt.NDArray[np.int32]
Metres = npt.NDArray[np.float64]


def score(
    recovered: npt.ArrayLike,
    truth: npt.ArrayLike,
    xy: npt.ArrayLike,
    *,
    slots_per_day: int,
    night_slots: int | None = None,
    pairing: str = "optimal",
    seed: int = 0,
    bootstrap: int = 1000,
) -> pl.DataFrame:
    """Score (n, T) arrays of cell numbers whose cells lie at (m, 2) metres; rows as in `metrics.recovery`.

    `night_slots` is how many slots at the beginning of each day start before 06:00, by default a quarter of
    the day. The rows of the two arrays need not be in the same order: they are paired, `optimal` or `greedy`.
    """
    if pairing not in PAIRINGS:
        raise UnknownNameError("pairing", pairing, PAIRINGS)
    where = _coordinates(xy)
    tracks, true = _cells("recovered", recovered, len(where)), _cells("truth", truth, len(where))
    if tracks.shape != true.shape:
        raise MetricError(f"recovered is of shape {tracks.shape}, truth of {true.shape}: they must have the same")
    if pairing == "optimal" and len(tracks) > optimal.UP_TO:
        raise MetricError(
            f"optimal pairing is for up to {optimal.UP_TO} people, not {len(tracks)}: use pairing='greedy'"
        )
    if not 1 <= slots_per_day <= 86_400:
        raise MetricError(f"slots_per_day must be between 1 and 86400, not {slots_per_day}")
    night = count_night_slots(dt.time(), slots_per_day) if night_slots is None else night_slots
    if not 0 <= night <= slots_per_day:
        raise MetricError(f"night_slots must be between 0 and slots_per_day, not {night_slots}")
    pairs = pair(pairing, tracks, true, where, parts(tracks.shape[1], slots_per_day, night))
    people = _agreement(pairs).hstack(_errors(pairs, tracks, true, where)).with_columns(pairing=pl.lit(pairing))
    sets = pl.concat(
        [top_sets(tracks).with_columns(of=pl.lit("recovered")), top_sets(true).with_columns(of=pl.lit("truth"))]
    )
    return headline(people, sets, seed=seed, replicates=bootstrap)


def top_sets(cells: Cells, most: int = 5) -> pl.DataFrame:
    """For k = 1 … most, how many rows share each row's set of k most frequent cells, as in metrics.top_set."""
    people, slots = cells.shape
    visits = pl.DataFrame(
        {
            "member": np.repeat(np.arange(people), slots),
            "slot": np.tile(np.arange(slots), people),
            "cell": cells.ravel(),
        }
    )
    ranked = (
        visits.group_by("member", "cell")
        .agg(slots=pl.len(), first=pl.col("slot").min())
        .sort("member", pl.col("slots") * -1, "first", "cell")
    )
    shared = (
        ranked.group_by("member", maintain_order=True)
        .agg(pl.col("cell").head(k).sort())
        .select(pl.lit(k).alias("places"), "member", pl.len().over("cell").alias("shared_by"))
        for k in range(1, most + 1)
    )
    return pl.concat(shared)


def _agreement(pairs: pl.DataFrame) -> pl.DataFrame:
    def share(of_slots: pl.Expr, stage: int) -> pl.Expr:
        here = pl.col("stage") == stage
        return of_slots.filter(here).sum() / pl.col("slots").filter(here).sum()

    hits = pl.col("hits")
    return (
        pairs.group_by("person")
        .agg(
            night_accuracy=share(hits, 1),
            day_accuracy=share(hits, 2),
            accuracy=share(hits, 3),
            levenshtein=share(pl.col("slots") - pl.col("edits"), 3),
        )
        .sort("person")
    )


def _errors(pairs: pl.DataFrame, tracks: Cells, true: Cells, xy: Metres) -> pl.DataFrame:
    final = pairs.filter(pl.col("stage") == 3).sort("person")
    apart = xy[tracks[final["track"].to_numpy()]] - xy[true]
    metres = np.round(optimal.distances(apart[..., 0], apart[..., 1]), 3)
    return pl.DataFrame(
        {
            "error_m": np.rint(metres * 1000).sum(axis=1) / 1000 / metres.shape[1],
            "within_1000m": ((metres > 0) & (metres <= 1000)).mean(axis=1),
            "beyond_1000m": (metres > 1000).mean(axis=1),
        }
    )


def _cells(name: str, array: npt.ArrayLike, cells: int) -> Cells:
    given = np.asarray(array)
    if given.ndim != 2 or 0 in given.shape:
        raise MetricError(f"{name} must be people × slots, with at least one of each, not of shape {given.shape}")
    if given.dtype.kind not in "iuf":
        raise MetricError(f"{name} must hold cell numbers, not {given.dtype}")
    bad = ~np.isfinite(given) | (given != np.floor(given)) | (given < 0) | (given >= cells)
    if bad.any():
        row, slot = np.argwhere(bad)[0]
        raise MetricError(
            f"{int(bad.sum())} entries of {name} are not whole numbers from 0 to {cells - 1}, the first in "
            f"row {row}, slot {slot}: each must be the row of xy where its cell lies"
        )
    return given.astype(np.int32)


def _coordinates(xy: npt.ArrayLike) -> Metres:
    where = np.asarray(xy)
    if where.ndim != 2 or where.shape[1] != 2 or where.dtype.kind not in "iuf":
        raise MetricError(f"xy must be cells × 2 in metres, not {where.dtype} of shape {where.shape}")
    if bad := int((~np.isfinite(where)).any(axis=1).sum()):
        raise MetricError(f"{bad} cells have coordinates that are not finite numbers")
    return where.astype(np.float64)
