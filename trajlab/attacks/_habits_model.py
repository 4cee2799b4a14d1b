"""What is expected of a track: when it moves, where its moves go, and where it usually is.

Nothing is known beforehand. Everything is estimated from the tracks as they are, and again
after each round: the chance of moving, by whether the track has just moved, by the time of day
and by how familiar its cell is; and how many moves go to cells where the same track is at that
time of day, where it often arrives, where it spends much time, or wherever the map suggests
(popular cells, and near ones). Each day is judged by the other days of its track, so that a
day is never its own evidence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from trajlab.attacks._city import City, Floats, neighbour_distance
from trajlab.attacks._compiled import compiled

Cells = npt.NDArray[np.int32]

BLOCKS = 8
"""Parts of the day, three hours each, that habits are told apart by."""
FAMILIAR = 5
"""How well a cell can be known, see `familiarity`."""
PRIOR = 20.0
"""As many steps the chance of moving in general counts against what was seen in one situation."""
LEAST = 0.01
"""No way to choose a cell becomes rarer than that."""


class Model(NamedTuple):
    """Of compiled loops, hence plain arrays.

    `block` is the part of the day of every slot, `length` how many slots each part has. The map:
    where each place is (`spots`, in distances between neighbours, NaN outside), how popular it is,
    and what makes the odds of all moves from it sum to 1 (`reach`). `moving` (just moved or not,
    block, familiarity) are chances of moving; `going` and `being` are how much each way to choose a
    cell counts, for moves and for any slot.
    """

    block: Cells
    length: Floats
    spots: Floats
    popular: Floats
    reach: Floats
    moving: Floats
    going: Floats
    being: Floats
    evidence: float
    floor: float
    alike: float


def fit(model: Model, tracks: Cells, slots_per_day: int) -> tuple[Model, float]:
    """The model estimated again from tracks, and how well the old one explained them, in nats a slot."""
    moved, going, being, objective = learn(tracks, slots_per_day, model)
    whole = moved.sum(axis=(0, 1, 2))
    overall = (whole[1] + 1) / (whole.sum() + 2)
    after = moved.sum(axis=(1, 2), keepdims=True)
    likely = (after[..., 1] + 5 * overall) / (after.sum(axis=-1) + 5)
    chance = (moved[..., 1] + PRIOR * likely) / (moved.sum(axis=-1) + PRIOR)
    better = model._replace(moving=np.clip(chance, 1e-4, 1 - 1e-4), going=_shares(going), being=_shares(being))
    return better, float(objective)


def first_model(city: City, tracks: Cells, evidence: float, floor: float, alike: float = 0.3) -> Model:
    """Before anything is known: every way to choose a cell as likely as any other."""
    slot = np.arange(city.slots) % city.slots_per_day
    blocks = min(BLOCKS, city.slots_per_day)
    popular = np.bincount(tracks.ravel(), minlength=city.places).astype(np.float64) + 1
    spots = np.full((city.places, 2), np.nan)
    spots[: city.cells] = city.xy / neighbour_distance(city.xy)
    block = (slot * blocks // city.slots_per_day).astype(np.int32)
    model = Model(
        block=block,
        length=np.bincount(block, minlength=blocks).astype(np.float64),
        spots=spots,
        popular=popular,
        reach=reach(spots, popular),
        moving=np.full((2, blocks, FAMILIAR), 0.1),
        going=np.full(4, 1 / 4),
        being=np.full(2, 1 / 2),
        evidence=evidence,
        floor=floor,
        alike=alike,
    )
    for _ in range(3):
        model, _ = fit(model, tracks, city.slots_per_day)
    return model


def _shares(weight: Floats) -> Floats:
    share: Floats = np.maximum((weight + 1) / (weight + 1).sum(), LEAST)
    whole: Floats = share / share.sum()
    return whole


@compiled
def reach(spots, popular):  # type: ignore[no-untyped-def]
    """What the odds of all moves from each place have to be multiplied by."""
    places = len(popular)
    found = np.ones(places)
    for left in range(places):
        whole = 0.0
        for cell in range(places):
            whole += odds(spots, popular, found, left, cell) if cell != left else 0.0
        found[left] = 1 / max(whole, 1e-300)
    return found


@compiled
def odds(spots, popular, reach, left, cell):  # type: ignore[no-untyped-def]
    """The chance that a move from a place goes to another if nothing is known of who moves.

    Popular cells, rarer with the power 1.5 of their distance; outside is next to everywhere.
    """
    aside, ahead = spots[left, 0] - spots[cell, 0], spots[left, 1] - spots[cell, 1]
    apart = np.sqrt(aside * aside + ahead * ahead)
    if np.isnan(apart):
        apart = 1.0
    apart = max(apart, 0.5)
    return popular[cell] * reach[left] / (apart * np.sqrt(apart))


@compiled
def familiarity(share: float) -> int:
    """How well a track knows a cell in which it spends this share of its time, 0 … 4."""
    if share <= 0.0:
        return 0
    if share < 0.01:
        return 1
    if share < 0.05:
        return 2
    return 3 if share < 0.2 else 4


@compiled
def learn(tracks, per_day, model):  # type: ignore[no-untyped-def]
    """What tracks did in every situation, and their objective; each day seen from the others of its track."""
    block, moving, going, being, evidence, floor = (
        model.block, model.moving, model.going, model.being, model.evidence, model.floor
    )  # fmt: skip
    people, slots = tracks.shape
    places, blocks = len(model.popular), moving.shape[1]
    at_time, spent, arrived, length = np.zeros(blocks * places), np.zeros(places), np.zeros(places), np.zeros(blocks)
    moved = np.zeros((2, blocks, moving.shape[2], 2))
    goes, is_at = np.zeros(4), np.zeros(2)
    objective = 0.0
    for person in range(people):
        row = tracks[person]
        length[:] = 0
        arrivals = count(row, 0, slots, block, places, 1.0, at_time, spent, arrived, length)
        for start in range(0, slots, per_day):
            end = min(slots, start + per_day)
            arrivals += count(row, start, end, block, places, -1.0, at_time, spent, arrived, length)
            others = max(slots - (end - start), 1)
            for slot in range(max(start, 1), end):
                before, cell, part = row[slot - 1], row[slot], block[slot]
                just = 1 if slot > 1 and row[slot - 2] != before else 0
                known = familiarity(spent[before] / others)
                then = at_time[part * places + cell] / max(length[part], 1.0)
                ever = spent[cell] / others
                objective += evidence * np.log(being[0] * then + being[1] * ever + floor)
                usual = being[0] * then + being[1] * ever
                if usual > 0:
                    is_at[0] += being[0] * then / usual
                    is_at[1] += being[1] * ever / usual
                chance = moving[just, part, known]
                if before == cell:
                    moved[just, part, known, 0] += 1
                    objective += np.log(1 - chance)
                else:
                    moved[just, part, known, 1] += 1
                    ways = (
                        going[0] * then,
                        going[1] * arrived[cell] / max(arrivals, 1.0),
                        going[2] * ever,
                        going[3] * odds(model.spots, model.popular, model.reach, before, cell),
                    )
                    likely = ways[0] + ways[1] + ways[2] + ways[3]
                    for way in range(4):
                        goes[way] += ways[way] / likely
                    objective += np.log(chance * likely)
            arrivals += count(row, start, end, block, places, 1.0, at_time, spent, arrived, length)
        count(row, 0, slots, block, places, -1.0, at_time, spent, arrived, length)
    return moved, goes, is_at, objective / (people * slots)


@compiled
def count(row, start, end, block, places, sign, at_time, spent, arrived, length):  # type: ignore[no-untyped-def]
    """Add a stretch of a track to what it is known for, or take it away; its arrivals with their sign."""
    arrivals = 0.0
    for slot in range(start, end):
        cell, part = row[slot], block[slot]
        at_time[part * places + cell] += sign
        spent[cell] += sign
        length[part] += sign
        if slot == 0 or row[slot - 1] != cell:
            arrived[cell] += sign
            arrivals += sign
    return arrivals
