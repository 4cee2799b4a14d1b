"""Days joined all at once: every track's day may go on with any other's.

One day is taken out of all tracks, and given back where it fits best: to those who are usually
there, next to where they were before midnight and are after. With noise (Gumbel's, times the
temperature) the assignment is drawn rather than solved. Of more than `TOGETHER` people only
those who live near each other change days, in groups that are others each time.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from trajlab.attacks._city import City, Ints
from trajlab.attacks._compiled import compiled
from trajlab.attacks._habits_model import Cells, Model, count, familiarity, odds

TOGETHER = 200
"""People among whom the days are given out at once."""


def join_days(city: City, tracks: Cells, model: Model, temperature: float, rng: np.random.Generator) -> None:
    """Give out each day anew, in random order. Changes tracks in place."""
    for day in rng.permutation(city.days):
        start = int(day) * city.slots_per_day
        end = min(start + city.slots_per_day, city.slots)
        for group in _groups(city, tracks, rng):
            cost = price(tracks, group, start, end, model)
            cost += temperature * np.log(-np.log1p(-rng.random(cost.shape) * (1 - 1e-12) - 1e-15))
            giver = group[linear_sum_assignment(cost)[1]]
            tracks[group, start:end] = tracks[giver, start:end]


def _groups(city: City, tracks: Cells, rng: np.random.Generator) -> list[Ints]:
    """People who live side by side, along one axis or the other."""
    people = len(tracks)
    if people <= TOGETHER:
        return [np.arange(people)]
    along = np.append(city.xy[:, int(rng.integers(2))], 0.0)
    line = np.argsort(along[tracks].mean(axis=1), kind="stable")
    line = np.roll(line, int(rng.integers(people)))
    return [np.sort(group) for group in np.array_split(line, -(-people // TOGETHER))]


@compiled
def price(tracks, group, start, end, model):  # type: ignore[no-untyped-def]
    """What it costs each track (rows) to take over each other one's cells in [start, end)."""
    block, moving, going, being, evidence, floor = (
        model.block, model.moving, model.going, model.being, model.evidence, model.floor
    )  # fmt: skip
    slots, places, blocks = tracks.shape[1], len(model.popular), moving.shape[1]
    at_time, spent, arrived, length = np.zeros(blocks * places), np.zeros(places), np.zeros(places), np.zeros(blocks)
    others = max(slots - (end - start), 1)
    cost = np.zeros((len(group), len(group)))
    for taker, person in enumerate(group):
        row = tracks[person]
        arrivals = count(row, 0, start, block, places, 1.0, at_time, spent, arrived, length)
        arrivals += count(row, end, slots, block, places, 1.0, at_time, spent, arrived, length)
        for giver, other in enumerate(group):
            day = tracks[other]
            found, fit, last, when = 0.0, 0.0, -1, -1
            for slot in range(max(start, 1), min(end + 2, slots)):
                part = block[slot]
                cell = day[slot] if slot < end else row[slot]
                before = day[slot - 1] if start <= slot - 1 < end else row[slot - 1]
                just = 0
                if slot > 1:
                    just = 1 if before != (day[slot - 2] if start <= slot - 2 < end else row[slot - 2]) else 0
                then, ever = at_time[part * places + cell] / max(length[part], 1.0), spent[cell] / others
                if slot < end:
                    if cell != last or part != when:
                        fit, last, when = evidence * np.log(being[0] * then + being[1] * ever + floor), cell, part
                    found += fit
                chance = moving[just, part, familiarity(spent[before] / others)]
                if cell == before:
                    found -= chance  # about log(1 - chance), and quicker
                else:
                    found += np.log(
                        chance
                        * (
                            going[0] * then
                            + going[1] * arrived[cell] / max(arrivals, 1.0)
                            + going[2] * ever
                            + going[3] * odds(model.spots, model.popular, model.reach, before, cell)
                        )
                    )
            cost[taker, giver] = -found
        count(row, 0, start, block, places, -1.0, at_time, spent, arrived, length)
        count(row, end, slots, block, places, -1.0, at_time, spent, arrived, length)
    return cost
