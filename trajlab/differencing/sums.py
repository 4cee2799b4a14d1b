"""How published tables add up to each other: the sums that true counts satisfy.

- The counts of a slot add up to the number of people, where that is published.
- The counts of cells that lie wholly in a larger cell add up to the count of the larger one; hexagons are taken to lie
  in their parents, as a reader would.
- The counts of the groups of a cube add up to the count of everybody.
- Over longer slots nothing adds up: somebody is counted once in a longer slot and in each of the shorter ones. But
  whoever is in a cell of the longer slot is there in one of the shorter ones, or nearly so: the count of the longer
  slot is at most the sum of those of the shorter.

People are put where most of their records of the slot are, so a sum over cells need not hold to the person. The lab
knows which sums do. Those that do not are left out and counted: a reader who used them would be misled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from trajlab.differencing.bounds import UNBOUNDED, Ints, Mask, System
from trajlab.differencing.tables import Block, Columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trajlab.store import Store

WHOLLY = 0.99
"""Share of its area from which on a cell lies wholly in a larger one: outlines are drawn in degrees."""
NOWHERE = -1


@dataclass(frozen=True, eq=False)
class Sums:
    """The sums over all blocks; a block's counts are unknowns from its `offsets` on, slot by slot.

    `whole` is the unknown that the others of a sum add up to, or NOWHERE where that is a published number. `left_out`
    is how many sums do not hold.
    """

    system: System
    offsets: Ints
    whole: npt.NDArray[np.int64]
    kind: npt.NDArray[np.int8]
    left_out: int


TOTAL, PARTS, LONGER, REST = range(4)
"""Kinds of sums: of a slot; of parts of a larger cell or of groups; over a longer slot; of a slot less what holds."""


@dataclass(frozen=True, eq=False)
class _Rows:
    """Sums of one kind, each as long as `lengths` says, and the unknown that they add up to."""

    lengths: Ints
    unknown: Ints
    sign: npt.NDArray[np.int8]
    least: Ints
    most: Ints
    whole: Ints
    kind: int


def build(store: Store, blocks: Sequence[Block]) -> Sums:
    """Every sum between the blocks that holds."""
    offsets = np.concatenate([[0], np.cumsum([block.slots * block.columns for block in blocks])]).astype(np.int64)
    truth = _true_counts(blocks, offsets)
    left_out = 0
    made: list[_Rows] = []
    replaced: dict[int, list[_Rows]] = {}
    for fine, coarse, within in _nested(store, blocks):
        rows = _parts(blocks, offsets, fine, coarse, within)
        if rows is None:
            continue
        holds = _holds(rows, truth)
        left_out += int((~holds).sum())
        made.append(_chosen(rows, holds))
        if rows.kind == PARTS and fine not in replaced and _totals(blocks[fine]) and _totals(blocks[coarse]):
            replaced[fine] = _rest(blocks, offsets, (fine, coarse), within, holds)
    for number, block in enumerate(blocks):
        made += replaced[number] if number in replaced else _total(block, int(offsets[number]))
    return Sums(*_united(made, offsets), left_out=left_out)


def _true_counts(blocks: Sequence[Block], offsets: Ints) -> Ints:
    """All unknowns as they are; 0 where the lab does not know, of which no sum with another table is made."""
    truth = np.zeros(int(offsets[-1]), dtype=np.int64)
    for number, block in enumerate(blocks):
        if block.truth is not None:
            truth[offsets[number] : offsets[number + 1]] = block.truth.ravel()
    return truth


def _united(made: Sequence[_Rows], offsets: Ints) -> tuple[System, Ints, Ints, npt.NDArray[np.int8]]:
    none = np.zeros(0, dtype=np.int64)
    lengths, unknown, least, most, whole = (
        np.concatenate([none, *(getattr(rows, name) for rows in made)])
        for name in ("lengths", "unknown", "least", "most", "whole")
    )
    sign = np.concatenate([none.astype(np.int8), *(rows.sign for rows in made)])
    kind = np.repeat([rows.kind for rows in made], [len(rows.lengths) for rows in made]).astype(np.int8)
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return System(first, unknown.astype(np.int32), sign, least, most), offsets, whole, kind


def _totals(block: Block) -> tuple[int, int] | None:
    """How many people every slot has, as closely as the tables of a block say together."""
    told = [table.total for table in block.tables if table.total is not None]
    return (max(low for low, _ in told), min(high for _, high in told)) if told else None


def _total(block: Block, offset: int) -> list[_Rows]:
    total = _totals(block)
    if total is None:
        return []
    size = block.slots * block.columns
    return [
        _Rows(
            lengths=np.full(block.slots, block.columns),
            unknown=offset + np.arange(size),
            sign=np.ones(size, dtype=np.int8),
            least=np.full(block.slots, total[0]),
            most=np.full(block.slots, total[1]),
            whole=np.full(block.slots, NOWHERE),
            kind=TOTAL,
        )
    ]


def _parts(blocks: Sequence[Block], offsets: Ints, fine: int, coarse: int, within: Columns) -> _Rows | None:
    """Σ parts - whole, for every slot that both have: 0, or at least 0 where the whole is over a longer slot."""
    small, large = blocks[fine], blocks[coarse]
    slots = _shared_slots(small, large)
    if slots is None or not len(slots[0]):
        return None
    begin, long = slots
    ratio = large.slot_seconds // small.slot_seconds
    parts = np.flatnonzero(within != NOWHERE)
    parts = parts[np.argsort(within[parts], kind="stable")]
    wholes, number = np.unique(within[parts], return_counts=True)
    # One slot's terms: of each whole its parts in every shorter slot, then itself; then the same for all slots.
    shorter = np.arange(ratio)[:, None] * small.columns + parts[None, :]
    group = np.repeat(np.arange(len(wholes)), number)
    template = np.concatenate([shorter.ravel(), wholes])
    of_whole = np.concatenate([np.tile(group, ratio), np.arange(len(wholes))])
    is_whole = np.concatenate([np.zeros(shorter.size, dtype=bool), np.ones(len(wholes), dtype=bool)])
    order = np.lexsort((is_whole, of_whole))
    template, is_whole = template[order], is_whole[order]
    from_fine = offsets[fine] + begin[:, None] * small.columns
    from_coarse = offsets[coarse] + long[:, None] * large.columns
    unknown = np.where(is_whole, from_coarse + template, from_fine + template)
    sums = len(long) * len(wholes)
    return _Rows(
        lengths=np.tile(number * ratio + 1, len(long)),
        unknown=unknown.ravel(),
        sign=np.tile(np.where(is_whole, -1, 1).astype(np.int8), len(long)),
        least=np.zeros(sums, dtype=np.int64),
        most=np.full(sums, 0 if ratio == 1 else UNBOUNDED),
        whole=(from_coarse + wholes).ravel(),
        kind=PARTS if ratio == 1 else LONGER,
    )


def _shared_slots(small: Block, large: Block) -> tuple[Ints, Ints] | None:
    """The first shorter slot of each longer one, and the longer one; None where they never begin together."""
    if large.slot_seconds % small.slot_seconds:
        return None
    ratio = large.slot_seconds // small.slot_seconds
    apart = (large.starts - small.starts).total_seconds()
    if apart % small.slot_seconds:
        return None
    long = np.arange(large.slots, dtype=np.int64)
    begin = long * ratio + int(apart) // small.slot_seconds
    inside = (begin >= 0) & (begin + ratio <= small.slots)
    return begin[inside], long[inside]


def _rest(blocks: Sequence[Block], offsets: Ints, pair: tuple[int, int], within: Columns, holds: Mask) -> list[_Rows]:
    """In place of the total of a finer table: what its sums leave of it.

    Both tables add up to the number of people. Sums that hold, taken from both, leave the cells of those that do not:
    the smaller of these add up to the larger, up to what is known of the totals. Without this, every
    slot would be a circle of sums that say the same.
    """
    fine, coarse = pair
    small, large = blocks[fine], blocks[coarse]
    begin, long = _shared_slots(small, large) or (np.zeros(0, np.int64),) * 2
    wholes = np.unique(within[within != NOWHERE])
    good = np.zeros((len(long), large.columns), dtype=bool)
    good[:, wholes] = holds.reshape(len(long), len(wholes))
    (fine_low, fine_high), (coarse_low, coarse_high) = _totals(small) or (0, 0), _totals(large) or (0, 0)
    rows = []
    part_is_good = good[:, within] & (within != NOWHERE)
    for place, (first, second) in enumerate(zip(begin.tolist(), long.tolist(), strict=True)):
        parts, larger = np.flatnonzero(~part_is_good[place]), np.flatnonzero(~good[place])
        if len(parts) + len(larger) == 0:
            continue
        unknown = np.concatenate(
            [offsets[fine] + first * small.columns + parts, offsets[coarse] + second * large.columns + larger]
        )
        sign = np.concatenate([np.ones(len(parts), np.int8), -np.ones(len(larger), np.int8)])
        rows.append((unknown, sign))
    alone = np.setdiff1d(np.arange(small.slots), begin)
    made = _total(small, int(offsets[fine])) if len(alone) else []
    made = [_chosen(made[0], np.isin(np.arange(small.slots), alone))] if made else []
    if rows:
        made.append(
            _Rows(
                lengths=np.array([len(unknown) for unknown, _ in rows], dtype=np.int64),
                unknown=np.concatenate([unknown for unknown, _ in rows]),
                sign=np.concatenate([sign for _, sign in rows]).astype(np.int8),
                least=np.full(len(rows), fine_low - coarse_high),
                most=np.full(len(rows), fine_high - coarse_low),
                whole=np.full(len(rows), NOWHERE),
                kind=REST,
            )
        )
    return made


def _holds(rows: _Rows, truth: Ints) -> Mask:
    first = np.concatenate([[0], np.cumsum(rows.lengths)])[:-1]
    values = np.add.reduceat(truth[rows.unknown] * rows.sign, first)
    return (values >= rows.least) & (values <= rows.most)


def _chosen(rows: _Rows, which: Mask) -> _Rows:
    terms = np.repeat(which, rows.lengths)
    return _Rows(
        rows.lengths[which],
        rows.unknown[terms],
        rows.sign[terms],
        rows.least[which],
        rows.most[which],
        rows.whole[which],
        rows.kind,
    )


def _nested(store: Store, blocks: Sequence[Block]) -> Iterator[tuple[int, int, Columns]]:
    """Pairs of blocks whose columns lie in each other's, without those that follow from two others."""
    inside: dict[tuple[int, int], Columns] = {}
    for fine, small in enumerate(blocks):
        for coarse, large in enumerate(blocks):
            if fine != coarse and small.truth is not None and large.truth is not None and _may_nest(small, large):
                if (
                    small.index_id == large.index_id
                    and small.slot_seconds == large.slot_seconds
                    and ((small.values is None) == (large.values is None) and fine > coarse)
                ):
                    continue  # the same cells in two periods: one way round
                within = _within(store, small, large)
                if within is not None:
                    inside[fine, coarse] = within
    for (fine, coarse), within in inside.items():
        between = (
            middle
            for middle in range(len(blocks))
            if (fine, middle) in inside
            and (middle, coarse) in inside
            and (middle, fine) not in inside
            and _covers(blocks[middle], blocks[fine], blocks[coarse])
        )
        if not any(between):
            yield fine, coarse, within


def _covers(middle: Block, fine: Block, coarse: Block) -> bool:
    """Whether sums over a block in the middle say all that sums without it would: it has the slots of both."""
    begin = max(fine.starts, coarse.starts)
    return (
        middle.starts <= begin
        and middle.slot_seconds in (fine.slot_seconds, coarse.slot_seconds)
        and (
            middle.slots * middle.slot_seconds
            >= min(fine.slots * fine.slot_seconds, coarse.slots * coarse.slot_seconds)
        )
    )


def _may_nest(small: Block, large: Block) -> bool:
    """Whether the columns of one may lie in those of the other, by what they are."""
    shared = _shared_slots(small, large)
    if shared is None or not len(shared[0]) or large.values is not None:
        return False
    if small.values is not None:
        return small.release_id == large.release_id or small.index_id == large.index_id
    return small.columns >= large.columns


def _within(store: Store, small: Block, large: Block) -> Columns | None:
    """The column of the larger cell that each smaller one lies in; None where they do not nest."""
    if small.index_id == large.index_id:
        return _found(large.cells, small.cells)
    kinds = small.index_name.partition(":"), large.index_name.partition(":")
    if kinds[0][0] == kinds[1][0] == "h3":
        return _within_hexagons(small, large, int(kinds[0][2]), int(kinds[1][2]))
    return _within_outlines(store, small, large)


def _within_hexagons(small: Block, large: Block, fine: int, coarse: int) -> Columns | None:
    import polars_h3

    if fine < coarse:
        return None
    cells = pl.DataFrame({"cell": small.cells})
    if fine > coarse:
        cells = cells.select(cell=polars_h3.cell_to_parent("cell", coarse))
    return _found(large.cells, cells["cell"].cast(pl.UInt64).to_numpy())


def _found(cells: npt.NDArray[np.uint64], wanted: npt.NDArray[np.uint64]) -> Columns | None:
    place = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
    within = np.where(cells[place] == wanted, place, NOWHERE)
    return within if (within != NOWHERE).any() else None


def _within_outlines(store: Store, small: Block, large: Block) -> Columns | None:
    """By their outlines: a larger cell counts only where all that overlap it lie wholly in it."""
    import shapely

    outlines = [_outlines(store, block) for block in (small, large)]
    if any(outline is None for outline in outlines):
        return None
    fine, coarse = (shapely.from_wkt(outline) for outline in outlines)
    areas = shapely.area(fine)
    one, other = shapely.STRtree(coarse).query(fine, predicate="intersects")
    share = shapely.area(shapely.intersection(fine[one], coarse[other])) / areas[one]
    wholly, partly = share >= WHOLLY, (share > 1 - WHOLLY) & (share < WHOLLY)
    within = np.full(small.columns, NOWHERE)
    within[one[wholly]] = other[wholly]
    within[np.isin(within, np.unique(other[partly]))] = NOWHERE
    return within if (within != NOWHERE).any() else None


def _outlines(store: Store, block: Block) -> list[str] | None:
    frame = store.frame("select cell, polygon from grid.cell where index_id = $id", id=block.index_id)
    found = pl.DataFrame({"cell": block.cells}).join(frame, on="cell", how="left", maintain_order="left")["polygon"]
    return None if found.null_count() else found.to_list()
