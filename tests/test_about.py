"""What a number is about stands beside it: what was searched, what counted as a visit, and what was known."""

from __future__ import annotations

import re

import polars as pl
import pytest
from conftest import TINY, TINY_BOX, tiny_lab

import trajlab as tl
from trajlab import schedule
from trajlab.cli import main, sentences
from trajlab.risk import knowledge

TRUE = "true traces are searched, not the published counts: what min_count leaves out of these changes nothing"
SLOTS = "a visit is a slot, filled ones included (basis slots)"


@pytest.fixture(scope="module")
def lab() -> tl.Lab:
    return tiny_lab()


@pytest.fixture(scope="module")
def release(lab: tl.Lab) -> tl.Release:
    return lab.release("square:1000", "3h", box=TINY_BOX, min_count=2)


def test_leaving_out_small_counts_changes_no_risk_and_the_answer_says_so(lab, release):
    whole = lab.release("square:1000", "3h", box=TINY_BOX)
    hidden, seen = (lab.risk(each, "points:2") for each in (release, whole))
    assert hidden.unique_share == seen.unique_share
    assert (hidden.about, hidden.description) == ("traces", f"{TRUE}; {SLOTS}")
    assert set(lab.sql("select about from metrics.risk where risk_id = $id", id=hidden.id)["about"]) == {"traces"}


def test_what_an_attack_recovered_is_about_the_table(lab, release):
    found = lab.risk(lab.attack(lab.release("square:1000", "3h", box=TINY_BOX), "stay"), "top:2")
    assert (found.about, found.basis) == ("table", "recovered")
    assert found.description.startswith(
        "tracks recovered from the published counts are searched; a visit is a slot of a track"
    )
    assert set(lab.sql("select about from metrics.risk where risk_id = $id", id=found.id)["about"]) == {"table"}
    assert lab.sql("select about from study.risk where risk_id = $id", id=found.id).item() == "table"


def test_risk_and_the_first_step_of_a_trade_off_are_one_number_unless_a_basis_is_named(lab):
    whole = lab.release("square:1000", "3h", box=TINY_BOX)
    found = lab.tradeoff(whole, ["square:4000"], zones="zones", knowledge="points:2")
    asked = lab.risk(whole, "points:2")
    assert found.basis == asked.basis == "slots"
    assert set(found.points.filter(step=0)["risk"]) == {asked.unique_share}
    assert found.description == f"{TRUE}; {SLOTS}"
    assert repr(found).endswith("basis slots>")
    assert "(basis slots)." in " ".join(re.sub("<[^>]*>", " ", found.chart()).split())


def test_a_schedule_says_its_basis(term):
    told = term.sql("select basis, about from study.leak order by basis")
    assert told.rows() == [("records", "traces"), ("slots", "traces")]
    leak_id = term.sql("select leak_id from study.leak where basis = 'records'").item()
    line = list(sentences.schedule(term, schedule.load_leak(term._store, leak_id), None))[1]
    assert line == f"{TRUE}; a visit is a record (basis records)"


def test_the_shell_says_what_was_searched_and_what_a_visit_is(tmp_path, capsys):
    file = str(tmp_path / "lab.duckdb")
    with tiny_lab(file) as lab:
        lab.release("square:1000", "3h", box=TINY_BOX)
    assert main(["risk", file, "points:2"]) == 0
    out = capsys.readouterr().out
    assert f"\n{TRUE}; {SLOTS}\n" in out
    assert "about" not in out
    assert main(["risk", file, "points:2", "--basis", "records", "--table"]) == 0
    assert "a visit is a record (basis records)" in capsys.readouterr().out
    assert main(["study", "tradeoff", file, "--index", "square:4000", "--zones", "zones", "--knowledge", "top:1"]) == 0
    assert f"\n{TRUE}; {SLOTS}\n" in capsys.readouterr().out


def test_the_report_says_what_was_searched_and_what_a_visit_is(town, tmp_path):
    page = town.report(tmp_path / "report.html").read_text(encoding="utf-8")
    said = [
        f"T{TRUE[1:]}; {SLOTS}.",
        "a visit is a record (basis records).",
        "a visit is a slot of a track (basis recovered).",
    ]
    for each in said:
        assert each in page


@pytest.mark.parametrize(
    ("asked", "short", "full"),
    [
        ("points:2", "points:2", "points:2:all"),
        ("points:2:all", "points:2", "points:2:all"),
        ("points:2:drop", "points:2:drop", "points:2:drop"),
        ("top:2", "top:2", "top:2:ordered:0.1"),
        ("top:variable:ordered:0.2", "top:variable:ordered:0.2", "top:variable:ordered:0.2"),
        ("homework", "homework", "homework:most"),
        ("locations:2:7", "locations:2:7", "locations:2:7"),
    ],
)
def test_knowledge_is_found_as_an_analyst_writes_it_and_in_full(asked, short, full):
    what = knowledge.load(asked)
    assert (knowledge.name_of(what), knowledge.in_full(what)) == (short, full)
    assert knowledge.load(short) == what == knowledge.load(full)


def test_a_question_is_found_by_what_was_asked(lab, release):
    asked = lab.risk(release, "points:2")
    for column, text in (("knowledge", "points:2"), ("in_full", "points:2:all")):
        found = lab.sql(f"select risk_id from study.risk where {column} = $text", text=text)
        assert asked.id in found["risk_id"].to_list()
    assert lab.risk(release, "points:2:all") == asked


def test_no_name_of_a_file_is_in_the_report(tmp_path):
    records = pl.read_csv(TINY / "records.csv")
    folder = tmp_path / "people"
    folder.mkdir()
    for (uid,), rows in records.group_by("uid"):
        rows.write_csv(folder / f"secret-{uid}.csv")
    lab = tl.open()
    for file in sorted(folder.iterdir()):
        lab.ingest(file, tz="Europe/Lisbon")
    lab.release("square:1000", "3h")
    page = lab.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "secret-" not in page
    assert ".csv" not in page
    assert not any(digest in page for digest in lab.table("records.source")["fingerprint"])
    assert "Files, folders or frames" in page
