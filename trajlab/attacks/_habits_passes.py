"""The compiled passes of `_habits_sparse`: messages over short lists of cells, some tracks at a time.

States and messages are those of `_habits_messages`; a cell that is not in a track's list has no chance.
"""

from __future__ import annotations

import numpy as np

from trajlab.attacks._compiled import compiled
from trajlab.attacks._habits_lists import apart
from trajlab.attacks._habits_messages import LEAST

single = np.float32
SURE = np.float32(1e-3)
"""A belief below that is not counted as what a track is known for."""


@compiled
def nearness(spots, left, places, reached, width, near):  # type: ignore[no-untyped-def]
    """How much likelier moves between cells are than between popular ones: power 1.5 of distance, see `odds`."""
    for one in range(places):
        for two in range(width):
            far = max(apart(spots, left[one], reached[two]), 0.5)
            near[one, two] = 0 if left[one] == reached[two] else 1 / (far * np.sqrt(far))


@compiled
def same_cells(left, places, reached, width, same):  # type: ignore[no-untyped-def]
    """Where each cell of one list is in another, or -1. Both ascend."""
    at = 0
    for one in range(places):
        while at < width and reached[at] < left[one]:
            at += 1
        same[one] = at if at < width and reached[at] == left[one] else -1


@compiled
def look_back(begin, end, lists, multiplier, per_day, model, tables, later):  # type: ignore[no-untyped-def]
    """Fill in `later` (stayed, arrived; slot, person, cell of the list) for some people, from the last slot on."""
    slots, room = len(model.block), lists.cell.shape[2]
    near, same = np.empty((room, room), dtype=np.float32), np.empty(room, dtype=np.int64)
    usual, going, familiar = tables
    for person in range(begin, end):
        later[:, slots - 1, person] = 1
        within = -1
        for slot in range(slots - 1, 0, -1):
            day, before = slot // per_day, (slot - 1) // per_day
            left, reached = lists.cell[before, person], lists.cell[day, person]
            places, width = lists.width[before, person], lists.width[day, person]
            if before != day or within != day:
                nearness(model.spots, reached, width, left, places, near)
                same_cells(left, places, reached, width, same)
                within = day if before == day else -1
            step_back(
                model, model.block[slot], left, places, reached, width, multiplier[slot - 1], multiplier[slot],
                usual[day, person], going[day, person], familiar[before, person], near, same,
                later[:, slot, person], later[:, slot - 1, person],
            )  # fmt: skip


@compiled
def step_back(  # type: ignore[no-untyped-def]
    model, part, left, places, reached, width, possible, multiplier, usual, going, familiar, near, same, now, before
):
    """From one slot to the one before, of one track."""
    by_map, weight, whole = np.zeros(places, dtype=np.float32), single(model.going[3]), single(0)
    for at in range(width):
        chance = usual[part, at] * multiplier[reached[at]] * now[1, at]
        whole += going[part, at] * chance
        chance *= single(model.popular[reached[at]])
        if chance > 0:
            for to in range(places):
                by_map[to] += near[at, to] * chance
    top = single(1e-30)
    for at in range(places):
        cell = left[at]
        if possible[cell] <= 0:
            before[0, at] = before[1, at] = 0
            continue
        stays, moves, then = single(0), whole + weight * single(model.reach[cell]) * by_map[at], same[at]
        if then >= 0:
            here = usual[part, then] * multiplier[cell]
            stays = here * now[0, then]
            moves = max(moves - going[part, then] * here * now[1, then], single(0))
        settled = single(model.moving[0, part, familiar[at]])
        just = single(model.moving[1, part, familiar[at]])
        before[0, at] = (single(1) - settled) * stays + settled * moves
        before[1, at] = (single(1) - just) * stays + just * moves
        top = max(top, max(before[0, at], before[1, at]))
    scale = single(1) / top
    for at in range(places):
        if possible[left[at]] > 0:
            before[0, at] = max(before[0, at] * scale, LEAST)
            before[1, at] = max(before[1, at] * scale, LEAST)


@compiled
def open_day(begin, end, day, lists, model, near):  # type: ignore[no-untyped-def]
    """Nearness of all cells of each list of a day."""
    for person in range(begin, end):
        cells, width = lists.cell[day, person], lists.width[day, person]
        nearness(model.spots, cells, width, cells, width, near[person])


@compiled
def look_ahead(begin, end, slot, lists, multiplier, per_day, model, tables, near, later, so_far, belief, expected):  # type: ignore[no-untyped-def]
    """Go on to a slot: chances so far in place of those of the slot before, beliefs, and the counts that they give."""
    room = lists.cell.shape[2]
    usual, going, familiar = tables
    day, before, part = slot // per_day, (slot - 1) // per_day, model.block[slot]
    between, same = np.empty((room, room), dtype=np.float32), np.empty(room, dtype=np.int64)
    for person in range(begin, end):
        reached, width = lists.cell[day, person], lists.width[day, person]
        if slot > 0:
            left, places = lists.cell[before, person], lists.width[before, person]
            nearby = near[person]
            if before != day:
                nearness(model.spots, left, places, reached, width, between)
                nearby = between
            same_cells(reached, width, left, places, same)
            step_ahead(
                model, part, left, places, reached, width, going[day, person], familiar[before, person], nearby, same,
                so_far[:, person],
            )  # fmt: skip
        top = single(1e-30)
        for at in range(width):
            fit = usual[day, person, part, at] if multiplier[slot, reached[at]] > 0 else single(0)
            so_far[0, person, at] *= fit
            so_far[1, person, at] *= fit
            belief[person, at] = (
                so_far[0, person, at] * later[0, slot, person, at] + so_far[1, person, at] * later[1, slot, person, at]
            )
            top = max(top, belief[person, at])
        scale = single(1) / top
        for at in range(width):
            belief[person, at] = belief[person, at] * scale + LEAST
    expect(begin, end, lists.cell[day], lists.width[day], multiplier[slot], belief, expected)


@compiled
def step_ahead(model, part, left, places, reached, width, going, familiar, near, same, so_far):  # type: ignore[no-untyped-def]
    """From one slot to the next, of one track; how usual the cells are is not in it yet."""
    arrives, away = np.zeros(width, dtype=np.float32), np.empty(places, dtype=np.float32)
    remain, whole, weight = np.empty(places, dtype=np.float32), single(0), single(model.going[3])
    for at in range(places):
        settled = single(model.moving[0, part, familiar[at]])
        just = single(model.moving[1, part, familiar[at]])
        away[at] = settled * so_far[0, at] + just * so_far[1, at]
        remain[at] = (single(1) - settled) * so_far[0, at] + (single(1) - just) * so_far[1, at]
        whole += away[at]
        moves = away[at] * weight * single(model.reach[left[at]])
        if moves > 0:
            for to in range(width):
                arrives[to] += near[at, to] * moves
    for at in range(width):
        then, moves, stays = same[at], whole, single(0)
        if then >= 0:
            stays = remain[then]
            moves = max(moves - away[then], single(0))
        so_far[0, at] = stays
        so_far[1, at] = going[part, at] * moves + single(model.popular[reached[at]]) * arrives[at]


@compiled
def expect(begin, end, cells, widths, multiplier, belief, expected):  # type: ignore[no-untyped-def]
    """The counts that some tracks' beliefs give, before multiplied."""
    expected[:] = 0
    for person in range(begin, end):
        whole = single(0)
        for at in range(widths[person]):
            whole += belief[person, at] * multiplier[cells[person, at]]
        scale = single(1) / max(whole, single(1e-30))
        for at in range(widths[person]):
            expected[cells[person, at]] += belief[person, at] * scale


@compiled
def rebalance(need, multiplier, expected, last):  # type: ignore[no-untyped-def]
    """Multipliers by which beliefs sum to the counts; `expected` are parts of what they gave."""
    top = single(1e-30)
    for cell in range(len(need)):
        if need[cell] > 0:
            whole = 0.0
            for part in range(len(expected)):
                whole += expected[part, cell]
            multiplier[cell] = need[cell] / max(whole, 1e-30)
            top = max(top, multiplier[cell])
    if last:
        for cell in range(len(need)):
            if need[cell] > 0:
                multiplier[cell] = max(multiplier[cell] / top, LEAST)


@compiled
def conclude(begin, end, slot, part, day, lists, multiplier, later, so_far, belief, known, likely):  # type: ignore[no-untyped-def]
    """Beliefs that sum to 1, counted as what tracks are known for; the likeliest cells; messages multiplied."""
    rows = known.shape[2]
    for person in range(begin, end):
        cells, width = lists.cell[day, person], lists.width[day, person]
        whole, ahead, most = single(0), single(0), single(-1)
        for at in range(width):
            belief[person, at] *= multiplier[cells[at]]
            whole += belief[person, at]
        for at in range(width):
            belief[person, at] /= max(whole, single(1e-30))
            sure, stayed, arrived = belief[person, at], so_far[0, person, at], so_far[1, person, at]
            if sure > most:
                most, likely[person, slot] = sure, cells[at]
            if sure > SURE:
                came = arrived * later[1, slot, person, at]
                here = came + stayed * later[0, slot, person, at]
                known[day, person, part, at] += sure
                known[day, person, rows - 2, at] += sure
                known[day, person, rows - 1, at] += sure * came / here if here > 0 else single(0)
            so_far[0, person, at] = stayed * multiplier[cells[at]]
            so_far[1, person, at] = arrived * multiplier[cells[at]]
            ahead += so_far[0, person, at] + so_far[1, person, at]
        scale = single(1) / max(ahead, single(1e-30))
        for at in range(width):
            if multiplier[cells[at]] > 0:
                so_far[0, person, at] = max(so_far[0, person, at] * scale, LEAST)
                so_far[1, person, at] = max(so_far[1, person, at] * scale, LEAST)
