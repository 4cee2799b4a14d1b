"""Folders to begin in: input files, and labs at the stations of a study. Made once, copied for each trial."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl

import trajlab as tl
from trajlab.simulation import simulate_campus, simulate_stations

FIXTURES = Path(__file__).parents[1] / "fixtures"
TZ = "Europe/Lisbon"
PEOPLE, DAYS = 24, 4


class Scenes:
    """The scenes that a soak needs, each made when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def copy(self, name: str, target: Path) -> Path:
        """A fresh copy of the scene at `target`."""
        made = self._folder / name
        if not made.exists():
            unfinished = self._folder / f"{name}.unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            MAKERS[name](self, unfinished)
            unfinished.rename(made)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(made, target)
        return target


POLICY = """name = "soak"
[[rule]]
rule = "contributors"
at_least = 1
[[rule]]
rule = "recovery"
attack = "xu2017"
at_most = 1
[[rule]]
rule = "singling_out"
knowledge = "points:2"
searched = "traces"
at_most = 1
"""
"""Passes whatever is found, so that the command ends with 0."""


def _files(_: Scenes, folder: Path) -> None:
    folder.mkdir(parents=True)
    tl.simulate(people=PEOPLE, days=DAYS, seed=0).write_csv(folder / "city.csv")
    tl.simulate(people=PEOPLE, days=2, seed=1).write_csv(folder / "more.csv")
    simulate_stations(PEOPLE, DAYS, seed=0, tz=TZ).write_csv(folder / "stations.csv")
    shutil.copy(FIXTURES / "tiny" / "zones.geojson", folder)
    (folder / "trips.csv").write_text(_trips())
    (folder / "places.csv").write_text("place,lat,lng\nlibrary,38.73,-9.14\ncanteen,38.74,-9.15\n")
    (folder / "key.txt").write_text("7d1f4c9a2be8035f6e91ad40c7b25388")
    (folder / "policy.toml").write_text(POLICY)
    homes = "".join(f"p{n:07d},{'north' if n % 2 else 'south'}\n" for n in range(PEOPLE))
    (folder / "people.csv").write_text(f"uid,side\n{homes}")
    _write_formats(folder)
    (folder / "study.toml").write_text(
        'index = ["square:2000", "square:4000"]\nslot = "3h"\nadversary = "top:1"\nutility = "counts"\n'
    )


def _write_formats(folder: Path) -> None:
    """A few people as bandicoot keeps them, a file each, and as multimno does, in folders of days."""
    people = folder / "bandicoot"
    people.mkdir()
    for n in range(6):
        calls = "".join(
            f"call,in,x,2014-03-0{1 + n % 3} {7 + hour:02}:1{n}:30,120,{'AB'[hour % 2]}\n" for hour in range(9)
        )
        (people / f"p{n}.csv").write_text(
            f"interaction,direction,correspondent_id,datetime,call_duration,antenna_id\n{calls}"
        )
    (folder / "antennas.csv").write_text("antenna_id,latitude,longitude\nA,42.36,-71.09\nB,42.37,-71.10\n")
    noon = dt.datetime(2023, 1, 1, 12, tzinfo=dt.UTC)
    for day in (1, 2):
        rows = [
            (n, noon + dt.timedelta(days=day - 1, minutes=10 * n + hour * 60)) for n in range(6) for hour in range(6)
        ]
        events = pl.DataFrame(
            {
                "user_id": [bytes([n]) * 32 for n, _ in rows],
                "timestamp": [at for _, at in rows],
                "mcc": [214] * len(rows),
                "cell_id": ["AB"[n % 2] for n, _ in rows],
                "latitude": [40.42 + 0.01 * (n % 2) for n, _ in rows],
                "longitude": [-3.70] * len(rows),
            },
            schema_overrides={"timestamp": pl.Datetime("us", "UTC")},
        )
        partition = folder / "events" / "year=2023" / "month=1" / f"day={day}" / "user_id_modulo=0"
        partition.mkdir(parents=True)
        events.write_parquet(partition / "part-00000.parquet")


def _trips() -> str:
    """Six taxis of Porto, each with more trips than the one before."""
    head = ["TRIP_ID", "CALL_TYPE", "ORIGIN_CALL", "ORIGIN_STAND", "TAXI_ID", "TIMESTAMP", "DAY_TYPE", "MISSING_DATA"]
    lines = [",".join(f'"{name}"' for name in (*head, "POLYLINE"))]
    for taxi in range(1, 7):
        for trip in range(4 * taxi):
            north = [f"[{-8.66 + 0.004 * taxi},{41.14 + 0.0004 * step + 0.001 * (trip % 9)}]" for step in range(60)]
            lines.append(
                f'"{taxi}{trip:03}","C","","","{taxi}","{1372636858 + 7200 * trip}","A","False","[{",".join(north)}]"'
            )
    return "\n".join(lines) + "\n"


def _ingested(scenes: Scenes, folder: Path) -> None:
    scenes.copy("files", folder)
    with tl.open(folder / "lab.duckdb") as lab:
        lab.ingest(folder / "city.csv", tz=TZ)
        lab.geography(stations=folder / "stations.csv", zones=folder / "zones.geojson")


def _released(scenes: Scenes, folder: Path) -> None:
    scenes.copy("ingested", folder)
    with tl.open(folder / "lab.duckdb") as lab:
        lab.release("square:500", "30min")


def _noisy(scenes: Scenes, folder: Path) -> None:
    scenes.copy("released", folder)
    with tl.open(folder / "lab.duckdb") as lab:
        lab.release("square:500", "30min", protect=["noise:geometric:eps=1:unit=person-slot"])


def _asked(scenes: Scenes, folder: Path) -> None:
    scenes.copy("released", folder)
    with tl.open(folder / "lab.duckdb") as lab:
        release = lab.sql("select release_id from counts.release").item()
        lab.attack(lab.published(release), "xu2017")
        lab.feasibility(lab.published(release))
        lab.risk(release, "points:2")


def _decided(scenes: Scenes, folder: Path) -> None:
    scenes.copy("released", folder)
    policy = folder / "own.toml"
    policy.write_text('name = "own"\n[[rule]]\nrule = "contributors"\nat_least = 1\n')
    with tl.open(folder / "lab.duckdb") as lab:
        release = lab.sql("select release_id from counts.release").item()
        lab.certificate(lab.decide(release, policy), folder / "decision.json")


def _gridded(scenes: Scenes, folder: Path) -> None:
    scenes.copy("ingested", folder)
    with tl.open(folder / "lab.duckdb") as lab:
        lab.release("inspire:1000", "1h")


def _campus(_: Scenes, folder: Path) -> None:
    folder.mkdir(parents=True)
    campus = simulate_campus(30, 14, seed=0)
    with tl.open(folder / "lab.duckdb") as lab:
        lab.ingest(campus.records, kind="wifi", tz="Asia/Shanghai", places=campus.places)
        lab.release("places", "1h")
    shutil.copy(FIXTURES / "term" / "timetable.toml", folder)


MAKERS: dict[str, Callable[[Scenes, Path], None]] = {
    "files": _files,
    "ingested": _ingested,
    "released": _released,
    "noisy": _noisy,
    "asked": _asked,
    "decided": _decided,
    "campus": _campus,
    "gridded": _gridded,
}
