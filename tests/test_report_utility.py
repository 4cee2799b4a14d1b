"""The section on utility: what the first screen says of it, and its flows on a map."""

from __future__ import annotations

import re

import polars as pl
import pytest
from test_report import HOSTILE, Page

import trajlab as tl
from trajlab.report import flowmap, naming, render, words
from trajlab.report.contents import Contents
from trajlab.report.drawing.backdrop import Backdrop
from trajlab.report.drawing.extent import Extent
from trajlab.report.ground import Ground
from trajlab.report.sections import utility
from trajlab.spatial._projection import LocalMetres


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
    point = town.sql(
        "from report.tradeoff_point where size_m = 4000 and flows = 'raw' and measure = 'all' and knowledge = $known",
        known=row["knowledge"],
    ).row(0, named=True)
    assert f"; {words.misplaced(point)} (both are counted whole" in first
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


def flows_of(lab: tl.Lab, od_id: str, labels: dict[int, str]) -> dict[tuple[str, str], float]:
    rows = lab.table("metrics.od_flow").filter(od_id=od_id).select("origin", "destination", "raw").rows()
    return {(labels[a], labels[b]): flow for a, b, flow in rows if a != b and flow > 0}


def test_the_map_has_a_line_for_each_flow_before_and_after_as_wide_as_it_is_large(town: tl.Lab) -> None:
    step = town.table("study.tradeoff_step").sort("size_m").row(-1, named=True)
    sides = town.table("study.utility").filter(utility_id=step["utility_id"]).row(0, named=True)
    labels = dict(town.table("grid.cell").filter(index_id=step["zones_id"]).select("cell", "label").rows())
    before, after = (flows_of(town, sides[side], labels) for side in ("before_id", "after_id"))
    assert before
    assert after
    most = max(*before.values(), *after.values())
    maps = re.findall(r'<svg[^>]*class="flows".*?</svg>', part(render(town), "utility"), re.DOTALL)
    assert len(maps) == 2
    for drawn, flows in zip(maps, (before, after), strict=True):
        lines = re.findall(r'stroke-width="([^"]*)" class="flow s\d"><title>(.*?) → (.*?)\n', drawn)
        assert sorted((a, b) for _, a, b in lines) == sorted(flows)
        for width, a, b in lines:
            assert float(width) == pytest.approx(max(0.4, 10 * flows[a, b] / most), abs=0.051)


def test_the_table_under_the_map_has_both_sides(town: tl.Lab) -> None:
    answer = Contents.of(town).load_answer(
        flowmap.FLOWS_DRAWN,
        tradeoff_id=town.table("study.tradeoff")["tradeoff_id"][0],
        zones="zones",
        flows="raw",
        most=2,
    )
    assert len(answer.frame) == min(2, answer.frame["pairs"][0])
    largest = answer.frame.select(pl.max_horizontal("before", "after")).to_series()
    assert largest.is_sorted(descending=True)
    assert (answer.frame["after"] - answer.frame["before"]).to_list() == answer.frame["change"].to_list()
    told = Page(part(render(town), "utility")).text
    assert "Flows between zones, before and after: raw movements" in told
    assert "With squares of 4" in told


BARE = Backdrop(Extent(LocalMetres(0, 0), -3_000, -4_000, 9_000, 4_000), Ground(), Ground().places)


def square(lng: float) -> str:
    return f"POLYGON (({lng} 0, {lng} 0.01, {lng + 0.01} 0.01, {lng + 0.01} 0, {lng} 0))"


def pair(**other: object) -> pl.DataFrame:
    """A flow to the east."""
    row = {"origin_label": "a", "destination_label": "b", "before": 4.0, "after": 1.0, "lon0": 0.0, "lat0": 0.0}
    row |= {"origin_polygon": square(0), "destination_polygon": square(0.05)}
    row |= {"origin_lng": 0.005, "origin_lat": 0.005, "destination_lng": 0.055, "destination_lat": 0.005}
    return pl.DataFrame([row | other], schema_overrides={"origin_polygon": pl.String})


def test_a_line_bends_to_the_right_of_its_way() -> None:
    drawn = str(flowmap.draw(pair(), ("before", "after"), BARE))
    arcs = re.findall(r'd="M(\d+) (\d+)Q(\d+) (\d+) (\d+) (\d+)"', drawn)
    assert len(arcs) == 2
    for arc in arcs:
        x0, y0, x1, y1, x2, y2 = map(int, arc)
        assert x0 < x1 < x2  # to the east
        assert y1 > y0 == y2  # and right of it is south, which is down


def test_what_is_gone_has_no_line_and_names_are_escaped() -> None:
    drawn = flowmap.draw(
        pair(origin_label=HOSTILE[0], destination_label=HOSTILE[2], after=0.0), (HOSTILE[1], "after"), BARE
    )
    assert str(drawn).count('class="flow ') == 1
    page = Page(str(drawn))
    assert not {"script", "img", "b"} & {tag for tag, _ in page.tags}


def test_zones_without_a_place_are_not_drawn() -> None:
    assert flowmap.draw(pair(origin_polygon=None), ("before", "after"), BARE) is None


def test_the_page_shows_the_error_of_published_tables_without_any_trade_off() -> None:
    lab = tl.open(quiet=True)
    lab.ingest(tl.simulate(people=60, days=1, seed=1), tz="Europe/Lisbon")
    lab.count_utility(lab.release("h3:8", "1h"))  # beside itself: nothing to say
    assert part(render(lab), "utility") == ""
    few = lab.count_utility(lab.release("h3:8", "1h", protect=["suppress:3"]))
    text = Page(part(render(lab), "utility")).text
    assert "The error of the published table" in text
    assert f"changes the published table by {words.share(few.error())} of its sum" in text
    assert f"{words.share(few.error('hidden_people'))} of the people in its cells are not published" in text
    assert "People who change cells" in text
    assert "suppress:3" in text
    assert f"\N{MINUS SIGN}{words.share(-few.error('total_bias'))}" in text
    assert words.metres(few.error("distance_m")) in text
