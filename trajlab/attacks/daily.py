"""One day of counts to one day of tracks: an optimal matching from each slot to the next.

People with the same cost row are interchangeable, so sources are groups of them. Where the
cost is the distance from a single predicted point, whoever is predicted where somebody is
counted stays there at no cost in some optimal plan (triangle inequality); that mass is
taken out first. It is not so for the nearest of several points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajlab.attacks.city import City, Ints
from trajlab.attacks.watch import Step, Watch
from trajlab.matching import Plan, nearest_first, spread, transport
from trajlab.matching.ties import keys


@dataclass(frozen=True, slots=True)
class Successors:
    """Where tracks most often went next from each cell: `cell[first[p]:first[p + 1]]`, none where never seen."""

    first: Ints
    cell: Ints


def first_slot(city: City, day: int) -> Ints:
    """Any labelling of the counts: tracks in the order of cells."""
    return np.repeat(np.arange(city.cells), city.day(day)[0])


def stay_near(city: City, day: int, slot: int, now: Ints, watch: Watch, *, link_below: float, threads: int) -> Ints:
    """The night rule: cost = distance from the current cell."""
    source = np.flatnonzero(np.bincount(now, minlength=city.cells))
    position = np.empty(city.cells, dtype=np.int64)
    position[source] = np.arange(len(source))
    return _step(city, day, slot, "night", position[now], city.code(city.x, city.y)[source], watch, link_below, threads)


def keep_going(
    city: City, day: int, slot: int, before: Ints, now: Ints, watch: Watch, *, link_below: float, threads: int
) -> Ints:
    """The day rule: cost = distance from 2·current − previous."""
    code = city.code(2 * city.x[now] - city.x[before], 2 * city.y[now] - city.y[before])
    predicted, member = np.unique(code, return_inverse=True)
    return _step(city, day, slot, "day", member, predicted, watch, link_below, threads)


def follow_habit(
    city: City, day: int, slot: int, before: Ints, now: Ints, habit: Successors, watch: Watch, *, threads: int
) -> Ints:
    """dsilva2024, eq. 4: cost = distance from the nearest of 2·current − previous and the usual next cells."""
    pair, member = np.unique(now * city.cells + before, return_inverse=True)
    current, previous = pair // city.cells, pair % city.cells
    usual = np.diff(habit.first)[current]
    first = np.concatenate([[0], np.cumsum(usual + 1)])
    x, y = np.empty(first[-1], dtype=np.int64), np.empty(first[-1], dtype=np.int64)
    x[first[:-1]] = 2 * city.x[current] - city.x[previous]
    y[first[:-1]] = 2 * city.y[current] - city.y[previous]
    rest = np.ones(len(x), dtype=bool)
    rest[first[:-1]] = False
    which = np.repeat(habit.first[current] - (first[:-1] - np.arange(len(pair))), usual) + np.arange(int(usual.sum()))
    x[rest], y[rest] = city.x[habit.cell[which]], city.y[habit.cell[which]]
    demand = city.day(day)[slot + 1]
    sinks = np.flatnonzero(demand)
    plan = transport(
        city.metres(x, y),
        np.bincount(member),
        city.xy[sinks],
        demand[sinks],
        source_keys=keys(city.seed, current, previous),
        sink_keys=city.cell_keys[sinks],
        first=first[:-1],
        threads=threads,
    )
    _tell(city, day, slot, "day", plan, len(pair), len(sinks), watch)
    return sinks[spread(plan, member, city.chance(day, slot))]


def _step(
    city: City,
    day: int,
    slot: int,
    stage: str,
    member: Ints,
    predicted: Ints,
    watch: Watch,
    link_below: float,
    threads: int,
) -> Ints:
    """Match groups, each predicted at one lattice point, with the counts of the next slot."""
    supply = np.bincount(member, minlength=len(predicted))
    demand = city.day(day)[slot + 1].copy()
    at = city.cell_at(predicted)
    source = np.flatnonzero(at >= 0)
    cell = at[source]
    stays = np.minimum(supply[source], demand[cell])
    supply[source] -= stays
    demand[cell] -= stays
    made = [(source, cell, stays)]
    plan = Plan.nothing()
    left, right = np.flatnonzero(supply), np.flatnonzero(demand)
    if link_below > 0 and len(left):
        linked = nearest_first(
            city.metres(*city.decode(predicted[left])), supply[left], city.xy[right], demand[right], link_below
        )
        np.subtract.at(supply, left[linked.source], linked.amount)
        np.subtract.at(demand, right[linked.sink], linked.amount)
        made.append((left[linked.source], right[linked.sink], linked.amount))
        left, right = np.flatnonzero(supply), np.flatnonzero(demand)
    if len(left):
        plan = transport(
            city.metres(*city.decode(predicted[left])),
            supply[left],
            city.xy[right],
            demand[right],
            source_keys=keys(city.seed, predicted[left]),
            sink_keys=city.cell_keys[right],
            threads=threads,
        )
        made.append((left[plan.source], right[plan.sink], plan.amount))
    _tell(city, day, slot, stage, plan, len(left), len(right), watch)
    source, cell, amount = (np.concatenate(part) for part in zip(*made, strict=True))
    return spread(Plan.of(source, cell, amount), member, city.chance(day, slot))


def _tell(city: City, day: int, slot: int, stage: str, plan: Plan, sources: int, sinks: int, watch: Watch) -> None:
    at = day * city.slots_per_day + slot + 1
    watch.done(Step(at, stage, sources, sinks, plan.cost, plan.bound, plan.rounds))
