"""Rounded counts, by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from trajlab import protect
from trajlab.errors import ProtectionError
from trajlab.protect import Table
from trajlab.release.known import Known

TABLE = Table(1, 24, pl.DataFrame({"cell": [], "parent_cell": []}))


def rounded(text, people, *, noisy=False):
    """What is told of a slot with so many people in cells 0, 1, 2, ...: {cell: people}."""
    counts = pl.DataFrame({"slot": [0] * len(people), "cell": range(len(people)), "people": people})
    counts = counts.with_columns(contributors=pl.lit(None, pl.Int64) if noisy else pl.col("people"))
    made = protect.load(text).apply(counts, TABLE, np.random.default_rng(0))
    return dict(made.select("cell", "people").iter_rows())


def test_a_count_is_told_as_the_nearest_multiple_and_halfway_as_the_larger():
    assert rounded("round:5", [3, 7, 8, 10]) == {0: 5, 1: 5, 2: 10, 3: 10}
    assert rounded("round:10", [5, 14, 15]) == {0: 10, 1: 10, 2: 20}


def test_what_is_told_as_nobody_is_not_listed_unless_noise_lists_every_cell():
    assert rounded("round:5", [2, 3]) == {1: 5}
    assert rounded("round:5", [2, -4, -2], noisy=True) == {0: 0, 1: -5, 2: 0}


def test_controlled_counts_add_up_to_the_rounded_total():
    assert rounded("round:5:controlled", [7, 7, 7]) == {0: 10, 1: 5, 2: 5}
    assert rounded("round:5:controlled", [1, 1, 1, 1, 1]) == {0: 5}
    assert rounded("round:10:controlled", [9, 18, 3]) == {0: 10, 1: 20}
    assert rounded("round:10:controlled", [3, 13, 4]) == {1: 10, 2: 10}


@examples(few=33, many=200)
@given(people=st.lists(st.integers(1, 40), min_size=1, max_size=8), base=st.integers(2, 12))
def test_controlled_counts_are_neighbours_of_the_true_ones(people, base):
    told = rounded(f"round:{base}:controlled", people)
    assert sum(told.values()) == (2 * sum(people) + base) // (2 * base) * base
    for cell, true in enumerate(people):
        assert told.get(cell, 0) in {true // base * base, -(-true // base) * base}


@pytest.mark.parametrize("base", [2, 5, 10])
def test_what_is_known_of_a_rounded_count_is_exactly_what_rounds_to_it(base):
    for told in range(0, 40, base):
        true = [count for count in range(80) if rounded(f"round:{base}", [count]).get(0, 0) == told]
        known = protect.load(f"round:{base}").undo(
            Known(np.array([[told]]), np.array([[told]])), np.array([[told > 0]]), 24
        )
        assert (known.low.item(), known.high.item()) == (min(true), max(true))


@pytest.mark.parametrize("text", ["round:1", "round:0", "round:five", "round:2.5"])
def test_a_base_that_rounds_nothing_is_refused(text):
    with pytest.raises(ProtectionError, match="round needs a whole number to round to, 2 or more, not"):
        protect.load(text)


def test_a_word_that_means_nothing_is_refused():
    with pytest.raises(ProtectionError, match="round:5:random is not understood: write round:5:controlled"):
        protect.load("round:5:random")
