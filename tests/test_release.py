from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from trajlab.errors import ReleaseError, UnknownNameError
from trajlab.release import REQUIREMENTS, Release

COUNTS = np.array([[2, 0, 1], [1, 1, 1], [0, 3, 0], [0, 0, 3]])
XY = np.array([[0.0, 0.0], [1000.0, 0.0], [0.0, 2000.0]])
DATA = Path(os.environ.get("TRAJLAB_DATA", "no data"))


def test_a_matrix_comes_back_as_it_went_in():
    release = Release.from_matrix(COUNTS, XY, slots_per_day=2)
    assert np.array_equal(release.matrix(), COUNTS)
    assert np.array_equal(release.xy(), XY)
    assert (release.people, release.slots, release.slots_per_day) == (3, 4, 2)
    assert release.unmet(*REQUIREMENTS) == []


def wide() -> pl.DataFrame:
    times = [dt.datetime(2014, 5, 1) + n * dt.timedelta(hours=12) for n in range(4)]
    return pl.DataFrame({"datetime": times, **{str(c): COUNTS[:, c] for c in range(3)}})


def long_() -> pl.DataFrame:
    slot, cell = np.nonzero(COUNTS)
    return pl.DataFrame({"slot": slot, "cell": cell, "people": COUNTS[slot, cell]})


def cells(unit: str = "") -> pl.DataFrame:
    scale = 1000 if unit == "_km" else 1
    return pl.DataFrame({"cell": range(3), f"x{unit}": XY[:, 0] / scale, f"y{unit}": XY[:, 1] / scale})


@pytest.mark.parametrize("shape", ["wide", "wide csv", "wide pandas", "long", "long times", "shuffled cells"])
def test_every_shape_of_table_gives_the_same_release(shape, tmp_path):
    table: object
    where: object = cells("_km")
    slots_per_day = None
    if shape == "wide":
        table = wide()
    elif shape == "wide csv":
        table = tmp_path / "counts.csv"
        wide().write_csv(table)
        where = tmp_path / "cells.csv"
        cells("_km").write_csv(where)
    elif shape == "wide pandas":
        table = pd.DataFrame(wide().to_dict(as_series=False))
    elif shape == "long":
        table, slots_per_day = long_(), 2
    elif shape == "long times":
        times = pl.Series("datetime", wide()["datetime"].gather(long_()["slot"].to_list()))
        table = long_().with_columns(times).drop("slot")
    else:
        table, where = wide().select("datetime", "0", "1", "2"), cells("_km")[[2, 0, 1]]
    release = Release.from_matrix(table, where, slots_per_day)
    assert np.array_equal(release.matrix(), COUNTS)
    assert np.array_equal(release.xy(), XY)
    assert release.slots_per_day == 2


def changed(**at: float) -> np.ndarray:
    counts = COUNTS.astype(float)
    counts[2, 1] = at["to"]
    return counts


@pytest.mark.parametrize(
    ("counts", "xy", "options", "message"),
    [
        (changed(to=-1), XY, {}, "1 counts are negative, the first in slot 2, cell 1"),
        (changed(to=1.5), XY, {}, "1 counts are not whole numbers, the first in slot 2, cell 1"),
        (
            changed(to=np.nan),
            XY,
            {},
            r"1 counts are not numbers \(NaN or missing\), the first in slot 2, cell 1",
        ),
        (changed(to=np.inf), XY, {}, "1 counts are not numbers"),
        (COUNTS * 0, XY, {}, "every count is zero"),
        (COUNTS[0], XY, {}, r"slots × cells, with at least one of each, not of shape \(3,\)"),
        (COUNTS, XY[:2], {}, "the counts have 3 cells, the coordinates 2"),
        (COUNTS, XY.T, {}, "xy must be cells × 2"),
        (COUNTS, XY / 1e4, {}, "look like degrees"),
        (COUNTS, XY * np.nan, {}, "3 cells have coordinates that are not finite"),
        (COUNTS, XY, {"slots_per_day": None}, "say how many slots a day has"),
        (COUNTS, XY, {"slots_per_day": 7}, "7 slots a day do not divide 24 hours"),
        (COUNTS, XY, {"start": "noon"}, "start 'noon' is not a date and time"),
        (COUNTS.astype(str), XY, {}, "counts must be whole numbers"),
        ("no_such_file.csv", XY, {}, "no_such_file.csv: no such file"),
        (
            wide()[[0, 1, 3]],
            cells("_km"),
            {"slots_per_day": None},
            "slots are missing or out of order: 1 steps are not",
        ),
        (
            wide(),
            cells("_km"),
            {"slots_per_day": 48},
            "slots_per_day is 48, but the times are 43200 s apart: 2 a day",
        ),
        (
            wide(),
            cells("_km")[:2],
            {"slots_per_day": None},
            r"1 cells of the counts have no coordinates, such as \['2'\]",
        ),
        (wide(), wide(), {"slots_per_day": None}, "the coordinates need columns x and y"),
        (long_().drop("people"), XY, {}, "a long table needs slot or a time, cell and people"),
        (pl.concat([long_(), long_()]), XY, {}, "7 rows repeat a slot and cell"),
        (wide().head(0), cells("_km"), {}, "the table of counts has no rows"),
        (COUNTS, XY, {"unit": "miles"}, "unit must be 'm' or 'km', not 'miles'"),
        (long_().with_columns(pl.col("slot") - 1), XY, {}, "2 rows have a slot below 0"),
        (
            wide().drop("datetime").with_columns(slot=pl.Series([0, 2, 3, 4])),
            cells(),
            {},
            "must number the slots 0, 1, 2",
        ),
    ],
)
def test_a_bad_table_is_refused(counts, xy, options, message):
    with pytest.raises(ReleaseError, match=message):
        Release.from_matrix(counts, xy, **{"slots_per_day": 2, **options})


@pytest.mark.parametrize(
    ("counts", "xy", "options", "requirement", "reason"),
    [
        (np.vstack([COUNTS, [[1, 0, 0]]]), XY, {}, "equal totals", "1 of 5 slots do not have 3 people .slot 4 has 1"),
        (np.vstack([COUNTS, [[0, 0, 0]], COUNTS[:1]]), XY, {}, "every slot", "1 of 6 slots are missing, the first is slot 4"),
        (COUNTS, XY, {"start": "2014-05-01 07:30"}, "night start", "starts at 07:30; it must start between 00:00 and 06:00"),
        (COUNTS[:3], XY, {}, "two days", "at least two of them, and there are 1.5"),
        (COUNTS // 3, XY, {"unit": "m"}, "two people", "there are 1 people; at least two are needed"),
        (COUNTS[:, :1], XY[:1], {}, "two cells", "there are 1 cells; at least two are needed"),
    ],
)  # fmt: skip
def test_an_attack_hears_why_a_release_will_not_do(counts, xy, options, requirement, reason):
    release = Release.from_matrix(counts, xy, 2, **options)
    with pytest.raises(ReleaseError, match=reason):
        release.require(requirement)


def test_an_unknown_requirement_is_a_mistake():
    with pytest.raises(UnknownNameError, match="no requirement named 'luck'"):
        Release.from_matrix(COUNTS, XY, 2).require("luck")


def test_a_release_has_no_field_for_truth():
    words = {"person", "people_table", "uid", "positions", "truth", "traces"}
    assert not words & set(Release.__dataclass_fields__)
    assert {"person", "uid"}.isdisjoint(Release.from_matrix(COUNTS, XY, 2).counts.columns)


@pytest.mark.needs_data
@pytest.mark.skipif(not DATA.is_dir(), reason="TRAJLAB_DATA names no folder with the Porto tables")
@pytest.mark.parametrize(("size", "cells"), [("3x3", 9), ("7x7", 49)])
def test_the_published_porto_tables_can_be_attacked_as_they_are(size, cells):
    release = Release.from_matrix(DATA / f"porto_{size}_counts.csv", DATA / f"porto_{size}_cells.csv")
    assert (release.people, release.slots, release.slots_per_day, len(release.cells)) == (
        197,
        4321,
        144,
        cells,
    )
    assert release.start == dt.datetime(2014, 5, 1)
    assert release.unmet(*REQUIREMENTS) == []
    assert np.ptp(release.xy(), axis=0).max() == {"3x3": 4000, "7x7": 12000}[size]
