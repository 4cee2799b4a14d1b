"""Days of single people: in the page when they were asked for, and never otherwise."""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_report import Page

import trajlab as tl
from trajlab.errors import LabError
from trajlab.report import render


@pytest.fixture(scope="module")
def attacked() -> tl.Lab:
    lab = tl.open(":memory:")
    lab.ingest(tl.simulate(people=30, days=2, seed=3), tz="Europe/Lisbon")
    lab.attack(lab.release("square:2000", "1h"), "xu2017")
    return lab


def days(page: str) -> str:
    (found,) = re.findall(r'<section id="days">.*?</section>', page, re.DOTALL)
    return str(found)


def test_nobodys_day_is_in_the_page_unless_asked_for(attacked: tl.Lab) -> None:
    page = render(attacked)
    assert 'id="days"' not in page
    assert "report.recovered_day" not in page
    assert "report.example_people" not in page
    assert "nobody's trace" in Page(page).text


def test_people_are_chosen_from_the_best_to_the_worst_recovered(attacked: tl.Lab) -> None:
    ranked = attacked.sql(
        "select accuracy from metrics.person_recovery join study.run using (run_id) "
        "where attack = 'xu2017' and pairing = 'optimal' order by accuracy desc"
    )["accuracy"].to_list()
    told = Page(days(render(attacked, examples=3))).text
    shown = [round(float(share)) for share in re.findall(r"Person [A-C], ([\d.]+)% recovered", told)]
    assert shown[::2] == [round(100 * ranked[n]) for n in (0, 14, 29)]  # each name is told on screen and in print
    assert "do not pass it on" in Page(render(attacked, examples=1)).text


def test_the_band_says_which_slots_are_right(attacked: tl.Lab) -> None:
    text = days(render(attacked, examples=1))
    (panel,) = re.findall(r'<svg[^>]*class="chart wide">.*?</svg>', text, re.DOTALL)
    right, wrong = panel.count('class="hit"'), panel.count('class="miss"')
    assert right + wrong == 24
    assert f"it is right in {right} of 24 slots" in Page(text).text
    rows = re.findall(r"<tr><td>([^<]*)</td><td>([^<]*)</td><td>([^<]*)</td><td[^>]*>([^<]*)</td></tr>", text)
    assert len(rows) == 24
    assert sum(true == recovered for _, true, recovered, _ in rows) == right
    assert all((true == recovered) == (apart == "0") for _, true, recovered, apart in rows)


def test_counts_of_somebody_else_have_no_days_to_show() -> None:
    rng = np.random.default_rng(0)
    lab = tl.open(":memory:")
    counts = rng.multinomial(20, np.full(6, 1 / 6), size=48)
    lab.attack(tl.Release.from_matrix(counts, rng.uniform(0, 5000, (6, 2)), 24), "xu2017")
    assert 'id="days"' not in render(lab, examples=2)


@pytest.mark.parametrize("examples", [-1, 7])
def test_the_page_has_room_for_a_few_people_only(attacked: tl.Lab, tmp_path, examples: int) -> None:
    with pytest.raises(LabError, match=f"0 to 6 example people, not {examples}"):
        attacked.report(tmp_path / "report.html", example_people=examples)
    assert not list(tmp_path.iterdir())
