"""What is usual for each track on each day, seen from all its other days, of the cells of its list.

The sums are those of `_habits_messages.habits_on`.
"""

from __future__ import annotations

import numpy as np

from trajlab.attacks._compiled import compiled
from trajlab.attacks._habits_lists import apart, clear, gather
from trajlab.attacks._habits_messages import SEEN
from trajlab.attacks._habits_model import familiarity

single = np.float32


@compiled
def homes(begin, end, lists, known, model, per_day, limit, home, away):  # type: ignore[no-untyped-def]
    """Where each track is at home, and the share of its time that it is away, as seen from each day's other days."""
    days, places, rows, slots = len(lists.cell), len(model.popular), known.shape[2], len(model.block)
    sums, touched = np.zeros((places, rows + 1), dtype=np.float32), np.empty(places, dtype=np.int32)
    for person in range(begin, end):
        number = gather(lists, known, person, sums, touched)
        for day in range(days):
            others = max(slots - min(per_day, slots - day * per_day), 1)
            width = lists.width[day, person]
            for at in range(width):
                sums[lists.cell[day, person, at], rows - 2] -= known[day, person, rows - 2, at]
            most, best = single(-1), 0
            for at in range(number):
                spent = sums[touched[at], rows - 2]
                if spent > most or (spent == most and touched[at] < best):
                    most, best = spent, touched[at]
            whole = 0.0
            for at in range(number):
                if apart(model.spots, best, touched[at]) > limit:
                    whole += max(sums[touched[at], rows - 2], single(0))
            home[day, person], away[day, person] = best, whole / others
            for at in range(width):
                sums[lists.cell[day, person, at], rows - 2] += known[day, person, rows - 2, at]
        clear(sums, touched, number)


@compiled
def habits_by_list(begin, end, lists, known, model, per_day, weight, limit, home, away, usually, tables):  # type: ignore[no-untyped-def]
    """How usual each cell of each list is, how likely moves by habit go there, how familiar it is."""
    usual, going, familiar = tables
    days, places, rows, slots = len(lists.cell), len(model.popular), known.shape[2], len(model.block)
    blocks, power = rows - 2, single(weight)
    sums, touched = np.zeros((places, rows + 1), dtype=np.float32), np.empty(places, dtype=np.int32)
    for person in range(begin, end):
        number = gather(lists, known, person, sums, touched)
        total = single(0)
        for at in range(number):
            total += sums[touched[at], rows - 1]
        for day in range(days):
            length = model.length.copy()
            for slot in range(day * per_day, min(slots, (day + 1) * per_day)):
                length[model.block[slot]] -= 1
            others = max(length.sum(), 1.0)
            mean_away = usually[day]
            far = model.floor * (away[day, person] + model.alike * mean_away) / ((1 + model.alike) * mean_away)
            unseen_near, unseen_far = single(model.floor) ** power, single(far) ** power
            arrivals = total
            for at in range(lists.width[day, person]):
                arrivals -= known[day, person, rows - 1, at]
            arrivals = max(arrivals, single(1))
            for at in range(lists.width[day, person]):
                cell = lists.cell[day, person, at]
                is_far = apart(model.spots, home[day, person], cell) > limit
                ever = (sums[cell, rows - 2] - known[day, person, rows - 2, at]) / others
                if ever < SEEN:
                    familiar[day, person, at] = 0
                    for part in range(blocks):
                        usual[day, person, part, at] = unseen_far if is_far else unseen_near
                        going[day, person, part, at] = 0
                    continue
                familiar[day, person, at] = familiarity(ever)
                arrived = max(sums[cell, rows - 1] - known[day, person, rows - 1, at], single(0)) / arrivals
                least = far if is_far else model.floor
                for part in range(blocks):
                    seen = max(sums[cell, part] - known[day, person, part, at], single(0))
                    then = seen / max(length[part], 1.0)
                    usual[day, person, part, at] = (
                        single(model.being[0] * then + model.being[1] * ever + least) ** power
                    )
                    going[day, person, part, at] = (
                        model.going[0] * then + model.going[1] * arrived + model.going[2] * ever
                    )
        clear(sums, touched, number)
