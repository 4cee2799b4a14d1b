"""An adversary who watched nobody, and reads off the table itself how full places are and when people are out.

As in "A Zero Auxiliary Knowledge Membership Inference Attack on Aggregate Location Data" (PoPETs 2024): a made-up
person is somewhere at a time with the share of that place and the share of that time, one visit independent of the
next. What a group of such people counts needs no simulating: it follows the law of likelihood.py, with the rate
people × share of the time × share of the place. How far real counts stray from that is read off the table too,
as the law under which the table is likeliest. Hidden counts are filled in with what is expected of them, and a
cell's total under noise is believed as far as totals differ by more than noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trajlab.membership.channel import HIDDEN, Channel, symbols
from trajlab.membership.likelihood import PRIOR, beta_binomial, law_in, law_out, log_ratio
from trajlab.membership.reference import Points

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

KNOWN = (10.0, 1.0, 0.3, 0.1, 0.03, 0.01)
"""How well a rate may be known: as if so many times the group's people had been watched."""
LEAST, BINS = 1e-3, 300
"""Expected counts are told apart in steps of a few per cent, from this one on."""
FILLS = 4
"""How often hidden counts are filled in."""
ENTRIES = 50_000
"""Entries of a table that are looked at to see how far it strays."""


@dataclass(frozen=True, slots=True)
class Fit:
    """One published table: the share of each slot, the people × slots of each cell, hidden ones filled in."""

    of_slot: Floats
    by_cell: Floats
    usual: float
    believed: float
    """What a cell has on average, and how much of the difference from that is believed: all of it without noise."""
    if_hidden: Floats
    """Slots × cells: the count that is expected where none is published."""
    known: int
    """How well rates are known: which of `KNOWN`."""


class Marginals:
    """Log ratios for a group of `people` whose counts go through a channel, for every expected count that matters."""

    def __init__(self, people: int, channel: Channel, top: int) -> None:
        self._top, self._noise = top, channel.noise_variance
        self._step = np.log((top + 1.0) / LEAST) / (BINS - 1)
        rate = np.minimum(LEAST * np.exp(self._step * np.arange(BINS)) / people, 0.999)
        matrix, surely = channel.matrix(top), np.ones(BINS)
        self._likelihood: list[Floats] = []
        self._ratio: list[Floats] = []
        for times in KNOWN:
            watched = np.full(BINS, max(times * people, 2.0))
            seen = rate * (watched + 2 * PRIOR) - PRIOR
            law = law_out(seen, watched, people, matrix)
            self._likelihood.append(np.log(np.maximum(law, 1e-300)))
            self._ratio.append(log_ratio(law_in(seen, watched, surely, people, matrix), law))
            if times == 1.0:
                below = beta_binomial(people, seen, watched, top) * matrix[:, HIDDEN]
                self._when_hidden = (below @ np.arange(top + 2.0)) / np.maximum(below.sum(axis=1), 1e-300)

    def read(self, values: Ints, hidden: Bools) -> Fit:
        """Fit expected counts to a published table (slots × cells)."""
        visible = np.where(hidden, 0, values).astype(float)
        if_hidden = np.full((1, 1), self._when_hidden[self._bins(np.array([1.0]))[0]])
        for _ in range(FILLS if hidden.any() else 1):
            filled = np.where(hidden, if_hidden, visible)
            by_cell, by_slot = filled.sum(axis=0), np.maximum(filled.sum(axis=1), LEAST)
            noise = len(values) * self._noise
            between = max(float(np.var(by_cell)) - noise, 0.0)
            usual, believed = float(by_cell.mean()), between / (between + noise) if noise else 1.0
            fit = Fit(by_slot / by_slot.sum(), by_cell, usual, believed, if_hidden, 0)
            bins = self._bins(fit.of_slot[:, None] * _total(fit, by_cell))
            if_hidden = self._when_hidden[bins] if hidden.any() else if_hidden
        every = -(-values.size // ENTRIES)
        published = symbols(values.ravel()[::every], hidden.ravel()[::every], self._top)
        likelihood = [float(law[bins.ravel()[::every], published].sum()) for law in self._likelihood]
        return Fit(fit.of_slot, by_cell, usual, believed, np.broadcast_to(if_hidden, values.shape),
                   int(np.argmax(likelihood)))  # fmt: skip

    def ratio(self, fit: Fit, points: Points, by_cell: Floats, published: Ints) -> Floats:
        """Log ratios at points: `by_cell` is the total of the cell of each, `published` its symbol."""
        bins = self._bins(fit.of_slot[points.slot] * _total(fit, by_cell))
        found: Floats = self._ratio[fit.known][bins, published]
        return found

    def _bins(self, expected: Floats) -> Ints:
        place = np.log(np.maximum(expected, LEAST) / LEAST) / self._step
        bins: Ints = np.minimum(np.rint(place), BINS - 1).astype(np.int64)
        return bins


def _total(fit: Fit, by_cell: Floats) -> Floats:
    return np.maximum(fit.usual + fit.believed * (by_cell - fit.usual), LEAST)
