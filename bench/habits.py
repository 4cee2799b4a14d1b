"""What each part of `habits` is worth: accuracy with it switched off, beside dsilva2024's.

    python -m bench.habits
    python -m bench.habits --seeds 3 --only city

StudentLife is read from the folder that TRAJLAB_DATA names.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import trajlab as tl
from bench.ties import Floats, Ints, accuracy, published

WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "dsilva2024": ("dsilva2024", {}),
    "habits": ("habits", {}),
    "one restart": ("habits", {"restarts": 1}),
    "no joint linking": ("habits", {"joining": 0}),
    "no exchange": ("habits", {"windows": 0, "rounds": 6, "samples": 1}),
    "moves alone count": ("habits", {"evidence": 1e-9}),
    "no floor": ("habits", {"floor": 1e-6}),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", choices=["studentlife", "city"])
    args = parser.parse_args()
    for name, counts, xy, per_day, truth in data(args.only):
        for way, (method, settings) in WAYS.items():
            start, found = time.process_time(), []
            for seed in range(args.seeds):
                tracks = tl.recover(
                    counts, xy, slots_per_day=per_day, method=method, seed=seed, unit="m", **settings
                )  # fmt: skip
                found.append(accuracy(tracks, truth, xy))
            spread = f"{np.mean(found):.3f} ({min(found):.3f} to {max(found):.3f})"
            print(f"{name:28} {way:18} {spread} {(time.process_time() - start) / args.seeds:7.1f} s", flush=True)


def data(only: str | None) -> Iterator[tuple[str, Ints, Floats, int, Ints]]:
    folder = Path(os.environ.get("TRAJLAB_DATA", "no data"))
    if only != "city" and folder.is_dir():
        lab = tl.open(":memory:")
        lab.ingest(folder / "studentlife.parquet", tz="America/New_York")
        for size in (500, 200):
            settings = {"index": f"square:{size}", "slot": "30min", "start": "2013-04-01", "days": 28}
            yield f"StudentLife {size} m", *published(lab, **settings)
    if only != "studentlife":
        for people in (300, 1000):
            lab = tl.open(":memory:")
            lab.ingest(tl.simulate(people=people, days=7, seed=1), tz="Europe/Lisbon")
            yield f"simulated city of {people}", *published(lab, index="square:1000", slot="30min")


if __name__ == "__main__":
    main()
