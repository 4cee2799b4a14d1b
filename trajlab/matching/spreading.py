"""From amounts between groups to a sink for every single member.

Members of a source are alike to the plan, so who of them goes where costs nothing: it is a
tie, and the commonest one. A lottery in every step would exchange the same members over and
over. Here each goes, as far as the plan has room, where its own weight is largest (where it
has been most), the heaviest first; whatever that leaves open falls by keys that stay the
same from step to step.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from trajlab.matching.plan import Ints, Plan
from trajlab.matching.ties import Keys

Leanings = Callable[[Ints], tuple[Ints, Ints, npt.NDArray[np.int64] | npt.NDArray[np.float64]]]
"""For some members: member, sink and weight of each sink that they lean towards."""


class Weights:
    """How often each member was at each sink; what never was is not kept."""

    def __init__(self, sink_of: Ints, sinks: int) -> None:
        self._sinks, self._line = sinks, np.arange(len(sink_of)) * sinks
        self._pair = np.append(self._line + sink_of, np.iinfo(np.int64).max)  # the last one stands behind every pair
        self._times = np.ones(len(self._pair), dtype=np.int64)

    def add(self, sink_of: Ints) -> None:
        """Once more for every member and its sink."""
        pair = self._line + sink_of
        at = np.searchsorted(self._pair, pair)
        known = self._pair[at] == pair
        self._times[at[known]] += 1
        if not known.all():
            self._pair = np.insert(self._pair, at[~known], pair[~known])
            self._times = np.insert(self._times, at[~known], 1)

    def leanings(self, members: Ints) -> tuple[Ints, Ints, Ints]:
        first = np.searchsorted(self._pair, self._line[members])
        many = np.searchsorted(self._pair, self._line[members] + self._sinks) - first
        at = np.repeat(first - np.cumsum(many) + many, many)
        at += np.arange(len(at))
        return np.repeat(members, many), self._pair[at] % self._sinks, self._times[at]


def spread(plan: Plan, source_of: Ints, keys: Keys, leanings: Leanings | None = None) -> Ints:
    """A sink for every member: where it leans most, as far as there is room; else by the order of keys.

    `source_of` names each member's source; each source has as many members as its supply.
    """
    used = np.flatnonzero(plan.amount)
    used = used[np.lexsort((plan.sink[used], plan.source[used]))]
    source, sink, room = plan.source[used], plan.sink[used], plan.amount[used]
    first = np.searchsorted(source, np.arange(int(source_of.max(initial=-1)) + 2))
    end_of = first[source_of]
    alone = first[1:] - first[:-1] == 1
    members = np.flatnonzero(~alone[source_of])
    if len(members):
        room[alone[source]] = 0
        if leanings is not None:
            member, goal, weight = leanings(members)
            end = _position(source, sink, source_of[member], goal)
            heaviest = np.lexsort((keys[member], -weight))
            heaviest = heaviest[end[heaviest] >= 0]
            end_of[members] = -1
            _first_come(member[heaviest], end[heaviest], room, end_of)
            members = members[end_of[members] < 0]
        members = members[np.lexsort((keys[members], source_of[members]))]
        end_of[members] = np.repeat(np.arange(len(room)), room)
    return sink[end_of]


def _position(source: Ints, sink: Ints, of_source: Ints, to_sink: Ints) -> Ints:
    """Where each pair stands among the sorted pairs of a plan, or -1."""
    width = int(max(sink.max(), to_sink.max(initial=0))) + 1
    pair = of_source * width + to_sink
    pairs = source * width + sink
    at = np.minimum(np.searchsorted(pairs, pair), len(pairs) - 1)
    return np.where(pairs[at] == pair, at, -1)


def _first_come(member: Ints, end: Ints, room: Ints, end_of: Ints) -> None:
    """Give each wish, in order, what it asks for, if its member has nothing yet and there is room.

    Many at a time: a wish is sure to be met that is its member's first and stands, among all
    wishes for its end, within the room. Both `room` and `end_of` are brought up to date.
    """
    first = np.empty(len(end_of), dtype=np.int64)
    while len(member):
        number = np.arange(len(member))
        first[member[::-1]] = number[::-1]  # of several, the last that is written stays
        by_end = np.argsort(end, kind="stable")
        there = end[by_end]
        within = np.empty(len(member), dtype=bool)
        within[by_end] = number - np.searchsorted(there, there) < room[there]
        sure = within & (first[member] == number)
        end_of[member[sure]] = end[sure]
        room -= np.bincount(end[sure], minlength=len(room))
        still = (end_of[member] < 0) & (room[end] > 0)
        member, end = member[still], end[still]
