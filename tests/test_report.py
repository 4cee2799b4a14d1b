"""The report: whole and harmless HTML whose numbers are those of the tables."""

from __future__ import annotations

import datetime as dt
import re
import sys
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import duckdb
import h3
import numpy as np
import polars as pl
import pytest
import shapely
from conftest import tiny_lab

import trajlab as tl
from trajlab.errors import LabError
from trajlab.report import markup, render, sections, words
from trajlab.report.drawing import charts, maps
from trajlab.report.drawing.backdrop import Backdrop
from trajlab.report.drawing.extent import Extent
from trajlab.report.drawing.merging import merge
from trajlab.report.ground import Ground
from trajlab.report.page import tabs
from trajlab.spatial._projection import LocalMetres

MONDAY = dt.datetime(2024, 3, 4, tzinfo=dt.UTC)
HOSTILE = ["<script>alert(1)</script>", "\"><img src=x onerror='alert(1)'>", "</title></svg><b>&amp;", "a\x00b"]
VOID = {"br", "hr", "input", "meta"}


class Page(HTMLParser):
    """A page read strictly: every tag that opens closes, in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.code: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(attrs) == len(dict(attrs)), f"an attribute of {tag} is given twice"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "code":
            self.code.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "code":
            self.code[-1] += data
        if "style" not in self.open:
            self.text += data

    def values(self, attribute: str) -> list[str]:
        return [attrs[attribute] or "" for _, attrs in self.tags if attribute in attrs]


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lab file with three releases that differ in cells and in suppression."""
    path = tmp_path_factory.mktemp("city") / "lab.duckdb"
    with tl.open(path) as lab:
        lab.ingest(tl.simulate(people=60, days=3, seed=1), tz="Europe/Lisbon")
        lab.geography(stations=tl.simulate_stations(people=60, days=3, seed=1))
        first = lab.release("square:2000", "1h")
        lab.feasibility(first)
        lab.attack(first, "xu2017")
        lab.risk(first, "points:2")
        lab.tradeoff(first, ["square:4000", "square:8000"], zones="square:5000", knowledge="points:2", basis="slots")
        lab.release("h3:7", "1h", min_count=3)
        lab.release("stations", "2h")
    return path


@pytest.fixture(scope="module")
def page(city: Path) -> str:
    with tl.open(city, read_only=True) as lab:
        return render(lab, examples=2)


def campus(names: list[str]) -> tl.Lab:
    """People at named places without coordinates."""
    lab = tl.open(":memory:")
    rows = [(f"u{n}", MONDAY + dt.timedelta(hours=h), names[(n + h) % len(names)]) for n in range(4) for h in range(24)]
    lab.ingest(pl.DataFrame(rows, schema=["uid", "ts", "place"], orient="row"), kind="wifi", tz="UTC")
    return lab


def test_the_page_asks_for_nothing_outside_itself(page: str) -> None:
    read = Page(page)
    assert "://" not in page
    assert not re.search(r"url\(|@import|javascript:", page)
    assert not {"link", "img", "iframe", "object", "base"} & {tag for tag, _ in read.tags}
    assert not read.values("src")
    assert [tag for tag, _ in read.tags].count("script") == 1  # what it says is what the policy allows, test_maps.py
    anchors = {f"#{name}" for name in read.values("id")}
    assert read.values("href")
    assert set(read.values("href")) <= anchors


def test_ids_are_unique_and_every_label_has_its_button(page: str) -> None:
    read = Page(page)
    assert len(read.values("id")) == len(set(read.values("id")))
    assert set(read.values("for")) <= set(read.values("id"))


def test_every_section_file_is_on_the_page(page: str) -> None:
    files = {file.stem for file in Path(sections.__path__[0]).glob("*.py")} - {"__init__"}
    assert {section.name for section in sections.load_all()} == files
    elsewhere = {"cubes", "membership", "protection"}  # test_cubes.py and test_report_protection.py have them
    for name in files - elsewhere - {"schedules"}:  # there are no weeks in a few days
        assert f'<section id="{name}">' in page


def test_a_new_section_is_one_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, town: tl.Lab) -> None:
    (tmp_path / "weather.py").write_text(
        "from trajlab.report.markup import tag\n"
        "TITLE, POSITION, TERMS = 'Weather', 15, {'Rain': 'Water from above.'}\n"
        "def render(contents): return tag('p', 'it <rains>')\n"
    )
    monkeypatch.setattr(sections, "__path__", [*sections.__path__, str(tmp_path)])
    text = render(town)
    del sys.modules["trajlab.report.sections.weather"]
    assert "<h2>Weather</h2><p>it &lt;rains&gt;</p>" in text
    assert "Water from above." in text
    assert text.index('id="releases"') < text.index('id="weather"') < text.index('id="atlas"')


def test_the_figures_on_the_cards_are_those_of_the_summary(city: Path, page: str) -> None:
    with tl.open(city, read_only=True) as lab:
        summary = lab.table("report.summary")
    cards = re.findall(r'<article class="card">.*?</article>', page)
    assert len(cards) == len(summary) == 3
    for row in summary.iter_rows(named=True):
        (card,) = [card for card in cards if words.cells(row["index_name"]) in markup.text(Page(card).text)]
        assert f"<b>{words.share(row['alone'])}</b>" in card
        assert f"<dt>Cells</dt><dd>{row['cells']:,}</dd>" in card
        assert f"<dt>Counts</dt><dd>{row['counts']:,}</dd>" in card
        assert f"<dt>Hidden</dt><dd>{words.share(row['hidden'])}</dd>" in card
    low, high = (words.share(summary["alone"].sort()[n]) for n in (0, -1))
    assert f"<mark>{low.removesuffix('%')} to {high}</mark>" in page


def test_every_published_cell_is_on_its_map(city: Path, page: str) -> None:
    (atlas,) = re.findall(r'<section id="atlas">.*?</section>', page, re.DOTALL)
    drawn = [
        svg.count("<path") for svg in re.findall(r'<svg[^>]*class="map(?: fine)?"[^>]*>.*?</svg>', atlas, re.DOTALL)
    ]
    with tl.open(city, read_only=True) as lab:
        published = lab.sql("select cells from report.summary order by index_name")["cells"].to_list()
    assert drawn == published


def test_every_query_on_the_page_runs_as_it_stands(city: Path, page: str) -> None:
    queries = [text for text in Page(page).code if "from " in text]
    assert len(queries) >= 10
    with duckdb.connect(city, read_only=True) as con:
        for query in queries:
            assert con.execute(query).fetchall(), query


def test_nobody_is_on_the_page(city: Path, page: str) -> None:
    with tl.open(city, read_only=True) as lab:
        people = lab.table("records.person")["uid"].to_list()
    told = set(re.findall(r"\w+", Page(page).text))
    assert not {uid for uid in people if not uid.isdigit()} & told


def test_names_from_the_data_are_escaped(tmp_path: Path) -> None:
    lab = campus(HOSTILE)
    file = tmp_path / "<img src=x onerror=alert(1)>.csv"
    file.write_text("uid,ts,place\nz,2024-03-04T12:00:00Z,<script>alert(1)</script>\n")
    lab.ingest(file, kind="wifi", tz="UTC")
    lab.release("places", "1h")
    text = render(lab)
    read = Page(text)
    assert not {"script", "img", "b onerror"} & {tag for tag, _ in read.tags}
    assert not any(name.startswith("on") for _, attrs in read.tags for name in attrs)
    assert "\x00" not in text
    for name in HOSTILE[:3]:
        assert name in read.text
    assert file.name not in read.text  # no name of a file is


def test_places_without_coordinates_get_a_table_instead_of_a_map() -> None:
    lab = campus(["hall", "gym"])
    lab.release("places", "1h")
    text = render(lab)
    assert 'class="map"' not in text
    assert "These cells have no place on a map." in text


def test_an_empty_lab_says_what_to_do_next() -> None:
    text = render(tl.open(":memory:"))
    assert "This lab is empty" in Page(text).text
    assert "trajlab ingest" in text


def test_records_without_a_release_are_reported(tiny: tl.Lab) -> None:
    read = Page(render(tiny))
    assert "Nothing is published yet" in read.text
    assert "trajlab release" in read.text
    tally = tiny.table("records.tally")
    for outcome in tally["outcome"]:
        assert outcome in read.text


def test_a_release_that_hides_every_count_is_reported(tiny: tl.Lab) -> None:
    tiny.release("square:1000", "3h", min_count=50)
    assert "No count was large enough to be published" in Page(render(tiny)).text


def test_many_releases_have_names_that_tell_them_apart(tiny: tl.Lab) -> None:
    for slot in ("1h", "2h", "3h", "4h", "6h"):
        tiny.release("square:1000", slot, min_count=2)
        tiny.release("square:1000", slot, fill="none")
        tiny.release("zones", slot, seed=1)
        tiny.release("zones", slot, seed=2)
    read = Page(render(tiny))
    heads = re.findall(r"<h2>(.*?)</h2>", "".join(re.findall(r'<article class="card">.*?</article>', render(tiny))))
    assert len(heads) == len(set(heads)) == 6
    assert "14 more releases in the table below" in read.text
    assert "The first 12 releases are drawn" in read.text


def test_the_same_lab_gives_the_same_bytes(city: Path, tmp_path: Path) -> None:
    for name in ("one.html", "two.html"):
        with tl.open(city, read_only=True) as lab:
            assert lab.report(tmp_path / name) == tmp_path / name
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["one.html", "two.html"]


def test_a_failure_leaves_the_older_report(tmp_path: Path) -> None:
    older = tmp_path / "report.html"
    older.write_text("older")
    lab = tiny_lab()
    lab.close()
    with pytest.raises(LabError, match="the lab is closed"):
        lab.report(older)
    assert older.read_text() == "older"
    assert list(tmp_path.iterdir()) == [older]


def test_a_place_that_cannot_be_written_is_named(tiny: tl.Lab, tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"cannot write .*/nowhere/report\.html: there is no folder .*/nowhere$"):
        tiny.report(tmp_path / "nowhere" / "report.html")
    (tmp_path / "folder").mkdir()
    with pytest.raises(LabError, match="folder is a folder: name the file to write"):
        tiny.report(tmp_path / "folder")
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]


def squares(n: int, *, far: bool = False) -> list[str]:
    corners = [(0.001 * (k % 100), 0.001 * (k // 100)) for k in range(n)]
    if far:
        corners[0] = (40.0, 30.0)
    return [
        f"POLYGON (({x} {y}, {x + 0.001} {y}, {x + 0.001} {y + 0.001}, {x} {y + 0.001}, {x} {y}))" for x, y in corners
    ]


def drawn(outlines: list[str | None], values: list[float] | None = None) -> str:
    given = np.array(values or range(1, len(outlines) + 1), dtype=float)
    titles = [f"cell {n}" for n in range(len(outlines))]
    return on_a_map(outlines, given, titles, LocalMetres(0.05, 0.05))


def on_a_map(
    outlines: Sequence[str | None],
    values: np.ndarray,
    titles: Sequence[str],
    plane: LocalMetres,
    weights: np.ndarray | None = None,
) -> str:
    """A map of outlines over nothing."""
    shapes = shapely.from_wkt(np.array(outlines, dtype=object))
    extent = Extent.around(shapes, values if weights is None else weights, plane)
    if extent is None:
        return ""
    return maps.draw("a map", shapes, values, titles, Backdrop(extent, Ground(), Ground().places), "people") or ""


def test_ten_thousand_cells_stay_light() -> None:
    text = drawn(list(squares(10_000)))
    assert text.count("<title>") == 10_000
    assert len(text) < 1_000_000
    more = drawn(list(squares(maps.MOST_TITLED + 1)))
    assert more.count("<path") == maps.CLASSES
    assert len(more) < 500_000


def outline(cell: str) -> str:
    corners = [f"{lng} {lat}" for lat, lng in h3.cell_to_boundary(cell)]
    return f"POLYGON (({', '.join([*corners, corners[0]])}))"


def test_small_hexagons_are_drawn_as_they_are_and_do_not_overlap() -> None:
    """A city in a province: hexagons of a few pixels, far from the equator."""
    middle = h3.latlng_to_cell(39.9, 116.4, 8)
    cells = sorted(h3.grid_disk(middle, 12)) + sorted(h3.grid_ring(middle, 120))
    outlines, values = [outline(cell) for cell in cells], np.arange(1.0, len(cells) + 1)
    text = on_a_map(outlines, values, cells, LocalMetres(116.4, 39.9), np.ones(len(cells)))
    paths = re.findall(r'<path d="M(-?\d+)[ ]?(-?\d+)l([^z"]*)z"', text)
    assert len(paths) == len(cells)
    drawn_cells = []
    for x, y, moves in paths:
        steps = np.array(re.findall(r"-?\d+", moves), dtype=int).reshape(-1, 2)
        assert len(steps) == 5
        drawn_cells.append(shapely.Polygon(np.array([int(x), int(y)]) + np.vstack([[0, 0], steps.cumsum(axis=0)])))
    covered = shapely.union_all(drawn_cells).area
    assert sum(cell.area for cell in drawn_cells) == pytest.approx(covered, rel=0.005)
    assert 'class="map fine"' in text


def test_cells_too_small_to_be_seen_are_merged_and_the_map_says_so() -> None:
    side = 400
    corners = [(0.001 * (k % side), 0.001 * (k // side)) for k in range(side * side)]
    outlines = [
        f"POLYGON (({x} {y}, {x + 0.001} {y}, {x + 0.001} {y + 0.001}, {x} {y + 0.001}, {x} {y}))" for x, y in corners
    ]
    values = np.array([1.0 if x < 0.2 else 3.0 for x, _ in corners])
    text = on_a_map(outlines, values, (), LocalMetres(0.2, 0.2))
    told = re.search(
        r"160,000 cells too small to be told apart, drawn as ([\d,]+) squares of (.*?), each with the mean", text
    )
    assert told is not None
    assert 5_000 < int(told[1].replace(",", "")) <= 48_000
    assert len(text) < 200_000
    assert "1 – 3 " in text
    assert "cells)" not in text


@pytest.mark.parametrize(("cells", "most"), [(300, 48_000), (30_000, 5_000), (30_000, 50)])
def test_merging_keeps_every_cell_and_the_sum_of_all(cells: int, most: int) -> None:
    chance = np.random.default_rng(cells + most)
    centres = chance.uniform(0, 6_400, (cells, 2))
    sizes = chance.choice([3.0, 30.0, 300.0], cells, p=[0.9, 0.0999, 0.0001])
    values, inside = chance.integers(0, 50, cells).astype(float), chance.random(cells) < 0.99
    alone, squares = merge(centres, sizes, values, inside, most, smallest=25)
    assert int(alone.sum()) + len(squares.cells) <= most
    assert not alone[~inside].any()
    assert int(alone.sum()) + int(squares.cells.sum()) == int(inside.sum())
    assert values[alone].sum() + (squares.mean * squares.cells).sum() == pytest.approx(values[inside].sum())
    assert len(set(zip(squares.column.tolist(), squares.row.tolist(), strict=True))) == len(squares.cells)
    at = np.floor(centres[squares.first] / squares.side)
    assert np.array_equal(at, np.column_stack([squares.column, squares.row]))
    strips = re.findall(r"h(\d+)v", squares.rows_of(np.arange(len(squares.cells))))
    assert sum(int(length) for length in strips) == squares.side * len(squares.cells)


def test_merged_cells_that_stand_alone_still_say_their_values() -> None:
    outlines = [f"POLYGON (({x} 0, {x + 1e-5} 0, {x + 1e-5} 1e-5, {x} 0))" for x in (0.0, 0.3, 0.6, 0.60001)]
    text = drawn(list(outlines), [1.0, 2.0, 3.0, 5.0])
    assert re.findall("<title>(.*?)</title>", text, re.DOTALL) == ["cell 0", "cell 1", "2 cells\n4 on average"]
    assert "4 cells too small to be told apart, drawn as 3 squares" in text


def test_a_far_cell_does_not_shrink_the_others() -> None:
    text = drawn(list(squares(400, far=True)))
    assert "1 cell far outside this view not drawn" in text
    assert text.count("<path") == 399


def test_points_and_equal_values_can_be_drawn_and_cells_without_outline_are_skipped() -> None:
    text = drawn(["POINT (0 0)", None, "POLYGON EMPTY", "POINT (0.01 0.01)"], [2.0] * 4)
    assert text.count("<path") == 2
    assert "NaN" not in text.replace("nan", "NaN")
    assert drawn([None, "POINT EMPTY"]) == ""


def test_a_line_breaks_where_values_are_missing() -> None:
    axis = charts.Axis(0, 10, [(5, "five")])
    text = charts.lines("told", {"a": [(0, 1.0), (1, 2.0), (2, None), (3, 1.0), (7, 1.0)]}, axis)
    wide = re.findall(r'<path d="([^"]*)" class="line s0">', text)[0]
    assert wide.count("M") == 3


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0, "0%"),
        (0.0004, "under 0.1%"),
        (0.034, "3.4%"),
        (0.5, "50%"),
        (0.9996, "over 99.9%"),
        (1, "100%"),
        (1.5, "150%"),
        (None, "–"),
    ],
)
def test_a_share_is_nothing_or_everything_only_when_it_is(value: float | None, told: str) -> None:
    assert words.share(value) == told


@pytest.mark.parametrize(
    ("step", "told"), [(0.5, ["0%", "50%", "100%"]), (0.004, ["0.0%", "0.4%", "0.8%"]), (0.0016, ["0.00%", "0.16%", "0.32%"])]
)  # fmt: skip
def test_marks_along_an_axis_differ(step: float, told: list[str]) -> None:
    assert [words.percentages(step)(n * step) for n in range(3)] == told


@pytest.mark.parametrize(
    ("value", "error", "told"),
    [(2.5718, 0.4198, "2.57 ± 0.42"), (1185.7, 177.9, "1,186 ± 178"), (0.01234, 0.00099, "0.01234 ± 0.00099"), (1, 0, "1.00 ± 0.00")],
)  # fmt: skip
def test_a_number_has_as_many_digits_as_its_error_leaves(value: float, error: float, told: str) -> None:
    assert words.estimated(value, error) == told


@pytest.mark.parametrize(
    ("value", "told"),
    [(0, "0"), (1234567, "1,234,567"), (0.00297, "0.00297"), (12.34, "12.3"), (1234.5, "1,234"), (2.0, "2")],
)
def test_a_number_is_short_and_readable(value: float, told: str) -> None:
    assert words.number(value) == told


@pytest.mark.parametrize("value", [0.003, 0.29, 1, 4, 4.1, 7, 99, 100, 101, 12345])
def test_an_axis_ends_at_or_just_above_its_largest_value(value: float) -> None:
    step, steps = charts.round_steps(value)
    assert 1 <= steps <= 5
    assert step * steps >= value * (1 - 1e-9) > step * (steps - 1)


def luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(page: str, scheme: int) -> None:
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", re.findall(r":root \{(.*?)\}", page, re.DOTALL)[scheme]))
    pairs = [("ink", "paper"), ("ink", "code"), ("link", "card"), ("alert", "card"), ("alert", "alert-soft")]
    pairs += [("soft", behind) for behind in ("paper", "card", "faint")]
    pairs += [(f"on{n}", f"d{n}") for n in range(6)]
    for front, behind in pairs:
        dark, light = sorted(luminance(colours[name]) for name in (front, behind))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (front, behind)


def test_the_first_panels_are_drawn_and_the_rest_counted() -> None:
    panels = [(f"release {n}", f"panel {n}") for n in range(5)]
    few = str(tabs("x", panels, most=3))
    assert [f"panel {n}" in few for n in range(5)] == [True, True, True, False, False]
    assert "The first 3 are drawn; 2 more are in the lab." in few
    assert "are drawn" not in str(tabs("x", panels, most=5)) + str(tabs("x", panels))


def test_the_days_of_the_records_follow_clocks_that_change_a_minute_after_midnight():
    lab = tl.open(":memory:")
    times = [f"2006-10-29T0{hour}:{minute}:00Z" for hour, minute in ((2, 29), (2, 30), (2, 31), (3, 29), (3, 30))]
    lab.ingest(
        pl.DataFrame({"uid": "a", "ts": times, "lat": 47.5, "lng": -52.7}), tz="America/St_Johns"
    )  # 23:59, 00:00, then 23:01 again to 23:59, and midnight for the second time
    assert lab.table("report.records_per_day")["records"].to_list() == [3, 2]
