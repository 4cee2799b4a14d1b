"""Top locations of a whole population: seconds for the traces and for each question, peak memory.

    python -m bench.risk_top
    python -m bench.risk_top --people 100000

Everybody has a hundred records in four weeks, at up to twenty places, some much more often than
others, among 1,700 cells. Every record is a visit. Each size runs in a process of its own, with two
threads; the engine's memory_limit is 5GB, the peak is that of the whole process. Traces, and the
ranking of everybody's places, are made once: the first question pays for the ranking.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RECORDS = 100
DAYS = 28
CELLS = 1_700
QUESTIONS = ("top:1", "top:2", "top:3", "top:3:unordered", "top:variable")
RELEASE = "r-bench"

PEOPLE = """
insert into records.person
select i::integer as person, 'p' || i as uid
from range(1, $people + 1) as people(i)
"""

CALENDAR = """
insert into slots.clock
select $release as release_id, epoch('2024-03-04'::timestamp)::bigint // 3600 + i as tick, i::integer as slot
from range(0, $days * 24) as hours(i);

insert into counts.release by name
select
    $release as release_id, 1 as index_id, 'square:500' as index_name, '2024-03-04'::timestamp as starts,
    'UTC' as tz, 3600 as slot_seconds, 24 as slots_per_day, $days * 24 as slots, 'none' as fill, 1 as min_count;

insert into slots.person
select $release as release_id, person, 0 as first_slot, 1 as observed_slots, 1.0 as coverage, true as kept
from records.person
"""

FIXES = """
insert into grid.fix by name
with drawn as (
    select
        person.person,
        hash(person.person, record.i, 1) % ($days * 86400) as second,
        floor(20 * pow((hash(person.person, record.i, 2) % 1000) / 1000, 3))::bigint as place
    from records.person as person
    cross join range(0, $records) as record(i)
)

select
    1 as index_id,
    person,
    to_timestamp(epoch('2024-03-04'::timestamp) + second) as ts,
    hash(person, place) % (20 + 80 * place) * 17 % $cells as cell
from drawn
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--memory-limit", default="5GB")
    parser.add_argument("--folder", help="where to put the labs (default: a temporary folder)")
    parser.add_argument("--one", nargs=2, metavar=("FILE", "PEOPLE"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(Path(args.one[0]), int(args.one[1]), args.memory_limit)))
        return
    print(f"{'people':>10} {'records':>12} {'':<16} {'seconds':>8} {'unique':>8} {'peak GB':>8}")
    for people in args.people:
        with tempfile.TemporaryDirectory(dir=args.folder) as scratch:
            file = Path(scratch) / "lab.duckdb"
            populate(file, people)
            show(people, in_a_process_of_its_own(file, people, args.memory_limit))


def populate(file: Path, people: int) -> None:
    """A lab with the records of a population on the grid, and a release that says when and where."""
    from trajlab.store import Store

    store = Store(str(file), threads=2)
    with store.transaction("the population"):
        store.con.execute(PEOPLE, {"people": people})
        for statement in CALENDAR.split(";"):
            named = {"release": RELEASE, "days": DAYS}
            store.con.execute(statement, {name: value for name, value in named.items() if f"${name}" in statement})
        store.con.execute(FIXES, {"days": DAYS, "records": RECORDS, "cells": CELLS})
    store.close()


def in_a_process_of_its_own(file: Path, people: int, memory_limit: str) -> list[dict[str, float | str]]:
    command = [sys.executable, "-m", "bench.risk_top", "--memory-limit", memory_limit, "--one", str(file), str(people)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    measured: list[dict[str, float | str]] = json.loads(done.stdout)
    return measured


def measure(file: Path, people: int, memory_limit: str) -> list[dict[str, float | str]]:
    from trajlab.progress import Progress
    from trajlab.risk import run as risk
    from trajlab.risk import traces
    from trajlab.store import Store

    store = Store(str(file), memory_limit=memory_limit, threads=2)
    progress = Progress()
    began = time.perf_counter()
    everybody = traces.of_release(store, RELEASE, "records", progress)
    measured: list[dict[str, float | str]] = [
        {"what": "traces", "seconds": time.perf_counter() - began, "unique": float("nan"), "peak_gb": peak()}
    ]
    for text in QUESTIONS:
        began = time.perf_counter()
        answer = risk.measure(
            store, everybody, everybody, text, seed=0, sample=None, settings={}, progress=progress
        )  # fmt: skip
        if answer.people != people:
            raise SystemExit(f"{text} is about {answer.people:,} people, not {people:,}")
        seconds = time.perf_counter() - began
        measured.append({"what": text, "seconds": seconds, "unique": answer.unique_share, "peak_gb": peak()})
    store.close()
    return measured


def peak() -> float:
    """Gigabytes of this process at its largest so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)


def show(people: int, measured: list[dict[str, float | str]]) -> None:
    for row in measured:
        print(
            f"{people:>10,} {people * RECORDS:>12,} {row['what']:<16} {row['seconds']:>8.1f} {row['unique']:>8.3f} "
            f"{row['peak_gb']:>8.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
