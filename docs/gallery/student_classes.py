"""The classes of real students, read from their phones.

The phones of 49 students of Dartmouth (StudentLife, spring 2013) report where they are about every twenty minutes. Who
takes which class, when and in which building is known; where the building stands is not, and is found in the first
five weeks from where its class meets more than at other times. Schedules are then read from the four weeks after.
The paper found the true place of 80 % of lessons by Wi-Fi (ma2017, table I); here it is 40 %. Why cannot be told from
these data: records are sparse, and somebody who stays away has no habit to be read. The short extra hour of most
classes (x-hour) is found least, 13 of 102, so that lessons are counted without it too, and again in buildings that at
least three people lead to: one that a single student leads to may be only that student's habit. `found` are usual
places in any building with classes.
"""

from __future__ import annotations

import csv
import datetime as dt
import json
import os
import sys
from pathlib import Path

import numpy as np
import polars as pl

import trajlab as tl

DATA = Path(os.environ.get("TRAJLAB_DATA", "no data"))
NEAR, SIDE, LEAST = 60.0, 60.0, 60.0
HALF = dt.date(2013, 4, 29)


def main() -> None:
    if not DATA.is_dir():
        sys.exit("TRAJLAB_DATA names no folder with StudentLife")
    fixes, lessons = read_fixes(), read_lessons()
    places = locate(fixes.filter(pl.col("date") < HALF), lessons)
    lessons = lessons.filter(pl.col("place").is_in(places["place"].to_list()))
    log, gazetteer = name_places(fixes, places)
    lab = tl.open(":memory:", quiet=True)
    lab.ingest(log, kind="wifi", places=gazetteer, tz="America/New_York")
    lab.release(index="places", slot="1h", fill="none", start=str(HALF), days=28)
    truth = lessons.unique(["uid", "weekday", "from"], keep="first", maintain_order=True)
    timetable = slots_of(truth)
    regular = truth.filter(~pl.col("x_hour"))
    crowded = regular.join(places.filter(pl.col("people") > 2), on="place", how="semi")
    print("lessons                       true  found  matched  share")
    for name, known in (("all", truth), ("no x-hours", regular), ("and three or more led there", crowded)):
        leak = lab.schedule(timetable, points=2, min_k=2, truth=known)
        true, found, matched = lab.sql(SUMS, id=leak.id).row(0)
        print(f"{name:27} {true:6,}  {found:5,}  {matched:7,}  {matched / true:5.0%}")
    print("ma2017, by Wi-Fi             4,412           3,548    80%")
    print(f"two points leave {leak.measured:.0%} of people in a crowd of two or more; of these")
    print(f"{leak.totally:.0%} have all habits in common with the crowd, {leak.partly:.0%} some")
    lab.figure("ma2017-fig4b", "student_classes.png")


SUMS = "select sum(lessons), sum(usual_places), sum(matched) from metrics.extraction where leak_id = $id"


def read_fixes() -> pl.DataFrame:
    local = pl.col("ts").dt.convert_time_zone("America/New_York")
    return (
        pl.read_parquet(DATA / "studentlife.parquet")
        .filter(pl.col("accuracy_m") <= LEAST)
        .with_columns(
            date=local.dt.date(),
            weekday=local.dt.weekday().cast(pl.Int64),
            minute=local.dt.hour().cast(pl.Int64) * 60 + local.dt.minute(),
            x=(pl.col("lng") + 72.288) * 111_320 * np.cos(np.radians(43.705)),
            y=(pl.col("lat") - 43.705) * 111_320,
        )
    )


def read_lessons() -> pl.DataFrame:
    """uid, weekday, from, to, place of every lesson of a class whose building is known."""
    classes = json.loads((DATA / "studentlife_classes" / "class_info.json").read_text(encoding="utf-8"))
    with (DATA / "studentlife_classes" / "class.csv").open(encoding="utf-8") as lines:
        taken = [(uid, classes.get(name)) for uid, *names in csv.reader(lines) for name in names]
    rows = [
        (uid, period["day"], period["start"], period["end"], course["location"], length(period) < longest)
        for uid, course in taken
        if course is not None
        for longest in [max(map(length, course["periods"]))]
        for period in course["periods"]
    ]
    return pl.DataFrame(rows, schema=["uid", "weekday", "from", "to", "place", "x_hour"], orient="row")


def length(period: dict[str, str]) -> int:
    return minutes(period["end"]) - minutes(period["start"])


def minutes(clock: str) -> int:
    return int(clock[:2]) * 60 + int(clock[3:])


def locate(fixes: pl.DataFrame, lessons: pl.DataFrame) -> pl.DataFrame:
    """Where the people of a building's classes are in lessons, and are not on other hours of working days."""
    lessons = lessons.with_columns(
        begin=pl.Series(map(minutes, lessons["from"])), end=pl.Series(map(minutes, lessons["to"]))
    )
    fixes = fixes.with_columns(column=(pl.col("x") / SIDE).floor(), row=(pl.col("y") / SIDE).floor())
    found = []
    for (building,), taught in lessons.group_by("place", maintain_order=True):
        mine = fixes.filter(pl.col("uid").is_in(taught["uid"].unique().to_list()))
        within = mine.join(taught, on=["uid", "weekday"]).filter(
            pl.col("minute").is_between(pl.col("begin") + 5, pl.col("end"))
        )
        others = mine.filter(pl.col("weekday") < 6, pl.col("minute").is_between(480, 1080))
        days = within.group_by("column", "row").agg(
            days=pl.struct("uid", "date").n_unique(), x=pl.col("x").median(), y=pl.col("y").median(),
            people=pl.col("uid").n_unique(),
        )  # fmt: skip
        usual = others.group_by("column", "row").agg(usual=pl.struct("uid", "date").n_unique())
        total, all_days = (frame.select(pl.struct("uid", "date").n_unique()).item() for frame in (within, others))
        lift = (pl.col("days") / total) / (pl.col("usual") / all_days)
        best = (
            days.join(usual, on=["column", "row"])
            .with_columns(score=pl.col("days") * lift.log())
            .sort(["score", "column", "row"], descending=True)
        )
        if len(best) and best["days"][0] >= 3:
            found.append((building, best["x"][0], best["y"][0], best["people"][0]))
    most_first = sorted(found, key=lambda row: (-row[3], row[0]))
    kept: list[tuple[str, float, float, int]] = []
    for name, x, y, people in most_first:  # where two stand in one place, the one that fewer lead to is not found
        if all(np.hypot(x - other[1], y - other[2]) > SIDE / 2 for other in kept):
            kept.append((name, x, y, people))
    return pl.DataFrame(kept, schema=["place", "x", "y", "people"], orient="row")


def name_places(fixes: pl.DataFrame, buildings: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Every record at the nearest building, or in a square of 200 m; and where all of these are."""
    xy = fixes.select("x", "y").to_numpy()
    away = np.hypot(*(xy[:, None] - buildings.select("x", "y").to_numpy()[None]).transpose(2, 0, 1))
    inside = pl.Series(np.where(away.min(axis=1) <= NEAR, away.argmin(axis=1), -1))
    square = pl.format("square {} {}", (pl.col("x") // 200).cast(pl.Int64), (pl.col("y") // 200).cast(pl.Int64))
    names = buildings["place"]
    log = fixes.with_columns(place=pl.when(inside >= 0).then(names.gather(inside.clip(0))).otherwise(square))
    gazetteer = log.group_by("place").agg(pl.col("lat").median(), pl.col("lng").median()).sort("place")
    return log.select("uid", "ts", "place"), gazetteer


def slots_of(lessons: pl.DataFrame) -> pl.DataFrame:
    """The times at which most is taught, none of which overlap."""
    times = lessons.group_by("weekday", "from", "to").len().sort(["len", "weekday", "from", "to"], descending=True)
    kept: list[tuple[int, str, str]] = []
    for weekday, begin, end, _ in times.iter_rows():
        if all(weekday != day or end <= start or begin >= stop for day, start, stop in kept):
            kept.append((weekday, begin, end))
    return pl.DataFrame(sorted(kept), schema=["weekday", "from", "to"], orient="row")


if __name__ == "__main__":
    main()
