"""A seeded city for demos, tests and benchmarks.

>>> from trajlab.simulation import simulate
>>> simulate(people=2, days=1, interval="6h").select("uid", "ts").height
8

Person 7 is the same person whether there are ten people or a million: every draw is
a function of the seed and the person's number alone (`chance.py`). So blocks of
people are built independently, in parallel, and never need to be in memory together.

From the map to the records: `scenario` (what is asked, and the clock), `city` (homes
and work), `outings` (where free time goes), `itinerary` (days as lines), then `gps`
or `cdr`. `campus` has buildings and timetables instead of lines.
"""

from __future__ import annotations

import datetime as dt
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, Unpack

import numpy as np
import polars as pl

from trajlab.errors import SimulationError
from trajlab.settings import whole_number
from trajlab.simulation.campus import Campus, build_campus, campus_records, campus_rows_per_person
from trajlab.simulation.cdr import cdr_records, cdr_rows_per_person, station_table
from trajlab.simulation.chance import Ints
from trajlab.simulation.gps import gps_records, gps_rows_per_person
from trajlab.simulation.scenario import Mode, Options, Scenario

__all__ = ["Campus", "Mode", "simulate", "simulate_batches", "simulate_campus", "simulate_stations", "write"]

_ROWS_PER_BLOCK = 1_000_000
_PEOPLE_PER_BLOCK = 4096  # at most: with few rows each, their itineraries are what fills memory
_RECORDS: dict[Mode, tuple[Callable[[Scenario, Ints], pl.DataFrame], Callable[[Scenario], int]]] = {
    "gps": (gps_records, gps_rows_per_person),
    "cdr": (cdr_records, cdr_rows_per_person),
    "campus": (campus_records, campus_rows_per_person),
}


def simulate(
    people: int = 1000,
    days: int = 7,
    *,
    seed: int = 0,
    mode: Mode = "gps",
    interval: str | dt.timedelta = "30min",
    start: str | dt.date = "2024-03-04",
    tz: str = "Europe/Lisbon",
    centre: tuple[float, float] = (38.7223, -9.1393),
    radius_km: float = 15.0,
    stations: int = 300,
) -> pl.DataFrame:
    """Records of people who live in a made-up city, ordered by person and time.

    Modes: `gps` gives uid, ts, lat, lng at every `interval` from the first local midnight
    on; `cdr` gives calls at the nearest of `stations` masts, with station, direction
    and region; `campus` gives students' Wi-Fi sightings, with their place, on a
    campus of 4 km² whatever `radius_km` says. `centre` is (lat, lng); `ts` is in
    UTC, while people live by the clocks of `tz`, changes included.
    """
    return pl.concat(
        simulate_batches(
            people,
            days,
            seed=seed,
            mode=mode,
            interval=interval,
            start=start,
            tz=tz,
            centre=centre,
            radius_km=radius_km,
            stations=stations,
        ),
        rechunk=True,
    )


def simulate_batches(
    people: int = 1000, days: int = 7, *, block: int | None = None, **options: Unpack[Options]
) -> Iterator[pl.DataFrame]:
    """The same records as `simulate`, in the same order, a block of people at a time.

    `block` is people per frame, by default as many as make about a million rows; it
    changes where frames end and nothing else.
    """
    scenario = Scenario(people, days, **options)
    if block is not None:
        block = whole_number("block", block, 1, error=SimulationError)
    _, rows_per_person = _RECORDS[scenario.mode]
    fitting = _ROWS_PER_BLOCK // max(1, rows_per_person(scenario))
    return _blocks(scenario, block or min(max(1, fitting), _PEOPLE_PER_BLOCK))


def simulate_stations(people: int = 1000, days: int = 7, **options: Unpack[Options]) -> pl.DataFrame:
    """station, lat, lng of the masts that `simulate(mode="cdr")` uses with the same options."""
    return station_table(Scenario(people, days, **options))


def simulate_campus(people: int = 1000, days: int = 7, **options: Unpack[Options]) -> Campus:
    """A campus with the truth: Wi-Fi records, places, who has which class, and the timetable."""
    options["mode"] = "campus"
    scenario = Scenario(people, days, **options)
    return build_campus(scenario, pl.concat(simulate_batches(people, days, **options), rechunk=True))


def write(
    path: str | Path,
    people: int = 1000,
    days: int = 7,
    *,
    block: int | None = None,
    **options: Unpack[Options],
) -> int:
    """Stream records into one `.parquet` or `.csv` file; returns the number of rows.

    All or nothing: the file appears, or replaces an older one, when it is complete.
    """
    path = Path(path)
    save = {".parquet": _save_parquet, ".csv": _save_csv}.get(path.suffix.lower())
    if save is None:
        raise SimulationError(f"cannot write {path.name!r}; the name must end in .parquet or .csv")
    if not path.parent.is_dir() or path.is_dir():
        raise SimulationError(f"cannot write {path.name!r}; it must be a file in a folder that exists")
    batches = simulate_batches(people, days, block=block, **options)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with unfinished.open("wb") as file:
            rows = save(batches, file)
        unfinished.replace(path)
    except OSError as error:
        raise SimulationError(f"cannot write {path.name!r}: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return rows


def _blocks(scenario: Scenario, size: int) -> Iterator[pl.DataFrame]:
    """Blocks in order, the next few under way while one is in use: numpy works outside the GIL."""
    records, _ = _RECORDS[scenario.mode]
    workers = min(os.cpu_count() or 1, 8)
    with ThreadPoolExecutor(workers) as pool:
        under_way: deque[Future[pl.DataFrame]] = deque()
        for first in range(0, scenario.people, size):
            person = np.arange(first, min(first + size, scenario.people))
            under_way.append(pool.submit(records, scenario, person))
            if len(under_way) > workers:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()


def _save_parquet(batches: Iterator[pl.DataFrame], file: IO[bytes]) -> int:
    import pyarrow.parquet as pq

    rows, writer = 0, None
    try:
        for batch in batches:
            table = batch.to_arrow(compat_level=pl.CompatLevel.oldest())
            if writer is None:
                coordinates = ("lat", "lng") if batch.columns == ["uid", "ts", "lat", "lng"] else ()
                repeated = [name for name in batch.columns if name not in coordinates]
                writer = pq.ParquetWriter(file, table.schema, compression="zstd", use_dictionary=repeated)
            writer.write_table(table)
            rows += len(batch)
    finally:
        if writer is not None:
            writer.close()
    return rows


def _save_csv(batches: Iterator[pl.DataFrame], file: IO[bytes]) -> int:
    rows = 0
    for number, batch in enumerate(batches):
        batch.write_csv(file, include_header=number == 0, datetime_format="%Y-%m-%dT%H:%M:%SZ")
        rows += len(batch)
    return rows
