"""The section on re-identification: its figures are those of the tables, and it names nobody."""

from __future__ import annotations

import math
import re
from pathlib import Path

import duckdb
import polars as pl
import pytest
from test_report import HOSTILE, Page

import trajlab as tl
from trajlab.report import exposure, naming, render, words
from trajlab.report.questions import count_targets
from trajlab.report.sections import reidentification

KNOWN = ("top:1", "top:2", "points:2", "points:10")


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lab file whose first release was searched as it is, cut, and recovered; nobody asked about the second."""
    path = tmp_path_factory.mktemp("searched") / "lab.duckdb"
    with tl.open(path) as lab:
        lab.ingest(tl.simulate(people=40, days=2, seed=1), tz="Europe/Lisbon")
        uids = lab.table("records.person")["uid"].to_list()
        few = ["one of nine" if n < 9 else "others" for n in range(len(uids))]
        hostile = [HOSTILE[n % 3] for n in range(len(uids))]
        lab.people(pl.DataFrame({"uid": uids, "district": hostile, HOSTILE[0]: few, "phone": [f"+{u}" for u in uids]}))
        searched = lab.release("square:2000", "1h")
        run = lab.attack(searched, "xu2017")
        for of in (searched, lab.protect(searched, "cut:12h"), run):
            for known in KNOWN:
                lab.risk(of, known)
        lab.risk(searched, "locations:3")
        lab.release("square:4000", "1h")
    return path


@pytest.fixture(scope="module")
def page(city: Path) -> str:
    with tl.open(city, read_only=True) as lab:
        return render(lab)


def section(page: str, name: str = "reidentification") -> str:
    (found,) = re.findall(rf'<section id="{name}".*?</section>', page, re.DOTALL)
    return str(found)


def answers(city: Path) -> list[dict[str, object]]:
    with tl.open(city, read_only=True) as lab:
        return lab.sql(
            "select asked.knowledge, searched.run_id, searched.protection, searched.traces, score.* "
            "from study.risk as asked join metrics.risk as score using (risk_id) "
            "join study.traces as searched on searched.traces_id = asked.searched_id "
            "where scope = 'all' and metric = 'unique_share'"
        ).rows(named=True)


def interval(row: dict[str, object]) -> str:
    return f"{words.share(row['estimate'])} ({words.share(row['low'])} to {words.share(row['high'])})"


def name_of_traces(row: dict[str, object]) -> str:
    if row["run_id"] is not None:
        return "tracks recovered by xu2017"
    return "true traces" if row["protection"] == "none" else f"true traces after {row['protection']}"


def test_the_worst_finding_on_true_traces_leads_beside_a_blind_guess(city: Path, page: str) -> None:
    true = [row for row in answers(city) if row["run_id"] is None and row["protection"] == "none"]
    worst = max((row for row in true if "locations" not in str(row["knowledge"])), key=lambda row: row["estimate"])
    told = Page(section(page)).text
    assert f"Of 40 people in the true traces, {words.share(worst['estimate'])} are singled out" in told
    assert "A blind guess is right once in 40." in told
    first = Page(section(page, "findings")).text
    assert f"{words.share(worst['estimate'])}95% interval {words.share(worst['low'])} to " in first
    assert "of 40 people in the true traces are singled out by whoever knows" in first
    assert "a blind guess2.5%" in first


def test_every_answer_is_said_with_its_interval_and_drawn_as_a_bar(city: Path, page: str) -> None:
    told = Page(section(page)).text
    rows = answers(city)
    assert len(rows) == 13
    for row in rows:
        known = naming.knowledge(str(row["knowledge"]))
        assert f"{interval(row)} by {known}" in told
        guess = words.share(1 / float(str(row["traces"])))
        assert f"{known}\n{name_of_traces(row)}: {interval(row)}\na blind guess: {guess}" in told


def test_pieces_of_traces_are_not_called_people(city: Path, page: str) -> None:
    (pieces,) = {row["people"] for row in answers(city) if row["protection"] == "cut:12h"}
    assert pieces == 40 * 4
    assert f"True traces after cut:12h, of {pieces} pieces of traces: " in Page(section(page)).text


def test_more_points_stand_after_fewer(page: str) -> None:
    told = Page(section(page)).text
    assert told.index(" by 2 points") < told.index(" by 10 points")


def test_the_curve_is_that_of_the_table_at_every_size_of_a_crowd(city: Path) -> None:
    with tl.open(city, read_only=True) as lab:
        curves = lab.sql("select risk_id, k, share from metrics.anonymity_curve where scope = 'all' order by k")
    assert curves["k"].max() > 5
    for _, curve in curves.group_by("risk_id"):
        rows = curve.sort("k").select("k", "share").rows()
        drawn = reidentification._steps(rows, 2.0)
        assert len(drawn) == 101
        for x, share in drawn:
            size = math.floor(10**x + 1e-6)
            assert share == max((at for k, at in rows if k <= size), default=0.0)


def test_at_most_six_lines_are_drawn_and_the_rest_is_told(page: str) -> None:
    (figure,) = [one for one in re.findall(r"<figure>.*?</figure>", page, re.DOTALL) if "How large a crowd" in one]
    wide, narrow = re.findall(r'<svg [^>]*class="chart (?:wide|narrow)">.*?</svg>', figure, re.DOTALL)
    for drawing in (wide, narrow):
        assert len(re.findall(r'class="line s\d"', drawing)) == reidentification.LINES
    assert "6 questions of 13 are drawn" in Page(figure).text


def most_exposing(lab: tl.Lab, page: str, title: str, kind: str) -> str:
    """The question that a figure is about, which must be one that singles out most."""
    (figure,) = [one for one in re.findall(r"<figure>.*?</figure>", page, re.DOTALL) if f"<h3>{title}</h3>" in one]
    (risk_id,) = re.findall(r"risk_id = '(\w+)'", Page(figure).text)
    shares = lab.sql(
        "select risk_id, estimate from metrics.risk where scope = 'all' and metric = 'unique_share' "
        "and risk_id in (select risk_id from metrics.exposure where exposed_by = $kind)",
        kind=kind,
    )
    assert dict(shares.iter_rows())[risk_id] == max(shares["estimate"])
    return str(risk_id)


def test_the_map_counts_the_people_singled_out_in_each_cell(city: Path, page: str) -> None:
    with tl.open(city, read_only=True) as lab:
        cells = lab.sql(
            "select label, people, singled_out from metrics.exposure join study.risk using (risk_id) "
            "join counts.release using (release_id) join grid.cell using (index_id, cell) "
            "where exposed_by = 'cell' and singled_out > 0 and risk_id = $risk_id",
            risk_id=most_exposing(lab, page, "Cells that give people away", "cell"),
        )
    told = Page(section(page)).text
    assert len(cells)
    for label, people, alone in cells.iter_rows():
        answer = f"{alone} singled out of {words.people(people)} of whom it is known"
        assert re.search(rf"{re.escape(words.short(label))}(, near [^\n]+)?\n{answer}", told)


def test_the_table_under_the_map_counts_people_and_not_percent(city: Path, page: str) -> None:
    (figure,) = [one for one in re.findall(r"<figure>.*?</figure>", page, re.DOTALL) if "Cells that give people" in one]
    with tl.open(city, read_only=True) as lab:
        risk_id = most_exposing(lab, page, "Cells that give people away", "cell")
        cells = lab.table("report.exposing_cell", risk_id=risk_id)
    rows = re.findall(r'<tr><td>(.*?)</td><td class="n">(.*?)</td><td class="n">(.*?)</td>', figure)
    assert sorted(rows) == sorted(
        (label, str(people), str(alone)) for label, people, alone in cells["label", "people", "singled_out"].iter_rows()
    )


def test_the_crowd_that_hides_half_of_the_people_is_that_of_the_curve(city: Path, page: str) -> None:
    with tl.open(city, read_only=True) as lab:
        answers = lab.table("report.reidentification").sort("rank")
        curves = lab.table("report.crowd_size")
    for risk_id, people, median in answers["risk_id", "people", "median_k"].iter_rows():
        curve = curves.filter(pl.col("risk_id") == risk_id, 2 * pl.col("at_most") >= people)
        assert median == curve["k"].min()
    assert answers["median_k"].null_count() < len(answers)
    (table,) = re.findall(r"<caption>Singled out, by what is known</caption>.*?</table>", page, re.DOTALL)
    heads = re.findall(r"<th[^>]*>(.*?)</th>", table)
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>.*?</tr>", table)[1:]]
    shown = [row[heads.index("Median crowd")] for row in rows]
    assert shown == [words.number(median) for median in answers["median_k"]]


def test_hours_add_up_the_slots_that_begin_in_them(city: Path, page: str) -> None:
    with tl.open(city, read_only=True) as lab:
        hours = lab.sql(
            "select slot % 24 as hour, sum(singled_out) / sum(people) as share from metrics.exposure "
            "where exposed_by = 'slot' and risk_id = $risk_id group by hour",
            risk_id=most_exposing(lab, page, "Hours that give people away", "slot"),
        )
    told = Page(section(page)).text
    assert len(hours) == 24
    for hour, share in hours.iter_rows():
        assert f"{hour:02}:00: {words.share(share)}" in told


def test_groups_have_the_worst_tenth_beside_the_mean_and_small_ones_are_left_out(city: Path, page: str) -> None:
    told = Page(section(page)).text
    assert "Mean riskWorst tenth" in told
    assert "41 groups of fewer than 10 people not shown." in told
    assert "one of nine" not in page
    assert "others" in told
    assert exposure.SMALLEST_GROUP == 10


def test_hostile_groups_do_no_harm(page: str) -> None:
    read = Page(page)
    assert not {"script", "img", "b"} & {tag for tag, _ in Page(section(page)).tags}
    assert "onerror" not in {name for _, attributes in read.tags for name in attributes}
    assert "<script>alert(1)</script>" in Page(section(page)).text


def test_nobody_is_named_and_no_trace_is_shown(city: Path, page: str) -> None:
    with tl.open(city, read_only=True) as lab:
        people = lab.table("records.person")["uid"].to_list()
    shown = section(page)
    assert not re.search(r"<th[^>]*>(Person|Trace|Uid|Own|Lot|Slot|Phone)</th>", shown)
    assert "phone" not in Page(shown).text
    assert not {uid for uid in people if not uid.isdigit()} & set(re.findall(r"\w+", Page(page).text))
    assert not re.search(r"metrics\.(anonymity|known_point)\b", shown)


def test_the_queries_of_the_section_run_as_they_stand(city: Path, page: str) -> None:
    queries = [text for text in Page(section(page)).code if "from " in text]
    assert len(queries) == 5
    with duckdb.connect(city, read_only=True) as con:
        for query in queries:
            assert con.execute(query).fetchall(), query


def test_without_a_question_there_is_neither_section_nor_sentence(tiny: tl.Lab) -> None:
    tiny.release("square:1000", "3h")
    text = render(tiny)
    assert 'id="reidentification"' not in text
    assert "single out" not in text


def test_a_lab_that_has_no_such_tables_gets_its_page(city: Path, tmp_path: Path) -> None:
    older = tmp_path / "older.duckdb"
    older.write_bytes(city.read_bytes())
    with duckdb.connect(older) as con:
        con.execute("drop table study.risk; drop table study.traces; drop table metrics.risk; drop table records.trait")
    with tl.open(older, read_only=True) as lab:
        assert 'id="reidentification"' not in render(lab)


def test_where_only_protected_or_recovered_traces_were_searched_these_lead(tiny: tl.Lab) -> None:
    release = tiny.release("square:1000", "3h")
    tiny.risk(tiny.protect(release, "cut:6h"), "points:1")
    assert "pieces of traces in the true traces after cut:6h, " in Page(section(render(tiny))).text


def test_questions_alike_are_told_apart_by_seed_sample_and_settings() -> None:
    rows = [
        {"risk_id": "a", "knowledge": "points:2:all", "seed": 0, "sample": None},
        {"risk_id": "b", "knowledge": "points:2:all", "seed": 1, "sample": 1000},
        {"risk_id": "c", "knowledge": "top:2:ordered:0.1", "seed": 0, "sample": None},
        {"risk_id": "d", "knowledge": "top:2:ordered:0.2", "seed": 0, "sample": None},
    ]
    assert naming.questions(rows) == {
        "a": "2 points, seed 0, everybody",
        "b": "2 points, seed 1, sample of 1,000",
        "c": "top 2 places (top:2:ordered:0.1)",
        "d": "top 2 places (top:2:ordered:0.2)",
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("top:1:ordered:0.1", "top place"),
        ("top:3:unordered:0.1", "top 3 places, any order"),
        ("top:variable:ordered:0.1", "top places, number varies"),
        ("points:1:all", "1 point"),
        ("points:4:drop", "4 points, short traces left out"),
        ("cont:3:all", "3 points in a row"),
        ("homework:most", "home and work"),
        ("homework:least", "two rarest places"),
        ("locations:2:100000", "worst 2 visits by place"),
        ("time:2:day:100000", "worst 2 visits, place and day"),
        ("frequency:2:0:100000", "worst 2 places and how often"),
        ("weather:rain", "weather:rain"),
    ],
)
def test_knowledge_has_words(text: str, told: str) -> None:
    assert naming.knowledge(text) == told


def test_who_was_looked_for_is_counted_in_the_right_noun() -> None:
    assert count_targets({"people": 1, "protection": "none"}) == "1 person"
    assert (
        count_targets({"people": 2000, "protection": "none"}, {"people": 90, "protection": "none"})
        == "90 to 2,000 people"
    )
    assert count_targets({"people": 1, "protection": "cut:6h"}) == "1 piece of a trace"


def test_the_secret_of_protected_traces_is_not_on_the_page(city: Path, page: str) -> None:
    with tl.open(city, read_only=True) as lab:
        secrets = lab.table("study.secret")["secret"].to_list()
    assert secrets
    assert not [secret for secret in secrets if secret in page]
