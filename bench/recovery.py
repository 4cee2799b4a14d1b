"""Recovering tracks from counts: seconds, peak memory, proof, and how long the plain way takes.

    python -m bench.recovery
    python -m bench.recovery --large

Each attack runs in a process of its own; its CPU seconds are over all cores, and say more than the clock
where other work goes on. `gap` is the largest distance of a step's cost from its
bound, relative to the cost. The plain way writes down the cost of every pair of people and hands
it to SciPy's Hungarian method; it is timed on some of the matchings, from the state that the
attack was in, scaled to all of them, and must find the same costs. Porto is read from the folder
that TRAJLAB_DATA names.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from trajlab.release import Release

ATTACKS = ("xu2017", "dsilva2024")
PUBLISHED = {"xu2017": 220.0, "dsilva2024": 360.0}
"""Seconds that the published code is said to take for Porto 7×7, on another machine."""
LOOKBACK = 3
SQUARE = 500.0

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="100,000 people in 8,000 cells too (an hour or more)")
    parser.add_argument("--only", choices=["porto", "fine", "small", "middle", "large"], help="one size alone")
    parser.add_argument("--attacks", nargs="+", default=ATTACKS, choices=ATTACKS)
    parser.add_argument("--steps", type=int, default=8, help="steps that the plain way is timed on in a small city")
    parser.add_argument("--one", nargs=3, metavar=("FILE", "ATTACK", "STEPS"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(Path(args.one[0]), args.one[1], int(args.one[2]))))
        return
    sizes = [args.only] if args.only else ["porto", "fine", "small", "middle", *(["large"] if args.large else [])]
    titles = ("people", 8), ("cells", 6), ("slots", 6), ("seconds", 8), ("CPU s", 7), ("peak GB", 8), ("gap", 8)
    print(f"{'':24} {'attack':<11} " + " ".join(f"{title:>{width}}" for title, width in titles))
    with tempfile.TemporaryDirectory() as scratch:
        for name, file, steps in releases(sizes, Path(scratch), args.steps):
            for attack in args.attacks:
                show(name, attack, in_a_process_of_its_own(file, attack, steps))


def releases(sizes: list[str], folder: Path, steps: int) -> Iterator[tuple[str, Path, int]]:
    """What to call it, its file, and how many of its steps to take the plain way."""
    file = folder / "release.npz"
    if "porto" in sizes:
        data = Path(os.environ.get("TRAJLAB_DATA", "no data"))
        if data.is_dir():
            save(file, Release.from_matrix(data / "porto_7x7_counts.csv", data / "porto_7x7_cells.csv"))
            yield "Porto 7×7", file, 7 * 144
        else:
            print("Porto 7×7 is left out: TRAJLAB_DATA names no folder")
    if "fine" in sizes:
        save(file, city(40, 0, minutes=2))
        yield "40 every two minutes", file, 0
    for size, people, stations, some in (
        ("small", 1_500, 1_000, steps), ("middle", 10_000, 3_000, 0), ("large", 100_000, 8_000, 0),
    ):  # fmt: skip
        if size in sizes:
            for masts in (0, stations):
                save(file, city(people, masts))
                yield f"{people:,} at stations" if masts else f"{people:,} in squares", file, some


def city(people: int, stations: int, days: int = 7, minutes: int = 30) -> Release:
    """Counts of a simulated city every few minutes, in 500 m squares or at the nearest of some stations."""
    from scipy.spatial import cKDTree

    from trajlab.simulation import simulate_batches

    rng = np.random.default_rng(0)
    per_day = 1440 // minutes
    slots = days * per_day
    masts = np.empty((0, 2))
    found: list[Ints] = []
    for frame in simulate_batches(people, days, seed=0, interval=f"{minutes}min"):
        lon, lat = (frame[name].to_numpy() for name in ("lng", "lat"))
        xy = np.column_stack([(lon + 9.1393) * 111_320 * np.cos(np.radians(38.7223)), (lat - 38.7223) * 110_574])
        if stations:
            if not len(masts):
                masts = xy[rng.choice(len(xy), stations, replace=False)] + rng.normal(0, 150, (stations, 2))
            cell = cKDTree(masts).query(xy, workers=-1)[1]
        else:
            east, north = np.floor(xy / SQUARE).astype(np.int64).T + 5_000
            cell = east * 10_000 + north
        found.append(cell * slots + np.arange(len(frame)) % slots)
    visit, times = np.unique(np.concatenate(found), return_counts=True)
    cells, column = np.unique(visit // slots, return_inverse=True)
    counts = np.zeros((slots, len(cells)), dtype=np.int64)
    counts[visit % slots, column] = times
    squares = (np.column_stack([cells // 10_000, cells % 10_000]) - 4_999.5) * SQUARE
    return Release.from_matrix(counts, masts[cells] if stations else squares, per_day, unit="m")


def save(file: Path, release: Release) -> None:
    np.savez(file, counts=release.matrix(), xy=release.xy(), slots_per_day=release.slots_per_day)


def in_a_process_of_its_own(file: Path, attack: str, steps: int) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.recovery", "--one", str(file), attack, str(steps)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def measure(file: Path, name: str, steps: int) -> dict[str, float]:
    from trajlab.attacks import load
    from trajlab.attacks._small import FEW
    from trajlab.attacks._steps import StepLog

    stored = np.load(file)
    release = Release.from_matrix(stored["counts"], stored["xy"], int(stored["slots_per_day"]), unit="m")
    attack, log = load(name), StepLog()
    if release.people <= FEW:  # loops are compiled once, or loaded, and not measured
        attack.recover(city(release.people, 0, days=2), np.random.default_rng(0), StepLog())
    began, worked = time.perf_counter(), time.process_time()
    tracks = attack.recover(release, np.random.default_rng(0), log)
    seconds, cpu = time.perf_counter() - began, time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
    costs = {step.slot: step.cost for step in log.steps}
    gap = max((step.cost - step.bound) / step.cost for step in log.steps if step.cost > 0)
    plain = Plain(release, tracks.astype(np.int64), habits=name == "dsilva2024").scaled(steps, costs) if steps else {}
    return {
        "people": release.people, "cells": len(release.cells), "slots": release.slots,
        "seconds": seconds, "cpu": cpu, "peak_gb": peak, "gap": gap, **plain,
    }  # fmt: skip


class Plain:
    """People × people costs by vectorised formulas, then the Hungarian method."""

    def __init__(self, release: Release, tracks: Ints, *, habits: bool) -> None:
        self.xy, self.tracks, self.habits = release.xy(), tracks, habits
        self.slots, self.per_day = release.slots, release.slots_per_day

    def scaled(self, steps: int, costs: dict[int, float]) -> dict[str, float]:
        """Seconds of all matchings, from some steps spread over the first week and one link."""
        slots = np.arange(1, min(self.slots, 7 * self.per_day))
        slots = slots[slots % self.per_day > 0]
        chosen = slots[np.linspace(0, len(slots) - 1, min(steps, len(slots))).astype(int)]
        moving = [self._timed(int(slot), costs[int(slot)]) for slot in chosen]
        link = self._timed(int(slots[-1]) // self.per_day * self.per_day, None)
        links = -(-self.slots // self.per_day) - 1
        steps_alone = (self.slots - 1 - links) * float(np.mean(moving))
        return {"plain": steps_alone + links * link, "links": links * link, "measured": len(moving) + 1}

    def _timed(self, slot: int, told: float | None) -> float:
        """Seconds of one matching; a step must cost what the attack said."""
        from scipy.optimize import linear_sum_assignment

        began = time.perf_counter()
        cost = self._step(slot) if slot % self.per_day else self._link(slot // self.per_day)
        row, column = linear_sum_assignment(cost)
        seconds = time.perf_counter() - began
        best = float(cost[row, column].sum())
        told = float(np.trace(cost)) if told is None else told
        if abs(best - told) > 1e-6 * max(best, float(cost.max())):
            raise SystemExit(f"the two disagree in slot {slot}: {told} is not {best}")
        return seconds

    def _step(self, slot: int) -> Floats:
        """Distances of all places counted in a slot from where each track is expected."""
        from scipy.spatial.distance import cdist

        places, now, before = self.xy[self.tracks[:, slot]], self.tracks[:, slot - 1], self.tracks[:, slot - 2]
        day, at = divmod(slot - 1, self.per_day)
        night = at == 0 if self.habits else at * 24 < 6 * self.per_day
        if night:
            return np.asarray(cdist(self.xy[now], places))
        going = 2 * self.xy[now] - self.xy[before]
        cost: Floats = cdist(going, places)
        if self.habits and day:
            rank = self._usual(day)
            for nth in range(1, int(rank[now, -1].max()) + 1):
                has = rank[now, -1] >= nth
                cell = np.argmax(rank[now[has]] == nth, axis=1)
                cost[has] = np.minimum(cost[has], cdist(self.xy[cell], places))
        return cost

    @functools.cache  # noqa: B019 (one day's table serves all its steps, and the process ends with them)
    def _usual(self, day: int) -> Ints:
        """Cells × cells: which most frequent successor of the row each column is, the first, the second, ..."""
        table = np.zeros((len(self.xy), len(self.xy)))
        past = self.tracks[:, : day * self.per_day]
        np.add.at(table, (past[:, :-1].ravel(), past[:, 1:].ravel()), 1)
        return np.cumsum((table == table.max(axis=1, keepdims=True)) & (table > 0), axis=1)

    def _link(self, day: int) -> Floats:
        """The information gain of all pairs of days by its definition, the least over the days looked back to."""
        days = [self._visits(number) for number in range(day, max(day - 1 - (LOOKBACK if self.habits else 1), -1), -1)]
        today, earlier = days[0], days[1:]
        gains = []
        for past in earlier:
            both = past.sum(axis=1)[0] + today.sum(axis=1)[0]
            joint = np.array([_entropy((line + today) / both) for line in past])
            alone = [_entropy(visits / visits.sum(axis=1, keepdims=True)) for visits in (past, today)]
            gains.append(joint - (alone[0][:, None] + alone[1]) / 2)
        least: Floats = np.min(gains, axis=0)
        return least

    def _visits(self, day: int) -> Floats:
        part = self.tracks[:, day * self.per_day : (day + 1) * self.per_day]
        visits = np.zeros((len(part), len(self.xy)))
        np.add.at(visits, (np.arange(len(part))[:, None], part), 1)
        return visits


def _entropy(shares: Floats) -> Floats:
    bits: Floats = -np.sum(shares * np.log2(shares, out=np.zeros_like(shares), where=shares > 0), axis=1)
    return bits


def show(name: str, attack: str, run: dict[str, float]) -> None:
    print(
        f"{name:24} {attack:<11} {run['people']:>8,} {run['cells']:>6,} {run['slots']:>6,} {run['seconds']:>8.1f} "
        f"{run['cpu']:>7.0f} {run['peak_gb']:>8.2f} {run['gap']:>8.0e}",
        flush=True,
    )
    if name.startswith("Porto"):
        stated = PUBLISHED[attack]
        print(f"{'':24} the published code, as stated: {stated:,.0f} s, ratio {stated / run['seconds']:.0f}")
    if "plain" in run:
        print(
            f"{'':24} plain people × people: {run['plain']:,.0f} s, ratio {run['plain'] / run['seconds']:.0f} "
            f"({run['links']:,.0f} s for links; scaled from {run['measured']:,} matchings, same costs in all)",
            flush=True,
        )


if __name__ == "__main__":
    main()
