"""What follows from sums: equal to trying everything, and to one linear programme over the whole."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from trajlab.differencing import programme
from trajlab.differencing.bounds import UNBOUNDED, Bounds, ContradictionError, System, propagate
from trajlab.differencing.programme import solve

TABLES = 1000


def system(rows: list[list[tuple[int, int]]], least: list[int], most: list[int]) -> System:
    """Sums written as lists of (unknown, sign)."""
    terms = [term for row in rows for term in row]
    return System(
        np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64),
        np.array([unknown for unknown, _ in terms], dtype=np.int32),
        np.array([sign for _, sign in terms], dtype=np.int8),
        np.array(least, dtype=np.int64),
        np.array(most, dtype=np.int64),
    )


def random_table(rng: np.random.Generator) -> tuple[System, np.ndarray, np.ndarray, np.ndarray]:
    """Six small counts with the total, the sums of two divisions, one of them perhaps hidden, and a longer count.

    Unknowns 0 to 5 are the counts, 6 to 8 the sums of one division, 9 a number that is at most the sum of two counts.
    """
    truth = rng.integers(0, 5, 10)
    division, other = rng.integers(0, 3, 6), rng.integers(0, 2, 6)
    truth[6:9] = [truth[:6][division == part].sum() for part in range(3)]
    truth[9] = rng.integers(0, truth[0] + truth[1] + 1)
    k = int(rng.integers(2, 6))
    listed = truth >= k
    listed |= rng.random(10) < 0.15  # listed by another table
    low, high = np.where(listed, truth, 0), np.where(listed, truth, k - 1)
    rows = [[(cell, 1) for cell in range(6)]]
    least, most = [int(truth[:6].sum())], [int(truth[:6].sum())]
    for part in range(3):
        if (division == part).any():
            rows.append([(cell, 1) for cell in np.flatnonzero(division == part)] + [(6 + part, -1)])
            least.append(0)
            most.append(0)
    for part in range(2):
        if (other == part).any() and rng.random() < 0.7:
            rows.append([(cell, 1) for cell in np.flatnonzero(other == part)])
            known = int(truth[:6][other == part].sum())
            slack = int(rng.integers(0, 2))
            least.append(known - slack)
            most.append(known + slack)
    rows.append([(0, 1), (1, 1), (9, -1)])
    least.append(0)
    most.append(UNBOUNDED)
    return system(rows, least, most), low, high, truth


def by_trying(of: System, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the most of every unknown over all numbers that satisfy the sums."""
    values = np.array(list(itertools.product(*(range(a, b + 1) for a, b in zip(low[:6], high[:6], strict=True)))))
    found = [np.full(10, 10**6), np.full(10, -1)]
    sums_of = [[np.zeros(len(values), dtype=np.int64), None] for _ in range(of.sums)]
    fits = np.ones(len(values), dtype=bool)
    extra = {}
    for row in range(of.sums):
        terms = slice(of.first[row], of.first[row + 1])
        total = sum(
            sign * values[:, unknown]
            for unknown, sign in zip(of.unknown[terms], of.sign[terms], strict=True)
            if unknown < 6
        )
        sums_of[row][0] = total
        beyond = [unknown for unknown in of.unknown[terms] if unknown >= 6]
        if not beyond:
            fits &= (total >= of.least[row]) & (total <= of.most[row])
        elif beyond[0] < 9:  # the sum of a division is one number
            extra[beyond[0]] = total
            fits &= (total >= low[beyond[0]]) & (total <= high[beyond[0]])
        else:
            extra[9] = total
            fits &= total >= low[9]
    assert fits.any()
    for cell in range(6):
        found[0][cell], found[1][cell] = values[fits, cell].min(), values[fits, cell].max()
    for unknown in (6, 7, 8):
        mine = extra.get(unknown)
        found[0][unknown] = low[unknown] if mine is None else mine[fits].min()
        found[1][unknown] = high[unknown] if mine is None else mine[fits].max()
    found[0][9], found[1][9] = low[9], min(high[9], extra[9][fits].max())
    return found[0], found[1]


def by_one_programme(of: System, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same by linear programming over everything at once."""
    matrix = np.zeros((of.sums, len(low)))
    matrix[of.sum_of_term(), of.unknown] = of.sign
    upper = of.most < UNBOUNDED
    ends = []
    for unknown, sign in itertools.product(range(len(low)), (1, -1)):
        cost = np.zeros(len(low))
        cost[unknown] = sign
        found = linprog(
            cost,
            A_ub=np.vstack([matrix[upper], -matrix]),
            b_ub=np.concatenate([of.most[upper], -of.least]),
            bounds=np.column_stack([low, high]),
        )
        ends.append(sign * found.fun)
    return np.ceil(np.array(ends[::2]) - 1e-6), np.floor(np.array(ends[1::2]) + 1e-6)


def solved(of: System, low: np.ndarray, high: np.ndarray, enough: int | None = None) -> Bounds:
    return solve(of, propagate(of, low, high), np.ones(len(low), dtype=bool), enough=enough).bounds


def test_bounds_of_a_thousand_random_tables_equal_those_of_trying_everything():
    rng = np.random.default_rng(1)
    recovered = by_programmes = 0
    for _ in range(TABLES):
        of, low, high, truth = random_table(rng)
        first = propagate(of, low, high)
        found = solve(of, first, np.ones(10, dtype=bool)).bounds
        least, most = by_trying(of, low, high)
        np.testing.assert_array_equal(found.low, least)
        np.testing.assert_array_equal(found.high, most)
        assert ((least <= truth) & (truth <= most)).all()
        recovered += int(((least == most) & (low < high)).sum())
        by_programmes += int(((found.low > first.low) | (found.high < first.high)).sum())
    assert recovered > 500
    assert by_programmes > 20


def test_bounds_equal_one_linear_programme_over_the_whole():
    rng = np.random.default_rng(2)
    for _ in range(40):
        of, low, high, _ = random_table(rng)
        found = solved(of, low, high)
        least, most = by_one_programme(of, low, high)
        assert (least <= found.low).all()
        assert (found.high <= most).all()
        assert np.mean((least == found.low) & (most == found.high)) > 0.9


def test_two_divisions_and_a_total_equal_one_linear_programme_exactly():
    """Rows and columns of a table: whole numbers are where the corners of the programme are."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        truth = rng.integers(0, 6, (4, 5))
        rows = [[(5 * i + j, 1) for j in range(5)] for i in range(4)]
        rows += [[(5 * i + j, 1) for i in range(4)] for j in range(5)]
        sums = [*truth.sum(axis=1), *truth.sum(axis=0)]
        flat = truth.ravel()
        hidden = flat < 3
        of = system(rows, sums, sums)
        low, high = np.where(hidden, 0, flat), np.where(hidden, 2, flat)
        found = solved(of, low, high)
        least, most = by_one_programme(of, low, high)
        np.testing.assert_array_equal(found.low, least)
        np.testing.assert_array_equal(found.high, most)


def test_what_is_not_narrow_need_not_be_solved_and_what_is_narrow_is_the_same():
    rng = np.random.default_rng(4)
    for _ in range(40):
        of, low, high, _ = random_table(rng)
        whole, part = solved(of, low, high), solved(of, low, high, enough=2)
        narrow = whole.high - whole.low < 2
        np.testing.assert_array_equal(narrow, part.high - part.low < 2)
        np.testing.assert_array_equal(part.low[narrow], whole.low[narrow])
        np.testing.assert_array_equal(part.high[narrow], whole.high[narrow])


def test_each_end_names_the_sum_that_gave_it():
    of = system([[(0, 1), (1, 1)], [(1, 1), (2, 1)]], [7, 9], [7, 9])
    found = propagate(of, np.array([3, 0, 0]), np.array([3, 9, 9]))
    assert found.low.tolist() == found.high.tolist() == [3, 4, 5]
    assert found.low_sum.tolist() == found.high_sum.tolist() == [-1, 0, 1]


def test_sums_that_contradict_each_other_are_refused():
    of = system([[(0, 1), (1, 1)]], [7], [7])
    with pytest.raises(ContradictionError, match="unknown 0 has no value left"):
        propagate(of, np.array([0, 0]), np.array([2, 3]))


def test_a_group_that_is_too_large_keeps_the_bounds_of_propagation_and_is_named(monkeypatch):
    truth = np.array([[1, 2], [2, 1]])
    rows = [[(0, 1), (1, 1)], [(2, 1), (3, 1)], [(0, 1), (2, 1)], [(1, 1), (3, 1)]]
    sums = [*truth.sum(axis=1), *truth.sum(axis=0)]
    of = system(rows, sums, sums)
    monkeypatch.setattr(programme, "LARGEST", 3)
    found = solve(of, propagate(of, np.zeros(4, dtype=np.int64), np.full(4, 3)), np.ones(4, dtype=bool))
    assert found.too_large.all()
    assert not found.by_programme.any()
