from __future__ import annotations

import datetime as dt
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from trajlab import spatial
from trajlab.errors import SlotError
from trajlab.release import slots
from trajlab.release.slots import Calendar, slot_seconds, write_clock
from trajlab.spatial._projection import LocalMetres
from trajlab.store import Store

ZONES = [
    "UTC",
    "Europe/Lisbon",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "America/St_Johns",
]


@pytest.mark.parametrize(
    ("given_slot", "seconds"),
    [("30min", 1800), ("30 min", 1800), ("1h", 3600), ("2 hours", 7200), ("20s", 20), ("1d", 86400), (600, 600),
     (dt.timedelta(minutes=5), 300), ("90min", 5400)],
)  # fmt: skip
def test_a_slot_may_be_written_in_many_ways(given_slot, seconds):
    assert slot_seconds(given_slot) == seconds


@pytest.mark.parametrize(
    ("given_slot", "message"),
    [
        (
            "7min",
            "a slot of 420 s does not divide a day into equal slots; the nearest that do are 400 s and 432 s",
        ),
        ("half an hour", "is not understood: write it like '30min'"),
        ("0min", "does not divide a day"),
        (0.5, "does not divide a day"),
        ("2d", "does not divide a day"),
    ],
)
def test_a_slot_that_does_not_divide_a_day_is_refused(given_slot, message):
    with pytest.raises(SlotError, match=message):
        slot_seconds(given_slot)


def test_an_unknown_zone_is_refused():
    with pytest.raises(SlotError, match="there is no time zone 'Mars/Olympus'"):
        Calendar(dt.date(2024, 3, 4), 1, 1800, "Mars/Olympus")


def slot_by_the_wall(instant: dt.datetime, calendar: Calendar) -> int:
    """The obvious version: look at the clock on the wall."""
    local = instant.astimezone(ZoneInfo(calendar.tz))
    seconds = local.hour * 3600 + local.minute * 60 + local.second
    return (local.date() - calendar.start).days * calendar.slots_per_day + seconds // calendar.seconds


@pytest.fixture(scope="module")
def store() -> Store:
    """A lab for many examples, each of which writes its clock over the one before."""
    return Store()


@examples(few=13, many=80)
@given(
    tz=st.sampled_from(ZONES),
    start=st.dates(dt.date(1975, 1, 1), dt.date(2030, 1, 1)),
    days=st.integers(1, 240),
    seconds=st.sampled_from([60, 600, 900, 1800, 3600, 5400, 10800, 86400]),
    shares=st.lists(st.floats(0, 1), min_size=1, max_size=20),
)
def test_a_tick_is_in_the_slot_that_the_clock_on_the_wall_shows(store, tz, start, days, seconds, shares):
    calendar = Calendar(start, days, seconds, tz)
    tick = write_clock(store, "r", calendar)
    clock = dict(store.rows("select tick, slot from slots.clock"))
    begins = dt.datetime.combine(start, dt.time(), ZoneInfo(tz)).timestamp()
    ends = dt.datetime.combine(start + dt.timedelta(days=days), dt.time(), ZoneInfo(tz)).timestamp()
    for share in shares:
        at = int(begins + share * (ends - begins - 1))
        expected = slot_by_the_wall(dt.datetime.fromtimestamp(at, dt.UTC), calendar)
        assert clock[at // tick] == expected


@pytest.mark.parametrize(("start", "missing"), [("2024-03-31", {2, 3}), ("2024-10-27", set())])
def test_the_days_of_the_clock_change_lose_no_instant(start, missing):
    calendar = Calendar(dt.date.fromisoformat(start), 1, 1800, "Europe/Lisbon")
    store = Store()
    tick = write_clock(store, "r", calendar)
    ticks, slots = store.rows("select count(*), list(distinct slot) from slots.clock")[0]
    hours = 23 if missing else 25
    assert ticks * tick == hours * 3600
    assert set(range(48)) - set(slots) == missing


def test_a_period_of_more_than_a_century_can_be_cut_into_days_but_not_into_seconds():
    store = Store()
    write_clock(store, "r", Calendar(dt.date(1970, 1, 1), 47_482, 86_400, "UTC"))
    assert store.rows("select max(slot) from slots.clock") == [(47_481,)]
    with pytest.raises(SlotError, match="47482 days of 1 s are 4,102,444,800 slots: use longer ones or fewer days"):
        Calendar(dt.date(1970, 1, 1), 47_482, 1, "UTC")


@pytest.mark.parametrize("seconds", [900, 1800, 3600, 86_400])
@pytest.mark.parametrize("start", ["2006-04-01", "2006-04-02", "2006-10-28", "2006-10-29"])
def test_clocks_that_change_a_minute_after_midnight_move_every_minute_to_its_slot(start, seconds):
    """In Newfoundland, until 2011, one minute of a day came before the last hour of the day before."""
    calendar = Calendar(dt.date.fromisoformat(start), 2, seconds, "America/St_Johns")
    store = Store()
    tick = write_clock(store, "r", calendar)
    clock = dict(store.rows("select tick, slot from slots.clock"))
    midnight = int(dt.datetime.combine(calendar.start, dt.time(), dt.UTC).timestamp())
    for at in range(midnight - 3600, midnight + 3 * 86_400, 60):
        expected = slot_by_the_wall(dt.datetime.fromtimestamp(at, dt.UTC), calendar)
        assert clock.get(at // tick) == (expected if 0 <= expected < calendar.slots else None)


def test_a_tick_is_no_shorter_than_the_zone_asks_for():
    for tz, start, tick in (
        ("Europe/Lisbon", "2024-03-30", 900), ("America/St_Johns", "2024-03-09", 900), ("America/St_Johns", "2006-04-01", 60),
        ("America/St_Johns", "2006-05-01", 900), ("Asia/Kathmandu", "2024-03-30", 900), ("Africa/Monrovia", "1971-12-31", 30),
    ):  # fmt: skip
        assert write_clock(Store(), "r", Calendar(dt.date.fromisoformat(start), 10, 1800, tz)) == tick, (tz, start)


TOWN = spatial.StudyArea((24.0, 59.0, 25.0, 60.0))
squares = st.tuples(st.integers(20, 60), st.integers(20, 60))


def walked(index, ends, steps):
    """The cells of linear filling on the ways between the ends, `steps` slots long."""
    plane = LocalMetres.amid(TOWN.box)
    cells = np.array([[row << 32 | column for column, row in pair] for pair in ends], dtype=np.uint64).T
    (x, y), (next_x, next_y) = (plane.forward(*index.anchor(each)) for each in cells)
    columns = {
        "person": 1,
        "slot": 0,
        "cell": cells[0],
        "next_cell": cells[1],
        "x": x,
        "y": y,
        "next_x": next_x,
        "next_y": next_y,
    }
    gaps = pl.DataFrame({**columns, "missing": np.array(steps) - 1})
    found = slots._on_the_line(gaps, "r", index, plane)["cell"].to_numpy()
    return np.split(found, np.cumsum(np.array(steps) - 1)[:-1])


def exactly(ends, steps):
    """The same in fractions: on a border, the side of the end that is nearer in time, or else the first in order."""
    for k in range(1, steps):
        near = ends[0] if 2 * k < steps else ends[1] if 2 * k > steps else min(ends)
        place = []
        for start, end, kept in zip(*ends, near, strict=True):
            at = start + Fraction(1, 2) + Fraction(k * (end - start), steps)
            place.append(at.numerator - (kept < at) if at.denominator == 1 else at // 1)
        yield place[1] << 32 | place[0]


@pytest.mark.parametrize("side", ["500", "333.333", "64.001"])
@examples(few=8, many=50)
@given(ways=st.lists(st.tuples(squares, squares, st.integers(2, 24)), min_size=1, max_size=30))
def test_a_point_on_a_border_is_on_the_side_of_the_end_that_is_nearer_in_time(side, ways):
    index = spatial.build(f"square:{side}", TOWN)
    ends, steps = [way[:2] for way in ways], [way[2] for way in ways]
    there, back = walked(index, ends, steps), walked(index, [pair[::-1] for pair in ends], steps)
    for pair, length, forth, home in zip(ends, steps, there, back, strict=True):
        assert forth.tolist() == list(exactly(pair, length))
        assert home.tolist() == forth.tolist()[::-1]
