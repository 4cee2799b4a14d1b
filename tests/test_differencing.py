"""What is published together: hidden counts that follow, the sum that reveals them, and the ledger of what is out."""

from __future__ import annotations

import datetime as dt
import itertools
import re

import numpy as np
import polars as pl
import pytest

import trajlab as tl
from trajlab.cli import main
from trajlab.differencing import tables
from trajlab.errors import DifferencingError, UnknownNameError


@pytest.fixture(scope="module")
def city() -> tl.Lab:
    """A simulated city with one record an hour, so that larger cells are sums of smaller ones to the person."""
    lab = tl.open(":memory:", quiet=True)
    people = tl.simulate(people=150, days=1, interval="60min", seed=3)
    lab.ingest(people, tz="Europe/Lisbon")
    weights = pl.DataFrame({"uid": people["uid"].unique().sort()}).with_columns(factor=pl.lit(5.13), all=pl.lit("x"))
    lab.people(weights)
    return lab


def true_counts(lab: tl.Lab, release_id: str) -> dict[tuple[int, int], int]:
    rows = lab.sql(
        "select slot, cell, count(*) as n from slots.position as position join study.release as made "
        "on made.unprotected_id = position.release_id where made.release_id = $id group by slot, cell",
        id=release_id,
    )
    return {(slot, cell): n for slot, cell, n in rows.iter_rows()}


def assert_true(lab: tl.Lab, disclosed: pl.DataFrame) -> None:
    truth = {each: true_counts(lab, each) for each in disclosed["release_id"].unique()}
    for row in disclosed.filter(pl.col("cube_id").is_null()).iter_rows(named=True):
        assert row["low"] <= truth[row["release_id"]].get((row["slot"], row["cell"]), 0) <= row["high"], row


RECIPES = ("suppress:4", "round:5", "suppress:4:secondary", "suppress:3 round:3")


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("other", [("square:1000", "60min"), ("h3:7", "60min"), ("square:500", "3h")])
def test_what_is_disclosed_is_true(city, recipe, other):
    release = city.release("square:500" if other[0].startswith("square") else "h3:8", "60min", protect=recipe.split())
    beside = city.release(*other, protect=["suppress:4"])
    found = city.differencing(release, beside=[beside])
    assert_true(city, found.disclosed)
    assert found.hidden > 1000
    assert not found.unsolved


def test_one_count_hidden_in_a_larger_cell_is_the_larger_count_less_the_others(city):
    fine = city.release("square:500", "60min", protect=["suppress:5"])
    coarse = city.release("square:1000", "60min", protect=["suppress:5"])
    alone, both = city.differencing(fine), city.differencing(fine, beside=[coarse])
    assert (alone.recovered, alone.narrow, alone.few_contributors) == (0, 0, 0)
    assert alone.passes
    assert both.recovered > 0
    assert not both.passes
    assert_true(city, both.disclosed)
    plain = [
        (row["low"], found)
        for row in both.disclosed.filter(how="subtraction").iter_rows(named=True)
        if (found := re.fullmatch(r"square:1000 \d+,\d+: (\d+)((?: − \d+)*)", row["derivation"]))
    ]
    assert plain
    for value, found in plain:
        assert value == int(found[1]) - sum(map(int, re.findall(r"\d+", found[2])))


def test_all_disclosed_counts_of_one_larger_cell_are_found(city):
    """By trying every number that the smaller cells of each larger one may have."""
    fine = city.release("square:500", "60min", protect=["suppress:4"])
    coarse = city.release("square:1000", "60min")  # as it is: every larger count is known
    found = city.differencing(fine, beside=[coarse], width=2)
    disclosed = {
        (row["slot"], row["cell"]): (row["low"], row["high"])
        for row in found.disclosed.filter(release_id=fine.id).iter_rows(named=True)
        if row["how"] != "contributors"
    }
    truth, wholes = true_counts(city, fine.id), true_counts(city, coarse.id)
    blocks = tables.read(city._store, [fine.id, coarse.id], [])
    (block,) = (each for each in blocks if each.tables[0].id == fine.id)
    families: dict[int, list[int]] = {}
    for cell in block.cells.tolist():
        families.setdefault((cell >> 33 << 32) | ((cell & (2**32 - 1)) >> 1), []).append(cell)
    expected = {}
    for slot, (parent, cells) in itertools.product(range(fine.slots), families.items()):
        values = [range(n, n + 1) if (n := truth.get((slot, cell), 0)) >= 4 else range(4) for cell in cells]
        fits = np.array([each for each in itertools.product(*values) if sum(each) == wholes.get((slot, parent), 0)])
        for place, cell in enumerate(cells):
            low, high = fits[:, place].min(), fits[:, place].max()
            if len(values[place]) > 1 and high > 0 and high - low < 2:
                expected[slot, cell] = (low, high)
    assert disclosed == expected
    assert len(expected) > 100


def test_a_count_listed_under_a_lower_threshold_is_read_there(city):
    high, low = (city.release("square:500", "60min", protect=[f"suppress:{k}"]) for k in (6, 4))
    found = city.differencing(high, beside=[low])
    between = sum(4 <= n < 6 for n in true_counts(city, high.id).values())
    read = found.disclosed.filter(pl.col("low") == pl.col("high"), how="published elsewhere")
    assert found.recovered == len(read) == between > 0
    assert set(read["derivation"]) == {f"{n} in {low.id} (suppress:4)" for n in (4, 5)}


def test_weighted_counts_of_one_person_are_caught(city):
    """A population factor of 5.13 lets one device pass a threshold of 5: contributors count, not values."""
    release = city.release("square:500", "60min")
    cube = city.cube(release, "all", weights="factor")
    found = city.differencing(cube, least=5)
    few = found.disclosed.filter(how="contributors", cube_id=cube.id)
    alone = sum(n == 1 for n in true_counts(city, release.id).values())
    assert len(few.filter(low=1.0, derivation="listed as 5.13")) == alone > 0
    assert len(few) == found.few_contributors == sum(n < 5 for n in true_counts(city, release.id).values())


def test_rounding_hides_few_people_from_readers_and_not_from_the_audit(city):
    found = city.differencing(city.release("square:500", "60min", protect=["round:5"]), least=5)
    few = found.disclosed.filter(how="contributors")
    assert set(few["low"]) == {3.0, 4.0}
    assert set(few["derivation"]) == {"listed as 5"}


def test_groups_of_a_cube_follow_from_the_counts_of_everybody(town):
    found = town.table("metrics.disclosure").filter(how="subtraction")
    truth = town.sql(
        "select member.value, slot, cell, count(*) as n from slots.position join slots.member as member "
        "using (person) join study.cube as cube on cube.grouping_id = member.grouping_id and cube.min_count = 2 "
        "where position.release_id = cube.release_id group by all"
    )
    true_count = {tuple(row[:3]): row[3] for row in truth.iter_rows()}
    assert len(found) > 5
    assert all(true_count[row["value"], row["slot"], row["cell"]] == row["low"] for row in found.iter_rows(named=True))


def test_sums_that_do_not_hold_are_left_out_and_counted(city):
    """Hexagons reach beyond their parents: some people are counted in a larger cell beside the parent of theirs."""
    fine, coarse = (city.release(f"h3:{size}", "60min", protect=["suppress:4"]) for size in (8, 7))
    found = city.differencing(fine, beside=[coarse])
    assert found.left_out_sums > 0
    assert "sums between tables do not hold to the person and are left out" in found.notes[-1]


def test_flows_narrow_what_rounding_hid(city):
    """Two flows of at least 2 out of a cell are at least 4 people in it, where 3 would be 2 to 4."""
    release = city.release("square:4000", "60min", protect=["round:3"])
    block, *_ = tables.read(city._store, [release.id], [])
    (table,) = block.tables
    assert (table.flow_low > table.low).any()
    assert ((table.flow_low <= block.truth) & (block.truth <= table.flow_high)).all()


def test_noisy_tables_take_no_part_and_a_note_says_so(city):
    noisy = city.release("square:500", "60min", seed=2**60, protect=["noise:geometric:eps=1:unit=person-day"])
    found = city.differencing(noisy)
    assert (found.hidden, found.recovered, found.few_contributors) == (0, 0, 0)
    assert found.notes[0].startswith(f"{noisy.id} has noise on every count: no sum of others is equal to it")


def test_a_table_made_elsewhere_is_audited_by_its_own_total():
    lab = tl.open(":memory:", quiet=True)
    release = tl.Release.from_matrix(
        [[9, None, 8], [9, 6, None], [5, 7, 5]],
        [[0, 0], [900, 0], [2000, 0]],
        slots_per_day=3,
        unit="m",
        protect=["suppress:5"],
        people=17,
    )
    lab.attack(release, "stay")
    found = lab.differencing(release)
    assert (found.hidden, found.recovered, found.empty) == (2, 0, 1)  # 17 - 9 - 8: nobody
    assert found.disclosed["derivation"].to_list() == ["at most 2 by (0 to 17) people in the slot − 9 − 6"]
    assert f"{release.id} was made elsewhere: how many people are behind its counts is not known" in found.notes


def test_the_same_audit_twice_is_made_once_and_the_ledger_is_beside_it():
    lab = tl.open(":memory:", quiet=True)
    lab.ingest(tl.simulate(people=80, days=1, interval="60min", seed=3), tz="Europe/Lisbon")
    fine, coarse = (lab.release(f"square:{side}", "60min", protect=["suppress:4"]) for side in (500, 1000))
    alone = lab.differencing(fine)
    assert lab.differencing(fine.id, beside=[]).id == alone.id
    assert len(lab.table("study.differencing")) == 1
    lab.publish(coarse, "2026-11-18")
    beside = lab.differencing(fine)
    assert beside.beside == (coarse.id,)
    assert beside.recovered >= alone.recovered
    assert lab.differencing(fine, beside=[coarse]).id == beside.id


def test_the_ledger_adds_up_epsilon_and_recovery():
    lab = tl.open(":memory:", quiet=True)
    lab.ingest(tl.simulate(people=40, days=4, interval="60min", seed=3), tz="Europe/Lisbon")
    settings = {"index": "square:2000", "slot": "60min", "days": 2}
    start = lab.sql("select min(ts)::date from records.fix").item()
    first, second = start, start + dt.timedelta(days=2)
    noise = "noise:geometric:eps=0.5:unit=person-day"
    one = lab.release(**settings, start=first, seed=2**60, protect=[noise])
    two = lab.release(**settings, start=second, seed=2**60, protect=["noise:laplace:eps=2:unit=person"])
    plain = lab.release(**settings, start=first)
    for release, date in ((two, "2026-11-18"), (one, dt.date(2026, 11, 11)), (plain, dt.datetime(2026, 11, 25, 9))):
        lab.publish(release, date)
    lab.attack(plain, "stay")
    run = lab.attack(plain, "xu2017")
    out = lab.table("report.published").sort("published_on")
    assert out["release_id"].to_list() == [one.id, two.id, plain.id]
    assert out["epsilon"].to_list() == [1.0, 2.0, None]
    assert out["cumulative_epsilon"].to_list() == [1.0, 3.0, 3.0]
    assert out["without_noise"].to_list() == [0, 0, 1]
    assert out["claim"][0] == "ε = 0.5 per person-day, 1 per person over 2 days"
    recovered = lab.table("report.published_recovery").sort("published_on")
    assert recovered["not_attacked"].to_list() == [1, 2, 2]
    assert recovered["run_id"].to_list() == [None, None, run.id]
    assert recovered["cumulative_share"][2] == pytest.approx(recovered["estimate"][2])
    assert recovered["person_slots"][2] == 40 * 48


def test_what_is_out_stays_out(city):
    release = city.release("square:4000", "60min")
    made = city.publish(release, "2026-11-18", note="to the press")
    assert city.publish(release, "2026-11-18") == made
    with pytest.raises(DifferencingError, match=re.escape(
        f"{release.id} is out since 2026-11-18: it cannot be published again on 2026-11-19, nor be withdrawn, since "
        "whoever has it keeps it"
    )):  # fmt: skip
        city.publish(release, "2026-11-19")
    with pytest.raises(DifferencingError, match="is out since 2026-11-18 with another note: the ledger is not"):
        city.publish(release, "2026-11-18", note="to a friend")
    city._store.execute("delete from study.published")


@pytest.mark.parametrize("date", ["18.11.2026", "yesterday", 20261118, None, ""])
def test_a_date_of_the_wrong_kind_is_refused(city, date):
    with pytest.raises(DifferencingError, match=f"date {date!r} is not a date like '2026-11-18'"):
        city.publish("r0", date)


def test_what_cannot_be_audited_is_refused(city):
    release = city.release("square:500", "60min")
    with pytest.raises(UnknownNameError, match="no release or cube named 'r0'; there are: "):
        city.differencing("r0")
    with pytest.raises(UnknownNameError, match="no release or cube named 'r0'; there are: "):
        city.differencing(release, beside=["r0"])
    with pytest.raises(UnknownNameError, match="no release or cube named 'r0'; there are: "):
        city.publish("r0", "2026-11-18")
    with pytest.raises(DifferencingError, match="note is text, not 5"):
        city.publish(release, "2026-11-18", note=5)
    with pytest.raises(DifferencingError, match="width must be a whole number, 1 or more, not 0"):
        city.differencing(release, width=0)
    with pytest.raises(DifferencingError, match=r"least must be a whole number, 1 or more, not 2\.5"):
        city.differencing(release, least=2.5)
    with pytest.raises(DifferencingError, match=r"beside is a list of releases and cubes, such as \['r1'\]"):
        city.differencing(release, beside="r1")


def test_a_total_that_cannot_be_is_refused():
    lab = tl.open(":memory:", quiet=True)
    lab.ingest(tl.simulate(people=20, days=1, interval="60min", seed=3), tz="Europe/Lisbon")
    release = lab.release("square:2000", "60min", protect=["suppress:2"])
    lab._store.execute("update counts.release set total_high = 1, total_low = 1 where total_low is not null")
    with pytest.raises(DifferencingError, match=f"release {release.id} lists more people in a slot than the 1 whom"):
        lab.differencing(release)
    lab._store.execute("update counts.release set total_high = 9999, total_low = 9999 where total_low is not null")
    with pytest.raises(DifferencingError, match="the tables contradict each other: no number of people fits"):
        lab.differencing(release)


def test_commands_write_the_ledger_and_show_the_sums(tmp_path, capsys):
    file = str(tmp_path / "lab.duckdb")
    with tl.open(file, quiet=True) as lab:
        lab.ingest(tl.simulate(people=80, days=1, interval="60min", seed=3), tz="Europe/Lisbon")
        fine, coarse = (lab.release(f"square:{side}", "60min", protect=["suppress:4"]) for side in (500, 1000))
    assert main(["publish", file]) == 0
    assert "nothing is out yet" in capsys.readouterr().out
    assert main(["publish", file, "--release", coarse.id, "--date", "2026-11-18"]) == 0
    assert coarse.id in capsys.readouterr().out
    assert main(["differencing", file, "--release", fine.id, "--rows", "5"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{fine.id} beside {coarse.id}: ")
    assert "square:1000 " in shown
    assert main(["publish", file, "--release", coarse.id]) == 2
    assert "say since when it is out: --date 2026-11-18" in capsys.readouterr().err
    assert main(["publish", file, "--release", coarse.id, "--cube", "c1", "--date", "2026-11-18"]) == 2
    assert "give --release or --cube, one at a time" in capsys.readouterr().err
