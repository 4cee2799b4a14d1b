"""Figures of the papers: every one can be drawn, from the lab's own numbers, beside the published ones."""

from __future__ import annotations

import io
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

import trajlab as tl
from trajlab import figures
from trajlab.cli import main
from trajlab.errors import FigureError, LabError, UnknownNameError
from trajlab.figures.figure import COLUMNS
from trajlab.query import catalogue


@pytest.fixture(scope="module")
def lab_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lab that has what every figure takes."""
    path = tmp_path_factory.mktemp("figures") / "lab.duckdb"
    with tl.open(path) as lab:
        lab.ingest(tl.simulate(people=40, days=2, seed=1), tz="Europe/Lisbon")
        lab.geography(stations=tl.simulate_stations(people=40, days=2, seed=1))
        release = lab.release("square:2000", "1h")
        lab.feasibility(release)
        lab.attack(release, "dsilva2024")
        lab.study(attack="xu2017", index=["square:2000", "square:4000"], slot=["1h", "2h"], people=[None, 20])
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
    assert all(re.fullmatch(r"(xu|dsilva|yin|song|ma)20\d\d-fig\d+[a-z]?", name) for name in NAMES)
    papers = {file.stem for file in Path(figures.__path__[0]).glob("*20*.py")}
    assert papers == {name.split("-")[0] for name in NAMES} | {p for p in papers if "_" in p}


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_is_drawn_with_all_that_it_marks(lab: tl.Lab, release: str, name: str) -> None:
    across = figures.known()[name].across
    drawn = lab.figure(name, release=None if across else release)
    assert tuple(drawn.answer.columns) == COLUMNS
    svg = drawn.svg()
    root = ET.fromstring(svg.encode())
    told = "".join(root.itertext())
    assert drawn.figure.title in told
    for series in drawn.answer["series"].unique():
        assert series in told
    diamonds = svg.count("l6 6l-6 6l-6 -6z")
    legend = len({mark.told for mark in drawn.figure.published})
    shown = [m for m in drawn.figure.published if not isinstance(m.x, str) or m.x in drawn.answer["x"].to_list()]
    assert diamonds == len(shown) + legend
    assert "var(" not in svg
    assert "<style" not in svg
    assert "nan" not in re.sub(r"<desc>.*?</desc>|<text.*?</text>|<title>.*?</title>", "", svg, flags=re.DOTALL)


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_reads_only_tables_that_are_described(name: str) -> None:
    sql = figures.known()[name].sql
    read = set(re.findall(r"\b(?:records|grid|slots|counts|attacks|metrics|study|report)\.[a-z_]+", sql))
    assert read
    assert read <= set(catalogue())
    assert not {table for table in read if table.split(".")[0] in ("records", "slots", "attacks")}


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


def test_mistakes_are_told(lab: tl.Lab, release: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="no figure named 'xu2017-fig99'; there are: dsilva2024-fig2"):
        lab.figure("xu2017-fig99")
    with pytest.raises(FigureError, match=f"can be drawn for 8 releases: say which; there are: .*{release}"):
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
