"""Files, folders and names as they are found: many, locked, replaced, or no files at all."""

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from test_ingest import FIXTURES, GOOD, assert_law, empty_lab, fixes, rejected

import trajlab as tl
from trajlab.cli import main
from trajlab.errors import IngestError
from trajlab.ingest import _batch as batch
from trajlab.ingest import _files as files
from trajlab.ingest import _tables as tables
from trajlab.ingest import add_stations, ingest

BROKEN = FIXTURES / "broken"
HEADER = "uid,ts,lat,lng\n"
NOBODY = 65534


def row(uid: str, hour: int, lat: str = "38.73", lng: str = "-9.16") -> str:
    return f"{uid},2024-03-04T{hour:02d}:00:00Z,{lat},{lng}\n"


def everything(con) -> list[list[tuple]]:
    return [
        con.sql(f"from records.{table} order by all").fetchall() for table in ("source", "person", "fix", "rejected")
    ]


def many_small_files(folder):
    (folder / "a.csv").write_text(HEADER + row("zoe", 8) + row("ana", 9) + "\n" + row("ana", 9))
    (folder / "b.csv").write_text(HEADER)
    (folder / "c.csv").write_text(HEADER + row("ana", 10, "north") + row("ben", 8).strip())
    (folder / "d.csv").write_text("\n\ufeff".strip("\n") + HEADER + '"cid\n2",2024-03-04T08:00:00Z,38.7,-9.1\n')
    (folder / "e.csv").write_text(HEADER + row("dan", 7, "-9.16", "138.73") + row("dan", 8, "139.16", "38.73"))
    (folder / "f.csv").write_text("who,ts,lat,lng,note\n".replace("who", "uid") + row("eve", 8).strip() + ',"55" tv"\n')
    (folder / "g.csv").write_bytes(HEADER.encode() + row("Jos\xe9", 8).encode("latin-1") + row("ben", 9).encode())
    (folder / "h.csv").write_text(HEADER + row("fay", 7, "139.16", "38.73") + row("fay", 8, "139.2", "38.74"))
    (folder / "i.csv").write_text((folder / "a.csv").read_text())
    (folder / "j.csv").write_text("uid;ts;lat;lng\nana;2024-03-05T08:00:00Z;38,73;-9,16\n")
    return folder


def test_many_small_files_together_are_what_they_are_one_by_one(tmp_path):
    folder = many_small_files(tmp_path)
    together, alone = empty_lab(), empty_lab()
    done = ingest(together, folder)
    one_by_one = [ingest(alone, path) for path in sorted(folder.iterdir()) if path.name not in {"b.csv", "f.csv"}]
    assert done.rows == sum(one.rows for one in one_by_one) + 1
    assert done.kept == sum(one.kept for one in one_by_one)
    assert done.skipped_sources == ["i.csv"]
    assert "b.csv: no data rows" in done.notes
    assert [note for note in done.notes if "look swapped" in note] == [
        (
            "h.csv: lat and lng look swapped: 'lng' was read as latitude and 'lat' as longitude; "
            "pass columns= with both to override"
        )
    ]
    by_name = """
        select name, uid, source_row, ts, lat, lng, reason
        from (
            select source_id, source_row, person, ts, lat, lng, null as reason from records.fix
            union all
            select source_id, source_row, null, null, null, null, reason from records.rejected
        )
        join records.source using (source_id)
        left join records.person using (person)
        where name <> 'f.csv'
        order by all
    """
    assert together.sql(by_name).fetchall() == alone.sql(by_name).fetchall()
    assert_law(together)


def test_people_are_numbered_alike_in_one_call_and_in_several(tmp_path):
    for name, uids in {"a": "zyx", "b": "cz", "c": "ab"}.items():
        (tmp_path / f"{name}.csv").write_text(HEADER + "".join(row(uid, 8, f"38.{i}1") for i, uid in enumerate(uids)))
    together, alone = empty_lab(), empty_lab()
    ingest(together, tmp_path)
    for name in "abc":
        ingest(alone, tmp_path / f"{name}.csv")
    assert everything(together) == everything(alone)
    assert together.sql("select uid from records.person order by person").fetchall() == [(u,) for u in "xyzcab"]


def test_small_files_are_read_together(tmp_path, monkeypatch):
    for i in range(50):
        (tmp_path / f"{i:02d}.csv").write_text(HEADER + row(f"p{i}", 8))
    opened = []
    monkeypatch.setattr(
        tables.csvfile, "read", lambda *a, _read=tables.csvfile.read, **k: opened.append(a) or _read(*a, **k)
    )
    done = ingest(empty_lab(), tmp_path)
    assert len(opened) == 1
    assert len(done.sources) == done.kept == 50
    assert ingest(empty_lab(), [tmp_path / f"{i:02d}.csv" for i in range(50)]).sources == done.sources


def test_many_small_parquet_files_together_are_what_they_are_one_by_one(tmp_path):
    for i in range(12):
        good = {"uid": ["zoe", f"p{i % 5}"], "ts": [f"2024-03-04T{i + 1:02}:00:00Z"] * 2, "lat": 38.7, "lng": -9.1}
        frame = pl.DataFrame(good)
        if i == 3:
            frame = frame.clear()
        elif i in (4, 9):  # another layout
            frame = frame.with_columns(lat=pl.col("lat").cast(pl.Float32), note=pl.lit(1))
        elif i == 5:
            frame = frame.with_columns(lat=pl.Series([38.7, 138.7]))
        frame.write_parquet(tmp_path / f"{i:02}[{i}].parquet", statistics=i % 2 == 0)
    together, alone = empty_lab(), empty_lab()
    done = ingest(together, tmp_path)
    paths = sorted(path for path in tmp_path.iterdir() if not path.name.startswith("03"))
    assert done.kept == sum(ingest(alone, path).kept for path in paths) == 21
    assert done.rejected == {"latitude outside -90..90": 1}
    assert "03[3].parquet: no data rows" in done.notes
    rows = """
        select name, uid, fix.source_row, ts, lat, lng
        from records.fix as fix join records.source using (source_id) join records.person using (person)
        order by all
    """
    assert together.sql(rows).fetchall() == alone.sql(rows).fetchall()
    fingerprints = "select name, fingerprint, rows from records.source order by name"
    assert together.sql(fingerprints).fetchall() == alone.sql(fingerprints).fetchall()
    assert_law(together)
    assert len(ingest(together, tmp_path).skipped_sources) == 11


def test_small_parquet_files_are_read_together(tmp_path, monkeypatch):
    for i in range(50):
        pl.DataFrame(GOOD).with_columns(uid=pl.lit(f"p{i}")).write_parquet(tmp_path / f"{i:02d}.parquet")
    opened = []
    monkeypatch.setattr(
        batch, "check_rows", lambda *a, _check=batch.check_rows, **k: opened.append(a) or _check(*a, **k)
    )
    done = ingest(empty_lab(), tmp_path)
    assert len(opened) == 1
    assert len(done.sources) == 50


def test_one_damaged_parquet_file_among_many_is_named(tmp_path):
    for i in range(5):
        pl.DataFrame(GOOD).with_columns(uid=pl.lit(f"p{i}")).write_parquet(tmp_path / f"{i}.parquet")
    content = bytearray((tmp_path / "3.parquet").read_bytes())
    content[4:60] = bytes(56)
    (tmp_path / "3.parquet").write_bytes(content)
    with pytest.raises(IngestError, match="^3.parquet: the file is damaged, the engine cannot read it to the end"):
        ingest(empty_lab(), tmp_path)
    (tmp_path / "3.parquet").write_bytes(content[:-20])
    with pytest.raises(IngestError, match="^3.parquet: a damaged or cut-off Parquet file"):
        ingest(empty_lab(), tmp_path)


def test_one_bad_file_among_many_is_named(tmp_path):
    for i in range(5):
        (tmp_path / f"{i}.csv").write_text(HEADER + row(f"p{i}", 8))
    (tmp_path / "3.csv").write_text(HEADER + "p3,yesterday,38.73,-9.16\n")
    with pytest.raises(IngestError, match="^3.csv: no time in column 'ts' could be read"):
        ingest(empty_lab(), tmp_path)
    (tmp_path / "3.csv").write_text(HEADER + "p3,2024-03-04T08:00:00,38.73,-9.16\n")
    with pytest.raises(IngestError, match="^3.csv: times in column 'ts' carry no zone"):
        ingest(empty_lab(), tmp_path)


def test_a_file_that_is_replaced_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    pl.DataFrame(GOOD).write_parquet(path)

    def replaced(file, _taken=tables.csvfile.fingerprint):
        taken = _taken(file)
        pl.DataFrame(GOOD).with_columns(lat=pl.col("lat") + 1).write_parquet(tmp_path / "new")
        (tmp_path / "new").replace(path)
        return taken

    monkeypatch.setattr(tables.csvfile, "fingerprint", replaced)
    with pytest.raises(IngestError, match="a.parquet: the file changed while it was being read; try again"):
        ingest(empty_lab(), path)


def test_a_large_csv_that_grows_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text(HEADER + row("ana", 8) + row("ben", 9))
    monkeypatch.setattr(tables.csvfile, "CHUNK", 32)

    def grown(*given, _scan=tables.csvfile.scan_quotes):
        seen = _scan(*given)
        with path.open("a") as end:
            end.write(row("cid", 9))
        return seen

    monkeypatch.setattr(tables.csvfile, "scan_quotes", grown)
    with pytest.raises(IngestError, match=r"a.csv: (2 lines, of which the engine reads 3|the file changed)"):
        ingest(empty_lab(), path)


def test_a_file_without_one_sound_row_is_refused_with_the_reasons():
    con = empty_lab()
    with pytest.raises(IngestError) as refusal:
        ingest(con, BROKEN / "no_row_is_sound.csv")
    assert str(refusal.value) == (
        "no_row_is_sound.csv: not one of 2 rows could be kept: latitude missing (1), latitude not a number (1); "
        "nothing was added"
    )


def test_rows_that_the_lab_has_already_are_no_failure(tmp_path):
    con = empty_lab()
    (tmp_path / "a.csv").write_text(HEADER + row("ana", 8) + row("ben", 9))
    (tmp_path / "b.csv").write_text(HEADER + row("ben", 9) + row("ana", 8))
    ingest(con, tmp_path / "a.csv")
    assert ingest(con, tmp_path / "b.csv").rejected == {"exact duplicate": 2}


def test_decimal_commas_are_read_and_said(tmp_path):
    con = empty_lab()
    done = ingest(con, BROKEN / "decimal_commas.csv")
    assert [(f[3], f[4]) for f in fixes(con)] == [(38.73, -9.16), (38.71, -9.12)]
    assert "decimal_commas.csv: numbers in 'lat', 'lng' have decimal commas" in done.notes
    (tmp_path / "quoted.csv").write_text(HEADER + row("ana", 8, '"38,73"', '"-9,16"') + row("ben", 9, '""', '"-9,1"'))
    assert ingest(con, tmp_path / "quoted.csv").rejected == {"exact duplicate": 1, "latitude missing": 1}


def test_points_and_commas_mixed_are_counted_rows(tmp_path):
    con = empty_lab()
    (tmp_path / "a.csv").write_text(
        "uid;ts;lat;lng\n" + (row("a", 8) + row("b", 8, "38_7")).replace(",", ";").replace("_", ",")
    )
    ingest(con, tmp_path / "a.csv")
    assert rejected(con) == [(2, "latitude not a number")]


def test_columns_of_parquet_that_differ_in_case_only_are_told_apart(tmp_path):
    with pytest.raises(IngestError, match="lat_twice.parquet: column 'lat' appears twice"):
        ingest(empty_lab(), BROKEN / "lat_twice.parquet")
    with pytest.raises(IngestError, match="lat_in_two_cases.parquet: 'lat', 'Lat' could each be 'lat'; say which"):
        ingest(empty_lab(), BROKEN / "lat_in_two_cases.parquet")
    con = empty_lab()
    ingest(con, BROKEN / "lat_in_two_cases.parquet", columns={"lat": "Lat"})
    assert [fix[3] for fix in fixes(con)] == [1.0, 2.0]


def test_a_parquet_column_may_be_called_like_the_row_number_of_the_engine():
    con = empty_lab()
    done = ingest(con, BROKEN / "file_row_number.parquet")
    assert [fix[0] for fix in fixes(con)] == [1, 2]
    assert done.kept == 2
    assert_law(con)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_file_of_very_many_columns_is_refused_at_once(tmp_path, form):
    frame = pl.DataFrame({f"v{i}": [1] for i in range(20_000)})
    path = tmp_path / f"wide.{form}"
    frame.write_csv(path) if form == "csv" else frame.write_parquet(path)
    with pytest.raises(IngestError) as refusal:
        ingest(empty_lab(), path)
    assert str(refusal.value) == (
        f"wide.{form}: 20,000 columns, and at most 1,000 are read; keep those that say who, when and where"
    )


def test_a_thousand_columns_are_read(tmp_path):
    frame = pl.DataFrame(GOOD).with_columns(pl.lit(i).alias(f"v{i}") for i in range(996))
    frame.write_csv(tmp_path / "wide.csv")
    assert ingest(empty_lab(), tmp_path / "wide.csv").kept == 3


def test_an_empty_path_is_not_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text(HEADER + row("ana", 8))
    monkeypatch.chdir(tmp_path)
    for source in ("", ["a.csv", ""]):
        with pytest.raises(IngestError, match=r"an empty path: name a file or a folder \('.' for the one you are in\)"):
            ingest(empty_lab(), source)
    assert ingest(empty_lab(), ".").kept == 1


def test_a_pipe_is_refused_and_among_files_named(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(IngestError, match="'pipe.csv' is a pipe or a device: write it to a file first"):
        ingest(empty_lab(), tmp_path / "pipe.csv")
    (tmp_path / "a.csv").write_text(HEADER + row("ana", 8))
    (tmp_path / "gone.csv").symlink_to(tmp_path / "nowhere")
    (tmp_path / "linked").symlink_to(tmp_path.parent, target_is_directory=True)
    assert "not data, left out: gone.csv, linked, pipe.csv" in ingest(empty_lab(), tmp_path).notes


def test_a_file_name_that_is_not_utf8_is_refused_in_words_that_can_be_printed(tmp_path):
    path = os.fsencode(tmp_path) + b"/caf\xe9.csv"
    with open(path, "w") as opened:  # noqa: PTH123
        opened.write(HEADER + row("ana", 8))
    for source in (tmp_path, os.fsdecode(path)):
        with pytest.raises(IngestError) as refusal:
            ingest(empty_lab(), source)
        assert str(refusal.value) == "'caf\ufffd.csv': the name of the file or its folder is not UTF-8; rename it"


READ_AS_NOBODY = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from trajlab.errors import IngestError
from trajlab.ingest import _files as files, _tables as tables
if os.getuid() == 0:
    os.setgid(int(sys.argv[2]))
    os.setuid(int(sys.argv[2]))
said = []
for path in sys.argv[3:]:
    try:
        found, notes = files.find([path])
        said.append([tables._is_csv(file) for file in found])
    except IngestError as error:
        said.append(str(error))
print(json.dumps(said))
"""


@pytest.fixture
def open_to_all():
    """A folder that everybody may enter; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_what_is_locked_is_refused_and_not_passed_over(open_to_all):
    """In a process that may not read everything, as root may."""
    folder = open_to_all / "open"
    locked = folder / "locked"
    locked.mkdir(parents=True)
    (folder / "a.csv").write_text(HEADER + row("ana", 8))
    (locked / "b.csv").write_text(HEADER + row("ben", 8))
    (open_to_all / "c.csv").write_text(HEADER + row("cid", 8))
    locked.chmod(0)
    (open_to_all / "c.csv").chmod(0)
    asked = [folder, locked, locked / "b.csv", open_to_all / "c.csv"]
    command = [sys.executable, "-c", READ_AS_NOBODY, str(FIXTURES.parent), str(NOBODY), *map(str, asked)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    locked.chmod(0o755)
    assert done.stderr == ""
    closed = "folder 'locked' cannot be opened: Permission denied; allow it to be read, or name the files to read"
    inside = f"'{locked / 'b.csv'}' cannot be opened: Permission denied"
    assert json.loads(done.stdout) == [closed, closed, inside, "c.csv: cannot be opened: Permission denied"]


def test_a_folder_that_vanishes_is_refused(tmp_path):
    with pytest.raises(IngestError, match="x.csv: cannot be opened: No such file or directory"):
        files.Stamp.of(files.DataFile(tmp_path / "x.csv", "x.csv"))


def test_times_of_pandas_with_and_without_a_zone_are_told_apart_wherever_they_stand():
    naive, aware = dt.datetime(2024, 3, 4, 10), dt.datetime(2024, 3, 4, 11, tzinfo=dt.UTC)
    times = pd.Series([None] * 1000 + [naive, aware], dtype=object)
    frame = pd.DataFrame({"uid": "ana", "ts": times, "lat": 38.7, "lng": -9.1})
    with pytest.raises(IngestError, match="carry a zone in 1 rows and none in 1: say which zone"):
        ingest(empty_lab(), frame)
    con = empty_lab()
    done = ingest(con, frame, tz="Asia/Tokyo")
    assert [fix[2] // 10**6 for fix in fixes(con)] == [1709514000, 1709550000]
    assert done.rejected == {"time missing": 1000}


def test_the_shell_says_what_was_refused_and_fails(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(HEADER + row("ana", 8))
    assert main(["ingest", "lab.duckdb", str(BROKEN / "no_row_is_sound.csv")]) == 2
    assert "not one of 2 rows could be kept" in capsys.readouterr().err
    assert main(["ingest", "lab.duckdb", ""]) == 2
    assert "an empty path: name a file or a folder" in capsys.readouterr().err
    assert main(["ingest", "lab.duckdb", os.fsdecode(b"caf\xe9.csv")]) == 2
    assert "there is no file or folder 'caf\ufffd.csv'" in capsys.readouterr().err
    assert not (tmp_path / "lab.duckdb").exists()


def test_a_station_table_with_a_stray_quote_is_refused(tmp_path):
    (tmp_path / "stations.csv").write_text('station,lat,lng\n"A"1",38.7,-9.1\nB,38.7,-9.2\n')
    with pytest.raises(IngestError) as refusal:
        add_stations(empty_lab(), tmp_path / "stations.csv")
    assert (
        str(refusal.value) == "stations.csv: row 1 is not sound: stray quote; close its quotes, and double those inside"
    )


def test_a_sheet_as_offices_write_it_needs_no_column_named(tmp_path):
    """Semicolons, decimal commas, dates with dots, a clock of its own, blanks in names."""
    file = tmp_path / "sheet.csv"
    file.write_text("User ID;Date;Time;Latitude;Lon\na;04.03.2024;08:15;38,7223;-9,1393\nb;4.3.2024;8:25;38,5;-9\n")
    with tl.open(":memory:") as lab:
        summary = lab.ingest(file, tz="Europe/Lisbon")
        found = lab.sql("select ts, lat, lng from records.fix order by ts")
    assert summary.kept == 2
    assert found["ts"].dt.convert_time_zone("Europe/Lisbon").dt.strftime("%d.%m. %H:%M").to_list() == [
        "04.03. 08:15",
        "04.03. 08:25",
    ]
    assert found.select("lat", "lng").rows() == [(38.7223, -9.1393), (38.5, -9.0)]
