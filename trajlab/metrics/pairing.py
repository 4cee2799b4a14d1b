"""Who each recovered track is taken for, one to one, and how well the two agree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from trajlab.metrics import greedy, optimal
from trajlab.metrics.parts import Part

Cells = npt.NDArray[np.int32]
Metres = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

PAIRINGS = ("optimal", "greedy")


def pair(
    pairing: str,
    recovered: Cells,
    truth: Cells,
    xy: Metres,
    parts: list[Part],
    tell: Callable[[float, float], None] = lambda done, total: None,
) -> pl.DataFrame:
    """One row per part and person: their track, and in how many slots the two agree.

    `recovered` and `truth` are (tracks, slots) and (people, slots) arrays of cell numbers, -1 for
    nowhere; `track` and `person` are their row numbers, `track` null for a person who is left without one.
    """
    found = (
        optimal.match(recovered, truth, parts, xy, tell)
        if pairing == "optimal"
        else greedy.match(recovered, truth, parts, tell)
    )
    return pl.concat(_agreement(recovered, truth, part, track_of) for part, track_of in zip(parts, found, strict=True))


def _agreement(recovered: Cells, truth: Cells, part: Part, track_of: Numbers) -> pl.DataFrame:
    here = slice(part.first, part.stop)
    true = truth[:, here]
    found = np.where(track_of[:, None] >= 0, recovered[track_of, here], -1)
    known = true >= 0
    track = pl.Series("track", track_of)
    return pl.DataFrame(
        {
            "stage": np.full(len(truth), part.stage, dtype=np.int32),
            "from_slot": np.full(len(truth), part.first, dtype=np.int32),
            "person": np.arange(len(truth)),
            "track": track.set(track < 0, None),
            "slots": known.sum(axis=1),
            "hits": (known & (true == found)).sum(axis=1),
            "edits": _edits(np.where(known, found, -2), np.where(known, true, -2)),
        }
    )


def _edits(found: Cells, true: Cells) -> Numbers:
    """Levenshtein distance of each row of one array to the same row of the other.

    A row becomes a text with one character per cell, which is what the measure takes without
    looking at each slot in Python.
    """
    length = found.shape[1]
    words = [(cells + 3).astype("<u4").view(f"<U{length}").ravel().tolist() for cells in (found, true)]
    edits: Numbers = process.cpdist(*words, scorer=Levenshtein.distance, dtype=np.int64, workers=-1)
    return edits
