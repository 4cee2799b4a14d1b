"""The city and who lives in it: quarters, work districts, addresses, and each person's anchors.

Homes cluster in quarters whose density falls exponentially from the centre. Work
concentrates in a few districts with Zipf popularity, and near beats far. Shops,
offices and everything else people visit stand at shared addresses, one per small
block of the map, so that two people can meet.

Everything is in metres east and north of the centre.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajlab.simulation.chance import Bools, Chance, Floats, Ints
from trajlab.simulation.scenario import Scenario

WORKING = 0.75  # share of people who work
NIGHT_SHIFT = 0.03  # share of people whose day starts 13 hours later
HOUR = 3600.0

_QUARTERS = 60
_DISTRICTS = 12


@dataclass(frozen=True, slots=True)
class City:
    radius: float
    quarters: Floats  # (quarters, 2)
    quarter_share: Floats
    quarter_spread: Floats
    districts: Floats  # (districts, 2)
    district_share: Floats
    block: float  # side of the blocks that hold one address each
    chance: Chance

    def address(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """The shared address in the block around a point: a fixed spot, the same for everybody."""
        x, y = self.inside(x, y)
        column, row = np.floor(x / self.block), np.floor(y / self.block)
        bits = self.chance.bits("address", column.astype(np.int64), row.astype(np.int64))
        right = 0.15 + 0.7 * (bits >> np.uint64(32)) * 2.0**-32
        up = 0.15 + 0.7 * (bits & np.uint64(0xFFFFFFFF)) * 2.0**-32
        return (column + right) * self.block, (row + up) * self.block

    def inside(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Points beyond the city limit are folded back, so that none pile up on it."""
        distance = np.maximum(np.hypot(x, y), 1.0)
        folded = np.clip(2 * self.radius - distance, 0.0, distance) / distance
        return x * folded, y * folded


@dataclass(frozen=True, slots=True)
class Residents:
    """Some people and what stays the same about them, day after day; one array entry each."""

    person: Ints
    home: tuple[Floats, Floats]
    work: tuple[Floats, Floats]
    canteen: tuple[Floats, Floats]
    works: Bools
    rest_day: Ints  # the first of two days off: 5 is Saturday
    starts: Floats  # seconds after midnight, on the own clock
    stays: Floats  # seconds at work
    lag: Ints  # seconds by which the own clock runs behind the wall clock: night shifts


def build_city(scenario: Scenario) -> City:
    rng = scenario.chance.generator("city")
    radius = scenario.radius_km * 1000.0
    return City(
        radius=radius,
        quarters=scatter(rng, _QUARTERS, radius, reach=radius / 5.5),
        quarter_share=_zipf(_QUARTERS, 0.6),
        quarter_spread=rng.uniform(0.02, 0.05, _QUARTERS) * radius,
        districts=scatter(rng, _DISTRICTS, radius, reach=radius / 9),
        district_share=_zipf(_DISTRICTS, 1.0),
        block=radius / 75,
        chance=scenario.chance,
    )


def scatter(rng: np.random.Generator, points: int, radius: float, *, reach: float) -> Floats:
    """Points whose density falls as exp(-distance / reach) from the centre."""
    distance = reach * rng.gamma(2.0, size=points)
    while (far := distance > 0.93 * radius).any():
        distance[far] = reach * rng.gamma(2.0, size=int(far.sum()))
    angle = rng.uniform(0, 2 * np.pi, points)
    return np.column_stack([distance * np.cos(angle), distance * np.sin(angle)])


def settle(city: City, person: Ints) -> Residents:
    """Give people a home, a job and the hours they keep."""
    chance = city.chance
    quarter = np.searchsorted(np.cumsum(city.quarter_share), chance.uniform("quarter", person))
    quarter = np.minimum(quarter, len(city.quarters) - 1)
    across, along = chance.normal_pair("home", person)
    spread = city.quarter_spread[quarter]
    home = city.inside(city.quarters[quarter, 0] + spread * across, city.quarters[quarter, 1] + spread * along)

    east = home[0][:, None] - city.districts[:, 0]
    north = home[1][:, None] - city.districts[:, 1]
    pull = city.district_share * np.exp(-np.hypot(east, north) / (0.4 * city.radius))
    reached = np.cumsum(pull, axis=1)
    drawn = chance.uniform("district", person) * reached[:, -1]
    district = (reached < drawn[:, None]).sum(axis=1)
    across, along = chance.normal_pair("office", person)
    spread_of_work = 0.025 * city.radius
    work = city.address(
        city.districts[district, 0] + spread_of_work * across,
        city.districts[district, 1] + spread_of_work * along,
    )
    across, along = chance.normal_pair("canteen", person)
    canteen = city.address(work[0] + 1.2 * city.block * across, work[1] + 1.2 * city.block * along)

    kind = chance.uniform("kind", person)  # one draw for both shares: night shifts are work
    starts = 8.7 * HOUR + 0.8 * HOUR * chance.normal("starts", person)
    stays = 8.6 * HOUR + 0.7 * HOUR * chance.normal("stays", person)
    any_day = np.floor(7 * chance.uniform("rest day", person)).astype(np.int64)
    return Residents(
        person=person,
        home=home,
        work=work,
        canteen=canteen,
        works=kind < WORKING,
        rest_day=np.where(chance.uniform("weekend", person) < 0.85, 5, any_day),
        starts=np.clip(starts, 6.5 * HOUR, 11 * HOUR),
        stays=np.clip(stays, 6 * HOUR, 10.5 * HOUR),
        lag=np.where(kind < NIGHT_SHIFT, 13 * 3600, 0),
    )


def _zipf(ranks: int, exponent: float) -> Floats:
    weight = np.arange(1, ranks + 1) ** -exponent
    share: Floats = weight / weight.sum()
    return share
