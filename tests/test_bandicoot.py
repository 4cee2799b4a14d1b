"""bandicoot's folders: one file per person."""

from __future__ import annotations

import pytest
from test_ingest import assert_law, empty_lab, fixes, rejected

from trajlab.errors import IngestError
from trajlab.ingest import ingest

HEADER = "interaction,direction,correspondent_id,datetime,call_duration,antenna_id\n"
CALL = "call,in,corr_1,2014-03-02 07:13:30,120,A\n"
TEXT = "text,out,corr_2,2014-03-02 09:27:30,,B\n"


@pytest.fixture
def folder(tmp_path):
    people = tmp_path / "people"
    people.mkdir()
    (people / "ana.csv").write_text(HEADER + CALL + TEXT)
    (people / "ben.csv").write_text(HEADER + CALL)
    (people / "dan.csv").write_text(HEADER + CALL)
    (people / "eve.csv").write_text(HEADER + CALL + "text,in,corr_1,2014-03-02 10:00:00,,lost\n")
    (people / "antennas.csv").write_text("antenna_id,latitude,longitude\nA,42.36,-71.09\nB,42.37,-71.10\n")
    return people


def read(con, folder):
    return ingest(con, folder, kind="bandicoot", tz="America/New_York", stations=folder / "antennas.csv")


def test_every_file_is_a_person_even_where_two_say_the_same(folder):
    con = empty_lab()
    done = read(con, folder)
    assert sorted((f[1], f[3], f[5]) for f in fixes(con)) == [
        ("ana", 42.36, "A"), ("ana", 42.37, "B"), ("ben", 42.36, "A"), ("dan", 42.36, "A"),
        ("eve", 42.36, "A")
    ]  # fmt: skip
    assert rejected(con) == [(2, "unknown station")]
    assert done.sources == ["ana.csv", "ben.csv", "dan.csv", "eve.csv"]
    assert "antennas.csv: not a person, left out; antennas are given as stations=" in done.notes
    assert read(con, folder).skipped_sources == done.sources
    assert_law(con)


def test_a_large_file_belongs_to_its_person_too(folder):
    lines = (f"call,in,c,2014-03-{1 + i // 1440 % 28:02} {i // 60 % 24:02}:{i % 60:02}:00,1,A\n" for i in range(40_000))
    (folder / "zoe.csv").write_text(HEADER + "".join(lines))
    assert (folder / "zoe.csv").stat().st_size > 1 << 20
    con = empty_lab()
    read(con, folder)
    assert {f[1] for f in fixes(con)} == {"ana", "ben", "dan", "eve", "zoe"}
    assert_law(con)


def test_what_is_no_folder_of_people_is_refused(folder, tmp_path):
    with pytest.raises(IngestError, match="kind 'bandicoot' reads a folder with one CSV file per person"):
        ingest(empty_lab(), folder / "ana.csv", kind="bandicoot")
    (folder / "more").mkdir()
    (folder / "more" / "ana.csv").write_text(HEADER + TEXT)
    with pytest.raises(IngestError, match="1 people have more than one file, such as 'ana'"):
        read(empty_lab(), folder)
    alone = tmp_path / "alone"
    alone.mkdir()
    (folder / "antennas.csv").rename(alone / "antennas.csv")
    with pytest.raises(IngestError, match="folder 'alone' holds no file of a person"):
        ingest(empty_lab(), alone, kind="bandicoot")
