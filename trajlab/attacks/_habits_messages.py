"""The compiled passes of beliefs over all slots: messages backwards, then forwards with counts balanced.

A state is a cell and whether the track has arrived there in this slot. `later` holds for both (stayed, arrived) how
likely the slots after this one are; forwards go the chances of all slots so far. Both are scaled in every slot.
"""

from __future__ import annotations

import numpy as np

from trajlab.attacks._compiled import compiled
from trajlab.attacks._habits_model import familiarity

single = np.float32
SEEN = 1e-5
"""A share of time below that is none."""
LEAST = np.float32(1e-12)
"""What no message and no multiplier falls below, beside its greatest: far smaller numbers are slow to compute with."""
BALANCES = 2
"""Balancing steps of a slot in each round."""


@compiled
def recount(tracks, per_day, block, known):  # type: ignore[no-untyped-def]
    """Fill in what tracks are known for where they are certain."""
    people, slots = tracks.shape
    for person in range(people):
        for slot in range(slots):
            day, cell = slot // per_day, tracks[person, slot]
            known.at_time[day, person, block[slot], cell] += 1
            known.spent[day, person, cell] += 1
            if slot == 0 or tracks[person, slot - 1] != cell:
                known.arrived[day, person, cell] += 1


@compiled
def habits_by_day(per_day, known, model, weight, away, tables):  # type: ignore[no-untyped-def]
    """What is usual for every track on each day, seen from all its other days, into `tables`."""
    usual, going, familiar = tables
    slots = len(model.block)
    whole = (known.at_time.sum(axis=0), known.spent.sum(axis=0), known.arrived.sum(axis=0))
    for day in range(len(usual)):
        length = model.length.copy()
        for slot in range(day * per_day, min(slots, (day + 1) * per_day)):
            length[model.block[slot]] -= 1
        habits_on(day, whole, known, length, model, np.float32(weight), away, usual[day], going[day], familiar[day])


@compiled
def habits_on(day, whole, known, length, model, weight, away, usual, going, familiar):  # type: ignore[no-untyped-def]
    """For each track, part of the day and cell: how usual it is, and how likely moves by habit go there.

    Seen from all other days. Far from home a cell is the more usual the more of its time a track is away.
    """
    people, blocks, places = usual.shape
    all_at_time, all_spent, all_arrived = whole
    others = max(length.sum(), 1.0)
    mean_away = 0.0
    time_away = np.zeros(people)
    home = np.zeros(people, dtype=np.int64)
    for person in range(people):
        most = 0.0
        for cell in range(places):
            spent = all_spent[person, cell] - known.spent[day, person, cell]
            if spent > most:
                most, home[person] = spent, cell
        for cell in range(places):
            if away[home[person], cell]:
                time_away[person] += (all_spent[person, cell] - known.spent[day, person, cell]) / others
        mean_away += time_away[person] / people
    mean_away = max(mean_away, 1e-3)
    for person in range(people):
        arrivals = 0.0
        for cell in range(places):
            arrivals += all_arrived[person, cell] - known.arrived[day, person, cell]
        far = model.floor * (max(time_away[person], 0.0) + model.alike * mean_away) / ((1 + model.alike) * mean_away)
        unseen_near, unseen_far = single(model.floor) ** weight, single(far) ** weight
        for cell in range(places):
            is_far = away[home[person], cell]
            ever = (all_spent[person, cell] - known.spent[day, person, cell]) / others
            if ever < SEEN:
                familiar[person, cell] = 0
                for part in range(blocks):
                    usual[person, part, cell] = unseen_far if is_far else unseen_near
                    going[person, part, cell] = 0.0
                continue
            familiar[person, cell] = familiarity(ever)
            arrived = max(all_arrived[person, cell] - known.arrived[day, person, cell], 0.0) / max(arrivals, 1.0)
            least = far if is_far else model.floor
            for part in range(blocks):
                seen = all_at_time[person, part, cell] - known.at_time[day, person, part, cell]
                then = max(seen, 0.0) / max(length[part], 1.0)
                usual[person, part, cell] = single(model.being[0] * then + model.being[1] * ever + least) ** weight
                going[person, part, cell] = model.going[0] * then + model.going[1] * arrived + model.going[2] * ever


@compiled
def between(near, left, reached):  # type: ignore[no-untyped-def]
    """Nearness of the cells of two slots."""
    found = np.empty((len(left), len(reached)), dtype=np.float32)
    for row in range(len(left)):
        for column in range(len(reached)):
            found[row, column] = near[left[row], reached[column]]
    return found


@compiled
def backwards(counts, multiplier, per_day, model, tables, near, later):  # type: ignore[no-untyped-def]
    """Fill in `later`, from the last slot to the first."""
    usual, going, familiar = tables
    people, slots, first = usual.shape[1], len(model.block), counts.first
    later[:, people * first[slots - 1] :] = 1.0
    for slot in range(slots - 1, 0, -1):
        day = slot // per_day
        habits = usual[day], going[day], familiar[day]
        left = counts.cell[first[slot - 1] : first[slot]]
        reached = counts.cell[first[slot] : first[slot + 1]]
        scaled = multiplier[first[slot] : first[slot + 1]]
        now, before = of_slot(later, first, slot, people), of_slot(later, first, slot - 1, people)
        pass_back(model, model.block[slot], left, reached, scaled, now, before, habits, near)


@compiled
def of_slot(later, first, slot, people):  # type: ignore[no-untyped-def]
    """One slot's part of both messages, people × cells."""
    start, end = people * first[slot], people * first[slot + 1]
    shape = (people, first[slot + 1] - first[slot])
    return later[0, start:end].reshape(shape), later[1, start:end].reshape(shape)


@compiled
def pass_back(model, part, left, reached, multiplier, now, before, habits, near):  # type: ignore[no-untyped-def]
    """From one slot to the one before: `left` are the cells of that, `reached` those of this slot."""
    (stayed, arrived), (to_stayed, to_arrived), (usual, going, familiar) = now, before, habits
    people, width, places = len(usual), len(reached), len(left)
    moving, popular, reach = model.moving.astype(np.float32), model.popular.astype(np.float32), model.reach
    value, habit = np.empty((people, width), dtype=np.float32), np.empty(people, dtype=np.float32)
    for person in range(people):
        whole = single(0)
        for at in range(width):
            cell = reached[at]
            chance = usual[person, part, cell] * multiplier[at] * arrived[person, at]
            value[person, at] = chance * popular[cell]
            whole += going[person, part, cell] * chance
        habit[person] = whole
    by_map = np.dot(value, between(near, reached, left))
    same = np.searchsorted(reached, left)
    by_reach = (model.going[3] * reach[left]).astype(np.float32)
    for person in range(people):
        top = single(1e-30)
        for at in range(places):
            cell, stays = left[at], single(0)
            moves, then = habit[person] + by_reach[at] * by_map[person, at], same[at]
            if then < width and reached[then] == cell:
                here = usual[person, part, cell] * multiplier[then]
                stays = here * stayed[person, then]
                moves -= going[person, part, cell] * here * arrived[person, then]
            known = familiar[person, cell]
            settled, just = moving[0, part, known], moving[1, part, known]
            to_stayed[person, at] = (single(1) - settled) * stays + settled * moves
            to_arrived[person, at] = (single(1) - just) * stays + just * moves
            top = max(top, max(to_stayed[person, at], to_arrived[person, at]))
        scale = single(1) / top
        for at in range(places):
            to_stayed[person, at] = max(to_stayed[person, at] * scale, LEAST)
            to_arrived[person, at] = max(to_arrived[person, at] * scale, LEAST)


@compiled
def forwards(counts, multiplier, per_day, model, tables, near, later, known, likely):  # type: ignore[no-untyped-def]
    """Balance each slot, from the first to the last; fill in beliefs and what tracks are known for by them."""
    usual, going, familiar = tables
    people, slots, first = usual.shape[1], len(model.block), counts.first
    stayed = np.ones((people, first[1]), dtype=np.float32)
    arrived = np.zeros((people, first[1]), dtype=np.float32)
    for slot in range(slots):
        day, part, start, end = slot // per_day, model.block[slot], first[slot], first[slot + 1]
        cells, scaled, after = counts.cell[start:end], multiplier[start:end], of_slot(later, first, slot, people)
        if slot > 0:
            left = counts.cell[first[slot - 1] : start]
            stayed, arrived = pass_on(model, part, left, cells, stayed, arrived, going[day], familiar[day], near)
        belief = likely[people * start : people * end].reshape((people, end - start))
        for person in range(people):
            for at in range(end - start):
                stayed[person, at] *= usual[day, person, part, cells[at]]
                arrived[person, at] *= usual[day, person, part, cells[at]]
        balance(counts.people[start:end], scaled, stayed, arrived, after, belief)
        tell(day, part, cells, scaled, stayed, arrived, after, belief, known)


@compiled
def pass_on(model, part, left, reached, stayed, arrived, going, familiar, near):  # type: ignore[no-untyped-def]
    """From one slot to the next: chances to have stayed in, and arrived at, each of its cells."""
    people, width, before = len(stayed), len(reached), len(left)
    moving, popular = model.moving.astype(np.float32), model.popular.astype(np.float32)
    scale = (model.going[3] * model.reach[left]).astype(np.float32)
    value, habit = np.empty((people, before), dtype=np.float32), np.empty(people, dtype=np.float32)
    for person in range(people):
        whole = single(0)
        for at in range(before):
            known = familiar[person, left[at]]
            moves = stayed[person, at] * moving[0, part, known] + arrived[person, at] * moving[1, part, known]
            whole += moves
            value[person, at] = moves * scale[at]
        habit[person] = whole
    arrives = np.dot(value, between(near, left, reached))
    stays = np.zeros((people, width), dtype=np.float32)
    same = np.searchsorted(left, reached)
    for person in range(people):
        for at in range(width):
            cell, moves, then = reached[at], habit[person], same[at]
            if then < before and left[then] == cell:
                known = familiar[person, cell]
                settled, just = moving[0, part, known], moving[1, part, known]
                stays[person, at] = (single(1) - settled) * stayed[person, then] + (single(1) - just) * arrived[
                    person, then
                ]
                moves -= settled * stayed[person, then] + just * arrived[person, then]
            arrives[person, at] = (
                going[person, part, cell] * max(moves, single(0)) + popular[cell] * arrives[person, at]
            )
    return stays, arrives


@compiled
def balance(need, multiplier, stayed, arrived, after, belief):  # type: ignore[no-untyped-def]
    """Change multipliers until beliefs sum to the counts (nearly) and to 1 for each track."""
    later_stayed, later_arrived = after
    people, width = belief.shape
    for person in range(people):
        top = single(1e-30)
        for at in range(width):
            belief[person, at] = (
                stayed[person, at] * later_stayed[person, at] + arrived[person, at] * later_arrived[person, at]
            )
            top = max(top, belief[person, at])
        for at in range(width):
            belief[person, at] = belief[person, at] * (single(1) / top) + LEAST
    for _ in range(BALANCES):
        expected = np.dot(single(1) / np.dot(belief, multiplier), belief)
        for at in range(width):
            multiplier[at] = need[at] / max(expected[at], single(1e-30))
    multiplier[:] = np.maximum(multiplier / multiplier.max(), LEAST)
    whole = np.dot(belief, multiplier)
    for person in range(people):
        for at in range(width):
            belief[person, at] *= multiplier[at] / whole[person]


@compiled
def tell(day, part, cells, multiplier, stayed, arrived, after, belief, new):  # type: ignore[no-untyped-def]
    """Count beliefs as what tracks are known for, and scale the messages."""
    later_stayed, later_arrived = after
    people, width = belief.shape
    for person in range(people):
        whole = single(0)
        for at in range(width):
            sure = belief[person, at]
            if sure > single(1e-3):
                cell, came = cells[at], arrived[person, at] * later_arrived[person, at]
                here = came + stayed[person, at] * later_stayed[person, at]
                new.at_time[day, person, part, cell] += sure
                new.spent[day, person, cell] += sure
                new.arrived[day, person, cell] += sure * came / here if here > 0 else single(0)
            stayed[person, at] *= multiplier[at]
            arrived[person, at] *= multiplier[at]
            whole += stayed[person, at] + arrived[person, at]
        scale = single(1) / max(whole, single(1e-30))
        for at in range(width):
            stayed[person, at] = max(stayed[person, at] * scale, LEAST)
            arrived[person, at] = max(arrived[person, at] * scale, LEAST)
