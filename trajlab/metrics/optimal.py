"""Optimal pairing (dsilva2024, section VI): the one with the smallest total recovery error.

Exact, with a number for every pair of a track and a person, so it is offered for up to
`UP_TO` people. Distances count to the millimetre: sums of whole numbers are exact in any
order, so the pairs do not depend on how many threads added them up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from trajlab.metrics.parts import Part

Cells = npt.NDArray[np.int32]
Metres = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

UP_TO = 5_000
"""Most people who are paired optimally. Tracks that look all alike take longest: the yardstick
`shuffle` of 5,000 people needs some minutes, ten times more at twice the size."""

BLOCK = 256
"""People at a time: their sums stay in the processor's cache while the slots pass by."""


def match(
    recovered: Cells, truth: Cells, parts: list[Part], xy: Metres, tell: Callable[[float, float], None]
) -> Iterator[Numbers]:
    """For each part, the track of every person; -1 where there are fewer tracks than people.

    A night is the beginning of its day and everything is the sum of the days, so each slot is looked at once.
    """
    shape = (len(recovered), len(truth))
    everything, error = np.zeros(shape), np.zeros(shape)
    begun = reached = 0
    for number, part in enumerate(parts):
        tell(number, len(parts))
        if part.stage == 3:
            yield _assign(everything)
            continue
        if part.first != begun:
            begun = reached = part.first
            error[:] = 0
        error += total_error(recovered[:, reached : part.stop], truth[:, reached : part.stop], xy)
        reached = part.stop
        if part.stage == 2:
            everything += error
        yield _assign(error)


def total_error(recovered: Cells, truth: Cells, xy: Metres) -> Metres:
    """Millimetres between each track and each person, summed over the slots in which both are somewhere."""
    x, y = np.ascontiguousarray(xy.T)
    visited = [np.unique(cells, return_inverse=True) for cells in np.ascontiguousarray(recovered.T)]
    total = np.empty((len(recovered), len(truth)))

    def add_up(first: int) -> None:
        people = np.ascontiguousarray(truth[first : first + BLOCK].T)
        summed = np.zeros((len(recovered), people.shape[1]))
        in_slot = np.empty_like(summed)
        for person_cell, (track_cell, of_track) in zip(people, visited, strict=True):
            millimetres = distances(x[track_cell][:, None] - x[person_cell], y[track_cell][:, None] - y[person_cell])
            millimetres *= 1000
            np.rint(millimetres, out=millimetres)
            millimetres[track_cell < 0] = 0
            if person_cell.min() < 0:
                millimetres[:, person_cell < 0] = 0
            summed += np.take(millimetres, of_track, axis=0, out=in_slot, mode="clip")
        total[:, first : first + BLOCK] = summed

    with ThreadPoolExecutor() as pool:
        list(pool.map(add_up, range(0, len(truth), BLOCK)))
    return total


def distances(east: Metres, north: Metres) -> Metres:
    """Euclidean; the arrays given are used up."""
    east *= east
    north *= north
    east += north
    return np.sqrt(east, out=east)


def _assign(error: Metres) -> Numbers:
    """Who gets which track. What a row or a column has in common changes nothing but the time it takes."""
    from scipy.optimize import linear_sum_assignment  # half a second that only a pairing has to pay

    cost = error - np.rint(error.mean(axis=1, keepdims=True))
    cost -= np.rint(cost.mean(axis=0))
    tracks, people = linear_sum_assignment(cost)
    track_of = np.full(error.shape[1], -1, dtype=np.int64)
    track_of[people] = tracks
    return track_of
