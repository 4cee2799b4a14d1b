"""The section on utility: what the first screen says of it, and its flows on a map."""

from __future__ import annotations

import re

import polars as pl
from test_report import Page

import trajlab as tl
from trajlab.report import naming, render, words
from trajlab.report.contents import Contents
from trajlab.report.sections import utility


def part(page: str, name: str) -> str:
    found = re.findall(rf'<section id="{name}".*?</section>', page, re.DOTALL)
    return str(found[0]) if found else ""


def test_the_first_screen_says_what_the_largest_cells_leave_and_cost(town: tl.Lab) -> None:
    points = town.table("metrics.tradeoff").filter(flows="raw", measure="all")
    row = points.filter(size_m=4000).sort("risk", descending=True).row(0, named=True)
    before = points.filter(step=0, knowledge=row["knowledge"])["risk"].item()
    first = Page(part(render(town), "findings")).text
    within = f"95% interval {words.share(row['low'])} to {words.share(row['high'])}"
    assert f"{words.share(row['risk'])}{within}" in first
    assert (
        f"of {row['people']} people are still singled out by {naming.knowledge(row['knowledge'])} in squares" in first
    )
    assert f"change the flows between zones by {words.share(row['loss'])} of their sum" in first
    assert f"in the release itself{words.share(before)}" in first


def test_the_largest_cells_are_the_largest_whatever_the_order_asked_for() -> None:
    sizes = {0: 0.0, 1: 4000.0, 2: 2000.0}
    points = pl.DataFrame(
        [
            {"zones": "z", "flows": "raw", "measure": "all", "knowledge": known, "step": step, "size_m": size}
            for known in ("top:1", "points:2")
            for step, size in sizes.items()
        ]
    )
    first, last = utility._ends(points)
    assert first["step"].to_list() == [0, 0]
    assert last["step"].to_list() == [1, 1]
    assert last["knowledge"].to_list() == ["top:1", "points:2"]


def test_without_a_tradeoff_nothing_is_said() -> None:
    assert utility.findings(Contents.of(tl.open(":memory:"))) == []
