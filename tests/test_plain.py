"""Text from outside is shown by a terminal and never obeyed."""

from __future__ import annotations

import io
import itertools
import sys

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trajlab as tl
from trajlab.cli import main
from trajlab.plain import cells, printable
from trajlab.progress import Progress, Steps

TITLE = "\x1b]0;owned\x07"
"""What sets the title of a terminal's window."""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def hostile(tmp_path):
    """A lab of one file, with escapes in its name and in an id."""
    file = tmp_path / f"a{TITLE}b.csv"
    file.write_text(
        f"uid,ts,lat,lng\nx{TITLE}\u202ey,2024-03-04T10:00:00Z,38.7,-9.1\n=1+1,2024-03-04T10:00:00Z,38.7,-9.1\n"
    )
    with tl.open(tmp_path / "lab.duckdb") as lab:
        lab.ingest(file, tz="UTC")
    return tmp_path / "lab.duckdb", file


@given(text=st.text())
def test_what_is_printed_can_be_printed_again_and_moves_no_cursor(text):
    once = printable(text)
    assert printable(once) == once
    assert all(each.isprintable() or each in "\n\t" or not each.isascii() for each in once)
    assert not any("\x7f" <= each <= "\x9f" for each in once)
    if text.isprintable():
        assert once == text


def test_no_escape_from_an_id_reaches_the_terminal_in_a_table(hostile, capsys):
    lab, _ = hostile
    assert main(["sql", str(lab), "select uid from records.person order by uid"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "\u202e" not in out
    assert r"x\x1b]0;owned\x07\u202ey" in out


def test_no_escape_from_a_file_name_reaches_the_terminal_in_messages(hostile, tmp_path, capsys):
    _, file = hostile
    assert main(["ingest", str(tmp_path / "new.duckdb"), str(file), "--tz", "UTC"]) == 0
    assert main(["ingest", str(tmp_path / "new.duckdb"), str(tmp_path / f"no{TITLE}"), "--tz", "UTC"]) == 2
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert r"no\x1b]0;owned\x07" in err


def test_no_escape_from_a_label_reaches_the_terminal_in_progress():
    stream = Terminal()
    seconds = itertools.count(0, 10)
    progress = Progress(stream, clock=lambda: float(next(seconds)))
    with progress.step(f"reading{TITLE}", watched=False):
        progress.show(1, 2)
        progress.label(f"then{TITLE}")
        progress.show(1, 2)
        Steps(1, progress).next(f"risk{TITLE}")
    for told in ("reading", "then", "1 of 1: risk"):
        assert f"{told}\\x1b]0;owned\\x07" in stream.getvalue()
    assert stream.getvalue().replace("\r\x1b[K", "").count("\x1b") == 0


def test_programs_get_text_to_the_byte_and_terminals_do_not(hostile, monkeypatch):
    lab, _ = hostile
    asked = ["sql", str(lab), "select uid from records.person where uid like 'x%'", "--format", "csv"]
    for stream, exact in ((io.StringIO(), True), (Terminal(), False)):
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(asked) == 0
        assert ("\x1b" in stream.getvalue()) is exact


def test_an_answer_in_csv_holds_no_formula(hostile, capsys):
    lab, _ = hostile
    query = "select uid, -1 as n, '@a' as \"+b\" from records.person where uid like '=%'"
    assert main(["sql", str(lab), query, "--format", "csv"]) == 0
    assert capsys.readouterr().out == "uid,n,'+b\n'=1+1,-1,'@a\n"
    assert main(["sql", str(lab), query, "--format", "json"]) == 0
    assert '"uid":"=1+1"' in capsys.readouterr().out


@pytest.mark.parametrize("first", "=+-@\t\r\n")
def test_every_beginning_of_a_formula_is_spelled_out(first):
    frame = pl.DataFrame({"label": [f"{first}x", "x", None, ""], "n": [-1, 2, 3, 4]})
    assert cells(frame)["label"].to_list() == [f"'{first}x", "x", None, ""]
    assert cells(frame)["n"].to_list() == [-1, 2, 3, 4]


def test_a_message_about_an_id_with_a_line_break_is_one_line(tmp_path, capsys):
    (tmp_path / "stations.csv").write_text('station,lat,lng\n"up\ndown",,\n')
    assert main(["geography", str(tmp_path / "lab.duckdb"), "--stations", str(tmp_path / "stations.csv")]) == 2
    assert capsys.readouterr().err == "trajlab: stations.csv: no usable lat and lng for up\\ndown\n"
