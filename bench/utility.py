"""Flows and the trade-off at the size of yin2015: seconds, processor seconds, peak memory.

    python -m bench.utility
    python -m bench.utility --people 100000 --only utility

A city of 40 km by 25 km with 3,000 stations and 1,112 irregular zones. People have a home, a place of work and some
other places, about a hundred call records each in 34 days, many of them in bursts, put straight into the
tables that a release leaves. `utility` is the whole of `lab.utility` at one generalisation: movements, matrices,
conversion to zones and the ten losses. `tradeoff` is the whole of `lab.tradeoff`: 14 generalisations, 4
adversaries, 10 measures, 40 curves, traces included. Each runs in a process of its own on a fresh copy
of the lab, with two threads; the engine's memory_limit is 7GB, the peak is that of the whole process.
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

PEOPLE, STATIONS, ZONES, DAYS = 1_000_000, 3_000, 1_112, 34
BOX = (113.8, 22.5, 114.19, 22.725)
STARTS = dt.datetime(2024, 1, 1)
RELEASE = "r-bench"
BATCH = 50_000
MEASURED = ("utility", "tradeoff")

Ints = npt.NDArray[np.int64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--only", choices=MEASURED)
    parser.add_argument("--memory-limit", default="7GB")
    parser.add_argument("--folder", help="where to put the simulated lab, to use it again (default: temporary)")
    parser.add_argument("--one", nargs=2, metavar=("FILE", "WHAT"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(Path(args.one[0]), args.one[1], args.memory_limit)))
        return
    print(f"{'':<10} {'people':>10} {'records':>12} {'seconds':>8} {'cpu s':>8} {'peak GB':>8}")
    with tempfile.TemporaryDirectory() as scratch:
        file = simulated(Path(args.folder or scratch), args.people)
        for what in [args.only] if args.only else MEASURED:
            show(what, in_a_process_of_its_own(file, what, args.memory_limit))


def simulated(folder: Path, people: int) -> Path:
    """A lab with the records of a population in the cells of its stations, and a release that says when."""
    import trajlab as tl

    file = folder / f"flows-{people}.duckdb"
    if not file.exists():
        unfinished = file.with_suffix(".part")
        unfinished.unlink(missing_ok=True)
        with tl.open(unfinished, memory_limit="3GB", threads=2) as lab:
            fill(lab._store, people)
        unfinished.rename(file)
    return file


def fill(store: Store, people: int) -> None:
    from trajlab import spatial
    from trajlab.release.grid import study_area
    from trajlab.utility.sides import described

    rng = np.random.default_rng(0)
    with store.transaction("simulated records"):
        station = np.column_stack([rng.uniform(*BOX[::2], STATIONS), rng.uniform(*BOX[1::2], STATIONS)])
        names = [f"s{n:04}" for n in range(STATIONS)]
        store.insert("records.station", pl.DataFrame({"station": names, "lat": station[:, 1], "lng": station[:, 0]}))
        store.insert("records.zone", zones(rng).rename({"zone": "name", "polygon": "outline"}))
        index = spatial.build("stations", study_area(store, BOX))
        described(store, index, 1, np.arange(STATIONS, dtype=np.uint64), BOX)
        numbers = pl.DataFrame({"person": np.arange(1, people + 1, dtype=np.int32)})
        store.insert("records.person", numbers.with_columns(uid=pl.format("u{}", "person")))
        kept = {"release_id": RELEASE, "first_slot": 0, "observed_slots": 1, "coverage": 1.0, "kept": True}
        store.insert("slots.person", numbers.with_columns(**{name: pl.lit(value) for name, value in kept.items()}))
        tick = int(STARTS.replace(tzinfo=dt.UTC).timestamp()) // 3600
        hours = np.arange(DAYS * 24)
        clock = pl.DataFrame({"tick": tick + hours, "slot": hours.astype(np.int32)})
        store.insert("slots.clock", clock.with_columns(release_id=pl.lit(RELEASE)))
        release = {
            "release_id": RELEASE, "index_id": 1, "index_name": index.name, "starts": STARTS, "tz": "UTC",
            "slot_seconds": 3600, "slots_per_day": 24, "slots": DAYS * 24, "fill": "none", "min_count": 1,
        }  # fmt: skip
        store.insert("counts.release", pl.DataFrame([release]))
        for records in batches(people, station, rng):
            store.insert("grid.fix", records)


def zones(rng: np.random.Generator) -> pl.DataFrame:
    """Irregular polygons that divide the city, each what lies nearest to a point."""
    import shapely

    points = np.column_stack([rng.uniform(*BOX[::2], ZONES), rng.uniform(*BOX[1::2], ZONES)])
    city = shapely.box(*BOX)
    cells = shapely.get_parts(shapely.voronoi_polygons(shapely.multipoints(points), extend_to=city))
    polygons = shapely.to_wkb(shapely.intersection(cells, city)).tolist()
    named = {"zone": [f"z{n:04}" for n in range(ZONES)], "parent": [None] * ZONES, "polygon": polygons}
    return pl.DataFrame(named, schema={"zone": pl.String, "parent": pl.String, "polygon": pl.Binary})


def batches(people: int, station: npt.NDArray[np.float64], rng: np.random.Generator) -> Iterator[pl.DataFrame]:
    """Call records by person and time: bursts at home, at work and elsewhere, sometimes at the next mast."""
    from scipy.spatial import cKDTree

    _, near = cKDTree(station).query(station, k=4)
    popular = 1 / np.arange(1, STATIONS + 1) ** 0.5
    popular = np.cumsum(rng.permutation(popular / popular.sum()))
    awake = np.array([1, 1, 1, 1, 1, 2, 4, 6, 8, 8, 8, 8, 9, 8, 8, 8, 8, 9, 9, 8, 7, 6, 4, 2], dtype=float)
    awake = np.cumsum(awake / awake.sum())
    begins = int(STARTS.replace(tzinfo=dt.UTC).timestamp())
    for first in range(0, people, BATCH):
        batch = min(BATCH, people - first)
        places = np.minimum(np.searchsorted(popular, rng.random((batch, 8))), STATIONS - 1)
        bursts = 1 + np.minimum(rng.lognormal(3.2, 1.0, batch), 600).astype(np.int64)
        who = np.repeat(np.arange(batch), bursts)
        hour = np.minimum(np.searchsorted(awake, rng.random(len(who))), 23)
        day = rng.integers(0, DAYS, len(who))
        second = day * 86_400 + hour * 3600 + rng.integers(0, 3600, len(who))
        usual = ((hour >= 9) & (hour < 17) & (day % 7 < 5)).astype(np.int64)
        chance = rng.random(len(who))
        place = np.where(chance < 0.7, usual, rng.integers(2, 8, len(who)))
        calls = rng.geometric(0.4, len(who))
        who, second, place = (np.repeat(part, calls) for part in (who, second, place))
        second = np.minimum(second + rng.integers(0, 1500, len(who)), DAYS * 86_400 - 1)
        cell = near[places[who, place], np.where(rng.random(len(who)) < 0.8, 0, rng.integers(1, 4, len(who)))]
        order = np.lexsort((second, who))
        moment = pl.Series(((begins + second[order]) * 1_000_000), dtype=pl.Int64).cast(pl.Datetime("us", "UTC"))
        yield pl.DataFrame(
            {
                "index_id": np.ones(len(order), dtype=np.uint64),
                "person": (first + 1 + who[order]).astype(np.int32),
                "ts": moment,
                "cell": cell[order].astype(np.uint64),
            }
        )


def in_a_process_of_its_own(file: Path, what: str, memory_limit: str) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.utility", "--memory-limit", memory_limit, "--one", str(file), what]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def measure(file: Path, what: str, memory_limit: str) -> dict[str, float]:
    import trajlab as tl

    with tempfile.TemporaryDirectory(dir=file.parent) as scratch:
        copy = shutil.copy(file, Path(scratch) / "lab.duckdb")
        with tl.open(copy, memory_limit=memory_limit, threads=2) as lab:
            people = lab.sql("select count(*) from records.person").item()
            records = lab.sql("select count(*) from grid.fix").item()
            began, used = time.perf_counter(), time.process_time()
            if what == "utility":
                found = lab.utility(RELEASE, "stations:800", zones="zones").losses
            else:
                found = lab.tradeoff(RELEASE, zones="zones", basis="records").fits.filter(flows="raw", measure="all")
            seconds, cpu = time.perf_counter() - began, time.process_time() - used
    print(found, file=sys.stderr)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
    return {"people": people, "records": records, "seconds": seconds, "cpu": cpu, "peak_gb": peak}


def show(what: str, run: dict[str, float]) -> None:
    print(
        f"{what:<10} {run['people']:>10,} {run['records']:>12,} {run['seconds']:>8.1f} {run['cpu']:>8.1f} "
        f"{run['peak_gb']:>8.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
