"""The least change that passes: what exhaustive search finds, with fewer measurements."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trajlab as tl
from tests.conftest import examples, filled, tiny_lab
from trajlab.cli import main
from trajlab.decide.policy import Policy
from trajlab.errors import StudyError, TrajlabError, UnknownNameError
from trajlab.release import Release
from trajlab.release.making import Settings
from trajlab.study.blur import blur
from trajlab.study.judges import Judgement, judge_by_policy
from trajlab.study.ladders import build_ladders
from trajlab.study.recommend import Recommendation, recommend
from trajlab.study.search import least_of, search, search_cheapest, search_everything, search_frontier


def falling(shape: tuple[int, ...], levels: int, seed: int) -> np.ndarray:
    """Random numbers on a grid that never rise along any of its axes."""
    values = np.random.default_rng(seed).integers(0, levels, shape)
    for axis in range(len(shape)):
        values = np.minimum.accumulate(values, axis=axis)
    return values


@examples(200, 2000)
@given(
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple),
    levels=st.integers(1, 6),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_search_finds_what_trying_everything_finds(shape: tuple[int, ...], levels: int, seed: int) -> None:
    risk = falling(shape, levels, seed)
    asked: list[tuple[int, ...]] = []

    def measure(point: tuple[int, ...]) -> float:
        asked.append(point)
        return float(risk[point])

    found = search(shape, measure)
    assert len(asked) == len(set(asked)) == len(found)
    everything = search_everything(shape, lambda point: float(risk[point]))
    for point, value in everything.items():  # whatever was not looked at has the risk of a weaker one that was
        weaker = [found[q] for q in found if all(a <= b for a, b in zip(q, point, strict=True))]
        assert min(weaker) == value
    assert frontier(found) == frontier(everything)


def frontier(found: dict[tuple[int, ...], float]) -> set[tuple[float, float]]:
    """Risk beside a loss that grows with every step of strength: what nothing beats."""
    pairs = {(value, sum((axis + 2) * place for axis, place in enumerate(point))) for point, value in found.items()}
    return {pair for pair in pairs if not any(q != pair and q[0] <= pair[0] and q[1] <= pair[1] for q in pairs)}


def grid_with_free_places(places: int, shape: tuple[int, ...], levels: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Risks that fall along all axes but the first, and losses that grow along these; along the first, anything."""
    rng = np.random.default_rng(seed)
    risk = np.stack([falling(shape, levels, seed + place) for place in range(places)])
    loss = np.stack([-falling(shape, 12, seed + 100 + place) + rng.integers(12) for place in range(places)])
    return risk.astype(float), loss.astype(float)


def not_beaten(pairs: set[tuple[float, float]]) -> set[tuple[float, float]]:
    return {pair for pair in pairs if not any(q != pair and q[0] <= pair[0] and q[1] <= pair[1] for q in pairs)}


GRIDS = {
    "places": st.integers(1, 4),
    "shape": st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple),
    "levels": st.integers(1, 6),
    "seed": st.integers(0, 2**31),
}


@examples(200, 2000)
@given(**GRIDS)
def test_what_is_beaten_before_it_is_measured_is_not_on_the_frontier(
    places: int, shape: tuple[int, ...], levels: int, seed: int
) -> None:
    risk, loss = grid_with_free_places(places, shape, levels, seed)
    found = search_frontier((places,), shape, lambda p: float(risk[p]), lambda p: float(loss[p]))
    every = {(float(risk[p]), float(loss[p])) for p in itertools.product(*map(range, risk.shape))}
    assert not_beaten({(value, float(loss[p])) for p, value in found.items()}) == not_beaten(every)
    rough = search_frontier((places,), shape, lambda p: float(risk[p]), lambda p: float(loss[p]), within=1)
    for value, lost in every:  # for everything there is, something that loses no more, and risks hardly more
        assert any(value_of <= value + 1 and float(loss[p]) <= lost for p, value_of in rough.items())


@examples(200, 2000)
@given(**GRIDS)
def test_the_cheapest_are_found_without_asking_about_dearer_ones(
    places: int, shape: tuple[int, ...], levels: int, seed: int
) -> None:
    risk, loss = grid_with_free_places(places, shape, levels, seed)
    unsafe = risk > levels // 2
    asked = []

    def measure(point: tuple[int, ...]) -> float:
        asked.append(point)
        return float(unsafe[point])

    def passes(point: tuple[int, ...]) -> bool:
        return not unsafe[point]

    found = search_cheapest((places,), shape, measure, lambda p: float(loss[p]), passes, 3)
    assert len(asked) == len(set(asked)) == len(found)
    every = itertools.product(*map(range, risk.shape))
    expected = sorted(float(loss[p]) for p in least_of(every, passes, 1))[:3]
    assert sorted(float(loss[p]) for p in least_of(found, passes, 1))[:3] == expected


def test_a_threshold_on_a_chain_is_found_by_bisection() -> None:
    for first in range(101):
        asked: list[int] = []

        def is_unsafe(point: tuple[int, ...], first: int = first, asked: list[int] = asked) -> float:
            asked.append(point[0])
            return float(point[0] < first)

        found = search((100,), is_unsafe)
        assert len(asked) <= 10
        assert min((point[0] for point, value in found.items() if value == 0), default=100) == first


@pytest.fixture(scope="module")
def lab() -> tl.Lab:
    lab = tl.open()
    lab.ingest(tl.simulate(people=60, days=2, seed=4), tz="Europe/Lisbon")
    return lab


@pytest.fixture(scope="module")
def release(lab: tl.Lab) -> Release:
    return lab.release("square:2000", "3h")


LADDERS = {"index": ["square:4000"], "slot": [], "suppress": [2, 3, 4, 5, 6, 7], "round": [], "eps": []}


def least_count(least: int) -> object:
    """A policy by itself: every published count is of so many people."""

    def judge(release: Release) -> Judgement:
        small = int((release.counts["people"] < least).sum())
        return Judgement(small / len(release.counts), safe=not small, verdict="fail" if small else "pass")

    return judge


@pytest.mark.parametrize("least", [1, 3])
def test_the_cheapest_that_pass_are_those_of_exhaustive_search(lab: tl.Lab, release: Release, least: int) -> None:
    judge = least_count(least)
    some = recommend(lab, release.id, policy="counts", judge=judge, **LADDERS)  # type: ignore[arg-type]
    every = recommend(lab, release.id, policy="counts", judge=judge, thorough=True, **LADDERS)  # type: ignore[arg-type]
    assert every.looked_at == every.candidates == 2 * 7
    assert some.looked_at < every.looked_at
    assert some.cheapest["release_id"].to_list() == every.cheapest["release_id"].to_list()
    assert some.cheapest["loss"][0] == every.table.filter(verdict="pass")["loss"].min()
    assert set(some.cheapest["verdict"]) == {"pass"}


def test_the_frontier_is_that_of_exhaustive_search_and_traces_are_asked_once(lab: tl.Lab, release: Release) -> None:
    """What is done to counts changes nothing of the traces behind them: no threshold is on the frontier."""
    some = lab.recommend(release, risk="points:2", **LADDERS)  # type: ignore[arg-type]
    every = lab.recommend(release, risk="points:2", thorough=True, **LADDERS)  # type: ignore[arg-type]
    assert some.frontier.drop("position").rows() == every.frontier.drop("position").rows()
    assert set(some.frontier["recipe"]) == {""}
    assert some.looked_at < every.looked_at
    asked = lab.sql("select count(*) as n from study.risk where knowledge = 'points:2' and about = 'traces'")
    assert asked["n"].item() == 2
    assert lab.table("metrics.recommendation", recommendation_id=some.id)["cheapest"].null_count() == 14


def test_a_row_says_what_it_loses_and_its_command_makes_it(lab: tl.Lab, release: Release) -> None:
    found = lab.recommend(release, risk="top:1", index=[], slot=["6h"], suppress=[3], round=[5], thorough=True)
    assert found.table["loss"].to_list() == sorted(found.table["loss"])
    assert found.table["loss"][0] == 0.0
    last = found.table.filter(recipe="suppress:3 round:5", slot_minutes=360).row(0, named=True)
    assert last["command"] == (
        "trajlab release LAB --index square:2000 --slot 21600s --tz Europe/Lisbon --start 2024-03-04 --days 2 "
        "--protect suppress:3 round:5"
    )
    made = lab.release(
        "square:2000", "6h", tz="Europe/Lisbon", start="2024-03-04", days=2, protect=["suppress:3", "round:5"]
    )
    assert made.id == last["release_id"]


def test_the_loss_is_nothing_of_the_same_table_and_what_is_hidden_of_one_with_less(
    lab: tl.Lab, release: Release
) -> None:
    hidden = lab.release("square:2000", "3h", protect=["suppress:3"])
    told, true = hidden.counts["people"].sum(), release.counts["people"].sum()
    assert blur(lab._store, hidden.id, release.id) == pytest.approx(1 - 2 * told / (told + true))
    assert blur(lab._store, release.id, release.id) == 0


def test_the_loss_of_larger_cells_and_longer_slots_is_that_of_spreading_them_evenly(
    lab: tl.Lab, release: Release
) -> None:
    coarse = lab.release("square:4000", "6h", protect="suppress:2")
    store = lab._store
    ((index_id,),) = store.rows("select index_id from counts.release where release_id = $id", id=release.id)
    parents = dict(store.rows("select cell, parent_cell from grid.cell where index_id = $id", id=index_id))
    size = pl.Series(list(parents.values())).value_counts()
    sizes = dict(size.iter_rows())
    told = {(slot, cell): people for slot, cell, people in coarse.counts.iter_rows()}
    true = {(slot, cell): people for slot, cell, people in release.counts.iter_rows()}
    spread = {
        (slot, cell): told.get((slot // 2, parents[cell]), 0) / sizes[parents[cell]]
        for slot, cell in itertools.product(range(release.slots), parents)
    }
    both = sum(min(people, true.get(place, 0)) for place, people in spread.items())
    expected = 1 - 2 * both / (sum(spread.values()) + sum(true.values()))
    assert blur(store, coarse.id, release.id) == pytest.approx(expected)


def test_a_release_that_is_protected_already_becomes_stronger_only(lab: tl.Lab) -> None:
    mine = lab.release("square:4000", "6h", protect=["suppress:3", "round:5"])
    found = lab.recommend(mine, risk="top:1", index=[], slot=[], suppress=[2, 3, 4], round=[5, 10], thorough=True)
    recipes = {"suppress:3 round:5", "suppress:4 round:5", "suppress:3 round:10", "suppress:4 round:10"}
    assert set(found.table["recipe"]) == recipes
    assert mine.id in found.table["release_id"].to_list()


def test_a_sample_of_people_stays_the_same_people(lab: tl.Lab) -> None:
    mine = lab.release("square:4000", "6h", people=20, coverage=0.2)
    found = lab.recommend(mine, risk="top:1", index=["square:8000"], slot=["12h"], suppress=[], round=[], thorough=True)
    who = lab.sql(
        "select release_id, list(person order by person) as people from slots.person where kept group by release_id"
    )
    people = dict(who.iter_rows())
    assert {tuple(people[one]) for one in found.table["release_id"]} == {tuple(people[mine.id])}


def test_what_leaves_nothing_is_not_recommended(lab: tl.Lab, release: Release) -> None:
    found = recommend(
        lab,
        release.id,
        policy="counts",
        judge=least_count(2),
        index=[],
        slot=[],
        suppress=[500],
        round=[],  # type: ignore[arg-type]
    )
    assert found.table["recipe"].to_list() == [""]
    assert not len(found.cheapest)
    assert "0 that pass, 1 on the frontier, 2 of 2 measured" in repr(found)


@pytest.mark.parametrize(
    ("policy", "days", "suppress", "rounding", "noise"),
    [
        ("strict", 7, (0, 21, 32, 42), (0, 5), ((0, 2.0), "person-week")),
        ("open-data", 3, (0, 10, 15, 20), (0, 5), ((0, 2.0), "person")),
        ("google-eie", 14, (0, 5, 10, 15, 20), (0, 5), ((0, 2.0), "person-week")),
        ("mds", 7, (0, 10, 15, 20), (0, 5), ((0,), "person-day")),
    ],
)
def test_what_a_policy_asks_for_is_what_is_tried(
    policy: str, days: int, suppress: tuple[int, ...], rounding: tuple[int, ...], noise: tuple[tuple[float, ...], str]
) -> None:
    rules = Policy.load(policy).rules
    made = build_ladders(Settings(index="square:500", slot="1h"), [], [], None, None, None, "person-day", rules, days)
    assert (made.suppress, made.round, (made.eps, made.unit)) == (suppress, rounding, noise)
    named = build_ladders(Settings(index="square:500", slot="1h"), [], [], [7], [3], [], "person-day", rules, days)
    assert (named.suppress, named.round, named.eps) == ((0, 7), (0, 3), (0,))


def test_no_attack_is_run_where_a_rule_about_rows_fails_already() -> None:
    policy = 'name = "two"\n[[rule]]\nrule = "smallest_count"\nat_least = 3\n'
    policy += '[[rule]]\nrule = "recovery"\nattack = "xu2017"\nat_most = 1\n'
    with tl.open(quiet=True) as lab:
        lab.ingest(tl.simulate(people=40, days=2, seed=4), tz="Europe/Lisbon")
        judge = judge_by_policy(lab, Policy.parse(policy), 0)
        assert judge(lab.release("square:3000", "6h")) == Judgement(0.5, safe=False, verdict="fail")
        assert not len(lab.sql("select 1 from study.run"))
        assert not len(lab.sql("select 1 from study.decision"))
        assert judge(lab.release("square:3000", "6h", protect="suppress:3")) == Judgement(0, safe=True, verdict="pass")
        assert set(lab.sql("select attack from study.run")["attack"]) == {"xu2017", "stay", "shuffle"}


def test_points_that_hardly_differ_in_risk_are_told_once() -> None:
    table = pl.DataFrame(
        {
            "position": [1, 2, 3, 4, 5],
            "risk": [0.5, 0.49, 0.3, 0.29, 0.1],
            "loss": [0.0, 0.1, 0.2, 0.3, 0.4],
            "not_beaten": [True, True, True, True, False],
        }
    )
    found = Recommendation("a1", "r1", "xu2017", table, 5, 5)
    assert found.main_points["position"].to_list() == [1, 3]
    assert len(found.frontier) == 4


def test_a_policy_decides_and_its_utility_floors_are_no_reason_to_protect_more(
    lab: tl.Lab, release: Release, tmp_path: Path
) -> None:
    policy = tmp_path / "small.toml"
    policy.write_text(SMALL)
    found = lab.recommend(release, policy=policy, index=["square:4000"], slot=[], suppress=[2, 3, 5], round=[])
    assert found.cheapest.row(0, named=True)["recipe"] == "suppress:3"
    assert found.cheapest["risk"][0] == 0
    assert found.policy == "small"
    assert found.save(tmp_path / "recommend.html").read_text().count("--protect suppress:3") >= 1
    assert "What makes small pass" in found.chart()
    policy.write_text(SMALL + FLOOR)
    floored = lab.recommend(release, policy=policy, index=["square:4000"], slot=[], suppress=[2, 3, 5], round=[])
    assert set(floored.table.filter(recipe="suppress:3")["risk"]) == {0.0}  # what guards privacy passes
    assert not len(floored.cheapest)


SMALL = """\
name = "small"
title = "Nothing below three"

[[rule]]
rule = "smallest_count"
at_least = 3
"""

FLOOR = """
[[rule]]
rule = "count_error"
at_most = 0.0001
"""


@pytest.mark.parametrize(
    ("asked", "error", "told"),
    [
        ({"risk": "guess"}, UnknownNameError, "no risk named 'guess'; there are: "),
        (
            {"risk": "top:1", "policy": "strict"},
            StudyError,
            "a policy says what the risk is: give policy or risk, not both",
        ),
        ({"risk": "top:1", "suppress": [2.5]}, StudyError, "suppress is a list of whole numbers above 0, not 2.5"),
        ({"risk": "top:1", "eps": [0]}, StudyError, "eps is a list of numbers above 0, not 0"),
        (
            {"risk": "top:1", "slot": ["4h"]},
            StudyError,
            "slots of 240 min do not hold whole slots of 180 min: name multiples",
        ),
    ],
)
def test_a_search_that_makes_no_sense_is_refused(
    lab: tl.Lab, release: Release, asked: dict[str, object], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=re.escape(told)):
        lab.recommend(release, **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"index": ["circle:3"]}, "no spatial index named 'circle'; there are: "),
        ({"index": ["square:2000", "h3:16"]}, "h3"),
        ({"seed": -1}, "seed must be a whole number, 0 or more, not -1"),
        ({"suppress": [0]}, "suppress is a list of whole numbers above 0, not 0"),
    ],
    ids=["kind", "cells", "seed", "suppress"],
)
def test_what_is_refused_leaves_the_lab_as_it_was(asked: dict[str, object], told: str) -> None:
    with tiny_lab() as lab:
        mine = lab.release("square:1000", "3h", coverage=0.1, protect="suppress:2")
        before = filled(lab)
        with pytest.raises(TrajlabError, match=re.escape(told)):
            lab.recommend(mine, risk="top:1", **asked)  # type: ignore[arg-type]
        assert filled(lab) == before


def test_releases_of_others_and_of_groups_cannot_be_made_anew(lab: tl.Lab) -> None:
    foreign = Release.from_matrix(np.array([[1, 2]] * 8), np.array([[0, 0], [900, 0]]), 4)
    lab.attack(foreign, "stay")
    with pytest.raises(StudyError, match=f"release {foreign.id} was made elsewhere: the lab has no records to make"):
        lab.recommend(foreign.id, risk="top:1")
    cells = lab.sql("select label from grid.cell").to_series()
    lab.people(pl.DataFrame({"uid": ["p0000001", "p0000002"], "side": ["east", "east"]}))
    group = lab.release("square:4000", "6h", group=("side", "east"))
    with pytest.raises(StudyError, match=f"release {group.id} holds one group: ask for the release of everybody"):
        lab.recommend(group, risk="top:1")
    assert len(cells)


def lab_release(file: str) -> str:
    """The release that is to change: the only one of the finest cells and slots as they are."""
    with tl.open(file) as lab:
        found = lab.sql(
            "select release_id from counts.release where index_name = 'square:1000' and slots = 8 and recipe = ''"
        )
        return str(found["release_id"].item())


def test_the_command_line_shows_the_frontier_and_draws_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "lab.duckdb")
    with tiny_lab(file) as lab:
        lab.release("square:1000", "6h")
    (tmp_path / "small.toml").write_text(SMALL)
    words = ["recommend", file, "--index", "square:2000", "--slot", "12h", "--suppress", "2", "--round"]
    drawn = tmp_path / "recommend.svg"
    assert main([*words, "--risk", "top:1", "-o", str(drawn)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"recommendation a[0-9a-f]{12}: \d of 8 changes measured", out)
    assert re.search(r"^ 1  loss   0.0%  risk [ 0-9.]+%  square:1000, 360 min, counts as they are$", out, re.MULTILINE)
    (asked,) = re.findall(r"trajlab (sql .*)", out)
    assert main(shlex.split(asked)) == 0
    assert "trajlab release LAB --index square:1000 --slot 21600s" in capsys.readouterr().out
    assert drawn.read_text().startswith("<svg")
    only = lab_release(file)
    assert main([*words, "--policy", str(tmp_path / "small.toml"), "--release", only]) == 1
    assert "no change that was tried passes small: try larger cells" in capsys.readouterr().out
    (tmp_path / "pairs.toml").write_text(SMALL.replace("3", "2"))
    assert main([*words, "--policy", str(tmp_path / "pairs.toml"), "--release", only]) == 0
    told = capsys.readouterr().out
    assert re.search(r"^to make change 1: trajlab release \S+lab.duckdb --index .* --protect ", told, re.MULTILINE)
    assert main([*words, "--risk", "top:1", "-o", "recommend.pdf"]) == 2


def test_a_change_that_leaves_too_little_to_attack_is_left_out():
    with tl.open(quiet=True) as lab:
        lab.ingest(tl.simulate(people=60, days=2, seed=1), tz="Europe/Lisbon")
        release = lab.release("square:6000", "6h")
        assert len(lab.release("square:6000", "6h", protect="suppress:15").cells) == 1
        found = lab.recommend(release, index=[], slot=[], suppress=[2, 15], round=[])
    assert found.table["recipe"].to_list() == ["", "suppress:2"]
    assert found.looked_at == 3
