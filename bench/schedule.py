"""Schedule leakage at the size of ma2017: a campus of 111 places, 16 weeks, 30 slots, and ten times as many people.

`python -m bench.schedule` measures 10,000 people (about 14 million records); `--people 10000 100000` also ten times
as many. Each analysis runs in a process of its own, from records with cells to every table of the answer: traces,
schedules, anonymity sets, tallies and summaries. Records are made once per size, in a folder (--folder keeps them).
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
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from trajlab.store import Store

RELEASE = "rbench"
INDEX = 1
WEEKS, PLACES, DAYS = 16, 111, 16 * 7
CLASSROOMS, HALLS = 20, 30
START = dt.date(2016, 2, 22)
LESSONS = [(480, 575), (590, 735), (810, 905), (920, 1015), (1025, 1120), (1160, 1305)]
RECORDS_PER_SLOT = 3
BATCH = 2_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, nargs="+", default=[10_000])
    parser.add_argument("--slot", default="60min", help="slot of the release (default: 60min)")
    parser.add_argument("--memory-limit", default="3GB", help="of the engine (default: 3GB)")
    parser.add_argument("--folder", type=Path, help="keep the records here")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.one, args.memory_limit)))
        return
    heads = f"{'people':>8} {'records':>12} {'seconds':>8} {'cpu':>8} {'peak GB':>8}"
    print(f"{heads} {'sets >= 4':>9} {'mean k':>7} {'prob-m':>7}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for people in args.people:
            file = campus(folder, people, args.slot)
            command = [sys.executable, "-m", "bench.schedule", "--memory-limit", args.memory_limit, "--one", str(file)]
            done = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
            print(
                f"{people:>8,} {done['records']:>12,} {done['seconds']:>8.1f} {done['cpu']:>8.1f} {done['peak']:>8.2f} "
                f"{done['measured']:>9.1%} {done['mean_k']:>7.1f} {done['prob_m']:>7.3f}",
                flush=True,
            )
            print("  " + ", ".join(f"{name} {seconds:.1f} s" for name, seconds in done["steps"].items()), flush=True)


def measure(file: Path, memory_limit: str) -> dict[str, object]:
    import trajlab as tl
    from trajlab.schedule.timetable import Slot, Timetable

    slots = tuple(Slot(day, begins, ends) for day in range(1, 6) for begins, ends in LESSONS)
    with tempfile.TemporaryDirectory(dir=file.parent) as scratch:
        copy = shutil.copy(file, Path(scratch) / "lab.duckdb")
        with tl.open(copy, memory_limit=memory_limit, threads=2) as lab:
            steps = watched(lab)
            records = lab.sql("select count(*) from grid.fix").item()
            began, used = time.perf_counter(), time.process_time()
            leak = lab.schedule(Timetable("campus", slots), RELEASE)
            seconds, cpu = time.perf_counter() - began, time.process_time() - used
            mean_k = lab.sql("select avg(k) from metrics.person_leak where leak_id = $id", id=leak.id).item()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
    return {
        "records": records, "seconds": seconds, "cpu": cpu, "peak": peak, "measured": leak.measured,
        "mean_k": mean_k, "prob_m": leak.prob_m, "steps": steps,
    }  # fmt: skip


def watched(lab: object) -> dict[str, float]:
    """How long each step of the lab's progress takes, by its name; filled while it works."""
    from contextlib import contextmanager

    steps: dict[str, float] = {}
    progress = lab._progress  # type: ignore[attr-defined]
    step = progress.step

    @contextmanager
    def timed(label: str, poll: object = None) -> Iterator[None]:
        began = time.perf_counter()
        with step(label, poll=poll):
            yield
        steps[label] = steps.get(label, 0.0) + time.perf_counter() - began

    progress.step = timed
    return steps


def campus(folder: Path, people: int, slot: str) -> Path:
    """A lab with a release of so many students' records, each with its cell, and nothing built from them yet."""
    import trajlab as tl

    file = folder / f"campus-{people}-{slot}.duckdb"
    if not file.exists():
        unfinished = file.with_suffix(".part")
        unfinished.unlink(missing_ok=True)
        with tl.open(unfinished, memory_limit="3GB", threads=2) as lab:
            fill(lab._store, people, slot)
        unfinished.rename(file)
    return file


def fill(store: Store, people: int, slot: str) -> None:
    from trajlab.release import slots

    calendar = slots.Calendar(START, DAYS, slots.slot_seconds(slot), "Asia/Shanghai")
    release = {
        "release_id": RELEASE, "index_id": INDEX, "index_name": "places",
        "starts": dt.datetime.combine(START, dt.time()),
        "tz": calendar.tz, "slot_seconds": calendar.seconds, "slots_per_day": calendar.slots_per_day,
        "slots": calendar.slots, "fill": "none", "min_count": 1,
    }  # fmt: skip
    with store.transaction("a campus"):
        store.insert("counts.release", pl.DataFrame([release], schema_overrides={"index_id": pl.UInt64}))
        slots.write_clock(store, RELEASE, calendar)
        slots.write_calendar(store, RELEASE, calendar)
        numbers = pl.DataFrame({"person": np.arange(1, people + 1, dtype=np.int32)})
        store.insert("records.person", numbers.with_columns(uid=pl.format("u{}", "person")))
        stretch = {"first_slot": 0, "observed_slots": 0, "coverage": 1.0, "kept": True}
        constants = [pl.lit(value).alias(name) for name, value in stretch.items()]
        store.insert("slots.person", numbers.with_columns(*constants, release_id=pl.lit(RELEASE)))
        for records in batches(people, np.random.default_rng(0)):
            store.insert("grid.fix", records.with_columns(index_id=pl.lit(INDEX, pl.UInt64)))


def batches(people: int, rng: np.random.Generator) -> Iterator[pl.DataFrame]:
    """Records of students by person and time: lessons shared with a cohort, else the hall or anywhere."""
    cohorts = max(people // 60, 1)
    lesson = rng.random((cohorts, 30)) < 0.2
    room = rng.integers(0, CLASSROOMS, (cohorts, 30))
    hall = CLASSROOMS + rng.integers(0, HALLS, cohorts)
    midnight = np.datetime64(START, "s").astype(np.int64) - 8 * 3600
    day, (begins, ends) = np.repeat(np.arange(5), 6), np.tile(np.array(LESSONS).T, 5)
    for first in range(0, people, BATCH):
        many = min(BATCH, people - first)
        cohort = rng.integers(0, cohorts, many)
        own = rng.random((many, 30)) < 0.25
        has = np.where(own, rng.random((many, 30)) < 0.2, lesson[cohort])
        where = np.where(own, rng.integers(0, CLASSROOMS, (many, 30)), room[cohort])
        home = np.where(rng.random(many) < 0.3, CLASSROOMS + rng.integers(0, HALLS, many), hall[cohort])
        shape = (many, WEEKS, 30)
        attends = rng.random(shape) < 0.6 + 0.4 * rng.random((many, 1, 1))
        at_home = rng.random(shape) < 0.6
        elsewhere = rng.integers(0, PLACES, shape)
        place = np.where(at_home, home[:, None, None], elsewhere)
        place = np.where(has[:, None, :] & attends, where[:, None, :], place)
        start = midnight + (np.arange(WEEKS)[:, None] * 7 + day) * 86_400 + begins * 60
        offset = np.sort(rng.random((*shape, RECORDS_PER_SLOT)), axis=3) * ((ends - begins) * 60)[:, None]
        seconds = start[None, :, :, None] + offset.astype(np.int64)
        yield pl.DataFrame(
            {
                "person": np.repeat(
                    np.arange(first + 1, first + many + 1, dtype=np.int32), WEEKS * 30 * RECORDS_PER_SLOT
                ),
                "ts": pl.Series(seconds.ravel() * 1_000_000).cast(pl.Datetime("us", "UTC")),
                "cell": np.repeat(place.ravel().astype(np.uint64), RECORDS_PER_SLOT),
            }
        )


if __name__ == "__main__":
    main()
