"""The page on protected counts and on membership: every number with its yardstick, and what it is about."""

from __future__ import annotations

import pytest

import trajlab as tl
from trajlab.report import render


@pytest.fixture(scope="module")
def page() -> str:
    with tl.open(":memory:") as lab:
        lab.ingest(tl.simulate(people=60, days=3, seed=1), tz="Europe/Lisbon")
        lab.study(index="square:4000", slot="2h", protect=[None, "suppress:3", "round:5"])
        whole = lab.sql("select release_id from study.release where release_id = unprotected_id").item()
        lab.membership(whole, sizes=[10], targets=5, groups=10)
        return render(lab)


def test_attacks_on_protected_counts_stand_beside_those_on_counts_as_they_are(page: str) -> None:
    section = page.partition('<section id="protection">')[2].partition("</section>")[0]
    assert "About the published table: no trace has to leak." in section
    for text in ("as they are", "suppress:3", "round:5", "nobody moves", "from report.protection"):
        assert text in section


def test_membership_stands_beside_guessing(page: str) -> None:
    section = page.partition('<section id="membership">')[2].partition("</section>")[0]
    assert "About the published table: no trace has to leak." in section
    for text in ("exact, groups of 10", "guessing", "from report.membership"):
        assert text in section


def test_the_first_words_of_the_page_name_the_recipes(page: str) -> None:
    assert "protected by <strong>2 recipes: round:5 and suppress:3</strong>" in page
    assert "Nothing is suppressed" not in page


def test_releases_are_named_by_what_protects_them(page: str) -> None:
    assert "suppress:3" in page.partition('<section id="atlas">')[2].partition("</section>")[0]
