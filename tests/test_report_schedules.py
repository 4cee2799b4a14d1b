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


def section(page: str, name: str = "schedules") -> str:
    found = re.findall(rf'<section id="{name}".*?</section>', page, re.DOTALL)
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


def test_the_first_screen_says_how_many_a_crowd_does_not_hide(term):
    first = Page(section(render(term), "findings")).text
    assert "100%95% interval 44% to 100%" in first  # Wilson's, of 3 of 3
    assert "of 3 people who hide in a crowd of 3 or more from whoever knows 3 points of them have a weekly" in first
    assert "one picked from the crowd33%given away totally0%" in first


def test_disclosed_is_totally_or_partly_with_the_interval_of_the_table(term):
    rows = term.sql("select leak_id, min_k, metric, people, estimate, low, high from metrics.leak")
    for (leak_id, min_k), part in rows.group_by("leak_id", "min_k"):
        shares = {row["metric"]: row for row in part.iter_rows(named=True)}
        found = term.table("report.disclosed_by_size", leak_id=leak_id, min_k=min_k)
        if shares.get("hidden") is None:
            assert not len(found)
            continue
        row = found.row(0, named=True)
        rest = shares["hidden"]["estimate"] + shares["nothing"]["estimate"]
        assert row["disclosed_share"] == pytest.approx(1 - rest)
        for alike in shares.values():  # a share of as many people has the same interval
            if alike["metric"] in ("hidden", "nothing") and alike["estimate"] == pytest.approx(rest):
                assert (row["low"], row["high"]) == pytest.approx((1 - alike["high"], 1 - alike["low"]))


def test_every_size_slot_and_lesson_is_in_its_tables(term, page):
    told = Page(page).text
    for name, chance in (
        term.sql(
            "select slot.name, score.chance from metrics.leak_by_slot as score join study.leak as leak using (leak_id, min_k) "
            "join slots.timetable as slot on slot.schedule_id = leak.known_schedule_id and slot.number = score.number "
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
    assert "at least in part" not in Page(section(page, "findings")).text
    assert "@secret" not in page


def test_a_lab_without_schedules_has_no_section(town):
    assert section(render(town)) == ""
