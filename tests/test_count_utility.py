"""The error of a published table, beside slow and obvious versions of every measure."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import defaultdict

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog
from scipy.stats import spearmanr

import trajlab as tl
from trajlab.cli import main
from trajlab.errors import ReleaseError, UnknownNameError, UtilityError
from trajlab.utility import counts

CELLS = 23
SLOTS = 6


def table(seed: int, *, noise: bool = False, min_count: int = 1) -> tuple[dict, dict]:
    """Counts by (slot, cell) before, and what a protection publishes of them."""
    rng = np.random.default_rng(seed)
    before = {
        (slot, cell): int(n)
        for slot, cell in itertools.product(range(SLOTS), range(CELLS))
        if (n := rng.geometric(0.25) - 1)
    }
    if noise:  # on every cell, negative values too
        after = {
            key: before.get(key, 0) + int(rng.geometric(0.5) - rng.geometric(0.5))
            for key in itertools.product(range(SLOTS), range(CELLS))
        }
    else:
        after = {key: n for key, n in before.items() if n >= min_count}
    return before, after


def place(cell: int) -> tuple[float, float]:
    return 500.0 * (cell % 5), 400.0 * (cell // 5)


def publish(lab: tl.Lab, release_id: str, people: dict, flows: dict | None = None) -> None:
    """A release of these rows, as if the lab had published it."""
    lab._store.execute(
        "insert into counts.release by name select $id as release_id, 7 as index_id, 'square:500' as index_name, "
        "timestamp '2024-03-04' as starts, 'UTC' as tz, 14400 as slot_seconds, 6 as slots_per_day, 6 as slots, "
        "'static' as fill, 1 as min_count, '' as recipe",
        id=release_id,
    )
    lab._store.execute(
        "insert into slots.slot by name select $id as release_id, slot, timestamp '2024-03-04' + interval (4 * slot) "
        "hour as starts, 0 as day, slot as slot_of_day, 1 as weekday from range(6) as every(slot)",
        id=release_id,
    )
    for name, columns, rows in (
        ("counts.occupancy", ("slot", "cell"), people),
        ("counts.flow", ("slot", "origin", "destination"), flows or {}),
    ):
        found = [(release_id, *key, n) for key, n in rows.items()]
        write(lab, name, pl.DataFrame(found, schema=("release_id", *columns, "people"), orient="row"))


def write(lab: tl.Lab, name: str, rows: pl.DataFrame) -> None:
    if len(rows):
        with lab._store.engine.frames(given=rows):
            lab._store.execute(f"insert into {name} by name select * from given")


def lab_of(before: dict, after: dict, flows_before: dict | None = None, flows_after: dict | None = None) -> tl.Lab:
    lab = tl.open(quiet=True)
    cells = [
        {"index_id": 7, "cell": cell, "label": "c", "x": place(cell)[0], "y": place(cell)[1]} for cell in range(CELLS)
    ]
    write(lab, "grid.cell", pl.DataFrame(cells))
    publish(lab, "before", before, flows_before)
    publish(lab, "after", after, flows_after)
    return lab


def slow(before: dict, after: dict) -> dict[str, float]:
    """Every measure, one row after another; the first entry of a key is its slot."""
    keys = before.keys() | after.keys()
    error = {key: abs(after.get(key, 0) - before.get(key, 0)) for key in keys}
    total = sum(before.values())
    per_slot = defaultdict(list)
    for key in sorted(keys):
        per_slot[key[0]].append((before.get(key, 0), after.get(key, 0)))
    correlations, overlaps = [], []
    for rows in per_slot.values():
        one, other = zip(*rows, strict=True)
        if one == other:
            correlations.append(1.0)
        elif len(set(one)) == 1 or len(set(other)) == 1:
            correlations.append(0.0)
        else:
            correlations.append(float(spearmanr(one, other).statistic))
        overlaps.append(slow_overlap(one, other))
    return {
        "relative_error": sum(error.values()) / total,
        "median_relative_error": statistics.median(error[k] / before[k] for k in after if before.get(k, 0) > 0),
        "hidden_people": sum(n for key, n in before.items() if key not in after) / total,
        "hidden_rows": sum(key not in after for key in before) / len(before),
        "invented_rows": sum(key not in before for key in after) / len(after),
        "total_bias": (sum(after.values()) - total) / total,
        "rank_correlation": statistics.mean(correlations),
        "busiest_overlap": statistics.mean(overlaps),
    }


def slow_overlap(one: tuple, other: tuple) -> float:
    """Ties share the places that are left: the mean over all orders in which they could be taken, cell by cell."""
    most = math.ceil(sum(n > 0 for n in one) / 10)

    def places(values: tuple) -> list[float]:
        found = []
        for n in values:
            above, alike = sum(m > n for m in values), values.count(n)
            found.append(0.0 if n <= 0 else min(max((most - above) / alike, 0), 1))
        return found

    return sum(map(min, places(one), places(other))) / most


def slow_distance(before: dict, after: dict, slot: int) -> float:
    """The transport problem as a linear program over all pairs of cells."""
    one = np.array([before.get((slot, cell), 0) for cell in range(CELLS)], dtype=float)
    other = np.array([max(after.get((slot, cell), 0), 0) for cell in range(CELLS)], dtype=float)
    cost = [math.dist(place(a), place(b)) for a, b in itertools.product(range(CELLS), repeat=2)]
    sums = np.zeros((2 * CELLS, CELLS * CELLS))
    for n, (a, b) in enumerate(itertools.product(range(CELLS), repeat=2)):
        sums[a, n] = sums[CELLS + b, n] = 1
    return linprog(cost, A_eq=sums, b_eq=np.concatenate([one / one.sum(), other / other.sum()])).fun


def cases() -> list[tuple[dict, dict]]:
    return [table(seed, min_count=k) for seed, k in ((1, 2), (2, 4), (3, 7))] + [table(4, noise=True)]


@pytest.mark.parametrize(("before", "after"), cases(), ids=["k2", "k4", "k7", "noise"])
def test_every_measure_is_that_of_the_slow_version(before, after):
    lab = lab_of(before, after)
    found = lab.count_utility("after", unprotected="before")
    expected = slow(before, after)
    assert {measure: found.error(measure) for measure in expected} == pytest.approx(expected)
    distances = lab.table("metrics.count_distance")["distance_m"].to_list()
    assert distances == pytest.approx([slow_distance(before, after, slot) for slot in range(SLOTS)])
    assert found.error("distance_m") == pytest.approx(statistics.mean(distances))
    assert set(found.errors["about"]) == {"table"}
    for row in found.errors.drop_nulls("low").iter_rows(named=True):
        assert row["low"] - 1e-9 <= row["estimate"] <= row["high"] + 1e-9, row


def test_flows_are_compared_slot_by_slot_as_they_are_published():
    """People who go the same way in different slots are many over the period, and too few in any slot."""
    rng = np.random.default_rng(5)
    before = {
        (slot, a, b): int(n)
        for slot, a, b in itertools.product(range(SLOTS), range(4), range(4))
        if (n := rng.integers(0, 6))
    }
    after = {key: n for key, n in before.items() if n >= 3}
    lab = lab_of({(0, 0): 1}, {(0, 0): 1}, before, after)
    found = lab.count_utility("after", unprotected="before")
    moved, published = ({key: n for key, n in flows.items() if key[1] != key[2]} for flows in (before, after))
    expected = slow(moved, published)
    assert {measure: found.error(measure, "flow") for measure in expected} == pytest.approx(expected)
    assert found.error("distance_m", "flow") is None
    over_the_period = sum(max(0, n) for n in _sums(moved).values() if n < 3) / sum(moved.values())
    assert found.error("hidden_people", "flow") > 2 * over_the_period  # what a threshold on the sums would say


def _sums(flows: dict) -> dict:
    found: dict = defaultdict(int)
    for (_, *ends), n in flows.items():
        found[tuple(ends)] += n
    return found


def test_a_table_beside_itself_has_no_error():
    before, _ = table(6)
    lab = lab_of(before, before, {(0, 1, 2): 3, (0, 2, 1): 3}, {(0, 1, 2): 3, (0, 2, 1): 3})
    for name in ("before", "after"):
        found = lab.count_utility(name, unprotected="before")
        nothing = [m for m in counts.MEASURES if m not in ("rank_correlation", "busiest_overlap")]
        assert [found.error(measure) for measure in nothing] == [0.0] * len(nothing)
        for shown in counts.TABLES:
            assert found.error("rank_correlation", shown) == found.error("busiest_overlap", shown) == 1


def test_hours_and_cells_add_up_to_the_whole():
    before, after = table(7, min_count=3)
    found = lab_of(before, after).count_utility("after", unprotected="before")
    total = sum(before.values())
    for part in (found.by_hour.filter(published_table="occupancy"), found.by_cell):
        assert part["true_people"].sum() == total
        assert part["published_people"].sum() == sum(after.values())
        hidden = (part["hidden_share"] * part["true_people"]).sum() / total
        assert hidden == pytest.approx(found.error("hidden_people"))
    assert found.by_hour["from_hour"].unique().sort().to_list() == [f"{h:02}:00" for h in range(0, 24, 4)]
    third = {key: n for key, n in before.items() if key[0] == 3}
    row = found.by_hour.filter(published_table="occupancy", from_hour="12:00").row(0, named=True)
    expected = slow(third, {key: n for key, n in after.items() if key[0] == 3})
    for name, measure in {"relative_error": "relative_error", "hidden_share": "hidden_people",
                          "hidden_row_share": "hidden_rows", "total_bias": "total_bias",
                          "rank_correlation": "rank_correlation", "busiest_overlap": "busiest_overlap"}.items():  # fmt: skip
        assert row[name] == pytest.approx(expected[measure]), name
    assert row["distance_m"] == pytest.approx(slow_distance(before, after, 3))


def test_a_slot_of_which_nothing_is_published_has_no_order_and_no_distance():
    before, after = table(8, min_count=2)
    after = {key: n for key, n in after.items() if key[0] != 2}
    lab = lab_of(before, after)
    lab.count_utility("after", unprotected="before")
    row = lab.table("metrics.count_error_by_slot", published_table="occupancy", slot=2).row(0, named=True)
    assert (row["rank_correlation"], row["busiest_overlap"], row["listed_rows"]) == (0, 0, 0)
    assert row["hidden_people"] == row["absolute_error"] == row["true_people"]
    assert lab.table("metrics.count_distance", slot=2)["distance_m"].item() is None
    assert lab.table("metrics.count_error", measure="distance_m")["slots"].item() == SLOTS - 1


def test_nothing_published_at_all_is_an_answer():
    before, _ = table(9)
    found = lab_of(before, {}).count_utility("after", unprotected="before")
    assert (found.error("relative_error"), found.error("hidden_people"), found.error("total_bias")) == (1, 1, -1)
    assert found.error("median_relative_error") is found.error("invented_rows") is found.error("distance_m") is None


def test_rows_in_another_order_change_nothing():
    before, after = table(10, noise=True)
    one = lab_of(before, after).count_utility("after", unprotected="before").errors
    turned = [dict(reversed(rows.items())) for rows in (before, after)]
    assert lab_of(*turned).count_utility("after", unprotected="before").errors.equals(one)


def test_the_distance_of_far_too_many_places_is_that_of_slots_spread_over_the_period(monkeypatch):
    assert counts.sample(168, 500).tolist() == list(range(168))
    some = counts.sample(168, 8000)
    assert len(some) == 24
    assert set(np.diff(some)) == {7}
    assert len(set(some % 24)) > 20
    monkeypatch.setattr(counts, "PLACES", 0)
    monkeypatch.setattr(counts, "FEWEST", 2)
    before, after = table(11, min_count=3)
    lab = lab_of(before, after)
    found = lab.count_utility("after", unprotected="before")
    assert lab.table("metrics.count_distance")["slot"].to_list() == [1, 4]
    assert found.notes == ("the distance on the map is that of 2 of 6 slots, spread evenly over the period",)


def test_a_release_is_compared_with_the_one_it_was_made_from(tiny):
    settings = {"index": "square:1000", "slot": "3h"}
    few = tiny.release(**settings, min_count=2)
    found = tiny.count_utility(few)
    whole = tiny.release(**settings)
    assert found.unprotected_id == whole.id
    hidden = tiny.table("report.summary", release_id=few.id)["hidden"].item()
    assert found.error("hidden_people") == pytest.approx(hidden)
    published, every = (release.counts["people"].sum() for release in (few, whole))
    assert found.error("total_bias") == pytest.approx(published / every - 1)
    assert "hidden" in repr(found)
    again = tiny.count_utility(few.id)
    assert again.errors.equals(found.errors)
    assert tiny.count_utility(whole).error() == 0


def test_a_protected_release_is_compared_with_the_one_without_protection(tiny):
    few = tiny.release("square:1000", "3h", protect=["suppress:2"])
    found = tiny.count_utility(few)
    plain = tiny.count_utility(tiny.release("square:1000", "3h", min_count=2))
    assert found.unprotected_id == plain.unprotected_id == tiny.release("square:1000", "3h").id
    assert found.errors.equals(plain.errors)
    assert found.by_hour.equals(plain.by_hour)


def test_noise_may_be_negative_and_a_table_without_flows_says_so(tiny):
    whole = tiny.release("square:1000", "3h")
    noisy = tiny.release("square:1000", "3h", protect=["noise:geometric:eps=1:unit=person-slot"])
    assert noisy.counts["people"].to_numpy().min() < 0
    found = tiny.count_utility(noisy)
    before, after = (
        {(slot, cell): n for slot, cell, n in release.counts.select("slot", "cell", "people").iter_rows()}
        for release in (whole, noisy)
    )
    expected = slow(before, after)
    assert {measure: found.error(measure) for measure in expected} == pytest.approx(expected)
    assert found.error("distance_m") > 0
    assert found.notes == ("no flow is published: all of them are lost",)
    assert found.error("relative_error", "flow") == 1
    lost = tiny.utility(whole, noisy)
    assert lost.loss() == 1
    assert lost.notes[1] == f"release {noisy.id} publishes no flow: all of them are lost"


def test_what_cannot_be_compared_is_refused_with_the_reason(tiny):
    few = tiny.release("square:1000", "3h", min_count=2)
    other = tiny.release("square:2000", "3h")
    longer = tiny.release("square:1000", "6h")
    with pytest.raises(UtilityError, match=r"differ in index_name \(square:1000 and square:2000\)"):
        tiny.count_utility(few, unprotected=other)
    with pytest.raises(UtilityError, match=r"differ in slot_seconds \(10800 and 21600\): a published table"):
        tiny.count_utility(few, unprotected=longer)
    with pytest.raises(UnknownNameError, match="no release named 'r0'"):
        tiny.count_utility("r0")
    with pytest.raises(ReleaseError, match="a release, or its id, is needed here, not 7"):
        tiny.count_utility(7)
    found = tiny.count_utility(few)
    with pytest.raises(UnknownNameError, match="no measure named 'bias'; there are"):
        found.error("bias")
    with pytest.raises(UnknownNameError, match="no table named 'cells'; there are"):
        found.error(table="cells")
    before, after = table(1)
    lab = lab_of(before, after)
    with pytest.raises(UtilityError, match=r"release after was made elsewhere: .* name a release to compare it with"):
        lab.count_utility("after")
    with pytest.raises(UtilityError, match="release after has no count"):
        lab_of(before, {}).count_utility("before", unprotected="after")


def test_records_that_came_later_are_no_part_of_the_comparison(tiny):
    few = tiny.release("square:1000", "3h", min_count=2)
    late = pl.DataFrame({"uid": "zoe", "ts": "2024-03-04T08:00:00Z", "lat": 38.72, "lng": -9.14})
    tiny.ingest(late, tz="Europe/Lisbon")
    with pytest.raises(UtilityError, match="records were added after release"):
        tiny.count_utility(few)


def test_the_command_prints_the_errors_of_the_published_table(tmp_path, capsys):
    file = str(tmp_path / "lab.duckdb")
    with tl.open(file, quiet=True) as lab:
        lab.ingest(tl.simulate(people=20, days=1, seed=1), tz="Europe/Lisbon")
        few = lab.release("h3:7", "3h", min_count=3)
    assert main(["utility", file, "--counts", "--quiet", "--table"]) == 0
    out = capsys.readouterr().out
    assert f"the published table {few.id} beside the unprotected table r" in out
    assert "hidden_people" in out
    for wrong, why in (([], "either AFTER"), (["h3:6", "--counts"], "either AFTER"),
                       (["h3:6", "--unprotected", few.id], "add --counts")):  # fmt: skip
        assert main(["utility", file, *wrong, "--release", few.id]) == 2
        assert why in capsys.readouterr().err
