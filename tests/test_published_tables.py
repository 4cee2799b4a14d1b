"""Tables that somebody else published, protected in a way that they state."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import trajlab as tl
from trajlab.errors import ReleaseError

XY = [[0.0, 0.0], [1000.0, 0.0], [2000.0, 0.0]]


def listed(release):
    return {(slot, cell): people for slot, cell, people in release.counts.iter_rows()}


def test_blank_counts_are_hidden_and_zeros_are_nobody():
    release = tl.Release.from_matrix([[7, None, 0], [None, 9, 6]], XY, 24, protect="suppress:5", people=20)
    assert listed(release) == {(0, 0): 7, (0, 2): 0, (1, 1): 9, (1, 2): 6}
    assert release.recipe == ("suppress:5",)
    assert release.total == (20, 20)
    known = release.known()
    assert known.low.tolist() == [[7, 0, 0], [0, 9, 6]]
    assert known.high.tolist() == [[7, 4, 0], [4, 9, 6]]


def test_zeros_are_hidden_where_nothing_is_blank():
    release = tl.Release.from_matrix([[7, 0, 8], [0, 9, 6]], XY, 24, protect="suppress:5")
    assert release.total is None
    assert release.known().high.tolist() == [[7, 4, 8], [4, 9, 6]]


@pytest.mark.parametrize("mark", ["", "<5", "< 5", "*", "-", "..", "n/a", "NA", "x"])
def test_marks_of_hidden_counts_are_read(mark, tmp_path):
    file = tmp_path / "counts.csv"
    file.write_text(f"slot,a,b,c\n0,7,{mark},8\n1,6,9,{mark}\n", encoding="utf-8")
    release = tl.Release.from_matrix(file, XY, 24, protect="suppress:5")
    assert listed(release) == {(0, 0): 7, (0, 2): 8, (1, 0): 6, (1, 1): 9}


def test_a_long_table_hides_what_it_does_not_list():
    rows = pl.DataFrame({"slot": [0, 0, 1], "cell": ["a", "b", "c"], "people": ["7", "<5", "0"]})
    xy = pl.DataFrame({"cell": ["a", "b", "c"], "x": [0.0, 1000.0, 2000.0], "y": [0.0, 0.0, 500.0]})
    release = tl.Release.from_matrix(rows, xy, 24, protect=["suppress:5"], unit="m")
    assert listed(release) == {(0, 0): 7, (1, 2): 0}


def test_rounded_and_noisy_tables_say_so():
    rounded = tl.Release.from_matrix([[10, 5, 0]], XY, 24, protect="round:5", people=(12, 18))
    assert rounded.known().low.tolist() == [[8, 3, 0]]
    assert rounded.known().high.tolist() == [[12, 7, 2]]
    assert rounded.total == (12, 18)
    noisy = tl.Release.from_matrix([[10, -3, 0]], XY, 24, protect="noise:geometric:eps=0.5:unit=person-slot")
    assert listed(noisy) == {(0, 0): 10, (0, 1): -3, (0, 2): 0}
    assert noisy.known().low.tolist() == [[10, 0, 0]]
    assert noisy.known().price == 0.5


def test_a_table_is_another_when_more_is_known_of_it():
    plain, known = (tl.Release.from_matrix([[7, 0, 8]], XY, 24, **more) for more in ({}, {"people": 15}))
    assert plain.id != known.id
    assert plain.recipe == ()


def test_a_lab_keeps_the_recipe_of_a_table_made_elsewhere():
    counts = np.full((48, 3), 6)
    counts[:, 2] = 0
    release = tl.Release.from_matrix(counts, XY, 24, protect=["suppress:5", "round:2"], people=(12, 16))
    with tl.open(quiet=True) as lab:
        lab.attack(release, "stay")
        kept = lab.published(release.id)
    assert kept.recipe == ("suppress:5", "round:2")
    assert kept.total == (12, 16)


@pytest.mark.parametrize(
    ("counts", "more", "message"),
    [
        ([[7, None, 8]], {}, "counts must be whole numbers, not object"),
        ([[7, -1, 8]], {"protect": "suppress:5"}, "1 counts are negative, the first in slot 0, cell 1"),
        ([[7, 1, 8]], {"people": 0}, "people must be a whole number, 1 or more, not 0"),
        ([[7, 1, 8]], {"people": (5, 3)}, "people=(5, 3): at least comes before at most"),
        ([[7, 1, 8]], {"people": (5, 3, 2)}, "people is how many the table is about, or (at least, at most), not (5, 3, 2)"),
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_so_is_refused(counts, more, message):
    with pytest.raises(ReleaseError) as refused:
        tl.Release.from_matrix(counts, XY, 24, **more)
    assert str(refused.value) == message


def test_words_that_are_no_counts_and_no_marks_are_refused(tmp_path):
    file = tmp_path / "counts.csv"
    file.write_text("slot,a,b,c\n0,7,many,8\n", encoding="utf-8")
    with pytest.raises(ReleaseError, match="some counts are neither whole numbers nor marked as hidden"):
        tl.Release.from_matrix(file, XY, 24, protect="suppress:5")
