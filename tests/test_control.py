"""What a run scores against people who are not meant: beside slow versions, and where the answer is known."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from rapidfuzz.distance import Levenshtein
from scipy.optimize import linear_sum_assignment
from scipy.stats import t as student

import trajlab as tl
from trajlab.metrics import control as controls
from trajlab.metrics import optimal
from trajlab.metrics.control import control, halves, last_known


def random_case(seed: int, people: int = 9, slots: int = 12, cells: int = 5):
    rng = np.random.default_rng(seed)
    recovered, truth = rng.integers(0, cells, (2, people, slots)).astype(np.int32)
    return recovered, truth, rng.integers(0, 6, (cells, 2)) * 700.0


def slow_scores(pairing: str, tracks, people, xy) -> list[tuple[float, float, float]]:
    """Pair one to one by the rule of the pairing, and score everybody, one slot after another."""
    alike = np.array([[(track == lived).sum() for lived in people] for track in tracks])
    metres = np.array([[sum(math.dist(xy[a], xy[b]) for a, b in zip(track, lived, strict=True)) for lived in people]
                       for track in tracks])  # fmt: skip
    if pairing == "optimal":
        pairs = dict(zip(*reversed(linear_sum_assignment(np.rint(1000 * metres))), strict=True))
    else:
        pairs = {}
        for track in range(len(tracks)):
            free = [person for person in range(len(people)) if person not in pairs and alike[track, person]]
            if free:
                pairs[max(free, key=lambda person: (alike[track, person], -person))] = track
    slots = people.shape[1]
    return [
        (alike[pairs[person], person] / slots,
         1 - Levenshtein.distance(list(tracks[pairs[person]]), list(people[person])) / slots,
         metres[pairs[person], person] / slots) if person in pairs else (0.0, 0.0, math.nan)
        for person in range(len(people))
    ]  # fmt: skip


def estimates(rows: pl.DataFrame, pairing: str) -> list[float]:
    return [rows.filter(pairing=pairing, metric=metric)["estimate"].item() for metric in controls.METRICS]


@pytest.mark.parametrize("pairing", ["optimal", "greedy"])
@pytest.mark.parametrize("seed", range(4))
def test_other_people_are_paired_and_scored_as_one_would_by_hand(pairing, seed):
    recovered, truth, xy = random_case(seed)
    others = np.random.default_rng(seed + 100).integers(0, 5, truth.shape).astype(np.int32)
    rows = control(recovered, truth, xy, {pairing: np.arange(9)}, others, seed=0, replicates=50)
    found = estimates(rows, pairing)
    expected = np.nanmean(slow_scores(pairing, recovered, others, xy), axis=0)
    if pairing == "greedy":  # among pairs of equal distance the solvers may differ in what is hit
        assert found == pytest.approx(expected, abs=1e-3)
    assert found[2] == pytest.approx(expected[2], abs=1e-3)
    assert set(rows["control_of"]) == {"other people"}
    assert (rows["low"] <= rows["estimate"]).all()
    assert (rows["estimate"] <= rows["high"]).all()


def test_without_others_tracks_taken_for_one_half_are_scored_against_the_other():
    recovered, truth, xy = random_case(7)
    track_of = np.array([3, -1, 0, 1, 2, 8, 7, 6, 5])  # nobody is taken for the second
    sides = list(halves(recovered, truth, track_of, seed=1))
    assert sorted(len(side.people) for side in sides) == [4, 5]
    for side in sides:
        people = {person for person, lived in enumerate(truth) if any((lived == row).all() for row in side.people)}
        tracks = {track for track, found in enumerate(recovered) if any((found == row).all() for row in side.tracks)}
        assert tracks == {track_of[person] for person in range(9) if person not in people} - {-1}
    rows = control(recovered, truth, xy, {"greedy": track_of}, None, seed=1, replicates=50)
    slow = np.concatenate([slow_scores("greedy", side.tracks, side.people, xy) for side in sides])
    assert estimates(rows, "greedy") == pytest.approx(np.nanmean(slow, axis=0), abs=1e-3)
    assert set(rows["control_of"]) == {"other half"}
    assert rows["people"].to_list() == np.isfinite(slow).sum(axis=0).tolist()


def test_nobody_else_is_no_control():
    recovered, truth, xy = random_case(3, people=1)
    assert len(control(recovered, truth, xy, {"greedy": np.zeros(1, np.int64)}, None, seed=0, replicates=9)) == 0


def test_too_many_people_and_places_without_coordinates_are_paired_greedily_only(monkeypatch):
    recovered, truth, xy = random_case(4)
    both = {"optimal": np.arange(9), "greedy": np.arange(9)}
    nowhere = xy.copy()
    nowhere[2] = np.nan
    rows = control(recovered, truth, nowhere, both, truth, seed=0, replicates=9)
    assert set(rows["pairing"]) == {"greedy"}
    monkeypatch.setattr(optimal, "UP_TO", 8)
    assert set(control(recovered, truth, xy, both, truth, seed=0, replicates=9)["pairing"]) == {"greedy"}


def test_the_order_of_people_and_tracks_changes_nothing_where_pairing_does_not_depend_on_it():
    recovered, truth, xy = random_case(5, slots=40, cells=30)
    turned = control(recovered[::-1], truth, xy, {"optimal": np.arange(9)}, truth[::-1], seed=0, replicates=50)
    plain = control(recovered, truth, xy, {"optimal": np.arange(9)}, truth, seed=0, replicates=50)
    assert turned["estimate"].to_list() == pytest.approx(plain["estimate"].to_list())


def test_empty_slots_take_the_cell_known_last_and_before_the_first_the_first():
    cells = np.array([[-1, 3, -1, 4, -1], [7, -1, -1, -1, 2], [-1, -1, -1, -1, -1]], dtype=np.int32)
    assert last_known(cells).tolist() == [[3, 3, 3, 4, 4], [7, 7, 7, 7, 2], [-1] * 5]


@pytest.fixture(scope="module")
def city():
    """Forty people, of whom twelve are in the release and attacked with three seeds."""
    lab = tl.open(quiet=True)
    lab.ingest(tl.simulate(people=40, days=2, seed=3), tz="Europe/Lisbon")
    release = lab.release(index="h3:7", slot="2h", people=12)
    for seed in (0, 1, 2):
        lab.attack(release, "dsilva2024", seed=seed)
    return lab, release


def test_people_who_are_not_in_the_release_are_its_control(city):
    lab, release = city
    rows = lab.table("metrics.control")
    assert set(rows["control_of"]) == {"other people"}
    assert set(rows["people"]) == {12}
    everybody = lab.release(index="h3:7", slot="2h")
    lived = lab.sql("select person, list(cell order by slot) from slots.position where release_id = $id group by all",
                    id=everybody.id)  # fmt: skip
    left_out = set(
        lab.sql("select person from slots.person where release_id = $id and not kept", id=release.id)["person"]
    )
    cells = lab.sql("select cell from grid.cell join counts.release using (index_id) where release_id = $id order by 1",
                    id=release.id)["cell"].to_list()  # fmt: skip
    found = controls.other_people(lab._store, release.id, 12, release.slots, seed=0)
    traces = {tuple(cells.index(cell) for cell in trace): person for person, trace in lived.iter_rows()}
    people = [traces[tuple(trace)] for trace in found.tolist()]
    assert len(set(people)) == 12
    assert set(people) <= left_out
    assert controls.other_people(lab._store, release.id, 12, release.slots, seed=0).tolist() == found.tolist()
    assert controls.other_people(lab._store, release.id, 12, release.slots, seed=1).tolist() != found.tolist()
    assert controls.other_people(lab._store, release.id, 29, release.slots, seed=0) is None


def test_the_control_stands_beside_the_score_and_below_it(city):
    lab, release = city
    rows = lab.sql("select * from report.accuracy where release_id = $id and attack = 'dsilva2024'", id=release.id)
    assert rows.filter(pl.col("level") < 3)["control"].null_count() == len(rows.filter(pl.col("level") < 3))
    final = rows.filter(level=3)
    assert (final["control"] < final["estimate"]).all()
    found = lab.table("metrics.control", metric="accuracy", level=3).select("run_id", "pairing", "estimate")
    joined = final.join(found, on=["run_id", "pairing"], suffix="_of_control")
    assert joined["control"].to_list() == joined["estimate_of_control"].to_list()


def test_a_release_of_everybody_is_scored_against_its_other_half(tiny):
    run = tiny.attack(tiny.release("square:1000", "3h"), "stay")
    rows = tiny.table("metrics.control", run_id=run.id)
    assert set(rows["control_of"]) == {"other half"}
    assert set(rows["pairing"]) == {"optimal", "greedy"}


def test_the_interval_over_seeds_stands_beside_that_over_people(city):
    lab, release = city
    rows = lab.table(
        "report.accuracy_over_seeds", release_id=release.id, attack="dsilva2024", pairing="optimal", level=3
    )
    row = rows.row(0, named=True)
    runs = lab.sql(
        "select estimate, low, high, control from report.every_metric where attack = 'dsilva2024' and level = 3 "
        "and metric = 'accuracy' and pairing = 'optimal' and release_id = $id", id=release.id,
    )  # fmt: skip
    values = runs["estimate"].to_numpy()
    reach = student.ppf(0.975, 2) * values.std(ddof=1) / math.sqrt(3)
    assert row["seeds"] == len(values) == 3
    assert row["estimate"] == pytest.approx(values.mean())
    assert (row["low"], row["high"]) == pytest.approx((max(0, values.mean() - reach), min(1, values.mean() + reach)))
    for name, column in (("people_low", "low"), ("people_high", "high"), ("control", "control")):
        assert row[name] == pytest.approx(runs[column].mean())


def test_one_seed_has_no_interval(tiny):
    tiny.attack(tiny.release("square:1000", "3h"), "stay")
    rows = tiny.table("report.accuracy_over_seeds")
    assert rows["seeds"].unique().to_list() == [1]
    assert rows["low"].null_count() == rows["high"].null_count() == len(rows)
    assert rows["people_low"].null_count() == 0


def test_the_reach_of_an_interval_is_students():
    lab = tl.open(quiet=True)
    found = lab.sql("select n, student_t(n) as reach from range(1, 200) as every(n) order by n")
    assert found["reach"].to_list() == pytest.approx([student.ppf(0.975, n) for n in found["n"]], rel=1e-5)
    assert lab.sql("select student_t(0) as reach").item() is None


def test_the_page_says_what_chance_alone_gives(city, tmp_path):
    lab, _ = city
    page = lab.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Against people who are not meant, chance alone gives" in page
