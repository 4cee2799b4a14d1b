"""Somebody who knows most frequent places, the summaries of any answer, and groups, against plain Python."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction

import polars as pl
import pytest
from conftest import examples
from hypothesis import example, given
from hypothesis import strategies as st

from trajlab.errors import IngestError, RiskError, UnknownNameError
from trajlab.progress import Progress
from trajlab.query import Query
from trajlab.risk import knowledge, traits
from trajlab.risk import run as risk
from trajlab.risk.traces import Traces
from trajlab.store import Store

PEOPLE = 9
numbers = itertools.count()


def fresh_store() -> Store:
    store = Store(threads=2)
    store.con.execute("insert into records.person select i, 'p' || i from range(1, 10) as people(i)")
    store.con.execute(
        "insert into counts.release select 'r', 1, 'x', '2024-03-04', 'UTC', 21600, 4, 12, 'none', 1, '', null, null"
    )
    return store


@pytest.fixture(scope="module")
def store():
    """Shared by all examples; each has ids of its own."""
    opened = fresh_store()
    yield opened
    opened.close()


def kept(store: Store, visits: list[tuple[int, int, int, int]], run_id: str | None = None) -> Traces:
    """Visits (trace, slot, cell, visits) as a set of traces of their own; of true ones, trace and person are one."""
    made = Traces(f"t{next(numbers)}", "r", run_id, "records", "none", len({v[0] for v in visits}), len(visits))
    frame = pl.DataFrame(
        visits, schema={"trace": pl.Int32, "slot": pl.Int32, "cell": pl.UInt64, "visits": pl.Int64}, orient="row"
    )
    store.insert("slots.visit", frame.with_columns(traces_id=pl.lit(made.id)))
    person = "null" if run_id else "trace"
    store.con.execute(
        f"insert into slots.trace select $id, trace, {person}, 0, null, sum(visits) "
        "from slots.visit where traces_id = $id group by trace",
        {"id": made.id},
    )
    store.insert(
        "study.traces",
        pl.DataFrame([dataclasses.asdict(made)], schema_overrides={"run_id": pl.String}).rename({"id": "traces_id"}),
    )
    return made


def asked(store: Store, known: Traces, searched: Traces, text: str, **given: object) -> str:
    return risk.measure(
        store, known, searched, text, seed=0, sample=None, settings=given, progress=Progress()
    ).id  # fmt: skip


def answers(store: Store, risk_id: str) -> dict[int, tuple[int, int, bool, float]]:
    found = store.rows(
        "select trace, known, k, found, pick_chance from metrics.anonymity where risk_id = $id", id=risk_id
    )
    return {trace: tuple(rest) for trace, *rest in found}


def ranked(visits: list[tuple[int, int, int, int]]) -> dict[int, list[tuple[int, int]]]:
    """Per trace its cells with their visits, most visits first, then the earlier first visit, then the smaller id."""
    count: dict[int, Counter[int]] = defaultdict(Counter)
    first: dict[tuple[int, int], int] = {}
    for trace, slot, cell, times in visits:
        count[trace][cell] += times
        first[trace, cell] = min(slot, first.get((trace, cell), slot))
    return {
        trace: sorted(cells.items(), key=lambda item, trace=trace: (-item[1], first[trace, item[0]], item[0]))
        for trace, cells in count.items()
    }


def described(visits: list[tuple[int, int, int, int]], text: str, min_share: Fraction = Fraction(1, 10)):
    """What somebody knows of each trace, by definition."""
    places, _, order = text.removeprefix("top:").partition(":")
    known = {}
    for trace, cells in ranked(visits).items():
        total = sum(times for _, times in cells)
        if places == "variable":
            chosen = [cell for cell, times in cells if Fraction(times, total) >= min_share] or [cells[0][0]]
        else:
            chosen = [cell for cell, _ in cells[: int(places)]]
        known[trace] = frozenset(chosen) if order == "unordered" else tuple(chosen)
    return known


visits_of_people = st.dictionaries(
    st.tuples(st.integers(1, PEOPLE), st.integers(0, 11), st.integers(0, 3).map(lambda cell: 2**63 + 7 * cell)),
    st.integers(1, 3),
    min_size=1,
    max_size=60,
).map(lambda found: [(*key, times) for key, times in found.items()])
forms = st.sampled_from(
    ["top:1", "top:2", "top:2:unordered", "top:3", "top:3:unordered", "top:variable", "top:variable:unordered"]
)


@examples(few=8, many=50)
@given(visits=visits_of_people, text=forms)
def test_k_counts_the_traces_with_the_same_places(store, visits, text):
    most = max(map(len, ranked(visits).values()))
    if text[4].isdigit() and int(text[4]) > most:
        text = f"top:{most}{text[5:]}"
    known = described(visits, text)
    crowd = Counter(known.values())
    traces = kept(store, visits)
    assert answers(store, asked(store, traces, traces, text)) == {
        trace: (len(places), crowd[places], True, 1 / crowd[places]) for trace, places in known.items()
    }


@examples(few=5, many=20)
@given(visits=visits_of_people, share=st.sampled_from([(1, 20), (1, 10), (1, 5), (3, 10), (1, 3), (1, 2), (1, 1)]))
def test_a_place_is_known_from_the_share_on_that_was_asked_for(store, visits, share):
    known = described(visits, "top:variable", Fraction(*share))
    traces = kept(store, visits)
    risk_id = asked(store, traces, traces, "top:variable", min_share=share[0] / share[1])
    rows = store.rows("select trace, cell, slot from metrics.known_point where risk_id = $id order by all", id=risk_id)
    assert rows == sorted((trace, cell, None) for trace, cells in known.items() for cell in cells)
    assert {trace: row[1] for trace, row in answers(store, risk_id).items()} == {
        trace: list(known.values()).count(cells) for trace, cells in known.items()
    }


@examples(few=6, many=24)
@given(visits=visits_of_people, tracks=visits_of_people, text=forms, paired=st.permutations(range(1, PEOPLE + 1)))
def test_recovered_tracks_are_searched_with_what_is_true_of_people(store, visits, tracks, text, paired):
    most = max(map(len, ranked(visits).values()))
    if text[4].isdigit() and int(text[4]) > most:
        text = f"top:{most}{text[5:]}"
    run_id = f"a{next(numbers)}"
    people, recovered = kept(store, visits), kept(store, tracks, run_id)
    owns = dict(zip(range(1, PEOPLE), paired, strict=False))  # the last person is paired with no track
    for person, track in owns.items():
        store.con.execute(f"insert into metrics.pair select '{run_id}', 'greedy', 3, 0, {person}, {track}, 1, 1, 1")
    known, found = described(visits, text), described(tracks, text)
    expected = {}
    for person, places in known.items():
        k = list(found.values()).count(places)
        own = person in owns and found.get(owns[person]) == places
        expected[person] = (len(places), k, own, 1 / k if own else 0.0)
    assert answers(store, asked(store, people, recovered, text)) == expected


def test_ties_go_to_the_place_visited_first_then_to_the_smaller_id(store):
    visits = [(1, 5, 10, 2), (1, 3, 30, 1), (1, 9, 30, 1), (1, 7, 20, 2), (2, 4, 40, 1), (2, 4, 30, 1)]
    traces = kept(store, visits)
    asked(store, traces, traces, "top:2")
    ranks = store.rows(
        "select trace, rank, cell from metrics.top_place where traces_id = $id order by all", id=traces.id
    )
    assert ranks == [(1, 1, 30), (1, 2, 10), (1, 3, 20), (2, 1, 30), (2, 2, 40)]


@pytest.mark.parametrize(("times", "known", "k"), [((3, 3, 3, 1), 4, 1), ((34, 33, 30, 3), 3, 2), ((1,) * 12, 1, 2)])
def test_a_place_with_just_a_tenth_of_the_visits_is_known_and_one_with_less_is_not(store, times, known, k):
    """The second person lacks the first one's last place: it tells them apart where it is known."""
    visits = [(1, cell, cell, n) for cell, n in enumerate(times)] + [
        (2, cell, cell, n) for cell, n in enumerate(times[:-1])
    ]
    traces = kept(store, visits)
    answer = answers(store, asked(store, traces, traces, "top:variable"))
    assert answer[1] == (known, k, True, 1 / k)


def test_the_order_of_places_may_tell_people_apart_whose_set_is_the_same(store):
    visits = [(1, 0, 5, 2), (1, 1, 6, 1), (2, 0, 6, 2), (2, 1, 5, 1), (3, 0, 5, 9)]
    traces = kept(store, visits)
    assert [row[1] for _, row in sorted(answers(store, asked(store, traces, traces, "top:2")).items())] == [1, 1, 1]
    unordered = answers(store, asked(store, traces, traces, "top:2:unordered"))
    assert [row[:2] for _, row in sorted(unordered.items())] == [(2, 2), (2, 2), (1, 1)]


def test_whoever_has_no_visit_hides_among_everybody(store):
    traces = kept(store, [(1, 0, 5, 1), (2, 0, 6, 1)])
    store.con.execute("insert into slots.trace select $id, 3, 3, 0, null, 0", {"id": traces.id})
    answer = answers(store, asked(store, traces, traces, "top:1"))
    assert answer == {1: (1, 1, True, 1.0), 2: (1, 1, True, 1.0), 3: (0, 3, True, 1 / 3)}


def test_the_order_of_rows_changes_nothing(store):
    visits = [(person, slot, (person * slot) % 5, 1) for person in range(1, 10) for slot in range(12)]
    once, again = kept(store, visits), kept(store, visits[::-1])
    for text in ("top:3", "top:variable:unordered"):
        assert answers(store, asked(store, once, once, text)) == answers(store, asked(store, again, again, text))


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        ("top:0", {}, "top takes a number of places, 1 or more, or the word variable, not '0'"),
        ("top:-1", {}, "not '-1'"),
        ("top:two", {}, "or the word variable, not 'two'"),
        ("top", {"places": 1.5}, "or the word variable, not 1.5"),
        ("top", {"places": True}, "or the word variable, not True"),
        ("top", {}, "'top' does not say places: write top:PLACES:ORDER:MIN_SHARE"),
        ("top:variable", {"min_share": 0}, "above 0 and up to 1, not 0"),
        ("top:variable", {"min_share": 1.5}, "above 0 and up to 1, not 1.5"),
        ("top:variable", {"min_share": float("nan")}, "above 0 and up to 1, not nan"),
        ("top:2", {"min_share": 0.5}, "min_share goes with top:variable; top:2 takes the places whatever their share"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_words(text, given, said):
    with pytest.raises(RiskError) as refused:
        knowledge.load(text, **given)
    assert said in str(refused.value)


def test_an_unknown_order_is_refused_with_those_there_are():
    with pytest.raises(UnknownNameError, match="no order named 'up'; there are: ordered, unordered"):
        knowledge.load("top:2:up")


def test_more_places_than_anybody_has_are_refused_with_how_many_there_are(store):
    traces = kept(store, [(1, 0, 5, 1), (1, 1, 6, 1), (2, 0, 5, 1)])
    with pytest.raises(RiskError, match="nobody has 3 places: ask for top:2 or fewer"):
        asked(store, traces, traces, "top:3")
    assert not store.rows("select 1 from study.risk where known_id = $id", id=traces.id)


def test_a_number_of_places_has_one_name():
    assert knowledge.load("top:02") == knowledge.load("top", places=2) == knowledge.load("top:2:ordered")


# The summaries, of any knowledge.

outcomes = st.lists(
    st.tuples(st.booleans(), st.sampled_from([1, 1, 2, 3, 5, 7, 40, 200]), st.sampled_from([True, True, False])),
    min_size=1,
    max_size=80,
)


def told(store: Store, people: list[tuple[bool, int, bool]]) -> str:
    """An answer of the given (frequent, k, found), person by person from 1."""
    risk_id = f"k{next(numbers)}"
    rows = pl.DataFrame(
        [
            {"trace": i, "frequent": frequent, "k": k, "found": found, "risk": 1 / k if found else 0.0}
            for i, (frequent, k, found) in enumerate(people, 1)
        ]
    )
    store.con.register("people_told", rows.to_arrow())
    store.con.execute(
        "insert into metrics.target select $id, trace, trace, trace, frequent, 0 from people_told", {"id": risk_id}
    )
    store.con.execute(
        "insert into metrics.anonymity select $id, trace, 1, k, found, risk, risk, 1 from people_told", {"id": risk_id}
    )
    store.con.unregister("people_told")
    return risk_id


def in_scope(people, scope):
    """Everybody's (k or None, risk) as a scope sees them."""
    seen = []
    for frequent, k, found in people:
        at_risk = found and (frequent or scope == "all")
        if scope != "frequent" or frequent:
            seen.append((k if at_risk else None, 1 / k if at_risk else 0.0))
    return seen if scope == "all" or any(frequent for frequent, _, _ in people) else []


def wilson(hits: int, n: int) -> tuple[float, float]:
    z, p = 1.96, hits / n
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max((middle - half) / (1 + z * z / n), 0), min((middle + half) / (1 + z * z / n), 1)


def expected_summary(people):
    rows = {}
    for scope in ("all", "frequent", "frequent_of_all"):
        seen = in_scope(people, scope)
        n = len(seen)
        if not n:
            continue
        ks = [k for k, _ in seen if k is not None]
        for metric, level in [("unique_share", 1), *(("at_most_k", k) for k in (1, 2, 5, 10, 20, 50, 100))]:
            hits = sum(k <= level for k in ks)
            rows[scope, metric, level] = (n, hits / n, *wilson(hits, n))
        line = sorted(ks) + [None] * (n - len(ks))
        for level in (1, 5, 10, 50):
            middle, half = n * level / 100, 1.96 * math.sqrt(n * level / 100 * (1 - level / 100))
            ranks = (
                math.ceil(Fraction(n * level, 100)),
                max(math.floor(middle - half), 1),
                min(math.ceil(middle + half), n),
            )
            rows[scope, "k_percentile", level] = (n, *(line[rank - 1] for rank in ranks))
        risks = sorted((chance for _, chance in seen), reverse=True)
        mean = sum(risks) / n
        half = 1.96 * math.sqrt(sum((chance - mean) ** 2 for chance in risks) / n / n)
        rows[scope, "mean_risk", 100] = (n, mean, max(mean - half, 0), min(mean + half, 1))
        tenth = math.ceil(n / 10)
        worst = sum(risks[:tenth]) / tenth
        excess = [max(chance - risks[tenth - 1], 0) for chance in risks]
        spread = sum((e - sum(excess) / n) ** 2 for e in excess) / n
        half = 1.96 * math.sqrt(spread / n) / (tenth / n)
        rows[scope, "worst_decile_risk", 10] = (n, worst, max(worst - half, 0), min(worst + half, 1))
    return rows


@examples(few=8, many=50)
@given(people=outcomes)
@example(people=[(True, k, True) for k in (7, 5, 3, 2, 1)])
@example(people=[(k % 3 > 0, k, k % 4 > 0) for k in range(1, 74)])
def test_the_summary_is_that_of_plain_python(store, people):
    risk_id = told(store, people)
    store.build(Query.load("metrics.risk"), risk_id=risk_id, about="traces")
    rows = store.rows(
        "select scope, metric, level, people, estimate, low, high from metrics.risk where risk_id = $id", id=risk_id
    )
    found, expected = {row[:3]: row[3:] for row in rows}, expected_summary(people)
    assert found.keys() == expected.keys()
    for key, values in found.items():
        for value, wanted in zip(values, expected[key], strict=True):
            assert value == (None if wanted is None else pytest.approx(wanted, abs=3e-7)), key


@examples(few=6, many=24)
@given(people=outcomes)
def test_the_curve_counts_people_up_to_every_k_that_somebody_has(store, people):
    risk_id = told(store, people)
    store.build(Query.load("metrics.anonymity_curve"), risk_id=risk_id)
    expected = []
    for scope in ("all", "frequent", "frequent_of_all"):
        seen = in_scope(people, scope)
        ks = [k for k, _ in seen if k is not None]
        for k in sorted(set(ks)):
            at_most = sum(other <= k for other in ks)
            expected.append((scope, k, ks.count(k), at_most, at_most / len(seen)))
    found = store.rows(
        "select scope, k, people, at_most, share from metrics.anonymity_curve where risk_id = $id order by scope, k",
        id=risk_id,
    )
    assert found == expected


@examples(few=6, many=24)
@given(
    people=outcomes,
    points=st.lists(st.tuples(st.integers(0, 5), st.one_of(st.none(), st.integers(0, 4)), st.integers(0, 4))),
)
@example(people=[(True, 1, True), (True, 1, False)], points=[(0, 1, 9), (0, 2, 9), (1, 1, 9), (1, None, 8)])
def test_a_place_or_a_slot_exposes_those_who_are_singled_out_by_it(store, people, points):
    risk_id = told(store, people)
    points = [(1 + number % len(people), *point) for number, *point in points]
    for rank, (trace, slot, cell) in enumerate(points, 1):
        store.con.execute(
            "insert into metrics.known_point select $id, $trace, $rank, $slot, $cell",
            {"id": risk_id, "trace": trace, "rank": rank, "slot": slot, "cell": cell},
        )
    store.build(Query.load("metrics.exposure"), risk_id=risk_id)
    of: dict[tuple[str, int | None, int | None], set[int]] = defaultdict(set)
    for trace, slot, cell in points:
        of["cell", cell, None].add(trace)
        if slot is not None:
            of["slot", None, slot].add(trace)
    expected = {}
    for key, traces in of.items():
        alone = sum(people[trace - 1][1:] == (1, True) for trace in traces)
        expected[key] = (len(traces), alone, alone / len(traces))
    rows = store.rows(
        "select exposed_by, cell, slot, people, singled_out, share from metrics.exposure where risk_id = $id",
        id=risk_id,
    )
    assert {row[:3]: row[3:] for row in rows} == expected


# Groups.


@examples(few=6, many=24)
@given(people=outcomes, values=st.lists(st.sampled_from(["young", "old", None]), min_size=80, max_size=80))
@example(people=[(True, k, True) for k in range(1, 11)], values=["young"] * 80)
def test_a_group_is_summed_up_by_its_own_people(store, people, values):
    store.con.execute("delete from records.trait")
    group = defaultdict(list)
    for person, ((_, k, found), value) in enumerate(zip(people, values, strict=False), 1):
        if value is not None:
            store.con.execute(f"insert into records.trait values ({person}, 'age', '{value}')")
            group[value].append((True, k, found))
    risk_id = told(store, people)
    store.build(Query.load("metrics.risk_by_group"), risk_id=risk_id)
    found = {
        value: rest
        for value, *rest in store.rows(
            "select value, people, unique_share, low, high, mean_risk, worst_decile_risk, median_k "
            "from metrics.risk_by_group where risk_id = $id and trait = 'age'",
            id=risk_id,
        )
    }
    assert found.keys() == group.keys()
    for value, members in group.items():
        summary = expected_summary(members)
        unique = summary["all", "unique_share", 1]
        others = [summary["all", metric, level][1] for metric, level in
                  (("mean_risk", 100), ("worst_decile_risk", 10), ("k_percentile", 50))]  # fmt: skip
        for got, wanted in zip(found[value], [*unique, *others], strict=True):
            assert got == (None if wanted is None else pytest.approx(wanted, abs=3e-7))


def added(store: Store, people: object) -> list[str]:
    with store.transaction("people"):
        return traits.add(store, people, Progress())


def test_a_people_table_from_any_source_gives_everybody_their_traits(tmp_path):
    frame = pl.DataFrame({"uid": ["p2", "p1", "who"], "age": [30, None, 5], "tariff": ["day", " night ", ""]})
    frame.write_csv(tmp_path / "people.csv")
    frame.write_parquet(tmp_path / "people.parquet")
    for source in (
        frame,
        frame.to_pandas().astype({"age": "Int64"}),
        tmp_path / "people.csv",
        tmp_path / "people.parquet",
    ):
        store = fresh_store()
        (note,) = added(store, source)
        assert note.endswith("traits of 2 people, 1 more have no records and are left out; age, tariff")
        assert store.rows("select * from records.trait order by all") == [
            (1, "tariff", "night"), (2, "age", "30"), (2, "tariff", "day"),
        ]  # fmt: skip
        store.close()


def test_a_trait_given_again_replaces_the_earlier_value_of_that_person_alone():
    store = fresh_store()
    added(store, pl.DataFrame({"uid": ["p1", "p2", "p3"], "age": [1, 2, 3]}))
    added(store, pl.DataFrame({"uid": ["p1", "p2"], "age": [9, None]}))
    assert store.rows("select person, value from records.trait order by all") == [(1, "9"), (3, "3")]
    store.close()


def test_answers_of_before_are_divided_by_groups_that_come_later():
    store = fresh_store()
    traces = kept(store, [(1, 0, 5, 1), (2, 0, 5, 1), (3, 0, 6, 1)])
    asked(store, traces, traces, "top:1")
    added(store, pl.DataFrame({"uid": ["p1", "p2", "p3"], "sex": ["f", "m", "f"]}))
    rows = store.rows("select value, people, unique_share, mean_risk from metrics.risk_by_group order by value")
    assert rows == [("f", 2, 0.5, 0.75), ("m", 1, 0.0, 0.5)]
    store.close()


@pytest.mark.parametrize(
    ("people", "said"),
    [
        ({"user": ["p1"], "age": [1]}, "no column 'uid' says who is meant; it has user, age"),
        ({"uid": ["p1"]}, "nothing to compare people by; it needs a column beside 'uid'"),
        ({"uid": ["p1", "p2", "p1 "], "age": [1, 2, 3]}, "1 rows repeat a uid: give one row for each person"),
        ({"uid": ["p1", None, ""], "age": [1, 2, 3]}, "2 of 3 rows have no uid: take them out"),
        ({"uid": ["a", "b"], "age": [1, 2]}, "none of its 2 people has records in the lab: is uid written as there?"),
    ],
)
def test_a_people_table_that_cannot_be_used_is_refused_and_changes_nothing(store, people, said):
    before = store.rows("select * from records.trait order by all")
    with pytest.raises(IngestError) as refused:
        added(store, pl.DataFrame(people))
    assert said in str(refused.value)
    assert store.rows("select * from records.trait order by all") == before
