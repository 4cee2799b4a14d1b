"""The audit of what is published together: seconds and memory for a million published counts.

    python -m bench.differencing
    python -m bench.differencing --people 1500 --days 2
    python -m bench.differencing --people 1500 --days 1 --hexagons

By itself the audit proper, over made-up tables of three sizes of cells that add up: sums, bounds, programmes, and the
sum of every disclosed count in words. With `--people`, the whole verb in the lab of a simulated city, one record in
half an hour: squares of 250 m beside squares of 500 m and of 1,000 m, or h3:9 beside h3:8 and h3:7, whose sums do not
all hold, so that linear programmes are solved.
"""

from __future__ import annotations

import argparse
import datetime as dt
import resource
import time

import h3.api.basic_int as h3
import numpy as np

import trajlab as tl
from trajlab.differencing import sums
from trajlab.differencing.bounds import propagate
from trajlab.differencing.programme import solve
from trajlab.differencing.tables import Block, Table
from trajlab.differencing.words import Words
from trajlab.store import Store

SLOTS, CELLS, PEOPLE, K, WIDTH = 336, 130, 18_000, 3, 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--hexagons", action="store_true")
    args = parser.parse_args()
    if args.people is None:
        audit_tables()
    else:
        audit_city(args.people, args.days, ("h3:9", "h3:8", "h3:7") if args.hexagons else SQUARES)


SQUARES = ("square:250", "square:500", "square:1000")


def audit_tables() -> None:
    blocks = [_block(resolution, cells, truth) for resolution, cells, truth in _levels()]
    listed = sum(int((block.tables[0].low == block.tables[0].high).sum()) for block in blocks)
    nothing = Store()
    start, cpu = time.perf_counter(), time.process_time()
    found = sums.build(nothing, blocks)  # hexagons know their parents without a lab
    low, high = (np.concatenate([getattr(b.tables[0], end).ravel() for b in blocks]) for end in ("low", "high"))
    bounds = propagate(found.system, low, high)
    solved = solve(found.system, bounds, bounds.low < bounds.high, enough=WIDTH)
    low_now, high_now = solved.bounds.low, solved.bounds.high
    disclosed = np.flatnonzero((low < high) & (high_now > 0) & (high_now - low_now < min(WIDTH, K - 1)))
    words = Words(blocks, found, solved.bounds)
    texts = [words.derivation(unknown) for unknown in disclosed.tolist()]
    print(f"{listed:,} published counts, {len(low) - listed:,} hidden, {found.system.sums:,} sums")
    print(f"{len(texts):,} disclosed, {int(solved.too_large.sum()):,} unsolved")
    _print_cost(start, cpu)


def _levels() -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Cells and true counts of three resolutions, each the sum of the one before."""
    rng = np.random.default_rng(0)
    tops = sorted(h3.grid_disk(h3.latlng_to_cell(38.7, -9.1, 7), 6))[:CELLS]
    cells = np.array(sorted(child for top in tops for child in h3.cell_to_children(top, 9)), dtype=np.uint64)
    share = rng.gamma(0.35, 8.0, len(cells))
    truth = rng.multinomial(PEOPLE, share / share.sum(), SLOTS).astype(np.int64)
    levels = [(9, cells, truth)]
    for resolution in (8, 7):
        parents = np.array([h3.cell_to_parent(int(cell), resolution) for cell in cells], dtype=np.uint64)
        cells, column = np.unique(parents, return_inverse=True)
        order = np.argsort(column, kind="stable")
        firsts = np.searchsorted(column[order], np.arange(len(cells)))
        truth = np.add.reduceat(truth[:, order], firsts, axis=1)
        levels.append((resolution, cells, truth))
    return levels


def _block(resolution: int, cells: np.ndarray, truth: np.ndarray) -> Block:
    low, high = np.where(truth >= K, truth, 0), np.where(truth >= K, truth, K - 1)
    name = f"r{resolution}"
    return Block(
        key=name,
        index_id=resolution,
        index_name=f"h3:{resolution}",
        starts=dt.datetime(2026, 11, 16),
        slot_seconds=1800,
        slots=SLOTS,
        cells=cells,
        labels=[f"{cell:x}" for cell in cells.tolist()],
        values=None,
        release_id=name,
        truth=truth,
        tables=(Table(name, name, None, f"suppress:{K}", low, high, low, high, (PEOPLE, PEOPLE)),),
    )


def audit_city(people: int, days: int, indexes: tuple[str, ...]) -> None:
    lab = tl.open(":memory:", quiet=True)
    lab.ingest(tl.simulate(people=people, days=days, interval="30min", seed=1), tz="Europe/Lisbon")
    fine, *others = (lab.release(index, "30min", protect=[f"suppress:{K}"]) for index in indexes)
    listed = sum(len(release.counts) for release in (fine, *others))
    start, cpu = time.perf_counter(), time.process_time()
    found = lab.differencing(fine, beside=others, width=WIDTH, least=K)
    print(
        f"{listed:,} published counts, {found.hidden:,} hidden, {found.sums:,} sums, {found.left_out_sums:,} left out"
    )
    print(f"{found.recovered:,} recovered, {found.narrow:,} narrow, {found.unsolved:,} unsolved")
    _print_cost(start, cpu)


def _print_cost(start: float, cpu: float) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{time.perf_counter() - start:.1f} s, {time.process_time() - cpu:.1f} s of processors, {peak:.2f} GB at most"
    )


if __name__ == "__main__":
    main()
