"""Schedule leakage from the lab and from the shell: the paper's example, recovered tracks, remedies, refusals."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest
from conftest import TERM, term_lab, tiny_lab

import trajlab as tl
from trajlab.cli import main
from trajlab.errors import RiskError, ScheduleError, TrajlabError, UnknownNameError
from trajlab.release import Release
from trajlab.simulation import Campus

TABLE_II = {  # slot: prob, in 48ths
    "Mon 08:00": 22,
    "Mon 09:50": 19,
    "Mon 13:30": 26,
    "Tue 08:00": 16,
    "Tue 09:50": 8,
    "Tue 13:30": 41,
}
TIMETABLE = TERM / "timetable.toml"


@pytest.fixture(scope="module")
def lab() -> tl.Lab:
    made = term_lab()
    made.release("places", "1h", fill="none")
    return made


@pytest.fixture(scope="module")
def release(lab: tl.Lab) -> Release:
    return lab.published(lab.table("counts.release")["release_id"].item())


@pytest.fixture(scope="module")
def campus() -> tuple[tl.Lab, Campus, Release]:
    """Four weeks of 60 students, by building."""
    made = tl.simulate_campus(people=60, days=28, seed=3)
    lab = tl.open()
    lab.ingest(made.records, kind="wifi", tz="Europe/Lisbon", places=made.places)
    return lab, made, lab.release("places", "2h", fill="static")


def people(lab: tl.Lab, leak_id: str) -> dict[str, dict[str, object]]:
    rows = lab.sql(
        "select person.uid, leak.* from metrics.person_leak as leak join records.person as person using (person) "
        "where leak.leak_id = $id",
        id=leak_id,
    )
    return {row["uid"]: row for row in rows.iter_rows(named=True)}


# The paper's example


def test_table_ii_of_the_paper_comes_out_exactly(lab):
    leak = lab.schedule(TIMETABLE, min_k=3)
    chance = lab.sql(
        "select crowd, slot.name, chance, appearances, k, weeks from metrics.crowd_slot as crowd "
        "join slots.timetable as slot on slot.schedule_id = $schedule and slot.number = crowd.number "
        "where leak_id = $id",
        id=leak.id,
        schedule=leak.schedule_id,
    )
    assert set(chance["k"]) == {3}
    assert set(chance["weeks"]) == {16}
    for _, of_set in chance.group_by("crowd"):
        assert dict(of_set.select("name", "appearances").rows()) == TABLE_II
        assert dict(of_set.select("name", "chance").rows()) == {name: n / 48 for name, n in TABLE_II.items()}
    one = people(lab, leak.id)["one"]
    assert one["prob_m"] == 41 / 48
    assert (one["ntr"], one["ssr"]) == (3 / 6, 2 / 6)
    assert (one["riskiest"], one["disclosed"]) == (6, "partly")
    assert (leak.weeks, leak.skipped_weeks, leak.slots, leak.measured) == (16, 1, 6, 1.0)


def test_the_claim_of_the_paper_is_one_query(lab):
    lab.schedule(TIMETABLE, min_k=3)
    claim = lab.sql(
        "select estimate from metrics.leak where min_k = 3 and metric in ('totally_disclosed', 'partly_disclosed') "
        "order by metric"
    )
    assert claim["estimate"].to_list() == [1.0, 0.0]


def test_a_question_asked_twice_is_answered_once(lab, release):
    first = lab.schedule(TIMETABLE, release, min_k=3)
    tables = ("study.leak", "study.schedule", "slots.schedule", "metrics.crowd_slot", "metrics.habit", "study.risk")
    before = [len(lab.table(table)) for table in tables]
    assert lab.schedule(str(TIMETABLE), release.id, min_k=3) == first
    assert [len(lab.table(table)) for table in tables] == before


def test_another_threshold_size_or_seed_is_another_question_of_the_same_schedules(lab):
    asked = [
        lab.schedule(TIMETABLE, min_k=3),
        lab.schedule(TIMETABLE, min_k=2),
        lab.schedule(TIMETABLE, min_k=3, keep=0.5),
        lab.schedule(TIMETABLE, min_k=3, seed=1),
        lab.schedule(TIMETABLE, min_k=3, points=2),
    ]
    assert len({leak.id for leak in asked}) == 5
    assert len({leak.schedule_id for leak in asked}) == 1


def test_a_habit_needs_strictly_more_than_the_share_of_weeks(lab):
    """One is in b on Monday 13:30 in 14 of 16 weeks: a habit above 13/16, none above 14/16."""
    for keep, habits in ((0.8125, 3), (0.875, 0)):
        leak = lab.schedule(TIMETABLE, min_k=3, keep=keep)
        assert people(lab, leak.id)["one"]["habit_slots"] == habits


def test_holidays_count_neither_for_nor_against(lab):
    """Three is in b every Tuesday at 08:00 of the sixteen weeks; without two of them, in all fourteen."""
    leak = lab.schedule(TIMETABLE, min_k=3, holidays=["2016-02-23", dt.date(2016, 3, 1), "2017-01-01"])
    weeks = lab.sql("select name, weeks from slots.timetable where schedule_id = $id", id=leak.schedule_id)
    assert dict(weeks.rows()) == {name: 16 if name.startswith("Mon") else 14 for name in TABLE_II}
    tuesday = lab.sql(
        "select appear from slots.schedule join records.person on person = trace "
        "where schedule_id = $id and number = 4 and uid = 'three'",
        id=leak.schedule_id,
    )
    assert tuesday.item() == 14
    ((told,),) = lab.sql("select holidays from study.schedule where schedule_id = $id", id=leak.schedule_id).rows()
    assert told == '["2016-02-23", "2016-03-01"]'


def test_weeks_without_any_data_are_skipped_and_reported(lab):
    leak = lab.schedule(TIMETABLE, min_k=3)
    weeks = lab.sql(
        "select first_day, counted from slots.week where schedule_id = $id order by week", id=leak.schedule_id
    )
    assert len(weeks) == 17
    assert weeks.filter(~pl.col("counted"))["first_day"].to_list() == [dt.date(2016, 4, 4)]


def test_true_timetables_are_compared_slot_by_slot(lab):
    leak = lab.schedule(TIMETABLE, min_k=3, truth=TERM / "lessons.csv")
    told = lab.sql(
        "select number, lessons, usual_places, matched, habits, habits_matched from metrics.extraction where leak_id = $id "
        "order by number",
        id=leak.id,
    )
    assert told.rows() == [  # One and Two alone; lesson 0 is One's on Tuesday at 16:00
        (0, 1, 0, 0, 0, 0),
        (1, 2, 2, 2, 1, 1),
        (2, 1, 2, 1, 1, 1),
        (3, 1, 2, 1, 2, 1),
        (4, 1, 2, 0, 0, 0),
        (5, 0, 1, 0, 0, 0),
        (6, 1, 2, 1, 2, 1),
    ]


# A campus, cells and recovered tracks


def test_schedules_of_the_campus_are_mostly_those_that_students_have(campus):
    lab, made, release = campus
    leak = lab.schedule(made.timetable, release, truth=made.schedule)
    ((lessons, matched, kept, kept_matched),) = lab.sql(
        "select sum(lessons), sum(matched), sum(habits), sum(habits_matched) from metrics.extraction where leak_id = $id",
        id=leak.id,
    ).rows()
    assert lessons == len(made.schedule)
    assert matched / lessons > 0.8  # table I: 3,548 of 4,412
    assert kept_matched / kept > 0.9
    untaught = lab.sql(
        "select sum(lessons), sum(habits) from metrics.extraction join slots.timetable as slot using (number) "
        "where leak_id = $id and schedule_id = $schedule and weekday = 4 and begins between '13:00' and '18:00'",
        id=leak.id,
        schedule=leak.schedule_id,
    )
    assert untaught.row(0)[0] == 0


@pytest.mark.parametrize("uids", [["ana"], ["ana", "ana"], ["ana", "ben"]])
def test_in_one_or_two_records_no_timetable_is_found(uids):
    records = pl.DataFrame({"uid": uids, "ts": [1709510400, 1709514000][: len(uids)]}).with_columns(
        lat=38.7 + 0.01 * pl.int_range(pl.len()), lng=-9.1
    )
    with tl.open(":memory:") as lab:
        lab.ingest(records, tz="UTC")
        release = lab.release("square:500", "30min")
        with pytest.raises(ScheduleError, match=r"found: no beginning and end of anything shows in \d arrivals"):
            lab.schedule("found", release)


def test_the_timetable_of_the_campus_is_found_in_arrivals_and_departures(campus):
    lab, made, release = campus
    leak = lab.schedule("found:classroom-*", release)
    found = lab.sql(
        "select weekday, begins, ends from slots.timetable where schedule_id = $id order by number", id=leak.schedule_id
    )
    true = {(row["weekday"], f"{row['from']:%H:%M}", f"{row['to']:%H:%M}") for row in made.timetable.rows(named=True)}

    def minutes(clock: str) -> int:
        return 60 * int(clock[:2]) + int(clock[3:])

    for weekday, begins, ends in found.rows():
        assert any(
            weekday == day and abs(minutes(begins) - minutes(b)) <= 10 and abs(minutes(ends) - minutes(e)) <= 10
            for day, b, e in true
        ), (weekday, begins, ends)
    assert len(found) >= 15
    assert not [row for row in found.rows() if row[0] == 4 and "13:00" < row[1] < "17:30"]  # nothing is taught then
    assert lab.table("study.schedule").filter(timetable="found:classroom-*")["slots"].item() == len(found)


def test_cells_of_any_index_and_slots_have_schedules_too(campus):
    lab, _, _ = campus
    for index in ("square:500", "h3:8", "places:1"):
        cells = lab.release(index, "3h", fill="none")
        leak = lab.schedule("grid:4h", cells, basis="observed", min_k=2, points=1)
        assert (leak.slots, leak.weeks) == (42, 4)
        assert 0 < leak.measured <= 1
        assert 0 < leak.prob_m <= 1


def test_recovered_tracks_are_searched_for_what_is_true_of_people(campus):
    lab, made, release = campus
    run = lab.attack(release, "stay")
    leak = lab.schedule(made.timetable, run, points=1, min_k=2)
    known = lab.schedule(made.timetable, release, points=1, min_k=2, basis="slots")
    assert leak.schedule_id == known.schedule_id
    ((known_schedule_id, searched_schedule_id),) = lab.sql(
        "select known_schedule_id, searched_schedule_id from study.leak where leak_id = $id", id=leak.id
    ).rows()
    assert known_schedule_id != searched_schedule_id
    habits = "select trace, habit_slots from metrics.person_leak where leak_id = $id order by trace"
    assert lab.sql(habits, id=leak.id).equals(lab.sql(habits, id=known.id))
    query = """
        select person.trace, person.sensitive_slots, count(*) filter (common.common_cell = habit.cell) as obvious
        from metrics.person_leak as person
        join metrics.crowd as crowd using (leak_id, trace)
        join metrics.habit as habit on habit.trace = person.trace and habit.schedule_id = $known and habit.is_habit
        join metrics.crowd_slot as common
            on common.leak_id = $id and common.crowd = crowd.crowd and common.number = habit.number
        where person.leak_id = $id and habit.number > 0
        group by all
    """
    rows = lab.sql(query, id=leak.id, known=known_schedule_id)
    assert len(rows) > 10
    assert (rows["sensitive_slots"] == rows["obvious"]).all()
    sizes = lab.sql("select k from metrics.anonymity where risk_id = $id", id=leak.risk_id)["k"]
    assert (
        sizes.to_list() == lab.sql("select k from metrics.person_leak where leak_id = $id", id=leak.id)["k"].to_list()
    )


def test_remedies_compare_with_the_finest(campus):
    lab, made, _ = campus
    table = lab.remedies(made.timetable, index=["places", "places:1"], slot=["2h", "6h"], points=2, min_k=2)
    assert table.select("index", "slot_minutes").rows() == [
        ("places", 120.0),
        ("places", 360.0),
        ("places:1", 120.0),
        ("places:1", 360.0),
    ]
    assert table["prob_m_fell"][0] == table["ssr_fell"][0] == 0
    fell = 1 - table["ssr"] / table["ssr"][0]
    assert (table["ssr_fell"] - fell).abs().max() < 1e-9
    assert table["median_k"].is_sorted() or table["median_k"][3] > table["median_k"][0]
    with pytest.raises(ScheduleError, match="^nothing to compare: give index or slot as a list of at least two"):
        lab.remedies(made.timetable, index="places")


def test_samples_are_looked_for_among_everybody(campus):
    lab, made, release = campus
    whole = lab.schedule(made.timetable, release, points=1, min_k=2)
    some = lab.schedule(made.timetable, release, points=1, min_k=2, sample=20)
    assert (whole.people, some.people) == (60, 20)
    columns = "select trace, k, prob_m, ssr, ntr, schedules from metrics.person_leak where leak_id = $id order by trace"
    everybody = lab.sql(columns, id=whole.id)
    assert lab.sql(columns, id=some.id).join(everybody, on=everybody.columns, how="anti", nulls_equal=True).is_empty()


# Refusals


def left(lab: tl.Lab) -> list[int]:
    return [len(lab.table(table)) for table in ("study.leak", "study.schedule", "slots.schedule", "slots.timetable",
            "slots.week", "slots.week_clock", "metrics.crowd", "metrics.person_leak", "records.lesson")]  # fmt: skip


def test_a_timetable_in_another_zone_is_refused(lab, release, tmp_path):
    (tmp_path / "lisbon.toml").write_text(TIMETABLE.read_text().replace("Asia/Shanghai", "Europe/Lisbon"))
    before = left(lab)
    with pytest.raises(ScheduleError) as refused:
        lab.schedule(tmp_path / "lisbon.toml", release)
    assert str(refused.value) == (
        f"lisbon.toml is in the zone Europe/Lisbon and release {release.id} in Asia/Shanghai: write the timetable in "
        "the release's zone, or make a release with tz='Europe/Lisbon'"
    )
    assert left(lab) == before


def test_less_than_two_weeks_are_refused(lab):
    short = lab.release("places", "1h", fill="none", days=13)
    before = left(lab)
    with pytest.raises(ScheduleError) as refused:
        lab.schedule("grid:12h", short)
    assert str(refused.value) == (
        f"2 of 14 slots are held in fewer than 2 weeks (Sun 00:00 in 1) of the 13 days of release {short.id}: "
        "a habit needs weeks to show in; take a longer period"
    )
    assert left(lab) == before


def test_weeks_without_data_do_not_make_two(lab):
    """From 28 March on: a week, the empty one of 4 April."""
    short = lab.release("places", "1h", fill="none", start="2016-03-28", days=14)
    before = left(lab)
    with pytest.raises(
        ScheduleError, match=r"held in fewer than 2 weeks \(Mon 08:00 in 1\).*, 1 weeks without any data"
    ):
        lab.schedule(TIMETABLE, short)
    assert left(lab) == before


def test_the_tiny_town_has_no_weeks():
    lab = tiny_lab()
    lab.release("square:1000", "3h")
    with pytest.raises(ScheduleError, match="held in fewer than 2 weeks"):
        lab.schedule("grid:6h")


def test_more_points_than_anybody_has_are_refused_and_short_traces_by_rule(lab, release):
    with pytest.raises(RiskError, match=r"^5,000 points cannot be known: nobody has more than \d+ points$"):
        lab.schedule(TIMETABLE, release, points=5000)
    most = lab.sql("select max(n) from (select count(*) as n from slots.visit group by traces_id, trace)").item()
    everybody = lab.schedule(TIMETABLE, release, points=most, min_k=2)
    dropped = lab.schedule(TIMETABLE, release, points=most, short="drop", min_k=2)
    assert (everybody.people, dropped.people) == (3, 1)


ASKED_WRONGLY = [
    ({"points": 0}, "points must be a whole number, 1 or more, not 0"),
    ({"points": 2.5}, "points must be a whole number, 1 or more, not 2.5"),
    ({"min_k": 1}, "min_k must be a whole number, 2 or more, not 1"),
    ({"min_k": True}, "min_k must be a whole number, 2 or more, not True"),
    ({"keep": 1}, "keep is a share of the weeks from 0 to below 1, not 1"),
    ({"keep": -0.1}, "keep is a share of the weeks from 0 to below 1, not -0.1"),
    ({"keep": "most"}, "keep is a share of the weeks from 0 to below 1, not 'most'"),
    ({"short": "some"}, "short is all or drop, not 'some': what to do with people who have fewer points"),
    ({"seed": -1}, "seed must be a whole number, 0 or more, not -1"),
    ({"sample": 0}, "sample must be a whole number, 1 or more, not 0"),
    ({"holidays": ["soon"]}, "holidays: 'soon' is not a date like 2016-04-04"),
    ({"basis": "guesses"}, "no basis named 'guesses'; there are: observed, records, slots"),
    ({"timetable": "found:moon-*"}, "found:moon-*: none of the 5 cells of the release has such a name"),
    ({"timetable": "found"}, ("found: no beginning and end of anything shows in 57 arrivals: name the places where people "
        "have lessons or shifts (found:classroom-*), or give a timetable")),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "message"), ASKED_WRONGLY, ids=lambda value: str(value)[:40])
def test_a_question_that_makes_no_sense_is_refused_in_words(settings, message, lab, release):
    before = len(lab.table("study.leak"))
    with pytest.raises(TrajlabError) as refused:
        lab.schedule(**({"timetable": TIMETABLE, "of": release} | settings))
    assert str(refused.value) == message
    assert len(lab.table("study.leak")) == before


LESSONS = pl.read_csv(TERM / "lessons.csv")
WRONG_TRUTH = [
    (7, "true timetables are a frame, or a .csv or .parquet file, with uid, weekday, from, to, place"),
    ("nowhere.csv", "there is no file 'nowhere.csv' of true timetables"),
    (LESSONS.drop("to", "place"), "truth: no to and no place; true timetables have uid, weekday, from, to, place"),
    (LESSONS.with_columns(weekday=pl.lit("Someday")), "truth: 7 rows have a weekday that is none: write Mon and 08:00"),
    (LESSONS.with_columns(to=pl.lit("07:00")), "truth: 7 rows end before they begin"),
    (pl.concat([LESSONS, LESSONS[:2]]), "truth: 2 rows repeat a person, weekday and time: somebody is in one place only"),
    (LESSONS.with_columns(uid=pl.lit("nobody")).unique(["weekday", "from"]),
        "none of the 1 people with true timetables has records: is uid written as there?"),
    (LESSONS.with_columns(place=pl.lit("the moon")),
        "none of the 1 places of the true timetables is a cell of {index}: compare with a release by places"),
]  # fmt: skip


@pytest.mark.parametrize("name", ["empty.csv", "ragged.csv", "not_utf8.csv"])
def test_true_timetables_that_cannot_be_read_are_refused_in_words(name, lab, release):
    with pytest.raises(ScheduleError, match=f"{name}: no table with uid, weekday, from, to, place can be read from it"):
        lab.schedule(TIMETABLE, release, truth=TERM.parent / "broken" / "lessons" / name)


@pytest.mark.parametrize(
    "wrong", [{"timetable": "nothing.csv"}, {"holidays": ["easter"]}, {"truth": "nothing.csv"}], ids=lambda w: min(w)
)
def test_a_schedule_that_is_refused_makes_no_traces(wrong):
    lab = term_lab()
    release = lab.release("places", "1h", fill="none")
    with pytest.raises(ScheduleError):
        lab.schedule(**{"timetable": TIMETABLE, "of": release} | wrong)
    assert lab.sql("select count(*) from study.traces").item() == 0


@pytest.mark.parametrize(("truth", "message"), WRONG_TRUTH, ids=lambda value: str(value)[-40:])
def test_true_timetables_that_make_no_sense_are_refused_in_words(truth, message, lab, release):
    before = len(lab.table("records.lesson"))
    with pytest.raises(ScheduleError) as refused:
        lab.schedule(TIMETABLE, release, min_k=3, truth=truth)
    assert str(refused.value) == message.replace("{index}", release.index)
    assert len(lab.table("records.lesson")) == before


def test_a_lab_with_no_release_or_several_asks_which():
    lab = term_lab()
    with pytest.raises(ScheduleError, match="and the lab has no release yet: make one$"):
        lab.schedule(TIMETABLE)
    lab.release("places", "1h", fill="none")
    lab.release("places", "2h", fill="none")
    with pytest.raises(ScheduleError, match="and the lab has 2 releases: say which; there are: r"):
        lab.schedule(TIMETABLE)
    with pytest.raises(UnknownNameError, match="^no release, run or set of traces named 'r0'"):
        lab.schedule(TIMETABLE, "r0")


def test_people_laid_onto_other_weeks_have_no_dates():
    late = pl.DataFrame(
        {
            "uid": ["early"] * 40 + ["late"] * 40,
            "ts": [
                dt.datetime(2024, 3, 4, 9, tzinfo=dt.UTC) + dt.timedelta(days=n) for n in (*range(40), *range(60, 100))
            ],
            "place": ["hall"] * 80,
        }
    )
    lab = tl.open()
    lab.ingest(late, kind="wifi", tz="UTC")
    aligned = lab.release("places", "1h", fill="none", days=28, align=True)
    with pytest.raises(ScheduleError, match="lays 1 people from other weeks onto its own: dates mean nothing in it"):
        lab.schedule("grid:12h", aligned)
    with pytest.raises(ScheduleError, match="use basis='observed' and no holidays"):
        lab.schedule("grid:12h", aligned, basis="observed", holidays=["2024-03-05"])
    assert lab.schedule("grid:12h", aligned, basis="observed", points=1, min_k=2).weeks == 4


# The command


def test_the_command_tells_the_paper_s_example(tmp_path, capsys):
    lab = str(tmp_path / "term.duckdb")
    assert main(["ingest", lab, str(TERM / "records.csv"), "--kind", "wifi", "--tz", "Asia/Shanghai"]) == 0
    assert main(["release", lab, "--index", "places", "--slot", "1h", "--fill", "none"]) == 0
    capsys.readouterr()
    truth = str(TERM / "lessons.csv")
    assert main(["schedule", lab, str(TIMETABLE), "--min-k", "3", "--truth", truth, "--table"]) == 0
    said = capsys.readouterr().out
    assert "6 slots a week, 16 weeks, 1 without any data left out, 3 points known" in said
    assert "100.0% of 3 people are in sets of 3 or more; of these 0.0% totally and 100.0% partly disclosed" in said
    assert "0.854167" in said
    assert "Tue 13:30" in said
    assert main(["schedule", lab, str(TIMETABLE), "--slot", "1h", "6h", "--min-k", "2", "--points", "1"]) == 0
    assert "ssr_fell" in capsys.readouterr().out
    assert main(["schedule", lab, "nowhere.toml", "--release", "x"]) == 2
    assert capsys.readouterr().err == "trajlab: there is no timetable 'nowhere.toml'\n"
    assert main(["schedule", lab, str(TIMETABLE), "--release", "x"]) == 2
    assert capsys.readouterr().err.startswith("trajlab: no release, run or set of traces named 'x'; there are: r")
