"""The gallery: page, scripts and pictures belong together, and the studies print what the page shows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from docs import gallery

DATA = Path(os.environ.get("TRAJLAB_DATA", "no data"))
STUDENTS = [name for name in gallery.ORDER if gallery.needs_data(name)]


def test_every_study_has_a_script_a_picture_and_its_place_on_the_page():
    scripts = {path.stem for path in gallery.FOLDER.glob("*.py") if not path.stem.startswith("_")}
    pictures = {path.stem for path in gallery.FOLDER.glob("*.png")}
    assert scripts == pictures == set(gallery.ORDER)
    assert len(gallery.ORDER) == 6
    assert len(STUDENTS) == 3
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in gallery.FOLDER.glob("*.png"))


def test_the_page_is_made_of_the_scripts():
    shown = {name: gallery.shown(name) for name in gallery.ORDER}
    assert all(shown.values())
    assert gallery.PAGE.read_text(encoding="utf-8") == gallery.page(shown), "run `make gallery` and read what changed"


@pytest.mark.parametrize("name", ["city_study", "campus_schedules"])
def test_a_study_of_simulated_people_runs_and_prints_what_the_page_shows(name, tmp_path):
    assert gallery.run(name, tmp_path) == gallery.shown(name)
    assert (tmp_path / f"{name}.png").stat().st_size > 10_000


@pytest.mark.parametrize("name", STUDENTS)
def test_a_study_of_students_says_which_data_it_needs(name, tmp_path, monkeypatch):
    monkeypatch.delenv("TRAJLAB_DATA", raising=False)
    with pytest.raises(RuntimeError, match=f"{name}: TRAJLAB_DATA names no folder with StudentLife"):
        gallery.run(name, tmp_path)


@pytest.mark.needs_data
@pytest.mark.skipif(not DATA.is_dir(), reason="TRAJLAB_DATA names no folder with StudentLife")
@pytest.mark.parametrize("name", STUDENTS)
def test_a_study_of_students_prints_what_the_page_shows(name, tmp_path):
    assert gallery.run(name, tmp_path) == gallery.shown(name)
