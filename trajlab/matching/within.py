"""Transport to sinks that are only partly known: each takes between a low and a high amount, or pays for leaving them.

What a sink takes beyond its bounds costs `price` a unit, below `low` as well as above `high`; without a price the
bounds hold. Units that no sink takes go aside, at a cost, and may come back later at the same cost. All of this is
one balanced transport problem: a sink becomes up to three columns, what it must take, what it may take and what
it takes at a price, and a spare row fills what the units leave open. It is solved exactly, with the proof,
as in `sifting`: whole where it is small, from few pairs where it is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from trajlab.matching.plan import Floats, Ints, Plan, rank_within
from trajlab.matching.plane import Plane
from trajlab.matching.simplex import Solved, dense, sparse
from trajlab.matching.ties import Grain, Keys, keys, preference

WHOLE = 20_000
"""Pairs up to which a problem is solved whole. What no sink wants goes aside, so nearest pairs nearly always do."""
FEW = 8
"""Pairs of a row or column that a first round starts with."""
MORE = 6
"""Pairs that a row or column gains in a round that finds very many."""

Pairs = tuple[Ints, Ints]


def transport_within(
    points: Floats,
    supply: Ints,
    sinks: Floats,
    low: Ints,
    high: Ints,
    *,
    price: float,
    waiting: int,
    aside: float,
    source_keys: Keys,
    sink_keys: Keys,
    first: Ints | None = None,
    largest: float,
    threads: int = 1,
) -> Plan:
    """Move every unit to a sink or aside, exactly and as cheaply as possible.

    Points, supplies, keys and `first` are those of `transport`. Sink j takes between `low[j]` and `high[j]` units;
    each one beyond costs `price`, infinite where there may be none; above twice `largest` it is as good as that.
    `waiting` units are aside already. Going aside and coming back cost `aside` each, staying there nothing. In the
    plan, source `len(supply)` are the units that waited, and sink `len(sinks)` is aside. The sinks must not need
    more units than there are.
    """
    units = int(supply.sum()) + waiting
    price = price if np.isinf(price) else min(price, 2.0 * largest + aside)  # dearer than any way round
    shift = 0.0 if np.isinf(price) else price  # what a unit pays whom no sink wants, so that no price is negative
    parts = _Columns.of(low, high, price, units)
    never = 2.0 * (largest + aside + 4.0 * shift) + 1.0
    # Ties fall as in `transport`, whatever the prices: preferences are as small as they would be without them.
    plain = Grain.of(largest, len(supply) + int((parts.kind == 0).sum()) + 1)
    grain = Grain(Grain.of(never, len(supply) + len(parts.sink) + 3).unit, plain.extra)
    part_keys = sink_keys[parts.sink] + keys(1, parts.kind) * (parts.kind > 0)  # the first part: as in `transport`
    plane = Plane(points, first, sinks[parts.sink], source_keys, part_keys, largest, grain)
    offset = float(shift * (np.maximum(low, 0).sum() - units + np.maximum(-high, 0).sum()))
    solved = _Problem(plane, parts, supply, waiting, aside, shift, never, threads).solve()
    sink = np.append(parts.sink, len(sinks))[solved.sink]
    return Plan(
        solved.source, sink, solved.amount, solved.cost + offset, max(solved.bound + offset, 0.0), solved.rounds
    )


@dataclass(frozen=True, slots=True)
class _Columns:
    """The parts of sinks: which sink, how much it holds, at what price, and whether it must be filled."""

    sink: Ints
    room: Ints
    price: Floats
    must: npt.NDArray[np.bool_]
    kind: Ints

    @classmethod
    def of(cls, low: Ints, high: Ints, price: float, units: int) -> _Columns:
        """Prices are counted from the cheapest part, so that none is negative."""
        sinks = np.arange(len(low))
        if np.isinf(price):
            parts = [(low, 0.0, True), (high - low, 0.0, False)]
        else:
            parts = [
                (np.maximum(low, 0), 0.0, False),
                (np.maximum(high, 0) - np.maximum(low, 0), price, False),
                (np.full(len(low), units), 2 * price, False),
            ]
        found = [
            (sinks[room > 0], room[room > 0], np.full(int((room > 0).sum()), cost), must, kind)
            for kind, (room, cost, must) in enumerate(parts)
        ]
        return cls(
            np.concatenate([sink for sink, *_ in found]),
            np.concatenate([room for _, room, *_ in found]),
            np.concatenate([cost for _, _, cost, *_ in found]),
            np.concatenate([np.full(len(sink), must) for sink, _, _, must, _ in found]),
            np.concatenate([np.full(len(sink), kind) for sink, *_, kind in found]),
        )


class _Problem:
    """Rows: the sources, then those waiting, then the spare row. Columns: the parts of sinks, then aside."""

    def __init__(
        self,
        plane: Plane,
        parts: _Columns,
        supply: Ints,
        waiting: int,
        aside: float,
        shift: float,
        never: float,
        threads: int,
    ) -> None:
        self.plane, self.parts, self.threads = plane, parts, threads
        self.sources, self.waiting = len(supply), waiting > 0
        self.units = int(supply.sum()) + waiting
        unit = plane.grain.unit
        self.price, self.aside, self.shift, self.never = (
            np.rint(np.asarray(value) / unit) * unit for value in (parts.price, aside, shift, never)
        )
        spare = int(parts.room.sum())
        rows = [supply, *([[waiting]] if self.waiting else []), *([[spare]] if spare else [])]
        self.supply = np.concatenate([np.asarray(row, dtype=np.int64) for row in rows])
        self.demand = np.append(parts.room, self.units)

    def solve(self) -> Plan:
        """Amounts to the parts of sinks, with their cost counted from the cheapest part."""
        whole = not self.plane.columns or not self.sources or len(self.supply) * len(self.demand) <= WHOLE
        solved = self._whole() if whole else self._sifted()
        real = solved.source < self.sources + self.waiting
        source, part, amount = solved.source[real], solved.sink[real], solved.amount[real]
        cost = float(amount @ self._plain(source, part))
        bound = min(solved.bound - (self.plane.grain.error * self.units if whole else 0.0), cost)
        return Plan(source, part, amount, cost, bound, solved.rounds)

    def _plain(self, source: Ints, part: Ints) -> Floats:
        """What units pay, without the trace of preference."""
        cost = np.append(self.price, self.shift)[part]
        away, came = part == len(self.parts.sink), source == self.sources
        between = ~away & ~came
        cost[between] += self.plane.distance(source[between], part[between])
        cost[away != came] += self.aside
        return cost

    def _lines(self) -> tuple[Ints, Ints, Floats]:
        """Pairs with the lines that are no points: those waiting, the spare row, and aside."""
        parts, columns = np.arange(len(self.parts.sink)), len(self.parts.sink)
        every = np.arange(self.sources)
        row, column, cost = [every], [np.full(self.sources, columns)], [np.full(self.sources, self.aside + self.shift)]
        if self.waiting:
            row.append(np.full(columns + 1, self.sources))
            column.append(np.append(parts, columns))
            cost.append(np.append(self.aside + self.price, self.shift))
        if len(parts):
            row.append(np.full(columns + 1, self.sources + self.waiting))
            column.append(np.append(parts, columns))
            cost.append(np.append(np.where(self.parts.must, self.never, 0.0), 0.0))
        rows, columns_, costs = np.concatenate(row), np.concatenate(column), np.concatenate(cost)
        keys_of_rows = np.append(self.plane.row_keys, keys(2, np.arange(2)))
        keys_of_columns = np.append(self.plane.column_keys, keys(3, np.arange(1)))
        chance = preference(keys_of_rows[rows], keys_of_columns[columns_])
        spare = rows == self.sources + self.waiting
        chance[spare | ((rows == self.sources) & (columns_ == columns))] = 0.0  # many units, which would blur the proof
        return rows, columns_, self.plane.grain.costs(costs, chance)

    def _whole(self) -> Solved:
        cost = np.empty((len(self.supply), len(self.demand)))
        if self.sources and self.plane.columns:
            cost[: self.sources, :-1] = self.plane.matrix() + self.price
        row, column, other = self._lines()
        cost[row, column] = other
        return dense(cost, self.supply, self.demand)

    def _sifted(self) -> Solved:
        plane, grain = self.plane, self.plane.grain
        line_row, line_column, line_cost = self._lines()
        row, column = self._near()
        cost = plane.cost(row, column) + self.price[column]
        supplies, demands = self.supply.astype(np.float64), self.demand.astype(np.float64)
        u, v = np.zeros(len(supplies)), np.zeros(len(demands))
        rounds, new = 0, np.arange(1)
        while len(new):
            rounds += 1
            solved = sparse(
                np.concatenate([row, line_row]), np.concatenate([column, line_column]),
                np.concatenate([cost, line_cost]), supplies, demands, u, v,
            )  # fmt: skip
            u, v = solved.u - solved.u[-1], solved.v + solved.u[-1]
            inner = u[: self.sources], v[:-1] - self.price
            found_row, found_column = distinct(plane, plane.below(*inner, FEW, self.threads))
            found_cost = plane.cost(found_row, found_column) + self.price[found_column]
            short = found_cost - u[found_row] - v[found_column]
            new = np.flatnonzero(short < -grain.tolerance)
            if len(new) > plane.rows:
                new = new[lowest(found_row[new], found_column[new], short[new], MORE)]
            row, column = np.concatenate([row, found_row[new]]), np.concatenate([column, found_column[new]])
            cost = np.concatenate([cost, found_cost[new]])
        worst = np.zeros(len(supplies))
        np.minimum.at(
            worst, found_row, plane.distance(found_row, found_column) - inner[0][found_row] - inner[1][found_column]
        )
        real = line_row < self.sources + self.waiting  # the spare row has no trace of preference
        row, column = line_row[real], line_column[real]
        np.minimum.at(worst, row, self._plain(row, column) - u[row] - v[column])
        worst[: self.sources + self.waiting] -= grain.unit
        bound = float(supplies @ (u + worst) + demands @ v)
        return Solved(solved.source, solved.sink, solved.amount, u, v, bound, rounds)

    def _near(self) -> tuple[Ints, Ints]:
        """The nearest parts of sinks to every point, and the nearest points to every part."""
        plane = self.plane
        few = min(FEW, plane.columns), min(FEW, len(plane.points))
        _, column = cKDTree(plane.sinks).query(plane.points, k=few[0])
        _, point = cKDTree(plane.points).query(plane.sinks, k=few[1])
        column, point = column.reshape(len(plane.points), -1), point.reshape(plane.columns, -1)
        by_point = np.repeat(plane.row_of, column.shape[1]), column.ravel()
        by_column = plane.row_of[point.ravel()], np.repeat(np.arange(plane.columns), point.shape[1])
        return distinct(plane, by_point, by_column)


def lowest(row: Ints, column: Ints, over: Floats, most: int) -> Ints:
    """Where the `most` lowest values of each row and of each column are."""
    keep = np.zeros(len(row), dtype=bool)
    ascending = np.argsort(over)
    for line in (row, column):
        narrow = line.astype(np.uint16 if line.max(initial=0) < 2**16 else np.uint32)  # short numbers sort fast
        order = ascending[np.argsort(narrow[ascending], kind="stable")]
        keep[order[rank_within(line[order]) < most]] = True
    return np.flatnonzero(keep)


def distinct(plane: Plane, *pairs: Pairs) -> Pairs:
    pair = np.sort(np.concatenate([row * plane.columns + column for row, column in pairs]))
    pair = pair[np.diff(pair, prepend=-1) != 0]
    return pair // plane.columns, pair % plane.columns
