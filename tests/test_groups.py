"""A group of people as a release of its own: homes from nights, columns of the people table, and what is refused."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter

import polars as pl
import pytest
from conftest import HOMES, TINY_BOX

import trajlab as tl
from trajlab.cli.publishing import parse_group
from trajlab.errors import ReleaseError, UnknownNameError
from trajlab.release import groups

MADE = {"index": "square:1000", "slot": "3h", "box": TINY_BOX, "outside": "clamp"}
MONDAY = dt.datetime(2024, 3, 4, tzinfo=dt.UTC)


def members(lab: tl.Lab, release: tl.Release, attribute: str) -> dict[str, str]:
    with lab._store.transaction("groups"):
        grouping = groups.divide(lab._store, release.id, attribute)
    found = lab.sql(
        "select uid, value from slots.member join records.person using (person) where grouping_id = $id",
        id=grouping.id,
    )
    return dict(found.iter_rows())


def test_a_home_is_where_most_nights_are_spent(tiny):
    release = tiny.release(**MADE)
    assert members(tiny, release, "home:square:1000") == {
        "ana": "0,4",
        "ben": "0,4",
        "cleo": "2,2",  # her phone is off at night: filled from school
        "dora": "4,0",
        "emil": "2,4",
        "fay": "2,2",
    }
    zones = members(tiny, release, "home:zones")
    assert {who for who, zone in zones.items() if zone == "east"} == {"dora"}


def test_homes_equal_the_obvious_version():
    """Hourly slots of three days, four spots; most slots before 06:00, then the earliest, then the smaller cell."""
    chance = random.Random(4)
    spots = [(38.70, -9.15), (38.70, -9.12), (38.73, -9.15), (38.73, -9.12)]
    hours = [day * 24 + hour for day in range(3) for hour in (0, 2, 5, 6, 12)]
    rows = [
        (f"p{who}", hour, chance.randrange(4))
        for who in range(300)
        for hour in chance.sample(hours, chance.randint(1, 6))
    ]
    rows += [("tie", 3, 1), ("tie", 0, 3), ("day", 7, 0)]
    frame = pl.DataFrame(
        {
            "uid": [who for who, _, _ in rows],
            "ts": [MONDAY + dt.timedelta(hours=hour) for _, hour, _ in rows],
            "lat": [spots[spot][0] for _, _, spot in rows],
            "lng": [spots[spot][1] for _, _, spot in rows],
        }
    )
    with tl.open() as lab:
        lab.ingest(frame, tz="UTC")
        release = lab.release("square:1000", "1h", fill="none", box=(-9.2, 38.6, -9.1, 38.8))
        places = lab.sql(
            "select distinct fix.lat, fix.lng, cell.cell, cell.label from records.fix as fix "
            "join grid.fix as placed using (person, ts) join grid.cell as cell using (cell)"
        )
        cell = {(round(lat, 2), round(lng, 2)): (number, label) for lat, lng, number, label in places.iter_rows()}
        expected = {}
        for who in {who for who, _, _ in rows}:
            mine = [(hour, cell[spots[spot]]) for name, hour, spot in rows if name == who and hour % 24 < 6]
            tally = Counter(here for _, here in mine)
            first = {here: min(hour for hour, there in mine if there == here) for here in tally}
            best = min(tally, key=lambda here: (-tally[here], first[here], here[0]), default=None)
            expected[who] = best[1] if best else "unknown"
        assert {"unknown", *(label for _, label in cell.values())} == set(expected.values())
        assert members(lab, release, "home:square:1000") == expected


def test_a_column_of_the_people_table_divides_people_and_nobody_is_lost(tiny):
    tiny.people(HOMES)
    found = members(tiny, tiny.release(**MADE), "works")
    assert found == {
        "ana": "by day",
        "ben": "by day",
        "cleo": "unknown",
        "dora": "by night",
        "emil": "unknown",
        "fay": "unknown",
    }


@pytest.mark.parametrize(
    ("attribute", "more"),
    [
        ("home:zones", {"people": 4}),
        ("home:zones", {"fill": "linear"}),
        ("works", {"coverage": 0.5}),
        ("works", {"fill": "none"}),
    ],
)
def test_the_releases_of_all_groups_add_up_to_that_of_everybody(tiny, attribute, more):
    tiny.people(HOMES)
    made = MADE | more
    whole = tiny.release(**made)
    values = sorted(set(members(tiny, whole, attribute).values()))
    parts = [tiny.release(**made, group=(attribute, value)) for value in values]
    assert len({part.id for part in (whole, *parts)}) == len(values) + 1
    for of, key in (("counts", ["slot", "cell"]), ("flows", ["slot", "origin", "destination"])):
        united = pl.concat([getattr(part, of) for part in parts]).group_by(key).agg(pl.col("people").sum()).sort(key)
        assert united.equals(getattr(whole, of).sort(key))
    people = tiny.sql("select release_id, person from slots.position group by all")
    assert len(people) == 2 * people["person"].n_unique()  # once in the whole, once in one group


def test_a_group_keeps_its_id_until_its_people_change(tiny):
    tiny.people(HOMES)
    once, again = (tiny.release(**MADE, group=("works", "by day")) for _ in range(2))
    assert once.id == again.id
    assert once.people == 2
    tiny.people(pl.DataFrame({"uid": ["emil"], "works": ["by day"]}))
    changed = tiny.release(**MADE, group=("works", "by day"))
    assert changed.id != once.id
    assert changed.people == 3
    assert tiny.published(once.id).people == 2


def test_attack_and_risk_of_a_group_are_about_its_people(tiny):
    west = tiny.release(**MADE, group=("home:zones", "west"))
    run = tiny.attack(west, "xu2017")
    recovered = tiny.sql("select count(distinct person) from metrics.person_recovery where run_id = $id", id=run.id)
    assert recovered.item() == west.people == 5
    assert tiny.risk(west, "top:2").people == 5


def test_where_one_release_is_meant_a_group_is_not(tiny):
    from trajlab.cli.terminal import only_release

    whole = tiny.release(**MADE)
    tiny.release(**MADE, group=("home:zones", "west"))
    assert only_release(tiny, None) == whole.id
    tiny.release(index="square:2000")
    with pytest.raises(tl.errors.TrajlabError, match="the lab has 2 releases"):
        only_release(tiny, None)


@pytest.mark.parametrize(
    ("made", "error", "text"),
    [
        ({"group": ("age", "7")}, UnknownNameError,
         "no column of the people table (lab.people) named 'age'; there are: home, home:<index>, works"),
        ({"group": ("works", "never")}, ReleaseError,
         "nobody is in the group works='never'; there are: unknown, by day, by night"),
        ({"group": ("home:zones", "west"), "slot": "12h"}, ReleaseError,
         "home:zones needs slots of at most 6 hours, not 12: homes are found from slots before 06:00"),
        ({"group": "west"}, ReleaseError,
         "group is what people are divided by and one value, such as ('home:zones', 'north'), not 'west'"),
        ({"group": ("home:disc:6", "x")}, UnknownNameError, "no spatial index named 'disc'"),
    ],
    ids=["column", "value", "slot", "form", "index"],
)  # fmt: skip
def test_a_group_that_makes_no_sense_is_refused(tiny, made, error, text):
    tiny.people(HOMES)
    with pytest.raises(error) as refused:
        tiny.release(**MADE | made)
    assert text in str(refused.value)


def test_without_a_night_there_is_no_home():
    frame = pl.DataFrame(
        {"uid": ["a", "b"], "ts": [MONDAY + dt.timedelta(hours=12)] * 2, "lat": [38.7] * 2, "lng": [-9.1] * 2}
    )
    with tl.open() as lab:
        lab.ingest(frame, tz="UTC")
        with pytest.raises(ReleaseError, match="nobody has a position in a slot before 06:00, so no home is known"):
            lab.release("square:1000", "1h", fill="none", group=("home:square:1000", "0,0"))


@pytest.mark.parametrize(
    ("text", "group"),
    [
        (None, None),
        ("home:zones=north", ("home:zones", "north")),
        ("home:square:like=h3:8=1,2", ("home:square:like=h3:8", "1,2")),
        ("tariff=a=b", ("tariff", "a=b")),
    ],
)
def test_a_group_is_written_as_what_people_are_divided_by_and_the_value(text, group):
    assert parse_group(text) == group


@pytest.mark.parametrize("text", ["north", "=north", "home:zones="])
def test_half_a_group_is_refused(text):
    with pytest.raises(ReleaseError, match="--group takes BY=VALUE"):
        parse_group(text)
