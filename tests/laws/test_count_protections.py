"""The laws of `CountProtection`, on every protection of counts there is: a file in trajlab/protect/ is checked by being there."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import polars as pl
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from trajlab import protect
from trajlab.protect import Table
from trajlab.protect._secondary import hidden
from trajlab.release.known import Known

# A protection that has settings adds a line: texts that differ in what they do.
EXAMPLES = {
    "noise": [
        "noise:geometric:eps=1:unit=person-day",
        "noise:laplace:eps=0.5:unit=person-slot",
        "noise:geometric:eps=2:unit=person:clip=2",
    ],
    "round": ["round:5", "round:2", "round:4:controlled", "round:3:controlled"],
    "suppress": ["suppress:2", "suppress:4", "suppress:3:secondary", "suppress:5:secondary"],
}
TEXTS = [text for name in protect.names("counts") for text in EXAMPLES.get(name, [name])]
SLOTS, CELLS = 4, 6

some = examples(few=10, many=60)
every_protection = pytest.mark.parametrize("text", TEXTS)


def table_of(parents):
    cells = pl.DataFrame({"cell": range(len(parents)), "parent_cell": parents}, schema_overrides={"cell": pl.UInt64})
    return Table(SLOTS, SLOTS // 2, cells.cast({"parent_cell": pl.UInt64}))


def counts_of(dense):
    slot, cell = np.nonzero(dense)
    people = np.asarray(dense)[slot, cell]
    columns = {"slot": slot.astype(np.int32), "cell": cell.astype(np.uint64), "people": people.astype(np.int64)}
    return pl.DataFrame(columns).with_columns(contributors=pl.col("people"))


@st.composite
def tables(draw):
    """True counts, slots × cells, and the larger cells that the cells are in; their own where there are none."""
    size = st.lists(st.integers(0, 9), min_size=CELLS, max_size=CELLS)
    dense = np.array(draw(st.lists(size, min_size=SLOTS, max_size=SLOTS)))
    parents = draw(st.sampled_from([[0, 1, 2, 3, 4, 5], [7, 7, 7, 8, 8, 8], [7, 7, 8, 8, 9, 9], [7, 7, 7, 7, 8, 9]]))
    return dense, parents


def applied(text, dense, parents, seed=0):
    return protect.load(text).apply(counts_of(dense), table_of(parents), np.random.default_rng(seed))


def dense_of(counts):
    values, listed = np.zeros((SLOTS, CELLS), dtype=np.int64), np.zeros((SLOTS, CELLS), dtype=bool)
    where = counts["slot"].to_numpy(), counts["cell"].to_numpy()
    values[where], listed[where] = counts["people"].to_numpy(), True
    return values, listed


@every_protection
@some
@given(table=tables(), seed=st.integers(0, 2**32 - 1))
def test_same_counts_same_generator_same_result_whatever_the_order_of_rows(text, table, seed):
    dense, parents = table
    once = applied(text, dense, parents, seed)
    shuffled = counts_of(dense).sample(fraction=1, shuffle=True, seed=seed)
    assert_frame_equal(once, protect.load(text).apply(shuffled, table_of(parents), np.random.default_rng(seed)))
    assert not once.select("slot", "cell").is_duplicated().any()


@every_protection
@some
@given(table=tables())
def test_what_somebody_who_knows_the_protection_says_of_the_counts_is_true(text, table):
    dense, parents = table
    protection = protect.load(text)
    values, listed = dense_of(applied(text, dense, parents))
    known = protection.undo(Known(values, values), listed, SLOTS // 2)
    assert known.low.shape == known.high.shape == dense.shape
    assert (known.low <= known.high).all()
    assert (known.low >= 0).all()
    if np.isinf(known.price):
        assert ((known.low <= dense) & (dense <= known.high)).all()


@every_protection
@some
@given(table=tables())
def test_whoever_says_that_counts_are_only_removed_changes_none(text, table):
    dense, parents = table
    if protect.load(text).only_removes:
        values, listed = dense_of(applied(text, dense, parents))
        assert (values[listed] == dense[listed]).all()


@every_protection
@some
@given(table=tables())
def test_whoever_says_that_totals_are_kept_keeps_them(text, table):
    dense, parents = table
    if protect.load(text).keeps_totals:
        values, _ = dense_of(applied(text, dense, parents))
        assert (values.sum(axis=1) == dense.sum(axis=1)).all()


@every_protection
def test_whoever_changes_counts_changes_some(text):
    dense = np.random.default_rng(1).integers(0, 9, (SLOTS, CELLS))
    values, _ = dense_of(applied(text, dense, [7, 7, 7, 8, 8, 8]))
    assert (values != dense).any()


@every_protection
def test_the_name_of_a_protection_leads_back_to_it(text):
    assert protect.name_of(protect.load(text)) == text


@pytest.mark.parametrize("k", [2, 3, 5])
@examples(few=17, many=100)
@given(table=tables())
def test_secondary_suppression_is_undone_by_no_total(k, table):
    """Every way to fill what is left out that gives the totals: each small count keeps at least two values.

    The reader knows the total of every slot, and of every larger cell that is not left out itself. What is
    left out is at most k - 1, unless it is there for the others' sake: nobody says which, but where small ones are
    enough there is none. Slots of which nothing is listed tell their total alone.
    """
    dense, parents = table
    found = hidden(counts_of(dense), table_of(parents).cells, k)
    own = all(parent == cell for cell, parent in enumerate(parents))
    for (_,), slot in found.group_by("slot"):
        if slot["hidden"].all():
            continue
        groups = {}
        for row in slot.filter("hidden").iter_rows(named=True):
            parent = "all" if own or row["parent_hidden"] else parents[row["cell"]]
            groups.setdefault(parent, []).append(row["people"])
        for left_out in groups.values():
            if min(left_out) >= k:
                continue
            assert all(len(values) > 1 for values in possible_values(tuple(sorted(left_out)), k)), (left_out, k)


@functools.cache
def possible_values(left_out, k):
    total = sum(left_out)
    most = k - 1 if max(left_out) < k else min(total, max(left_out) + 1)
    ways = [
        way for way in itertools.product(range(most + 1), repeat=len(left_out) - 1) if 0 <= total - sum(way) <= most
    ]
    return [{(*way, total - sum(way))[place] for way in ways} for place in range(len(left_out))]


@examples(few=17, many=100)
@given(table=tables(), k=st.sampled_from([2, 3, 5]))
def test_secondary_suppression_leaves_out_every_small_count_and_no_more_than_it_needs(table, k):
    dense, parents = table
    found = hidden(counts_of(dense), table_of(parents).cells, k)
    small = found["people"] < k
    assert found["hidden"].filter(small).all()
    for (_,), slot in found.with_columns(small=small).group_by("slot"):
        if not slot["small"].any():
            assert not slot["hidden"].any()


@given(table=tables())
@some
def test_a_larger_cell_is_left_out_with_another_or_not_at_all(table):
    dense, parents = table
    found = hidden(counts_of(dense), table_of(parents).cells, 5)
    named = found.with_columns(parent=pl.Series([parents[cell] for cell in found["cell"]]))
    for (_,), slot in named.group_by("slot"):
        gone = slot.filter("parent_hidden")
        if len(gone) and not slot["hidden"].all():
            assert gone["parent"].n_unique() > 1
            assert gone.group_by("parent").agg(pl.col("hidden").any())["hidden"].all()
