"""Cubes: counts by group add up, small ones go by people and never by weight, and every group is attacked or named."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from conftest import HOMES, TINY_BOX

import trajlab as tl
from trajlab.cli import main
from trajlab.errors import LabError, ProtectionError, ReleaseError, UnknownNameError
from trajlab.report.contents import Contents
from trajlab.report.sections import cubes as section

MADE = {"index": "square:1000", "slot": "3h", "box": TINY_BOX, "outside": "clamp"}
PEOPLE = ["ana", "ben", "cleo", "dora", "emil", "fay"]
SUMMED = {
    "counts.cube": ("counts.occupancy", ["slot", "cell"]),
    "counts.flow_cube": ("counts.flow", ["slot", "origin", "destination"]),
}


@pytest.fixture(scope="module")
def city() -> tl.Lab:
    """Sixty people, two days; weights of the first digits of their number."""
    lab = tl.open()
    records = tl.simulate(people=60, days=2, seed=3)
    lab.ingest(records, tz="Europe/Lisbon")
    uids = records["uid"].unique().sort()
    lab.people(
        pl.DataFrame(
            {
                "uid": uids,
                "factor": [f"{1 + n / 7:.9f}" for n in range(len(uids))],
                "half": [f"{n % 2}" for n in range(len(uids))],
            }
        )
    )
    return lab


@pytest.mark.parametrize("table", SUMMED)
@pytest.mark.parametrize("by", ["home:h3:6", "home:square:5000"])
def test_the_groups_add_up_to_the_plain_counts(city, table, by):
    release = city.release("h3:8", "1h")
    cube = city.cube(release, by)
    plain, key = SUMMED[table]
    united = city.table(table, cube_id=cube.id).group_by(key).agg(pl.col("people").sum()).sort(key)
    assert united.equals(city.table(plain, release_id=release.id).select(*key, "people").sort(key))
    assert city.table(table, cube_id=cube.id)["value"].n_unique() == cube.groups > 2


def test_a_group_of_a_cube_is_the_release_of_that_group(city):
    release = city.release("h3:8", "1h")
    cube = city.cube(release, "home:h3:6", min_count=2)
    sizes = "from slots.member join study.cube using (grouping_id) where cube_id = $id group by value"
    largest = city.sql(f"select value {sizes} order by count(*) desc, value", id=cube.id)["value"][0]
    alone = city.release("h3:8", "1h", min_count=2, group=("home:h3:6", largest))
    assert (
        city.table("counts.cube", cube_id=cube.id, value=largest).select("slot", "cell", "people").equals(alone.counts)
    )
    flows = city.table("counts.flow_cube", cube_id=cube.id, value=largest)
    assert flows.select("slot", "origin", "destination", "people").equals(alone.flows)


def test_weights_are_summed_to_a_millionth_and_people_are_counted(city):
    release = city.release("h3:8", "1h")
    cube = city.cube(release, "home:h3:6", weights="factor")
    expected = city.sql(
        "select slot, sum(round(trait.value::double, 6)) as weighted from slots.position as position "
        "join records.trait as trait using (person) where trait.trait = 'factor' and release_id = $id group by slot",
        id=release.id,
    )
    found = city.table("counts.cube", cube_id=cube.id).group_by("slot").agg(pl.col("weighted").sum())
    both = expected.join(found, on="slot")
    assert len(both) == release.slots
    assert (both["weighted"] - both["weighted_right"]).abs().max() < 1e-6
    assert city.cube(release, "home:h3:6").id != cube.id


def test_one_device_that_stands_for_five_does_not_pass_a_threshold_of_five(tiny):
    tiny.people(pl.DataFrame({"uid": PEOPLE, "factor": [5.13] * 6, "town": ["here"] * 6}))
    with pytest.raises(ReleaseError, match="no group has a count of 5 people or more: there is nothing to publish"):
        tiny.cube(MADE, "town", weights="factor", min_count=5)  # five are never in one cell
    assert not len(tiny.table("study.cube"))
    for least in (2, 3):
        cube = tiny.cube(MADE, "town", weights="factor", min_count=least)
        for table in SUMMED:
            rows = tiny.table(table, cube_id=cube.id)
            assert rows["people"].min() >= least
            assert (rows["weighted"] - 5.13 * rows["people"]).abs().max() < 1e-9


def test_a_cube_does_not_depend_on_the_order_of_rows_or_on_threads(tmp_path):
    records = tl.simulate(people=30, days=1, seed=3)
    traits = pl.DataFrame({"uid": records["uid"].unique().sort()}).with_row_index("n")
    traits = traits.select("uid", factor=1 / (1 + pl.col("n")), team=(pl.col("n") % 4).cast(pl.String))
    found = []
    for threads, seed in ((1, None), (4, 1)):
        with tl.open(threads=threads) as lab:
            lab.ingest(records if seed is None else records.sample(fraction=1, shuffle=True, seed=seed), tz="UTC")
            lab.people(traits if seed is None else traits.sample(fraction=1, shuffle=True, seed=seed))
            cube = lab.cube({"index": "h3:7", "slot": "1h"}, "team", weights="factor")
            assert cube.groups == 4
            found.append([lab.table(table).drop("cube_id", "release_id") for table in SUMMED])
    assert all(once.equals(again) for once, again in zip(*found, strict=True))


@pytest.mark.parametrize(
    "recipe", [("suppress:3",), ("suppress:3:secondary",), ("round:5",), ("generalise:h3:7", "suppress:3")]
)
def test_the_counts_of_each_group_are_those_of_its_protected_release(city, recipe):
    cube = city.cube({"index": "h3:8", "slot": "1h"}, "home:square:10000", protect=recipe)
    counts = [word for word in recipe if not word.startswith("generalise")]
    assert cube.recipe == tuple(counts)
    by_group = {}
    for value in city.sql("select distinct value from counts.cube where cube_id = $id", id=cube.id)["value"]:
        group = ("home:square:10000", value)
        by_group[value] = city.release("h3:8", "1h", group=group, protect=recipe)
    assert by_group
    for value, release in by_group.items():
        rows = city.table("counts.cube", cube_id=cube.id, value=value)
        assert rows.select("slot", "cell", "people").equals(release.counts)
        assert rows["people"].min() >= 3
        flows = city.table("counts.flow_cube", cube_id=cube.id, value=value)
        assert flows.select("slot", "origin", "destination", "people").equals(release.flows)


def test_noise_holds_for_a_person_in_groups_by_home_and_for_less_in_others(city):
    made = {"index": "h3:7", "slot": "1h"}
    for asked in (
        lambda noise: city.cube(made, "home:square:10000", protect=noise),
        lambda noise: city.release(**made, group=("home:square:10000", "1,2"), protect=noise),
    ):
        with pytest.raises(
            ProtectionError, match="noise for unit=person-day does not hold for people divided by home:"
        ):
            asked("noise:geometric:eps=1:unit=person-day")
    cube = city.cube(made, "home:square:10000", protect="noise:geometric:eps=1:unit=person")
    assert cube.notes[-1].startswith("everybody is in one group, so what the noise of a group claims holds")
    sizes = city.table("counts.cube", cube_id=cube.id).group_by("value").len()
    assert len(sizes) == cube.groups
    assert sizes["len"].n_unique() == 1  # every cell in every slot, whoever is in the group
    by_factor = city.cube(made, "half", protect="noise:geometric:eps=1:unit=person-day")
    assert by_factor.groups == 2


def test_a_cube_of_a_protected_release_is_protected_like_it_and_of_the_same_people(city):
    release = city.release("h3:8", "1h", protect=["generalise:h3:7", "suppress:4"])
    cube = city.cube(release, "home:square:10000")
    assert cube.recipe == ("suppress:4",)
    assert cube.release_id == city.release("h3:7", "1h").id
    assert city.table("counts.cube", cube_id=cube.id)["people"].min() >= 4
    assert cube == city.cube({"index": "h3:7", "slot": "1h"}, "home:square:10000", protect="suppress:4")


def test_groups_of_which_nothing_is_left_are_noted_and_attacks_name_them(city):
    cube = city.cube({"index": "h3:8", "slot": "1h"}, "home:square:10000", protect="suppress:5")
    left = city.sql("select count(distinct value) from counts.cube where cube_id = $id", id=cube.id).item()
    assert 0 < left < cube.groups
    assert f"{cube.groups - left} of {cube.groups} groups have no count left" in cube.notes
    runs = city.attack_cube(cube, "stay", pairing="greedy")
    assert len(runs.runs) == left
    assert len(runs.refused) == cube.groups - left
    assert all("leaves no count of this release" in reason for reason in runs.refused.values())
    (whole,) = city.table("report.cube_recovery", cube_id=cube.id, scope="all").to_dicts()
    assert (whole["groups"], whole["attacked_groups"], whole["people"]) == (cube.groups, left, 60)
    risk = city.risk_cube(cube, "top:1")  # about traces that would have to leak: nothing published changes it
    assert sum(answer.people for answer in risk.answers.values()) == 60


def test_the_report_shows_groups_of_a_cube_as_groups_and_not_as_releases(city, tmp_path):
    cube = city.cube({"index": "h3:8", "slot": "1h"}, "home:square:10000", protect="suppress:5")
    city.attack_cube(cube, "stay", pairing="greedy")
    city.risk_cube(cube, "top:1")
    made = set(city.table("report.cube_release", cube_id=cube.id)["release_id"])
    assert len(made) > cube.groups  # with and without protection
    contents = Contents.of(city)
    assert made.isdisjoint(release.id for release in contents.releases)
    assert cube.release_id in {release.id for release in contents.releases}
    page = str(section.render(contents))
    assert "home:square:10000" in page
    assert "could not be attacked" in page
    small = city.sql("select value from slots.member group by value having count(*) < 10")["value"]
    large = city.table("report.cube_risk", cube_id=cube.id).filter(pl.col("people") >= 10)["value"].drop_nulls()
    assert len(large)
    assert all(f">{value}<" in page for value in large)
    assert not any(f">{value}<" in page for value in set(small) - set(large))
    whole = city.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert cube.by in whole
    assert not any(release_id in whole for release_id in made)


def test_people_of_whom_nothing_is_known_are_a_group_and_a_note_says_so(tiny):
    tiny.people(HOMES)
    cube = tiny.cube(MADE, "works")
    assert "3 of 6 people have no works: they are the group 'unknown'" in cube.notes
    counts = tiny.table("counts.cube", cube_id=cube.id, value="unknown", slot=0)
    assert counts["people"].sum() == 3


def test_too_many_groups_and_groups_of_one_are_warned_of(tiny):
    tiny.people(pl.DataFrame({"uid": PEOPLE, "name": PEOPLE}))
    many, alone = tiny.cube(MADE, "name").notes
    assert many.startswith("warning: name makes 6 groups of 6 people, more than one for every 10")
    assert alone.startswith("warning: 6 groups are of one person, whose counts are that person's whole trace")


def test_the_same_cube_is_made_once_and_another_after_people_changed(tiny):
    tiny.people(HOMES)
    once, again = (tiny.cube(MADE, "works") for _ in range(2))
    assert once == again
    tiny.people(pl.DataFrame({"uid": ["emil"], "works": ["by day"]}))
    changed = tiny.cube(MADE, "works")
    assert changed.id != once.id
    assert tiny.table("counts.cube", cube_id=once.id, value="by day", slot=0)["people"].sum() == 2
    assert tiny.table("counts.cube", cube_id=changed.id, value="by day", slot=0)["people"].sum() == 3


@pytest.mark.parametrize(
    ("asked", "error", "text"),
    [
        ({"by": "age"}, UnknownNameError,
         "no column of the people table (lab.people) named 'age'; there are: factor, home, home:<index>, works"),
        ({"by": "home", "weights": "age"}, UnknownNameError,
         "no column of the people table (lab.people) named 'age'; there are: factor, home, works"),
        ({"by": "home", "weights": "home"}, ReleaseError,
         "weights 'home': 1 of 6 people have none: give everybody one (lab.people), or leave weights out"),
        ({"by": "home", "weights": "factor", "factor": ["1", "x", "nan", "inf", "2", "3"]}, ReleaseError,
         "weights 'factor': 3 of 6 people have something that is not a number"),
        ({"by": "home", "weights": "factor", "factor": ["1", "-1", "-0.0000001", "1", "2", "3"]}, ReleaseError,
         "weights 'factor': 2 of 6 people have less than 0"),
        ({"by": "home", "weights": "factor", "factor": ["1", "1e300", "1", "1", "2", "3"]}, ReleaseError,
         "weights 'factor': 1 of 6 people have more than 1,000,000,000"),
        ({"by": "home", "weights": "factor", "protect": "suppress:2:secondary"}, ReleaseError,
         "weights are published as they are, so suppress:2:secondary beside them protects nothing: use suppress alone"),
        ({"by": "home", "protect": "suppress:2", "min_count": 2}, ReleaseError,
         "min_count=2 leaves out counts before they are protected: put suppress:2 into protect instead, in its place"),
        ({"by": "home", "protect": "suppress:7"}, ReleaseError,
         "no group has a count of 7 people or more: there is nothing to publish"),
        ({"by": "home", "min_count": 0}, ReleaseError, "min_count must be a whole number, 1 or more, not 0"),
    ],
    ids=["column", "weights", "missing", "text", "negative", "heavy", "protected", "both", "nothing", "min_count"],
)  # fmt: skip
def test_a_cube_that_makes_no_sense_is_refused(tiny, asked, error, text):
    tiny.people(
        pl.concat([HOMES, pl.DataFrame({"uid": ["emil"], "home": ["Northgate"], "works": [None]}, schema=HOMES.schema)])
    )
    tiny.people(pl.DataFrame({"uid": PEOPLE, "factor": asked.pop("factor", ["1"] * 6)}))
    with pytest.raises(error) as refused:
        tiny.cube(MADE, **asked)
    assert str(refused.value) == text
    assert not len(tiny.table("study.cube"))


def test_a_cube_is_of_a_release_of_everybody_that_the_lab_made(tiny):
    west = tiny.release(**MADE, group=("home:zones", "west"))
    with pytest.raises(ReleaseError, match="is of one group already"):
        tiny.cube(west, "home:zones")
    elsewhere = tl.Release.from_matrix([[1, 2], [2, 1]], [[0, 0], [500, 0]], 2, unit="m")
    with pytest.raises(UnknownNameError, match="no release named"):
        tiny.cube(elsewhere, "home:zones")
    with pytest.raises(UnknownNameError, match="no cube named 'c1'"):
        tiny.attack_cube("c1", "stay")


def attacked(tiny: tl.Lab) -> tl.Release:
    tiny.people(HOMES)
    release = tiny.release(**MADE)
    cube = tiny.cube(release, "works")
    runs = tiny.attack_cube(cube, "xu2017", pairing="optimal")
    assert sorted(runs.runs) == ["by day", "unknown"]
    assert runs.refused == {"by night": "there are 1 people; at least two are needed"}
    assert runs.description == "2 of 3 groups attacked; by night cannot be (report.cube_recovery says why)"
    return release


def test_every_group_is_attacked_or_named_and_the_whole_is_the_mean_over_people(tiny):
    release = attacked(tiny)
    tiny.attack(release, "xu2017", pairing="optimal")
    rows = {(row["scope"], row["value"]): row for row in tiny.table("report.cube_recovery").to_dicts()}
    assert rows.keys() == {
        ("group", "by day"), ("group", "by night"), ("group", "unknown"), ("all", None), ("release", None)
    }  # fmt: skip
    by_day, unknown, whole = rows["group", "by day"], rows["group", "unknown"], rows["all", None]
    assert (by_day["people"], unknown["people"]) == (2, 3)
    assert whole["estimate"] == pytest.approx((2 * by_day["estimate"] + 3 * unknown["estimate"]) / 5)
    assert whole["stay"] == pytest.approx((2 * by_day["stay"] + 3 * unknown["stay"]) / 5)
    assert (whole["groups"], whole["attacked_groups"], whole["people"], whole["attacked_people"]) == (3, 2, 6, 5)
    assert whole["low"] <= whole["estimate"] <= whole["high"]
    night = rows["group", "by night"]
    assert night["reason"] == "there are 1 people; at least two are needed"
    assert night["estimate"] is None
    assert rows["release", None]["attacked_people"] == 6
    found = tiny.sql(
        "select run_id, avg(accuracy) as mean, var_samp(accuracy) as variance, count(*) as people "
        "from metrics.person_recovery join study.cube_run using (run_id) group by run_id"
    )
    deviation = (found["people"] * found["variance"]).sum() ** 0.5 / found["people"].sum()
    assert whole["high"] == pytest.approx(min(whole["estimate"] + 1.96 * deviation, 1))


def test_where_no_group_can_be_attacked_the_whole_says_so(tiny):
    tiny.people(pl.DataFrame({"uid": PEOPLE, "name": PEOPLE}))
    cube = tiny.cube(MADE, "name")
    assert len(tiny.attack_cube(cube, "xu2017").refused) == 6
    (whole,) = tiny.table("report.cube_recovery", scope="all").to_dicts()
    assert (whole["people"], whole["attacked_people"], whole["reason"]) == (6, 0, "no group can be attacked")


def test_crowds_within_a_group_are_never_larger_than_among_everybody(tiny):
    tiny.people(HOMES)
    cube = tiny.cube(MADE, "works")
    found = tiny.risk_cube(cube, "top:1")
    assert found.everybody.people == 6
    assert {value: one.people for value, one in found.answers.items()} == {"by day": 2, "by night": 1, "unknown": 3}
    rows = tiny.table("report.cube_risk")
    assert rows.select("scope", "value", "people").rows() == [
        ("all", None, 6), ("group", "by day", 2), ("group", "by night", 1), ("group", "unknown", 3)
    ]  # fmt: skip
    assert (rows["mean_risk"] >= rows["everybody_risk"]).all()
    assert (rows["unique_share"] >= rows["everybody_share"]).all()
    (whole,) = rows.filter(scope="all").to_dicts()
    assert whole["everybody_share"] == pytest.approx(found.everybody.unique_share)
    within = sum(one.people * one.unique_share for one in found.answers.values()) / 6
    assert whole["unique_share"] == pytest.approx(within)


def test_a_cube_is_not_attacked_once_records_or_people_have_changed(tiny):
    tiny.people(HOMES)
    cube = tiny.cube(MADE, "works")
    tiny.people(pl.DataFrame({"uid": ["emil"], "works": ["by day"]}))
    with pytest.raises(ReleaseError, match="people are in other groups since cube .* was made: make it again"):
        tiny.attack_cube(cube, "stay")
    more = pl.DataFrame({"uid": ["ana"], "ts": ["2024-03-05T12:01:00+00:00"], "lat": [38.738], "lng": [-9.163]})
    cube = tiny.cube(MADE, "works")
    tiny.ingest(more, tz="Europe/Lisbon")
    with pytest.raises(ReleaseError, match="records were ingested since cube .* was made"):
        tiny.risk_cube(cube, "top:1")


def test_a_cube_is_exported_without_the_counts_of_everybody(tiny, tmp_path):
    tiny.people(HOMES)
    cube = tiny.cube(MADE, "works", min_count=2)
    other = tiny.cube(MADE, "home:zones")
    done = tiny.export(tmp_path / "cube", publishable=True, cube=cube, form="csv")
    assert [file.name for file in done if file.suffix == ".csv"] == sorted(
        f"{table}.csv" for table in (*SUMMED, "study.cube", "counts.release", "slots.slot", "grid.index", "grid.cell")
    )
    counts = pl.read_csv(tmp_path / "cube" / "counts.cube.csv")
    assert counts["cube_id"].unique().to_list() == [cube.id] != [other.id]
    assert set(pl.read_csv(tmp_path / "cube" / "grid.cell.csv")["cell"]) == set(counts["cell"])
    assert any("publish neither the counts of its release nor another cube" in note for note in done.notes)
    names = {file.name for file in tiny.export(tmp_path / "plain", publishable=True)}
    assert not names & {"counts.cube.parquet", "counts.flow_cube.parquet", "study.cube.parquet"}
    with pytest.raises(LabError, match="a cube is exported with publishable and without a release"):
        tiny.export(tmp_path / "both", cube=cube)


def test_the_command_makes_attacks_and_asks(tiny_file: Path, tmp_path, capsys):
    lab = tmp_path / "lab.duckdb"
    lab.write_bytes(tiny_file.read_bytes())
    assert main(["release", str(lab), "--index", "square:1000", "--slot", "3h", "--quiet"]) == 0
    asked = ["cube", str(lab), "--by", "home:zones", "--attack", "xu2017", "--risk", "top:1", "--quiet"]
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert "6 people in 2 groups" in said
    assert "xu2017: 1 of 2 groups attacked; east cannot be" in said
    assert "everybody_share" in said
    assert main(["cube", str(lab), "--by", "home:zones", "--weights", "x"]) == 2
    assert "no column of the people table" in capsys.readouterr().err


POLICY = """\
name = "small"
[[rule]]
rule = "contributors"
at_least = 3
table = "occupancy"
[[rule]]
rule = "smallest_count"
at_least = 1
"""


def test_a_cube_is_decided_group_by_group_and_its_worst_group_decides(city):
    from trajlab.decide.policy import Policy

    policy = Policy.parse(POLICY)
    cube = city.cube({"index": "h3:8", "slot": "1h"}, "home:square:10000", min_count=2)
    decision = city.decide_cube(cube, policy)
    by_hand = {}
    for value, people in decision.groups.select("value", "people").iter_rows():
        release = city.release("h3:8", "1h", min_count=2, group=("home:square:10000", value))
        if len(release.counts):
            by_hand[value] = people, city.decide(release, policy).rules
    assert 0 < len(by_hand) < cube.groups
    assert decision.verdict == "fail"
    assert dict(decision.groups.filter(pl.col("reason").is_null()).select("value", "verdict").iter_rows()) == {
        value: "fail" if "fail" in set(rules["verdict"]) else "pass" for value, (_, rules) in by_hand.items()
    }
    assert set(decision.groups.filter(pl.col("reason").is_not_null())["verdict"]) == {"pass"}
    for position, row in enumerate(decision.rules.sort("position").iter_rows(named=True)):
        found = {value: (people, rules.row(position, named=True)) for value, (people, rules) in by_hand.items()}
        worst = min(found, key=lambda value: (found[value][1]["low"], -found[value][0], value))
        assert (row["value"], row["estimate"]) == (worst, found[worst][1]["estimate"])
        assert row["failing_groups"] == sum(rule["verdict"] == "fail" for _, rule in found.values())
        assert row["groups"] == len(by_hand)
    assert city.decide_cube(cube, policy).id == decision.id
    safe = city.cube({"index": "h3:8", "slot": "1h"}, "home:square:10000", min_count=3)
    assert city.decide_cube(safe, policy).verdict == "pass"


def test_the_command_decides_a_cube(tiny_file: Path, tmp_path, capsys):
    lab = tmp_path / "lab.duckdb"
    lab.write_bytes(tiny_file.read_bytes())
    (tmp_path / "small.toml").write_text(POLICY)
    assert main(["release", str(lab), "--index", "square:1000", "--slot", "3h", "--quiet"]) == 0
    assert main(["cube", str(lab), "--by", "home:zones", "--quiet"]) == 0
    with tl.open(lab, quiet=True) as opened:
        cube = opened.table("study.cube")["cube_id"].item()
    capsys.readouterr()
    asked = ["decide", str(lab), "--cube", cube, "--policy", str(tmp_path / "small.toml"), "--quiet"]
    assert main(asked) == 1
    said = capsys.readouterr().out
    assert f"on cube {cube}" in said
    assert "the worst; 2 of 2 groups do not pass" in said
    assert said.rstrip().endswith("fail: do not publish (small: 2 fail of 2 groups)")
    assert main([*asked, "--certificate", "x.json"]) == 2
    assert "leave out --release and --certificate" in capsys.readouterr().err
