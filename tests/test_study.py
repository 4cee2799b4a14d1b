"""A study of factors: one release and one run a setting, the scores as a table, the table as a drawing."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from PIL import Image
from polars.testing import assert_frame_equal

import trajlab as tl
from trajlab.errors import AttackError, LabError, ReleaseError, SlotError, UnknownNameError
from trajlab.figures import draw
from trajlab.study.run import Study, study

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def lab() -> tl.Lab:
    """Thirty people over two days, shared between tests: releases and runs are made once anyway."""
    lab = tl.open(":memory:")
    lab.ingest(tl.simulate(people=30, days=2, seed=3), tz="Europe/Lisbon")
    return lab


@pytest.fixture(scope="module")
def coarser(lab: tl.Lab) -> Study:
    return study(lab, index=["square:1000", "square:4000"], slot="3h")


def drawn(found: Study) -> ElementTree.Element:
    """The chart, read as XML: a file that is no XML is no drawing."""
    return ElementTree.fromstring(found.chart())


def bars(found: Study) -> list[str]:
    marked = drawn(found).iter(f"{SVG}rect")
    return [str(bar.findtext(f"{SVG}title")) for bar in marked if "group" in str(bar.get("class"))]


def test_a_row_is_a_score_of_one_setting_as_the_lab_keeps_it(lab: tl.Lab, coarser: Study) -> None:
    table = coarser.table
    assert coarser.factors == ("index",)
    assert table.columns[:5] == ["index", "slot_minutes", "people", "recipe", "cells"]
    assert not table.select("index", "attack", "of", "metric", "level", "pairing").is_duplicated().any()
    assert table["index"].unique(maintain_order=True).to_list() == ["square:1000", "square:4000"]
    kept = lab.sql(
        "select run_id, of, metric, level, pairing, estimate, low, high, shuffle, stay "
        "from report.every_metric where attack = 'xu2017' and slot_minutes = 180"
    )
    assert_frame_equal(table.select(kept.columns), kept, check_row_order=False)
    cells = dict(lab.sql("select release_id, cells from report.summary").iter_rows())
    assert all(cells[release] == n for release, n in table.select("release_id", "cells").iter_rows())
    assert table["cells"].n_unique() == 2


def test_the_same_study_again_makes_nothing_new(lab: tl.Lab, coarser: Study) -> None:
    before = lab.table("study.run")
    assert_frame_equal(study(lab, index=["square:1000", "square:4000"], slot=3 * 3600).table, coarser.table)
    assert_frame_equal(lab.table("study.run"), before)


def test_every_combination_of_factors_and_attacks_is_there(lab: tl.Lab) -> None:
    found = study(lab, attack=["xu2017", "stay"], index="square:4000", slot=["3h", "6h"], people=[10, None], seed=1)
    assert found.factors == ("slot_minutes", "people")
    assert found.table.select("slot_minutes", "people", "attack").unique().sort(pl.all()).rows() == [
        (minutes, people, attack) for minutes in (180.0, 360.0) for people in (10, 30) for attack in ("stay", "xu2017")
    ]
    assert found.table["attack"].unique(maintain_order=True).to_list() == ["xu2017", "stay"]
    # Two factors of two settings each, and two attacks: four rows of two charts, two settings along the axis of each.
    assert len(bars(found)) == 4 * 2 * (3 + 5)


def test_protection_is_a_factor_and_stands_beside_the_counts_as_they_are(lab: tl.Lab) -> None:
    found = study(lab, index="square:4000", slot="3h", protect=[None, "suppress:2", "suppress:5"])
    assert found.factors == ("recipe",)
    assert "What protection changes" in found.chart()
    side = lab.table("report.protection").filter(attack="xu2017", protection="suppress").sort("strength")
    assert side["strength"].to_list() == [2.0, 5.0]
    plain = found.table.filter(recipe="", metric="accuracy", level=3, pairing="optimal")["estimate"].item()
    assert side["unprotected"].to_list() == [plain, plain]
    shown = found.table.filter(recipe="suppress:5", metric="accuracy", level=3, pairing="optimal")["estimate"].item()
    assert side["estimate"][1] == shown
    drawn = draw(lab, "protection-suppress", release=side["unprotected_id"][0]).answer
    assert drawn.filter(series="xu2017")["x"].to_list() == [2, 5]


def test_settings_of_the_release_are_the_same_throughout(lab: tl.Lab) -> None:
    found = study(lab, index=["square:2000", "square:4000"], slot="6h", fill="linear", start="2024-03-04")
    fills = lab.sql("select release_id, fill from counts.release")
    assert set(found.table.join(fills, on="release_id")["fill"]) == {"linear"}


def test_the_drawing_shows_every_stage_and_set_with_its_interval_and_yardsticks(coarser: Study) -> None:
    told = bars(coarser)
    assert len(told) == 2 * (3 + 5)
    row = coarser.table.filter(index="square:4000", metric="accuracy", level=3, pairing="optimal", of="recovered").row(
        0, named=True
    )
    share = tl.report.words.share
    expected = f"everything (#3): {share(row['estimate'])} ({share(row['low'])} to {share(row['high'])})"
    (accuracy,) = [text for text in told if text.startswith("Squares of 4\N{NO-BREAK SPACE}km\n" + expected)]
    assert f"slots joined at random: {share(row['shuffle'])}" in accuracy
    assert f"nobody moves: {share(row['stay'])}" in accuracy
    shown = " ".join(text.text or "" for text in drawn(coarser).iter(f"{SVG}text"))
    assert "slots of 3 hours and 30 people" in shown
    assert "optimal pairing" in shown


def test_a_setting_with_greedy_scores_only_is_compared_by_them(coarser: Study) -> None:
    one = coarser.table.filter(~((pl.col("index") == "square:4000") & (pl.col("pairing") == "optimal")))
    assert "greedy pairing" in Study(coarser.factors, one).chart()


def test_a_drawing_needs_nothing_from_outside(coarser: Study, tmp_path: Path) -> None:
    coarser.save(tmp_path / "study.svg")
    assert (tmp_path / "study.svg").read_text() == coarser.chart()
    outside = ("://", "<script", "@import", "url(")
    for name in ("study.svg", "study.html"):
        text = coarser.save(tmp_path / name).read_text().replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert not [part for part in outside if part in text]
    assert "Every score of the study" in (tmp_path / "study.html").read_text()


def many(one: Study, names: list[str]) -> Study:
    """The scores of one kind of cells under several names."""
    scores = one.table.filter(index="square:4000")
    return Study(("index",), pl.concat([scores.with_columns(pl.lit(name).alias("index")) for name in names]))


SEVEN = ["square:250", "square:1000", "square:12500", "h3:8", "h3:9", "stations:2024:800", "places:2"]


@pytest.mark.parametrize("names", [SEVEN[:2], SEVEN, [*SEVEN, *(f"square:{n}000" for n in range(2, 12))]])
def test_names_below_the_bars_never_touch_and_no_word_is_cut(coarser: Study, names: list[str]) -> None:
    """Letters of a wide font at the size of a chart are under eight units wide."""
    of = many(coarser, names)
    lines: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for place, group in enumerate(drawn(of).iter(f"{SVG}g")):
        for text in group.findall(f"{SVG}text"):
            if text.get("class") == "group-name" and text.get("text-anchor") == "middle":
                half = 8 * len(text.text or "") / 2
                middle = float(str(text.get("x")))
                lines.setdefault((str(place), str(text.get("y"))), []).append((middle - half, middle + half))
    for row in lines.values():
        assert all(right <= left for (_, right), (left, _) in itertools.pairwise(sorted(row)))
    shown = {word for text in drawn(of).iter(f"{SVG}text") for word in str(text.text).split(" ")}
    assert {word for name in names for word in tl.report.words.cells(name).split(" ")} <= shown
    turned = [text for text in drawn(of).iter(f"{SVG}text") if "rotate" in str(text.get("transform"))]
    assert bool(turned) == (len(names) > 7)


def test_a_saved_drawing_has_its_colours_without_a_browser(coarser: Study, tmp_path: Path) -> None:
    text = coarser.save(tmp_path / "study.svg").read_text(encoding="utf-8")
    assert "var(" not in text
    assert "fill: #0b63b0" in text
    picture = Image.open(coarser.save(tmp_path / "study.png")).convert("RGB")
    assert picture.width == 2000
    colours = [colour for _, colour in sorted(picture.getcolors(1 << 24) or [], reverse=True)]
    assert colours[0] == (255, 255, 255)
    assert (0, 0, 0) not in colours[:20]
    assert any(blue > red + 80 for red, _, blue in colours[:10])


@pytest.mark.parametrize("name", ["study", "study.pdf"])
def test_other_formats_are_refused(coarser: Study, tmp_path: Path, name: str) -> None:
    told = f"'{name}' is no .svg, .png or .html: name the file study.svg, study.png or study.html"
    with pytest.raises(LabError, match=re.escape(told)):
        coarser.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("asked", "error", "told"),
    [
        ({}, ReleaseError, "varies nothing"),
        ({"attack": ["xu2017", "stay"]}, ReleaseError, "varies nothing"),
        ({"index": ["square:500"]}, ReleaseError, "varies nothing"),
        ({"slot": ["1h", "60min"]}, ReleaseError, "varies nothing"),
        ({"index": []}, ReleaseError, r"index=\[\] leaves nothing"),
        ({"attack": [], "people": [5, 10]}, ReleaseError, r"attack=\[\] leaves nothing"),
        ({"people": [10, 1000]}, ReleaseError, "people=1,000 were asked for, and the lab has records of 30"),
        ({"people": [10, 0]}, ReleaseError, "people must be at least 1"),
        ({"people": [10, 2.5]}, ReleaseError, "people must be a whole number"),
        ({"people": [10, 20], "attack": "guess"}, UnknownNameError, "no attack named 'guess'"),
        ({"people": [10, 20], "fil": "static"}, UnknownNameError, "no setting of a release named 'fil'"),
        ({"people": [10, 20], "fill": "magic"}, UnknownNameError, "no fill named 'magic'"),
        ({"slot": ["30min", "7min"]}, SlotError, "does not divide a day"),
        ({"protect": ["suppress:2", "supress:5"]}, UnknownNameError, "no protection named 'supress'"),
        ({"protect": ["suppress:2", "suppress:2"]}, ReleaseError, "varies nothing"),
        ({"people": [10, 20], "index": "cubes:3"}, UnknownNameError, "no spatial index named 'cubes'"),
        ({"index": ["square:500", "cubes:3"]}, UnknownNameError, "no spatial index named 'cubes'"),
        ({"people": [10, 20], "pairing": "none"}, UnknownNameError, "no pairing named 'none'; there are: "),
    ],
)
def test_a_study_that_makes_no_sense_leaves_nothing(
    asked: dict[str, object], error: type[Exception], told: str
) -> None:
    lab = tl.open(":memory:")
    lab.ingest(tl.simulate(people=30, days=2, seed=3), tz="Europe/Lisbon")
    with pytest.raises(error, match=told):
        study(lab, **asked)  # type: ignore[arg-type]
    assert not len(lab.table("counts.release"))


def test_people_who_are_not_covered_are_not_there_to_be_asked_for() -> None:
    frame = tl.simulate(people=30, days=2, seed=3)
    seldom = frame["uid"].unique().sort()[:10].to_list()
    lab = tl.open(":memory:")
    lab.ingest(frame.filter(~pl.col("uid").is_in(seldom) | pl.col("uid").is_first_distinct()), tz="Europe/Lisbon")
    with pytest.raises(ReleaseError, match="people=25 were asked for, and only 20 are covered"):
        study(lab, people=[10, 25], coverage=0.9, slot="3h", index="square:4000")
    assert not len(lab.table("study.run"))


def test_a_release_that_cannot_be_attacked_is_refused_before_any_attack(lab: tl.Lab) -> None:
    runs = len(lab.table("study.run"))
    with pytest.raises(AttackError, match=r"xu2017 on square:3000, 180 min, everybody: .*at least two of them"):
        study(lab, index=["square:3000", "square:4000"], slot="3h", days=1)
    assert len(lab.table("study.run")) == runs


def test_the_command_line_draws_a_study(tmp_path, capsys):
    from tests.conftest import tiny_lab
    from trajlab.cli import main

    file = str(tmp_path / "lab.duckdb")
    tiny_lab(file).close()
    drawn = tmp_path / "study.svg"
    assert main(["study", file, "--index", "square:1000", "square:2000", "--slot", "3h", "-o", str(drawn)]) == 0
    assert "square:2000" in capsys.readouterr().out
    assert drawn.read_text(encoding="utf-8").startswith("<svg")
    assert main(["study", file, "--slot", "3h", "6h", "-o", str(tmp_path / "study.pdf")]) == 2
    assert "is no .svg, .png or .html" in capsys.readouterr().err
