"""True timetables of people, to see how well schedules are read from their records (ma2017, table I)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from trajlab.errors import ScheduleError
from trajlab.query import Query
from trajlab.schedule.timetable import minutes, weekday

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.store import Store

COLUMNS = ("uid", "weekday", "from", "to", "place")


def compare(store: Store, leak_id: str, truth: pl.DataFrame, progress: Progress) -> None:
    """Put true timetables, as `read` gives them, into `records.lesson`, and build `metrics.extraction`."""
    leak = store.relation(Query.load("study.leak"), leak_id=leak_id).row(0, named=True)
    schedules = store.relation(Query.load("study.schedule"), schedule_id=leak["known_schedule_id"]).row(0, named=True)
    release = store.relation(Query.load("counts.release"), release_id=leak["release_id"]).row(0, named=True)
    lessons = _lessons(store, truth)
    labels = store.frame("select label from grid.cell where index_id = $id", id=release["index_id"])["label"]
    if not lessons["place"].is_in(labels.to_list()).any():
        raise ScheduleError(
            f"none of the {lessons['place'].n_unique():,} places of the true timetables is a cell of "
            f"{release['index_name']}: compare with a release by places"
        )
    with store.transaction("true timetables"):
        store.clear(Query.load("records.lesson"))
        store.insert("records.lesson", lessons)
        store.check_grain(Query.load("records.lesson"))
        with progress.step("metrics.extraction", poll=store.engine.percent_done):
            store.build(
                Query.load("metrics.extraction"),
                leak_id=leak_id,
                known_schedule_id=leak["known_schedule_id"],
                known_traces=schedules["traces_id"],
                index_id=release["index_id"],
                keep=leak["keep"],
            )


def read(truth: object) -> pl.DataFrame:
    """True timetables from a frame or a file, checked: uid, weekday (1 is Monday), from and to in minutes, place."""
    if isinstance(truth, pl.DataFrame):
        frame, name = truth, "truth"
    elif isinstance(truth, str | Path) and Path(truth).suffix.lower() in (".csv", ".parquet"):
        path = Path(truth)
        if not path.is_file():
            raise ScheduleError(f"there is no file {str(truth)!r} of true timetables")
        try:
            frame = pl.read_csv(path, infer_schema=False) if path.suffix.lower() == ".csv" else pl.read_parquet(path)
        except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError):
            raise ScheduleError(
                f"{path.name}: no table with {', '.join(COLUMNS)} can be read from it: is it whole, and UTF-8?"
            ) from None
        name = path.name
    else:
        raise ScheduleError(
            "true timetables are a frame, or a .csv or .parquet file, with uid, weekday, from, to, place"
        )
    if missing := [column for column in COLUMNS if column not in frame.columns]:
        raise ScheduleError(f"{name}: no {' and no '.join(missing)}; true timetables have {', '.join(COLUMNS)}")
    texts = {column: frame[column].unique(maintain_order=True) for column in ("weekday", "from", "to")}
    for column, parse in (("weekday", weekday), ("from", minutes), ("to", minutes)):
        known = pl.DataFrame({"text": texts[column], "value": [parse(text) for text in texts[column]]})
        wrong = known.filter(pl.col("value").is_null())
        if len(wrong):
            rows = int(frame[column].is_in(wrong["text"].to_list(), nulls_equal=True).sum())
            raise ScheduleError(f"{name}: {rows:,} rows have a {column} that is none: write Mon and 08:00")
        frame = frame.with_columns(
            pl.col(column).replace_strict(known["text"], known["value"], return_dtype=pl.Int32).alias(column)
        )
    if backwards := len(frame.filter(pl.col("to") <= pl.col("from"))):
        raise ScheduleError(f"{name}: {backwards:,} rows end before they begin")
    keys = ["uid", "weekday", "from"]
    if repeats := len(frame) - len(frame.unique(keys)):
        raise ScheduleError(
            f"{name}: {repeats:,} rows repeat a person, weekday and time: somebody is in one place only"
        )
    return frame.select(pl.col("uid").cast(pl.String), "weekday", "from", "to", pl.col("place").cast(pl.String))


def _lessons(store: Store, truth: pl.DataFrame) -> pl.DataFrame:
    people = store.frame("select person, uid from records.person")
    known = truth.join(people, on="uid")
    if not len(known):
        raise ScheduleError(
            f"none of the {truth['uid'].n_unique():,} people with true timetables has records: is uid written as there?"
        )
    return known.select("person", "weekday", "place", begin_minute="from", end_minute="to")
