"""Trips that somebody published, by attributes: Spain's tables, and any other."""

from __future__ import annotations

import gzip
import random

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import trajlab as tl
from trajlab.errors import ReleaseError, UnknownNameError

HEADER = (
    "fecha|periodo|origen|destino|distancia|actividad_origen|actividad_destino|estudio_origen_posible"
    "|estudio_destino_posible|residencia|renta|edad|sexo|viajes|viajes_km"
)
ZONES = pl.DataFrame({"cell": ["28001", "28002", "28003"], "x": [0.0, 3000.0, 0.0], "y": [0.0, 0.0, 9000.0]})


def row(day: str, hour: int, origin: str, destination: str, age: str, sex: str, trips: float) -> str:
    return f"{day}|{hour:02}|{origin}|{destination}|2-10|casa|otros|no|no|28|10-15|{age}|{sex}|{trips}|{trips * 3}"


ROWS = [
    row("20240304", 8, "28001", "28002", "25-45", "mujer", 3.25),
    row("20240304", 8, "28001", "28002", "45-65", "hombre", 12.5),
    row("20240304", 8, "28001", "28003", "45-65", "hombre", 0.4),
    row("20240305", 23, "28003", "28001", "NA", "NA", 7.0),
    row("20240305", 23, "28003", "externo", "25-45", "mujer", 2.0),
]


def write(path, rows=ROWS, header=HEADER):
    path.write_bytes(gzip.compress("\n".join([header, *rows, ""]).encode()))
    return path


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "20240304_Viajes_distritos.csv.gz")


def test_hours_are_slots_and_zones_are_cells(file):
    release = tl.read_trips(file, ZONES, kind="mitma").release()
    assert (release.slots, release.slots_per_day, str(release.start)) == (48, 24, "2024-03-04 00:00:00")
    assert release.counts.rows() == [(8, 0, 16), (47, 2, 7)]  # 3.25 + 12.5 + 0.4 leave 28001 at eight
    assert release.flows.rows() == [(8, 0, 1, 16), (47, 2, 0, 7)]  # 0.4 trips are none
    assert release.cells.rows()[2] == (2, "28003", 0.0, 9000.0)
    assert release.notes[0] == "2.0 trips from or to 1 zones without coordinates were left out"


@pytest.mark.parametrize(("trips", "whole"), [(0.5, 0), (1.5, 2), (2.5, 2), (2.6, 3)])
def test_halves_of_trips_go_to_the_even_number(tmp_path, trips, whole):
    rows = [
        row("20240304", 8, "28001", "28002", "NA", "NA", trips),
        row("20240304", 9, "28001", "28002", "NA", "NA", 9),
    ]
    flows = tl.read_trips(write(tmp_path / "a.csv.gz", rows), ZONES, kind="mitma").release().flows
    assert flows.filter(pl.col("slot") == 8)["people"].to_list() == ([whole] if whole else [])


def test_groups_are_releases_of_their_own_and_add_up(file):
    trips = tl.read_trips(file, ZONES, kind="mitma")
    assert trips.release(edad="25-45", sexo="mujer").flows.rows() == [(8, 0, 1, 3)]
    whole = trips.table["trips"].sum()
    for name in trips.attributes:
        groups = trips.table[name].unique().to_list()
        assert sum(trips._of_group({name: value})["trips"].sum() for value in groups) == pytest.approx(whole)
    with pytest.raises(UnknownNameError, match="no attribute named 'age'; there are: actividad_destino"):
        trips.release(age="25-45")
    with pytest.raises(UnknownNameError, match="no sexo named 'woman'; there are: NA, hombre, mujer"):
        trips.release(sexo="woman")


def test_dividing_further_never_makes_fewer_numbers_or_larger_ones(file):
    found = tl.read_trips(file, ZONES, kind="mitma", attributes=["edad", "sexo"]).small(10)
    assert found["divided_by"].to_list() == ["nothing", "edad", "sexo", "edad sexo"]
    assert found["numbers"].to_list() == [3, 4, 4, 4]
    assert found["small"].to_list() == [2, 3, 3, 3]
    assert found["share_of_trips"].to_list() == pytest.approx([7.4 / 23.15, *[10.65 / 23.15] * 3])


def test_the_order_of_rows_and_files_changes_nothing(tmp_path, file):
    mixed = ROWS * 1
    random.Random(3).shuffle(mixed)
    halves = [write(tmp_path / "a.csv.gz", mixed[:2]), write(tmp_path / "b.csv.gz", mixed[2:])]
    one, two = (tl.read_trips(source, ZONES, kind="mitma") for source in (file, halves))
    assert one.release().id == two.release().id
    assert_frame_equal(one.small(5), two.small(5))


def test_an_attack_that_follows_everybody_refuses_hours_in_which_nobody_moves(file):
    with tl.open(":memory:") as lab, pytest.raises(ReleaseError, match="cannot be attacked this way: 46 of 48 slots"):
        lab.attack(tl.read_trips(file, ZONES, kind="mitma").release(), "shuffle")


def test_any_other_table_says_which_column_is_which():
    frame = pl.DataFrame({"day": ["2024-03-04"], "h": [7], "a": ["x"], "b": ["y"], "n": [5], "purpose": ["work"]})
    zones = pl.DataFrame({"cell": ["x", "y"], "x_km": [0.0, 4.0], "y_km": [0.0, 0.0]})
    names = {"date": "day", "hour": "h", "origin": "a", "destination": "b", "trips": "n"}
    trips = tl.read_trips(frame, zones, columns=names, attributes=["purpose"])
    assert trips.release(purpose="work").flows.rows() == [(7, 0, 1, 5)]
    assert trips.cells["x"].to_list() == [0.0, 4000.0]


@pytest.mark.parametrize(
    ("source", "zones", "options", "said"),
    [
        ("gone.csv.gz", ZONES, {"kind": "mitma"}, "gone.csv.gz: no such file"),
        (pl.DataFrame({"date": [1]}), ZONES, {}, "no column 'hour' in the trips; there are date"),
        (None, ZONES.drop("cell"), {"kind": "mitma"}, "the zones need a table of cell, x and y"),
        (None, pl.concat([ZONES, ZONES]), {"kind": "mitma"}, "3 zones have more than one row of coordinates"),
        (None, ZONES.with_columns(cell=pl.lit("0") + pl.col("cell")), {"kind": "mitma"}, "do both tables name zones"),
        (None, ZONES, {"kind": "mitma", "columns": {"trips": "n"}}, "kind 'mitma' has a fixed layout"),
        (None, ZONES, {"columns": {"people": "n"}}, "columns= knows date, hour, .*, not 'people'"),
        (None, ZONES, {"kind": "eod"}, "no kind of trips named 'eod'; there are: mitma"),
        (7, ZONES, {}, "trips are read from files and frames, not from int"),
        ([], ZONES, {}, "no file to read trips from"),
    ],
)
def test_what_are_no_trips_is_refused(file, source, zones, options, said):
    with pytest.raises((ReleaseError, UnknownNameError), match=said):
        tl.read_trips(file if source is None else source, zones, **options)


@pytest.mark.parametrize(
    "bad",
    [
        row("2024-13-04", 8, "28001", "28002", "NA", "NA", 1.0),
        row("20240304", 24, "28001", "28002", "NA", "NA", 1.0),
        row("20240304", 8, "28001", "28002", "NA", "NA", -1.0),
        row("20240304", 8, "28001", "28002", "NA", "NA", float("nan")),
        row("20240304", 8, "", "28002", "NA", "NA", 1.0),
    ],
)
def test_rows_that_say_nothing_are_refused_with_how_many(tmp_path, bad):
    with pytest.raises(ReleaseError, match=r"1 of 6 rows have no date \(20240304\), no hour from 0 to 23"):
        tl.read_trips(write(tmp_path / "a.csv.gz", [*ROWS, bad]), ZONES, kind="mitma")
