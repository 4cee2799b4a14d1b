"""Attacks in the lab: run once, stored day by day, scored, refused with a reason."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import trajlab as tl
from tests.conftest import TINY_BOX, tiny_lab
from trajlab import attacks
from trajlab.cli import main, terminal
from trajlab.errors import AttackError, MetricError, ReleaseError, UnknownNameError

COUNTS = np.array([[2, 1, 0], [2, 0, 1], [1, 1, 1], [2, 1, 0]] * 3)
XY = np.array([[0.0, 0.0], [1000.0, 0.0], [0.0, 2500.0]])


def published(lab: tl.Lab) -> tl.Release:
    return lab.release(index="square:1000", slot="3h", fill="static", box=TINY_BOX, outside="clamp")


def test_an_attack_and_its_yardsticks_are_stored_and_scored(tiny):
    run = tiny.attack(published(tiny), "dsilva2024")
    assert run.complete
    assert sorted(tiny.table("study.run")["attack"]) == ["dsilva2024", "shuffle", "stay"]
    tracks = tiny.sql("select slot, cell, count(*) as people from attacks.track where run_id = $id group by all "
                      "order by all", id=run.id)  # fmt: skip
    counts = tiny.sql("select slot, cell, people from counts.occupancy order by all")
    assert_frame_equal(tracks, counts, check_dtypes=False)
    beside = tiny.sql(
        "select shuffle, stay from report.every_metric where run_id = $id and metric = 'accuracy'", id=run.id
    )
    assert beside.null_count().sum_horizontal().item() == 0


def test_the_same_attack_twice_is_run_once(tiny):
    release = published(tiny)
    first = tiny.attack(release, "xu2017", seed=3)
    before = tiny.table("attacks.track")
    assert tiny.attack(release, "xu2017", seed=3) == first
    assert_frame_equal(tiny.table("attacks.track"), before)
    assert tiny.attack(release, "xu2017", seed=4).id != first.id
    assert tiny.attack(release, "xu2017", seed=3, night_hours=5).id != first.id


def test_a_pairing_asked_for_later_is_added(tiny):
    release = published(tiny)
    run = tiny.attack(release, "xu2017", pairing="greedy")
    pairings = "select distinct pairing from metrics.pair where run_id = $id order by all"
    assert tiny.sql(pairings, id=run.id)["pairing"].to_list() == ["greedy"]
    tiny.attack(release, "xu2017", pairing="both")
    assert tiny.sql(pairings, id=run.id)["pairing"].to_list() == ["greedy", "optimal"]


def test_days_can_be_read_while_the_attack_goes_on(tiny):
    release = published(tiny)
    seen = []
    for run in tiny.attack_by_day(release):
        stored = tiny.sql("select max(slot) + 1 as slots from attacks.track where run_id = $id", id=run.id).item()
        seen.append((run.days, run.complete, stored))
    assert seen == [(1, False, 8), (2, True, 16)]


def test_an_interrupted_attack_goes_on_from_its_last_finished_day(tmp_path):
    whole = tiny_lab()
    expected = whole.attack(published(whole), "dsilva2024")
    lab = tiny_lab(tmp_path / "lab.duckdb")
    days = lab.attack_by_day(published(lab))
    assert next(days).days == 1
    days.close()
    lab.close()
    with tl.open(tmp_path / "lab.duckdb") as again:
        run = again.attack(published(again), "dsilva2024")
        assert run == expected
        for table in ("attacks.track", "attacks.step", "metrics.recovery"):
            assert_frame_equal(again.table(table), whole.table(table))


def test_a_table_that_somebody_published_is_kept_and_scored_without_truth():
    lab = tl.open(":memory:")
    release = tl.Release.from_matrix(COUNTS, XY, 4)
    run = lab.attack(release, "xu2017")
    found = lab.sql("select distinct metric from report.every_metric where run_id = $id order by all", id=run.id)
    assert found["metric"].to_list() == ["distinct_share", "unique_share"]
    again = lab.published(release.id)
    assert (again.matrix() == COUNTS).all()
    assert lab.attack(again, "xu2017") == run


def test_the_numpy_door_gives_the_tracks_of_the_lab():
    tracks = tl.recover(COUNTS, XY, slots_per_day=4, method="dsilva2024", seed=5)
    assert tracks.shape == (3, 12)
    lab = tl.open(":memory:")
    lab.attack(tl.Release.from_matrix(COUNTS, XY, 4), "dsilva2024", seed=5)
    stored = lab.sql("select cell from attacks.track join study.run using (run_id) where attack = 'dsilva2024' "
                     "order by track, slot")  # fmt: skip
    assert stored["cell"].to_list() == tracks.ravel().tolist()
    *_, last = tl.recover_by_day(COUNTS, XY, slots_per_day=4, seed=5)
    assert (last == tracks).all()


def test_what_cannot_go_day_by_day_is_refused_before_the_first_day(tiny):
    release = published(tiny)
    with pytest.raises(UnknownNameError, match="^no attack named 'xu2071'; there are: "):
        tiny.attack_by_day(release, "xu2071")
    with pytest.raises(AttackError, match="^attack xu2017 does not work day by day; use recover$"):
        tl.recover_by_day(COUNTS, XY, slots_per_day=4, method="xu2017")
    with pytest.raises(ReleaseError, match="linking days needs at least two of them, and there are 1$"):
        tl.recover_by_day(COUNTS[:4], XY, slots_per_day=4)


def _with(change: dict[tuple[int, int], float]) -> np.ndarray:
    counts = COUNTS.astype(float)
    for place, value in change.items():
        counts[place] = value
    return counts


@pytest.mark.parametrize(
    ("counts", "xy", "options", "text"),
    [
        (_with({(3, 0): 0, (3, 1): 0}), XY, {}, "1 of 12 slots are missing, the first is slot 3"),
        (_with({(1, 0): -1}), XY, {}, "1 counts are negative, the first in slot 1, cell 0"),
        (_with({(1, 0): 1.5}), XY, {}, "1 counts are not whole numbers, the first in slot 1, cell 0"),
        (_with({(1, 0): np.nan}), XY, {}, "1 counts are not numbers (NaN or missing)"),
        (COUNTS, XY, {"slots_per_day": 7}, "7 slots a day do not divide 24 hours"),
        (
            COUNTS,
            XY,
            {"start": "2024-01-01 07:00"},
            "the first slot starts at 07:00; it must start between 00:00 and 06:00",
        ),
        (COUNTS, XY / 100, {}, "the coordinates look like degrees"),
        (COUNTS[:6], XY, {}, "linking days needs at least two of them, and there are 1.5"),
        (np.array([[1, 0, 0]] * 12), XY, {}, "there are 1 people; at least two are needed"),
        (np.array([[3]] * 12), XY[:1], {"unit": "m"}, "there are 1 cells; at least two are needed"),
        (np.zeros((12, 3)), XY, {}, "every count is zero: there is nobody in this release"),
        (COUNTS, XY * np.nan, {}, "3 cells have coordinates that are not finite numbers"),
    ],
)
@pytest.mark.parametrize("method", ["xu2017", "dsilva2024"])
def test_what_cannot_be_attacked_is_refused_with_the_reason(counts, xy, options, text, method):
    with pytest.raises(ReleaseError) as refused:
        tl.recover(counts, xy, **{"slots_per_day": 4} | options, method=method)
    assert text in str(refused.value)


@pytest.mark.parametrize(
    ("name", "settings", "error", "text"),
    [
        ("xu2018", {}, UnknownNameError, f"no attack named 'xu2018'; there are: {', '.join(attacks.names())}"),
        ("xu2017", {"lookback": 3}, AttackError, "attack xu2017 has no setting 'lookback'; it has direct_link_below, night_hours"),
        ("shuffle", {"night_hours": 3}, AttackError, "attack shuffle has no setting 'night_hours'; it has none"),
        ("xu2017", {"night_hours": 25}, AttackError, "night_hours is a number of hours between 0 and 24, not 25"),
        ("xu2017", {"direct_link_below": -1}, AttackError, "direct_link_below is a distance in metres, 0 or more, not -1"),
        ("dsilva2024", {"lookback": 0}, AttackError, "lookback is a number of days, 1 or more, not 0"),
        ("xu2017", {"pairing": "best"}, UnknownNameError, "no pairing named 'best'; there are: both, greedy, optimal"),
        ("xu2017", {"seed": -1}, AttackError, "seed must be a whole number, 0 or more, not -1"),
    ],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused_and_nothing_is_stored(tiny, name, settings, error, text):
    with pytest.raises(error) as refused:
        tiny.attack(published(tiny), name, **settings)
    assert str(refused.value) == text
    assert len(tiny.table("study.run")) == 0


def test_a_release_that_lacks_something_is_refused_and_nothing_is_stored(tiny):
    with pytest.raises(ReleaseError, match="linking days needs at least two of them"):
        tiny.attack(tiny.release(index="square:1000", slot="3h", days=1), "xu2017")
    assert len(tiny.table("study.run")) == 0


@pytest.mark.parametrize("method", ["xu2017", "dsilva2024", "stay", "shuffle"])
def test_people_who_come_and_go_are_outside_in_between(method):
    counts = _with({(3, 0): 5})
    tracks = tl.recover(counts, XY, slots_per_day=4, method=method)
    assert len(tracks) == 6
    assert [int((slot >= 0).sum()) for slot in tracks.T] == counts.sum(axis=1).astype(int).tolist()


@pytest.mark.parametrize("method", ["xu2017", "dsilva2024"])
def test_a_table_with_small_counts_left_out_is_attacked_and_scored(tiny, method):
    hidden = tiny.release(index="square:1000", slot="3h", min_count=2, box=TINY_BOX, outside="clamp")
    run = tiny.attack(hidden, method)
    stored = tiny.sql("select count(*) as rows from attacks.track where run_id = $id", id=run.id).item()
    assert 0 < stored < run.people * hidden.slots
    score = tiny.sql("select estimate from metrics.recovery where run_id = $id and metric = 'accuracy'", id=run.id)
    assert score["estimate"].max() > 0


def test_an_interrupted_attack_on_a_table_with_gaps_goes_on_from_its_last_finished_day(tiny):
    hidden = tiny.release(index="square:1000", slot="3h", min_count=2, box=TINY_BOX, outside="clamp")
    next(iter(tiny.attack_by_day(hidden, "dsilva2024", seed=4)))
    run = tiny.attack(hidden, "dsilva2024", seed=4)
    at_once = attacks.load("dsilva2024").recover(hidden, np.random.default_rng(4), attacks.StepLog())
    rows = tiny.sql("select track, slot, cell from attacks.track where run_id = $id order by all", id=run.id)
    track, slot = np.nonzero(at_once >= 0)
    cells = hidden.cells["cell"].to_numpy()[at_once[track, slot]]
    assert rows.rows() == sorted(zip(track.tolist(), slot.tolist(), cells.tolist(), strict=True))


def test_the_command_line_attacks_the_only_release(tmp_path, capsys):
    file = str(tmp_path / "lab.duckdb")
    with tiny_lab(file) as lab:
        published(lab)
    assert main(["attack", file, "dsilva2024", "--set", "lookback=2", "--pairing", "greedy"]) == 0
    said = capsys.readouterr().out
    assert "6 tracks over 2 days" in said
    assert "levenshtein" not in said
    assert main(["attack", file, "dsilva2024", "--set", "lookback=2", "--pairing", "greedy", "--table"]) == 0
    assert "levenshtein" in capsys.readouterr().out
    assert main(["feasibility", file, "--table"]) == 0
    assert "consecutive" in capsys.readouterr().out
    with tl.open(file) as lab:
        lab.release(index="square:2000", slot="3h", box=TINY_BOX, outside="clamp")
    assert main(["attack", file, "stay"]) == 2
    assert "the lab has 2 releases: say which with --release" in capsys.readouterr().err


def test_the_command_line_says_how_long_an_attack_takes_before_it_begins(tmp_path, capsys, monkeypatch):
    file = str(tmp_path / "lab.duckdb")
    with tiny_lab(file) as lab:
        published(lab)
    assert main(["attack", file, "xu2017", "--pairing", "greedy"]) == 0
    assert "by its size" not in capsys.readouterr().err, "a second is not worth a word"
    monkeypatch.setattr(terminal, "WORTH_SAYING", 0.5)
    assert main(["attack", file, "xu2017", "--pairing", "greedy"]) == 0
    assert "by its size" not in capsys.readouterr().err, "it was run before"
    assert main(["attack", file, "xu2017", "--seed", "1", "--pairing", "greedy"]) == 0
    assert capsys.readouterr().err == "xu2017 on 6 people and 16 slots: about 1 s of one core, by its size\n"
    assert main(["attack", file, "xu2017", "--seed", "2", "--pairing", "greedy", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_the_command_line_says_when_there_is_nothing_to_attack(tmp_path, capsys):
    file = str(tmp_path / "lab.duckdb")
    tiny_lab(file).close()
    assert main(["attack", file, "stay"]) == 2
    assert "the lab has no release yet" in capsys.readouterr().err


def test_every_step_is_proved(town):
    gaps = town.sql("select phase, max(gap) as gap from attacks.step group by phase order by phase")
    assert gaps["phase"].to_list() == ["day", "link", "night"]
    assert gaps["gap"].max() < 1e-6
    assert (gaps["gap"] >= 0).all()


def test_arrays_are_scored_like_the_lab(tiny):
    release = published(tiny)
    run = tiny.attack(release, "xu2017")
    tracks = tiny.sql("select track, slot, cell from attacks.track where run_id = $id order by track, slot", id=run.id)
    truth = tiny.sql("select person, slot, cell from slots.position order by person, slot")
    cells = release.cells["cell"].to_numpy()

    def laid_out(frame: pl.DataFrame) -> np.ndarray:
        return np.searchsorted(cells, frame["cell"].to_numpy()).reshape(6, 16)

    scores = tl.score(laid_out(tracks), laid_out(truth), release.xy(), slots_per_day=8)
    stored = tiny.sql("select estimate from metrics.recovery where run_id = $id and metric = 'accuracy' and level = 3 "
                      "and pairing = 'optimal'", id=run.id)  # fmt: skip
    found = scores.filter((pl.col("metric") == "accuracy") & (pl.col("level") == 3))["estimate"].item()
    assert found == pytest.approx(stored.item())


def test_whole_and_broken_numbers_name_the_same_run(tiny):
    release = published(tiny)
    assert tiny.attack(release, "xu2017", night_hours=6).id == tiny.attack(release.id, "xu2017", night_hours=6.0).id


def test_a_setting_that_is_no_number_is_refused(tiny):
    with pytest.raises(AttackError, match=r"^direct_link_below is a number, not 'x'$"):
        tiny.attack(published(tiny), "xu2017", direct_link_below="x")


def test_optimal_pairing_of_very_many_is_refused(tiny, monkeypatch):
    monkeypatch.setattr("trajlab.metrics.optimal.UP_TO", 5)
    with pytest.raises(AttackError, match=r"^optimal pairing is for up to 5 people, not 6: use pairing='greedy'$"):
        tiny.attack(published(tiny), "xu2017", pairing="optimal")
    run = tiny.attack(published(tiny), "xu2017")
    assert set(tiny.sql("select distinct pairing from metrics.pair where run_id = $id", id=run.id)["pairing"]) == {
        "greedy"
    }


def test_feasibility_of_a_table_made_elsewhere_is_refused():
    lab = tl.open(":memory:")
    release = tl.Release.from_matrix(COUNTS, XY, 4)
    lab.attack(release, "stay")
    with pytest.raises(MetricError, match="was made elsewhere: the lab does not know the people behind it"):
        lab.feasibility(release)
