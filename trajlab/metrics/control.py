"""What chance alone gives: the tracks of a run, scored against people whom it cannot have recovered.

Pairing looks for the person that a track is most like, so any track that looks like a life finds somebody. What it
finds among people who are not in the release is that gain and nothing else. Where the lab has no such people,
tracks taken for one half of the release are scored against the other half. The same people on other days
would be no control: whoever is recovered lives in the same place on every day.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from trajlab.metrics import optimal
from trajlab.metrics.bootstrap import intervals
from trajlab.metrics.pairing import pair
from trajlab.metrics.parts import Part
from trajlab.query import step

if TYPE_CHECKING:
    from trajlab.store import Store

Cells = npt.NDArray[np.int32]
Metres = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

METRICS = ("accuracy", "levenshtein", "error_m")
SCHEMA = {
    "metric": pl.String,
    "level": pl.Int32,
    "pairing": pl.String,
    "control_of": pl.String,
    "people": pl.Int64,
    "estimate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}
ROWS = 4096
"""People whose distances are looked at together."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Tracks and the people they are scored against, as arrays of cell numbers; row numbers mean nothing."""

    tracks: Cells
    people: Cells


def control(
    recovered: Cells,
    truth: Cells,
    xy: Metres,
    track_of: dict[str, Numbers],
    others: Cells | None,
    *,
    seed: int,
    replicates: int,
) -> pl.DataFrame:
    """Rows of metrics.control; none where there are not two people.

    `track_of` has for each pairing the track that is taken for every person, -1 for none. `others` are people who are
    not in the release; None where there are too few.
    """
    kind = "other half" if others is None else "other people"
    rows: list[tuple[object, ...]] = []
    for pairing, track in track_of.items():
        sides = [Sides(recovered, others)] if others is not None else list(halves(recovered, truth, track, seed))
        if pairing == "optimal" and not all(_can_be_optimal(side, xy) for side in sides):
            continue
        found = [_scores(pairing, side, xy) for side in sides]
        values = np.concatenate(found) if found else np.empty((0, len(METRICS)))
        known = np.isfinite(values)
        if not len(values):
            continue
        means = intervals(values, seed=seed, replicates=replicates)
        rows += [
            (metric, 3, pairing, kind, int(known[:, n].sum()), *(float(part[n]) for part in means))
            for n, metric in enumerate(METRICS)
            if known[:, n].any()
        ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def halves(recovered: Cells, truth: Cells, track_of: Numbers, seed: int) -> Iterator[Sides]:
    """The tracks taken for one half of the people beside the other half, and the other way round."""
    if len(truth) < 2:
        return
    order = np.random.default_rng(seed).permutation(len(truth))
    first, second = order[: len(order) // 2], order[len(order) // 2 :]
    for own, other in ((first, second), (second, first)):
        tracks = track_of[own]
        yield Sides(recovered[np.sort(tracks[tracks >= 0])], truth[np.sort(other)])


def other_people(store: Store, release_id: str, people: int, slots: int, *, seed: int) -> Cells | None:
    """So many people who are not in the release, over its first slots; None where the lab has fewer."""
    found = store.frame(step("6_metrics/_control_person"), release_id=release_id)["person"].to_numpy()
    if len(found) < people:
        return None
    chosen = np.sort(np.random.default_rng(seed).permutation(found)[:people])
    visits = store.frame(
        step("6_metrics/_control_visit"), release_id=release_id, people=chosen.tolist(), slots=int(slots)
    )
    cells = store.frame(
        "select cell.cell from grid.cell as cell join counts.release as release using (index_id) "
        "where release.release_id = $id order by cell.cell",
        id=release_id,
    )["cell"].to_numpy()
    ((fill,),) = store.rows("select fill from counts.release where release_id = $id", id=release_id)
    lived = np.full((people, slots), -1, dtype=np.int32)
    row = np.searchsorted(chosen, visits["person"].to_numpy())
    lived[row, visits["slot"].to_numpy()] = np.searchsorted(cells, visits["cell"].to_numpy())
    if fill != "none":
        lived = last_known(lived)
    lived = lived[(lived >= 0).any(axis=1)]
    return lived if len(lived) == people else None


def last_known(cells: Cells) -> Cells:
    """Empty slots filled with the cell known last, and before the first with the first."""
    slot = np.where(cells >= 0, np.arange(cells.shape[1]), -1)
    first = np.argmax(cells >= 0, axis=1)
    latest = np.maximum.accumulate(slot, axis=1)
    filled: Cells = np.take_along_axis(cells, np.where(latest < 0, first[:, None], latest), axis=1)
    return filled


def _can_be_optimal(side: Sides, xy: Metres) -> bool:
    visited = np.unique(np.concatenate([np.unique(side.tracks), np.unique(side.people)]))
    most = max(len(side.tracks), len(side.people))
    return most <= optimal.UP_TO and bool(np.isfinite(xy[visited[visited >= 0]]).all())


def _scores(pairing: str, side: Sides, xy: Metres) -> Metres:
    """For every person METRICS, NaN where there is no value: as metrics.person_recovery has them."""
    if not len(side.tracks):
        return np.tile([0.0, 0.0, np.nan], (int((side.people >= 0).any(axis=1).sum()), 1))
    whole = Part(2, 0, side.people.shape[1])
    pairs = pair(pairing, side.tracks, side.people, xy, [whole]).sort("person")
    slots, hits, edits = (pairs[name].to_numpy().astype(np.float64) for name in ("slots", "hits", "edits"))
    track = pairs["track"].fill_null(-1).to_numpy()
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.column_stack([hits / slots, (slots - edits) / slots, _errors(side, track, xy)])
    known: Metres = values[slots > 0]
    return known


def _errors(side: Sides, track: Numbers, xy: Metres) -> Metres:
    """Mean distance of each person to their track, in metres to the millimetre."""
    found = np.full(len(track), np.nan)
    for start in range(0, len(track), ROWS):
        some = slice(start, start + ROWS)
        true = side.people[some]
        taken = np.where(track[some, None] >= 0, side.tracks[track[some]], -1)
        both = (true >= 0) & (taken >= 0)
        apart = xy[taken] - xy[true]
        metres = np.where(both, np.round(optimal.distances(apart[..., 0], apart[..., 1]), 3), 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            found[some] = np.rint(metres * 1000).sum(axis=1) / 1000 / both.sum(axis=1)
    return found
