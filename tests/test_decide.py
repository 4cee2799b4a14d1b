"""Decisions: each rule against a slow, obvious answer; verdicts, exceptions, and what is stored."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

import trajlab as tl
from tests.conftest import TINY
from trajlab.cli import main
from trajlab.decide._published import epsilon_of
from trajlab.decide.policy import Policy
from trajlab.decide.rules.singling_out import _known
from trajlab.decide.run import judge, whole
from trajlab.errors import PolicyError
from trajlab.release import Release

HEAD = 'name = "p"\n'


def rule(text):
    return Policy.parse(f"{HEAD}[[rule]]\n{text}")


def positions(lab, release):
    return lab.sql(
        "select person, slot, cell from slots.position where release_id = "
        "(select unprotected_id from study.release where release_id = $id)",
        id=release.id,
    )


@pytest.fixture(scope="module")
def city():
    with tl.open(quiet=True) as lab:
        lab.ingest(tl.simulate(people=60, days=3, seed=3), tz="Europe/Lisbon")
        yield lab


@pytest.fixture(scope="module", params=["", "suppress:3", "round:5", "noise:geometric:eps=1:unit=person-day"])
def release(request, city):
    return city.release("square:2000", "3h", protect=request.param.split())


def found(city, release, text):
    return city.decide(release, rule(text)).rules.row(0, named=True)


def people_behind_rows(city, release):
    """Who is behind every published row, one by one."""
    where = {(row["person"], row["slot"]): row["cell"] for row in positions(city, release).iter_rows(named=True)}
    people = {person for person, _ in where}
    for slot, cell in city.sql("select slot, cell from counts.occupancy where release_id = $id", id=release.id).rows():
        yield "occupancy", {person for person in people if where.get((person, slot)) == cell}
    for slot, origin, to in city.sql(
        "select slot, origin, destination from counts.flow where release_id = $id", id=release.id
    ).rows():
        yield "flow", {p for p in people if where.get((p, slot)) == origin and where.get((p, slot + 1)) == to}


@pytest.mark.parametrize("table", ["occupancy", "flow", "both"])
def test_contributors_are_the_people_behind_rows_whatever_their_values(city, release, table):
    rows = [people for name, people in people_behind_rows(city, release) if table in (name, "both")]
    fewest = min((len(people) for people in rows if people), default=None)
    few = [people for people in rows if 0 < len(people) < 4]
    answer = found(city, release, f'rule = "contributors"\nat_least = 4\ntable = "{table}"')
    assert answer["estimate"] == (4 if fewest is None else fewest)
    assert answer["people"] == len(set().union(*few))
    assert answer["verdict"] == ("fail" if few else "pass")
    if few:
        assert f"{len(few):,} of {len(rows):,} counts have fewer than " in answer["sentence"]


def test_the_smallest_count_is_that_of_the_values_shown(city, release):
    values = pl.concat(
        city.sql(f"select people from counts.{table} where release_id = $id", id=release.id)
        for table in ("occupancy", "flow")
    )["people"]
    answer = found(city, release, 'rule = "smallest_count"\nat_least = 5')
    assert answer["estimate"] == values.filter(values > 0).min()


@pytest.mark.parametrize("largest", [1, 2, 3])
def test_dominance_over_a_slot_and_over_the_period(city, release, largest):
    rows = [people for name, people in people_behind_rows(city, release) if name == "occupancy" and people]
    share = max(min(largest, len(people)) / len(people) for people in rows)
    text = f'rule = "dominance"\nat_most = 0.6\nlargest = {largest}\n'
    answer = found(city, release, text)
    assert answer["estimate"] == pytest.approx(share)
    above = [people for people in rows if min(largest, len(people)) / len(people) > 0.6]
    assert answer["people"] == len(set().union(*above))

    published = city.sql("select slot, cell from counts.occupancy where release_id = $id", id=release.id)
    time = positions(city, release).join(published, on=["slot", "cell"]).group_by("cell", "person").len()
    shares, dominant, rests = [], set(), []
    for _, cell in time.group_by("cell"):
        ranked = cell.sort("len", "person", descending=[True, False])
        shares.append(ranked["len"].head(largest).sum() / ranked["len"].sum())
        rests.append((ranked["len"].sum() - ranked["len"].head(2).sum()) / ranked["len"].max())
        if shares[-1] > 0.6:
            dominant |= set(ranked["person"].head(largest))
    answer = found(city, release, text + 'over = "period"')
    assert answer["estimate"] == pytest.approx(max(shares))
    assert answer["people"] == len(dominant)
    assert found(city, release, 'rule = "p_percent"\nat_least = 0.1\nover = "period"')["estimate"] == pytest.approx(
        min(rests)
    )


def test_p_percent_over_a_slot_is_what_is_left_beyond_two(city, release):
    rows = [people for name, people in people_behind_rows(city, release) if name == "occupancy" and people]
    answer = found(city, release, 'rule = "p_percent"\nat_least = 0.1')
    assert answer["estimate"] == max(min(map(len, rows)) - 2, 0)


def test_rounding_and_noise_are_read_off_the_recipe(city, release):
    base = 5 if release.recipe == ("round:5",) else 1
    assert found(city, release, 'rule = "rounding"\nat_least = 5')["estimate"] == base
    noisy = any(text.startswith("noise") for text in release.recipe)
    answer = found(city, release, 'rule = "epsilon"\nat_most = 1\nper = "person-day"')
    assert answer["estimate"] == (pytest.approx(1) if noisy else np.inf)
    assert answer["verdict"] == ("pass" if noisy else "fail")


@pytest.mark.parametrize(
    ("noise", "unit", "eps"),
    [
        ("eps=1:unit=person-slot", "person-slot", 1),
        ("eps=1:unit=person-slot", "person-day", 8),
        ("eps=1:unit=person-slot", "person-week", 24),  # the whole table of three days
        ("eps=1:unit=person-day", "person-slot", 1 / 8),
        ("eps=1:unit=person-day", "person", 3),
        ("eps=1:unit=person-day:clip=2", "person-day", 1),
        ("eps=1:unit=person-day:clip=2", "person-slot", 1 / 2),
        ("eps=1:unit=person-day:clip=2", "person", 3),
        ("eps=1:unit=person", "person-day", 1 / 3),
        ("eps=1:unit=person:clip=4", "person-day", 1),
    ],
)
def test_epsilon_of_another_unit_adds_up(city, noise, unit, eps):
    release = city.release("square:2000", "3h", protect=f"noise:geometric:{noise}")
    assert (release.slots, release.slots_per_day) == (24, 8)
    assert epsilon_of(release, unit) == pytest.approx(eps)


def test_noise_answers_for_a_threshold_only_where_the_policy_says_so_and_it_is_small_enough(city):
    noisy = city.release("square:2000", "3h", protect="noise:geometric:eps=1:unit=person-day")
    text = 'rule = "contributors"\nat_least = 10\n'
    assert found(city, noisy, text)["verdict"] == "fail"
    assert found(city, noisy, text + "unless_epsilon = 3")["verdict"] == "pass"
    assert found(city, noisy, text + "unless_epsilon = 2.9")["verdict"] == "fail"
    assert found(city, city.release("square:2000", "3h"), text + "unless_epsilon = 4")["verdict"] == "fail"


def test_residents_are_those_who_spend_most_nights_there(city):
    release = city.release("square:2000", "3h")
    night = positions(city, release).filter(pl.col("slot") % 8 < 2)
    home = {}
    for (person,), rows in night.group_by("person"):
        ranked = rows.group_by("cell").agg(pl.len(), pl.col("slot").min()).sort("len", "slot", descending=[True, False])
        home[person] = ranked["cell"][0]
    cells = set(positions(city, release)["cell"])
    fewest = min(list(home.values()).count(cell) for cell in cells)
    assert found(city, release, 'rule = "residents"\nat_least = 1')["estimate"] == fewest
    scaled = found(city, release, 'rule = "residents"\nat_least = 4\nshare = 0.25')
    assert scaled["people"] == sum(1 for cell in home.values() if list(home.values()).count(cell) * 4 < 4)


def test_recovery_is_that_of_the_run_and_what_it_gains_over_the_control(city):
    release = city.release("square:2000", "3h")
    answer = found(city, release, 'rule = "recovery"\nattack = "xu2017"\nat_most = 0.3')
    run = city.attack(release, "xu2017")
    score = city.sql(
        "select * from report.every_metric where run_id = $id and of = 'recovered' and metric = 'accuracy' "
        "and level = 3 and pairing = 'optimal'",
        id=run.id,
    ).row(0, named=True)
    assert [answer[name] for name in ("estimate", "low", "high")] == [score[n] for n in ("estimate", "low", "high")]
    assert answer["yardstick"] == max(score["shuffle"], score["stay"], score["control"])
    people = city.sql(
        "select accuracy from metrics.person_recovery where run_id = $id and pairing = 'optimal'", id=run.id
    )["accuracy"]
    assert answer["people"] == (people > 0.3).sum()
    assert answer["worst_decile"] == pytest.approx(people.sort(descending=True).head(6).mean())
    gained = found(city, release, 'rule = "recovery"\nattack = "xu2017"\nat_most = 0.3\nover_control = true')
    assert gained["estimate"] == pytest.approx((score["estimate"] - score["control"]) / (1 - score["control"]))
    assert gained["low"] <= gained["estimate"] <= gained["high"]
    unskilled = max(score["shuffle"], score["stay"], score["control"])
    assert gained["yardstick"] == pytest.approx((unskilled - score["control"]) / (1 - score["control"]))
    right, chance = 100 * score["estimate"], 100 * score["control"]
    assert f"it is right in {right:.1f} % of the slots, where chance gives {chance:.1f} %;" in gained["sentence"]


def test_a_table_that_hides_nothing_says_so_where_nothing_can_come_back(city):
    answer = found(city, city.release("square:2000", "3h"), 'rule = "differencing"\nat_most = 0')
    sentence = "hidden counts that can be worked out are 0; no count is hidden; the limit is at most 0"
    assert (answer["verdict"], answer["sentence"]) == ("pass", sentence)


def test_other_answers_are_those_of_the_labs_own_verbs(city):
    release = city.release("square:2000", "3h", protect="suppress:3")
    run = city.attack(release, "xu2017")
    risk = found(
        city, release, 'rule = "singling_out"\nknowledge = "top:2"\nsearched = "recovered:xu2017"\nat_most = 1'
    )
    assert risk["estimate"] == city.risk(run, "top:2").unique_share
    assert risk["about"] == "table"
    assert risk["yardstick"] is not None
    leaked = found(city, release, 'rule = "singling_out"\nknowledge = "top:2"\nsearched = "traces"\nat_most = 1')
    assert leaked["estimate"] == city.risk(release, "top:2").unique_share
    assert leaked["about"] == "traces"
    loss = found(city, release, 'rule = "flow_loss"\nat_most = 2\nzones = "square:4000"')
    truth = city.release("square:2000", "3h")
    assert loss["estimate"] == city.utility(truth, release, zones="square:4000").loss()
    error = found(city, release, 'rule = "count_error"\nat_most = 2\nmeasure = "hidden_people"')
    assert error["estimate"] == city.count_utility(release).error("hidden_people")
    member = found(city, release, 'rule = "membership"\nat_most = 1\nsize = 20')
    scores = city.membership(release, sizes=[20], targets=60).table.filter(measure="auc")
    assert member["estimate"] == scores["estimate"].item()
    assert member["yardstick"] == 0.5


USEFUL = """name = "useful"
[[rule]]
rule = "flow_loss"
at_most = 1
zones = "square:4000"
[[rule]]
rule = "count_error"
at_most = 1
"""


def test_a_threshold_is_judged_like_its_recipe_and_leaves_no_other_release_in_the_lab():
    with tl.open(quiet=True) as lab:
        lab.ingest(tl.simulate(people=40, days=2, seed=3), tz="Europe/Lisbon")
        release = lab.release("square:3000", "3h", min_count=3)
        thresholded = lab.decide(release, Policy.parse(USEFUL))
        assert lab.sql("select release_id from counts.release")["release_id"].to_list() == [release.id]
        assert not len(lab.sql("select 1 from study.utility"))
        recipe = lab.decide(lab.release("square:3000", "3h", protect="suppress:3"), Policy.parse(USEFUL))
        assert thresholded.rules["estimate"].to_list() == recipe.rules["estimate"].to_list()
        assert 0 < recipe.rules["estimate"][1] < 1
        lab.ingest(tl.simulate(people=5, days=2, seed=4), tz="Europe/Lisbon")
        later = lab.decide(release, Policy.parse(USEFUL))
        assert set(later.rules["verdict"]) == {"review"}
        assert "records were added after the release was made: make it again" in later.rules["sentence"][0]


def test_a_week_has_no_weekly_habit_and_a_term_has(term, tmp_path):
    import shutil

    with tl.open(quiet=True) as lab:
        lab.ingest(tl.simulate(people=20, days=3, seed=3), tz="Europe/Lisbon")
        answer = found(lab, lab.release("square:2000", "3h"), 'rule = "schedule"\nat_most = 0')
        assert answer["verdict"] == "pass"
        assert "no weekly habit shows in less than two weeks" in answer["sentence"]
    shutil.copy(term._store.path, tmp_path / "term.duckdb")
    with tl.open(tmp_path / "term.duckdb", quiet=True) as lab:
        release = lab.release("places", "3h", outside="clamp")
        asked = 'rule = "schedule"\nat_most = 0.5\nsearched = "traces"\npoints = 1\n'
        answer = found(lab, release, asked)
        leak = lab.schedule("grid:60min", release, points=1, min_k=2)
        assert answer["estimate"] == leak.totally


@pytest.mark.parametrize(
    ("knowledge", "told"),
    [
        ("points:4", "4 points (points:4)"),
        ("points:1", "1 point (points:1)"),
        ("cont:3", "3 points in a row (cont:3)"),
        ("top:2", "2 most frequent places (top:2)"),
        ("points:4:drop", "points:4:drop"),
        ("homework", "homework"),
    ],
)
def test_what_is_known_is_told_in_words_where_it_has_some(knowledge, told):
    assert _known(knowledge) == told


@pytest.mark.parametrize(
    ("kind", "low", "high", "verdict"),
    [
        ("at_most", 0.1, 0.2, "pass"),
        ("at_most", 0.1, 0.3, "pass"),
        ("at_most", 0.2, 0.31, "review"),
        ("at_most", 0.3, 0.4, "review"),
        ("at_most", 0.31, 0.4, "fail"),
        ("at_least", 0.4, 0.5, "pass"),
        ("at_least", 0.3, 0.5, "pass"),
        ("at_least", 0.2, 0.3, "review"),
        ("at_least", 0.1, 0.2, "fail"),
    ],
)
def test_an_interval_passes_with_both_ends_and_fails_with_neither(kind, low, high, verdict):
    assert judge(kind, 0.3, low, high) == verdict


def test_the_whole_is_the_worst_rule_without_an_exception():
    for verdicts in itertools.product(["pass", "fail", "review"], repeat=3):
        rules = pl.DataFrame({"verdict": verdicts, "exception": [None] * 3}, schema_overrides={"exception": pl.String})
        order = ["pass", "review", "fail"]
        assert whole(rules) == max(verdicts, key=order.index)
        rules = pl.DataFrame({"verdict": verdicts, "exception": ["because", None, None]})
        assert whole(rules) == max(verdicts[1:], key=order.index)


def test_an_exception_stays_in_the_record_and_makes_another_decision(tiny):
    release = tiny.release("square:1000", "3h")
    policy = rule('rule = "contributors"\nat_least = 2')
    plain = tiny.decide(release, policy)
    assert plain.verdict == "fail"
    excepted = tiny.decide(release, policy, exceptions={"contributors": "six villagers agreed"})
    assert excepted.verdict == "pass"
    assert excepted.id != plain.id
    row = tiny.table("report.verdict", decision_id=excepted.id).row(0, named=True)
    assert (row["verdict"], row["exception"], row["whole"]) == ("fail", "six villagers agreed", "pass")
    assert str(excepted) == "pass: publish (p: 1 fail of 1, 1 by exception)"


def test_the_same_question_twice_is_one_decision_with_the_same_bytes(tiny):
    release = tiny.release("square:1000", "3h")
    first = tiny.decide(release, TINY / "policy.toml")
    tables = ("study.decision", "metrics.verdict", "metrics.verdict_by_group")
    rows = [tiny.table(name).write_csv() for name in tables]
    again = tiny.decide(release.id, TINY / "policy.toml")
    assert again.id == first.id
    assert [tiny.table(name).write_csv() for name in tables] == rows
    assert tiny.decide(release, TINY / "policy.toml", seed=1).id != first.id
    with pytest.raises(PolicyError, match="seed must be a whole number, 0 or more, not -1"):
        tiny.decide(release, TINY / "policy.toml", seed=-1)


def test_rules_that_need_the_people_are_under_review_for_a_table_made_elsewhere(tiny):
    counts, xy = np.array([[3, 3], [2, 4], [3, 3], [2, 4]] * 2), np.array([[0.0, 0.0], [900.0, 0.0]])
    elsewhere = Release.from_matrix(counts, xy, slots_per_day=4)
    policy = Policy.parse(
        HEAD + '[[rule]]\nrule = "smallest_count"\nat_least = 1\n[[rule]]\nrule = "contributors"\nat_least = 2\n'
    )
    decision = tiny.decide(elsewhere, policy)
    assert decision.verdict == "review"
    known, truth = decision.rules.rows(named=True)
    assert (known["verdict"], known["estimate"]) == ("pass", 2)
    assert truth["verdict"] == "review"
    assert truth["estimate"] is None
    assert truth["sentence"] == (
        "cannot be answered: it is measured against the people behind the table, and the lab does not have them: the "
        "release was made elsewhere"
    )


def test_the_command_ends_with_the_verdict(tmp_path, tiny_file, capsys):
    import shutil

    lab = str(shutil.copy(tiny_file, tmp_path / "lab.duckdb"))
    with tl.open(lab, quiet=True) as opened:
        opened.release("square:1000", "3h")
    (tmp_path / "pass.toml").write_text(HEAD + '[[rule]]\nrule = "smallest_count"\nat_least = 1\n')
    (tmp_path / "fail.toml").write_text(HEAD + '[[rule]]\nrule = "rounding"\nat_least = 5\n')
    (tmp_path / "review.toml").write_text(
        HEAD + '[[rule]]\nrule = "singling_out"\nknowledge = "top:2"\nsearched = "traces"\nat_most = 0.5\n'
    )
    for name, code in (("pass", 0), ("fail", 1), ("review", 3)):
        assert main(["decide", lab, "--policy", str(tmp_path / f"{name}.toml"), "--quiet"]) == code
        out = capsys.readouterr().out
        assert out.startswith("decision v")
        assert out.rstrip().rpartition("\n")[2].startswith(f"{name}: ")
    reason = "rounding=the town is made up"
    assert main(["decide", lab, "--policy", str(tmp_path / "fail.toml"), "--exception", reason, "--quiet"]) == 0
    assert "exception: the town is made up" in capsys.readouterr().out
    assert main(["decide", lab, "--policy", "nothing", "--quiet"]) == 2
    assert capsys.readouterr().err.startswith("trajlab: no policy 'nothing': it is neither a file nor one of")
