"""Re-identification of a whole population of the size of song2014: seconds, peak memory, growth from a tenth.

    python -m bench.risk
    python -m bench.risk --people 60000

People are simulated straight into the tables that an adversary searches: a home, a place of work and
some other places each, cells of Zipf popularity, about 68 hours of 672 observed. Each question is asked
of a fresh copy of the lab in a process of its own, with two threads; the engine's memory_limit is 3GB,
the peak is that of the whole process. Numbers of the paper: 633,798 people, 43 million records.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trajlab.store import Store

PEOPLE, CELLS, DAYS = 634_000, 1_700, 28
SLOTS = DAYS * 24
KNOWLEDGE = ("points:2", "points:3", "points:4")
TRACES = "simulated"
"""Id of the release and of its traces in the simulated labs."""
BATCH = 50_000

Ints = npt.NDArray[np.int64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--knowledge", nargs="+", default=KNOWLEDGE)
    parser.add_argument("--memory-limit", default="3GB")
    parser.add_argument("--folder", help="where to put the simulated labs, to use them again (default: temporary)")
    parser.add_argument("--one", nargs=2, metavar=("FILE", "KNOWLEDGE"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(Path(args.one[0]), args.one[1], args.memory_limit)))
        return
    print(f"{'knowledge':<12} {'people':>9} {'visits':>11} {'seconds':>8} {'peak GB':>8} {'unique':>7} {'growth':>7}")
    with tempfile.TemporaryDirectory() as scratch:
        files = [simulated(Path(args.folder or scratch), people) for people in (args.people // 10, args.people)]
        for knowledge in args.knowledge:
            small, large = (in_a_process_of_its_own(file, knowledge, args.memory_limit) for file in files)
            show(knowledge, small, small)
            show(knowledge, large, small)


def simulated(folder: Path, people: int) -> Path:
    """A lab that holds the traces of this many people and nothing else of them."""
    import trajlab as tl

    file = folder / f"people-{people}.duckdb"
    if not file.exists():
        unfinished = file.with_suffix(".part")
        with tl.open(unfinished, memory_limit="3GB", threads=2) as lab:
            fill(lab._store, people)
        unfinished.rename(file)
    return file


def fill(store: Store, people: int) -> None:
    from trajlab.risk import traces

    release = {
        "release_id": TRACES, "index_id": 0, "index_name": "simulated", "starts": dt.datetime(2024, 1, 1),
        "tz": "UTC", "slot_seconds": 3600, "slots_per_day": 24, "slots": SLOTS, "fill": "none", "min_count": 1,
    }  # fmt: skip
    with store.transaction("simulated traces"):
        store.insert("counts.release", pl.DataFrame({name: [value] for name, value in release.items()}))
        numbers = pl.DataFrame({"person": np.arange(1, people + 1, dtype=np.int32)})
        store.insert("records.person", numbers.with_columns(uid=pl.format("u{}", "person")))
        for visits in batches(people, np.random.default_rng(0)):
            store.insert("slots.visit", visits.with_columns(traces_id=pl.lit(TRACES), visits=pl.lit(1)))
            trace = visits.group_by("trace").len("records").with_columns(traces_id=pl.lit(TRACES), part=0)
            store.insert("slots.trace", trace.with_columns(person="trace", pseudonym=pl.lit(None, pl.String)))
        traces.describe(store, TRACES, TRACES, None, "observed", traces.UNPROTECTED)


def batches(people: int, rng: np.random.Generator) -> Iterator[pl.DataFrame]:
    """Who was where: `trace, slot, cell`, one cell per slot, some people much busier than others."""
    popular = 1 / np.arange(1, CELLS + 1) ** 0.6
    popular = np.cumsum(popular / popular.sum())
    awake = np.array([1, 1, 1, 1, 1, 2, 4, 6, 8, 8, 8, 8, 9, 8, 8, 8, 8, 9, 9, 8, 7, 6, 4, 2], dtype=float)
    awake = np.cumsum(awake / awake.sum())
    for first in range(0, people, BATCH):
        batch = min(BATCH, people - first)
        places = np.searchsorted(popular, rng.random((batch, 8)))
        busy = 1 + np.minimum(rng.lognormal(3.95, 0.95, batch), 600).astype(np.int64)
        who = np.repeat(np.arange(batch), busy)
        slot = rng.integers(0, DAYS, len(who)) * 24 + np.searchsorted(awake, rng.random(len(who)))
        seen = np.unique(who * SLOTS + slot)
        who, slot = np.divmod(seen, SLOTS)
        place = where(slot, rng)
        cell = np.where(place < 8, places[who, np.minimum(place, 7)], np.searchsorted(popular, rng.random(len(who))))
        yield pl.DataFrame(
            {"trace": (first + 1 + who).astype(np.int32), "slot": slot.astype(np.int32), "cell": cell.astype(np.uint64)}
        )


def where(slot: Ints, rng: np.random.Generator) -> Ints:
    """Which of their places people are at: 0 home, 1 work, 2 to 7 the others they know, 8 anywhere."""
    hour, day = slot % 24, slot // 24
    usual = ((hour >= 9) & (hour < 17) & (day % 7 < 5)).astype(np.int64)
    chance = rng.random(len(slot))
    known = rng.integers(2, 8, len(slot))
    return np.where(chance < 0.7, usual, np.where(chance < 0.93, known, 8))


def in_a_process_of_its_own(file: Path, knowledge: str, memory_limit: str) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.risk", "--memory-limit", memory_limit, "--one", str(file), knowledge]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def measure(file: Path, knowledge: str, memory_limit: str) -> dict[str, float]:
    import trajlab as tl
    from trajlab.risk import traces

    with tempfile.TemporaryDirectory(dir=file.parent) as scratch:
        copy = shutil.copy(file, Path(scratch) / "lab.duckdb")
        with tl.open(copy, memory_limit=memory_limit, threads=2) as lab:
            searched = traces.load(lab._store, TRACES)
            began = time.perf_counter()
            risk = lab.risk(searched, knowledge)
            seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
    return {
        "people": searched.traces, "visits": searched.visits, "seconds": seconds, "peak_gb": peak,
        "unique": risk.unique_share,
    }  # fmt: skip


def show(knowledge: str, run: dict[str, float], small: dict[str, float]) -> None:
    growth = f"{run['seconds'] / small['seconds']:6.1f}x" if run is not small else ""
    print(
        f"{knowledge:<12} {run['people']:>9,} {run['visits']:>11,} {run['seconds']:>8.1f} {run['peak_gb']:>8.2f} "
        f"{run['unique']:>7.1%} {growth:>7}",
        flush=True,
    )


if __name__ == "__main__":
    main()
