"""Beliefs where there are too many people and cells for one in every cell: each track has a short list of cells.

The rounds are those of `_habits_beliefs`: messages backwards, then forwards while every slot is balanced, and habits
counted again. A belief lives on the track's list of the day (`_habits_lists`), which is made anew in every round.
People are divided into parts that do not depend on how many threads there are, and what parts add up is added in
their order, so the tracks do not either.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from trajlab.attacks._city import City
from trajlab.attacks._habits_beliefs import AWAY, FULL, GENTLE, NEAR, REFIT
from trajlab.attacks._habits_lists import (
    Lists,
    first_lists,
    from_home,
    most_on_a_day,
    moves_of,
    recount_lists,
    relist,
)
from trajlab.attacks._habits_messages import BALANCES
from trajlab.attacks._habits_model import Cells, Model, fit
from trajlab.attacks._habits_passes import (
    conclude,
    expect,
    look_ahead,
    look_back,
    open_day,
    rebalance,
)
from trajlab.attacks._habits_seats import seat_all
from trajlab.attacks._habits_tables import habits_by_list, homes

Singles = npt.NDArray[np.float32]
single = np.float32

LONGEST = 32
"""Most cells in a list."""
MEMORY = 5_000_000_000
"""Bytes for messages, 8 for each person, slot and cell of a list: lists are shorter where they would take more."""
PARTS, SMALLEST = 16, 256
"""Parts that people are divided into, and how few people are one part."""


def believe_sparsely(city: City, tracks: Cells, model: Model, rounds: int, seed: int) -> tuple[Cells, Singles]:
    """The tracks that fit beliefs best after some rounds, all counts as they were; and the belief in each position."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return Beliefs(city, tracks, model, pool).after(rounds, seed)


def length(people: int, slots: int) -> int:
    """How many cells a list has room for."""
    return int(min(LONGEST, MEMORY // (8 * people * slots)))


class Beliefs:
    """The beliefs about all tracks, on their lists, and the multipliers of all counts."""

    def __init__(self, city: City, tracks: Cells, model: Model, pool: ThreadPoolExecutor) -> None:
        self.city, self.tracks, self.model, self.pool = city, tracks, model, pool
        self.people, self.slots = tracks.shape
        self.per_day, self.blocks = city.slots_per_day, model.moving.shape[1]
        room = max(length(*tracks.shape), most_on_a_day(tracks, self.per_day) + 2)
        self.lists: Lists = first_lists(tracks, self.per_day, room)
        self.known = np.zeros((city.days, self.people, self.blocks + 2, room), dtype=single)
        self.need = np.stack([np.bincount(slot, minlength=city.places) for slot in tracks.T]).astype(single)
        self.multiplier = (self.need > 0).astype(single)
        self.likely = tracks.copy()
        self.later = np.empty((2, self.slots, self.people, room), dtype=single)
        size = (city.days, self.people, self.blocks, room)
        self.tables = (*np.zeros((2, *size), single), np.zeros((city.days, self.people, room), np.int8))
        parts = max(min(PARTS, self.people // SMALLEST), 1)
        self.parts = [(int(part[0]), int(part[-1]) + 1) for part in np.array_split(np.arange(self.people), parts)]
        self.expected = np.zeros((parts, city.places))
        self.limit = max(float(np.quantile(from_home(tracks, model.spots), 1 - AWAY)), NEAR)

    def after(self, rounds: int, seed: int) -> tuple[Cells, Singles]:
        self._each(recount_lists, self.tracks, self.per_day, self.model.block, self.lists, self.known)
        found, sure = np.empty_like(self.tracks.T, order="C"), np.empty(self.tracks.T.shape, dtype=single)
        for number in range(rounds):
            weight = self.model.evidence * min(1.0, GENTLE + (1 - GENTLE) * number / (FULL * rounds))
            moves = moves_of(self.likely, self.per_day, self.city.places)
            self._each(
                relist, np.uint64(seed + number), self.tracks, self.likely, moves, self.model.spots, self.per_day,
                self.lists, self.known,
            )  # fmt: skip
            self.habits(weight)
            self.messages((found, sure) if number + 1 == rounds else None)
            if (number + 1) % REFIT == 0 and number + 1 < rounds:
                self.model, _ = fit(self.model, self.likely, self.per_day)
        return np.ascontiguousarray(found.T), np.ascontiguousarray(sure.T)

    def _each(self, loop: Callable[..., None], *rest: object) -> None:
        """One loop over all parts, beside each other."""
        for done in [self.pool.submit(loop, begin, end, *rest) for begin, end in self.parts]:
            done.result()

    def habits(self, weight: float) -> None:
        """What is usual for every track, from what is known."""
        home = np.zeros((self.city.days, self.people), dtype=np.int32)
        away = np.zeros((self.city.days, self.people))
        self._each(homes, self.lists, self.known, self.model, self.per_day, self.limit, home, away)
        usually = np.maximum(away.mean(axis=1), 1e-3)
        self._each(
            habits_by_list, self.lists, self.known, self.model, self.per_day, weight, self.limit, home, away, usually,
            self.tables,
        )  # fmt: skip

    def messages(self, answer: tuple[Cells, Singles] | None = None) -> None:
        """Backwards, then forwards with every slot balanced; for an answer each one's assignment, beside the next."""
        self._each(look_back, self.lists, self.multiplier, self.per_day, self.model, self.tables, self.later)
        room = self.known.shape[3]
        so_far = np.zeros((2, self.people, room), dtype=single)
        so_far[0] = 1
        near = np.zeros((self.people, room, room), dtype=single)
        self.known[:] = 0
        belief, seated = np.zeros((self.people, room), dtype=single), deque[Future[None]]()
        for slot in range(self.slots):
            day, multiplier = slot // self.per_day, self.multiplier[slot]
            if slot % self.per_day == 0:
                self._each(open_day, day, self.lists, self.model, near)
            if answer is not None:
                belief = np.zeros((self.people, room), dtype=single)
            self._balance(slot, day, near, so_far, belief)
            part = int(self.model.block[slot])
            self._each(
                conclude, slot, part, day, self.lists, multiplier, self.later, so_far, belief, self.known, self.likely
            )
            if answer is not None:
                cells, widths = self.lists.cell[day], self.lists.width[day]
                path, need = np.ascontiguousarray(self.tracks[:, slot]), self.need[slot]
                seated.append(
                    self.pool.submit(seat_all, belief, cells, widths, path, need, answer[0][slot], answer[1][slot])
                )
                while len(seated) > 4:
                    seated.popleft().result()
        for done in seated:
            done.result()

    def _balance(self, slot: int, day: int, near: Singles, so_far: Singles, belief: Singles) -> None:
        need, multiplier = self.need[slot], self.multiplier[slot]
        cells, widths = self.lists.cell[day], self.lists.width[day]
        waiting = [
            self.pool.submit(
                look_ahead, begin, end, slot, self.lists, self.multiplier, self.per_day, self.model, self.tables, near,
                self.later, so_far, belief, self.expected[part],
            )
            for part, (begin, end) in enumerate(self.parts)
        ]  # fmt: skip
        for number in range(BALANCES):
            if number:
                waiting = [
                    self.pool.submit(expect, begin, end, cells, widths, multiplier, belief, self.expected[part])
                    for part, (begin, end) in enumerate(self.parts)
                ]
            for done in waiting:
                done.result()
            rebalance(need, multiplier, self.expected, number + 1 == BALANCES)
