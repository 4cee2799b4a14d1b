"""Who passes through all of some points, for a whole population at once.

A point is a slot and a cell, as one number that sorts by slot, then cell. Of the points known
of a person the rarest names the candidates, and each of the others thins them out. Most
candidates fail at the second point. Questions are therefore taken slot by slot of their second
point, and a row of where everybody was in that slot, small enough for a processor's cache,
answers them; the few that are left are looked up by binary search. People of whom the same
is known share one answer. To touch fresh memory can cost more than the search itself, so
the sorted keys are the only large array.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trajlab.errors import RiskError

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.store import Store

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

NOTHING = -1
"""Stands for no point, where less is known of a person than of others."""
BLOCK = 1 << 18
"""Candidates looked at in one go: few enough for a processor's cache, enough to forget Python."""
EMPTY, SEVERAL = -1, -2
"""In a row of where everybody was: nowhere, and in more than one cell."""


@dataclass(frozen=True, slots=True)
class Visits:
    """The points of each trace: trace i has `keys[starts[i]:starts[i + 1]]`, whose low bits are the points."""

    traces: Ints
    starts: Ints
    keys: Ints
    bits: int
    cells: npt.NDArray[np.uint64]

    @property
    def sizes(self) -> Ints:
        return np.diff(self.starts)

    def rows(self, traces: Ints) -> Ints:
        """Which of the traces each one is; -1 where it has no points."""
        found = np.searchsorted(self.traces, traces)
        return np.where(np.append(self.traces, -1)[found] == traces, found, -1)

    def points(self, rows: Ints, numbers: Ints) -> Ints:
        """The points with these numbers (rows × numbers) of each row; NOTHING where the number is -1."""
        at = np.where(numbers >= 0, self.starts[rows][:, None] + numbers, 0)
        return np.where(numbers >= 0, self.keys[at] & _low(self.bits), NOTHING)


def read(store: Store, traces_id: str, beside: str) -> Visits:
    """A set of traces in the lab; its points compare with those of the set `beside`, read beside this one."""
    sets = {"one": traces_id, "other": beside}
    cells = store.frame(
        "select distinct cell from slots.visit where traces_id in ($one, $other) order by cell", **sets
    ).with_row_index("number")
    ((last, slots),) = store.rows(
        "select coalesce(max(trace), 0), coalesce(max(slot), 0) + 1 from slots.visit where traces_id in ($one, $other)",
        **sets,
    )
    ((visits,),) = store.rows("select count(*) from slots.visit where traces_id = $id", id=traces_id)
    bits = (slots * len(cells)).bit_length()
    if bits + last.bit_length() > 63:
        raise RiskError(f"{slots:,} slots of {len(cells):,} cells are too many to search: take longer slots")
    keys = np.empty(visits, dtype=np.int64)
    store.con.register("cells_to_number", cells.to_arrow())
    try:
        packed = store.con.sql(
            """
            select (visit.trace::bigint << $bits) + visit.slot * $cells::bigint + cells.number as key
            from slots.visit as visit
            join cells_to_number as cells on cells.cell = visit.cell
            where visit.traces_id = $id
            """,
            params={"bits": bits, "cells": len(cells), "id": traces_id},
        )
        filled = 0
        for batch in packed.to_arrow_reader(4 * BLOCK):
            keys[filled : filled + len(batch)] = batch.column(0).to_numpy()
            filled += len(batch)
    finally:
        store.forget("cells_to_number")
    keys.sort()
    starts = _changes(keys, bits)
    return Visits(keys[starts] >> bits, np.append(starts, len(keys)), keys, bits, cells["cell"].to_numpy())


class Crowds:
    """Traces to be searched, by the points that they pass through. Takes over the keys of the visits."""

    def __init__(self, visits: Visits, *, threads: int = 1) -> None:
        self._visits, self._threads = visits, threads
        self._everybody = len(visits.traces)
        self._bits = self._everybody.bit_length()
        self._number = self._numbers()
        self._keys = self._by_point()
        starts = _changes(self._keys, self._bits)
        # One more point, through which nobody passes, stands for all that are not there.
        self._points = np.append(self._keys[starts] >> self._bits, 1 << visits.bits)
        self._starts = np.r_[starts, len(self._keys), len(self._keys)]
        self._sizes = np.diff(self._starts)
        self._slots = self._points // max(len(visits.cells), 1)

    def through_all(self, known: Ints, progress: Progress) -> Ints:
        """How many traces pass through all the points of each row; NOTHING is passed by all that have points."""
        last = np.iinfo(np.int64).max
        number = self._numbered(known)
        rarest_first = np.where(known == NOTHING, last, (self._sizes[number] << 32) | number)
        rarest_first.sort(axis=1)
        blank = rarest_first[:, 0] == last
        asked = np.where(rarest_first == last, rarest_first[:, :1], rarest_first) & _low(32)
        asked[blank] = len(self._points) - 1
        asked, which = _once(asked)
        k = self._answers(asked, progress)[which]
        k[blank] = self._everybody
        return k

    def includes(self, traces: Ints, known: Ints) -> Flags:
        """Whether each of these traces passes through all the points of its row."""
        row = self._visits.rows(traces)
        who = np.append(self._number, 0)[row]
        fits = row >= 0
        for column in known.T:
            fits &= (column == NOTHING) | self._found(who, self._numbered(column))
        return fits

    def _numbers(self) -> Ints:
        """Traces that begin together get neighbouring numbers, so that a row of short ones is short."""
        visits = self._visits
        first = visits.keys[visits.starts[:-1]] & _low(visits.bits)
        number = np.empty(len(first), dtype=np.int64)
        number[np.argsort(first // max(len(visits.cells), 1), kind="stable")] = np.arange(len(first))
        return number

    def _by_point(self) -> Ints:
        """The same keys with the point in the high bits and the number of the trace in the low ones, sorted."""
        keys, starts = self._visits.keys, self._visits.starts
        cuts = np.unique(np.searchsorted(starts, np.arange(0, len(keys), 4 * BLOCK)))
        for begin, end in zip(cuts, [*cuts[1:], len(starts) - 1], strict=True):
            part = keys[starts[begin] : starts[end]]
            part &= _low(self._visits.bits)
            part <<= self._bits
            part |= np.repeat(self._number[begin:end], np.diff(starts[begin : end + 1]))
        keys.sort()
        return keys

    def _numbered(self, points: Ints) -> Ints:
        number = np.searchsorted(self._points, points)
        return np.where(self._points[number] == points, number, len(self._points) - 1)

    def _answers(self, asked: Ints, progress: Progress) -> Ints:
        """How many traces pass through all the points of each row: the rarest first, rows by their second."""
        k: Ints = self._sizes[asked[:, 0]]
        more = np.flatnonzero((asked != asked[:, :1]).any(axis=1) & (k > 0))
        slots = self._slots[asked[more, min(1, asked.shape[1] - 1)]]
        tasks = np.split(more, 1 + np.flatnonzero(slots[1:] != slots[:-1])) if len(more) else []

        def answer(rows: Ints) -> None:
            k[rows] = self._in_one_slot(asked[rows])

        with ThreadPoolExecutor(self._threads) as pool:
            for done, _ in enumerate(pool.map(answer, tasks), start=1):
                progress.show(done, len(tasks))
        return k

    def _in_one_slot(self, asked: Ints) -> Ints:
        """The same for questions whose second points are all in one slot."""
        low, row = self._row(int(self._slots[asked[0, 1]]))
        ends = np.cumsum(self._sizes[asked[:, 0]])
        cuts = np.unique(np.searchsorted(ends, np.arange(0, ends[-1], BLOCK), side="right"))
        counts: Ints = np.concatenate([self._thinned(block, low, row) for block in np.split(asked, cuts[1:])])
        return counts

    def _row(self, slot: int) -> tuple[int, Ints]:
        """Where everybody was in a slot, from the first number seen in it to the last, with a blank at either end."""
        begin, end = np.searchsorted(self._slots, [slot, slot + 1])
        who = self._keys[self._starts[begin] : self._starts[end]] & _low(self._bits)
        point = np.repeat(np.arange(begin, end), self._sizes[begin:end])
        low = int(who.min()) - 1
        who -= low
        row = np.full(int(who.max()) + 2, EMPTY)
        row[who] = point
        row[who[row[who] != point]] = SEVERAL
        return low, row

    def _thinned(self, asked: Ints, low: int, row: Ints) -> Ints:
        sizes = self._sizes[asked[:, 0]]
        question = np.repeat(np.arange(len(asked)), sizes)
        skipped = self._starts[asked[:, 0]] - np.cumsum(sizes) + sizes
        who = self._keys[np.arange(len(question)) + skipped[question]] & _low(self._bits)
        there = row.take(who - low, mode="clip")
        passes = there == asked[:, 1][question]
        unsure = np.flatnonzero(there == SEVERAL)
        passes[unsure] = self._found(who[unsure], asked[question[unsure], 1])
        kept = np.flatnonzero(passes)
        for column in asked.T[2:]:
            who, question = who[kept], question[kept]
            kept = np.flatnonzero(self._found(who, column[question]))
        return np.bincount(question[kept], minlength=len(asked))

    def _found(self, who: Ints, points: Ints) -> Flags:
        """Whether each trace passes through each point, by binary search."""
        sought = (self._points[points] << self._bits) | who
        at = np.searchsorted(self._keys, sought)
        found: Flags = self._keys.take(at, mode="clip") == sought
        return found


def _once(asked: Ints) -> tuple[Ints, Ints]:
    """Distinct rows, in the order of their second point, and which of them each row is."""
    columns = [*asked.T[1:2], *asked.T[:1], *asked.T[2:]]
    code = np.zeros(len(asked), dtype=np.int64)
    for column in columns:
        distinct, code = np.unique((code << 32) | column, return_inverse=True)
    one_of_each = np.empty(len(distinct), dtype=np.int64)
    one_of_each[code] = np.arange(len(asked))
    return asked[one_of_each], code


def _changes(keys: Ints, bits: int) -> Ints:
    """Where the part of sorted keys above the low bits changes, the beginning included."""
    found = [np.zeros(min(len(keys), 1), dtype=np.int64)]
    for begin in range(1, len(keys), 4 * BLOCK):
        high = keys[begin - 1 : begin + 4 * BLOCK] >> bits
        found.append(begin + np.flatnonzero(high[1:] != high[:-1]))
    return np.concatenate(found)


def _low(bits: int) -> int:
    return (1 << bits) - 1
