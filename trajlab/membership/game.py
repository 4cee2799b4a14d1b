"""The game of "Knock Knock, Who's There?" (NDSS 2018): is the target in the group behind this table, or not?

Groups are drawn at random, half of them with the target inside, their counts go through a recipe, and the
adversary scores what is published. The same groups serve all targets and all recipes. Nothing is trained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol
from zlib import crc32

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from trajlab.membership.channel import Channel, symbols
from trajlab.membership.groups import Crowd, Group
from trajlab.membership.likelihood import RULED_OUT, Ratios, log_ratios
from trajlab.membership.marginals import Fit, Marginals
from trajlab.membership.reference import Points, Reference
from trajlab.membership.weighing import weights

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Show = Callable[[float, float], None]

FINE = 64
"""Up to so many people seen, every number is a kind of point of its own; above, steps of two per cent are."""


@dataclass(frozen=True, slots=True)
class Watch:
    """What an adversary with a reference has: `rows` of the targets in it, None where they are not in it."""

    reference: Reference
    rows: Ints | None
    belief: float


class Adversary(Protocol):
    """Scores of all targets for one group, higher where the target is more likely to be in it."""

    def __call__(self, group: Group, table: Ints, counts: Ints, inside: Bools, rng: np.random.Generator) -> Floats: ...


def sides(targets: int, number: int, seed: int) -> Bools:
    """Which groups have which target inside: half of them, drawn for each target."""
    rng = np.random.default_rng([seed, 1])
    return rng.permuted(np.tile(np.arange(number) % 2 == 0, (targets, 1)), axis=1)


def play(
    crowd: Crowd,
    watch: Watch | None,
    sizes: Sequence[int],
    channels: Sequence[Channel],
    *,
    number: int,
    seed: int,
    show: Show = lambda done, total: None,
) -> dict[tuple[int, int], Floats]:
    """Scores (targets × groups) for every size and channel, by their places in the two lists.

    Without a `watch` the adversary has the table alone.
    """
    inside = sides(len(crowd.targets), number, seed)
    with threadpool_limits(limits=1, user_api="blas"):  # the last digits must not depend on the cores
        adversaries = _adversaries(crowd, watch, sizes, channels, lambda done: show(done, 2))
        played = {key: np.empty(inside.shape) for key in adversaries}
        for place, size in enumerate(sizes):
            rng = np.random.default_rng([seed, 2, size])
            for turn in range(number):
                group = crowd.draw(size, rng)
                table = crowd.table(group.members)
                counts = crowd.counts_at(group, table, inside[:, turn])
                for nth, channel in enumerate(channels):
                    chance = np.random.default_rng([seed, 3, size, turn, crc32(repr(channel).encode())])
                    played[place, nth][:, turn] = adversaries[place, nth](group, table, counts, inside[:, turn], chance)
                show(1 + (place + (turn + 1) / number) / len(sizes), 2)
    return played


def _adversaries(
    crowd: Crowd, watch: Watch | None, sizes: Sequence[int], channels: Sequence[Channel], show: Callable[[float], None]
) -> dict[tuple[int, int], Adversary]:
    fullest = int(crowd.table(np.arange(len(crowd.traces))).max(initial=0))
    cases = {
        (place, nth): (size, min(size, fullest + 1), channel)
        for place, size in enumerate(sizes)
        for nth, channel in enumerate(channels)
    }
    if watch is None:
        return {key: _reader(crowd, *case) for key, case in cases.items()}
    kinds, row = _kinds(crowd.points)
    ratios = {key: log_ratios(*kinds, size, channel.matrix(top)) for key, (size, top, channel) in cases.items()}
    weighed = {key: np.zeros(len(row)) for key in cases}
    for target, own in enumerate(_slices(crowd.points)):  # what counts share is found once for all cases
        known = None if watch.rows is None else int(watch.rows[target])
        shared = watch.reference.correlation(crowd.points, own, known)
        for key, table in ratios.items():
            weighed[key][own] = weights(table, row[own], shared, watch.reference.people, watch.belief)
        show((target + 1) / len(crowd.targets))
    return {
        key: _watcher(crowd.points, ratios[key], row, weighed[key], top, channel)
        for key, (_, top, channel) in cases.items()
    }


def _watcher(points: Points, ratios: Ratios, row: Ints, weight: Floats, top: int, channel: Channel) -> Adversary:
    """Log ratios by what was watched, weighed by what the counts share."""

    def score(group: Group, table: Ints, counts: Ints, inside: Bools, rng: np.random.Generator) -> Floats:
        found = ratios.ratio[row, symbols(*channel.publish(counts, rng), top)]
        return _sums(np.where(found == RULED_OUT, RULED_OUT, weight * found), points)

    return score


def _reader(crowd: Crowd, people: int, top: int, channel: Channel) -> Adversary:
    """Log ratios by what the table itself says."""
    marginals = Marginals(people, channel, top)

    def score(group: Group, table: Ints, counts: Ints, inside: Bools, rng: np.random.Generator) -> Floats:
        fit = marginals.read(*channel.publish(table, rng))
        totals = crowd.totals_at(group, fit.by_cell, *_steps(channel, table, fit), inside)
        seen = symbols(*channel.publish(counts, rng), top)
        return _sums(marginals.ratio(fit, crowd.points, totals, seen), crowd.points)

    return score


def _kinds(points: Points) -> tuple[tuple[Floats, Floats, Floats], Ints]:
    """Points that are alike share a row: seen, watched and chance of each row, and the row of each point."""
    steps = np.exp(np.rint(np.log(np.maximum(points.seen, 1.0)) * 50) / 50)
    seen = np.where(points.seen <= FINE, points.seen, np.minimum(steps, points.watched))
    kinds, row = np.unique(np.column_stack([seen, points.watched, points.chance]), axis=0, return_inverse=True)
    return (kinds[:, 0], kinds[:, 1], kinds[:, 2]), row.ravel()


def _steps(channel: Channel, table: Ints, fit: Fit) -> tuple[Floats, Floats]:
    """What one person more, and one less, in a slot and cell changes in what is published there."""
    if channel.noise_variance or not channel.steps:
        return np.ones(table.shape), np.ones(table.shape)
    rng = np.random.default_rng(0)  # of no consequence: without noise nothing is drawn

    def filled(counts: Ints) -> Floats:
        values, hidden = channel.publish(counts, rng)
        return np.where(hidden, fit.if_hidden, values)

    now = filled(table)
    return filled(table + 1) - now, now - filled(np.maximum(table - 1, 0))


def _slices(points: Points) -> Iterator[slice]:
    """The points of each target."""
    for first, end in zip(points.first, np.append(points.first[1:], len(points.slot)), strict=True):
        yield slice(int(first), int(end))


def _sums(values: Floats, points: Points) -> Floats:
    """Sums by target; a target without points has 0."""
    ends = np.append(points.first[1:], len(values))
    found: Floats = np.where(ends > points.first, np.add.reduceat(np.append(values, 0.0), points.first), 0.0)
    return np.round(found, 9)  # equal evidence is a tie on every machine
