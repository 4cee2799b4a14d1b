"""One answer out of many samples, and how sure it is.

In every slot each track gets the cell in which most of its samples are, as far as the counts
allow: an assignment. A track on which all samples agree keeps its cell, so the assignment is
among the others alone. The share of samples that agree with the answer is its confidence.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from trajlab.attacks._habits_model import Cells


def vote(samples: list[Cells]) -> tuple[Cells, npt.NDArray[np.float32]]:
    """The tracks that agree with the samples most, slot by slot, and the share that agrees."""
    answer = samples[-1].copy()
    for slot in range(answer.shape[1]):
        cells = np.stack([sample[:, slot] for sample in samples], axis=1)
        unsure = np.flatnonzero((cells != cells[:, :1]).any(axis=1))
        if len(unsure):
            answer[unsure, slot] = _elect(cells[unsure])
    agree = np.zeros(answer.shape, dtype=np.float32)
    for sample in samples:
        agree += sample == answer
    return answer, agree / np.float32(len(samples))


def _elect(cells: Cells) -> Cells:
    """Tracks × samples of one slot to one cell each; tracks that share no cell are told apart first."""
    place, column = np.unique(cells, return_inverse=True)
    column = column.reshape(cells.shape)
    row = np.repeat(np.arange(len(cells)), cells.shape[1])
    votes = coo_array((np.ones(cells.size), (row, column.ravel())), shape=(len(cells), len(place))).tocsr()
    _, part = connected_components(votes @ votes.T, directed=False)
    chosen = cells[:, -1].copy()
    for members in np.split(np.argsort(part, kind="stable"), np.cumsum(np.bincount(part))[:-1]):
        seat = column[members, -1]
        won = votes[members].toarray()[:, seat]
        chosen[members] = place[seat[linear_sum_assignment(-won)[1]]]
    return chosen
