"""Attacks on counts as they are published: what bounds and noise cost beside exact counts, in one run.

    python -m bench.published
    python -m bench.published --people 1500 --stations 1000 --days 3

One simulated city at base stations, its counts as they are and after each recipe. Each attack runs in a process of its
own; `ratio` is its processor time over that of the same attack on exact counts. Then the noise alone, on ten
million counts.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from bench.recovery import city, save
from trajlab.protect import Table, load_recipe
from trajlab.release import Release

RECIPES = (
    "",
    "suppress:10",
    "round:5",
    "noise:geometric:eps=1:unit=person-slot",
    "noise:geometric:eps=1:unit=person-day",
)
ATTACKS = ("xu2017", "dsilva2024")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=10_000)
    parser.add_argument("--stations", type=int, default=3_000)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--attacks", nargs="+", default=ATTACKS, choices=ATTACKS)
    parser.add_argument("--recipes", nargs="+", default=RECIPES)
    parser.add_argument("--one", nargs=3, metavar=("FILE", "ATTACK", "RECIPE"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(*args.one)))
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "release.npz"
        save(file, city(args.people, args.stations, args.days))
        titles = ["cells", "outside", "seconds", "CPU_s", "ratio", "peak_GB", "gap"]
        print(f"{'recipe':40} {'attack':<11} " + " ".join(f"{title:>8}" for title in titles), flush=True)
        for attack in args.attacks:
            exact = float("nan")
            for recipe in args.recipes:
                command = [sys.executable, "-m", "bench.published", "--one", str(file), attack, recipe]
                found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                exact = exact if recipe else found["cpu"]
                shown = (
                    f"{found['cells']:>8,} {found['outside']:>8.2f} {found['seconds']:>8.1f} {found['cpu']:>8.1f} "
                    f"{found['cpu'] / exact:>8.2f} {found['peak_gb']:>8.2f} {found['gap']:>8.0e}"
                )
                print(f"{recipe or 'exact':40} {attack:<11} {shown}", flush=True)
    noise()


def measure(file: str, name: str, recipe: str) -> dict[str, float]:
    from trajlab.attacks import load
    from trajlab.attacks._steps import StepLog

    stored = np.load(file)
    whole = Release.from_matrix(stored["counts"], stored["xy"], int(stored["slots_per_day"]), unit="m")
    release = protected(whole, recipe) if recipe else whole
    log = StepLog()
    began, worked = time.perf_counter(), time.process_time()
    tracks = load(name).recover(release, np.random.default_rng(0), log)
    return {
        "cells": len(release.cells),
        "outside": float((tracks < 0).mean()),
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - worked,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20),
        "gap": max((step.cost - step.bound) / step.cost for step in log.steps if step.cost > 0),
    }


def protected(release: Release, recipe: str) -> Release:
    """The same table after the protections, with what is published of them."""
    cells = release.cells.select("cell", parent_cell="cell")
    table = Table(release.slots, release.slots_per_day, cells)
    counts = release.counts.with_columns(contributors="people")
    for protection in load_recipe(recipe.split()):
        counts = protection.apply(counts, table, np.random.default_rng(0))
    counts = counts.select("slot", "cell", "people").sort("slot", "cell")
    return dataclasses.replace(
        release,
        counts=counts,
        cells=release.cells.filter(pl.col("cell").is_in(counts["cell"].unique().implode())),
        recipe=tuple(recipe.split()),
        total=(release.people, release.people),
    )


def noise(slots: int = 1_000, cells: int = 10_000) -> None:
    """Seconds of noise on every count of a table, the empty ones too."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"cell": np.arange(cells, dtype=np.uint64), "parent_cell": np.zeros(cells, dtype=np.uint64)})
    few = np.sort(rng.choice(slots * cells, slots * cells // 5, replace=False))
    counts = pl.DataFrame(
        {
            "slot": (few // cells).astype(np.int32),
            "cell": (few % cells).astype(np.uint64),
            "people": rng.geometric(0.2, len(few)),
        }
    ).with_columns(contributors="people")
    for recipe in ("noise:geometric:eps=1:unit=person-slot", "noise:laplace:eps=1:unit=person-slot"):
        (protection,) = load_recipe([recipe])
        began, worked = time.perf_counter(), time.process_time()
        made = protection.apply(counts, Table(slots, 100, frame), np.random.default_rng(0))
        seconds, cpu = time.perf_counter() - began, time.process_time() - worked
        print(f"{recipe}: {len(made):,} counts in {seconds:.1f} s, {cpu:.1f} s of processor time")


if __name__ == "__main__":
    main()
