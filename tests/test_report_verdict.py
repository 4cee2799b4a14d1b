"""What the page opens with: the answer to whether the table may be published, or how to ask for one."""

from __future__ import annotations

import math
import re
from pathlib import Path

import polars as pl
import pytest
from conftest import TINY_BOX, tiny_lab
from test_report import HOSTILE, Page

import trajlab as tl
from trajlab.report import render, verdicts, words

POLICY = """
name = "own-office"

[[rule]]
rule = "contributors"
at_least = 2
why = "nobody is alone in a row"

[[rule]]
rule = "epsilon"
at_most = 2
exception = "the town is made up"

[[rule]]
rule = "singling_out"
knowledge = "top:2"
searched = "traces"
at_most = 0.5

[[rule]]
rule = "smallest_count"
at_least = 1
"""


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("policy") / "own.toml"
    file.write_text(POLICY)
    return file


@pytest.fixture(scope="module")
def lab(policy: Path) -> tl.Lab:
    lab = tiny_lab()
    lab.decide(lab.release("square:1000", "3h", box=TINY_BOX, outside="clamp"), policy)
    return lab


@pytest.fixture(scope="module")
def opening(lab: tl.Lab) -> str:
    return first_screen(lab)


def first_screen(lab: tl.Lab) -> str:
    return re.findall(r'<section id="findings".*?</section>', render(lab), re.DOTALL)[0]


def test_the_page_opens_with_the_answer_of_the_whole(opening):
    text = Page(opening).text
    assert text.startswith("What the published counts showMay this table be published?✕ Do not publish")
    assert (
        "asked by the policy own-office. 4 rules: 1 passes, 2 fail and 1 is to be reviewed; 1 exception with a" in text
    )


def test_every_rule_stands_with_number_interval_limit_yardstick_people_and_answer(lab, opening):
    text = Page(opening).text
    rows = lab.sql("from report.verdict").rows(named=True)
    assert len(rows) == 4
    for row in rows:
        assert verdicts.name(row) in text
        assert verdicts.sentence(row) in text
        assert verdicts.limit(row) in text
        assert verdicts.interval(row) in text
        assert f"{verdicts.SIGNS[row['verdict']]} {row['verdict']}" in text
    assert "67%30% to 90%at most 50%–4 peopleworst tenth 100%? review" in text
    assert "without bound (ε)at most 2" in text
    assert "1 personat least 2" in text
    assert "Why: nobody is alone in a row" in text
    assert "Exception: the town is made up" in text


def test_what_the_table_gives_away_stands_apart_from_what_the_traces_behind_it_would(opening):
    _, table, traces = re.split("<h3>What this table|<h3>What the traces behind", opening)[:3]
    assert "Contributors" in table
    assert "top:2" not in table
    assert "top:2" in traces
    assert "they would have to leak first" in traces


def test_findings_of_the_first_screen_are_apart_too(policy):
    lab = tiny_lab()
    made = lab.release("square:1000", "3h", box=TINY_BOX, outside="clamp")
    lab.risk(made, "top:2")
    lab.risk(lab.attack(made, "xu2017"), "top:2")
    _, table, traces = re.split('<h2 class="part">', first_screen(lab))
    assert table.startswith("What this table gives away")
    assert "of slots: so often an adversary who has the counts" in table
    assert "people in the tracks recovered by" in table
    assert "true traces" not in table
    assert traces.startswith("What the traces behind it would give away")
    assert "people in the true traces are singled out" in traces


def test_where_nobody_asked_the_page_says_which_command_does():
    lab = tiny_lab()
    lab.release("square:1000", "3h")
    text = Page(first_screen(lab)).text
    assert "May this table be published?Nobody has asked yet." in text
    assert "trajlab decide lab.duckdb --policy strict\ntrajlab report lab.duckdb -o report.html" in text
    first = lab.release("square:2000", "3h").id
    lab.release("square:3000", "3h")
    command = re.findall(r"trajlab decide lab.duckdb --release (\w+) --policy strict", Page(first_screen(lab)).text)
    assert len(command) == 1
    assert command[0] in {first, *lab.table("counts.release")["release_id"]}


def test_several_decisions_have_a_panel_each_and_releases_without_one_are_named(lab, policy):
    other = tiny_lab()
    one, two, _ = (other.release(f"square:{side}", "3h", box=TINY_BOX, outside="clamp") for side in (1000, 2000, 4000))
    other.decide(one, policy)
    other.decide(two, policy)
    text = Page(first_screen(other)).text
    assert "✕ Squares of 1\N{NO-BREAK SPACE}km · own-office" in text
    assert "✕ Squares of 2\N{NO-BREAK SPACE}km · own-office" in text
    assert "Nobody has asked yet about squares of 4\N{NO-BREAK SPACE}km." in text


def test_groups_of_few_people_are_not_told_of(policy):
    lab = tl.open(quiet=True)
    lab.ingest(tl.simulate(people=24, days=1, interval="60min", seed=1), tz="Europe/Lisbon")
    sides = ["north" if n < 20 else "south" for n in range(24)]
    lab.people(pl.DataFrame({"uid": [f"p{n:07d}" for n in range(24)], "side": sides}))
    lab.decide(lab.release("square:4000", "2h"), policy)
    assert set(lab.table("metrics.verdict_by_group")["value"]) == {"north", "south"}
    text = Page(first_screen(lab)).text
    assert "The same by group of at least 10 people" in text
    assert "Singling outsidenorth20" in text
    assert "south" not in text


@pytest.mark.parametrize("text", [each for each in HOSTILE if "\x00" not in each])
def test_names_and_reasons_are_shown_and_never_obeyed(text, tmp_path):
    lab = tiny_lab()
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    rule = f'[[rule]]\nrule = "contributors"\nat_least = 2\nwhy = "{quoted}"\nexception = "{quoted}"\n'
    (tmp_path / "bad.toml").write_text(f'name = "{quoted}"\n{rule}')
    lab.decide(lab.release("square:1000", "3h"), tmp_path / "bad.toml")
    read = Page(first_screen(lab))
    assert not {"script", "img"} & {tag for tag, _ in read.tags}
    assert read.text.count(text) >= 3


def test_the_query_beside_the_rules_gives_them(lab, opening):
    (query,) = [code for code in Page(opening).code if "from report.verdict" in code]
    assert lab.sql(query.rstrip(";"))["rule"].to_list() == ["contributors", "epsilon", "singling_out", "smallest_count"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("pass", None)], "1 rule: 1 passes"),
        ([("fail", None), ("pass", None), ("pass", "so be it")], "3 rules: 2 pass and 1 fails; 1 exception with a"),
        ([("review", None), ("review", None)], "2 rules: 2 are to be reviewed"),
    ],
)
def test_rules_are_counted_in_words(rows, said):
    found = verdicts.counted([{"verdict": verdict, "exception": reason} for verdict, reason in rows])
    assert found.startswith(said)


def test_numbers_are_said_in_their_unit():
    assert verdicts.quantity(0.125, "share") == words.share(0.125)
    assert verdicts.quantity(1234, "people") == "1,234"
    assert verdicts.quantity(math.inf, "epsilon") == "without bound"
    assert verdicts.quantity(None, "number") == words.NOTHING
