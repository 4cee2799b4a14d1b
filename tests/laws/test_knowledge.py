"""The laws of `Knowledge`, on every kind there is: a file in trajlab/risk/knowledge/ is checked by its examples."""

from __future__ import annotations

import datetime as dt
import functools
import itertools

import numpy as np
import polars as pl
import pytest
from conftest import examples
from hypothesis import assume, given
from hypothesis import strategies as st

import trajlab as tl
from trajlab.progress import Progress
from trajlab.risk import knowledge, run
from trajlab.risk.reading import open_case

KINDS = {name: knowledge.kind(name) for name in knowledge.names()}
TEXTS = [text for kind in KINDS.values() for text in kind.examples]
COUNTED = [text for text in TEXTS if "{}" in text]

MORE_MAY_HIDE = {
    "top:{}:unordered": (
        "two places as a set say less than which of them is the first",
        {1: [(0, 1, 2), (1, 2, 1)], 2: [(0, 1, 1), (1, 2, 2)]},
    ),
    "proportion:{}:0.5": (
        "one place more may be the largest, to which all are compared, and more people are then near enough",
        {1: [(0, 1, 1), (1, 2, 1), (2, 3, 2)], 2: [(0, 1, 1), (1, 2, 2), (2, 3, 2)]},
    ),
}
"""Where knowing more is not always worse: why, and people of whom it is true."""

BEGINS = dt.datetime(2021, 12, 31, 21)
SLOTS, CELLS, NUMBERS = 6, 4, 40
CELL_IDS = tuple(2**63 + 11 + 7 * cell for cell in range(CELLS))
"""Far apart, and filling 64 bits."""

few = examples(few=3, many=20)
every_text = pytest.mark.parametrize("text", TEXTS)


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_says_how_it_is_written(name):
    examples = KINDS[name].examples
    assert examples, f"say in `examples` how {name} is written, so that its laws are checked"
    for text in examples:
        assert knowledge.name_of(knowledge.load(text.format(2))).partition(":")[0] == name


def test_the_exceptions_are_of_kinds_there_are():
    assert set(MORE_MAY_HIDE) <= set(COUNTED)


# People as {number: [(slot, cell, visits)]}, in a small world in which they often meet.


@st.composite
def people(draw, *, cells_per_slot: int):
    """Some are seen in every slot and some in none; a third begin in one place."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    numbers = rng.permutation(np.arange(1, NUMBERS + 1))[: draw(st.integers(4, 12))].tolist()
    seen = rng.random((len(numbers), 1, 1)) * 1.2
    there = rng.random((len(numbers), SLOTS, CELLS))
    there[len(numbers) * 2 // 3 :, : rng.integers(SLOTS)] = there[0, 0]
    # The so many cells with the smallest draws, where the person is seen at all.
    visits = (np.argsort(np.argsort(there)) < cells_per_slot) & (rng.random((len(numbers), SLOTS, 1)) < seen)
    visits = visits * (1 if cells_per_slot == 1 else rng.integers(0, 4, visits.shape))
    visits[0, 0, 0] += not visits.any()
    return {
        who: [(slot, cell, int(n)) for (slot, cell), n in np.ndenumerate(theirs) if n]
        for who, theirs in zip(numbers, visits, strict=True)
    }


one_cell_per_slot = people(cells_per_slot=1)
several_cells_per_slot = people(cells_per_slot=2)
any_people = one_cell_per_slot | several_cells_per_slot


STORED = {"cell": pl.UInt64, "index_id": pl.UInt64, "lot": pl.UInt64, "visits": pl.Int64, "starts": pl.Datetime}
STORED |= dict.fromkeys(("lat", "lng"), pl.Float64) | dict.fromkeys(("trace", "person", "own", "slot"), pl.Int32)
IDS = itertools.count(1)


@functools.cache
def store(threads: int):
    """One lab for all: whatever is put into it has an id of its own."""
    return tl.open(":memory:", threads=threads)._store


@functools.cache
def release(threads: int, cell_ids: tuple[int, ...]) -> str:
    """A calendar over the end of a year, and cells in one order from south to north, whatever their ids."""
    index_id = next(IDS)
    name = f"r{index_id}"
    add(threads, "counts.release", [(name, index_id)], "release_id", "index_id")
    cells = [(index_id, cell_id, cell / 2, -cell / 3) for cell, cell_id in enumerate(cell_ids)]
    add(threads, "grid.cell", cells, "index_id", "cell", "lat", "lng")
    slots = [(name, slot, BEGINS + dt.timedelta(hours=slot)) for slot in range(SLOTS)]
    add(threads, "slots.slot", slots, "release_id", "slot", "starts")
    return name


def add(threads: int, table: str, rows: list[tuple], *columns: str) -> None:
    con = store(threads).con
    con.register("given", pl.DataFrame(rows, {name: STORED.get(name) for name in columns}, orient="row").to_arrow())
    con.execute(f"insert into {table} by name select * from given")
    con.unregister("given")


def answers(text: str, crowd: dict, *, number=None, cell_ids=CELL_IDS, shuffle=0, threads=2) -> tuple[dict, dict]:
    """Everybody's row of the answer and the points known of them, by the numbers in `crowd`.

    `number` and `cell_ids` say what people and cells are called in the lab.
    """
    number = number or {who: who for who in crowd}
    who_is = {name: who for who, name in number.items()}
    rng, name = np.random.default_rng(shuffle), f"t{next(IDS)}"
    visits = [(name, number[who], slot, cell_ids[cell], n) for who in crowd for slot, cell, n in crowd[who]]
    targets = [(name, number[who], number[who], number[who], True, lot(who)) for who in crowd]
    for table, rows, *columns in (
        ("slots.trace", [target[:2] for target in targets], "traces_id", "trace"),
        ("slots.visit", visits, "traces_id", "trace", "slot", "cell", "visits"),
        ("metrics.target", targets, "risk_id", "trace", "person", "own", "frequent", "lot"),
    ):
        add(threads, table, [rows[at] for at in rng.permutation(len(rows))], *columns)
    lab = store(threads)
    case = open_case(lab, release(threads, cell_ids), name, name, name, Progress())
    run.answer_question(lab, name, knowledge.load(text), case, Progress())
    found = lab.frame("select * exclude (risk_id) from metrics.anonymity where risk_id = $id", id=name).to_dicts()
    answer = {who_is[row.pop("trace")]: row for row in found}
    looked_for = lab.rows("select trace from metrics.target where risk_id = $id", id=name)
    assert sorted(answer) == sorted(who_is[trace] for (trace,) in looked_for)
    assert len(answer) == len(found)
    known = lab.rows("select trace, rank, slot, cell from metrics.known_point where risk_id = $id", id=name)
    return answer, {(who_is[trace], rank): (slot, cell_ids.index(cell)) for trace, rank, slot, cell in known}


def lot(who: int) -> int:
    return (who * 0x9E3779B97F4A7C15 + 12345) % 2**64


def places(crowd: dict) -> int:
    """How many places the person with most has: nobody needs to have more for any kind of knowledge."""
    return max(len({cell for _, cell, _ in rows}) for rows in crowd.values())


def written(text: str, crowd: dict) -> str:
    return text.format(min(2 + len(crowd) % 2, places(crowd)))


# The laws


@every_text
@few
@given(crowd=any_people)
def test_on_true_traces_everybody_is_found_in_a_crowd_of_at_least_themselves(text, crowd):
    answer, _ = answers(written(text, crowd), crowd)
    for row in answer.values():
        assert 1 <= row["k"] <= len(crowd)
        assert row["found"] is True
        assert row["pick_chance"] == 1 / row["k"]
        assert row["mean_pick_chance"] is None or 0 < row["mean_pick_chance"] <= row["pick_chance"] * (1 + 1e-12)
        assert row["known"] > 0 or row["k"] == len(crowd), "of whom nothing is known might be anybody"
        assert row["combinations"] >= 1


@every_text
@few
@given(crowd=any_people, shuffle=st.integers(1, 99))
def test_neither_the_order_of_rows_nor_the_number_of_threads_matters(text, crowd, shuffle):
    text = written(text, crowd)
    assert answers(text, crowd, shuffle=shuffle, threads=1) == answers(text, crowd)


@every_text
@few
@given(
    crowd_and_cells=st.tuples(one_cell_per_slot, st.permutations([2**40, 3, 2**63 + 2, 2**63 - 2]).map(tuple))
    | st.tuples(several_cells_per_slot, st.just((0, 1, 2**63 - 2, 2**63 + 2))),
    names=st.permutations(range(NUMBERS)),
)
def test_other_names_for_people_and_cells_change_nothing(text, crowd_and_cells, names):
    """Cells within one slot are in the order of their ids, so that only there the order must stay."""
    crowd, cell_ids = crowd_and_cells
    text = written(text, crowd)
    number = {who: names[who - 1] for who in crowd}
    assert answers(text, crowd, number=number, cell_ids=cell_ids) == answers(text, crowd)


@pytest.mark.parametrize("text", [text for text in COUNTED if text not in MORE_MAY_HIDE])
@few
@given(crowd=any_people)
def test_whoever_knows_more_never_has_a_lower_risk(text, crowd):
    fewer, _ = answers(text.format(1), crowd)
    for much in range(2, places(crowd) + 1):
        more, _ = answers(text.format(much), crowd)
        assert all(more[who]["pick_chance"] >= fewer[who]["pick_chance"] for who in more)
        assert set(more) <= set(fewer)
        fewer = more


@pytest.mark.parametrize("text", MORE_MAY_HIDE)
def test_where_knowing_more_may_hide_somebody_it_does(text):
    why, crowd = MORE_MAY_HIDE[text]
    steps = [answers(text.format(much), crowd)[0] for much in range(1, max(map(len, crowd.values())) + 1)]
    better = [after[who]["k"] > before[who]["k"] for before, after in itertools.pairwise(steps) for who in crowd]
    assert any(better), f"{text} is no exception any more, though it is listed as one because {why}"


@every_text
@few
@given(crowd=any_people, more=any_people)
def test_somebody_who_is_added_changes_nothing_that_is_known_and_makes_nobody_less_hidden(text, crowd, more):
    text = written(text, crowd)
    before, known = answers(text, crowd)
    after, known_then = answers(text, more | crowd)
    assert {point: known_then[point] for point in known_then if point[0] in crowd} == known
    assert all(after[who]["k"] >= before[who]["k"] for who in before)


@every_text
@examples(few=3, many=20)
@given(crowd=one_cell_per_slot, parent=st.lists(st.integers(0, 1), min_size=CELLS, max_size=CELLS))
def test_coarser_cells_never_make_anybody_less_hidden_from_the_same_points(text, crowd, parent):
    assume(len(set(parent)) < len(parent))
    text = written(text, crowd)
    coarse = {who: [(slot, parent[cell], n) for slot, cell, n in rows] for who, rows in crowd.items()}
    fine_answer, fine = answers(text, crowd)
    if not fine or {slot for slot, _ in fine.values()} == {None}:
        return  # only what is known as cells at slots stays the same when cells are merged
    coarse_answer, known = answers(text, coarse)
    assert known == {point: (slot, parent[cell]) for point, (slot, cell) in fine.items()}
    assert all(coarse_answer[who]["k"] >= fine_answer[who]["k"] for who in fine_answer)
