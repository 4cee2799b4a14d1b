"""Two tracks exchange their cells in some slots of a window: every count stays as it is.

Which slots is a dynamic programme over two states, exchanged or not, with a memory of two
slots, because whether a track moves depends on whether it has just moved. The states change
only where one of the two tracks moves. Drawn at temperature 1, the answer has the chance that
the model gives it; the colder, the nearer to the best one; at 0 it is the best one. What both
tracks are known for is taken from outside the window.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from trajlab.attacks._city import Floats
from trajlab.attacks._compiled import compiled
from trajlab.attacks._habits_model import Cells, familiarity, odds
from trajlab.attacks._habits_profiles import add, entry, profiles

SAME_CELL, SAME_TIME, BESIDE, AT_MOVE = 0.4, 0.7, 0.85, 0.7
"""Up to which draw a partner is sought where a track leaves from, where it is at that time on
other days, where it is a slot before or after; then at random. How often a window lies at a move."""
SLACK = 6
"""Slots by which a window is wider than the absence that it is about, at most."""


def seats(tracks: Cells, places: int) -> tuple[Cells, Cells, Cells]:
    """The seat of each track in each slot, who has each seat, and the first seat of each place."""
    people, slots = tracks.shape
    who = np.argsort(tracks, axis=0, kind="stable").astype(np.int32).T.copy()
    seat = np.empty((people, slots), dtype=np.int32)
    seat[who, np.arange(slots)[:, None]] = np.arange(people, dtype=np.int32)
    first = np.zeros((slots, places + 1), dtype=np.int32)
    for slot in range(slots):
        first[slot, 1:] = np.cumsum(np.bincount(tracks[:, slot], minlength=places))
    return seat, who, first


@compiled
def draw(state: npt.NDArray[np.uint64]) -> float:
    """A number from 0 to 1, by xorshift: chance that is the same on every machine."""
    bits = state[0]
    bits ^= bits << np.uint64(13)
    bits ^= bits >> np.uint64(7)
    bits ^= bits << np.uint64(17)
    state[0] = bits
    return float((bits >> np.uint64(11)) * (1.0 / 9007199254740992.0))


@compiled
def sweep(tracks, seat, who, first, per_day, model, inverse, windows, state):  # type: ignore[no-untyped-def]
    """Try many windows at one temperature, given by its inverse (infinite: what is best). Changes tracks in place."""
    people, slots = tracks.shape
    days, longest = -(-slots // per_day), max(slots / 2, 2.0)
    places, blocks = len(model.popular), model.moving.shape[1]
    room, made = scratch(slots, places, blocks), profiles(tracks, model.block, blocks, places)
    exchanged = 0
    for _ in range(windows):
        one, slot = int(draw(state) * people), int(draw(state) * slots)
        length = int(np.exp(draw(state) * np.log(longest))) + 1
        kind, part = draw(state), draw(state)
        if draw(state) < AT_MOVE:
            later = slot + 1
            while later < slots and tracks[one, later] == tracks[one, later - 1]:
                later += 1
            slot = later if later < slots else slot
        start, meeting, cell = slot - int(part * length), slot, tracks[one, slot]
        if kind < SAME_CELL:
            if slot > 0 and tracks[one, slot - 1] != cell:
                meeting, cell = slot - 1, tracks[one, slot - 1]
                back = slot
                while back < slots and back - slot < longest and tracks[one, back] != cell:
                    back += 1
                start, length = slot, back - slot
            else:
                start = slot if part < 0.5 else slot - length
            if part < 0.5:
                start -= int(draw(state) * SLACK)
                length += int(draw(state) * 2 * SLACK)
        elif kind < SAME_TIME:
            other = int(draw(state) * days) * per_day + slot % per_day
            cell = tracks[one, min(other, slots - 1)]
        elif kind < BESIDE:
            other = slot - 1 if draw(state) < 0.5 else slot + 1
            cell = tracks[one, min(max(other, 0), slots - 1)]
        else:
            cell = tracks[int(draw(state) * people), slot]
        low, high = first[meeting, cell], first[meeting, cell + 1]
        if high == low:
            continue
        two = who[meeting, low + int(draw(state) * (high - low))]
        begin, end = max(start, 0), min(start + length, slots)
        if one == two or end <= begin:
            continue
        if not choose(tracks, made, one, two, begin, end, model, inverse, room, state):
            continue
        different = 0
        for at in range(begin, end):
            different += room.chosen[at] and tracks[one, at] != tracks[two, at]
        if not different:
            continue
        after = min(end + 1, slots)  # who arrives in the slot after the window changes too
        add(made, one, tracks[one], begin, after, model.block, -1)
        add(made, two, tracks[two], begin, after, model.block, -1)
        for at in range(begin, end):
            if room.chosen[at] and tracks[one, at] != tracks[two, at]:
                tracks[one, at], tracks[two, at] = tracks[two, at], tracks[one, at]
                seat[one, at], seat[two, at] = seat[two, at], seat[one, at]
                who[at, seat[one, at]], who[at, seat[two, at]] = one, two
        add(made, one, tracks[one], begin, after, model.block, 1)
        add(made, two, tracks[two], begin, after, model.block, 1)
        exchanged += different
    return exchanged


class Room(NamedTuple):
    """What both tracks are known for in the cells around a window, the programme, and which slots are exchanged.

    These cells are numbered as they come: `cells` are their own numbers, `number` is the reverse, and
    `codes` are both tracks in these numbers.
    """

    number: Cells
    cells: Cells
    codes: Cells
    at_time: Floats
    spent: Floats
    arrived: Floats
    length: Floats
    arrivals: Floats
    reached: Floats
    weight: Floats
    chosen: npt.NDArray[np.int8]


@compiled
def scratch(slots, places, blocks):  # type: ignore[no-untyped-def]
    """Room for one window after another."""
    most = min(2 * slots, places)
    return Room(
        np.full(places, -1, dtype=np.int32), np.zeros(most, dtype=np.int32), np.zeros((2, slots), dtype=np.int32),
        np.zeros((2, most, blocks)), np.zeros((2, most)), np.zeros((2, most)), np.zeros(blocks), np.zeros(2),
        np.zeros((slots + 2, 4)), np.zeros((slots + 2, 8)), np.zeros(slots + 2, dtype=np.int8),
    )  # fmt: skip


@compiled
def look(tracks, made, one, two, start, end, model, room):  # type: ignore[no-untyped-def]
    """Write into `room` what both tracks are known for outside [start, end)."""
    slots, block, blocks = tracks.shape[1], model.block, model.moving.shape[1]
    cells = 0
    for track in range(2):
        row = tracks[one] if track == 0 else tracks[two]
        for slot in range(max(start - 2, 0), min(end + 2, slots)):
            cell = row[slot]
            if room.number[cell] < 0:
                room.number[cell], room.cells[cells] = cells, cell
                cells += 1
            room.codes[track, slot] = room.number[cell]
    for track in range(2):
        person = one if track == 0 else two
        for number in range(cells):
            at = entry(made, person, room.cells[number])
            is_known = made.cell[person, at] >= 0
            for part in range(blocks):
                room.at_time[track, number, part] = made.known[person, at, part] if is_known else 0
            room.spent[track, number] = made.known[person, at, blocks] if is_known else 0
            room.arrived[track, number] = made.known[person, at, blocks + 1] if is_known else 0
        room.arrivals[track] = made.arrivals[person]
        codes = room.codes[track]
        for slot in range(start, end):
            code = codes[slot]
            room.at_time[track, code, block[slot]] -= 1
            room.spent[track, code] -= 1
            if slot == 0 or codes[slot - 1] != code:
                room.arrived[track, code] -= 1
                room.arrivals[track] -= 1
    for number in range(cells):
        room.number[room.cells[number]] = -1
    room.length[:] = model.length
    for slot in range(start, end):
        room.length[block[slot]] -= 1


@compiled
def choose(tracks, made, person, partner, start, end, model, inverse, room, state):  # type: ignore[no-untyped-def]
    """Write into `room.chosen` in which slots of [start, end) they exchange cells; False where all have no chance."""
    slots, reached, weight = tracks.shape[1], room.reached, room.weight
    others = max(slots - (end - start), 1)
    look(tracks, made, person, partner, start, end, model, room)
    one, two = room.codes[0], room.codes[1]
    begin, last = max(start, 1), min(end + 2, slots)
    reached[0, 0], reached[0, 1], reached[0, 2], reached[0, 3] = 1.0, 0.0, 0.0, 0.0
    if start == 0:
        reached[0, 0] = usual(one, two, 0, model, inverse, room, 0, others)
        reached[0, 1] = usual(one, two, 0, model, inverse, room, 1, others)
    for slot in range(begin, last):
        weigh(one, two, slot, start, end, model, inverse, room, others)
        step, whole = slot - begin, 0.0
        for pair in range(4):  # states of the slot before and of this one
            kept = reached[step, pair >> 1] * weight[step, pair]
            changed = reached[step, 2 + (pair >> 1)] * weight[step, 4 + pair]
            reached[step + 1, pair] = max(kept, changed) if inverse == np.inf else kept + changed
            whole += reached[step + 1, pair]
        for pair in range(4):
            reached[step + 1, pair] /= max(whole, 1e-300)
    ends = reached[last - begin]
    whole = ends[0] + ends[1] + ends[2] + ends[3]
    if not whole > 0.5:
        return False
    best, left = 0, draw(state) * whole
    for pair in range(1, 4):
        if inverse == np.inf:
            best = pair if ends[pair] > ends[best] else best
        else:
            left -= ends[pair - 1]
            best = pair if left >= 0.0 and ends[pair] > 0.0 else best
    before, here = best >> 1, best & 1
    for slot in range(last - 1, begin - 1, -1):
        room.chosen[slot] = here
        step = slot - begin
        kept = reached[step, before] * weight[step, 2 * before + here]
        changed = reached[step, 2 + before] * weight[step, 4 + 2 * before + here]
        if inverse == np.inf or kept == 0.0 or changed == 0.0:
            earlier = 1 if changed > kept else 0
        else:
            earlier = 1 if draw(state) * (kept + changed) >= kept else 0
        before, here = earlier, before
    if start == 0:
        room.chosen[0] = here
    return True


@compiled
def weigh(one, two, slot, start, end, model, inverse, room, others):  # type: ignore[no-untyped-def]
    """The weight of each exchanged-or-not of three successive slots, into the programme."""
    at_time, spent, arrived, length, weight = room.at_time, room.spent, room.arrived, room.length, room.weight
    block, moving, going, cells = model.block, model.moving, model.going, room.cells
    step, part = slot - max(start, 1), block[slot]
    rest = start < slot < end and one[slot] == one[slot - 1] and two[slot] == two[slot - 1]
    still = rest and slot - 1 > start and one[slot - 2] == one[slot] and two[slot - 2] == two[slot]
    if (
        still
        and slot - 2 > start
        and block[slot - 1] == part
        and one[slot - 3] == one[slot]
        and two[slot - 3] == two[slot]
    ):
        for states in range(8):  # nothing is different from the slot before
            weight[step, states] = weight[step - 1, states]
        return
    fits, swapped = 1.0, 1.0
    if slot < end:
        fits = usual(one, two, slot, model, inverse, room, 0, others)
        swapped = usual(one, two, slot, model, inverse, room, 1, others)
    for states in range(8):
        earlier, before, here = states >> 2, (states >> 1) & 1, states & 1
        fixed = (here and slot >= end) or (before and not start <= slot - 1 < end) or (earlier and slot - 2 < start)
        if fixed or (rest and before != here) or (still and earlier != before):
            weight[step, states] = 0.0
            continue
        likely = 1.0
        for track in range(2):
            cell = one[slot] if track == here else two[slot]
            left = one[slot - 1] if track == before else two[slot - 1]
            just = 0
            if slot > 1:
                just = 1 if left != (one[slot - 2] if track == earlier else two[slot - 2]) else 0
            chance = moving[just, part, familiarity(spent[track, left] / others)]
            if cell == left:
                likely *= 1 - chance
            else:
                likely *= chance * (
                    going[0] * at_time[track, cell, part] / max(length[part], 1.0)
                    + going[1] * arrived[track, cell] / max(room.arrivals[track], 1.0)
                    + going[2] * spent[track, cell] / others
                    + going[3] * odds(model.spots, model.popular, model.reach, cells[left], cells[cell])
                )
        if inverse != 1.0 and inverse != np.inf:
            likely = likely**inverse
        weight[step, states] = likely * (swapped if here else fits)


@compiled
def usual(one, two, slot, model, inverse, room, here, others):  # type: ignore[no-untyped-def]
    """How usual the cells of one slot are for both tracks, exchanged (here = 1) or not."""
    at_time, spent, length, being = room.at_time, room.spent, room.length, model.being
    part = model.block[slot]
    if one[slot] == two[slot]:
        return 1.0
    fit = 1.0
    for track in range(2):
        cell = one[slot] if track == here else two[slot]
        ever = spent[track, cell] / others
        then = at_time[track, cell, part] / max(length[part], 1.0)
        fit *= being[0] * then + being[1] * ever + model.floor
    return float(fit ** (model.evidence if inverse == np.inf else model.evidence * inverse))
