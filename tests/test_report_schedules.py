"""The section on schedules: its figures are those of the tables, and it names nobody."""

from __future__ import annotations

import re

import polars as pl
import pytest
from conftest import TERM
from test_report import Page

import trajlab as tl
from trajlab.report import render, words

LESSONS = pl.read_csv(TERM / "lessons.csv").with_columns(pl.col("uid") + "@secret")


def section(page: str) -> str:
    found = re.findall(r'<section id="schedules".*?</section>', page, re.DOTALL)
    return str(found[0]) if found else ""


@pytest.fixture(scope="module")
def page(term: tl.Lab) -> str:
    return section(render(term))


def test_the_paper_s_example_is_told_in_words(page):
    told = Page(page).text
    assert "Over 16 weeks (1 week without any data left out) of 6 slots each, knowing 3 points of a person" in told
    assert "leaves a crowd of 3 or more for 100% of 3 people" in told
    assert "the schedules of 0% are totally and of 100% partly disclosed" in told
    assert "The mean attack probability is 85%; 50% of slots hold a habit and 28% a sensitive one." in told


def test_every_size_slot_and_lesson_is_in_its_tables(term, page):
    told = Page(page).text
    for name, chance in (
        term.sql(
            "select slot.name, score.chance from metrics.leak_by_slot as score join study.leak as leak using (leak_id, min_k) "
            "join slots.timetable as slot on slot.schedule_id = leak.known_id and slot.number = score.number "
            "where leak.points = 3"
        )
    ).iter_rows():
        assert name in told
        assert words.share(chance) in told
    assert "Crowds of 2 or more: 3 people" in told
    assert "5 of 7 true lessons" in told


def test_a_crowd_that_is_too_small_is_said_and_nobody_is_named():
    records = pl.read_csv(TERM / "records.csv").with_columns(pl.col("device") + "@secret")
    lab = tl.open()
    lab.ingest(records, kind="wifi", tz="Asia/Shanghai")
    lab.schedule(TERM / "timetable.toml", lab.release("places", "1h", fill="none"), min_k=50, truth=LESSONS)
    page = render(lab)
    assert "There is no crowd of that size to learn schedules from." in Page(section(page)).text
    assert "5 of 7 true lessons" in Page(section(page)).text
    assert "@secret" not in page


def test_a_lab_without_schedules_has_no_section(town):
    assert section(render(town)) == ""
