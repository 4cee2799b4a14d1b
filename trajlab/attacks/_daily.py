"""One day of counts to one day of tracks: an optimal matching from each slot to the next.

People with the same cost row are interchangeable, so sources are groups of them. A group
that is expected at one point, where somebody is counted, stays there at no cost in some
optimal plan: whoever else was to go there can take its place elsewhere for no more than the
detour (triangle inequality). That mass is taken out first. It is not so for a group that is
expected at the nearest of several points: it may be as cheap elsewhere.

Who of a group goes where costs nothing, and decides more than anything else how much is
recovered. Each goes where it has been longest that day, as far as the plan has room: who has
been in a cell longest stays when some must leave, and who was there before comes back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajlab.attacks._city import City, Floats, Ints
from trajlab.attacks._steps import Step, StepLog
from trajlab.matching import Plan, Weights, nearest_first, spread, transport
from trajlab.matching.ties import keys


@dataclass(frozen=True, slots=True)
class Successors:
    """Where tracks most often went next from each cell: `cell[first[p]:first[p + 1]]`, none where never seen."""

    first: Ints
    cell: Ints


class Day:
    """A day under way: the rules by which tracks go from one slot to the next, slots in order."""

    def __init__(self, city: City, number: int, log: StepLog, *, link_below: float = 0.0, threads: int = 1) -> None:
        self.city, self.number, self.log = city, number, log
        self.link_below, self.threads = link_below, threads
        self.counts = city.day(number)
        self._visits: Weights

    def first(self) -> Ints:
        """Any labelling of the first counts: tracks in the order of cells."""
        now = np.repeat(np.arange(self.city.cells), self.counts[0])
        self._visits = Weights(now, self.city.cells)
        return now

    def stay_near(self, slot: int, now: Ints) -> Ints:
        """The night rule: cost = distance from the current cell."""
        going, member = np.unique(self.city.codes[now], return_inverse=True)
        return self._from_one_point(slot, "night", member, going)

    def keep_going(self, slot: int, before: Ints, now: Ints) -> Ints:
        """The day rule: cost = distance from 2·current − previous."""
        going, member = np.unique(self.city.ahead(before, now), return_inverse=True)
        return self._from_one_point(slot, "day", member, going)

    def follow_habit(self, slot: int, before: Ints, now: Ints, habit: Successors) -> Ints:
        """dsilva2024, eq. 4: cost = distance from the nearest of 2·current − previous and the usual next cells."""
        city = self.city
        pair, member = np.unique(now * city.cells + before, return_inverse=True)
        current, previous = pair // city.cells, pair % city.cells
        going = city.ahead(previous, current)
        usual = np.diff(habit.first)[current]
        only = np.where(usual == 1, habit.cell[np.minimum(habit.first[current], len(habit.cell) - 1)], current)
        one_point = (usual == 0) | ((usual == 1) & (city.codes[only] == going))
        label = np.where(one_point, 2 * going + 1, 2 * pair)  # those expected at the same single point are one group
        label, group, place = np.unique(label, return_index=True, return_inverse=True)
        flow = _Flow(np.bincount(place[member]), self.counts[slot + 1])
        flow.stay(np.where(one_point[group], city.cell_at(going[group]), -1))
        left, right = flow.left()
        plan = Plan.nothing()
        if len(left):
            points, first = _points(city, going[group[left]], current[group[left]], habit)
            plan = self._transport(points, flow.supply[left], right, flow.demand[right], label[left], first)
            flow.take(left[plan.source], right[plan.sink], plan.amount)
        return self._done(slot, "day", flow, place[member], plan, len(left), len(right))

    def _from_one_point(self, slot: int, stage: str, member: Ints, going: Ints) -> Ints:
        """Groups that are each expected at one lattice point."""
        flow = _Flow(np.bincount(member, minlength=len(going)), self.counts[slot + 1])
        flow.stay(self.city.cell_at(going))
        left, right = flow.left()
        plan = Plan.nothing()
        if self.link_below > 0 and len(left):
            points, sinks = self.city.points(going[left]), self.city.xy[right]
            near = nearest_first(points, flow.supply[left], sinks, flow.demand[right], self.link_below)
            flow.take(left[near.source], right[near.sink], near.amount)
            left, right = flow.left()
        if len(left):
            points = self.city.points(going[left])
            plan = self._transport(points, flow.supply[left], right, flow.demand[right], going[left], None)
            flow.take(left[plan.source], right[plan.sink], plan.amount)
        return self._done(slot, stage, flow, member, plan, len(left), len(right))

    def _transport(
        self, points: Floats, supply: Ints, cells: Ints, demand: Ints, label: Ints, first: Ints | None
    ) -> Plan:
        return transport(
            points,
            supply,
            self.city.xy[cells],
            demand,
            source_keys=keys(self.city.seed, label),
            sink_keys=self.city.cell_keys[cells],
            first=first,
            largest=self.city.reach,
            threads=self.threads,
        )

    def _done(self, slot: int, stage: str, flow: _Flow, member: Ints, plan: Plan, sources: int, sinks: int) -> Ints:
        """The next cell of every track; tells the log what the optimal part of the step cost."""
        at = self.number * self.city.slots_per_day + slot + 1
        self.log.add(Step(at, stage, sources, sinks, plan.cost, plan.bound, plan.rounds))
        now = spread(flow.taken(), member, self.city.track_keys, self._visits.leanings)
        self._visits.add(now)
        return now


class _Flow:
    """How many of each group are still to be placed, and where there is still room."""

    def __init__(self, supply: Ints, demand: Ints) -> None:
        self.supply, self.demand = supply, demand.copy()
        self._taken: list[tuple[Ints, Ints, Ints]] = []

    def stay(self, at: Ints) -> None:
        """Leave groups in the cell where they are expected, as many as are counted there; -1: nowhere."""
        source = np.flatnonzero(at >= 0)
        self.take(source, at[source], np.minimum(self.supply[source], self.demand[at[source]]))

    def left(self) -> tuple[Ints, Ints]:
        return np.flatnonzero(self.supply), np.flatnonzero(self.demand)

    def take(self, source: Ints, cell: Ints, amount: Ints) -> None:
        np.subtract.at(self.supply, source, amount)
        np.subtract.at(self.demand, cell, amount)
        self._taken.append((source, cell, amount))

    def taken(self) -> Plan:
        source, cell, amount = (np.concatenate(part) for part in zip(*self._taken, strict=True))
        return Plan(source, cell, amount)


def _points(city: City, going: Ints, current: Ints, habit: Successors) -> tuple[Floats, Ints]:
    """For each group where it is going and its usual next cells, one group after another; where each begins."""
    usual = np.diff(habit.first)[current]
    first = np.cumsum(usual + 1) - usual - 1
    code = np.empty(int((usual + 1).sum()), dtype=np.int64)
    code[first] = going
    rest = np.ones(len(code), dtype=bool)
    rest[first] = False
    begin = np.cumsum(usual) - usual
    code[rest] = city.codes[habit.cell[np.arange(int(usual.sum())) + np.repeat(habit.first[current] - begin, usual)]]
    return city.points(code), first
