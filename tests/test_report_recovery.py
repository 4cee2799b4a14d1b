"""The section on recovery, and the page of labs that hold attacks, strangers' counts, or nothing of either."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest
from test_report import Page

import trajlab as tl
from trajlab.errors import LabError
from trajlab.report import render, words
from trajlab.report.sections import recovery

ATTACKED = {"recovery", "feasibility"}


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lab file with one release attacked twice, and one that nobody attacked."""
    path = tmp_path_factory.mktemp("attacked") / "lab.duckdb"
    with tl.open(path) as lab:
        lab.ingest(tl.simulate(people=40, days=2, seed=1), tz="Europe/Lisbon")
        attacked = lab.release("square:2000", "1h")
        lab.attack(attacked, "xu2017")
        lab.attack(attacked, "xu2017", direct_link_below=500.0)
        lab.release("square:4000", "1h")
    return path


@pytest.fixture(scope="module")
def page(city: Path) -> str:
    with tl.open(city, read_only=True) as lab:
        return render(lab)


def section(page: str) -> str:
    (found,) = re.findall(r'<section id="recovery">.*?</section>', page, re.DOTALL)
    return str(found)


def stranger() -> tl.Release:
    rng = np.random.default_rng(0)
    counts = rng.multinomial(20, np.full(6, 1 / 6), size=48)
    return tl.Release.from_matrix(counts, rng.uniform(0, 5000, (6, 2)), 24)


def test_the_first_screen_says_what_the_best_attack_gets_beside_its_yardsticks(city: Path, page: str) -> None:
    with tl.open(city, read_only=True) as lab:
        best = lab.sql(
            "select * from report.every_metric where attack = 'xu2017' and metric = 'accuracy' and level = 3 "
            "and pairing = 'optimal' order by estimate desc limit 1"
        ).row(0, named=True)
    (card,) = re.findall(r'<article class="card finding">.*?</article>', page, re.DOTALL)
    told = Page(card).text
    within = f"95% interval {words.share(best['low'])} to {words.share(best['high'])}"
    assert f"{words.share(best['estimate'])}{within}" in told
    assert f"if nobody moved{words.share(best['stay'])}" in told
    assert f"joined at random{words.share(best['shuffle'])}" in told
    places = {kind: float(x) for x, kind in re.findall(r'<circle cx="([\d.]+)"[^>]*class="(\w+)"', card)}
    assert places["value"] == pytest.approx(4 + 292 * best["estimate"], abs=0.06)
    assert places["mark"] == pytest.approx(4 + 292 * best["shuffle"], abs=0.06)


def test_every_run_is_at_the_end_with_its_seed_settings_and_versions(city: Path, page: str) -> None:
    (making,) = re.findall(r'<section id="making">.*?</section>', page, re.DOTALL)
    with tl.open(city, read_only=True) as lab:
        runs = lab.table("study.run")
    for run in runs.iter_rows(named=True):
        (line,) = [line for line in re.findall(r"<tr>.*?</tr>", making) if run["run_id"] in line]
        told = Page(line).text
        assert run["attack"] in told
        assert f"trajlab {tl.__version__}" in told
    assert "direct_link_below 500.0" in Page(making).text


def test_the_finding_is_said_in_words_beside_what_needs_no_attack(city: Path, page: str) -> None:
    with tl.open(city, read_only=True) as lab:
        best = lab.sql(
            "select * from report.every_metric where attack = 'xu2017' and metric = 'accuracy' and level = 3 "
            "and pairing = 'optimal' order by estimate desc limit 1"
        ).row(0, named=True)
    told = Page(section(page)).text
    assert f"places a person in the right cell in {words.share(best['estimate'])} of slots" in told
    assert f"Assuming that nobody moves already gives {words.share(best['stay'])}" in told
    assert f"joining slots at random {words.share(best['shuffle'])}" in told
    assert f"95% interval {words.share(best['low'])} to {words.share(best['high'])}" in told


def test_every_run_has_a_bar_with_its_interval_at_every_stage(city: Path, page: str) -> None:
    shown = Page(section(page))
    with tl.open(city, read_only=True) as lab:
        rows = lab.sql(
            "select * from report.every_metric where metric = 'accuracy' and pairing = 'optimal' and attack = 'stay'"
        )
    for row in rows.iter_rows(named=True):
        value = f"{words.share(row['estimate'])} ({words.share(row['low'])} to {words.share(row['high'])})"
        assert f"{recovery.STAGES[row['level']]}\nnobody moves (stay): {value}" in shown.text
    assert "xu2017, direct link below 500.0" in shown.text
    assert "xu2017, direct link below 0.0" in shown.text


def test_the_people_exposed_are_counted_and_not_named(city: Path, page: str) -> None:
    with tl.open(city, read_only=True) as lab:
        half = lab.sql(
            "select run_id, avg((accuracy > 0.5)::int) as half from metrics.person_recovery "
            "join study.run using (run_id) where pairing = 'optimal' and attack = 'xu2017' group by run_id"
        )["half"]
        people = lab.table("records.person")["uid"].to_list()
    told = Page(section(page)).text
    assert any(f"{words.share(share)} of the people are in the right cell in more than half" in told for share in half)
    assert "report.people_recovered" in told
    assert not re.search(r"<th[^>]*>(Person|Track|Uid|Member)</th>", page)
    assert not {uid for uid in people if not uid.isdigit()} & set(re.findall(r"\w+", Page(page).text))


def test_the_queries_of_the_section_run_as_they_stand(city: Path, page: str) -> None:
    queries = [text for text in Page(section(page)).code if "from " in text]
    assert len(queries) == 5
    with duckdb.connect(city, read_only=True) as con:
        for query in queries:
            assert con.execute(query).fetchall(), query


def test_only_what_was_attacked_is_in_the_section(page: str) -> None:
    assert section(page).count('class="lede"') == 1


def test_without_a_run_there_is_no_section(tiny: tl.Lab) -> None:
    tiny.release("square:1000", "3h")
    assert 'id="recovery"' not in render(tiny)


def test_yardsticks_alone_are_called_what_they_are(tiny: tl.Lab) -> None:
    tiny.attack(tiny.release("square:1000", "3h"), "stay")
    assert "no attack has been tried" in Page(section(render(tiny))).text


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [(0.4, 0.5, "has learned about"), (0.2, 0.25, "does worse"), (0.2, 0.4, "within the uncertainty")],
)
def test_the_verdict_depends_on_the_interval(low: float, high: float, told: str) -> None:
    assert told in recovery._verdict({"low": low, "high": high, "stay": 0.3})


def test_counts_that_somebody_else_published_are_reported_without_a_truth() -> None:
    lab = tl.open(":memory:")
    lab.attack(stranger(), "xu2017")
    text = render(lab)
    read = Page(text)
    assert "20 people were counted every hour over 2 days in 6 cells (cells of a published table)" in read.text
    assert "1970" not in Page(re.findall(r'<section id="findings".*?</section>', text, re.DOTALL)[0]).text
    told = Page(section(text)).text
    assert "the lab does not know who was where" in told
    assert "The proof" in told
    assert "Distinct sets" in told
    for absent in ("Slots in the right cell", "How far off", "Who is exposed", "true trajectories"):
        assert absent not in told
    assert "These cells have no place on a map." in read.text


def test_own_and_other_counts_stand_side_by_side(tiny: tl.Lab) -> None:
    own = tiny.release("square:1000", "3h")
    tiny.attack(own, "stay")
    tiny.feasibility(own)
    tiny.attack(stranger(), "xu2017")
    text = render(tiny)
    read = Page(text)
    assert text.count('<article class="card">') == 2
    assert section(text).count('class="lede"') == 2
    assert "1970" not in Page(re.findall(r'<section id="findings".*?</section>', text, re.DOTALL)[0]).text
    assert "Settings of each release" in read.text


def test_a_lab_of_an_older_trajlab_gets_its_page_without_the_new_sections(city: Path, tmp_path: Path) -> None:
    older = tmp_path / "older.duckdb"
    older.write_bytes(city.read_bytes())
    with duckdb.connect(older) as con:
        con.execute("drop schema attacks cascade; drop schema metrics cascade")
        con.execute("drop table study.run; drop view report.every_metric")
    with tl.open(older, read_only=True) as lab:
        text = render(lab)
    assert not ATTACKED & set(Page(text).values("id"))
    assert text.count('<article class="card">') == 2


def test_a_lab_without_the_views_of_the_page_is_to_be_brought_up_to_date(city: Path, tmp_path: Path) -> None:
    older = tmp_path / "older.duckdb"
    older.write_bytes(city.read_bytes())
    with duckdb.connect(older) as con:
        con.execute("drop view report.release_overview")
    with (
        tl.open(older, read_only=True) as lab,
        pytest.raises(LabError, match="open it once for writing, and it is brought up to date"),
    ):
        render(lab)


def test_an_unfinished_proof_is_not_called_one() -> None:
    runs = recovery.Runs({"a": "xu2017"}, "optimal", ["a"])
    frame = pl.DataFrame(
        {"run_id": ["a"], "phase": ["day"], "matchings": [3], "cost": [10.0], "proven_at_least": [9.0]}
    )
    for gap, told in ((0.1, "could be improved by 10% of its cost"), (0.0, "no weakness of the search")):
        answer = recovery.Answer("select", {}, frame.with_columns(largest_gap=pl.lit(gap)))
        assert told in str(recovery._proof(answer, runs))
