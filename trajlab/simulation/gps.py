"""GPS: everybody's position at every tick of the clock, with a few metres of noise."""

from __future__ import annotations

import numpy as np
import polars as pl

from trajlab.simulation.chance import Ints
from trajlab.simulation.city import build_city
from trajlab.simulation.itinerary import itinerary
from trajlab.simulation.scenario import Scenario, uids

NOISE = 6.0  # metres, standard deviation on each axis


def gps_rows_per_person(scenario: Scenario) -> int:
    return -(-scenario.length // scenario.step)


def gps_records(scenario: Scenario, person: Ints) -> pl.DataFrame:
    """uid, ts, lat, lng: one row per person and tick, in that order.

    Noise belongs to the person and the second, so a coarser interval gives a subset
    of the rows of a finer one.
    """
    ticks = np.arange(0, scenario.length, scenario.step, dtype=np.int64)
    lines = itinerary(scenario, build_city(scenario), person)
    row = np.arange(len(person))[:, None]
    x, y = lines.where(row, scenario.wall(ticks)[None, :])
    east, north = scenario.chance.normal_pair("gps noise", person[:, None], ticks[None, :])
    lat, lng = scenario.degrees(x + NOISE * east, y + NOISE * north)
    return pl.DataFrame(
        {
            "uid": uids(person).gather(np.repeat(np.arange(len(person), dtype=np.uint32), len(ticks))),
            "ts": scenario.stamps(np.tile(ticks, len(person))),
            "lat": lat.ravel(),
            "lng": lng.ravel(),
        }
    )
