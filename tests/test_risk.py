"""Questions about re-identification from the lab and from the shell: answered once, refused in words."""

from __future__ import annotations

import dataclasses
import datetime as dt
import math
import shutil

import numpy as np
import polars as pl
import pytest
from conftest import HOMES, TINY_BOX, tiny_lab

import trajlab as tl
from trajlab import protect as protections
from trajlab.cli import main
from trajlab.errors import LabError, ProtectionError, RiskError, TrajlabError, UnknownNameError
from trajlab.progress import Progress
from trajlab.query import catalogue
from trajlab.release import Release
from trajlab.risk import knowledge, run, traces
from trajlab.risk.knowledge.points import Points

KEY = "a key for the tests, known to all"
BASES = ("slots", "observed", "records")


def published(lab: tl.Lab) -> Release:
    return lab.release(index="square:1000", slot="3h", fill="static", box=TINY_BOX, outside="clamp")


def answer(lab: tl.Lab, risk_id: str) -> pl.DataFrame:
    return lab.sql("select * exclude (risk_id) from metrics.anonymity where risk_id = $id order by trace", id=risk_id)


def counts(lab: tl.Lab) -> dict[str, int]:
    """How many rows every table of the lab has."""
    tables = [name for name, query in catalogue().items() if not query.view]
    return dict(lab.sql(" union all ".join(f"select '{name}', count(*) from {name}" for name in tables)).rows())


def of_cities(seed: int = 0, people: int = 25) -> pl.DataFrame:
    """People who go about five spots, now and then without a record."""
    rng = np.random.default_rng(seed)
    begins = dt.datetime(2024, 3, 4, tzinfo=dt.UTC)
    return pl.DataFrame(
        [
            {
                "uid": f"p{who}",
                "ts": begins + dt.timedelta(hours=hour, minutes=int(rng.integers(60))),
                "lat": 38.70 + 0.01 * int(rng.integers(5)),
                "lng": -9.16,
            }
            for who in range(people)
            for hour in range(0, 48, 2)
            if rng.random() < 0.8
        ]
    )


@pytest.fixture(scope="module")
def city() -> tl.Lab:
    lab = tl.open()
    lab.ingest(of_cities(), tz="UTC")
    return lab


@pytest.fixture(scope="module")
def release(city: tl.Lab) -> Release:
    return city.release(index="square:1000", slot="4h", box=(-9.2, 38.69, -9.1, 38.76))


@pytest.fixture(scope="module")
def settled(city: tl.Lab, release: Release) -> tl.Lab:
    """The city with its traces, for questions that must leave it as it is."""
    city.risk(release, "points:1")
    return city


# Answers


def test_a_question_asked_twice_is_answered_once(monkeypatch):
    lab = tiny_lab()
    first = lab.risk(published(lab), "points:2")
    before = counts(lab)
    monkeypatch.setattr(Points, "search", lambda *_: pytest.fail("searched again"))
    assert lab.risk(published(lab), "points:2") == first
    assert lab.risk(first.release_id, "points", points=2, short="all") == first
    assert lab.risk(first.searched_id, "points:2:all") == first
    assert counts(lab) == before


def test_another_seed_sample_basis_or_knowledge_is_another_question(city, release):
    asked = [
        city.risk(release, "points:2"),
        city.risk(release, "points:2", seed=1),
        city.risk(release, "points:2", sample=5),
        city.risk(release, "points:2", basis="records"),
        city.risk(release, "points:2:drop"),
        city.risk(release, "cont:2"),
    ]
    assert len({each.id for each in asked}) == len(asked)
    assert {each.release_id for each in asked} == {release.id}
    rows = city.sql("select risk_id, knowledge, seed, sample from study.risk").rows()
    assert {(each.id, each.knowledge, each.seed, each.sample) for each in asked} <= set(rows)


def test_the_bases_are_filled_slots_observed_slots_and_single_records():
    """Cleo has five filled slots, Emil several records in a slot, Fay three records in all."""
    lab = tiny_lab()
    made = published(lab)
    asked = {basis: lab.risk(made, "locations:1", basis=basis) for basis in BASES}
    visits = {
        basis: dict(
            lab.sql(
                "select person.uid, sum(visit.visits) from slots.visit as visit join records.person as person "
                "on person.person = visit.trace where traces_id = $id group by person.uid",
                id=risk.searched_id,
            ).rows()
        )
        for basis, risk in asked.items()
    }
    recorded = dict(
        lab.sql("select uid, count(*) from records.fix join records.person using (person) group by uid").rows()
    )
    assert visits["slots"] == dict.fromkeys(recorded, 16)
    assert visits["observed"]["cleo"] == 11
    assert visits["observed"]["fay"] == 3
    assert visits["records"] == recorded
    assert recorded["emil"] > visits["observed"]["emil"]


@pytest.mark.parametrize(
    ("text", "basis"), [("points:2", "slots"), ("top:2", "observed"), ("locations:2", "records"), ("homework", "slots")]
)
def test_a_sample_has_so_many_people_who_hide_among_everybody(city, release, text, basis):
    whole = city.risk(release, text, basis=basis)
    some = city.risk(release, text, basis=basis, sample=7)
    assert (whole.people, some.people) == (25, 7)
    everybody, sampled = (
        {row["trace"]: row for row in answer(city, asked.id).iter_rows(named=True)} for asked in (whole, some)
    )
    assert len(sampled) == 7
    assert all(row == everybody[trace] for trace, row in sampled.items())
    smaller = answer(city, city.risk(release, text, basis=basis, sample=3).id)
    assert set(smaller["trace"]) < set(sampled)
    assert set(answer(city, city.risk(release, text, basis=basis, sample=7, seed=1).id)["trace"]) != set(sampled)


def test_a_sample_larger_than_the_population_is_everybody(city, release):
    assert city.risk(release, "points:2", sample=1000).people == 25


def test_tracks_of_an_attack_are_searched_with_what_is_true_of_people(city, release):
    run = city.attack(release, "shuffle")
    whole = city.risk(release, "points:3")
    linked = city.risk(run, "points:3")
    assert linked.known_id == whole.searched_id
    assert city.risk(run.id, "points:3") == linked
    points = "select trace, slot, cell from metrics.known_point where risk_id = $id order by trace, rank"
    known = city.sql(points, id=linked.id)
    assert known.equals(city.sql(points, id=whole.id))
    tracks: dict[int, set] = {}
    for track, slot, cell in city.sql(
        "select track, slot, cell from attacks.track where run_id = $id", id=run.id
    ).iter_rows():
        tracks.setdefault(track, set()).add((slot, cell))
    own = dict(city.sql("select trace, own from metrics.target where risk_id = $id", id=linked.id).rows())
    assert set(own.values()) == set(tracks)
    told = known.group_by("trace").agg(pl.struct("slot", "cell").alias("points"))
    told = {trace: {(point["slot"], point["cell"]) for point in points} for trace, points in told.iter_rows()}
    fits = {trace: {track for track, theirs in tracks.items() if told[trace] <= theirs} for trace in told}
    for row in answer(city, linked.id).iter_rows(named=True):
        crowd, found = fits[row["trace"]], own[row["trace"]] in fits[row["trace"]]
        assert (row["k"], row["found"], row["pick_chance"]) == (len(crowd), found, 1 / len(crowd) if found else 0.0)
    assert any(not crowd for crowd in fits.values())
    assert linked.unique_share == sum(fits[trace] == {own[trace]} for trace in fits) / 25


def test_cut_traces_are_looked_for_one_by_one_and_nothing_beyond_their_window_is_known(city, release):
    cut = city.protect(release, "cut:8h", key=KEY)
    assert (cut.traces, cut.visits) == (25 * 6, 25 * 12)
    asked = city.risk(cut, "points:2")
    assert asked.people == 150
    assert asked.searched_id == asked.known_id == cut.id
    assert city.risk(cut.id, "points:2") == asked
    windows: dict[int, list] = {}
    query = "select trace, slot, cell from slots.visit where traces_id = $id order by trace, slot"
    for trace, slot, cell in city.sql(query, id=cut.id).iter_rows():
        windows.setdefault(trace, []).append((slot, cell))
    told = dict(answer(city, asked.id).select("trace", "k").rows())
    assert told == {trace: list(windows.values()).count(window) for trace, window in windows.items()}
    with pytest.raises(RiskError, match="^3 points cannot be known: nobody has more than 2 points$"):
        city.risk(cut, "points:3")


def test_groups_are_given_for_questions_before_and_after_the_people_table():
    lab = tiny_lab()
    made = published(lab)
    before = lab.risk(made, "points:2")
    (note,) = lab.people(HOMES)
    assert "traits of 4 people, 1 more have no records and are left out" in note
    after = lab.risk(made, "top:1")
    groups = lab.table("metrics.risk_by_group")
    assert set(groups["risk_id"]) == {before.id, after.id}
    for risk_id in (before.id, after.id):
        told = groups.filter(pl.col("risk_id") == risk_id, pl.col("trait") == "home")
        assert dict(told.select("value", "people").rows()) == {"Northgate": 2, "Southgate": 2}


def test_the_smallest_set_of_one_person_is_the_slot_that_tells_ana_from_ben():
    lab = tiny_lab()
    found = lab.smallest_set(published(lab), "ana")
    assert found.select("rank", "slot", "others").rows() == [(1, 14, 0)]


def test_a_person_who_is_not_there_leaves_no_traces_in_the_lab(tmp_path):
    lab = tiny_lab()
    release = published(lab)
    before = counts(lab)
    with pytest.raises(RiskError, match="the person asked for has 0 traces in"):
        lab.smallest_set(release, "nobody")
    assert counts(lab) == before


def test_the_smallest_set_of_somebody_unknown_is_refused_without_naming_anybody(settled, release):
    searched = settled.risk(release, "points:1").searched_id
    for uid in ("zoe", "", "p1'--"):
        with pytest.raises(RiskError) as refused:
            settled.smallest_set(release, uid)
        assert str(refused.value) == f"the person asked for has 0 traces in {searched}; exactly one is needed"


def test_a_uid_that_is_a_number_elsewhere_is_looked_up_and_nobodys_uid_is_said():
    lab = tl.open()
    lab.ingest(pl.concat([of_cities(people=1).with_columns(uid=pl.lit(uid)) for uid in ("7", "Zoe")]), tz="UTC")
    made = lab.release(index="square:1000", slot="4h")
    with pytest.raises(RiskError, match="1 others pass through all of its"):
        lab.smallest_set(made, 7)
    with pytest.raises(RiskError, match="^the person asked for has 0 traces in "):
        lab.smallest_set(made, 8)


def test_the_smallest_set_needs_a_person_in_one_piece(city, release):
    cut = city.protect(release, "cut:8h", key=KEY)
    with pytest.raises(RiskError, match=f"^the person asked for has 6 traces in {cut.id}; exactly one is needed$"):
        city.smallest_set(cut, "p3")


# Refusals


def test_settings_that_differ_by_little_are_different_questions(city, release):
    """A third is not 0.333333: whoever has 2 visits fits 3 by a third."""
    asked = [city.risk(release, f"frequency:1:{tolerance!r}") for tolerance in (0.1234567, 0.1234568, 1 / 3, 0.333333)]
    assert len({risk.id for risk in asked}) == 4
    assert [risk.knowledge.split(":")[2] for risk in asked] == ["0.1234567", "0.1234568", repr(1 / 3), "0.333333"]
    assert city.risk(release, "frequency:1:0.0").id == city.risk(release, "frequency:1").id


def test_a_basis_is_chosen_with_a_release_alone(city, release):
    cut = city.protect(release, "cut:8h", basis="records", key=KEY)
    assert city.risk(cut, "points:1", basis="records") == city.risk(cut, "points:1")
    with pytest.raises(RiskError) as refused:
        city.risk(cut, "points:1", basis="observed")
    assert (
        str(refused.value) == f"traces {cut.id} are on the basis 'records': 'observed' can be asked of a release alone"
    )


THERE_ARE = ", ".join(knowledge.names())
ASKED_WRONGLY = [
    ("spy:2", {}, f"no knowledge named 'spy'; there are: {THERE_ARE}"),
    ("", {}, f"no knowledge named ''; there are: {THERE_ARE}"),
    ("points:0", {}, "points must be 1 or more, not 0: nothing known singles nobody out"),
    ("cont:-1", {}, "points must be 1 or more, not -1: nothing known singles nobody out"),
    ("top:0", {}, "top takes a number of places, 1 or more, or the word variable, not '0'"),
    ("locations:0", {}, "visits must be a whole number, 1 or more, not 0"),
    ("unique:0", {}, "places must be a whole number, 1 or more, not 0"),
    ("points:two", {}, "points is a whole number, not 'two'"),
    ("points:1.5", {}, "points is a whole number, not '1.5'"),
    ("points", {"points": math.inf}, "points is a number, not inf"),
    ("points", {"points": math.nan}, "points is a number, not nan"),
    ("points:2", {"points": 3}, "'points:2' says points already: say it once"),
    ("points", {}, "'points' does not say points: write points:POINTS:SHORT"),
    ("points:2:all:3", {}, "'points:2:all:3' says too much: points takes points:POINTS:SHORT"),
    ("points:2", {"colour": 1}, "knowledge points has no setting 'colour'; it has points, short"),
    ("points:2", {"seed": -1}, "seed must be a whole number, 0 or more, not -1"),
    ("points:2", {"seed": None}, "seed must be a whole number, 0 or more, not None"),
    ("points:2", {"seed": 1.0}, "seed must be a whole number, 0 or more, not 1.0"),
    ("points:2", {"seed": 2**63}, f"seed must be a whole number, 0 or more, not {2**63}"),
    ("points:2", {"sample": 0}, "sample must be a whole number, 1 or more, not 0"),
    ("points:2", {"sample": True}, "sample must be a whole number, 1 or more, not True"),
    ("points:2", {"sample": "all"}, "sample must be a whole number, 1 or more, not 'all'"),
    ("points:2", {"basis": "trips"}, "no basis named 'trips'; there are: observed, records, slots"),
]
MORE_THAN_ANYBODY_HAS = [
    ("points:13", {}, "13 points cannot be known: nobody has more than 12 points"),
    ("cont:1000:drop", {}, "1,000 points cannot be known: nobody has more than 12 points"),
    (f"points:{10**40}:drop", {}, f"{10**40:,} points cannot be known: nobody has more than 12 points"),
    ("top:6", {}, "nobody has 6 places: ask for top:5 or fewer"),
    ("locations:13", {}, "nobody has 13 visits: of 25 people the one with most has 12"),
    ("unique:6", {}, "nobody has 6 places: of 25 people the one with most has 5"),
]


@pytest.mark.parametrize(("text", "given", "says"), ASKED_WRONGLY + MORE_THAN_ANYBODY_HAS)
def test_what_cannot_be_asked_is_refused_in_words_and_leaves_the_lab_as_it_was(settled, release, text, given, says):
    before = counts(settled)
    with pytest.raises(TrajlabError) as refused:
        settled.risk(release, text, **given)
    assert str(refused.value) == says
    assert counts(settled) == before


def test_a_question_that_makes_no_sense_is_refused_before_any_traces_are_built():
    lab = tiny_lab()
    made = published(lab)
    before = counts(lab)
    with pytest.raises(RiskError):
        lab.risk(made, "points:0")
    assert counts(lab) == before


@pytest.mark.parametrize(("seed", "failure"), [(77, RuntimeError("midway")), (78, KeyboardInterrupt())])
def test_a_search_that_breaks_midway_leaves_the_lab_as_it_was(settled, release, seed, failure, monkeypatch):
    def breaks(self, case, show):
        search(self, case, show)
        raise failure

    search = Points.search
    before = counts(settled)
    with monkeypatch.context() as patch:
        patch.setattr(Points, "search", breaks)
        with pytest.raises(type(failure)):
            settled.risk(release, "points:5", seed=seed)
    assert counts(settled) == before
    assert settled.risk(release, "points:5", seed=seed).people == 25


def test_a_kind_that_forgets_somebody_is_refused_and_leaves_the_lab_as_it_was(settled, release, monkeypatch):
    def forgets(self, case, show):
        found = search(self, case, show)
        return dataclasses.replace(found, people=found.people.slice(3))

    search = Points.search
    before = counts(settled)
    monkeypatch.setattr(Points, "search", forgets)
    with pytest.raises(RiskError, match="^points:5 gave no answer for 3 people$"):
        settled.risk(release, "points:5", seed=79)
    assert counts(settled) == before


def test_a_release_made_elsewhere_has_nobody_to_look_for():
    lab = tiny_lab()
    elsewhere = Release.from_matrix(np.array([[2, 1], [1, 2]] * 4), np.array([[0.0, 0], [500, 0]]), 4, unit="m")
    with pytest.raises(
        UnknownNameError, match=f"^no release, run or set of traces named '{elsewhere.id}'; there are: "
    ):
        lab.risk(elsewhere, "points:2")
    run = lab.attack(elsewhere, "shuffle")
    before = counts(lab)
    for of in (elsewhere, elsewhere.id, run, run.id):
        with pytest.raises(RiskError) as refused:
            lab.risk(of, "points:2")
        assert (
            str(refused.value)
            == f"release {elsewhere.id} was made elsewhere: the lab does not know the people behind it"
        )
    assert counts(lab) == before


def test_a_run_that_has_not_finished_is_refused():
    lab = tiny_lab()
    started = next(lab.attack_by_day(published(lab)))
    before = counts(lab)
    for of in (started, started.id):
        with pytest.raises(RiskError, match=f"^run {started.id} is not complete: let the attack finish first$"):
            lab.risk(of, "points:2")
    assert counts(lab) == before


def test_a_lab_without_releases_and_ids_that_it_does_not_have_are_refused():
    with pytest.raises(UnknownNameError, match="^no release, run or set of traces named 'r123'; there are: none yet$"):
        tl.open().risk("r123", "points:2")
    lab = tiny_lab()
    made = published(lab)
    with pytest.raises(
        UnknownNameError, match=f"^no release, run or set of traces named 't0123'; there are: {made.id}$"
    ):
        lab.risk("t0123", "points:2")
    with pytest.raises(UnknownNameError, match="^no set of traces named 't0123'; there are: none yet$"):
        traces.load(lab._store, "t0123")
    with pytest.raises(UnknownNameError, match="^no run named 'a0123'; there are: none yet$"):
        traces.of_run(lab._store, "a0123", Progress())


def test_traces_of_another_lab_are_refused(city, release):
    theirs = city.protect(release, "cut:8h", key=KEY)
    lab = tiny_lab()
    published(lab)
    with pytest.raises(UnknownNameError, match=f"^no release, run or set of traces named '{theirs.id}'; there are: r"):
        lab.risk(theirs, "points:2")


# Records that came later


def test_a_release_of_fewer_records_keeps_its_answers_and_gives_the_same_ones_after_more_came():
    lab = tiny_lab()
    made = published(lab)
    asked = lab.risk(made, "points:2")
    more = pl.DataFrame({"uid": ["gil"], "ts": [dt.datetime(2024, 3, 4, 12)], "lat": [38.72], "lng": [-9.14]})
    lab.ingest(more, tz="Europe/Lisbon")
    newer = published(lab)
    assert newer.id != made.id
    by_record = lab.risk(made, "points:2", basis="records")
    ((visits,),) = lab.sql("select sum(visits) from slots.visit where traces_id = $id", id=by_record.searched_id).rows()
    assert visits == 82
    assert lab.risk(made, "points:2", basis="observed").people == asked.people
    assert lab.risk(made, "points:2") == asked
    assert lab.risk(newer, "points:2", basis="observed").people == 7


@pytest.mark.parametrize(
    ("tz", "start", "slot", "tick"),
    [
        ("UTC", "1970-01-01", 1800, 900),
        ("UTC", "1970-01-01", 100, 100),
        ("Africa/Monrovia", "1970-01-01", 3600, 30),
        ("Europe/Lisbon", "2024-03-31", 86400, 900),
        ("America/Havana", "2023-11-05", 600, 300),
    ],
)
def test_every_record_is_in_the_traces_whenever_and_wherever_the_period_begins(tz, start, slot, tick, tmp_path):
    begins = dt.datetime.fromisoformat(start)
    rows = [
        {"uid": uid, "ts": begins + dt.timedelta(minutes=37 * n + 130), "lat": 38.7 + n % 3 / 100, "lng": -9.1}
        for uid in "ab"
        for n in range(35)
    ]
    lab = tl.open()
    lab.ingest(pl.DataFrame(rows), tz=tz)
    made = lab.release(index="square:500", slot=slot, tz=tz)
    assert traces.tick_seconds(lab._store, made.id) == tick
    searched = lab.risk(made, "points:2", basis="records").searched_id
    ((kept,),) = lab.sql("select count(*) from records.fix").rows()
    told = lab.sql("select sum(records) from slots.trace where traces_id = $id", id=searched).item()
    visits = lab.sql("select sum(visits) from slots.visit where traces_id = $id", id=searched).item()
    assert told == visits == kept >= 66
    cut = lab.protect(made, "cut:1d", key=KEY)
    assert lab.protected_records(cut, tmp_path / "records.parquet") == kept


# From the shell


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    file = tmp_path_factory.mktemp("risk") / "lab.duckdb"
    with tiny_lab(file) as lab:
        published(lab)
    return file


@pytest.fixture
def lab_file(made_once, tmp_path):
    return shutil.copy(made_once, tmp_path / "lab.duckdb")


def said(capsys, *words: object, code: int = 0) -> str:
    assert main([str(word) for word in words]) == code
    out, err = capsys.readouterr()
    assert err.count("\n") == (1 if code else 0), err
    assert not (code and out)
    return err if code else out


def test_risk_from_the_shell_is_that_of_the_lab(lab_file, capsys):
    out = said(capsys, "risk", lab_file, "points:2", "top:variable", "--set", "min_share=0.2", code=2)
    assert out == "trajlab: knowledge points has no setting 'min_share'; it has points, short\n"
    words = ("risk", lab_file, "points:2", "top:2", "--basis", "records", "--sample", 4, "--seed", 3, "--table")
    out = said(capsys, *words)
    with tl.open(lab_file) as lab:
        asked = [lab.risk(published(lab), text, basis="records", sample=4, seed=3) for text in ("points:2", "top:2")]
        assert lab.sql("select count(*) from study.risk").item() == 2
    for each in asked:
        assert f"risk {each.id}: {each.knowledge}\n" in out
        assert f"{each.description}\n" in out
    assert out.count("unique_share") == out.count("k_percentile") / 4 == 2 * len(_scopes(lab_file, asked[0].id))


def _scopes(lab_file, risk_id: str) -> list[str]:
    with tl.open(lab_file, read_only=True) as lab:
        return lab.sql("select distinct scope from metrics.risk where risk_id = $id", id=risk_id)["scope"].to_list()


def test_protected_traces_and_recovered_tracks_are_searched_from_the_shell(lab_file, tmp_path, capsys):
    (tmp_path / "key").write_text(KEY + "\n")
    out = said(capsys, "protect", lab_file, "cut:6h", "--key-file", tmp_path / "key", "-o", tmp_path / "cut.csv")
    with tl.open(lab_file) as lab:
        made = lab.protect(published(lab), "cut:6h", key=KEY)
        run = lab.attack(published(lab), "xu2017")
    assert out.splitlines() == [
        f"traces {made.id}: cut:6h, 48 traces with 96 visits",
        f"wrote 82 records to {tmp_path / 'cut.csv'}",
    ]
    assert len(pl.read_csv(tmp_path / "cut.csv")) == 82
    assert "of 48 pieces of traces are singled out" in said(capsys, "risk", lab_file, "points:2", "--traces", made.id)
    assert "of 6 people are singled out" in said(capsys, "risk", lab_file, "top:1", "--run", run.id)


def test_people_from_the_shell_divide_risk_by_group(lab_file, tmp_path, capsys):
    HOMES.write_csv(tmp_path / "people.csv")
    out = said(capsys, "people", lab_file, tmp_path / "people.csv")
    assert "traits of 4 people, 1 more have no records and are left out; home, works" in out
    said(capsys, "risk", lab_file, "top:1")
    query = "select value, people from metrics.risk_by_group where trait = 'home' order by value"
    assert said(capsys, "sql", lab_file, query, "--format", "csv") == "value,people\nNorthgate,2\nSouthgate,2\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["risk", "{lab}", "spy:2"], f"no knowledge named 'spy'; there are: {THERE_ARE}"),
        (["risk", "{lab}", "points:0"], "points must be 1 or more, not 0: nothing known singles nobody out"),
        (["risk", "{lab}", "points:99"], "99 points cannot be known: nobody has more than 16 points"),
        (["risk", "{lab}", "points:2", "--sample", "0"], "sample must be a whole number, 1 or more, not 0"),
        (["risk", "{lab}", "points:2", "--seed", "-1"], "seed must be a whole number, 0 or more, not -1"),
        (["risk", "{lab}", "points:2", "--set", "short"], "--set takes name=value, not 'short'"),
        (["risk", "{lab}", "points:2", "--basis", "trips"], "no basis named 'trips'; there are: observed, records, slots"),
        (["risk", "nowhere.duckdb", "points:2"], "nowhere.duckdb: no such lab; `trajlab ingest nowhere.duckdb FILE` makes one"),
        (["protect", "{lab}", "blur:6h"], "no protection named 'blur'; there are: cut, generalise, noise, round, slots, suppress"),
        (["protect", "{lab}", "cut:0h"], "window '0h' must be at least a second and at most ten years"),
        (["risk", "{lab}", "points:2", "--set", "points=3"], "'points:2' says points already: say it once"),
        (["risk", "{lab}", "points", "--set", "points=inf"], "points is a number, not inf"),
        (["risk", "{lab}", "top:1", "spy:2"], f"no knowledge named 'spy'; there are: {THERE_ARE}"),
        (["risk", "{lab}", "top:1", "--traces", "t0", "--run", "a0"],
         "one set of traces is searched: say one of --release, --traces and --run"),
        (["protect", "{lab}", "cut:6h", "--key-file", "no_key"], "no_key: No such file or directory"),
        (["protect", "{lab}", "cut:6h", "--key-file", "key"],
         "key: the key must be text, such as 64 random hexadecimal digits"),
        (["people", "{lab}", "people.csv"], "none of its 1 people has records in the lab: is uid written as there?"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_exit_code_2(words, says, lab_file, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("uid,age\nzoe,7\n")
    (tmp_path / "key").write_bytes(bytes(range(128, 160)))
    err = said(capsys, *[word.format(lab=lab_file) for word in words], code=2)
    assert err.startswith("trajlab: ")
    assert err.endswith(f"{says}\n")
    assert "zoe" not in err


@pytest.mark.parametrize("flag", ["--release", "--traces", "--run"])
def test_an_id_that_nothing_has_is_refused_with_the_ids_that_there_are(flag, lab_file, capsys):
    with tl.open(lab_file, read_only=True) as lab:
        (release_id,) = lab.table("counts.release")["release_id"]
    err = said(capsys, "risk", lab_file, "top:1", flag, "x0", code=2)
    assert err == f"trajlab: no release, run or set of traces named 'x0'; there are: {release_id}\n"


def test_the_smallest_set_from_the_shell_says_when_and_where(lab_file, capsys):
    out = said(capsys, "smallest", lab_file, "ana")
    with tl.open(lab_file, read_only=True) as lab:
        ((starts,),) = lab.sql("select starts from slots.slot where slot = 14").rows()
    (row,) = [line.split() for line in out.splitlines() if " 14 " in line]
    assert str(starts) in " ".join(row)
    assert row[-2] == "0"
    err = said(capsys, "smallest", lab_file, "ana", "--limit", "0", code=2)
    assert err == "trajlab: limit must be a whole number, 1 or more, not 0\n"
    err = said(capsys, "smallest", lab_file, "zoe", code=2)
    assert "the person asked for has 0 traces in " in err
    assert "zoe" not in err


@pytest.mark.parametrize("command", ["risk", "protect"])
def test_a_lab_without_a_release_says_how_to_make_one(command, tmp_path, capsys):
    tiny_lab(tmp_path / "lab.duckdb").close()
    what = {"risk": "points:2", "protect": "cut:6h"}[command]
    err = said(capsys, command, tmp_path / "lab.duckdb", what, code=2)
    assert err == "trajlab: the lab has no release yet: make one with trajlab release\n"


def test_the_help_of_protect_lists_every_protection(capsys):
    with pytest.raises(SystemExit):
        main(["protect", "--help"])
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.partition("protections:\n")[2].splitlines()]
    assert lines == [[name, protections.describe(name).splitlines()[0]] for name in protections.names("traces")]


def test_the_help_of_risk_lists_every_kind_whatever_the_process_was_called_with(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["risk", "--help"])
    assert stopped.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    for name in knowledge.names():
        first = knowledge.describe(name).splitlines()[0]
        (line,) = [line for line in lines if line.strip().partition(" ")[0].partition(":")[0] == name]
        assert line.endswith(first)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("there.csv", "cannot write 'there.csv': it must be a new file in a folder that exists"),
        ("no/such.csv", "cannot write 'such.csv': it must be a new file in a folder that exists"),
        ("new.xlsx", "cannot write 'new.xlsx': the name must end in .parquet or .csv"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_any_work(name, says, lab_file, tmp_path, monkeypatch, capsys):
    (tmp_path / "there.csv").write_text("mine")
    monkeypatch.setattr(tl.Lab, "protect", lambda *_, **__: pytest.fail("worked first"))
    assert said(capsys, "protect", lab_file, "cut:6h", "-o", tmp_path / name, code=2) == f"trajlab: {says}\n"
    assert (tmp_path / "there.csv").read_text() == "mine"
    with tl.open(lab_file, read_only=True) as lab:
        assert lab.sql("select count(*) from study.traces").item() == 0
        assert lab.sql("select count(*) from study.secret").item() == 0


def test_a_lab_open_for_reading_gives_the_answers_it_has_and_no_new_ones(lab_file):
    with tl.open(lab_file) as lab:
        made = published(lab)
        asked = lab.risk(made, "points:2")
    with tl.open(lab_file, read_only=True) as lab:
        assert lab.risk(made.id, "points:2") == asked
        for question in (
            lambda: lab.risk(made.id, "points:3"),
            lambda: lab.risk(made.id, "points:2", basis="records"),
            lambda: lab.protect(made.id, "cut:6h"),
        ):
            with pytest.raises((LabError, ProtectionError)):
                question()


def test_what_has_no_traces_is_refused(tiny):
    with pytest.raises(RiskError, match="traces are those of a release, of a run or of protect, or an id, not int"):
        tiny.risk(3, "top:2")


TOGETHER = ("points:2", "cont:2", "points:3:drop", "top:1:unordered", "unique:1")


@pytest.mark.parametrize("at_once", [1_000_000, 12])
def test_questions_asked_together_are_answered_as_if_asked_alone(monkeypatch, at_once):
    """At most two of them are summed up in one statement where twelve people may be held: six are looked for."""
    monkeypatch.setattr(run, "ROWS_AT_ONCE", at_once)
    together, alone = tiny_lab(), tiny_lab()
    for lab in (together, alone):
        lab.people(HOMES)
        released = published(lab)
        searched = traces.of_release(lab._store, released.id, "observed", Progress())
        kinds = [knowledge.load(text) for text in TOGETHER]
        for some in [kinds] if lab is together else [[kind] for kind in kinds]:
            run.measure_all(lab._store, searched, searched, some, seed=3, sample=None, progress=Progress())
    tables = [*(query.table for query in run.summaries()), "metrics.anonymity", "metrics.target", "study.risk"]
    for table in (*tables, "metrics.known_point"):
        rows = f"select * from {table} order by all"
        assert together.sql(rows).equals(alone.sql(rows)), table
        assert len(together.sql(rows)) > 5 - (table == "study.risk"), table
