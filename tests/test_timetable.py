"""Timetables from files, frames and rules; each mistake has its sentence."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import polars as pl
import pytest
from conftest import ROOT, TERM

import trajlab as tl
from trajlab.errors import ScheduleError, SlotError
from trajlab.schedule import timetable
from trajlab.schedule.timetable import Slot, Timetable

BROKEN = ROOT / "fixtures" / "broken" / "timetables"
MONDAY, TUESDAY = Slot(1, 480, 575), Slot(2, 480, 575)


def test_a_toml_file_says_several_weekdays_at_once():
    found = timetable.read(TERM / "timetable.toml")
    assert found.tz == "Asia/Shanghai"
    assert [str(slot) for slot in found.slots] == [
        "Mon 08:00 to 09:35",
        "Mon 09:50 to 12:15",
        "Mon 13:30 to 15:05",
        "Tue 08:00 to 09:35",
        "Tue 09:50 to 12:15",
        "Tue 13:30 to 15:05",
    ]


def test_csv_toml_and_frame_say_the_same(tmp_path):
    (tmp_path / "t.csv").write_text("Weekday,From,To\n2,8:00,9:35\nMonday,08:00:00,09:35:00.000\n")
    (tmp_path / "t.toml").write_text('[[slot]]\nweekday = [1, "tue"]\nfrom = 08:00:00\nto = "09:35"\n')
    frame = pl.DataFrame({"weekday": [1, 2], "from": [dt.time(8)] * 2, "to": [dt.time(9, 35)] * 2})
    for given in (tmp_path / "t.csv", str(tmp_path / "t.toml"), frame):
        assert timetable.read(given).slots == (MONDAY, TUESDAY)


def test_the_timetable_that_the_simulator_writes_is_read(tmp_path):
    campus = tl.simulate_campus(people=1, days=1)
    campus.timetable.write_csv(tmp_path / "campus.csv")
    found = timetable.read(tmp_path / "campus.csv")
    assert found.slots == timetable.read(campus.timetable).slots
    assert (len(found.slots), found.slots[0]) == (30, MONDAY)


def test_a_grid_covers_the_week_once():
    slots = timetable.read("grid:90min").slots
    assert len(slots) == 7 * 16
    covered = [(slot.weekday, minute) for slot in slots for minute in range(slot.begins, slot.ends)]
    assert len(covered) == len(set(covered)) == 7 * 24 * 60
    assert timetable.read("grid") == timetable.read("grid:30min")


def test_slots_that_touch_do_not_overlap():
    assert len(Timetable("t", (Slot(1, 575, 600), MONDAY, Slot(1, 1380, 1440))).slots) == 3


REFUSED = {
    "empty.csv": "empty.csv: the file is empty",
    "header_only.csv": "header_only.csv: a timetable without slots",
    "no_end.csv": "no_end.csv: no to; a timetable has weekday, from and to",
    "ragged.csv": "ragged.csv: not a table with commas between columns; a line has too many",
    "overlap.csv": "overlap.csv: slots overlap, Mon 08:00 to 09:35 and Mon 09:30 to 10:30 (and 1 more): "
    "a moment may belong to one slot only",
    "someday.csv": "someday.csv, row 3: no weekday is called 'Someday': write 1 to 7, or Mon to Sun",
    "seconds.csv": "seconds.csv, row 2: '08:00:30' is no time of whole minutes such as 08:00",
    "past_midnight.csv": "past_midnight.csv, row 2: a slot from 22:00 to 06:00 ends before it begins: "
    "divide it at midnight, 24:00",
    "two_zones.csv": "two_zones.csv: slots in 2 zones; a timetable has one",
    "not_toml.toml": "not_toml.toml: not TOML: ",
    "unknown_key.toml": "unknown_key.toml: nobody knows 'lessons'; there are: holidays, slot, tz",
    "one_table.toml": "one_table.toml: slots are written [[slot]], with weekday, from and to",
    "no_weekday.toml": "no_weekday.toml: no weekday; a timetable has weekday, from and to",
    "holiday.toml": "holiday.toml: holidays: '31 December' is not a date like 2016-04-04",
    "zone_number.toml": "zone_number.toml: tz is the name of a zone, such as 'Asia/Shanghai', not 8",
}


@pytest.mark.parametrize("name", REFUSED)
def test_every_broken_timetable_is_met_with_its_sentence(name):
    with pytest.raises(ScheduleError) as refused:
        timetable.read(BROKEN / name)
    assert str(refused.value).startswith(REFUSED[name])
    assert "\n" not in str(refused.value)


def test_every_broken_timetable_has_a_sentence():
    assert {file.name for file in BROKEN.iterdir()} == set(REFUSED)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (7, ("a timetable is a .csv or .toml file, a frame with weekday, from and to, grid:30min, found or "
            "found:PATTERN, not int")),
        ("campus", ("no timetable 'campus': it may be a .csv or .toml file, a frame with weekday, from and to, "
            "grid:30min, found or found:PATTERN")),
        ("nowhere.csv", "there is no timetable 'nowhere.csv'"),
        ("grid:30s", "grid:30s: slots of a timetable have whole minutes"),
        (pl.DataFrame({"weekday": [1], "from": ["08:00"]}), "timetable: no to; a timetable has weekday, from and to"),
    ],
)  # fmt: skip
def test_what_is_no_timetable_is_refused(given, message):
    with pytest.raises(ScheduleError) as refused:
        timetable.read(given)
    assert str(refused.value) == message


def test_a_grid_that_does_not_divide_the_day_is_refused():
    with pytest.raises(SlotError, match="does not divide a day into equal slots"):
        timetable.read("grid:7min")


def test_holidays_are_dates_in_order_each_once():
    assert timetable.dates(["2016-05-01", dt.date(2016, 4, 4), "2016-05-01"]) == (
        dt.date(2016, 4, 4),
        dt.date(2016, 5, 1),
    )
    for wrong, message in (
        ("2016-05-01", "holidays is a list of dates, such as ['2016-04-04'], not '2016-05-01'"),
        (["May"], "holidays: 'May' is not a date like 2016-04-04"),
    ):
        with pytest.raises(ScheduleError) as refused:
            timetable.dates(wrong)
        assert str(refused.value) == message


def test_a_file_that_is_not_text_is_refused(tmp_path: Path):
    (tmp_path / "t.csv").write_bytes("weekday,from,to\nMié,08:00,09:00\n".encode("latin-1"))
    with pytest.raises(ScheduleError, match=r"^t\.csv: not UTF-8 text$"):
        timetable.read(tmp_path / "t.csv")
