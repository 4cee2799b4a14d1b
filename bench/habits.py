"""What each part of `habits` is worth: accuracy with it switched off, beside dsilva2024's; and how sure it is.

    python -m bench.habits
    python -m bench.habits --seeds 3 --only "city of 300"
    python -m bench.habits --people 10000 --square 500

After the accuracy (mean over seeds, least and most) come accuracy where tracks are paired by agreement instead,
processor time, what the attack believed of itself, how far that is from accuracy over tenths of the positions, and
the accuracy of the surest tenth, ties in the order of tracks.
StudentLife is read from the folder that TRAJLAB_DATA names.

With `--people` one simulated city of a week: seconds and processor time of the whole attack, processor time of the
start by dsilva2024 alone, peak memory of the process with the counts in it, and agreement of both.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

import trajlab as tl
from bench.ties import Floats, Ints, published
from trajlab import attacks
from trajlab.attacks._steps import StepLog
from trajlab.metrics.optimal import total_error

Shares = npt.NDArray[np.float32]

PAIRED = 12_000
"""Most people who are paired with tracks by agreement."""

WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "dsilva2024": ("dsilva2024", {}),
    "habits": ("habits", {}),
    "all travel alike": ("habits", {"alike": 1e6}),
    "one round of beliefs": ("habits", {"beliefs": 1}),
    "moves alone count": ("habits", {"evidence": 1e-9}),
    "no floor": ("habits", {"floor": 1e-6}),
    "exchange, no beliefs": ("habits", {"beliefs": 0}),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="sets whose name contains this")
    parser.add_argument("--people", type=int, help="one simulated city of so many people")
    parser.add_argument("--square", type=int, default=1000, help="its squares, in metres")
    args = parser.parse_args()
    if args.people:
        scale(args.people, args.square)
        return
    for name, counts, xy, per_day, truth in data(args.only):
        for way, (method, settings) in WAYS.items():
            start, found, agreed, trust = time.process_time(), [], [], []
            for seed in range(args.seeds):
                log, release = StepLog(), tl.Release.from_matrix(counts, xy, per_day, unit="m")
                tracks = attacks.load(method, **settings).recover(release, np.random.default_rng(seed), log)
                right = tracks == truth[linear_sum_assignment(total_error(tracks, truth.astype(np.int32), xy))[1]]
                found.append(right.mean())
                agreed.append(agreement(tracks, truth))
                if log.confidence is not None:
                    trust.append(reliability(log.confidence, right))
            seconds = (time.process_time() - start) / args.seeds
            spread = f"{np.mean(found):.3f} ({min(found):.3f} to {max(found):.3f})"
            spread += f" agree {np.mean(agreed):.3f} {seconds:6.1f} s"
            if trust:
                spread += " believed {:.2f}, off {:.2f}, surest tenth {:.2f}".format(*np.mean(trust, axis=0))
            print(f"{name:24} {way:21} {spread}", flush=True)


def scale(people: int, square: int) -> None:
    lab = tl.open(":memory:")
    lab.ingest(tl.simulate(people=people, days=7, seed=1), tz="Europe/Lisbon")
    counts, xy, per_day, truth = published(lab, index=f"square:{square}", slot="30min")
    del lab
    release, found = tl.Release.from_matrix(counts, xy, per_day, unit="m"), {}
    print(f"{people:,} people, {counts.shape[1]:,} cells, {counts.shape[0]} slots", flush=True)
    for method in ("dsilva2024", "habits"):
        start, cpu = time.perf_counter(), time.process_time()
        found[method] = attacks.load(method).recover(release, np.random.default_rng(0), StepLog())
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
        print(f"{method:11} {seconds:7.0f} s, processor {cpu:7.0f} s, peak {peak:.2f} GB", flush=True)
    for method, tracks in found.items() if people <= PAIRED else ():
        print(f"{method:11} agree {agreement(tracks, truth):.3f}")


def agreement(tracks: npt.NDArray[Any], truth: Ints) -> float:
    """Share of slots in the right cell where tracks are paired with people by the slots in which they agree."""
    people, slots = truth.shape
    where, first = np.arange(slots) * (int(truth.max()) + 1), np.arange(people + 1) * slots
    size = (people, slots * (int(truth.max()) + 1))
    one, two = (
        csr_array((np.ones(truth.size, np.float32), (where + cells).ravel(), first), shape=size)
        for cells in (tracks, truth)
    )
    same = np.concatenate([(one[start : start + 500] @ two.T).toarray() for start in range(0, people, 500)])
    return float(same[linear_sum_assignment(-same)].sum() / truth.size)


def reliability(confidence: Shares, right: npt.NDArray[np.bool_]) -> tuple[float, float, float]:
    """Mean confidence, its mean distance from accuracy over tenths, and the accuracy of the surest tenth."""
    order = np.argsort(-confidence.ravel(), kind="stable")
    tenths = [(confidence.ravel()[some].mean(), right.ravel()[some].mean()) for some in np.array_split(order, 10)]
    return float(confidence.mean()), float(np.mean([abs(sure - true) for sure, true in tenths])), float(tenths[0][1])


def data(only: str) -> Iterator[tuple[str, Ints, Floats, int, Ints]]:
    folder = Path(os.environ.get("TRAJLAB_DATA", "no data"))
    for size in (500, 200) if folder.is_dir() else ():
        if only in (name := f"StudentLife {size} m"):
            lab = tl.open(":memory:")
            lab.ingest(folder / "studentlife.parquet", tz="America/New_York")
            settings = {"index": f"square:{size}", "slot": "30min", "start": "2013-04-01", "days": 28}
            yield name, *published(lab, **settings)
    for people in (300, 1000):
        if only in (name := f"simulated city of {people}"):
            lab = tl.open(":memory:")
            lab.ingest(tl.simulate(people=people, days=7, seed=1), tz="Europe/Lisbon")
            yield name, *published(lab, index="square:1000", slot="30min")


if __name__ == "__main__":
    main()
