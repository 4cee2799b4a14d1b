"""One-to-one assignment where nearly all pairs cost the same.

Rows and columns are matched so that their pairs save as much as possible against that
common cost. Only pairs that save anything are looked at. They come as sparse matrices, some
rows at a time; of each row those that save most are kept, the others are asked for again
only where prices leave a doubt.

As in `sifting`, a few pairs are solved, all are priced, those that would save more are
added, until there are none. The first few come from the prices of an auction; a pair whose
price is further off than the worst that is missing is put aside again, so that the
problems that are solved become smaller as they come closer. Rows and columns left
over are paired by chance.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from trajlab.matching import auction
from trajlab.matching.compiled import compiled
from trajlab.matching.plan import Floats, Ints, rank_within
from trajlab.matching.simplex import Solved, dense, sparse
from trajlab.matching.ties import Grain, Keys, preference

FEW = 4
"""Pairs of a row or of a column that every round has or gains."""
NEAR = 0.02
"""Pairs this close to their price are solved first, relative to the largest saving."""
BIDS = 64
"""Pairs of a row that it may bid for."""
WHOLE = 90_000
"""Pairs, stored or not, up to which all are handed to the simplex at once."""
RUN = 1_000
"""Rows looked at together."""
KEPT = 20_000_000
"""Pairs kept, half a gigabyte with their costs."""
LEAST = 50
"""Pairs of a row that are kept, room or no room."""
PATIENCE = 20
"""Rounds after which nothing is put aside any more, so that there is an end."""
CHEAP = 50
"""One column in so many is looked at apart: the cheapest."""
SAMPLE = 512
"""Pairs of a row that say where its best ones begin."""

Savings = Callable[[Ints, Ints | None], csr_array]
Small = npt.NDArray[np.int32]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Assignment:
    """The column of every row. Its pairs save `saved`; no assignment saves more than `bound`."""

    column: Ints
    saved: float
    bound: float
    rounds: int


def assign(
    savings: Savings,
    size: int,
    *,
    most: float,
    row_keys: Keys,
    column_keys: Keys,
    rng: np.random.Generator,
    threads: int = 1,
) -> Assignment:
    """Match `size` rows with `size` columns, saving as much as possible.

    `savings(rows)` says what the pairs of some rows save: numbers up to `most`; pairs that it
    does not store save nothing. Keys tell equal answers apart (see `ties`).
    """
    table = _Table(savings, size, most, row_keys, column_keys, threads)
    pairs, bound, rounds = _whole(table) if size * size <= WHOLE else _sifted(table)
    columns = np.full(size, -1)
    columns[pairs.row] = pairs.column
    columns[columns < 0] = rng.permutation(np.setdiff1d(np.arange(size), pairs.column))
    saved = float(pairs.saving.sum())
    return Assignment(columns, saved, max(bound + size * table.grain.error, saved), rounds)


@dataclass(frozen=True, slots=True)
class _Pairs:
    row: Small
    column: Small
    saving: Floats
    cost: Floats

    def __getitem__(self, chosen: Ints) -> _Pairs:
        return _Pairs(self.row[chosen], self.column[chosen], self.saving[chosen], self.cost[chosen])

    @classmethod
    def joined(cls, parts: list[_Pairs]) -> _Pairs:
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))

    def slack(self, u: Floats, v: Floats) -> Floats:
        """How much dearer each pair is than the prices of its lines."""
        slack = self.cost - u[self.row]
        slack -= v[self.column]
        return slack


def _whole(table: _Table) -> tuple[_Pairs, float, int]:
    pairs, _ = table.likely()
    cost = np.full((table.size, table.size), table.common)
    cost[pairs.row, pairs.column] = pairs.cost
    ones = np.ones(table.size, dtype=np.int64)
    solved = dense(cost, ones, ones)
    return _taken(pairs, solved, table.size), table.size * table.common - solved.bound, 1


def _sifted(table: _Table) -> tuple[_Pairs, float, int]:
    """With a spare row and a spare column: who goes there is left over, at half the common cost each."""
    size, half = table.size, table.common / 2
    pairs, left_out = table.likely()
    active = _promising(pairs, table)
    supplies = np.append(np.ones(size), float(size))
    start = np.append(np.full(size, half), 0.0)
    line, spare = np.arange(size), np.full(size, size)
    rounds = 0
    while True:
        rounds += 1
        few = pairs[np.flatnonzero(active)]
        solved = sparse(
            np.concatenate([few.row, line, spare, [size]]),
            np.concatenate([few.column, spare, line, [size]]),
            np.concatenate([few.cost, np.full(2 * size, half), [0.0]]),
            supplies,
            supplies,
            start,  # prices of the round before would make the simplex slower, not faster
            start,
        )
        u, v = solved.u - solved.u[-1], solved.v + solved.u[-1]
        missed = table.missed(u, v, left_out)
        pairs = _Pairs.joined([pairs, missed]) if len(missed.row) else pairs
        active = np.append(active, np.zeros(len(missed.row), dtype=bool))
        slack = pairs.slack(u, v)
        short = np.flatnonzero(slack < -table.grain.tolerance)
        if not len(short):
            break
        worst = -float(slack.min())
        if rounds < PATIENCE:
            active &= slack < worst
        active |= slack < min(worst, NEAR * table.most)
        for lines in (pairs.row, pairs.column):
            active[short[_first_of_each(lines[short], slack[short], FEW)]] = True
    return _taken(few, solved, size), size * table.common - solved.bound, rounds


def _promising(pairs: _Pairs, table: _Table) -> npt.NDArray[np.bool_]:
    """Pairs that come close to the prices of an auction, and the closest few of each row and column."""
    rank = rank_within(pairs.row)
    column = np.zeros((table.size, BIDS), dtype=np.int64)
    saving = np.zeros((table.size, BIDS))
    bid = np.flatnonzero(rank < BIDS)
    column[pairs.row[bid], rank[bid]] = pairs.column[bid]
    saving[pairs.row[bid], rank[bid]] = pairs.saving[bid]
    price = auction.prices(column, saving, table.size, table.most)
    profit = np.maximum((saving - price[column]).max(axis=1), 0.0)
    slack = profit[pairs.row]
    slack += price[pairs.column]
    slack -= pairs.saving
    active: npt.NDArray[np.bool_] = slack < NEAR * table.most
    close = np.flatnonzero(slack < 4 * NEAR * table.most)
    for lines in (pairs.row, pairs.column):
        active[close[_first_of_each(lines[close], slack[close], FEW)]] = True
    return active


def _taken(pairs: _Pairs, solved: Solved, size: int) -> _Pairs:
    """Those of the pairs that the solution has."""
    real = (solved.source < size) & (solved.sink < size)
    chosen = np.isin(pairs.row.astype(np.int64) * size + pairs.column, solved.source[real] * size + solved.sink[real])
    return pairs[np.flatnonzero(chosen)]


class _Table:
    """All pairs, as costs below the common one."""

    def __init__(
        self, savings: Savings, size: int, most: float, row_keys: Keys, column_keys: Keys, threads: int
    ) -> None:
        self.savings, self.size, self.most, self.threads = savings, size, most, threads
        self.row_keys, self.column_keys = row_keys, column_keys
        self.grain = Grain.of(most, 2 * size + 2)
        self.common = 2.0 * self.grain.unit * float(np.ceil((most + self.grain.extra) / (2.0 * self.grain.unit)))

    def likely(self) -> tuple[_Pairs, Floats]:
        """The pairs of each row that save most, best first, and how much the others save at most.

        About as many of each row as there is room for: the pairs of a row are sampled to see
        where its best begin.
        """
        room = max(KEPT // self.size, LEAST)

        def choose(rows: Ints) -> tuple[_Pairs, Floats]:
            part = self.savings(rows, None)
            count = np.diff(part.indptr).astype(np.int64)
            place = np.minimum(part.indptr[:-1, None] + np.arange(SAMPLE) * count[:, None] // SAMPLE, part.nnz - 1)
            most = np.zeros(len(rows))
            full = np.flatnonzero(count > room)
            sample = np.sort(part.data[place[full]], axis=1)
            most[full] = np.maximum(sample[np.arange(len(full)), SAMPLE - 1 - SAMPLE * room // count[full]], 0.0)
            return self._above(part, rows, most), most

        found, most = zip(*self._runs(choose, np.arange(self.size)), strict=True)
        return _Pairs.joined(list(found)), np.concatenate(most)

    def missed(self, u: Floats, v: Floats, left_out: Floats) -> _Pairs:
        """Pairs that were not kept and are short of the prices: the best few of each row.

        Few columns are so cheap that pairs left out could matter; for most rows only these are asked for.
        """
        from_highest = np.argsort(-v[:-1], kind="stable")
        cheap = np.sort(from_highest[: self.size // CHEAP])
        dearer = v[from_highest[min(self.size // CHEAP, self.size - 1)]]
        enough = self.common - self.grain.error - u[:-1]

        def choose(rows: Ints, columns: Ints | None, highest: float) -> _Pairs:
            part = self.savings(rows, columns)
            found = self._above(part, rows, enough[rows] - highest, columns)
            short = (found.saving <= left_out[found.row]) & (found.slack(u, v) < -self.grain.tolerance)
            found = found[np.flatnonzero(short)]
            return found[_first_of_each(found.row, found.slack(u, v), 10 * FEW)]

        doubtful = left_out > np.maximum(enough - v[:-1].max(), 0.0)
        wholly = doubtful & (left_out > np.maximum(enough - dearer, 0.0))
        found = self._runs(lambda rows: choose(rows, None, v[:-1].max()), np.flatnonzero(wholly))
        found += self._runs(lambda rows: choose(rows, cheap, v[:-1].max()), np.flatnonzero(doubtful & ~wholly))
        return _Pairs.joined([self._above(csr_array((0, self.size)), np.arange(0), np.zeros(0)), *found])

    def _runs(self, choose: Callable[[Ints], T], rows: Ints) -> list[T]:
        runs = [rows[start : start + RUN] for start in range(0, len(rows), RUN)]
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(choose, runs))

    def _above(self, part: csr_array, rows: Ints, enough: Floats, columns: Ints | None = None) -> _Pairs:
        """Pairs of some rows that save more than is enough for their row, best first."""
        ends = part.indptr.astype(np.int64)
        row, column, saving = pick(ends, part.indices, part.data, np.maximum(enough, 0.0))
        row = rows[row].astype(np.int32)
        column = column if columns is None else columns[column].astype(np.int32)
        return _Pairs(row, column, saving, self._cost(row, column, saving))

    def _cost(self, row: Small, column: Small, saving: Floats) -> Floats:
        return self.common - self.grain.costs(saving, preference(self.row_keys[row], self.column_keys[column]))


@compiled
def pick(ends, column, saving, enough):  # type: ignore[no-untyped-def]
    """Line, column and saving of the pairs of each line that save more than is enough for it, best first."""
    many = 0
    for line in range(len(enough)):
        for k in range(ends[line], ends[line + 1]):
            many += saving[k] > enough[line]
    lines, columns, savings = np.empty(many, np.int32), np.empty(many, np.int32), np.empty(many)
    at = 0
    for line in range(len(enough)):
        begin = at
        for k in range(ends[line], ends[line + 1]):
            if saving[k] > enough[line]:
                lines[at], columns[at], savings[at] = line, column[k], saving[k]
                at += 1
        best = np.argsort(-savings[begin:at], kind="mergesort")
        columns[begin:at] = columns[begin:at][best]
        savings[begin:at] = savings[begin:at][best]
    return lines, columns, savings


def _first_of_each(line: Ints | Small, value: Floats, most: int) -> Ints:
    """The positions of the `most` smallest values of each line."""
    order = _by_line(line, value, float(np.abs(value).max(initial=0.0)))
    return order[rank_within(line[order]) < most]


def _by_line(line: Ints | Small, value: Floats, largest: float) -> Ints:
    """Positions in the order of lines and, in a line, of values, to a few parts in a billion.

    One sort of one number is several times faster than a sort by two.
    """
    return np.argsort(line + value / (2.5 * largest + 1e-300), kind="stable")
