"""What the shell says in words, beside the tables that it says it of."""

from __future__ import annotations

import re
import shutil

import pytest
from conftest import _make_town, _once

import trajlab as tl
from trajlab import schedule
from trajlab.cli import main, sentences
from trajlab.report import words


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A copy of the town that commands can open."""
    path = tmp_path_factory.mktemp("words") / "town.duckdb"
    shutil.copy(_once("town.duckdb", _make_town), path)
    return str(path)


def said(capsys, *command: str) -> list[str]:
    assert main([*command, "--quiet"]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.fixture(scope="module")
def release(town) -> str:
    return town.sql("select release_id from study.risk group by release_id order by count(*) desc limit 1").item()


def test_one_question_of_risk_is_one_line(file, town, release, capsys):
    lines = said(capsys, "risk", file, "top:2", "points:2", "--release", release)
    assert [line.partition(":")[0] for line in lines[:2]] == ["top", "points"]
    assert len(lines) == 3, "and what was searched, once"
    row = town.sql(
        "from report.reidentification where release_id = $id and knowledge = 'top:2' and searched_id = "
        "(select traces_id from study.traces where release_id = $id and basis = 'slots' and run_id is null "
        "and protection = 'none')",
        id=release,
    ).row(0, named=True)
    single = round(row["unique_share"] * row["people"])
    assert lines[0] == (
        f"top:2: {single} of {row['people']} people are singled out by top 2 places, {words.share(row['unique_share'])} "
        f"({words.share(row['low'])} to {words.share(row['high'])}); a blind guess is right for "
        f"{words.share(row['blind_guess'])} [{row['risk_id']}]"
    )
    assert len(said(capsys, "risk", file, "top:2", "--release", release, "--table")) > 40


def test_feasibility_is_a_line_for_each_way_to_know_somebody(town, release):
    seed = town.sql("select min(seed) from metrics.singled_out where release_id = $id", id=release).item()
    head, *lines = sentences.feasibility(town, release, seed)
    assert head.startswith("of 6 people, ")
    assert [line.split("  ")[1] for line in lines] == [
        "their most frequent places", "places and times", "the same in a row"
    ]  # fmt: skip
    known = town.sql(
        "select estimate from metrics.singled_out where release_id = $id and seed = $seed and knowledge = 'random' "
        "order by points",
        id=release,
        seed=seed,
    )["estimate"]
    assert re.findall(r"\d (?: +)?(\S+%)", lines[1]) == [words.share(share) for share in known]


def test_an_attack_is_told_by_nights_days_and_all_beside_what_needs_no_skill(town):
    run = town.sql("select run_id from study.run where attack = 'xu2017' order by run_id limit 1").item()
    lines = list(sentences.attack(town, run))
    assert [line.split("  ")[1] for line in lines[1:4]] == list(sentences.LEVELS.values())
    row = town.sql(
        "from report.every_metric where run_id = $id and metric = 'accuracy' and level = 3 and pairing = 'optimal' "
        "and of = 'recovered'",
        id=run,
    ).row(0, named=True)
    assert f" {words.share(row['estimate'])} ({words.share(row['low'])} to {words.share(row['high'])});" in lines[3]
    assert f"nobody moves {words.share(row['stay'])}, joined at random {words.share(row['shuffle'])}" in lines[3]
    assert re.fullmatch(r"a track is off by \S+ k?m on average \(\S+ k?m to \S+ k?m\); nobody moves .*", lines[4])
    assert len(lines) == 5


def test_membership_is_a_line_for_each_recipe(town, file, release, capsys):
    asked = ["--sizes", "3", "--targets", "4", "--groups", "10", "--recipe", "exact", "--recipe", "suppress:2"]
    lines = said(capsys, "membership", file, "--release", release, *asked)
    assert lines[1] == "about the published table: no trace has to leak:"
    assert [line.partition(":")[0] for line in lines[2:]] == [
        "groups of 3, counts as they are", "groups of 3, suppress"
    ]  # fmt: skip
    auc = town.sql("select estimate from report.membership where recipe = 'exact'").item()
    assert f"the right one is told {words.share(auc)} (" in lines[2]


def test_a_comparison_of_flows_says_how_many_of_a_hundred_trips_are_elsewhere(file, release, capsys):
    lines = said(capsys, "utility", file, "square:4000", "--zones", "zones", "--release", release)
    with tl.open(file, read_only=True) as lab:
        raw = lab.sql(
            "from report.utility_loss where generalised_to = 'square:4000' and measure = 'all' and flows = 'raw'"
        ).row(0, named=True)
    assert lines[-2] == f"square:4000, movements: {words.misplaced(raw)}"
    assert "square:4000, movements within a plausible time: " in lines[-1]


def test_trips_that_are_elsewhere_count_once_and_the_loss_counts_them_twice(town):
    rows = town.sql("from report.utility_loss where measure = 'all'")
    assert (rows["loss"] > 0).any()
    for row in rows.iter_rows(named=True):
        assert 2 * row["misplaced"] + row["missing"] + row["added"] == pytest.approx(row["loss"])
        assert row["before"] * (1 - row["missing"] + row["added"]) == pytest.approx(row["after"])
        shared = row["common_part"] * (row["before"] + row["after"]) / 2
        assert row["before"] * (1 - row["misplaced"] - row["missing"]) == pytest.approx(shared)
    points = town.sql("from report.tradeoff_point where measure = 'all' order by rank")
    assert points.filter(step=0).select("misplaced", "missing", "added").sum().row(0) == (0, 0, 0)
    for row in points.filter(points["loss"].is_not_null()).iter_rows(named=True):
        assert 2 * row["misplaced"] + row["missing"] + row["added"] == pytest.approx(row["loss"])


@pytest.mark.parametrize(
    ("shares", "sentence"),
    [
        ((0.74, 0, 0), "of 100 trips, 74 are misplaced"),
        ((0.2, 0.3, 0), "of 100 trips, 20 are misplaced and 30 are missing"),
        ((0, 0, 0.05), "of 100 trips, 5 are added that nobody made"),
        ((0.004, 0, 0), "of 100 trips, fewer than 1 is misplaced"),
    ],
)
def test_trips_are_told_in_whole_numbers(shares, sentence):
    assert words.misplaced(dict(zip(("misplaced", "missing", "added"), shares, strict=True))) == sentence


@pytest.mark.parametrize(
    ("share", "sentence"),
    [(0.27, "27 of 100"), (0.003, "3 of 1,000"), (0.0001, "fewer than 1 of 1,000"), (0.0, "0 of 100"), (None, "–")],
)
def test_a_share_is_so_many_of_a_hundred(share, sentence):
    assert words.of_hundred(share) == sentence


def test_errors_of_counts_are_two_lines(file, capsys):
    with tl.open(file, quiet=True) as lab:
        few = lab.release("square:1000", "3h", min_count=2).id
    lines = said(capsys, "utility", file, "--counts", "--release", few)
    cells, flows = lines[-2:]
    with tl.open(file, read_only=True) as lab:
        hidden, moved = lab.sql(
            "select hidden_share, distance_m from report.count_error where release_id = $id "
            "and published_table = 'occupancy'",
            id=few,
        ).row(0)
    assert cells.startswith(f"people in cells: {words.of_hundred(hidden)} are not published; ")
    assert cells.endswith(f"they are moved by {words.metres(moved)} on average".replace("\N{NO-BREAK SPACE}", " "))
    assert flows.startswith("people who change cells: ")


def test_schedules_say_how_many_true_lessons_the_records_show(term):
    leak = schedule.load_leak(term._store, term.sql("select leak_id from study.leak where basis = 'records'").item())
    lessons, matched = term.sql(
        "select sum(lessons), sum(matched) from metrics.extraction where leak_id = $id", id=leak.id
    ).row(0)
    *_, last = sentences.schedule(term, leak, "lessons.csv")
    assert last.startswith(f"of {lessons} true lessons the records show the place of {matched}, ")
    assert len(list(sentences.schedule(term, leak, None))) == 3
