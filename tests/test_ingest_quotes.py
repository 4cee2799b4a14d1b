"""Every line of a file is accounted for, whatever its quotes: read, rejected or refused, and never swallowed."""

from __future__ import annotations

import re

import polars as pl
import pytest
from conftest import examples
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from test_ingest import FIXTURES, GOOD, assert_law, empty_lab, fixes, rejected

from trajlab.errors import IngestError
from trajlab.ingest import _quoting as quoting
from trajlab.ingest import _tables as tables
from trajlab.ingest import ingest
from trajlab.ingest._quoting import Repair, scan_quotes

HEADER = "uid,ts,lat,lng,note\n"
ROW = "ana,2024-03-04T08:00:00Z,38.73,-9.16,"


def rows_of(text: str, delimiter: str = ",") -> list[bool]:
    """A slow, obvious reader: for every record, whether its quotes are in order.

    A quote opens where a field starts (after spaces), and is in order if it closes where the
    field ends. A line that does not work out is a record at fault; the next line starts anew.
    """
    records, at = [], 0
    while at < len(text):
        line = re.match(r"[^\r\n]*(\r\n|\n|\r)?", text[at:])[0]
        if not line.strip("\r\n"):
            at += len(line)
            continue
        end = record_end(text, at, delimiter)
        records.append(end is not None)
        at = at + len(line) if end is None else end
    return records


def record_end(text: str, at: int, delimiter: str) -> int | None:
    while True:
        start = at
        while text[start : start + 1] == " ":
            start += 1
        if text[start : start + 1] == '"':
            at = start + 1
            while True:
                if at >= len(text):
                    return None
                if text[at : at + 2] == '""':
                    at += 2
                elif text[at] == '"':
                    at += 1
                    break
                else:
                    at += 1
            while text[at : at + 1] == " ":
                at += 1
        else:
            while at < len(text) and text[at] not in f"{delimiter}\r\n":
                at += 1
        if at >= len(text):
            return at
        if text[at] == delimiter:
            at += 1
        elif text[at] in "\r\n":
            return at + (2 if text[at : at + 2] == "\r\n" else 1)
        else:
            return None


NOTES = st.lists(
    st.text(st.sampled_from('"" ,a\n\r'), max_size=8) | st.sampled_from(['"55" tv"', '"a, b"', '"x\ny"', "é", '5"']),
    min_size=1,
    max_size=8,
)


@settings(examples(few=10, many=200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(notes=NOTES, end=st.sampled_from(["\n", "\r\n", "\r", ""]), large=st.booleans())
@example(notes=['"55" tv"', "", '"55" tv"', "", "", ""], end="\n", large=False)
@example(notes=['"', "", ""], end="\n", large=True)
def test_every_line_is_read_or_rejected(notes, end, large, tmp_path, monkeypatch):
    line_break = end or "\n"
    text = HEADER + line_break.join(ROW + note for note in notes) + end
    expected = rows_of(text)[1:]
    path = tmp_path / "a.csv"
    path.write_text(text, newline="")
    monkeypatch.setattr(tables.csvfile, "CHUNK", 32 if large else 1 << 20)
    con = empty_lab()
    try:
        done = ingest(con, path)
    except IngestError as refusal:
        assert "not one of" in str(refusal)  # noqa: PT017
        assert f"of {len(expected)} rows" in str(refusal)  # noqa: PT017
        return
    assert done.rows == len(expected)
    assert done.rejected.get("stray quote", 0) == expected.count(False)
    assert_law(con)


@examples(few=167, many=1000)
@given(text=st.text(st.sampled_from('"" ,a\n\r\né'), max_size=60), size=st.integers(1, 20))
def test_the_look_through_counts_like_a_slow_reader_in_whatever_pieces(text, size):
    content = text.encode()
    seen = scan_quotes([content[i : i + size] for i in range(0, len(content), size)], ",")
    records = rows_of(text)
    if seen.in_order:
        assert all(records)
        assert seen.lines == len(records)
    repair = Repair(",", 2)
    mended = "".join(repair.rewrite([text]))
    assert (repair.rows, repair.faults) == (len(records), records.count(False))
    again = scan_quotes([mended.encode()], ",")
    assert again.in_order
    assert again.lines == len(records)


def test_mending_in_pieces_is_mending_at_once(monkeypatch):
    text = "".join(f'{i},"a ""b""\n{"x" * (i % 7)}",5" c\n{i},"55" tv",\n' for i in range(200))
    at_once = "".join(Repair(",", 3).rewrite([text]))
    monkeypatch.setattr(quoting, "LONGEST", 64)
    in_pieces = "".join(Repair(",", 3).rewrite(text[i : i + 10] for i in range(0, len(text), 10)))
    assert in_pieces == at_once


def test_a_stray_quote_costs_its_own_line_and_no_other():
    con = empty_lab()
    done = ingest(con, FIXTURES / "broken" / "stray_quotes.csv")
    assert (done.rows, done.kept) == (6, 4)
    assert rejected(con) == [(2, "stray quote"), (5, "stray quote")]
    assert [fix[0] for fix in fixes(con)] == [1, 3, 4, 6]
    note = "stray_quotes.csv: 2 lines have a quote that is not closed or not doubled, and are rejected"
    assert note in done.notes


def test_quotes_around_other_delimiters_are_read(tmp_path):
    (tmp_path / "a.csv").write_text(
        'uid;ts;lat;lng;note\n"ana";2024-03-04T08:00:00Z;38.73;-9.16;"a;b"\n'
        '"ben"; "2024-03-04T09:00:00Z" ;38.71;-9.12;"55" tv"\ncid;2024-03-04T09:00:00Z;38.71;-9.12;5" tv\n'
    )
    con = empty_lab()
    assert ingest(con, tmp_path / "a.csv").kept == 2
    assert [fix[1] for fix in fixes(con)] == ["ana", "cid"]


@pytest.mark.parametrize("chunk", [1 << 20, 32])
@pytest.mark.parametrize(("end", "read"), [(", header = true) limit 2", 2), (", header = false)", 4)])
def test_a_file_of_which_the_engine_reads_other_rows_than_it_has_lines_is_refused(
    tmp_path, monkeypatch, chunk, end, read
):
    pl.DataFrame(GOOD).write_csv(tmp_path / "a.csv")
    monkeypatch.setattr(tables.csvfile, "CHUNK", chunk)
    statement = tables.csvfile._READ
    monkeypatch.setattr(tables.csvfile, "_READ", statement.replace("header = true, ", "").replace("\n)\n", end))
    with pytest.raises(IngestError, match=f"a.csv: 3 lines, of which the engine reads {read} as rows"):
        ingest(empty_lab(), tmp_path / "a.csv")
