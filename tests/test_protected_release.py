"""Releases whose counts are protected: what is published, what is kept, what is refused."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import trajlab as tl
from trajlab.errors import ProtectionError, ReleaseError, SlotError, UnknownNameError, UtilityError

GRID = {"index": "square:2000", "slot": "2h"}


@pytest.fixture(scope="module")
def city() -> tl.Lab:
    lab = tl.open(quiet=True)
    lab.ingest(tl.simulate(people=60, days=2, interval="60min", seed=1), tz="Europe/Lisbon")
    lab.release(**GRID)
    return lab


def truth(lab: tl.Lab, release: tl.Release) -> np.ndarray:
    """The true counts in the cells of a release, slots × cells."""
    behind = lab.sql(
        "select slot, cell, people from counts.occupancy where release_id = "
        "(select unprotected_id from study.release where release_id = $id)",
        id=release.id,
    ).filter(pl.col("cell").is_in(release.cells["cell"].implode()))
    dense = np.zeros((release.slots, len(release.cells)), dtype=np.int64)
    column = np.searchsorted(release.cells["cell"].to_numpy(), behind["cell"].to_numpy())
    dense[behind["slot"].to_numpy(), column] = behind["people"].to_numpy()
    return dense


def test_a_protected_release_is_one_of_its_own_beside_the_one_it_was_made_from(city):
    plain, made = city.release(**GRID), city.release(**GRID, protect=["suppress:4"])
    assert made.id != plain.id
    assert made.recipe == ("suppress:4",)
    assert made.total == (60, 60)
    assert plain.recipe == ()
    assert plain.total is None
    assert set(made.counts.iter_rows()) == {row for row in plain.counts.iter_rows() if row[2] >= 4}
    assert set(made.flows.iter_rows()) == {row for row in plain.flows.iter_rows() if row[3] >= 4}
    assert city.sql("select count(*) from slots.position where release_id = $id", id=made.id).item() == 0
    assert city.published(made.id).recipe == made.recipe
    (settings,) = city.sql("select settings from study.release where release_id = $id", id=made.id)["settings"]
    assert json.loads(settings)["protect"] == ["suppress:4"]


def test_the_same_recipe_twice_is_made_once_however_it_is_spelled(city):
    once, again = (city.release(**GRID, protect=recipe) for recipe in ("suppress:4", ["suppress:k=04"]))
    assert once.id == again.id
    assert city.sql("select count(*) from counts.release where release_id = $id", id=once.id).item() == 1


def test_larger_cells_and_longer_slots_are_those_of_the_release_underneath(city):
    made = city.release("square:1000", "1h", protect=["generalise:square:2000", "slots:120min", "suppress:4"])
    assert made.recipe == ("generalise:square:2000", "slots:120min", "suppress:4")
    assert made.counts.equals(city.release(**GRID, protect="suppress:4").counts)
    assert (
        city.release("square:1000", "1h", protect=["generalise:square:2000", "slots:2h"]).id == city.release(**GRID).id
    )


def test_what_is_known_of_suppressed_counts_is_true(city):
    made = city.release(**GRID, protect=["suppress:4"])
    known, true = made.known(), truth(city, made)
    listed = made.matrix() > 0
    assert (known.low[listed] == true[listed]).all()
    assert (known.high[listed] == true[listed]).all()
    assert (known.low[~listed] == 0).all()
    assert (known.high[~listed] == 3).all()
    assert (true[~listed] <= 3).all()


@pytest.mark.parametrize(
    "recipe",
    ["suppress:4", "suppress:3:secondary", "round:3", "round:4:controlled", ["suppress:3", "round:10"]],
    ids=str,
)
def test_what_a_release_says_of_its_counts_is_true_whatever_the_recipe(city, recipe):
    made = city.release(**GRID, protect=recipe)
    known, true = made.known(), truth(city, made)
    assert ((known.low <= true) & (true <= known.high)).all()
    assert (known.high <= 60).all()
    assert np.isinf(known.price)


def test_no_flows_stand_beside_secondary_suppression_and_a_note_says_so(city):
    made = city.release(**GRID, protect=["suppress:3:secondary"])
    assert len(made.flows) == 0
    assert "no flows are published beside secondary suppression: they add up to its counts" in made.notes


def test_the_summary_and_the_notes_say_how_much_is_hidden(city):
    made = city.release(**GRID, protect=["suppress:4"])
    hidden = city.table("report.summary", release_id=made.id)["hidden"].item()
    assert hidden == pytest.approx(1 - made.counts["people"].sum() / (60 * made.slots))
    assert (
        f"counts protected with suppress:4: {hidden:.1%} of person-slots are in cells that are not listed" in made.notes
    )


def test_risk_feasibility_and_schedules_of_a_protected_release_are_about_the_people_behind_it(city):
    plain, made = city.release(**GRID), city.release(**GRID, protect=["suppress:4"])
    assert city.risk(made, "points:2").id == city.risk(plain, "points:2").id
    city.feasibility(made)
    assert set(city.table("metrics.place_share")["release_id"]) == {plain.id}
    alone = city.table("report.person_alone")
    assert (
        alone.filter(release_id=made.id).drop("release_id").equals(alone.filter(release_id=plain.id).drop("release_id"))
    )


@pytest.mark.parametrize(
    ("recipe", "error", "message"),
    [
        ("suppress:1", ProtectionError, "suppress needs a whole number of people, 2 or more, not '1'"),
        ("suppress:few", ProtectionError, "suppress needs a whole number of people, 2 or more, not 'few'"),
        ("suppress", ProtectionError, "'suppress' is not suppress:k:[secondary]: suppress takes 1 to 2 settings"),
        ("suppress:4:third", ProtectionError, "suppress:4:third is not understood: write suppress:15:secondary"),
        ("suppress:5000", ProtectionError, "suppress:5000 leaves no count of this release: there is nothing to publish"),
        ("cut:6h", ProtectionError, ("'cut:6h' protects traces, not counts: make the release without it, then "
         "lab.protect(release, 'cut:6h'), trajlab protect LAB cut:6h")),
        (["suppress:4", "suppress:5"], ProtectionError, "suppress:4 and suppress:5 are the same protection twice: give it once"),
        (["suppress:4", "slots:4h"], ProtectionError, ("slots:240min cannot come after suppress:4: cells and slots are made "
         "larger before anybody is counted in them; write slots:240min first")),
        ("generalise:square:1000", ProtectionError, ("generalise:square:1000 does not make the cells of square:2000 larger: "
         "name a coarser index")),
        ("generalise:square:2000", ProtectionError, ("generalise:square:2000 does not make the cells of square:2000 larger: "
         "name a coarser index")),
        ("slots:3h", ProtectionError, ("slots:180min is not made of slots of the release: they last 7200 s, and a longer "
         "one is two of them or more, whole ones")),
        ("slots:7min", SlotError, ("a slot of 420 s does not divide a day into equal slots; the nearest that do are 400 s "
         "and 432 s")),
        ("hide", UnknownNameError, None),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_done_is_refused_with_what_can(city, recipe, error, message):
    before = city.table("counts.release")
    with pytest.raises(error) as refused:
        city.release(**GRID, protect=recipe)
    assert message is None or str(refused.value) == message
    assert city.table("counts.release").equals(before)


def test_a_threshold_of_the_release_itself_is_refused_beside_protections(city):
    with pytest.raises(ReleaseError, match="put suppress:3 into protect instead, in its place"):
        city.release(**GRID, min_count=3, protect="suppress:4")


def test_protections_of_counts_are_no_protections_of_traces(city):
    with pytest.raises(ProtectionError, match=r"'suppress:4' protects counts, not traces: publish with lab.release"):
        city.protect(city.release(**GRID), "suppress:4")


def test_a_protected_release_is_no_release_before_and_compared_as_published_after(city):
    plain, made = city.release(**GRID), city.release(**GRID, protect=["suppress:4"])
    with pytest.raises(UtilityError, match=f"so compare with the release that it was made from, {plain.id}"):
        city.utility(made, "square:4000", zones="square:4000")
    found = city.utility(plain, made, zones="square:4000")
    assert found.loss() == pytest.approx(city.count_utility(made).error("relative_error", "flow"))


def test_an_attack_on_a_protected_release_is_scored_by_the_people_behind_it(city):
    plain, made = city.release(**GRID), city.release(**GRID, protect=["suppress:4"])
    run = city.attack(made, "stay", pairing="greedy")
    scored = city.sql("select * from metrics.recovery where run_id = $id and metric = 'accuracy'", id=run.id)
    assert set(scored["people"]) == {60}
    assert 0 < scored.filter(level=3)["estimate"].item() < 1
    assert set(city.table("metrics.pair", run_id=run.id)["person"]) == set(
        city.sql("select person from slots.person where release_id = $id and kept", id=plain.id)["person"]
    )
    by_hour = city.table("report.accuracy_by_hour", run_id=run.id)
    assert len(by_hour) == 12
    assert by_hour["accuracy"].mean() == pytest.approx(scored.filter(level=3)["estimate"].item())
    missed = city.table("report.missed_cells", run_id=run.id)
    assert missed["person_slots"].sum() == 60 * made.slots
    person = city.table("metrics.pair", run_id=run.id)["person"][0]
    assert 0 < len(city.table("report.recovered_day", run_id=run.id, pairing="greedy", person=person)) <= 12
    assert city.risk(run, "top:1").release_id == plain.id


def test_noise_that_is_next_to_none_is_attacked_like_exact_counts(city):
    plain = city.release(**GRID)
    made = city.release(**GRID, protect="noise:geometric:eps=60:unit=person-slot")
    found = []
    for release in (plain, made):
        run = city.attack(release, "stay", pairing="greedy")
        scores = "select estimate from metrics.recovery where run_id = $id and metric = 'accuracy' and level = 3"
        found.append(city.sql(scores, id=run.id).item())
    assert found[0] == pytest.approx(found[1], abs=0.01)


def test_a_list_of_releases_tells_the_protected_one_from_the_other(city):
    city.release(**GRID, protect=["suppress:4"])
    with pytest.raises(ReleaseError, match=r"suppress:4.*; .*counts as they are|counts as they are.*; .*suppress:4"):
        city.export("nowhere", publishable=True)


def test_a_protected_release_is_exported_by_itself_with_its_recipe(city, tmp_path):
    made = city.release(**GRID, protect=["suppress:4"])
    files = city.export(tmp_path / "out", publishable=True, release=made.id)
    assert not any("begin at one person" in note for note in files.notes)
    published = pl.read_parquet(tmp_path / "out" / "counts.release.parquet")
    assert published.select("release_id", "recipe").rows() == [(made.id, "suppress:4")]
    assert pl.read_parquet(tmp_path / "out" / "counts.occupancy.parquet")["people"].min() >= 4


def test_the_page_shows_no_seed_that_noise_comes_from(tmp_path):
    secret = 2**61 + 987_654_321
    with tl.open(quiet=True) as lab:
        lab.ingest(tl.simulate(people=10, days=1, interval="60min", seed=1), tz="Europe/Lisbon")
        lab.release(**GRID, seed=secret, protect="noise:geometric:eps=1:unit=person-slot")
        lab.release(**GRID)
        page = lab.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert str(secret) not in page.replace(",", "")
    assert "kept secret" in page


def test_the_command_line_protects_counts_and_audits_their_noise(tmp_path, capsys):
    from trajlab.cli import main

    file = tmp_path / "lab.duckdb"
    with tl.open(file, quiet=True) as lab:
        lab.ingest(tl.simulate(people=30, days=1, interval="60min", seed=1), tz="Europe/Lisbon")
    place = ["--index", "square:2000", "--slot", "2h"]
    assert main(["release", str(file), *place, "--protect", "suppress:3", "round:5"]) == 0
    assert "counts protected with suppress:3, round:5" in capsys.readouterr().out
    noise = "noise:geometric:eps=1:unit=person-slot"
    assert main(["release", str(file), *place, "--protect", noise, "--protect", "suppress:3"]) == 0
    assert "ε = 1 per person-slot, 12 per person over 1 day" in capsys.readouterr().out
    with tl.open(file, read_only=True, quiet=True) as lab:
        known = dict(lab.sql("select recipe, release_id from counts.release").iter_rows())
    assert main(["audit", str(file), "--release", known[f"{noise} suppress:3"]]) == 0
    assert "nothing seen contradicts it" in capsys.readouterr().out
    assert main(["audit", str(file), "--release", known[""]]) == 2
    assert "only noise claims an ε that can be audited" in capsys.readouterr().err
    assert main(["risk", str(file), "points:2", "--release", known["suppress:3 round:5"]]) == 0
    assert "are protected, and these are the traces behind them" in capsys.readouterr().out
