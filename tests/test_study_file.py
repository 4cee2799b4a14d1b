"""A study of a file: refused with the line, of the same people throughout, each step once, and the same after a kill."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import trajlab as tl
from soak import state
from tests.conftest import ROOT, filled, tiny_lab
from trajlab.cli import main
from trajlab.errors import ReleaseError, StudyError, UnknownNameError
from trajlab.report import risk_loss
from trajlab.report.risk_loss import not_beaten
from trajlab.study.cost import Clock, Size
from trajlab.study.file import Budget, Design, parse_study, read_study
from trajlab.study.plan import Step, make_plan
from trajlab.study.whole import WholeStudy

FILE = """\
title = "Cells and thresholds"
index = ["square:1000", "square:2000"]
slot = "6h"
protect = ["none", "suppress:2"]
adversary = ["top:1", "points:2"]
utility = ["counts", "flows:square:2000"]
seed = [0, 1]
"""


@pytest.fixture(scope="module")
def lab() -> tl.Lab:
    return tiny_lab()


@pytest.fixture(scope="module")
def found(lab: tl.Lab, tmp_path_factory: pytest.TempPathFactory) -> WholeStudy:
    file = tmp_path_factory.mktemp("study") / "study.toml"
    file.write_text(FILE)
    return lab.study(file)


def test_a_file_lists_what_varies_and_what_is_asked():
    design = parse_study(
        'slot = ["30min", "1h", "60min"]\nprotect = ["none", "suppress:15, round:5"]\nutility = "flows"\n'
        "[release]\nstart = 2024-03-04\nbox = [-9.2, 38.6, -9.1, 38.8]\n[questions]\nbasis = 'records'\n"
        "[budget]\nruns = 7\nminutes = 2.5\n"
    )
    assert design.slot == (1800, 3600)
    assert design.protect == ((), ("suppress:15", "round:5"))
    assert design.release == {"start": "2024-03-04", "box": (-9.2, 38.6, -9.1, 38.8)}
    assert (design.basis, design.reference, design.budget) == ("records", "square:500", Budget(7, 2.5))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("index = [", "study.toml is no TOML: "),
        ('slot = "1h"', ("study.toml asks nothing: give attack, adversary, utility, membership or schedule, such as "
         'adversary = ["points:4"]')),
        ('slot = "1h"\ncells = "h3:8"', ("study.toml, line 2: a study has no key 'cells'; there are: title, index, slot, "
         "protect, attack, adversary, utility, membership, schedule, seed, reference, questions, release, budget")),
        ('slot = []', "study.toml, line 1: slot = [] leaves nothing to study: give at least one value"),
        ('index = [\n  "h3:8",\n  500,\n]', "study.toml, line 3: index is a list of texts, not 500"),
        ('seed = [0, true]', "study.toml, line 1: seed is a list of whole numbers, not True"),
        ('seed = [0, -1]', "study.toml, line 1: seed is a whole number, 0 or more, not -1"),
        ('title = 3', "study.toml, line 1: title is text, not 3"),
        ('slot = [\n"1h",\n"7min"]', ("study.toml, line 3: a slot of 420 s does not divide a day into equal slots; the "
         "nearest that do are 400 s and 432 s")),
        ('# a comment\nindex = ["square:500", "cube:3"]', ("study.toml, line 2: no spatial index named 'cube'; there are: "
         "h3, inspire, places, quadkey, square, stations, zones")),
        ('protect = ["none", "supress:5"]', "study.toml, line 1: no protection named 'supress'"),
        ('attack = "guess"', "study.toml, line 1: no attack named 'guess'"),
        ('adversary = "pionts:4"', "study.toml, line 1: no knowledge named 'pionts'"),
        ('utility = "maps"', ("study.toml, line 1: utility is counts, flows (between the lab's zones) or such as "
         "flows:h3:7, not 'maps'")),
        ('membership = "reference:never"', "study.toml, line 1: no reference named 'never'"),
        ('utility = "counts"\nreference = "cube"', "study.toml, line 2: no spatial index named 'cube'"),
        ('release = 3', "study.toml, line 1: release is a table: write [release] above its settings"),
        ('utility = "counts"\n[release]\nfil = "static"', ("study.toml, line 3: [release] has no key 'fil'; there are: "
         "fill, tz, start, days, align, coverage, people, box, outside")),
        ('utility = "counts"\n[release]\ndays = "7"', "study.toml, line 3: days is a whole number, not '7'"),
        ('utility = "counts"\n[release]\nalign = 1', "study.toml, line 3: align is true or false, not 1"),
        ('utility = "counts"\n[release]\ncoverage = 2', ("study.toml, line 3: coverage is a share of slots between 0 and "
         "1, not 2")),
        ('utility = "counts"\n[questions]\nbasis = "slot"', ("study.toml, line 3: basis is slots or observed or records, "
         "not 'slot'")),
        ('utility = "counts"\n[questions]\nabout = ["counts"]', ("study.toml, line 3: about is traces or table, not "
         "'counts'")),
        ('utility = "counts"\n[questions]\nsample = 1.5', "study.toml, line 3: sample is a whole number, not 1.5"),
        ('utility = "counts"\n[questions]\ngroups = 11', ("study.toml, line 3: groups must be even, half of them with the "
         "target, not 11")),
        ('utility = "counts"\n[budget]\nhours = 3', ("study.toml, line 3: [budget] has no key 'hours'; there are: runs, "
         "minutes")),
        ('utility = "counts"\n[budget]\nminutes = 0', "study.toml, line 3: minutes is a number above 0, not 0"),
        ('utility = "counts"\n[budget]\nruns = 1.5', "study.toml, line 3: runs is a whole number above 0, not 1.5"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_with_its_line(text: str, told: str) -> None:
    with pytest.raises(StudyError, match=f"^{re.escape(told)}"):
        parse_study(text)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="nothing.toml: No such file"):
        read_study(tmp_path / "nothing.toml")
    (tmp_path / "study.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(StudyError, match=r"study.toml: a study is a text file in TOML, and this is none"):
        read_study(tmp_path / "study.toml")


def test_what_several_answers_need_is_one_step() -> None:
    """Two indexes, two recipes, two seeds: four releases, since no seed changes them; traces are asked once for both."""
    plan = make_plan(parse_study(FILE))
    kinds = pl.Series([step.result for step in plan.steps]).value_counts()
    assert dict(kinds.iter_rows()) == {"release": 4, "risk": 2 * 2 * 2, "counts": 4, "flows": 4}
    assert len(plan.answers) == 2 * 2 * 2 * (2 + 2)
    # By themselves: 16 risks take a release each. Of counts and flows, 8 each, half are protected: the release
    # underneath comes first. Flows have the release before besides, unless it is the same.
    assert plan.unshared == 16 * 2 + (4 * 2 + 4 * 3) + (2 * 2 + 2 * 3 + 4 * 3)
    for place, step in enumerate(plan.steps):
        assert all(plan.steps.index(need) < place for need in step.needs)


def test_noise_and_samples_are_drawn_for_every_seed() -> None:
    noise = 'protect = ["noise:geometric:eps=1:unit=person-slot"]\nutility = "counts"\nseed = [0, 1]\n'
    assert len(make_plan(parse_study(noise)).tables) == 4  # with the releases underneath
    assert len(make_plan(parse_study('utility = "counts"\nseed = [0, 1]\n[release]\npeople = 3')).tables) == 2
    assert len(make_plan(parse_study('utility = "counts"\nseed = [0, 1]')).tables) == 1


def test_every_answer_stands_in_one_relation_with_the_settings_of_its_release(lab: tl.Lab, found: WholeStudy) -> None:
    assert (found.people, found.steps, found.made) == (6, 20, 20)
    assert found.saved == make_plan(parse_study(FILE)).unshared - 20
    side = lab.sql(
        "select risk.index_name, risk.recipe, risk.seed, risk.estimate as risk, loss.estimate as loss "
        "from report.study_metric as risk join report.study_metric as loss using (study_id, release_id, seed) "
        "where risk.adversary = 'points:2' and risk.metric = 'unique_share' and risk.scope = 'all' "
        "and loss.metric = 'relative_error' and loss.scope = 'occupancy' order by all"
    )
    assert side.select("index_name", "recipe", "seed").rows() == [
        (index, recipe, seed)
        for index in ("square:1000", "square:2000")
        for recipe in ("", "suppress:2")
        for seed in (0, 1)
    ]
    assert set(side.filter(recipe="")["loss"]) == {0.0}
    assert min(side.filter(recipe="suppress:2")["loss"]) > 0
    own = lab.risk(lab.release("square:2000", "6h"), "points:2", seed=1)
    assert set(side.filter(index_name="square:2000", seed=1)["risk"]) == {own.unique_share}


def test_the_same_study_again_makes_nothing(lab: tl.Lab, found: WholeStudy, tmp_path: Path) -> None:
    before = lab.table("study.risk")
    (tmp_path / "same.toml").write_text("# the same in other words\n" + FILE + "\n[budget]\nruns = 1\n")
    again = lab.study(tmp_path / "same.toml")
    assert (again.id, again.made) == (found.id, 0)
    assert_frame_equal(again.table, found.table)
    assert_frame_equal(lab.table("study.risk"), before)


def test_points_are_risk_beside_loss_and_are_drawn_with_their_names(found: WholeStudy, tmp_path: Path) -> None:
    points = found.points()
    assert points["risk_name"].unique().to_list() == ["points:2"]
    assert points["loss_name"].unique().to_list() == ["flows:square:2000"]
    assert points.select("index_name", "recipe").n_unique() == len(points) == 4
    mean = found.table.filter(metric="unique_share", scope="all", adversary="points:2", index_name="square:1000")
    assert found.points("points:2", "counts")["risk"][0] == mean["estimate"].mean()
    drawing = found.chart("points:2", "counts")
    assert "Singled out by points:2 in traces behind the table" in drawing
    assert ">suppress:2</text>" in drawing
    page = found.save(tmp_path / "study.html").read_text()
    assert "lie wholly in one zone of square:2000" in page


def test_a_risk_or_loss_that_the_study_has_not_is_refused_with_those_it_has(found: WholeStudy) -> None:
    with pytest.raises(UnknownNameError, match="no risk of this study named 'xu2017'; there are: points:2, top:1"):
        found.points("xu2017")
    with pytest.raises(UnknownNameError, match="no loss of this study named 'maps'; there are: counts, flows:square"):
        found.points(None, "maps")


def test_a_study_without_loss_cannot_be_drawn(lab: tl.Lab, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text('index = "square:2000"\nslot = "6h"\nadversary = "top:1"\n')
    told = "this study has no loss to draw: ask for utility in its file"
    with pytest.raises(StudyError, match=told):
        lab.study(tmp_path / "study.toml").chart()


def test_not_beaten_are_those_that_no_other_beats_in_both() -> None:
    points = pl.DataFrame({"risk": [1.0, 0.5, 0.5, 0.2, None, 0.2], "loss": [0.0, 0.1, 0.2, 0.4, 0.1, 0.4]})
    assert not_beaten(points) == [True, True, False, True, False, True]


def test_notes_say_what_favours_some_cells_and_that_hours_are_those_of_utc(tmp_path: Path) -> None:
    lab = tl.open()
    moving = pl.read_csv(ROOT / "fixtures" / "tiny" / "records.csv").with_columns(
        pl.col("ts").str.replace(r"\+.*", "Z")
    )
    lab.ingest(moving)
    (tmp_path / "study.toml").write_text(
        'index = ["square:1000", "h3:8"]\nslot = "1h"\nutility = ["flows:square:2000"]\n'
    )
    notes = lab.study(tmp_path / "study.toml").notes
    assert notes[0].startswith("no zone was given: days and hours are those of UTC")
    assert re.match(r"2 of 2 releases: \d+\.\d% of the positions behind the counts are filled in", notes[1])
    assert re.match(r"(\d+) of \1 cells of square:1000 lie wholly in one zone of square:2000", notes[2])
    assert len(notes) == 3  # hexagons do not nest in squares


def scattered() -> tl.Lab:
    """Ana and ben are recorded every hour, cleo once a day; dora is far from both stations."""
    rows = [("ana", hour, 38.70, -9.14) for hour in range(48)] + [("ben", hour, 38.72, -9.12) for hour in range(48)]
    rows += [("cleo", hour, 38.71, -9.13) for hour in (3, 30)]
    frame = pl.DataFrame(rows, schema=["uid", "hour", "lat", "lng"], orient="row")
    ts = pl.datetime(2024, 3, 4, time_zone="UTC") + pl.duration(hours=pl.col("hour"))
    lab = tl.open()
    lab.ingest(frame.with_columns(ts=ts).drop("hour"), tz="UTC")
    return lab


def test_every_release_holds_the_same_people_whatever_its_slots(tmp_path: Path) -> None:
    """Cleo covers all days and an eighth of the slots of six hours: she is in no release, or in every one."""
    lab = scattered()
    alone = {slot: len(lab.release("square:1000", slot, coverage=0.5).counts) for slot in ("6h", "24h")}
    assert alone["24h"] == 6  # three people in cells of their own on two days: nobody would compare that
    (tmp_path / "study.toml").write_text(
        'index = "square:1000"\nslot = ["6h", "24h"]\nadversary = "top:1"\nutility = "counts"\n'
        "[release]\ncoverage = 0.5\n"
    )
    found = lab.study(tmp_path / "study.toml")
    assert found.people == 2
    assert found.notes[0] == (
        "every release holds the same 2 people; 1 whom only some of the cells and slots cover are left out"
    )
    releases = found.table["release_id"].unique().to_list()
    who = lab.sql(
        "select release_id, list(uid order by uid) as people from slots.person join records.person using (person) "
        "where kept and release_id in (select unnest($ids)) group by release_id",
        ids=releases,
    )
    assert who["people"].to_list() == [["ana", "ben"]] * 2
    (population,) = lab.table("study.population").rows(named=True)
    assert (population["people"], population["left_out"], population["pinned"]) == (2, 1, True)


def test_a_sample_is_drawn_of_those_whom_every_release_covers(tmp_path: Path) -> None:
    lab = scattered()
    text = 'index = "square:1000"\nslot = ["6h", "24h"]\nadversary = "top:1"\n[release]\ncoverage = 0.5\npeople = '
    (tmp_path / "one.toml").write_text(f"seed = 1\n{text}1")  # of all three, the lottery would draw cleo
    found = lab.study(tmp_path / "one.toml")
    assert found.people == 1
    kept = lab.sql(
        "select distinct uid from slots.person join records.person using (person) "
        "where kept and release_id in (select unnest($ids))",
        ids=found.table["release_id"].unique().to_list(),
    )
    assert kept["uid"].to_list() in (["ana"], ["ben"])  # never cleo, and the same one at either length
    (tmp_path / "three.toml").write_text(text + "3")
    told = "people=3 were asked for, and only 2 are in every release of the study: ask for fewer, or lower coverage"
    with pytest.raises(StudyError, match=told):
        lab.study(tmp_path / "three.toml")
    (tmp_path / "seeds.toml").write_text("seed = [0, 1]\n" + text + "1")
    with pytest.raises(StudyError, match="the releases cover different people, and several seeds draw different"):
        lab.study(tmp_path / "seeds.toml")


def test_a_study_of_nobody_is_refused(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "uid": ["ana", "ben", "ben"],
            "ts": ["2024-03-04T01:00:00Z", "2024-03-04T01:00:00Z", "2024-03-04T13:00:00Z"],
            "lat": [38.7, 38.7, 38.7],
            "lng": [-9.14, -9.14, -9.14],
        }
    )
    lab = tl.open()
    lab.ingest(frame, tz="UTC")
    (tmp_path / "study.toml").write_text(
        'index = "square:1000"\nslot = ["1h", "24h"]\nadversary = "top:1"\n[release]\ncoverage = 0.5\n'
    )
    with pytest.raises(StudyError, match="nobody is in every release of the study: lower coverage, or leave out"):
        lab.study(tmp_path / "study.toml")


def test_releases_that_hold_the_same_people_anyway_are_those_of_lab_release(lab: tl.Lab, found: WholeStudy) -> None:
    plain = lab.release("square:2000", "6h", protect="suppress:2")
    assert plain.id in found.table["release_id"].to_list()
    assert not lab.table("study.population")["pinned"].any()


def test_a_population_is_one_of_the_lab_and_says_who_is_in_alone(lab: tl.Lab, found: WholeStudy) -> None:
    with pytest.raises(ReleaseError, match="a population says who is in the release: leave out people and coverage"):
        lab.release("square:2000", "6h", population="p1", people=3)
    with pytest.raises(UnknownNameError, match="no population named 'p1'; there are: none yet"):
        lab.release("square:2000", "6h", population="p1")


def test_a_population_of_other_releases_is_refused(tmp_path: Path) -> None:
    lab = scattered()
    (tmp_path / "study.toml").write_text(
        'index = "square:1000"\nslot = ["6h", "24h"]\nadversary = "top:1"\n[release]\ncoverage = 0.5\n'
    )
    lab.study(tmp_path / "study.toml")
    population = lab.table("study.population")["population_id"].item()
    east = (-9.135, 38.69, -9.11, 38.73)
    told = "has 2 people, and 1 of them have a record in these cells and this period: it was pinned for other releases"
    with pytest.raises(ReleaseError, match=told):
        lab.release("square:1000", "6h", population=population, box=east)


def test_a_study_beyond_its_budget_is_refused_unless_yes(tmp_path: Path) -> None:
    lab = tiny_lab()
    (tmp_path / "study.toml").write_text(FILE + "[budget]\nruns = 19\n")
    told = (
        r"this study takes 20 runs, about \d+ s, and its budget is 19 runs: make it smaller, or go on with --yes "
        r"\(yes=True\)"
    )
    before = filled(lab)
    with pytest.raises(StudyError, match=told):
        lab.study(tmp_path / "study.toml")
    assert filled(lab) == before
    with pytest.raises(StudyError, match=r"its budget is 19 runs and 0\.01 minutes: "):
        lab.study(tmp_path / "study.toml", minutes=0.01)
    assert lab.study(tmp_path / "study.toml", yes=True).made == 20


def test_the_time_that_is_left_is_corrected_by_what_steps_took() -> None:
    steps = make_plan(Design(adversary=("top:1",))).steps
    clock = Clock(Size(1_000_000, 1_000, 7), steps)
    guess = clock.left
    assert guess == pytest.approx(sum(Size(1_000_000, 1_000, 7).seconds(step) for step in steps))
    first: Step = steps[0]
    expected = Size(1_000_000, 1_000, 7).seconds(first)
    clock.done(first, 10 * expected)
    assert clock.left == pytest.approx(10 * (guess - expected))


KILLED = """
import os, sys
from trajlab.store import Store

at, done = int(sys.argv[2]), 0
whole = Store.execute

def execute(self, sql, /, **params):
    global done
    done += 1
    if done == at:
        os.kill(os.getpid(), 9)
    whole(self, sql, **params)

Store.execute = execute
import trajlab as tl
with tl.open(sys.argv[1], quiet=True) as lab:
    print(lab.study(sys.argv[3]).made, done)
"""


def run_killed(lab: Path, at: int, study: Path) -> tuple[int, str]:
    """A process of its own that makes a study, and is killed at a statement that changes the lab."""
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, lab, str(at), study], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    return ended.returncode, ended.stdout + ended.stderr[-2000:]


def test_a_study_killed_anywhere_and_asked_for_again_is_as_one_run_through(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        'index = "square:2000"\nslot = "6h"\nprotect = ["none", "suppress:2"]\nadversary = "top:1"\n'
        'utility = "counts"\n'
    )
    for name in ("through", "killed"):
        (tmp_path / name).mkdir()
        tiny_lab(tmp_path / name / "lab.duckdb").close()
    code, told = run_killed(tmp_path / "through" / "lab.duckdb", 0, study)
    assert code == 0, told
    steps, statements = map(int, told.split())
    assert steps == 2 + 1 + 2
    for share in (0.3, 0.4):
        code, told = run_killed(tmp_path / "killed" / "lab.duckdb", int(share * statements), study)
        assert code == -signal.SIGKILL, told
    code, told = run_killed(tmp_path / "killed" / "lab.duckdb", 0, study)
    assert code == 0, told
    assert 0 < int(told.split()[0]) < steps  # it went on, and did not begin again
    assert state.differ(state.of(tmp_path / "through"), state.of(tmp_path / "killed")) == []


def test_the_command_line_asks_a_file_and_draws_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "lab.duckdb")
    tiny_lab(file).close()
    study = tmp_path / "study.toml"
    study.write_text('index = ["square:1000", "square:2000"]\nslot = "6h"\nadversary = "top:1"\nutility = "counts"\n')
    assert main(["study", file, str(study), "--runs", "2"]) == 2
    assert "this study takes 6 runs" in capsys.readouterr().err
    drawn = tmp_path / "study.svg"
    assert main(["study", file, str(study), "--runs", "2", "--yes", "-o", str(drawn)]) == 0
    out = capsys.readouterr().out
    assert "6 steps, 6 of them made now (8 if each answer were found by itself)" in out
    assert drawn.read_text().startswith("<svg")
    assert main(["study", file, str(study), "--index", "h3:8"]) == 2
    assert f"the file says what varies: leave out --index, or write it into {study}" in capsys.readouterr().err
    assert main(["study", file, "--yes"]) == 2
    assert f"--yes goes with a study file: trajlab study {file} study.toml --yes" in capsys.readouterr().err


def test_the_default_box_is_found_once_for_the_same_records(monkeypatch):
    from trajlab.release import box

    found = []
    inhabited = box.inhabited_box
    monkeypatch.setattr(box, "inhabited_box", lambda store: found.append(1) or inhabited(store))
    with tl.open(quiet=True) as lab:
        lab.ingest(tl.simulate(people=20, days=1, seed=4), tz="Europe/Lisbon")
        first = lab.release("square:4000", "6h")
        lab.release("square:8000", "6h", protect="suppress:2")
        assert len(found) == 1
        away = tl.simulate(people=20, days=1, seed=5).with_columns(pl.col("lng") + 3, uid=pl.col("uid") + "b")
        lab.ingest(away, tz="Europe/Lisbon")
        assert len(lab.release("square:4000", "6h").cells) > len(first.cells)
        assert len(found) == 2


def test_a_chart_explains_the_lines_that_it_has():
    one = {"index_name": "square:500", "slot_minutes": 60.0, "recipe": "", "release_id": "r1", "risk_name": "xu2017"}
    rows = [one | {"risk": risk, "loss": loss, "low": None, "high": None} for risk, loss in ((0.5, 0.1), (0.2, 0.3))]
    points = pl.DataFrame(rows, schema_overrides={"low": pl.Float64, "high": pl.Float64}).with_columns(
        loss_name=pl.lit("counts")
    )
    assert "dashed line" in risk_loss.note(points)
    assert "Thin lines" not in risk_loss.note(points)
    assert "Thin lines" in risk_loss.note(points.with_columns(low=0.1, high=0.6))
    assert "dashed line" not in risk_loss.note(points.head(1))
    assert risk_loss.svg("one", points.head(1)).count("dashed line") == 0
