"""The laws of `Protection`, on every protection there is: a file in trajlab/protect/ is checked by being there."""

from __future__ import annotations

import datetime as dt
import functools

import numpy as np
import polars as pl
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import trajlab as tl
from trajlab import protect
from trajlab.progress import Progress
from trajlab.protect import Period
from trajlab.protect.run import name_of
from trajlab.protect.run import protect as publish
from trajlab.risk import traces

# A protection that has settings adds a line: texts that differ in what they do.
EXAMPLES = {
    "cut": ["cut:6h", "cut:90min", "cut:1d", "cut:45s"],
}
TEXTS = [text for name in protect.names("traces") for text in EXAMPLES.get(name, [name])]
KEY = "a key for the tests, known to all"
MONDAY = dt.datetime(2024, 3, 4, tzinfo=dt.UTC)

some = examples(few=13, many=80)
every_protection = pytest.mark.parametrize("text", TEXTS)


def visits_of(rows):
    whole = pl.DataFrame(rows, schema=["person", "slot", "cell"], orient="row").unique()
    kinds = {"person": pl.Int32, "slot": pl.Int32, "cell": pl.UInt64}
    return whole.cast(kinds).with_columns(visits=(pl.col("slot") % 3 + 1).cast(pl.Int32))


@st.composite
def populations(draw):
    """A few people, some of them in several cells in one slot, and the period they are watched."""
    period = Period(draw(st.integers(1, 60)), draw(st.sampled_from([20, 900, 3600, 10_800, 86_400])))
    row = st.tuples(st.integers(1, 6), st.integers(0, period.slots - 1), st.integers(0, 4))
    return visits_of(draw(st.lists(row, min_size=1, max_size=60))), period


def applied(text, visits, period):
    return protect.load(text).apply(visits.lazy(), period).collect()


def in_order(frame):
    return frame.select("person", "part", "slot", "cell", "visits").sort("person", "part", "slot", "cell", "visits")


# The laws of what a protection does


@every_protection
@some
@given(population=populations())
def test_nobody_gets_a_visit_who_had_none(text, population):
    visits, period = population
    assert set(applied(text, visits, period)["person"]) <= set(visits["person"])


@every_protection
@some
@given(population=populations())
def test_what_becomes_of_somebody_does_not_depend_on_who_else_is_there(text, population):
    visits, period = population
    apart = [applied(text, one, period) for one in visits.partition_by("person")]
    assert_frame_equal(in_order(pl.concat(apart)), in_order(applied(text, visits, period)))


@every_protection
@some
@given(population=populations())
def test_a_trace_is_in_slots_of_the_period_and_is_told_once_where_it_was(text, population):
    visits, period = population
    made = applied(text, visits, period)
    assert set(made.columns) == {"person", "slot", "cell", "visits", "part"}
    assert not made.select("person", "part", "slot", "cell").is_duplicated().any()
    assert made.filter((pl.col("part") < 0) | (pl.col("visits") < 1) | (pl.col("slot") < 0)).is_empty()
    assert made.filter(pl.col("slot") >= period.slots).is_empty()
    assert sum(made.null_count().row(0)) == 0


@every_protection
@some
@given(population=populations())
def test_whoever_says_that_visits_are_kept_keeps_every_one(text, population):
    visits, period = population
    if protect.load(text).keeps_visits:
        made = applied(text, visits, period).select(visits.columns)
        assert_frame_equal(made, visits, check_row_order=False, check_dtypes=False)


@pytest.mark.parametrize("name", protect.names("traces"))
def test_whoever_says_that_visits_change_changes_some(name):
    texts = EXAMPLES.get(name, [name])
    rng = np.random.default_rng(0)
    visits = visits_of(np.stack([rng.integers(1, 9, 900), rng.integers(0, 96, 900), rng.integers(0, 9, 900)], axis=1))
    kept = [
        in_order(applied(text, visits, Period(96, 3600)).with_columns(part=0)).equals(
            in_order(visits.with_columns(part=0)), null_equal=True
        )
        for text in texts
    ]
    assert all(kept) == protect.load(texts[0]).keeps_visits


@every_protection
@some
@given(population=populations(), seed=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_does_not_matter(text, population, seed):
    visits, period = population
    shuffled = visits.sample(fraction=1, shuffle=True, seed=seed)
    assert_frame_equal(in_order(applied(text, visits, period)), in_order(applied(text, shuffled, period)))


@every_protection
def test_the_name_of_a_protection_leads_back_to_it(text):
    protection = protect.load(text)
    assert protect.load(name_of(protection)) == protection


@pytest.mark.parametrize("name", protect.names("traces"))
def test_a_protection_says_what_it_does(name):
    assert protect.describe(name).partition("\n")[0].endswith(".")


# The laws of ids


def people(seed=0, shuffled=False):
    rng = np.random.default_rng(seed)
    count = 600
    frame = pl.DataFrame(
        {
            "uid": [f"subscriber-{n}" for n in rng.integers(0, 12, count)],
            "ts": [MONDAY + dt.timedelta(minutes=int(m)) for m in rng.integers(0, 3 * 1440, count)],
            "lat": 38.70 + rng.integers(0, 4, count) / 100,
            "lng": -9.16 + rng.integers(0, 4, count) / 100,
        }
    ).unique(["uid", "ts"], keep="first", maintain_order=True)
    return frame.sample(fraction=1, shuffle=True, seed=1) if shuffled else frame


class Town:
    """A lab of a dozen people and what becomes of their traces."""

    def __init__(self, records, start):
        self.lab = tl.open(":memory:")
        self.lab.ingest(records, tz="UTC")
        self.release = self.lab.release(index="square:1000", slot="1h", fill="none", start=start, days=2)

    def protected(self, text, key=KEY, basis="records"):
        store = self.lab._store
        source = traces.of_release(store, self.release.id, basis, Progress())
        return publish(store, source, text, key=key, progress=Progress())

    def ids(self, made):
        """What only the lab knows: whose part each id is."""
        return self.lab.sql(
            "select uid, part, pseudonym, trace, trace.records from slots.trace as trace "
            "join records.person using (person) where traces_id = $id order by trace",
            id=made.id,
        )


@functools.cache
def town_of(start=None, shuffled=False):
    return Town(people(shuffled=shuffled), start=start)


@pytest.fixture
def town():
    return town_of()


@every_protection
def test_no_two_traces_share_an_id_and_none_tells_the_uid(text, town):
    ids = town.ids(town.protected(text))
    assert ids["pseudonym"].is_unique().all()
    assert ids["pseudonym"].str.contains("^[0-9a-f]{32}$").all()
    assert not any(uid in pseudonym or pseudonym in uid for uid, _, pseudonym, _, _ in ids.iter_rows())


@every_protection
def test_numbers_of_traces_follow_their_ids(text, town):
    ids = town.ids(town.protected(text))
    assert ids["pseudonym"].is_sorted()
    assert ids["trace"].to_list() == list(range(1, len(ids) + 1))


@every_protection
def test_another_key_gives_other_ids(text, town):
    one, other = town.protected(text), town.protected(text, key=KEY[::-1])
    assert one.id != other.id
    assert (one.traces, one.visits) == (other.traces, other.visits)
    assert set(town.ids(one)["pseudonym"]).isdisjoint(town.ids(other)["pseudonym"])


@every_protection
def test_the_same_key_gives_the_same_ids_in_another_lab_whatever_the_order_of_records(text, town):
    other = town_of(shuffled=True)
    assert_frame_equal(town.ids(town.protected(text)), other.ids(other.protected(text)))


@every_protection
def test_ids_repeat_in_no_other_set_of_the_lab(text, town):
    """Or whoever has two publications could put the parts of a person together."""
    sets = [
        town.protected(text, key=None),
        town.protected(text, key=None, basis="observed"),
        town.protected(TEXTS[TEXTS.index(text) - 1], key=None) if len(TEXTS) > 1 else town.protected(text),
    ]
    ids = [pseudonym for made in sets for pseudonym in town.ids(made)["pseudonym"]]
    assert len(ids) == len(set(ids)) == sum(made.traces for made in sets)


@every_protection
def test_a_key_that_is_used_for_two_periods_gives_other_ids(text):
    monday, tuesday = town_of(), town_of(start="2024-03-05")
    ids = [set(town.ids(town.protected(text))["pseudonym"]) for town in (monday, tuesday)]
    assert ids[0].isdisjoint(ids[1])


@every_protection
def test_what_is_stored_is_what_the_protection_gives(text, town):
    made = town.protected(text)
    stored = town.lab.sql(
        "select trace.person, trace.part, visit.slot, visit.cell, visit.visits from slots.visit as visit "
        "join slots.trace as trace using (traces_id, trace) where traces_id = $id",
        id=made.id,
    )
    source = traces.of_release(town.lab._store, town.release.id, "records", Progress())
    visits = town.lab.sql(
        "select trace as person, slot, cell, visits from slots.visit where traces_id = $id", id=source.id
    )
    expected = applied(text, visits, Period(48, 3600))
    assert_frame_equal(in_order(stored), in_order(expected), check_dtypes=False)
    assert made.traces == expected.select("person", "part").n_unique()
    assert made == traces.load(town.lab._store, made.id)


@every_protection
def test_records_are_those_of_the_whole_person(text, town):
    whole = dict(
        town.lab.sql(
            "select uid, count(*) from records.fix join records.person using (person) "
            "where ts < timestamptz '2024-03-06 00:00:00+00' group by uid"
        ).iter_rows()
    )
    assert {(uid, records) for uid, _, _, _, records in town.ids(town.protected(text)).iter_rows()} <= whole.items()


# What cutting is for


@pytest.mark.skipif("cut" not in protect.names(), reason="there is no cutting")
def test_fewer_are_singled_out_when_people_are_cut_into_hours():
    """song2014, figure 2: two known points, in a simulated city. A window of a whole day changes little."""
    lab = tl.open(":memory:")
    lab.ingest(tl.simulate(people=300, days=3, seed=4), tz="Europe/Lisbon")
    release = lab.release(index="square:1000", slot="30min")
    source = traces.of_release(lab._store, release.id, "records", Progress())
    cuts = [publish(lab._store, source, f"cut:{window}", key=KEY, progress=Progress()) for window in ("6h", "3h")]
    whole, six, three = (lab.risk(each, "points:2", seed=1).unique_share for each in (source, *cuts))
    assert whole - six > 0.05
    assert six > three > 0
