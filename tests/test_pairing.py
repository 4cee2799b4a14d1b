"""Which track is taken for which person: both ways against the slow and obvious one."""

from __future__ import annotations

import datetime as dt
import itertools

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from trajlab.metrics import greedy, optimal
from trajlab.metrics.pairing import pair
from trajlab.metrics.parts import Part, night_slots, parts


@st.composite
def cases(draw, nowhere: bool = True, square: bool = False):
    """Recovered and true cells, and where the cells lie; -1 is nowhere."""
    tracks, slots, cells = draw(st.integers(1, 9)), draw(st.integers(1, 6)), draw(st.integers(1, 5))
    people = tracks if square else draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    low = -1 if nowhere else 0
    recovered, truth = (rng.integers(low, cells, (n, slots)).astype(np.int32) for n in (tracks, people))
    return recovered, truth, rng.integers(0, 4, (cells, 2)) * 500.0 + rng.random((cells, 2))


def greedy_loop(recovered, truth):
    track_of, free = np.full(len(truth), -1), np.ones(len(truth), dtype=bool)
    for track, cells in enumerate(recovered):
        if free.any():
            alike = ((cells == truth) & (truth >= 0)).sum(axis=1)
            person = int(np.where(free, alike, -1).argmax())
            track_of[person], free[person] = track, False
    return track_of


def metres_apart(cells, others, xy):
    return sum(float(np.hypot(*(xy[a] - xy[b]))) for a, b in zip(cells, others, strict=True) if a >= 0 and b >= 0)


@examples(few=100, many=600)
@given(case=cases())
def test_greedy_gives_each_track_in_turn_the_most_similar_person_still_free(case):
    recovered, truth, _ = case
    assert np.array_equal(greedy.most_similar_free(recovered, truth), greedy_loop(recovered, truth))


@pytest.mark.parametrize("entries", [1, 50, 5_000])
@pytest.mark.parametrize(("cells", "people"), [(1, 700), (3, 700), (200, 900)])
def test_greedy_is_the_same_in_blocks_of_any_size(monkeypatch, entries, cells, people):
    """Crowds in which almost everybody wants the same person, and a second round of leaving out the taken."""
    monkeypatch.setattr(greedy, "ENTRIES", entries * people)
    rng = np.random.default_rng(1)
    recovered, truth = rng.integers(-1, cells, (2, people, 5)).astype(np.int32)
    assert np.array_equal(greedy.most_similar_free(recovered, truth), greedy_loop(recovered, truth))


@examples(few=33, many=200)
@given(case=cases())
def test_the_total_error_is_the_sum_of_the_distances(case):
    recovered, truth, xy = case
    expected = [[metres_apart(track, person, xy) for person in truth] for track in recovered]
    np.testing.assert_allclose(optimal.total_error(recovered, truth, xy) / 1000, expected, atol=1e-2)


@examples(few=20, many=120)
@given(case=cases(nowhere=False, square=True), per_day=st.integers(1, 4), night=st.integers(0, 2))
def test_no_other_pairing_has_a_smaller_total_error_than_the_optimal_one(case, per_day, night):
    recovered, truth, xy = case[0][:6], case[1][:6], case[2]
    everybody = np.arange(len(truth))
    stretches = parts(truth.shape[1], per_day, min(night, per_day))
    for part, track_of in zip(stretches, optimal.match(recovered, truth, stretches, xy, _silent), strict=True):
        error = optimal.total_error(recovered[:, part.first : part.stop], truth[:, part.first : part.stop], xy)
        orders = itertools.permutations(everybody)
        assert error[track_of, everybody].sum() == min(error[list(order), everybody].sum() for order in orders)


@examples(few=20, many=120)
@given(case=cases(), pairing=st.sampled_from(["optimal", "greedy"]), per_day=st.integers(1, 4))
def test_agreement_is_counted_between_those_who_are_paired(case, pairing, per_day):
    recovered, truth, xy = case
    stretches = parts(truth.shape[1], per_day, 1)
    pairs = pair(pairing, recovered, truth, xy, stretches)
    stops = {(part.stage, part.first): part.stop for part in stretches}
    for row in pairs.iter_rows(named=True):
        here = slice(row["from_slot"], stops[row["stage"], row["from_slot"]])
        lived = truth[row["person"], here]
        told = np.full_like(lived, -1) if row["track"] is None else recovered[row["track"], here]
        known = lived >= 0
        assert row["slots"] == known.sum()
        assert row["hits"] == (lived == told)[known].sum()
        assert row["edits"] == edits(np.where(known, told, -2).tolist(), np.where(known, lived, -2).tolist())
    assert len(pairs) == len(stretches) * len(truth)
    final = pairs.filter(pairs["stage"] == 3)["track"].drop_nulls()
    assert final.n_unique() == len(final) == min(len(recovered), len(truth))


def edits(told, lived):
    """Levenshtein distance, by the textbook."""
    row = list(range(len(lived) + 1))
    for i, a in enumerate(told, start=1):
        before, row = row, [i]
        for j, b in enumerate(lived, start=1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b)))
    return row[-1]


@pytest.mark.parametrize("pairing", ["optimal", "greedy"])
def test_the_order_of_the_people_changes_no_score_when_all_are_different(pairing):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 30, (40, 24)).astype(np.int32)
    recovered = np.where(rng.random(truth.shape) < 0.8, truth, 29)[rng.permutation(40)].astype(np.int32)
    xy = rng.random((30, 2)) * 9000
    order = rng.permutation(40)
    stretches = parts(24, 8, 2)
    one = pair(pairing, recovered, truth, xy, stretches).sort("stage", "from_slot", "person")
    other = pair(pairing, recovered, truth[order], xy, stretches)
    other = other.with_columns(person=order[other["person"].to_numpy()]).sort("stage", "from_slot", "person")
    assert one.filter(one["stage"] > 1).equals(other.filter(other["stage"] > 1))


def test_the_parts_of_two_days_and_a_bit():
    assert parts(5, 2, 1) == [
        Part(1, 0, 1), Part(2, 0, 2), Part(1, 2, 3), Part(2, 2, 4), Part(1, 4, 5), Part(2, 4, 5), Part(3, 0, 5),
    ]  # fmt: skip
    assert parts(2, 2, 0) == [Part(2, 0, 2), Part(3, 0, 2)]


@pytest.mark.parametrize(
    ("start", "slots_per_day", "night"),
    [("00:00", 48, 12), ("00:00", 8, 2), ("00:00", 5, 2), ("00:00", 1, 1), ("03:00", 48, 6), ("05:59", 24, 1),
     ("06:00", 24, 0), ("07:30", 48, 0)],
)  # fmt: skip
def test_the_night_is_what_starts_before_six(start, slots_per_day, night):
    assert night_slots(dt.time.fromisoformat(start), slots_per_day) == night


def _silent(done, total):
    pass
