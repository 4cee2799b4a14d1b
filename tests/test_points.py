"""Known points: draws by lot, crowds of whole populations, and the fewest points that single one person out."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import polars as pl
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

import trajlab as tl
from trajlab.errors import RiskError
from trajlab.progress import Progress
from trajlab.risk import knowledge, run
from trajlab.risk.crowds import draw, passing
from trajlab.risk.reading import StoredVisits, open_case
from trajlab.risk.smallest import smallest_set

KINDS = {"points": draw.scattered, "cont": draw.stretch}
FAR = 2**63 + 11
"""Cell ids are far apart and fill 64 bits."""


def populations(*, cells_per_slot: int = 1, traces: int = 14, slots: int = 5, cells: int = 3):
    """Traces as {trace: sorted points}; a small world, so that people often meet."""
    number = st.integers(1, 60)
    slot = st.lists(st.integers(0, cells - 1), max_size=cells_per_slot, unique=True)
    trace = st.lists(slot, min_size=slots, max_size=slots).map(
        lambda by_slot: sorted((at, cell * 7 + FAR) for at, some in enumerate(by_slot) for cell in some)
    )
    return st.dictionaries(number, trace.filter(bool), min_size=1, max_size=traces)


def one_cell_per_slot():
    return populations(slots=7)


def several_cells_per_slot():
    return populations(cells_per_slot=3, slots=4)


def lot(trace: int) -> int:
    return (trace * 0x9E3779B97F4A7C15 + 12345) % 2**64


@functools.cache
def store():
    """One lab for all: every population in it has an id of its own."""
    return tl.open(":memory:", threads=2)._store


IDS = map("t{}".format, itertools.count())


def put(traces: dict, shuffle: int = 0) -> str:
    traces_id = next(IDS)
    rows = [(traces_id, trace, slot, cell, 1) for trace, points in traces.items() for slot, cell in points]
    order = np.random.default_rng(shuffle).permutation(len(rows))
    schema = {"traces_id": pl.String, "trace": pl.Int32, "slot": pl.Int32, "cell": pl.UInt64, "visits": pl.Int64}
    store().insert("slots.visit", pl.DataFrame([rows[at] for at in order], schema=schema, orient="row"))
    people = [(traces_id, trace, trace, 0, None, len(points)) for trace, points in traces.items()]
    names = ["traces_id", "trace", "person", "part", "pseudonym", "records"]
    frame = pl.DataFrame(people, schema=names, orient="row", schema_overrides={"pseudonym": pl.String})
    store().insert("slots.trace", frame)
    return traces_id


def asked(text: str, known: dict, searched: dict | None = None, *, own: dict | None = None, shuffle: int = 0):
    """The rows of metrics.anonymity by trace, and the points known of each."""
    known_id = put(known, shuffle)
    searched_id = known_id if searched is None else put(searched, shuffle)
    own = {trace: trace for trace in known} if own is None else own
    targets = [(known_id, trace, trace, own.get(trace), True, lot(trace)) for trace in known]
    schema = {"risk_id": pl.String, "trace": pl.Int32, "person": pl.Int32, "own": pl.Int32, "frequent": pl.Boolean}
    store().insert("metrics.target", pl.DataFrame(targets, schema=schema | {"lot": pl.UInt64}, orient="row"))
    case = open_case(store(), "release", known_id, searched_id, known_id, Progress())
    run.answer_question(store(), known_id, knowledge.load(text), case, Progress())
    answers = {row["trace"]: row for row in table("metrics.anonymity", known_id)}
    points: dict[int, list] = {}
    for row in sorted(table("metrics.known_point", known_id), key=lambda row: row["rank"]):
        points.setdefault(row["trace"], []).append((row["slot"], row["cell"]))
    assert {row["trace"] for row in table("metrics.target", known_id)} == set(answers)
    return answers, points


def rows_of(traces_id: str) -> tuple[passing.Rows, list[int]]:
    """The points of each trace as the search has them, and the cells that they are numbered by."""
    visits = StoredVisits(store(), traces_id, Progress())
    cells = visits.cells()
    bits = ((visits.extent()[1] + 1) * len(cells)).bit_length()
    return passing.Rows.of(visits.keys(cells, bits), bits, len(cells)), cells.to_list()


def table(name: str, risk_id: str) -> list[dict]:
    return store().frame(f"select * from {name} where risk_id = $id", id=risk_id).to_dicts()


def crowd(points: list, searched: dict) -> set[int]:
    return {trace for trace, theirs in searched.items() if set(points) <= set(theirs)}


def check(answers: dict, points: dict, known: dict, searched: dict, own: dict, count: int) -> None:
    for trace, theirs in known.items():
        row, told = answers[trace], points[trace]
        fits = crowd(told, searched)
        assert len(set(told)) == len(told) == row["known"] == min(count, len(theirs))
        assert set(told) <= set(theirs)
        assert row["k"] == len(fits)
        assert row["found"] == (own.get(trace) in fits)
        assert row["pick_chance"] == row["mean_pick_chance"] == (1 / len(fits) if row["found"] else 0.0)
        assert row["combinations"] == 1


def most(traces: dict) -> int:
    return max(len(points) for points in traces.values())


@pytest.mark.parametrize("kind", KINDS)
@examples(few=10, many=60)
@given(traces=one_cell_per_slot() | several_cells_per_slot(), count=st.integers(1, 6), shuffle=st.integers(0, 9))
def test_the_crowd_is_everybody_who_passes_through_all_points(kind, traces, count, shuffle):
    count = min(count, most(traces))
    answers, points = asked(f"{kind}:{count}", traces, shuffle=shuffle)
    check(answers, points, traces, traces, {trace: trace for trace in traces}, count)
    assert all(row["k"] >= 1 and row["found"] for row in answers.values())


@pytest.mark.parametrize("kind", KINDS)
@examples(few=10, many=60)
@given(
    known=one_cell_per_slot(),
    searched=one_cell_per_slot() | several_cells_per_slot(),
    count=st.integers(1, 4),
    pairing=st.dictionaries(st.integers(1, 60), st.integers(1, 60)),
)
def test_recovered_traces_fit_only_where_they_pass(kind, known, searched, count, pairing):
    count = min(count, most(known))
    own = {trace: pairing[trace] for trace in known if trace in pairing}
    answers, points = asked(f"{kind}:{count}", known, searched, own=own)
    check(answers, points, known, searched, own, count)


@examples(few=8, many=50)
@given(traces=several_cells_per_slot(), block=st.integers(1, 40), threads=st.integers(1, 3))
def test_neither_the_size_of_blocks_nor_the_number_of_threads_matters(traces, block, threads):
    before = passing.BLOCK
    passing.BLOCK = block
    try:
        traces_id = put(traces)
        rows, _ = rows_of(traces_id)
        lots = np.array([lot(trace) for trace in rows.names.tolist()], dtype=np.uint64)
        items = rows.items(np.arange(len(rows.names)), draw.scattered(lots, rows.sizes, 3))
        before_search = rows.keys.copy()
        k = passing.Crowds(rows, threads=threads, copy=True).holding_all(items, Progress().show)
        assert np.array_equal(rows.keys, before_search)
        taken_over = passing.Crowds(rows, threads=threads).holding_all(items, Progress().show)
        assert np.array_equal(taken_over, k)
    finally:
        passing.BLOCK = before
    expected, _ = asked(f"points:{min(3, most(traces))}", traces)
    assert dict(zip(rows.names.tolist(), k.tolist(), strict=True)) == {t: row["k"] for t, row in expected.items()}


@pytest.mark.parametrize("kind", KINDS)
@examples(few=4, many=20)
@given(traces=one_cell_per_slot() | several_cells_per_slot())
def test_whoever_knows_one_point_more_never_has_a_lower_risk(kind, traces):
    steps = [asked(f"{kind}:{count}", traces) for count in range(1, most(traces) + 1)]
    for (fewer, some), (more, all_of_them) in itertools.pairwise(steps):
        for trace in traces:
            assert more[trace]["pick_chance"] >= fewer[trace]["pick_chance"]
            assert all_of_them[trace][: len(some[trace])] == some[trace]


@pytest.mark.parametrize("kind", KINDS)
@examples(few=4, many=20)
@given(traces=one_cell_per_slot(), more=one_cell_per_slot())
def test_people_who_are_added_change_nothing_that_is_known_of_others(kind, traces, more):
    _, before = asked(f"{kind}:2", traces | {61: [(0, 1), (1, 1)]})
    _, after = asked(f"{kind}:2", more | traces | {61: [(0, 1), (1, 1)]})
    assert {trace: after[trace] for trace in before} == before


@pytest.mark.parametrize("kind", KINDS)
def test_short_people_are_known_by_all_they_have_or_not_looked_for(kind):
    traces = {1: [(0, 5), (1, 5), (2, 5)], 2: [(0, 5)], 3: [(0, 5), (2, 5)]}
    answers, points = asked(f"{kind}:3", traces)
    assert {trace: (row["known"], row["k"]) for trace, row in answers.items()} == {1: (3, 1), 2: (1, 3), 3: (2, 2)}
    assert sorted(points[3]) == [(0, 5), (2, 5)]
    answers, points = asked(f"{kind}:2:drop", traces)
    assert set(answers) == set(points) == {1, 3}


@pytest.mark.parametrize("kind", KINDS)
def test_somebody_without_points_could_be_anybody(kind):
    answers, points = asked(f"{kind}:1", {1: [(0, 5)], 2: [], 3: [(0, 5)], 4: [(1, 5)]})
    assert (answers[2]["known"], answers[2]["k"], answers[2]["found"], answers[2]["pick_chance"]) == (0, 4, True, 0.25)
    assert 2 not in points
    assert answers[1]["k"] == 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("0", "points must be 1 or more, not 0"),
        ("-2", "points must be 1 or more, not -2"),
        ("2:some", "short is all or drop, not 'some'"),
        ("4", "4 points cannot be known: nobody has more than 3 points"),
        ("4:drop", "4 points cannot be known: nobody has more than 3 points"),
        ("two", "points is a whole number, not 'two'"),
    ],
)
def test_settings_that_ask_too_much_or_nothing_are_refused(kind, settings, message):
    with pytest.raises(RiskError, match=message):
        asked(f"{kind}:{settings}", {1: [(0, 5), (1, 5), (2, 6)], 2: [(0, 5)]})


def test_whoever_was_not_there_in_a_slot_does_not_fit_even_beside_the_first_or_last_who_was():
    early = {1: [(0, 5)], 2: [(0, 5), (1, 5)], 3: [(1, 5)], 4: [(1, 5)]}
    late = {1: [(0, 5), (1, 5)], 2: [(0, 5)], 3: [(0, 5)], 4: [(1, 5)]}
    assert [asked("points:2", traces)[0][trace]["k"] for traces, trace in ((early, 2), (late, 1))] == [1, 1]


def test_the_files_tell_three_people_and_who_is_found():
    a, b, c = 1, 2, 3
    day = {1: [(8, a), (12, b), (18, a)], 2: [(8, a), (12, c), (18, a)], 3: [(8, a), (12, c), (18, c)]}
    traces_id = put(day)
    rows, cells = rows_of(traces_id)
    known = [[(8, a)], [(8, a), (18, a)], [(12, c), (18, a)], [(8, a), (12, c)]]
    point = [[slot * 3 + cells.index(cell) for slot, cell in points] for points in known]
    items = np.array([[*row, *[passing.NOTHING] * (2 - len(row))] for row in point])
    assert passing.Crowds(rows).holding_all(items, Progress().show).tolist() == [3, 2, 1, 2]


@pytest.mark.parametrize("drawn", KINDS.values(), ids=KINDS)
@examples(few=20, many=120)
@given(traces=st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 9)), min_size=1), draws=st.integers(1, 9))
def test_draws_are_distinct_nested_and_nobody_elses_business(drawn, traces, draws):
    lots, sizes = np.array([each for each, _ in traces], dtype=np.uint64), np.array([size for _, size in traces])
    picked = drawn(lots, sizes, draws)
    for row, size in zip(picked.tolist(), sizes.tolist(), strict=True):
        some = row[: min(size, draws)]
        assert len(set(some)) == len(some)
        assert all(0 <= number < size for number in some)
        assert all(number == -1 for number in row[size:])
    assert np.array_equal(drawn(lots, sizes, draws + 1)[:, :draws], picked)
    assert np.array_equal(drawn(lots[:1], sizes[:1], draws), picked[:1])


@examples(few=20, many=120)
@given(one=st.integers(0, 2**64 - 1), size=st.integers(1, 30), draws=st.integers(1, 30))
def test_a_stretch_has_no_gaps(one, size, draws):
    picked = draw.stretch(np.array([one], dtype=np.uint64), np.array([size]), draws)[0]
    some = sorted(picked[: min(size, draws)].tolist())
    assert some == list(range(some[0], some[0] + min(size, draws)))


def lots_of(count: int) -> np.ndarray:
    return np.random.default_rng(4).integers(0, 2**64, count, dtype=np.uint64)


def test_every_ordered_choice_of_points_is_equally_likely():
    picked = draw.scattered(lots_of(60_000), np.full(60_000, 5), 3)
    _, times = np.unique(picked, axis=0, return_counts=True)
    assert len(times) == 5 * 4 * 3
    assert ((times - 1000) ** 2 / 1000).sum() < 98.3  # chi-square with 59 degrees of freedom, one in a thousand


def test_every_point_is_equally_likely_to_begin_a_stretch():
    picked = draw.stretch(lots_of(60_000), np.full(60_000, 6), 2)
    assert ((np.bincount(picked[:, 0]) - 10_000) ** 2 / 10_000).sum() < 20.5  # 5 degrees of freedom
    assert picked[picked[:, 0] == 5, 1].tolist() == [4] * int((picked[:, 0] == 5).sum())


def fewest(traces: dict, trace: int, limit: int) -> list | None:
    others = {other: points for other, points in traces.items() if other != trace}
    for size in range(1, limit + 1):
        for some in itertools.combinations(traces[trace], size):
            if not crowd(list(some), others):
                return [
                    (rank, *point, len(crowd(list(some[:rank]), others))) for rank, point in enumerate(some, start=1)
                ]
    return None


@examples(few=20, many=120)
@given(traces=populations(traces=25, slots=8, cells=2) | several_cells_per_slot(), limit=st.integers(1, 5))
def test_the_smallest_set_is_the_first_of_the_fewest_points_that_nobody_shares(traces, limit):
    traces_id = put(traces)
    for trace in list(traces)[:6]:
        expected = fewest(traces, trace, limit)
        if expected is not None:
            assert smallest_set(store(), traces_id, trace, most=limit).rows() == expected
        else:
            with pytest.raises(RiskError, match=f"singles trace {trace} out"):
                smallest_set(store(), traces_id, trace, most=limit)


def test_larger_sets_are_found_through_many_who_come_close():
    points = [(slot, 1) for slot in range(9)]
    missing_some = itertools.combinations(points, 4)  # all but four: only five points at once meet nobody
    traces = {1: points} | {
        number: sorted(set(points) - set(lacking)) for number, lacking in enumerate(missing_some, start=2)
    }
    traces |= {1000 + number: points[:4] for number in range(3)}
    traces_id = put(traces)
    with pytest.raises(RiskError, match="no set of up to 5 points singles trace 1 out, though all of its 9 points"):
        smallest_set(store(), traces_id, 1)
    found = smallest_set(store(), traces_id, 1, most=6)
    assert found["slot"].to_list() == [0, 1, 2, 3, 4, 5]
    assert found.columns == ["rank", "slot", "cell", "others"]
    assert found["others"].to_list()[-1] == 0


def test_a_search_for_the_smallest_set_that_would_not_end_is_refused_with_what_is_known_by_then():
    """Half of everybody at each of 60 points: no three of them are enough, and sets of four are many."""
    there = np.random.default_rng(0).random((300, 60)) < 0.5
    traces = {1: [(slot, 1) for slot in range(60)]} | {
        number: [(int(slot), 1) for slot in np.flatnonzero(row)] for number, row in enumerate(there, start=2)
    }
    traces_id = put(traces)
    with pytest.raises(RiskError) as refused:
        smallest_set(store(), traces_id, 1, limit=2_000)
    assert str(refused.value) == (
        "no set of up to 3 points is enough, and there are too many of 4 to look at: "
        "allow more with a higher limit, or ask of smaller cells"
    )
    with pytest.raises(RiskError, match="limit must be a whole number, 1 or more, not 0"):
        smallest_set(store(), traces_id, 1, limit=0)


def test_whoever_has_a_twin_cannot_be_singled_out():
    traces_id = put({1: [(0, 5), (1, 5)], 2: [(0, 5), (1, 5)], 3: [(0, 5), (1, 5), (2, 5)], 4: [(0, 5)]})
    with pytest.raises(RiskError, match="no set of points singles trace 1 out: 2 others pass through all of its 2"):
        smallest_set(store(), traces_id, 1)
    with pytest.raises(RiskError, match="trace 9 has no points"):
        smallest_set(store(), traces_id, 9)
    with pytest.raises(RiskError, match="most must be a whole number, 1 or more, not 0"):
        smallest_set(store(), traces_id, 1, most=0)
    assert smallest_set(store(), traces_id, 3).rows() == [(1, 2, 5, 0)]
