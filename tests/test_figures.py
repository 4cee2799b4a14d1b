"""Figures of the papers: every one can be drawn, from the lab's own numbers, beside the published ones."""

from __future__ import annotations

import io
import itertools
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import numpy as np
import polars as pl
import pytest
from conftest import examples
from PIL import Image

import trajlab as tl
from trajlab import figures
from trajlab.cli import main
from trajlab.errors import FigureError, LabError, UnknownNameError
from trajlab.figures._figure import COLUMNS, Drawn, Figure
from trajlab.figures._raster import FONTS, png
from trajlab.figures._ticks import along, part_of
from trajlab.query import catalogue

PROTECTED = [
    *("suppress:2", "suppress:3", "round:2", "round:4"),
    *("noise:geometric:eps=1:unit=person-slot", "noise:geometric:eps=10:unit=person-slot"),
]

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def lab_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lab that has what every figure takes, but those about schedules: they need weeks (the term)."""
    path = tmp_path_factory.mktemp("figures") / "lab.duckdb"
    with tl.open(path) as lab:
        lab.ingest(tl.simulate(people=40, days=2, seed=1), tz="Europe/Lisbon")
        lab.geography(stations=tl.simulate_stations(people=40, days=2, seed=1))
        release = lab.release("square:2000", "1h")
        lab.feasibility(release)
        lab.attack(release, "dsilva2024")
        for varied in ({"index": ["square:2000", "square:4000"]}, {"slot": ["1h", "2h"]}, {"people": [None, 20]}):
            lab.study(attack="xu2017", **{"index": "square:2000", "slot": "1h", **varied})
        lab.study(index="square:2000", slot="1h", protect=[None, *PROTECTED])
        tops = ["top:1", "top:2", "top:3", "top:2:unordered", "top:variable", "top:variable:unordered"]
        for known in (*tops, "points:1", "points:2", "points:4"):
            lab.risk(release, known)
        for window in ("6h", "12h"):
            for points in (1, 2, 4):
                lab.risk(lab.protect(release, f"cut:{window}"), f"points:{points}")
        for index in ("stations", "stations:1200", "stations:2800"):
            merged = lab.release(index, "1h")
            for known in ("top:2", "points:4"):
                lab.risk(merged, known)
        larger = ["square:3000", "square:4000", "square:6000", "square:9000"]
        lab.tradeoff(release, larger, zones=["square:3000", "square:5000"], basis="slots")
    return path


@pytest.fixture(scope="module")
def lab(lab_file: Path) -> tl.Lab:
    return tl.open(lab_file, read_only=True)


@pytest.fixture(scope="module")
def release(lab: tl.Lab) -> str:
    return str(lab.sql("select distinct release_id from metrics.place_share").item())


NAMES = list(figures.known())


def test_names_say_paper_and_figure_and_every_module_brings_some() -> None:
    assert len(NAMES) == len({figure.name for figure in figures.known().values()}) >= 28
    named = r"(xu|dsilva|yin|song|ma)20\d\d-fig\d+[a-z]?|protection-[a-z]+"
    assert all(re.fullmatch(named, name) for name in NAMES)
    modules = {file.stem for file in Path(figures.__path__[0]).glob("[a-z]*.py")}
    assert modules == {name.split("-")[0] for name in NAMES} | {m for m in modules if "_" in m}


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_is_drawn_with_all_that_it_marks(lab: tl.Lab, term: tl.Lab, release: str, name: str) -> None:
    if name.startswith("ma2017"):
        drawn = term.figure(name, release=term.sql("select distinct release_id from metrics.coming").item())
    else:
        drawn = lab.figure(name, release=None if figures.known()[name].across else release)
    assert tuple(drawn.answer.columns) == COLUMNS
    svg = drawn.svg()
    root = ET.fromstring(svg.encode())
    told = "".join(root.itertext())
    assert drawn.figure.title in told
    assert f"n = {drawn.people} people" in re.sub(r"\s+", " ", told.replace(".", " ."))
    for series in drawn.answer["series"].unique():
        assert series in told
    diamonds = svg.count("l6 6l-6 6l-6 -6z")
    legend = len({mark.data_set for mark in drawn.figure.published})
    shown = [m for m in drawn.figure.published if not isinstance(m.x, str) or m.x in drawn.answer["x"].to_list()]
    assert diamonds == len(shown) + legend
    assert "var(" not in svg
    assert "<style" not in svg
    assert "nan" not in re.sub(r"<desc>.*?</desc>|<text.*?</text>|<title>.*?</title>", "", svg, flags=re.DOTALL)


@pytest.mark.parametrize("relation", sorted({figure.relation for figure in figures.known().values()}))
def test_a_figure_is_a_relation_without_anybody_s_trace(relation: str) -> None:
    query = catalogue()[relation]
    assert query.kind == "view"
    assert {"release_id", "series_order", "series", "x_value", "estimate", "low", "high"} <= {
        column.name for column in query.columns
    }
    read = {query.table}
    for table in reversed(catalogue()):  # what stands later reads what stands before
        read |= set(catalogue()[table].reads) if table in read and catalogue()[table].view else set()
    assert not {table for table in read if table.split(".")[0] in ("records", "slots", "attacks")}


def test_the_numbers_of_a_figure_are_a_relation_that_its_drawing_names(lab: tl.Lab, release: str) -> None:
    asked = {
        "xu2017-fig8a": "from figures.xu2017_8a where release_id = $r order by series_order, series, x_value",
        "yin2015-fig5b": "from figures.yin2015_5 where release_id = $r and figure = '5b' order by series_order, x_value",
    }
    for name, sql in asked.items():
        drawn = lab.figure(name, release=release)
        assert lab.sql(sql, r=release)["estimate"].to_list() == drawn.answer["estimate"].to_list()
        assert f"<desc>{drawn.figure.relation}: release_id {release}" in drawn.svg()


def test_the_numbers_are_those_of_the_tables(lab: tl.Lab, release: str) -> None:
    table = lab.figure("xu2017-fig2", release=release).table
    own = lab.sql("select estimate from metrics.place_share where release_id = $r order by places", r=release)[
        "estimate"
    ]
    assert table.filter(series="this release")["estimate"].to_list() == own.to_list()
    assert table.filter(series="published, operator data")["estimate"].to_list() == [0.36, 0.83]
    accuracy = lab.figure("xu2017-fig8a", release=release).answer
    stored = lab.sql(
        "select attack, level, estimate from report.every_metric where release_id = $r and metric = 'accuracy' "
        "and pairing = 'greedy' and of = 'recovered'",
        r=release,
    )
    for row in stored.iter_rows(named=True):
        found = accuracy.filter(pl.col("series") == row["attack"], pl.col("x").str.starts_with(f"#{row['level']}"))
        assert found["estimate"].to_list() == [row["estimate"]]


def test_the_paper_s_example_of_schedules_is_drawn(term: tl.Lab) -> None:
    """Table II of ma2017: three people, all of them in one crowd, prob-m of 0.85."""
    release = term.sql("select distinct release_id from metrics.coming").item()
    crowds = term.figure("ma2017-fig3", release=release).answer
    assert crowds.select("series", "x", "estimate").rows() == [("3 points known", 3, 1.0)]
    chance = term.figure("ma2017-fig4a", release=release).answer
    assert chance.filter(pl.col("estimate") > 0)["x"].min() == 0.86  # 0.854, in steps rounded up
    rates = term.figure("ma2017-fig4b", release=release).answer
    people = term.sql("select ssr, ntr from metrics.person_leak join study.leak using (leak_id) where points = 3")
    for rate in ("ssr", "ntr"):
        curve = rates.filter(pl.col("series").str.starts_with(rate))
        for x, share in curve.select("x", "estimate").iter_rows():
            assert share == pytest.approx((people[rate] <= x + 1e-9).mean())
    coming = term.figure("ma2017-fig1", release=release).answer
    stored = term.sql("select sum(arrivals), sum(departures) from metrics.coming where weekday <= 5").row(0)
    assert tuple(coming.filter(series=way)["estimate"].sum() for way in ("come", "leave")) == stored


def test_loss_and_risk_are_those_of_the_tradeoff_and_its_curve(lab: tl.Lab, release: str) -> None:
    points, fits = lab.table("metrics.tradeoff"), lab.table("metrics.tradeoff_fit")
    zones = dict(lab.sql("select distinct zones_id, zones from study.od").iter_rows())
    few, many = sorted(zones, key=lambda zones_id: zones[zones_id])
    for panel, zones_id, flows in (("a", few, "raw"), ("b", many, "raw"), ("d", many, "constrained")):
        drawn = lab.figure(f"yin2015-fig5{panel}", release=release).answer
        stored = points.filter(zones_id=zones_id, flows=flows).drop_nulls("loss")
        expected = {(f"{m}, {zones[zones_id]} zones", x, y) for m, x, y in stored["measure", "size_m", "loss"].rows()}
        assert set(drawn["series", "x", "estimate"].rows()) == expected
    panels = zip("abcd", ("top:2", "top:3", "points:4", "points:8"), strict=True)
    kinds = [("raw", "all"), ("raw", "pareto"), ("raw", "backbone"), ("raw", "hotspot"), ("constrained", "all")]
    curves = 0
    for (panel, knowledge), (number, (flows, measure)) in itertools.product(panels, enumerate(kinds, start=6)):
        answer = lab.figure(f"yin2015-fig{number}{panel}", release=release).answer
        which = {"flows": flows, "measure": measure, "knowledge": knowledge}
        for zones_id, size in zones.items():
            stored = points.filter(pl.col("step") > 0, zones_id=zones_id, **which).drop_nulls("loss")
            assert sorted(answer.filter(series=f"{size} zones")["x", "estimate"].rows()) == sorted(
                stored["risk", "loss"].rows()
            )
            fit = fits.filter(zones_id=zones_id, **which).row(0, named=True)
            curve = answer.filter(pl.col("series").str.starts_with(f"{size} zones, fitted"))
            assert len(curve) == (0 if fit["b"] is None else 41)
            if len(curve):
                assert np.allclose(curve["estimate"], fit["c"] - fit["a"] * curve["x"] ** fit["b"])
                curves += 1
    assert curves


def test_what_was_measured_is_points_and_only_what_was_fitted_a_line(lab: tl.Lab, release: str) -> None:
    """Points of equal risk and different loss, joined, would draw a zigzag that means nothing."""
    for name in ("yin2015-fig6a", "yin2015-fig6c", "yin2015-fig10c"):
        drawn = lab.figure(name, release=release)
        series = drawn.answer["series"].unique(maintain_order=True).to_list()
        fitted = [each for each in series if "fitted" in each]
        paper = ET.fromstring(drawn.svg())
        lines = [
            path for path in paper.iter(f"{SVG}path") if path.get("stroke-width") == "2" and "L" in str(path.get("d"))
        ]
        assert len(lines) == len(fitted)
        points = drawn.answer.filter(~pl.col("series").is_in(fitted))
        dots = list(paper.iter(f"{SVG}circle"))
        assert len(dots) == len(points) + points["series"].n_unique()  # and one each in the legend
        assert {line.get("stroke") for line in lines} <= {dot.get("fill") for dot in dots}


@examples(few=67, many=400)
@hypothesis.given(
    values=st.sets(st.integers(0, 10_000_000), min_size=1, max_size=12).map(
        lambda some: [n / 1000 for n in sorted(some)]
    ),
    log_x=st.booleans(),
    share_x=st.booleans(),
)
def test_numbers_along_an_axis_never_touch_and_two_are_there_at_least(
    values: list[float], log_x: bool, share_x: bool
) -> None:
    if share_x:
        values = sorted({value / 1e4 for value in values})
    figure = Figure("f", "t", "x", "y", "select", "n", kind="lines", log_x=log_x, share_x=share_x)
    ticks, ends = along(values, figure)
    assert ends[0] <= values[0] <= values[-1] <= ends[1]
    assert len({said for _, said in ticks}) == len(ticks)
    if not log_x or values[0] == 0 or values[-1] / values[0] > 5:
        assert len(ticks) >= min(2, len(values))
    places = [(554 * part_of(ends, place, log=log_x), 7 * len(said) / 2) for place, said in ticks]
    assert all(a + half <= b - other for (a, half), (b, other) in itertools.pairwise(places))


def test_a_logarithmic_axis_may_begin_at_zero() -> None:
    figure = Figure("f", "t", "x", "y", "select", "n", kind="lines", log_x=True)
    values = [0.0, 100.0, 250.0, 500.0, 1000.0, 2000.0, 5000.0, 10000.0, 20000.0]
    ticks, ends = along(values, figure)
    assert [said for _, said in ticks] == ["0", "100", "1,000", "10,000"]
    places = [part_of(ends, value, log=True) for value in values]
    assert (places[0], places[-1]) == (0, 1)
    assert all(b - a > 0.08 for a, b in itertools.pairwise(places))


def test_more_than_everything_stays_on_the_paper(lab: tl.Lab, release: str) -> None:
    """Flows can change by up to twice their sum."""
    drawn = lab.figure("yin2015-fig5d", release=release)
    high = Drawn(
        drawn.figure, drawn.release_id, drawn.answer.with_columns(estimate=pl.col("estimate") + 1), drawn.people
    )
    heights = [float(y) for y in re.findall(r'<circle cx="[^"]*" cy="([^"]*)"', high.svg())]
    assert heights
    assert min(heights) >= 44


def test_the_distribution_of_crowds_adds_up_to_everybody(lab: tl.Lab, release: str) -> None:
    answer = lab.figure("song2014-fig4", release=release).answer
    sums = answer.group_by("series").agg(pl.col("estimate").sum())["estimate"]
    assert np.allclose(sums, 1)
    assert answer["series"].unique(maintain_order=True).to_list() == ["before", "windows of 6h", "windows of 12h"]


def test_a_factor_varies_and_all_else_stays(lab: tl.Lab) -> None:
    assert set(lab.figure("xu2017-fig10a").answer["x"]) == {60, 120}
    assert set(lab.figure("xu2017-fig11a").answer["x"]) == {20, 40}
    assert set(lab.figure("xu2017-fig9b").answer["x"]) == {"square 2000", "square 4000"}
    assert sorted(set(lab.figure("yin2015-fig4a").answer["x"])) == [0, 1200, 2800]


def test_bars_and_marks_stand_where_their_values_are(lab: tl.Lab, release: str) -> None:
    drawn = lab.figure("xu2017-fig2", release=release)
    svg = drawn.svg()
    floor = 400 - 56
    heights = [
        float(h) / (floor - 44) for h in re.findall(r'<rect x="[^"]*" width="[^"]*" y="[^"]*" height="([^"]*)"', svg)
    ]
    assert np.allclose(heights, drawn.answer["estimate"], atol=0.002)
    marks = [(floor - float(y) - 6) / (floor - 44) for y in re.findall(r'd="M[\d.]+ ([\d.]+)l6 6', svg)][:3]
    assert np.allclose(marks, [0.36, 0.83, 0.76], atol=0.002)


def test_svg_and_png_are_written_whole_and_alike(lab: tl.Lab, release: str, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg", "a.png", "b.png"):
        lab.figure("xu2017-fig8a", tmp_path / name, release=release)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    picture = Image.open(io.BytesIO((tmp_path / "a.png").read_bytes())).convert("RGB")
    assert picture.width == 1280
    colours = {colour for _, colour in picture.getcolors(1 << 24) or []}
    assert {(0x00, 0x72, 0xB2), (0xD5, 0x5E, 0x00), (255, 255, 255)} <= colours


def test_a_png_has_its_letters_from_the_package_and_from_nowhere_else() -> None:
    """No name of a family, present on the machine or not, generic or not, changes a byte of the picture."""
    sheet = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="40" font-family="{}">{}</svg>'
    words = '<text x="2" y="30" font-size="24">K ≤ k, R² = ½, café, {}</text>'
    families = (
        "Source Sans Pro",
        "DejaVu Sans, sans-serif",
        "Liberation Sans, Arial, sans-serif",
        "serif",
        "monospace",
    )
    pictures = {png(sheet.format(family, words.format("Łódź"))) for family in families}
    assert len(pictures) == 1
    assert png(sheet.format("sans-serif", "")) not in pictures
    assert png(sheet.format("sans-serif", words.format("Łódz"))) not in pictures


def test_the_letters_of_a_png_are_free_to_pass_on() -> None:
    assert sorted(file.name for file in FONTS.iterdir()) == [
        "OFL.txt",
        "SourceSansPro-Bold.otf",
        "SourceSansPro-Regular.otf",
    ]
    assert "SIL OPEN FONT LICENSE Version 1.1" in (FONTS / "OFL.txt").read_text(encoding="utf-8")
    assert sum(file.stat().st_size for file in FONTS.iterdir()) < 500_000


def test_mistakes_are_told(lab: tl.Lab, release: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="no figure named 'xu2017-fig99'; there are: dsilva2024-fig2"):
        lab.figure("xu2017-fig99")
    with pytest.raises(FigureError, match=f"can be drawn for 10 releases: say which; there are: .*{release}"):
        lab.figure("xu2017-fig8a")
    with pytest.raises(LabError, match=r"'a\.pdf' is neither \.svg nor \.png"):
        lab.figure("xu2017-fig2", tmp_path / "a.pdf", release=release)
    other = lab.sql("select release_id from counts.release where index_name like 'stations%' limit 1").item()
    with pytest.raises(
        FigureError, match=f"xu2017-fig2: release {other} lacks what it is drawn from; it needs `trajlab fea"
    ):
        lab.figure("xu2017-fig2", release=other)
    with pytest.raises(FigureError, match="no release of this lab has what it is drawn from"):
        tl.open(":memory:").figure("xu2017-fig2")
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(FigureError, match=r"pip install 'trajlab\[png\]', or write \.svg"):
        lab.figure("xu2017-fig2", tmp_path / "a.png", release=release)
    assert not list(tmp_path.iterdir())


def test_the_command_lists_draws_and_prints(lab_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["figure", "--list"]) == 0
    assert "xu2017-fig8a" in capsys.readouterr().out
    out = tmp_path / "fig2.svg"
    assert main(["figure", str(lab_file), "xu2017-fig2", "-o", str(out)]) == 0
    assert "published, operator data" in capsys.readouterr().out
    assert out.read_text(encoding="utf-8").startswith("<?xml")
    assert main(["figure"]) == 2
    assert "name a lab and a figure, or ask for --list" in capsys.readouterr().err
