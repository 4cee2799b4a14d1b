"""Scores of recovered tracks: against answers worked out by hand, slow and obvious versions, and each other."""

from __future__ import annotations

import datetime as dt
import functools
from collections import Counter

import numpy as np
import polars as pl
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from trajlab.errors import MetricError, TrajlabError, UnknownNameError
from trajlab.metrics import bootstrap, optimal, score, score_run
from trajlab.metrics.headline import SCHEMA
from trajlab.query import Query, catalogue
from trajlab.store import Store

THRESHOLDS = [0, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000]


FILLED = {"counts.release", "grid.cell", "slots.position", "attacks.track", "study.run"}


class Town:
    """A lab that holds a truth, its cells, and whatever runs are added to it."""

    def __init__(self, truth, xy, *, per_day=4, starts=dt.datetime(2024, 3, 4)):
        self.store = emptied()
        self.truth, slots = np.asarray(truth), np.asarray(truth).shape[1]
        where = np.asarray(xy, dtype=float)
        self.put(
            "counts.release",
            pl.DataFrame({
                "release_id": "r", "index_id": 7, "index_name": "square:1000", "starts": starts, "tz": "UTC",
                "slot_seconds": 86_400 // per_day, "slots_per_day": per_day, "slots": slots, "fill": "static",
                "min_count": 1, "recipe": "", "total_low": None, "total_high": None,
            }),
        )  # fmt: skip
        self.put(
            "grid.cell",
            pl.DataFrame({"cell": np.arange(len(where)) + 100, "x": where[:, 0], "y": where[:, 1]}, nan_to_null=True)
            .with_columns(index_id=7, label=pl.lit(""), lng=0.0, lat=0.0, area_km2=1.0, parent_cell=0, polygon=pl.lit("")),
        )  # fmt: skip
        self.put(
            "slots.position", points("person", self.truth, first=1).with_columns(release_id=pl.lit("r"), observed=True)
        )

    def put(self, table, frame):
        self.store.insert(table, frame)

    def run(self, recovered, run_id="x", attack="fake", *, release_id="r", run_seed=0, **options):
        recovered = np.asarray(recovered)
        self.put("attacks.track", points("track", recovered).with_columns(run_id=pl.lit(run_id)))
        self.put(
            "study.run",
            pl.DataFrame({
                "run_id": run_id, "release_id": release_id, "attack": attack, "seed": run_seed, "settings": "{}",
                "people": len(recovered), "days": 2, "complete": True, "versions": "{}",
            }),
        )  # fmt: skip
        score_run(self.store, run_id, **options)
        return self

    def table(self, name):
        grain = ", ".join(Query.load(name).grain)
        return self.store.frame(f"select * from {name} order by {grain}")

    def estimates(self, **where):
        rows = self.table("metrics.recovery").filter(**where)
        return {(r["metric"], r["level"], r["pairing"]): r["estimate"] for r in rows.iter_rows(named=True)}


@functools.cache
def opened():
    return Store()


def emptied():
    """One lab for all tests of this file: making its tables takes longer than filling them."""
    for query in catalogue().values():
        if not query.view and (query.table.startswith(("metrics.", "report.")) or query.table in FILLED):
            opened().clear(query)
    return opened()


def points(who, cells, first=0):
    row, slot = np.nonzero(cells >= 0)
    return pl.DataFrame({who: row + first, "slot": slot, "cell": cells[row, slot] + 100})


@st.composite
def cases(draw):
    people, slots, cells = draw(st.integers(1, 8)), draw(st.integers(1, 10)), draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    recovered, truth = rng.integers(0, cells, (2, people, slots))
    return recovered, truth, rng.integers(0, 5, (cells, 2)) * 500.0


# Three people, two days of four slots; one slot of each day is night. Cells 0, 1, 2 lie on a line, 0, 600 and 3,000 m.
HOME = [[0, 1, 1, 0, 0, 1, 1, 0], [2, 2, 1, 2, 2, 2, 1, 2], [0, 0, 0, 0, 0, 2, 0, 0]]
LINE = [[0, 0], [600, 0], [3000, 0]]
# Track 0 is the second person; the other two are mixed up on the second day.
TOLD = [[2, 2, 1, 2, 2, 2, 1, 2], [0, 1, 1, 0, 0, 2, 0, 0], [0, 0, 0, 0, 0, 1, 1, 0]]


@pytest.mark.parametrize(
    ("pairing", "track_of", "error_m", "within", "beyond", "points"),
    [
        # Track 1 is taken for person 1, whom it equals in as many slots as person 3: the smaller number. Each of
        # the two misses once by 2,400 m (1 for 2, or 2 for 1) and once by 600 m.
        ("greedy", [1, 0, 2], 3000 / 8, 1 / 8, 1 / 8, [20] * 5 + [22, 22] + [24] * 5),
        # The other way round each of the two misses twice by 600 m, which is less.
        ("optimal", [2, 0, 1], 1200 / 8, 2 / 8, 0, [20] * 5 + [24] * 7),
    ],
)
def test_three_people_by_hand(pairing, track_of, error_m, within, beyond, points):
    town = Town(HOME, LINE).run(TOLD)
    assert town.table("metrics.pair").filter(pairing=pairing, stage=3)["track"].to_list() == track_of
    expected = {
        ("accuracy", 1): 1.0,
        ("accuracy", 2): 1.0,
        ("accuracy", 3): (6 / 8 + 1 + 6 / 8) / 3,
        ("levenshtein", 3): (6 / 8 + 1 + 6 / 8) / 3,
        ("error_m", 3): 2 * error_m / 3,
        ("within_1000m", 3): 2 * within / 3,
        ("beyond_1000m", 3): 2 * beyond / 3,
    }
    found = town.estimates(of="recovered")
    assert {key[:2]: value for key, value in found.items() if key[2] == pairing} == pytest.approx(expected)
    cdf = town.table("metrics.error_cdf").filter(pairing=pairing)
    assert cdf["metres"].to_list() == THRESHOLDS
    assert cdf["positions"].to_list() == points


def test_top_sets_by_hand():
    """Ties go to the cell visited first: of four and four slots, the one where the day began."""
    town = Town(HOME, LINE).run(TOLD)
    shared = {(r[0], r[1]): r[2] for r in town.table("metrics.top_set").select(
        "of", "places", pl.col("shared_by").implode().over("of", "places")).iter_rows()}  # fmt: skip
    assert shared["truth", 1] == [2, 1, 2]  # home: 0, 2, 0
    assert shared["truth", 2] == [1, 1, 1]  # {0, 1}, {1, 2}, {0, 2}
    assert shared["recovered", 2] == [1, 2, 2]  # {1, 2}, {0, 1} and {0, 1}: 1 has two slots, 2 has one
    unique = town.estimates(metric="unique_share", of="truth")
    distinct = town.estimates(metric="distinct_share", of="truth")
    assert unique["unique_share", 1, "none"] == pytest.approx(1 / 3)
    assert distinct["distinct_share", 1, "none"] == pytest.approx(2 / 3)


@examples(few=10, many=40)
@given(case=cases(), pairing=st.sampled_from(["optimal", "greedy"]), per_day=st.sampled_from([2, 3, 4, 8]))
def test_arrays_and_tables_give_the_same_scores(case, pairing, per_day):
    recovered, truth, xy = case
    stored = Town(truth, xy, per_day=per_day).run(recovered, pairings=[pairing], seed=3, bootstrap=200)
    arrays = score(recovered, truth, xy, slots_per_day=per_day, pairing=pairing, seed=3, bootstrap=200)
    assert_frame_equal(stored.table("metrics.recovery").drop("run_id"), arrays, rel_tol=1e-12, abs_tol=1e-12)


@examples(few=10, many=40)
@given(case=cases())
def test_every_person_has_the_distances_to_their_own_track(case):
    recovered, truth, xy = case
    town = Town(truth, xy).run(recovered)
    people = town.table("metrics.person_recovery")
    for row in people.iter_rows(named=True):
        lived, told = truth[row["person"] - 1], recovered[row["track"]]
        metres = np.hypot(*(xy[told] - xy[lived]).T)
        assert row["hits"] == (lived == told).sum()
        assert row["error_m"] == pytest.approx(metres.mean(), abs=1e-3)
        assert row["within_1000m"] == pytest.approx(((metres > 0) & (metres <= 1000)).mean())
        assert row["beyond_1000m"] == pytest.approx((metres > 1000).mean())
        assert row["accuracy"] <= row["levenshtein"] <= 1
    for pairing, paired in people.group_by("pairing"):
        metres = np.hypot(*(xy[recovered[paired.sort("person")["track"]]] - xy[truth]).reshape(-1, 2).T)
        cdf = town.table("metrics.error_cdf").filter(pairing=pairing[0])
        assert cdf["share"].to_list() == pytest.approx([(metres <= limit + 1e-3).mean() for limit in THRESHOLDS])


@examples(few=10, many=40)
@given(case=cases())
def test_a_top_set_is_shared_by_those_with_the_same_most_frequent_cells(case):
    recovered, truth, xy = case
    found = Town(truth, xy).run(recovered).table("metrics.top_set")
    for of, cells, first in (("recovered", recovered, 0), ("truth", truth, 1)):
        for k in range(1, 6):
            # Counter keeps the order of the first visit among equals, as the published code does.
            sets = [frozenset(cell for cell, _ in Counter(row.tolist()).most_common(k)) for row in cells]
            expected = {member + first: sets.count(own) for member, own in enumerate(sets)}
            assert dict(found.filter(of=of, places=k).select("member", "shared_by").iter_rows()) == expected
            distinct = found.filter(of=of, places=k).select((1 / pl.col("shared_by")).mean()).item()
            assert distinct == pytest.approx(len(set(sets)) / len(sets))


def test_scoring_again_changes_nothing_and_leaves_other_runs_alone():
    town = Town(HOME, LINE).run(TOLD, "x").run(TOLD[::-1], "y")
    tables = [name for name in Query.load("report.every_metric").reads if name != "counts.release"]
    tables += ["metrics.pair", "metrics.person_error", "metrics.person_recovery", "metrics.top_set"]
    tables += ["metrics.error_cdf", "report.every_metric"]
    before = {table: town.table(table) for table in tables}
    score_run(town.store, "x")
    for table, rows in before.items():
        assert_frame_equal(town.table(table), rows)


def test_a_run_that_stopped_early_is_scored_over_the_slots_it_has():
    truth, first_day = np.array(HOME), np.asarray(TOLD)[:, :4]
    truth[0, 4:] = 2  # another home on the second day, which the run has not reached
    town = Town(truth, LINE).run(first_day)
    assert town.table("metrics.person_recovery")["slots"].unique().to_list() == [4]
    found = town.table("metrics.recovery").filter(pl.col("pairing") != "greedy").drop("run_id")
    assert_frame_equal(found, score(first_day, truth[:, :4], LINE, slots_per_day=4))


def test_without_the_truth_only_the_uniqueness_of_what_was_recovered_is_known():
    town = Town(HOME, LINE).run(TOLD, release_id="matrix-1")
    scores = town.table("metrics.recovery")
    assert set(scores["metric"]) == {"unique_share", "distinct_share"}
    assert set(scores["of"]) == {"recovered"}
    assert len(town.table("metrics.pair")) == len(town.table("metrics.person_recovery")) == 0
    assert len(town.table("report.every_metric")) == len(scores)
    assert town.table("report.every_metric")["index_name"].null_count() == len(scores)


def test_people_without_a_track_count_as_not_recovered():
    town = Town(HOME, LINE).run(TOLD[:2])
    people = town.table("metrics.person_recovery").filter(pairing="greedy")
    (lost,) = people.filter(pl.col("track").is_null()).iter_rows(named=True)
    assert (lost["accuracy"], lost["levenshtein"], lost["error_m"]) == (0.0, 0.0, None)
    found = town.table("metrics.recovery").filter(pairing="greedy")
    assert found.filter(metric="accuracy", level=3)["people"].item() == 3
    assert found.filter(metric="error_m")["people"].item() == 2


def test_slots_in_which_a_person_is_nowhere_are_not_asked_for():
    truth = np.array(HOME)
    truth[2, 4:] = -1
    people = Town(truth, LINE).run(TOLD).table("metrics.person_recovery").filter(pairing="greedy")
    assert people["slots"].to_list() == [8, 8, 4]
    assert people["accuracy"].to_list()[2] == 1.0


def test_cells_without_coordinates_leave_accuracy_but_no_distance():
    town = Town(HOME, [[0, 0], [np.nan, np.nan], [3000, 0]]).run(TOLD)
    found = town.estimates(of="recovered")
    assert {key[2] for key in found} == {"greedy", "none"}
    assert found["accuracy", 3, "greedy"] == pytest.approx((6 / 8 + 1 + 6 / 8) / 3)


def test_many_people_are_paired_greedily_only(monkeypatch):
    monkeypatch.setattr(optimal, "UP_TO", 2)
    assert set(Town(HOME, LINE).run(TOLD).table("metrics.pair")["pairing"]) == {"greedy"}
    with pytest.raises(MetricError, match="optimal pairing is for up to 2 people, not 3: use pairing='greedy'"):
        score(TOLD, HOME, LINE, slots_per_day=4)


def test_every_metric_has_the_yardsticks_of_the_same_release_and_seed_beside_it():
    town = Town(HOME, LINE).run(TOLD[::-1], "s", "shuffle").run(np.zeros_like(TOLD), "t", "stay")
    town.run(HOME, "other", "shuffle", run_seed=1).run(TOLD, "x", "xu2017")
    rows = town.table("report.every_metric").filter(run_id="x")
    assert len(rows) == len(town.table("metrics.recovery").filter(run_id="x"))
    for name, run_id in (("shuffle", "s"), ("stay", "t")):
        expected = town.table("metrics.recovery").filter(run_id=run_id)["estimate"]
        assert rows[name].to_list() == expected.to_list()
    alone = town.table("report.every_metric").filter(run_id="other")
    assert alone["stay"].null_count() == len(alone)


def test_a_release_that_starts_late_in_the_morning_has_no_night():
    town = Town(HOME, LINE, starts=dt.datetime(2024, 3, 4, 7)).run(TOLD)
    assert set(town.table("metrics.pair")["stage"]) == {2, 3}
    assert town.table("metrics.person_recovery")["night_accuracy"].null_count() == 6
    assert ("accuracy", 1, "greedy") not in town.estimates()


def test_names_that_do_not_exist_are_refused():
    town = Town(HOME, LINE).run(TOLD)
    with pytest.raises(UnknownNameError, match="no run named 'y'; there are: x"):
        score_run(town.store, "y")
    with pytest.raises(UnknownNameError, match="no pairing named 'best'; there are: greedy, optimal"):
        score_run(town.store, "x", pairings=["best"])
    with pytest.raises(UnknownNameError, match="no pairing named 'best'"):
        score(TOLD, HOME, LINE, slots_per_day=4, pairing="best")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"recovered": np.zeros((3, 7), int)}, r"recovered is of shape \(3, 7\), truth of \(3, 8\): they must"),
        ({"truth": [1, 2, 3]}, r"truth must be people × slots, with at least one of each, not of shape \(3,\)"),
        ({"truth": np.zeros((0, 8), int)}, r"truth must be people × slots"),
        ({"truth": np.full((3, 8), 3)}, "24 entries of truth are not whole numbers from 0 to 2, the first in row 0, slot 0"),
        ({"recovered": np.full((3, 8), -1)}, "24 entries of recovered are not whole numbers from 0 to 2"),
        ({"recovered": np.full((3, 8), np.nan)}, "24 entries of recovered are not whole numbers"),
        ({"recovered": np.full((3, 8), 0.5)}, "24 entries of recovered are not whole numbers"),
        ({"recovered": np.full((3, 8), "a")}, "recovered must hold cell numbers, not <U1"),
        ({"xy": [[0, 0], [np.nan, 1], [2, 2]]}, "1 cells have coordinates that are not finite numbers"),
        ({"xy": [0, 1, 2]}, r"xy must be cells × 2 in metres, not int64 of shape \(3,\)"),
        ({"slots_per_day": 0}, "slots_per_day must be between 1 and 86400, not 0"),
        ({"night_slots": 5}, "night_slots must be between 0 and slots_per_day, not 5"),
    ],
)  # fmt: skip
def test_arrays_that_cannot_be_compared_are_refused_in_one_line(change, message):
    given_ = {"recovered": TOLD, "truth": HOME, "xy": LINE, "slots_per_day": 4} | change
    with pytest.raises(MetricError, match=message) as refusal:
        score(**given_)
    assert isinstance(refusal.value, TrajlabError)
    assert "\n" not in str(refusal.value)


def test_whole_numbers_stored_as_floats_are_cell_numbers():
    one = score(np.array(TOLD, float), np.array(HOME, np.uint8), LINE, slots_per_day=4)
    assert_frame_equal(one, score(TOLD, HOME, LINE, slots_per_day=4))
    assert one.schema == SCHEMA


@examples(few=10, many=60)
@given(people=st.integers(1, 30), seed=st.integers(0, 2**32 - 1))
def test_the_interval_is_that_of_means_of_people_drawn_again(people, seed):
    values = np.random.default_rng(seed).random((people, 3)) * [1, 1e4, 1e-6]
    values[0, 1] = np.nan
    estimate, low, high = bootstrap.intervals(values, seed=seed, replicates=50)
    rng = np.random.default_rng(seed)
    drawn = values[rng.integers(people, size=(50, people))]
    known = ~np.isnan(drawn)
    with np.errstate(invalid="ignore"):
        means = np.where(known, drawn, 0).sum(axis=1) / known.sum(axis=1)
    for column in range(3):
        if np.isnan(values[:, column]).all():
            assert np.isnan([estimate[column], low[column], high[column]]).all()
            continue
        assert estimate[column] == pytest.approx(np.nanmean(values[:, column]), rel=1e-9)
        assert [low[column], high[column]] == pytest.approx(np.nanquantile(means[:, column], [0.025, 0.975]), rel=1e-9)


def test_the_interval_is_the_same_to_the_byte_in_any_order_of_adding_up():
    values = np.random.default_rng(0).random((5000, 4))
    on_grid = bootstrap._summable(values)
    order = np.random.default_rng(1).permutation(5000)
    assert np.array_equal(on_grid.sum(axis=0), on_grid[order].cumsum(axis=0)[-1])
    np.testing.assert_allclose(on_grid, values, rtol=0, atol=1e-11)


def test_people_who_are_all_alike_leave_no_doubt():
    assert [float(x[0]) for x in bootstrap.intervals(np.full((7, 1), 0.1), seed=0)] == pytest.approx([0.1] * 3)
