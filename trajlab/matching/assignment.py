"""One-to-one assignment where nearly all pairs cost the same.

Rows and columns are matched so that their pairs save as much as possible against that
common cost. Only pairs that save anything are looked at; they come as sparse matrices, some
rows at a time, and where they are very many they are asked for again in each round, so that
they are never all held.
As in `sifting`, a few pairs are solved, all are priced, those that would save more are
added, until there are none. Rows and columns left over are paired by chance.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from trajlab.matching.plan import Floats, Ints, rank_within
from trajlab.matching.simplex import dense, sparse
from trajlab.matching.ties import Grain, Keys, preference

FEW = 40
"""Pairs of a row that the first round starts with."""
MORE = 20
"""Pairs that a row gains in a round."""
WHOLE = 90_000
"""Pairs, stored or not, up to which all are handed to the simplex at once."""
RUN = 1_000
"""Rows looked at together."""
KEPT = 25_000_000
"""Pairs kept between rounds, 300 megabytes; the others are asked for again."""

Savings = Callable[[int, int], csr_array]
Pairs = tuple[Ints, Ints, Floats]


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

    `savings(a, b)` says what the pairs of rows a to b save: numbers from 0 to `most`; pairs
    that it does not store save nothing. Keys tell equal answers apart (see `ties`).
    """
    table = _Table(savings, size, most, row_keys, column_keys, threads)
    row, column, saving, bound, rounds = _whole(table) if size * size <= WHOLE else _sifted(table)
    columns = np.full(size, -1)
    columns[row] = column
    columns[columns < 0] = rng.permutation(np.setdiff1d(np.arange(size), column))
    saved = float(saving.sum())
    return Assignment(columns, saved, max(bound + size * table.grain.error, saved), rounds)


def _whole(table: _Table) -> tuple[Ints, Ints, Floats, float, int]:
    row, column, saving = table.every()
    cost = np.full((table.size, table.size), table.common)
    cost[row, column] = table.cost(row, column, saving)
    ones = np.ones(table.size, dtype=np.int64)
    solved = dense(cost, ones, ones)
    plain = np.zeros(cost.shape)
    plain[row, column] = saving
    stored = plain[solved.source, solved.sink] > 0.0
    row, column = solved.source[stored], solved.sink[stored]
    return row, column, plain[row, column], table.size * table.common - solved.bound, 1


def _sifted(table: _Table) -> tuple[Ints, Ints, Floats, float, int]:
    """With a spare row and a spare column: who goes there is left over, at half the common cost each."""
    size, half = table.size, table.common / 2
    row, column, saving = table.best()
    supplies = np.append(np.ones(size), float(size))
    u = v = np.append(np.full(size, half), 0.0)
    line, spare = np.arange(size), np.full(size, size)
    rounds = 0
    while True:
        rounds += 1
        solved = sparse(
            np.concatenate([row, line, spare, [size]]),
            np.concatenate([column, spare, line, [size]]),
            np.concatenate([table.cost(row, column, saving), np.full(2 * size, half), [0.0]]),
            supplies,
            supplies,
            u,
            v,
        )
        u, v = solved.u - solved.u[-1], solved.v + solved.u[-1]
        new_row, new_column, new_saving = table.short(u, v)
        if not len(new_row):
            break
        row, column = np.concatenate([row, new_row]), np.concatenate([column, new_column])
        saving = np.concatenate([saving, new_saving])
    pair = row * size + column
    real = (solved.source < size) & (solved.sink < size)
    kept = np.flatnonzero(np.isin(pair, solved.source[real] * size + solved.sink[real]))
    return row[kept], column[kept], saving[kept], size * table.common - solved.bound, rounds


class _Table:
    """All pairs, as costs below the common one."""

    def __init__(
        self, savings: Savings, size: int, most: float, row_keys: Keys, column_keys: Keys, threads: int
    ) -> None:
        self.savings, self.size, self.threads = savings, size, threads
        self.row_keys, self.column_keys = row_keys, column_keys
        self.grain = Grain.of(most, 2 * size + 2)
        self._kept: dict[int, csr_array] = {}
        self._room = KEPT
        self.common = 2.0 * self.grain.unit * float(np.ceil((most + self.grain.extra) / (2.0 * self.grain.unit)))

    def cost(self, row: Ints, column: Ints, saving: Floats) -> Floats:
        return self.common - self.grain.costs(saving, preference(self.row_keys[row], self.column_keys[column]))

    def best(self) -> Pairs:
        """Of each row the few pairs that save most, and at least half of what its best saves."""

        def choose(part: csr_array, start: int) -> Pairs:
            full = np.flatnonzero(np.diff(part.indptr))
            most = np.zeros(part.shape[0])
            most[full] = np.maximum.reduceat(part.data, part.indptr[full]) if len(full) else 0.0
            row, column, saving = _above(part, 0.5 * most)
            return _best_of_rows(row + start, column, saving, saving, FEW)

        return self._each(choose)

    def short(self, u: Floats, v: Floats) -> Pairs:
        """Pairs that would save more than the prices of their lines say; the best of each row."""

        def choose(part: csr_array, start: int) -> Pairs:
            enough = self.common - self.grain.error - u[start : start + part.shape[0]] - v.max()
            row, column, saving = _above(part, enough)
            row += start
            short = self.cost(row, column, saving) - u[row] - v[column]
            new = np.flatnonzero(short < -self.grain.tolerance)
            return _best_of_rows(row[new], column[new], saving[new], -short[new], MORE)

        return self._each(choose)

    def every(self) -> Pairs:
        """All stored pairs."""

        def choose(part: csr_array, start: int) -> Pairs:
            row, column, saving = _above(part, np.zeros(part.shape[0]))
            return row + start, column, saving

        return self._each(choose)

    def _each(self, choose: Callable[[csr_array, int], Pairs]) -> Pairs:
        starts = range(0, self.size, RUN)
        with ThreadPoolExecutor(self.threads) as pool:
            found = pool.map(lambda start: choose(self._run(start), start), starts)
            row, column, saving = zip(*found, strict=True)
        return np.concatenate(row), np.concatenate(column), np.concatenate(saving)

    def _run(self, start: int) -> csr_array:
        """Some rows, kept for the next look while there is room."""
        part = self._kept.get(start)
        if part is None:
            part = self.savings(start, min(start + RUN, self.size))
            if self._room >= part.nnz:
                self._room -= part.nnz
                self._kept[start] = part
        return part


def _above(part: csr_array, enough: Floats) -> Pairs:
    """Pairs of a run of rows that save more than is enough for their row."""
    found = np.flatnonzero(part.data > np.repeat(enough, np.diff(part.indptr)))
    row = np.searchsorted(part.indptr, found, side="right") - 1
    return row, part.indices[found].astype(np.int64), part.data[found]


def _best_of_rows(row: Ints, column: Ints, saving: Floats, value: Floats, most: int) -> Pairs:
    """The `most` pairs of highest value of each row; rows come in order."""
    order = np.lexsort((-value, row))
    keep = np.sort(order[rank_within(row[order]) < most])
    return row[keep], column[keep], saving[keep]
