"""A published table of counts, wide or long, array, frame or CSV, as a `Release`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from trajlab.errors import ReleaseError
from trajlab.ids import digest
from trajlab.protect import load_recipe, name_of
from trajlab.settings import whole_number

_TIMES = ("datetime", "timestamp", "time", "ts", "slot_start", "date")
_PEOPLE = ("people", "count", "counts", "n", "value")
_HIDDEN = r"^(?i:\.{0,3}|[-–*x]|<=?\s*\d+|n/?a|nan|null|none|s(uppressed)?)$"


def parse_matrix(
    counts: Any,
    xy: Any,
    slots_per_day: int | None,
    *,
    start: Any,
    unit: str | None,
    recipe: Sequence[str] = (),
    people: int | tuple[int, int] | None = None,
) -> dict[str, Any]:
    """The fields of the `Release` that a published table is; a table that is none is refused."""
    protections = load_recipe(recipe)
    texts = tuple(name_of(protection) for protection in protections)
    hides, noisy = (any(text.partition(":")[0] == kind for text in texts) for kind in ("suppress", "noise"))
    if unit not in (None, "m", "km"):
        raise ReleaseError(f"unit must be 'm' or 'km', not {unit!r}")
    matrix, names, times = _read_counts(counts, hides=hides)
    blank = np.isnan(matrix) if hides and matrix.dtype.kind == "f" else np.zeros(matrix.shape, dtype=bool)
    matrix = np.where(blank, 0, matrix) if blank.any() else matrix
    where = read_coordinates(xy, names, unit)
    _refuse_bad_counts(matrix, noisy=noisy)
    if matrix.shape[1] != len(where):
        raise ReleaseError(f"the counts have {matrix.shape[1]} cells, the coordinates {len(where)}: they must match")
    if times is not None:
        slots_per_day = _regular(times, slots_per_day)
        start = times[0] if start is None else start
    if slots_per_day is None:
        raise ReleaseError("say how many slots a day has (slots_per_day=48 for 30 minutes): the table has no times")
    # Where something is blank, a number is a number; noise lists every cell; else nobody lists who is not there.
    slot, cell = np.nonzero(~blank if blank.any() or (noisy and not hides) else matrix)
    begins = _start(start)
    total = None if people is None else _total(people)
    known = (texts, total, blank.tobytes()) if texts or total else ()
    return {
        "id": "matrix-" + digest(matrix.tobytes(), where.tobytes(), slots_per_day, begins, *known),
        "recipe": texts,
        "total": total,
        "counts": pl.DataFrame(
            {
                "slot": slot.astype(np.int32),
                "cell": cell.astype(np.uint64),
                "people": matrix[slot, cell].astype(np.int64),
            },
        ),
        "cells": pl.DataFrame(
            {
                "cell": np.arange(len(where), dtype=np.uint64),
                "label": names or [str(i) for i in range(len(where))],
                "x": where[:, 0],
                "y": where[:, 1],
            }
        ),
        "slots": len(matrix),
        "slots_per_day": slots_per_day,
        "start": begins,
    }


def read_frame(table: Any) -> pl.DataFrame | None:
    if isinstance(table, str | Path):
        path = Path(table)
        if not path.exists():
            raise ReleaseError(f"{path}: no such file")
        try:
            return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, try_parse_dates=True)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise ReleaseError(f"{path.name} cannot be read as a table: {str(error).splitlines()[0]}") from error
    if isinstance(table, pl.DataFrame):
        return table
    if hasattr(table, "__dataframe__") or hasattr(table, "__arrow_c_stream__"):
        return pl.DataFrame(pl.from_dataframe(table))
    return None


def _total(people: int | tuple[int, int]) -> tuple[int, int]:
    """People whom the table is about, at least and at most."""
    both = people if isinstance(people, tuple | list) else (people, people)
    if len(both) != 2:
        raise ReleaseError(f"people is how many the table is about, or (at least, at most), not {people!r}")
    low, high = (whole_number("people", number, 1, error=ReleaseError) for number in both)
    if low > high:
        raise ReleaseError(f"people=({low}, {high}): at least comes before at most")
    return low, high


def _read_counts(counts: Any, *, hides: bool) -> tuple[npt.NDArray[Any], list[str] | None, list[dt.datetime] | None]:
    frame = read_frame(counts)
    if frame is None:
        matrix = np.asarray(counts)
        if hides and matrix.dtype.kind == "O":
            matrix = np.array([[np.nan if each is None else each for each in row] for row in counts], dtype=np.float64)
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise ReleaseError(f"counts must be slots × cells, with at least one of each, not of shape {matrix.shape}")
        return matrix, None, None
    by_lower = {name.lower(): name for name in frame.columns}
    time = next((by_lower[name] for name in (*_TIMES, "slot") if name in by_lower), None)
    if "cell" in by_lower:
        people = next((by_lower[name] for name in _PEOPLE if name in by_lower), None)
        if time is None or people is None:
            raise ReleaseError(f"a long table needs slot or a time, cell and people; it has {frame.columns}")
        long = frame.select(slot=time, cell=by_lower["cell"], people=people)
        frame = _widened(_numbers(long, ["people"]) if hides else long, hides=hides)
        time = "slot"
    if len(frame) == 0:
        raise ReleaseError("the table of counts has no rows")
    if time is not None and frame[time].dtype.is_integer():
        frame = frame.sort(time)
        if frame[time].to_list() != list(range(len(frame))):
            raise ReleaseError(f"column {time!r} must number the slots 0, 1, 2, ... once each")
    times = _times(frame[time]) if time is not None else None
    cells = frame.drop(time) if time is not None else frame
    cells = _numbers(cells, cells.columns) if hides else cells
    if odd := [name for name, kind in cells.schema.items() if not kind.is_numeric()]:
        raise ReleaseError(f"columns {odd[:5]} of the counts are not numbers: one column per cell is expected")
    return cells.to_numpy(), cells.columns, times


def _numbers(frame: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """What says that a count is hidden becomes a missing number: nothing, a dash, a star, `<5`, `n/a`."""
    texts = [name for name in columns if frame.schema[name] == pl.String]
    word = pl.col(texts).str.strip_chars()
    told = pl.when(~word.str.contains(_HIDDEN)).then(word)
    try:
        return frame.with_columns(told.cast(pl.Float64)).with_columns(
            pl.col(name).cast(pl.Float64) for name in columns if frame.schema[name] == pl.Null
        )
    except pl.exceptions.InvalidOperationError as error:
        raise ReleaseError(
            "some counts are neither whole numbers nor marked as hidden (empty, -, *, .., x, <5, n/a)"
        ) from error


def _widened(long: pl.DataFrame, *, hides: bool) -> pl.DataFrame:
    repeats = len(long) - long.select("slot", "cell").n_unique()
    if repeats:
        raise ReleaseError(f"{repeats} rows repeat a slot and cell: one count for each is expected")
    if long["slot"].dtype.is_integer():
        if (below := long.filter(pl.col("slot") < 0)).height:
            raise ReleaseError(f"{below.height} rows have a slot below 0")
        everything = pl.DataFrame({"slot": np.arange(int(long.select(pl.col("slot").max()).item()) + 1)}).cast(
            long.schema["slot"]
        )
        wide = everything.join(long.sort("cell").pivot("cell", index="slot", values="people"), on="slot", how="left")
    else:
        wide = long.sort("cell").pivot("cell", index="slot", values="people")
    return wide.sort("slot") if hides else wide.sort("slot").with_columns(pl.exclude("slot").fill_null(0))


def _times(column: pl.Series) -> list[dt.datetime] | None:
    if column.dtype == pl.Date:
        return column.cast(pl.Datetime("us")).to_list()
    if column.dtype == pl.Datetime:
        return column.dt.replace_time_zone(None).to_list()
    if column.dtype == pl.String:
        try:
            return column.str.to_datetime().to_list()
        except pl.exceptions.PolarsError as error:
            raise ReleaseError(f"column {column.name!r} does not hold times: {str(error).splitlines()[0]}") from error
    return None


def _regular(times: list[dt.datetime], slots_per_day: int | None) -> int:
    seconds = np.diff(np.array(times, dtype="datetime64[s]")).astype(np.int64)
    if len(seconds) == 0:
        return slots_per_day or 1
    step = int(seconds.min())
    odd = np.flatnonzero(seconds != step)
    if step <= 0 or len(odd):
        at = int(odd[0]) + 1 if len(odd) else 1
        raise ReleaseError(
            f"slots are missing or out of order: {len(odd)} steps are not {step} s long, the first before row {at + 1}"
        )
    if 86_400 % step:
        raise ReleaseError(f"slots of {step} s do not divide a day")
    if slots_per_day is not None and slots_per_day != 86_400 // step:
        raise ReleaseError(
            f"slots_per_day is {slots_per_day}, but the times are {step} s apart: {86_400 // step} a day"
        )
    return 86_400 // step


def read_coordinates(xy: Any, names: list[str] | None, unit: str | None) -> npt.NDArray[np.float64]:
    frame = read_frame(xy)
    if frame is None:
        where = np.asarray(xy, dtype=np.float64)
        if where.ndim != 2 or where.shape[1] != 2:
            raise ReleaseError(f"xy must be cells × 2, not of shape {where.shape}")
    else:
        where, unit = _coordinates(frame, names, unit)
    bad = int((~np.isfinite(where)).any(axis=1).sum())
    if bad:
        raise ReleaseError(f"{bad} cells have coordinates that are not finite numbers")
    if unit is None and len(where) > 1 and (np.abs(where) <= (180, 90)).all():
        raise ReleaseError(
            "the coordinates look like degrees; attacks measure metres. Project them first, "
            "or pass unit='m' if they really are metres"
        )
    return where * (1000.0 if unit == "km" else 1.0)


def _coordinates(
    frame: pl.DataFrame, names: list[str] | None, unit: str | None
) -> tuple[npt.NDArray[np.float64], str | None]:
    suffixes = {"": unit, "_m": "m", "_km": "km"}
    suffix = next((s for s in suffixes if {f"x{s}", f"y{s}"} <= set(frame.columns)), None)
    if suffix is None:
        raise ReleaseError(f"the coordinates need columns x and y (or x_km and y_km); there are {frame.columns}")
    x, y = f"x{suffix}", f"y{suffix}"
    if names is not None and "cell" in frame.columns:
        wanted = pl.DataFrame({"cell": names}).join(
            frame.with_columns(pl.col("cell").cast(pl.String)), on="cell", how="left", maintain_order="left"
        )
        if unknown := wanted.filter(pl.col(x).is_null())["cell"].to_list():
            raise ReleaseError(f"{len(unknown)} cells of the counts have no coordinates, such as {unknown[:3]}")
        frame = wanted
    return frame.select(x, y).cast(pl.Float64).to_numpy(), suffixes[suffix]


def _refuse_bad_counts(matrix: npt.NDArray[Any], *, noisy: bool) -> None:
    if matrix.dtype.kind not in "iuf":
        raise ReleaseError(f"counts must be whole numbers, not {matrix.dtype}")
    problems = {
        "are not numbers (NaN or missing)": ~np.isfinite(matrix),
        "are negative": (matrix < 0) & (not noisy),
        "are not whole numbers": np.isfinite(matrix) & (matrix != np.floor(matrix)),
    }
    for problem, where in problems.items():
        if where.any():
            slot, cell = np.argwhere(where)[0]
            raise ReleaseError(f"{int(where.sum())} counts {problem}, the first in slot {slot}, cell {cell}")
    if not matrix.any():
        raise ReleaseError("every count is zero: there is nobody in this release")


def _start(start: Any) -> dt.datetime:
    if start is None:
        return dt.datetime(1970, 1, 5)  # noqa: DTZ001  a Monday at 00:00: the table does not say
    if isinstance(start, str):
        try:
            return dt.datetime.fromisoformat(start)
        except ValueError:
            raise ReleaseError(f"start {start!r} is not a date and time like '2014-05-01 00:00'") from None
    return dt.datetime.combine(start, dt.time()) if not isinstance(start, dt.datetime) else start
