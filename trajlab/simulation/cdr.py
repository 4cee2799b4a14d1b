"""Call detail records: few, bursty, and only as exact as the nearest mast.

Six fields as in Yin et al. (2015): who, when, the mast's latitude and longitude,
whether the call came in or went out, and the regional code of the phone. Activity
differs a lot between people (log-normal) and between days (geometric); calls come
in bursts a few minutes apart and follow the hours people are awake.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from trajlab.simulation.chance import Ints
from trajlab.simulation.city import build_city, scatter
from trajlab.simulation.itinerary import itinerary
from trajlab.simulation.scenario import DAY, Scenario, uids

# Calls started in each hour of the day, relative to the busiest.
_CIRCADIAN = np.array(
    [
        *(0.10, 0.05, 0.03, 0.02, 0.03, 0.07, 0.18, 0.40, 0.65, 0.80, 0.90, 0.95),
        *(0.90, 0.80, 0.80, 0.82, 0.88, 0.97, 1.00, 0.98, 0.85, 0.65, 0.40, 0.20),
    ]
)
_BURSTS_PER_DAY = 2.5  # of the median person
_EXTRA_CALLS = 0.8  # in a burst, after the first
_LONGEST_BURST = 15
_REGIONS = np.array(["021", "022", "023", "031", "041", "051", "061", "071", "081"])


def cdr_rows_per_person(scenario: Scenario) -> int:
    return 8 * scenario.days  # about: the mean of a log-normal is well above its median


def station_table(scenario: Scenario) -> pl.DataFrame:
    """station, lat, lng: where the masts stand, denser towards the centre."""
    radius = scenario.radius_km * 1000.0
    masts = scatter(scenario.chance.generator("stations"), scenario.stations, radius, reach=radius / 5)
    lat, lng = scenario.degrees(masts[:, 0], masts[:, 1])
    width = max(4, len(str(scenario.stations)))
    names = "bs" + pl.Series("station", np.arange(scenario.stations)).cast(pl.String).str.zfill(width)
    return pl.DataFrame({"station": names, "lat": lat, "lng": lng})


def cdr_records(scenario: Scenario, person: Ints) -> pl.DataFrame:
    """uid, ts, station, lat, lng, direction, region: one row per call, by person and time."""
    from scipy.spatial import cKDTree

    chance = scenario.chance
    row, instants, call = _calls(scenario, person)
    x, y = itinerary(scenario, build_city(scenario), person).where(row, scenario.wall(instants))
    lat, lng = scenario.degrees(x, y)
    masts = station_table(scenario)
    squeeze = np.cos(np.radians(scenario.centre[0]))  # so that degrees east and north are equally long
    tree = cKDTree(np.column_stack([masts["lat"], masts["lng"] * squeeze]))
    _, nearest = tree.query(np.column_stack([lat, lng * squeeze]))
    nearest = np.asarray(nearest, dtype=np.uint32)
    outgoing = pl.Series(chance.uniform("direction", person[row], call) < 0.52)
    foreign = np.floor(1 + (len(_REGIONS) - 1) * chance.uniform("which region", person)).astype(np.int64)
    region = pl.Series(_REGIONS[np.where(chance.uniform("region", person) < 0.88, 0, foreign)])
    return pl.DataFrame(
        {
            "uid": uids(person).gather(row),
            "ts": scenario.stamps(instants),
            "station": masts["station"].gather(nearest),
            "lat": masts["lat"].gather(nearest),
            "lng": masts["lng"].gather(nearest),
            "outgoing": outgoing,
            "region": region.gather(row),
        }
    ).select(
        "uid",
        "ts",
        "station",
        "lat",
        "lng",
        pl.when("outgoing").then(pl.lit("out")).otherwise(pl.lit("in")).alias("direction"),
        "region",
    )


def _calls(scenario: Scenario, person: Ints) -> tuple[Ints, Ints, Ints]:
    """(row of the person, instant, number that names the call among the person's), in order of time."""
    chance = scenario.chance
    days = np.arange(scenario.days)
    rate = np.clip(_BURSTS_PER_DAY * np.exp(chance.normal("talkative", person)), 0.05, 40.0)
    bursts = np.minimum(chance.geometric("bursts", rate[:, None], person[:, None], days), 200)
    row, day = (np.repeat(index.ravel(), bursts.ravel()) for index in np.indices(bursts.shape))
    burst = day * 256 + _count_from_zero(bursts.ravel())
    busiest = np.concatenate([[0.0], np.cumsum(_CIRCADIAN)]) / _CIRCADIAN.sum()
    hours = np.interp(chance.uniform("hour", person[row], burst), busiest, np.arange(25))
    begins = day * DAY + np.floor(hours * 3600).astype(np.int64)

    extra = chance.geometric("calls", np.full(len(row), _EXTRA_CALLS), person[row], burst)
    calls = 1 + np.minimum(extra, _LONGEST_BURST - 1)
    row, begins, burst = (np.repeat(part, calls) for part in (row, begins, burst))
    order = _count_from_zero(calls)
    call = burst * 16 + order
    # Whole seconds, so that the running sum is the same in every block.
    gap = 25 - np.floor(240 * np.log1p(-chance.uniform("gap", person[row], call))).astype(np.int64)
    gap[order == 0] = 0
    elapsed = np.cumsum(gap)
    elapsed -= np.repeat(elapsed[order == 0], calls)

    instants = scenario.instant(begins) + elapsed
    within = (instants >= 0) & (instants < scenario.length)
    row, instants, call = row[within], instants[within], call[within]
    ordered = np.lexsort((call, instants, row))
    row, instants, call = row[ordered], instants[ordered], call[ordered]
    again = np.zeros(len(row), dtype=np.bool_)  # nobody connects two calls in one second
    again[1:] = (row[1:] == row[:-1]) & (instants[1:] == instants[:-1])
    return row[~again], instants[~again], call[~again]


def _count_from_zero(sizes: Ints) -> Ints:
    """0, 1, ... within each group, for groups of these sizes laid end to end."""
    ends = np.cumsum(sizes)
    return np.arange(sizes.sum()) - np.repeat(ends - sizes, sizes)
