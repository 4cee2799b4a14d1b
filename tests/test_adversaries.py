"""The adversaries of scikit-mobility: its documented examples, and an obvious version on random people.

The risks are those in the docstrings of scikit-mobility's skmob/privacy/attacks.py (commit 0ce806bd), from
which its reference pages are made; the data are its examples/privacy_toy.csv (commit e7e99b68): seven
people in Lucca, Livorno, Pisa and Firenze.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

import trajlab as tl
from trajlab.errors import RiskError, UnknownNameError
from trajlab.progress import Progress
from trajlab.query import Query
from trajlab.risk import knowledge, run, traces
from trajlab.risk.crowds import combining, fitting, states, walking
from trajlab.risk.reading import open_case
from trajlab.store import Store

LUCCA, LIVORNO, PISA, FIRENZE = (43.8430139, 10.507994), (43.54427, 10.32615), (43.70853, 10.4036), (43.77925, 11.24626)
TOY = {
    1: [(LUCCA, "03T08"), (LIVORNO, "03T09"), (PISA, "03T10"), (FIRENZE, "04T10")],
    2: [(LUCCA, "03T08"), (PISA, "03T09"), (LUCCA, "04T10"), (LIVORNO, "04T11")],
    3: [(LIVORNO, "03T08"), (PISA, "03T09"), (LUCCA, "04T10"), (FIRENZE, "04T11")],
    4: [(PISA, "04T10"), (LIVORNO, "04T11"), (FIRENZE, "04T12")],
    5: [(PISA, "04T10"), (FIRENZE, "04T11"), (LUCCA, "05T12")],
    6: [(LUCCA, "04T10"), (LIVORNO, "04T11")],
    7: [(LUCCA, "04T10"), (LUCCA, "04T11"), (FIRENZE, "05T12")],
}
DOCUMENTED = {
    "locations:2": [1 / 3, 1 / 2, 1 / 3, 1 / 3, 1 / 4, 1 / 4, 1 / 2],
    "locations:3": [1 / 2, 1, 1 / 2, 1 / 3, 1 / 3, 1 / 4, 1],
    "sequence:2": [1 / 2, 1 / 2, 1, 1 / 2, 1, 1 / 3, 1 / 2],
    "sequence:3": [1, 1, 1, 1, 1, 1 / 3, 1],
    "time:2:hour": [1, 1, 1, 1, 1, 1 / 2, 1],
    "time:2:month": [1 / 3, 1 / 2, 1 / 3, 1 / 3, 1 / 4, 1 / 4, 1 / 2],
    "time:3:month": [1 / 2, 1, 1 / 2, 1 / 3, 1 / 3, 1 / 4, 1],
    "unique:2": [1 / 3, 1 / 4, 1 / 3, 1 / 3, 1 / 4, 1 / 4, 1 / 4],
    "unique:3": [1 / 2, 1 / 3, 1 / 2, 1 / 3, 1 / 3, 1 / 4, 1 / 4],
    "frequency:2": [1 / 3, 1, 1 / 3, 1 / 3, 1 / 3, 1 / 3, 1],
    "frequency:2:0.5": [1 / 3, 1, 1 / 3, 1 / 3, 1 / 4, 1 / 4, 1],
    "frequency:3:0.5": [1 / 2, 1, 1 / 2, 1 / 3, 1 / 3, 1 / 4, 1],
    "probability:2": [1 / 2, 1, 1 / 2, 1, 1, 1, 1],
    "probability:2:0.5": [1 / 3, 1 / 2, 1 / 3, 1 / 3, 1 / 4, 1, 1],
    "probability:3:0.5": [1 / 2, 1, 1 / 2, 1 / 3, 1 / 3, 1, 1],
    "proportion:2": [1 / 3, 1, 1 / 3, 1 / 3, 1 / 3, 1 / 3, 1],
    "proportion:2:0.5": [1 / 3, 1 / 4, 1 / 3, 1 / 3, 1 / 3, 1 / 3, 1 / 4],
    "proportion:3:0.5": [1 / 2, 1 / 3, 1 / 2, 1 / 3, 1 / 3, 1 / 3, 1 / 4],
    "homework:least": [1 / 4, 1 / 4, 1 / 4, 1 / 4, 1, 1, 1],
}
DOCUMENTED_INSTANCES = {  # every combination of persons 1 and 2, with their probabilities
    "locations:3": ([1 / 3, 1 / 2, 1 / 3, 1 / 3], [1, 1 / 3, 1, 1 / 3]),
    "sequence:3": ([1, 1, 1, 1 / 2], [1, 1, 1, 1]),
    "time:3:month": ([1 / 3, 1 / 2, 1 / 3, 1 / 3], [1, 1 / 3, 1, 1 / 3]),
    "unique:3": ([1 / 3, 1 / 3, 1 / 2, 1 / 3], [1 / 3]),
    "frequency:3:0.5": ([1 / 3, 1 / 3, 1 / 2, 1 / 3], [1]),
    "probability:3:0.5": ([1 / 3, 1 / 3, 1 / 2, 1 / 3], [1]),
    "proportion:3:0.5": ([1 / 3, 1 / 2, 1 / 2, 1 / 3], [1 / 3]),
    "homework:least": ([1 / 4], [1 / 4]),
}


@pytest.fixture(scope="module")
def tuscany() -> tl.Lab:
    """The toy people, an hour a slot and a square of 500 m a town."""
    rows = [
        {"uid": str(uid), "ts": dt.datetime.fromisoformat(f"2011-02-{when}:34:04"), "lat": lat, "lng": lng}
        for uid, visits in TOY.items()
        for (lat, lng), when in visits
    ]
    lab = tl.open()
    lab.ingest(pl.DataFrame(rows), tz="Europe/Rome")
    return lab


def ask(store: Store, release_id: str, known_id: str, searched_id: str, text: str, **given) -> dict[int, dict]:
    """The answer for everybody, by trace."""
    risk_id = f"{text}{given}"
    store.con.execute("delete from metrics.anonymity where risk_id = $id", {"id": risk_id})
    case = open_case(store, release_id, known_id, searched_id, risk_id, Progress())
    run.answer_question(store, risk_id, knowledge.load(text, **given), case, Progress())
    rows = store.frame("select * from metrics.anonymity where risk_id = $id order by trace", id=risk_id)
    store.con.execute("delete from metrics.target where risk_id = $id", {"id": risk_id})
    return {row["trace"]: row for row in rows.to_dicts()}


def of_tuscany(lab: tl.Lab, text: str) -> list[dict]:
    store = lab._store
    release = lab.release(index="square:500", slot="1h", fill="static", box=(10.2, 43.4, 11.4, 44.0))
    searched = traces.of_release(store, release.id, "records", Progress())
    store.build(
        Query.load("metrics.target"),
        risk_id=f"{text}{{}}",
        known_id=searched.id,
        run_id=None,
        seed="0",
        sample=None,
        days=3,
    )
    answer = ask(store, release.id, searched.id, searched.id, text)
    uids = dict(store.rows("select uid, person from records.person"))
    return [answer[uids[str(uid)]] for uid in TOY]


@pytest.mark.parametrize("text", DOCUMENTED)
def test_the_documented_risks_of_scikit_mobility_come_out_to_the_last_digit(tuscany, text):
    answer = of_tuscany(tuscany, text)
    assert [row["pick_chance"] for row in answer] == DOCUMENTED[text]
    assert [row["k"] for row in answer] == [round(1 / risk) for risk in DOCUMENTED[text]]
    assert all(row["found"] for row in answer)


@pytest.mark.parametrize("text", DOCUMENTED_INSTANCES)
def test_the_mean_is_that_of_the_documented_instances(tuscany, text):
    for row, instances in zip(of_tuscany(tuscany, text), DOCUMENTED_INSTANCES[text], strict=False):
        assert row["combinations"] == len(instances)
        assert row["mean_pick_chance"] == pytest.approx(sum(instances) / len(instances), rel=1e-15)


def test_home_and_work_are_the_two_places_visited_most(tuscany):
    assert [row["k"] for row in of_tuscany(tuscany, "homework")] == [2, 1, 2, 2, 1, 2, 1]


# An obvious version: every combination, against everybody.

STARTS = [dt.datetime(2021, 12, 30, 22) + dt.timedelta(hours=step) for step in range(60)]
LENGTH = {"hour": 13, "day": 10, "month": 7, "year": 4}


def visits_of(rows: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """(slot, cell), one for each visit, in order."""
    return [(slot, cell) for slot, cell, n in sorted(rows) for _ in range(n)]


def elements(kind: str, rows: list, resolution: str = "hour") -> list:
    visits = visits_of(rows)
    times = Counter(cell for _, cell in visits)
    if kind == "time":
        return [(cell, str(STARTS[slot])[: LENGTH[resolution]]) for slot, cell in visits]
    if kind in ("locations", "sequence"):
        return [cell for _, cell in visits]
    if kind == "unique":
        return sorted(times)
    if kind == "homework":
        first = {cell: slot for slot, cell in reversed(visits)}
        return sorted(times, key=lambda cell: (-times[cell], first[cell], cell))[:2]
    total = len(visits) if kind == "probability" else 1
    return [(cell, times[cell] / total) for cell in sorted(times)]


def fits(kind: str, known: tuple, there: list, tolerance: float) -> bool:
    if kind == "sequence":
        left = iter(there)
        return all(cell in left for cell in known)
    if kind in ("locations", "time", "unique", "homework"):
        return all(Counter(there)[each] >= n for each, n in Counter(known).items())
    value = dict(there)
    if any(cell not in value for cell, _ in known):
        return False
    ours, theirs = [x for _, x in known], [value[cell] for cell, _ in known]
    if kind == "proportion":
        ours, theirs = [x / max(ours) for x in ours], [v / max(theirs) for v in theirs]
    return all(v - v * tolerance <= x <= v + v * tolerance for x, v in zip(ours, theirs, strict=True))


def oracle(text: str, known: dict, searched: dict, own: dict) -> dict[int, dict]:
    kind, *words = text.split(":")
    most = int(words[0]) if kind != "homework" else 2
    resolution = words[1] if kind == "time" else "hour"
    tolerance = float(words[1]) if kind in ("frequency", "probability", "proportion") and len(words) > 1 else 0.0
    there = {trace: elements(kind, rows, resolution) for trace, rows in searched.items()}
    answer = {}
    for person, rows in known.items():
        mine = elements(kind, rows, resolution)
        risks, all_k, found_k = [], [], []
        for some in combinations(mine, min(most, len(mine))):
            fitting = [trace for trace in there if fits(kind, some, there[trace], tolerance)]
            all_k.append(len(fitting))
            if own[person] in fitting:
                found_k.append(len(fitting))
            risks.append(Fraction(1, len(fitting)) if own[person] in fitting else Fraction(0))
        answer[person] = {
            "known": min(most, len(mine)),
            "k": min(found_k) if found_k else min(all_k),
            "found": bool(found_k),
            "pick_chance": float(max(risks)),
            "mean_pick_chance": pytest.approx(float(sum(risks) / len(risks)), rel=1e-14),
            "combinations": len(risks),
        }
    return answer


@functools.cache
def empty_lab() -> Store:
    store = Store()
    calendar = pl.DataFrame({"slot": range(len(STARTS)), "starts": STARTS})
    store.con.register("calendar", calendar.to_arrow())
    store.con.execute("insert into slots.slot by name select 'r' as release_id, slot, starts from calendar")
    return store


def lab_of(known: dict, searched: dict | None = None) -> Store:
    """The same lab every time, with these traces in it and no others."""
    store = empty_lab()
    people = [
        (name, trace, rows)
        for name, of in (("known", known), ("searched", searched or {}))
        for trace, rows in of.items()
    ]
    visits = [(name, trace, *row) for name, trace, rows in people for row in rows]
    for table, rows, columns in (
        ("slots.trace", [person[:2] for person in people], ["traces_id", "trace"]),
        ("slots.visit", visits, ["traces_id", "trace", "slot", "cell", "visits"]),
    ):
        store.con.execute(f"delete from {table}")
        store.con.register("rows", pl.DataFrame(rows, schema=columns, orient="row").to_arrow())
        store.con.execute(f"insert into {table} by name select * from rows")
        store.con.unregister("rows")
    return store


def answers(store: Store, own: dict, text: str, searched: str = "known", **given) -> dict[int, dict]:
    frame = pl.DataFrame(
        {"risk_id": f"{text}{given}", "trace": list(own), "person": list(own), "own": list(own.values()), "frequent": True, "lot": 0},
        schema={"risk_id": pl.String, "trace": pl.Int32, "person": pl.Int32, "own": pl.Int32, "frequent": pl.Boolean, "lot": pl.UInt64},
    )  # fmt: skip
    store.insert("metrics.target", frame)
    rows = ask(store, "r", "known", searched, text, **given)
    return {trace: {name: row[name] for name in row if name not in ("risk_id", "trace")} for trace, row in rows.items()}


KINDS = [
    "locations:1", "locations:2", "locations:3", "locations:4", "sequence:1", "sequence:2", "sequence:3", "sequence:4",
    "time:2:hour", "time:2:day", "time:3:month", "time:2:year", "unique:1", "unique:2", "unique:3",
    "frequency:1", "frequency:2", "frequency:3:0.5", "frequency:2:1", "probability:2", "probability:2:0.4",
    "probability:3:0.3", "proportion:1", "proportion:2", "proportion:2:0.5", "proportion:3:0.3", "homework",
]  # fmt: skip
trace = st.lists(
    st.tuples(st.integers(0, 59), st.integers(0, 4), st.sampled_from([1, 1, 1, 2, 3])),
    min_size=1, max_size=6, unique_by=lambda row: row[:2],
)  # fmt: skip
few_slots = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([1, 1, 2])),
    min_size=1, max_size=6, unique_by=lambda row: row[:2],
)  # fmt: skip
population = st.lists(trace, min_size=2, max_size=9) | st.lists(few_slots, min_size=2, max_size=9)


def most_of(text: str) -> int:
    return int(text.split(":")[1]) if ":" in text else 1


@pytest.mark.parametrize("text", KINDS)
@examples(few=3, many=20)
@given(people=population)
def test_everybodys_risk_is_that_of_every_combination_against_everybody(text, people):
    known = dict(enumerate(people))
    if max(len(elements(text.split(":")[0], rows)) for rows in people) < most_of(text):
        return
    own = {person: person for person in known}
    assert answers(lab_of(known), own, text) == oracle(text, known, known, own)


@pytest.mark.parametrize("text", KINDS)
@examples(few=3, many=20)
@given(
    people=st.lists(few_slots, min_size=1, max_size=5),
    tracks=st.lists(few_slots, min_size=1, max_size=5),
    data=st.data(),
)
def test_recovered_tracks_are_searched_with_what_is_known_of_true_people(text, people, tracks, data):
    known, searched = dict(enumerate(people)), dict(enumerate(tracks, start=100))
    if max(len(elements(text.split(":")[0], rows)) for rows in people) < most_of(text):
        return
    own = {person: data.draw(st.sampled_from([None, *searched])) for person in known}
    assert answers(lab_of(known, searched), own, text, "searched") == oracle(text, known, searched, own)


@pytest.mark.parametrize(
    "text",
    ["locations:2", "locations:4", "sequence:2", "sequence:4", "time:2:day", "unique:3", "frequency:2", "frequency:3:0.5",
     "probability:2:0.4", "proportion:3:0.3"],
)  # fmt: skip
@examples(few=3, many=20)
@given(people=population, beam=st.integers(1, 3))
def test_above_the_limit_the_maximum_is_the_same_and_the_mean_is_not_given(text, people, beam):
    known = dict(enumerate(people))
    if max(len(elements(text.split(":")[0], rows)) for rows in people) < most_of(text):
        return
    own = {person: person for person in known}
    store = lab_of(known)
    everything = answers(store, own, text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(combining, "BEAM", beam)
        patch.setattr(combining, "AT_ONCE", 2)
        pruned = answers(store, own, text, limit=1)
    for person, row in pruned.items():
        if row["mean_pick_chance"] is not None:
            assert row["combinations"] == 1 or row == everything[person]
    assert any(row["mean_pick_chance"] is None for row in pruned.values()) or all(
        row == everything[p] for p, row in pruned.items()
    )
    for person in known:
        assert {**pruned[person], "mean_pick_chance": 0} == {**everything[person], "mean_pick_chance": 0}


@pytest.mark.parametrize("text", ["locations:3", "sequence:3", "time:2:day", "proportion:3:0.3"])
@examples(few=3, many=20)
@given(people=population)
def test_blocks_and_tables_of_any_size_give_the_same_answer(text, people):
    known = dict(enumerate(people))
    if max(len(elements(text.split(":")[0], rows)) for rows in people) < most_of(text):
        return
    own = {person: person for person in known}
    store = lab_of(known)
    once = answers(store, own, text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(states, "BLOCK", 3)
        patch.setattr(walking, "DENSE", -1_000_000)
        patch.setattr(fitting, "PAIRS", 2)
        assert answers(store, own, text) == once


def test_with_a_tolerance_knowing_one_more_proportion_can_hide_a_person_better():
    """Anna is once at A and B, twice at C; Ben once at A, twice at B and C. A and B alone tell them apart."""
    store = lab_of({1: [(0, 1, 1), (1, 2, 1), (2, 3, 2)], 2: [(0, 1, 1), (1, 2, 2), (2, 3, 2)]})
    own = {1: 1, 2: 2}
    assert answers(store, own, "proportion:2:0.5")[1]["k"] == 1
    assert answers(store, own, "proportion:3:0.5")[1]["k"] == 2


def test_a_sample_of_people_is_answered_as_everybody_is():
    rng = np.random.default_rng(5)
    known = {
        person: [(int(slot), int(cell), 1) for slot, cell in enumerate(rng.integers(0, 6, 8))] for person in range(12)
    }
    store = lab_of(known)
    for text in ("locations:2", "sequence:2", "frequency:2:0.5", "homework"):
        everybody = answers(store, {person: person for person in known}, text)
        some = answers(store, {person: person for person in (3, 7)}, text)
        assert some == {person: everybody[person] for person in (3, 7)}


def test_somebody_without_a_visit_might_be_anybody():
    store = lab_of({1: [(0, 5, 1)], 2: [(0, 5, 1)], 3: []})
    for text in ("locations:1", "sequence:1", "unique:1", "frequency:1:0.5", "homework"):
        row = answers(store, {1: 1, 2: 2, 3: 3}, text)[3]
        assert row == {
            "known": 0,
            "k": 3,
            "found": True,
            "pick_chance": 1 / 3,
            "mean_pick_chance": 1 / 3,
            "combinations": 1,
        }


def test_two_alike_with_more_combinations_than_the_limit_are_known_to_be_two_without_a_search():
    """Nothing leaves fewer than the two who share everything: no need to try all 4 * 10^8 combinations."""
    alike = [(slot % 60, slot, 1) for slot in range(120)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walking, "WORK", 1_000_000)
        store = lab_of({1: alike, 2: alike, 3: alike[:60]})
        rows = answers(store, {1: 1, 2: 2, 3: 3}, "locations:6")
    assert [rows[who]["k"] for who in (1, 2, 3)] == [2, 2, 3]
    assert rows[1]["mean_pick_chance"] is None
    assert rows[1]["combinations"] == 3_652_745_460


def test_work_without_end_is_refused_with_what_to_do():
    alike = [(slot % 60, slot, 1) for slot in range(60)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walking, "WORK", 1_000_000)
        store = lab_of({1: alike, 2: alike})
        with pytest.raises(RiskError, match="more than 1,000,000 combinations .* fewer elements, .* sample .* coarser"):
            answers(store, {1: 1, 2: 2}, "sequence:6")


def test_more_combinations_than_can_be_counted_are_refused():
    store = lab_of({1: [(0, 1, 300)]})
    with pytest.raises(RiskError, match=r"300 elements has more than 10\^18 combinations of 40"):
        answers(store, {1: 1}, "locations:40")


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("locations:0", RiskError, "visits must be a whole number, 1 or more, not 0"),
        ("sequence:-1", RiskError, "visits must be a whole number, 1 or more, not -1"),
        ("unique:0", RiskError, "places must be a whole number, 1 or more, not 0"),
        ("time:1:week", UnknownNameError, "no resolution named 'week'; there are: day, hour, month, year"),
        ("frequency:1:-0.1", RiskError, "tolerance is a share of the value, from 0 to 1, not -0.1"),
        ("probability:1:1.5", RiskError, "tolerance is a share of the value, from 0 to 1, not 1.5"),
        ("proportion:1:nan", RiskError, "tolerance is a share of the value, from 0 to 1, not nan"),
        ("locations:2:0", RiskError, "limit must be a whole number, 1 or more, not 0"),
        ("homework:office", UnknownNameError, "no pair of places named 'office'; there are: least, most"),
    ],
)
def test_settings_that_make_no_sense_are_refused(text, error, says):
    with pytest.raises(error) as refused:
        knowledge.load(text)
    assert str(refused.value) == says


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("locations:5", "nobody has 5 visits: of 2 people the one with most has 4"),
        ("unique:3", "nobody has 3 places: of 2 people the one with most has 2"),
    ],
)
def test_more_than_anybody_has_is_refused(text, says):
    store = lab_of({1: [(0, 1, 3), (1, 2, 1)], 2: [(0, 1, 1)]})
    with pytest.raises(RiskError) as refused:
        answers(store, {1: 1, 2: 2}, text)
    assert str(refused.value) == says
