"""How much more likely a published value is with a person in the table than without, in closed form.

Of R people (or people and days) whom the adversary watched, n were in a cell at a time. What a group of g
others does there then follows a beta-binomial law: a binomial one whose rate is known from n of R,
no better. With the target in the group, g - 1 others are, and the target with chance q; the channel of
the recipe (channel.py) says how the sum is published. All of it are finite sums, and they add up to one.

A group of two, nothing protected, 1 of 2 watched, the target surely there: a count of 0 rules the target out.

>>> exact, seen, watched, surely = np.eye(4, 6, 2), np.array([1.0]), np.array([2.0]), np.array([1.0])
>>> law_in(seen, watched, surely, 2, exact)[0, 2:5].tolist()
[0.0, 0.5, 0.5]
>>> np.round(law_out(seen, watched, 2, exact)[0, 2:5], 4).tolist()
[0.3125, 0.375, 0.3125]
>>> np.round(log_ratios(seen, watched, surely, 2, exact).ratio[0, 2:5], 2).tolist()
[-1000000.0, 0.29, 0.47]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, gammaln

Floats = npt.NDArray[np.float64]

PRIOR = 0.5
"""What is added to those seen in a cell and to those seen elsewhere: nobody seen does not mean that nobody comes."""
RULED_OUT = -1e6
"""The log ratio of what cannot be published with the target in the table, and can without."""
_TINY = 1e-280


@dataclass(frozen=True, slots=True)
class Ratios:
    """Log ratios: rows are kinds of points, columns are symbols of the channel. The rest is one value per row.

    `gain` is how far the mean of the log ratio rises when the target comes in, `variance` what it has while the
    target is out, both without symbols that rule the target out. `pull` is how far it follows the true count,
    as a correlation: near 1 where counts are exact, near 0 under much noise.
    """

    ratio: Floats
    gain: Floats
    variance: Floats
    pull: Floats


def beta_binomial(trials: int, seen: Floats, watched: Floats, top: int) -> Floats:
    """Chances of 0 … top people out of `trials`, and in the last column of more; one row for each rate."""
    law = np.zeros((len(seen), top + 2))
    most = min(trials, top)
    count = np.arange(most + 1.0)
    inside, outside = seen[:, None] + PRIOR, (watched - seen)[:, None] + PRIOR
    ways = gammaln(trials + 1) - gammaln(count + 1) - gammaln(trials - count + 1)
    law[:, : most + 1] = np.exp(ways + betaln(inside + count, outside + trials - count) - betaln(inside, outside))
    if trials > top:
        law[:, -1] = np.maximum(1 - law[:, :-1].sum(axis=1), 0.0)
    return law


def law_out(seen: Floats, watched: Floats, people: int, channel: Floats) -> Floats:
    """Chances of every symbol of a channel (`Channel.matrix`) for a group of `people` without the target."""
    law: Floats = beta_binomial(people, seen, watched, len(channel) - 2) @ channel
    return law


def law_in(seen: Floats, watched: Floats, chance: Floats, people: int, channel: Floats) -> Floats:
    """The same with the target among the `people`, who is there with a chance."""
    others = beta_binomial(people - 1, seen, watched, len(channel) - 2)
    one_more = np.concatenate([np.zeros((len(seen), 1)), others[:, :-1]], axis=1)
    one_more[:, -1] += others[:, -1]
    law: Floats = (chance[:, None] * one_more + (1 - chance)[:, None] * others) @ channel
    return law


def log_ratio(inside: Floats, outside: Floats) -> Floats:
    """The difference log P(symbol | target in) - log P(symbol | target out); 0 where neither ever comes."""
    ratio = np.log(np.maximum(inside, _TINY)) - np.log(np.maximum(outside, _TINY))
    return np.where((inside < _TINY) & (outside > np.sqrt(_TINY)), RULED_OUT, ratio)


def log_ratios(seen: Floats, watched: Floats, chance: Floats, people: int, channel: Floats) -> Ratios:
    """Log ratios for a group of `people`: `seen` of `watched` others were there, the target is with `chance`."""
    inside = law_in(seen, watched, chance, people, channel)
    true = beta_binomial(people, seen, watched, len(channel) - 2)
    outside = true @ channel
    ratio = log_ratio(inside, outside)
    possible = ratio > RULED_OUT
    value = np.where(possible, ratio, 0.0)
    law = np.where(possible, outside, 0.0)
    law /= np.maximum(law.sum(axis=1, keepdims=True), _TINY)
    mean = (law * value).sum(axis=1)
    variance = np.maximum((law * value**2).sum(axis=1) - mean**2, 0.0)
    return Ratios(ratio, (inside * value).sum(axis=1) - mean, variance, _pull(value, true, outside, channel))


def _pull(value: Floats, true: Floats, law: Floats, channel: Floats) -> Floats:
    """Correlation between the log ratio and the true count, for each row."""
    count = np.arange(true.shape[1], dtype=float)
    centre = count - (true * count).sum(axis=1, keepdims=True)
    mean = (law * value).sum(axis=1, keepdims=True)
    shared = (true * centre * (value @ channel.T - mean)).sum(axis=1)
    square = (law * (value - mean) ** 2).sum(axis=1) * (true * centre**2).sum(axis=1)
    correlation: Floats = shared / np.sqrt(np.maximum(square, _TINY))
    return np.clip(correlation, -1.0, 1.0)
