"""One day of counts to one day of tracks: an optimal matching from each slot to the next.

People with the same cost row are interchangeable, so sources are groups of them. A group
that is expected at one point, where somebody is counted, stays there at no cost in some
optimal plan: whoever else was to go there can take its place elsewhere for no more than the
detour (triangle inequality). That mass is taken out first. It is not so for a group that is
expected at the nearest of several points: it may be as cheap elsewhere.

Who of a group goes where costs nothing, and decides more than anything else how much is
recovered. Each goes where it has been longest that day, as far as the plan has room: who has
been in a cell longest stays when some must leave, and who was there before comes back.

Where counts are only known from a lowest to a highest number, or with noise, a cell takes any number
between, or one beyond at a price, and whoever no cell takes goes outside. Who is sure to be counted in the cell
where they are expected, which is up to the lowest number, stays there for the same reason as above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajlab.attacks._city import City, Floats, Ints
from trajlab.attacks._steps import Step, StepLog
from trajlab.attacks._tables import likely_counts
from trajlab.matching import Plan, Weights, nearest_first, spread, transport, transport_within
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
        self.low, self.high = city.day(number)
        self._visits: Weights

    @property
    def slots(self) -> int:
        return len(self.low)

    def first(self) -> Ints:
        """Any labelling of the first counts: tracks in the order of cells."""
        city, counts = self.city, self.low[0]
        if not city.exact:
            noisy = not np.isinf(city.price)
            counts = likely_counts(counts, self.high[0], people=city.people, noisy=noisy, weight=city.weight)
            counts = np.append(counts, city.people - counts.sum())
        now = np.repeat(np.arange(city.places), counts)
        self._visits = Weights(now, city.places)
        return now

    def stay_near(self, slot: int, now: Ints) -> Ints:
        """The night rule: cost = distance from the current cell."""
        inside = self._inside(now)
        going, member = np.unique(self.city.codes[now[inside]], return_inverse=True)
        return self._from_one_point(slot, "night", self._members(inside, member, len(going)), going)

    def keep_going(self, slot: int, before: Ints, now: Ints) -> Ints:
        """The day rule: cost = distance from 2·current − previous."""
        inside = self._inside(now)
        going, member = np.unique(self.city.ahead(before[inside], now[inside]), return_inverse=True)
        return self._from_one_point(slot, "day", self._members(inside, member, len(going)), going)

    def follow_habit(self, slot: int, before: Ints, now: Ints, habit: Successors) -> Ints:
        """dsilva2024, eq. 4: cost = distance from the nearest of 2·current − previous and the usual next cells."""
        city = self.city
        inside = self._inside(now)
        pair, member = np.unique((now * city.places + before)[inside], return_inverse=True)
        current, previous = pair // city.places, pair % city.places
        going = city.ahead(previous, current)
        usual = np.diff(habit.first)[current]
        only = np.where(usual == 1, habit.cell[np.minimum(habit.first[current], len(habit.cell) - 1)], current)
        one_point = (usual == 0) | ((usual == 1) & (city.codes[only] == going))
        came = np.where(previous < city.cells, current * city.cells + previous, -1 - current)
        label = np.where(one_point, 2 * going + 1, 2 * came)  # those expected at the same single point are one group
        label, group, place = np.unique(label, return_index=True, return_inverse=True)
        member = self._members(inside, place[member], len(label))
        flow = self._flow(slot, member, len(label))
        flow.stay(np.where(one_point[group], city.cell_at(going[group]), -1))
        left, right = flow.left()
        plan = Plan.nothing()
        if flow.unsettled:
            points, first = _points(city, going[group[left]], current[group[left]], habit)
            plan = self._transport(flow, left, right, points, label[left], first)
        return self._done(slot, "day", flow, member, plan, len(left), len(right))

    def _inside(self, now: Ints) -> Ints | slice:
        return slice(None) if self.city.exact else np.flatnonzero(now < self.city.cells)

    def _members(self, inside: Ints | slice, member: Ints, groups: int) -> Ints:
        """The group of every track; those outside are one more."""
        if isinstance(inside, slice):
            return member
        every = np.full(self.city.people, groups)
        every[inside] = member
        return every

    def _flow(self, slot: int, member: Ints, groups: int) -> _Flow:
        supply = np.bincount(member, minlength=groups + 1)
        return _Flow(supply, self.low[slot + 1], self.high[slot + 1], self.city.price)

    def _from_one_point(self, slot: int, stage: str, member: Ints, going: Ints) -> Ints:
        """Groups that are each expected at one lattice point."""
        flow = self._flow(slot, member, len(going))
        flow.stay(self.city.cell_at(going))
        left, right = flow.left()
        plan = Plan.nothing()
        if self.link_below > 0 and len(left):
            sure = np.flatnonzero(flow.low[:-1] > 0)
            points, sinks = self.city.points(going[left]), self.city.xy[sure]
            near = nearest_first(points, flow.supply[left], sinks, flow.low[sure], self.link_below)
            flow.take(left[near.source], sure[near.sink], near.amount)
            left, right = flow.left()
        if flow.unsettled:
            plan = self._transport(flow, left, right, self.city.points(going[left]), going[left], None)
        return self._done(slot, stage, flow, member, plan, len(left), len(right))

    def _transport(self, flow: _Flow, left: Ints, right: Ints, points: Floats, label: Ints, first: Ints | None) -> Plan:
        """The cheapest way for those still to be placed to where there is room; `flow` takes it."""
        city = self.city
        source_keys, sink_keys = keys(city.seed, label), city.cell_keys[right]
        sinks, low, high, supply = city.xy[right], flow.low[right], flow.high[right], flow.supply[left]
        if city.exact:
            plan = transport(
                points, supply, sinks, low, source_keys=source_keys, sink_keys=sink_keys, first=first,
                largest=city.reach, threads=self.threads,
            )  # fmt: skip
        else:
            plan = transport_within(
                points, supply, sinks, low, high, price=city.price, waiting=int(flow.supply[-1]),
                aside=city.outside_price, source_keys=source_keys, sink_keys=sink_keys, first=first,
                largest=city.reach, threads=self.threads,
            )  # fmt: skip
            left, right = np.append(left, len(flow.supply) - 1), np.append(right, city.cells)
        flow.take(left[plan.source], right[plan.sink], plan.amount)
        return plan

    def _done(self, slot: int, stage: str, flow: _Flow, member: Ints, plan: Plan, sources: int, sinks: int) -> Ints:
        """The next cell of every track; tells the log what the optimal part of the step cost."""
        at = self.number * self.city.slots_per_day + slot + 1
        self.log.add(Step(at, stage, sources, sinks, plan.cost, plan.bound, plan.rounds))
        now = spread(flow.taken(), member, self.city.track_keys, self._visits.leanings)
        self._visits.add(now)
        return now


class _Flow:
    """How many of each group are still to be placed, and where there is still room.

    The last group are those outside, the last place is outside: it takes everybody.
    """

    def __init__(self, supply: Ints, low: Ints, high: Ints, price: float) -> None:
        self.supply, self.price = supply, price
        self.low, self.high = np.append(low, 0), np.append(high, supply.sum())
        self._taken: list[tuple[Ints, Ints, Ints]] = []

    def stay(self, at: Ints) -> None:
        """Leave groups in the cell where they are expected, as many as are sure to be counted there; -1: nowhere."""
        source = np.flatnonzero(at >= 0)
        self.take(source, at[source], np.minimum(self.supply[source], np.maximum(self.low[at[source]], 0)))

    def left(self) -> tuple[Ints, Ints]:
        """Groups with somebody to place, and cells that may take somebody."""
        rooms = self.high[:-1] > 0 if np.isinf(self.price) else np.ones(len(self.high) - 1, dtype=bool)
        return np.flatnonzero(self.supply[:-1]), np.flatnonzero(rooms)

    @property
    def unsettled(self) -> bool:
        return bool(self.supply.any())

    def take(self, source: Ints, cell: Ints, amount: Ints) -> None:
        np.subtract.at(self.supply, source, amount)
        np.subtract.at(self.low, cell, amount)
        np.subtract.at(self.high, cell, amount)
        self._taken.append((source, cell, amount))

    def taken(self) -> Plan:
        source, cell, amount = (np.concatenate(part) for part in zip(*self._taken, strict=True))
        pair, which = np.unique(source * len(self.high) + cell, return_inverse=True)
        return Plan(pair // len(self.high), pair % len(self.high), np.bincount(which, amount).astype(np.int64))


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
