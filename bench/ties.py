"""How ties fall: the recovery of both attacks beside a plain Hungarian's, same steps, same costs.

    python -m bench.ties
    python -m bench.ties --seeds 3 --only studentlife

The plain way writes down the cost of every pair of people and hands it to SciPy, whose ties
fall by the order of rows and columns; cells are put into a random order for each seed, tracks
keep theirs. Both solve every step exactly, so all that differs is which of several best
matchings is taken. StudentLife is read from the folder that TRAJLAB_DATA names.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

import trajlab as tl

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

ATTACKS = ("xu2017", "dsilva2024")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", choices=["studentlife", "city"])
    args = parser.parse_args()
    print(f"{'':34} {'attack':<11} {'trajlab':>16} {'plain':>16}   (mean accuracy over {args.seeds} seeds ± its error)")
    for name, counts, xy, per_day, truth in data(args.only):
        for attack in ATTACKS:
            found = [
                (
                    accuracy(
                        tl.recover(counts, xy, slots_per_day=per_day, method=attack, seed=seed, unit="m"), truth, xy
                    ),
                    accuracy(plain(counts, xy, per_day, attack, seed), truth, xy),
                )
                for seed in range(args.seeds)
            ]
            mean = np.mean(found, axis=0)
            error = np.std(found, axis=0) / max(args.seeds - 1, 1) ** 0.5
            told = (f"{m:>8.3f} ± {e:.3f}" for m, e in zip(mean, error, strict=True))
            print(f"{name:34} {attack:<11} " + " ".join(told), flush=True)


def data(only: str | None) -> Iterator[tuple[str, Ints, Floats, int, Ints]]:
    folder = Path(os.environ.get("TRAJLAB_DATA", "no data"))
    if only != "city" and folder.is_dir():
        lab = tl.open(":memory:")
        lab.ingest(folder / "studentlife.parquet", tz="America/New_York")
        for size in (500, 200):
            for slot, days in (("30min", 28), ("10min", 28), ("2min", 14)):
                named = f"StudentLife {size} m, {slot}, {days} d"
                yield named, *published(lab, index=f"square:{size}", slot=slot, start="2013-04-01", days=days)
    if only != "studentlife":
        for people, slot in ((300, "30min"), (300, "10min")):
            lab = tl.open(":memory:")
            lab.ingest(tl.simulate(people=people, days=7, seed=1), tz="Europe/Lisbon")
            yield f"simulated city of {people}, {slot}", *published(lab, index="square:500", slot=slot)


def published(lab: tl.Lab, **settings: object) -> tuple[Ints, Floats, int, Ints]:
    """Counts, coordinates, slots a day, and the truth as people × slots of cell numbers."""
    release = lab.release(**settings)  # type: ignore[arg-type]
    where = "select cell from slots.position where release_id = $id order by person, slot"
    cell = np.searchsorted(release.cells["cell"].to_numpy(), lab.sql(where, id=release.id)["cell"].to_numpy())
    return release.matrix(), release.xy(), release.slots_per_day, cell.reshape(-1, release.slots)


def accuracy(tracks: npt.NDArray[np.integer], truth: npt.NDArray[np.integer], xy: Floats) -> float:
    """Share of slots in the right cell, tracks paired with people by the least total error."""
    apart = cdist(xy, xy).astype(np.float32)
    error = np.array([sum(apart[track[at], person] for at, person in enumerate(truth.T)) for track in tracks])
    return float((tracks == truth[linear_sum_assignment(error)[1]]).mean())


def plain(counts: Ints, xy: Floats, per_day: int, attack: str, seed: int, night_hours: int = 6) -> Ints:
    """Either attack, one Hungarian a step, ties by the order of rows and columns."""
    order = np.random.default_rng(seed).permutation(len(xy))
    counts, xy, cells = counts[:, order], xy[order], len(xy)
    seen = np.zeros((cells, cells), dtype=np.int64)
    tracks = np.empty((int(counts[0].sum()), 0), dtype=np.int64)
    for start in range(0, len(counts), per_day):
        usual = (seen == seen.max(axis=1, keepdims=True)) & (seen > 0) if attack == "dsilva2024" else None
        night = per_day * night_hours // 24 if attack == "xu2017" else 0
        today = plain_day(counts[start : start + per_day], xy, night, usual)
        if start:
            days = range(start - per_day, max(start - per_day * (4 if attack == "dsilva2024" else 2), -1), -per_day)
            gain = np.min([gains(tracks[:, day : day + per_day], today, cells) for day in days], axis=0)
            today = today[linear_sum_assignment(gain)[1]]
        joined = np.concatenate([tracks[:, -1:], today], axis=1)
        np.add.at(seen, (joined[:, :-1].ravel(), joined[:, 1:].ravel()), 1)
        tracks = np.concatenate([tracks, today], axis=1)
    listed: Ints = order[tracks]
    return listed


def plain_day(counts: Ints, xy: Floats, night: int, usual: npt.NDArray[np.bool_] | None) -> Ints:
    tracks = [np.repeat(np.arange(len(xy)), counts[0])]
    for slot, demand in enumerate(counts[1:]):
        now, places = tracks[-1], np.flatnonzero(demand)
        if slot == 0 or slot < night:
            cost = cdist(xy[now], xy[places])
        else:
            cost = cdist(2 * xy[now] - xy[tracks[-2]], xy[places])
            for cell in np.unique(now) if usual is not None else ():
                if usual is not None and usual[cell].any():
                    near = cdist(xy[usual[cell]], xy[places]).min(axis=0)
                    cost[now == cell] = np.minimum(cost[now == cell], near)
        seats = np.repeat(np.arange(len(places)), demand[places])
        tracks.append(places[seats[linear_sum_assignment(cost[:, seats])[1]]])
    return np.column_stack(tracks)


def gains(first: Ints, second: Ints, cells: int) -> Floats:
    """xu2017, eq. 4, for every pair of tracks."""
    one, two = (np.array([np.bincount(track, minlength=cells) for track in day]) for day in (first, second))
    return np.array([entropy(row + two) for row in one]) - (entropy(one)[:, None] + entropy(two)) / 2


def entropy(spent: Ints) -> Floats:
    whole = spent.sum(axis=-1)
    bits: Floats = np.log2(whole) - (spent * np.log2(np.maximum(spent, 1))).sum(axis=-1) / whole
    return bits


if __name__ == "__main__":
    main()
