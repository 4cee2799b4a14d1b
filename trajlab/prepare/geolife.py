"""GeoLife 37, 38 and 43: short tracks of many years become one week of people who start together.

    points near Beijing -> busiest months -> one position per interval -> tracks shifted and
    merged -> the longest of each user -> all from one midnight -> the study box ->
    cut where the first one ends

Times are counted in intervals, from 1970 at first and from the common start at last. What
time of day it was is lost when tracks are aligned; docs/prepare.md says what that means.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import polars as pl

from trajlab.errors import IngestError, SpatialError
from trajlab.ingest._files import literal
from trajlab.ingest.geolife import READ_FILES, find_trajectories
from trajlab.prepare import Draft, Size, whole_degrees
from trajlab.prepare._extent import box_size, corners
from trajlab.query import step
from trajlab.release.slots import slot_seconds
from trajlab.spatial._projection import LocalMetres

DAY = 86_400
START = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True)
class GeoLife:
    """Times are in seconds, distances in metres unless they say degrees."""

    interval: int
    months: int
    """Months kept of each user, those with the longest time under way."""
    percentiles: tuple[float, float]
    """Of longitude and latitude, between which the study box lies."""
    published: Size
    centre: tuple[float, float] = (116.4074, 39.9042)
    reach_degrees: float = 0.45
    pause: int = DAY
    """A track that begins later than this after the one before is shifted towards it."""
    merge_within: int = 36 * 3600
    merge_near: float = 7000.0
    longer_than: int = 7 * DAY
    side: int = 1000

    def __post_init__(self) -> None:
        slot_seconds(self.interval)
        low, high = self.percentiles
        if not 0 <= low < high <= 1:
            raise SpatialError(
                f"percentiles are two shares between 0 and 1, the smaller first, not {low:g} and {high:g}"
            )

    def follow(self, con: duckdb.DuckDBPyConnection, download: Path) -> Draft:
        positions, latitude, steps = self._positions(con, download)
        near = shift_tracks(positions, pause=self.pause // self.interval, day=DAY // self.interval)
        x, y = LocalMetres(*self.centre).forward(near["lng"].to_numpy(), near["lat"].to_numpy())
        tracks = merge_tracks(near.with_columns(x=x, y=y), self.merge_within // self.interval, self.merge_near)
        before, after = (frame.select("uid", "track").n_unique() for frame in (positions, tracks))
        steps.append(f"{before:,} trajectories, shifted towards each other and merged, became {after:,}")
        longest = align_longest(tracks, self.longer_than // self.interval)
        if longest.is_empty():
            raise IngestError(self._too_short(tracks))
        low, high = corners(longest, self.percentiles)
        week = cut_to_shortest(longest)
        slots = int(week["slot"].max()) + 1  # type: ignore[arg-type]
        days = slots * self.interval // DAY
        steps.append(f"{week['uid'].n_unique():,} users have one longer than {self.longer_than / DAY:g} days")
        steps.append(box_size(low, high, self.percentiles, latitude))
        steps.append(f"the first of them ends after {slots:,} slots; a release has whole days, {days} of them")
        since = pl.duration(seconds=pl.col("slot") * self.interval)
        records = week.select("uid", (pl.lit(START) + since).alias("ts"), "lat", "lng")
        release = {
            "index": f"square:{self.side}", "slot": self.interval, "fill": "static", "tz": "UTC",
            "start": START.date(), "days": days, "box": whole_degrees(low, high), "outside": "clamp",
        }  # fmt: skip
        return Draft(records, release, steps)

    def _positions(self, con: duckdb.DuckDBPyConnection, download: Path) -> tuple[pl.DataFrame, float, list[str]]:
        """One position per user, track and interval, in the busiest months; their latitude; what each step left."""
        if not download.is_dir():
            raise IngestError(f"{download.name}: not a folder; give GeoLife's Data, with <user>/Trajectory/*.plt")
        files, _ = find_trajectories(download)
        lng, lat = self.centre
        con.register("plt_line", con.sql(READ_FILES, params={"paths": [literal(file.path) for file in files]}))
        near = {"lng": lng, "lat": lat, "reach": self.reach_degrees, "interval": self.interval}
        positions: pl.DataFrame = con.sql(step("1_records/_prepare_geolife_positions"), params=near).pl()
        con.unregister("plt_line")
        steps = [
            f"{len(files):,} trajectories read, {_size(positions)} are within {self.reach_degrees:g} degrees of Beijing"
        ]
        if positions.is_empty():
            raise IngestError(f"{download.name}: no point lies near Beijing; is this GeoLife?")
        positions = positions.filter(pl.col("track").n_unique().over("uid") > 1)
        steps.append(f"{_size(positions)} are of users with more than one trajectory")
        if positions.is_empty():
            raise IngestError(
                f"{download.name}: every user has a single trajectory near Beijing; nothing can be merged"
            )
        positions = positions.join(busiest_months(positions, self.months), on=["uid", "month"], how="semi")
        steps.append(f"{_size(positions)} are in the {self.months} busiest months of each user")
        steps.append(f"{len(positions):,} positions are left with one per trajectory and {self.interval} s")
        latitude = float(np.average(positions["lat"].to_numpy(), weights=positions["points"].to_numpy()))
        return positions.select("uid", "track", "slot", "lat", "lng").sort("uid", "track", "slot"), latitude, steps

    def _too_short(self, tracks: pl.DataFrame) -> str:
        span = tracks.group_by("uid", "track").agg(slots=pl.col("slot").max() - pl.col("slot").min())["slots"]
        best = int(span.to_numpy().max()) * self.interval / DAY
        return (
            f"no merged trajectory is longer than {self.longer_than / DAY:g} days, the longest has {best:.1f}: "
            "is the download complete?"
        )


def busiest_months(positions: pl.DataFrame, months: int) -> pl.DataFrame:
    """The months (uid, month) in which each user was longest under way; a track counts in the month it begins."""
    track = positions.group_by("uid", "track").agg(pl.col("first").min(), pl.col("last").max())
    under_way = (
        track.group_by("uid", pl.col("first").dt.truncate("1mo").alias("month"))
        .agg(time=(pl.col("last") - pl.col("first")).sum())
        .sort("uid", "time", "month", descending=[False, True, False])
    )
    return under_way.group_by("uid", maintain_order=True).head(months).select("uid", "month")


def shift_tracks(positions: pl.DataFrame, *, pause: int, day: int) -> pl.DataFrame:
    """Tracks moved back towards the one before them, where the pause between the two is too long.

    The pause is taken between the times as recorded. Too long by s, a track moves back by
    s rounded up to whole days, and by what earlier tracks were too late. A track whose own
    pause is short stays where it was recorded, as in the notebook that made table I.
    """
    track = (
        positions.group_by("uid", "track")
        .agg(begins=pl.col("slot").min(), ends=pl.col("slot").max())
        .sort("uid", "track")
        .with_columns(late=pl.col("begins") - pl.col("ends").shift(1).over("uid") - pause)
        .with_columns(late=pl.when(pl.col("late") > 0).then("late").otherwise(0))
        .with_columns(earlier=pl.col("late").cum_sum().over("uid") - pl.col("late"))
        .with_columns(back=pl.when(pl.col("late") > 0).then(-(-pl.col("late") // day) * day + pl.col("earlier")))
    )
    moved = positions.join(track.select("uid", "track", "back"), on=["uid", "track"], maintain_order="left")
    return moved.with_columns(slot=pl.col("slot") - pl.col("back").fill_null(0)).drop("back")


def merge_tracks(positions: pl.DataFrame, within: int, near: float) -> pl.DataFrame:
    """Positions in time, with one track number as long as neither a pause nor a jump is too large.

    A merged track is named by the track it begins with, so pieces that begin in the same
    track are one again.
    """
    in_time = positions.sort("uid", "slot", "track", maintain_order=True)
    same = pl.col("uid") == pl.col("uid").shift(1)
    jump = (pl.col("x").diff().pow(2) + pl.col("y").diff().pow(2)).sqrt()
    goes_on = same & (pl.col("slot").diff() <= within) & (jump <= near)
    first_track = pl.when(goes_on.fill_null(value=False)).then(None).otherwise("track")
    return in_time.with_columns(track=first_track.forward_fill())


def align_longest(tracks: pl.DataFrame, longer_than: int) -> pl.DataFrame:
    """The longest track of everybody who has a long one, from slot 0 to its own end, in the order of time.

    Where merged tracks overlap, a slot has several positions.
    """
    span = tracks.group_by("uid", "track").agg(begins=pl.col("slot").min(), slots=pl.col("slot").max())
    span = span.with_columns(slots=pl.col("slots") - pl.col("begins")).filter(pl.col("slots") > longer_than)
    longest = span.sort("uid", "slots", "track", descending=[False, True, False]).unique("uid", keep="first")
    return tracks.join(longest, on=["uid", "track"], maintain_order="left").select(
        "uid", pl.col("slot") - pl.col("begins"), "lat", "lng"
    )


def cut_to_shortest(longest: pl.DataFrame) -> pl.DataFrame:
    """Everybody up to the end of the shortest track, with one position per slot: the first."""
    end = pl.col("slot").max().over("uid").min()
    return longest.filter(pl.col("slot") <= end).unique(["uid", "slot"], keep="first", maintain_order=True)


def _size(positions: pl.DataFrame) -> str:
    return f"{int(positions['points'].sum()):,} points of {positions['uid'].n_unique():,} users"


RECIPES = {
    "geolife-37": GeoLife(120, months=2, percentiles=(0.05, 0.95), published=Size(37, 194, 5205)),
    "geolife-38": GeoLife(60, months=2, percentiles=(0.01, 0.995), published=Size(38, 492, 10_407)),
    "geolife-43": GeoLife(60, months=5, percentiles=(0.05, 0.95), published=Size(43, 120, 10_103)),
}
