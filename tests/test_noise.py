"""Noise on counts: how large it is, what it claims, and that the claim holds."""

from __future__ import annotations

import json
import math
import time

import numpy as np
import polars as pl
import pytest

import trajlab as tl
from trajlab import protect
from trajlab.errors import ProtectionError, UnknownNameError
from trajlab.protect import Table
from trajlab.protect._audit import audit
from trajlab.protect.noise import Noise

GRID = {"index": "square:2000", "slot": "2h"}
SECRET = 2**61 + 12345
DAY = "noise:geometric:eps=1:unit=person-day"


@pytest.fixture(scope="module")
def city() -> tl.Lab:
    lab = tl.open(quiet=True)
    lab.ingest(tl.simulate(people=60, days=8, interval="60min", seed=1), tz="Europe/Lisbon")
    lab.release(**GRID, seed=SECRET)
    return lab


class Half(Noise):
    """A mechanism that draws half the noise that it claims."""

    __slots__ = ()

    def scale(self, slots: int, slots_per_day: int) -> float:
        return Noise.scale(self, slots, slots_per_day) / 2


def half(text: str) -> Half:
    whole = protect.load(text)
    return Half(whole.law, whole.eps, whole.unit, whole.clip)


@pytest.mark.parametrize(
    "text",
    ["noise:geometric:eps=1:unit=person-slot", "noise:laplace:eps=3:unit=person-slot", DAY, f"{DAY}:clip=4"],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_audit_never_finds_more_than_is_claimed_and_finds_half_the_noise_out(text, seed):
    found = audit(protect.load(text), 48, 24, seed=seed)
    assert found.holds
    assert 0.5 * found.claim < found.lower <= found.claim
    broken = audit(half(text), 48, 24, seed=seed)
    assert not broken.holds
    assert broken.claim < broken.lower <= 2 * broken.claim


def test_an_audit_is_seeded_and_says_what_it_found():
    noise = protect.load("noise:geometric:eps=2:unit=person-slot")
    assert audit(noise, 48, 24) == audit(noise, 48, 24)
    words = str(audit(noise, 48, 24))
    assert words.startswith("noise:geometric:eps=2:unit=person-slot claims ε = 2 per person-slot; from 400,032 draws")
    assert words.endswith("(95 %): nothing seen contradicts it")
    assert str(audit(half(DAY), 48, 24)).endswith("the claim does not hold")


@pytest.mark.parametrize(
    ("unit", "slots", "bound", "claim"),
    [
        ("person-slot", 168, 1, "ε = 1 per person-slot, 168 per person over 7 days"),
        ("person-day", 168, 24, "ε = 1 per person-day, 7 per person over 7 days"),
        ("person-week", 168, 168, "ε = 1 per person-week"),
        ("person-week", 240, 168, "ε = 1 per person-week, 2 per person over 10 days"),
        ("person", 240, 240, "ε = 1 per person"),
        ("person:clip=5", 240, 5, "ε = 1 per person"),
        ("person-day:clip=6", 48, 6, "ε = 1 per person-day, 2 per person over 2 days"),
    ],
)
def test_what_is_claimed_is_what_one_unit_can_move(unit, slots, bound, claim):
    noise = protect.load(f"noise:geometric:eps=1:unit={unit}")
    assert noise.bound(slots, 24) == bound
    assert noise.claim(slots, 24) == claim
    assert noise.scale(slots, 24) == bound


@pytest.mark.parametrize("law", ["geometric", "laplace"])
def test_noise_is_as_wide_as_its_law_says(law):
    noise = protect.load(f"noise:{law}:eps=0.5:unit=person-slot")
    drawn = noise.draw(2.0, (400_000,), np.random.default_rng(0))
    assert abs(drawn.mean()) < 0.02
    assert drawn.var() == pytest.approx(noise.variance(24, 24), rel=0.03)
    seen = np.bincount(np.abs(drawn))
    assert seen[3] / seen[2] == pytest.approx(math.exp(-0.5), rel=0.03)


def test_ten_million_counts_get_their_noise_in_ten_seconds():
    cells = np.arange(10_000, dtype=np.uint64)
    table = Table(1_000, 100, pl.DataFrame({"cell": cells, "parent_cell": cells}))
    counts = pl.DataFrame({"slot": [3], "cell": [5], "people": [2], "contributors": [2]}).cast(
        {"slot": pl.Int32, "cell": pl.UInt64}
    )
    begun = time.perf_counter()
    made = protect.load(DAY).apply(counts, table, np.random.default_rng(0))
    assert len(made) == 10_000_000
    assert time.perf_counter() - begun < 10


def test_noise_is_on_every_cell_of_every_slot_and_comes_from_the_seed_alone(city):
    made = city.release(**GRID, seed=SECRET, protect=DAY)
    cells = city.sql("select count(distinct cell) from counts.occupancy where release_id = $id", id=made.id).item()
    assert len(made.counts) == made.slots * cells
    assert len(made.cells) == cells
    assert (made.counts["people"] < 0).any()
    assert len(made.flows) == 0
    with tl.open(quiet=True, threads=1) as again:
        again.ingest(tl.simulate(people=60, days=8, interval="60min", seed=1).reverse(), tz="Europe/Lisbon")
        assert again.release(**GRID, seed=SECRET, protect=DAY).counts.equals(made.counts)
        assert not again.release(**GRID, seed=SECRET + 1, protect=DAY).counts.equals(made.counts)


def test_two_tables_of_the_same_people_share_no_noise(city):
    plain = city.release(**GRID, seed=SECRET)
    one, other = (
        city.release(**GRID, seed=SECRET, protect=f"noise:geometric:eps={eps}:unit=person-slot")
        for eps in (1, 1.000001)
    )
    true = plain.counts.rename({"people": "true"})
    both = one.counts.join(other.counts, on=["slot", "cell"]).join(true, on=["slot", "cell"], how="left")
    noise = both.select(
        a=pl.col("people") - pl.col("true").fill_null(0), b=pl.col("people_right") - pl.col("true").fill_null(0)
    )
    assert abs(noise.select(pl.corr("a", "b")).item()) < 0.1


def test_nothing_that_is_published_holds_the_seed_or_the_exact_number_of_people(city):
    made = city.release(**GRID, seed=SECRET, protect=DAY)
    published = city.sql("select * from counts.release where release_id = $id", id=made.id).to_dicts()
    assert str(SECRET) not in json.dumps(published, default=str)
    low, high = made.total
    assert low < 60 < high
    assert made.recipe == (DAY,)
    near = city.release(**GRID, seed=SECRET, protect="noise:geometric:eps=1000:unit=person-slot")
    assert near.total == (60, 60)
    assert (near.known().low == near.known().high).all()


def test_what_is_known_of_noisy_counts_has_a_price(city):
    made = city.release(**GRID, seed=SECRET, protect=DAY)
    known = made.known()
    assert known.price == pytest.approx(1 / 12)
    assert (known.low == np.maximum(made.matrix(), 0)).all()
    hidden = city.release(**GRID, seed=SECRET, protect=[DAY, "suppress:10"])
    listed = hidden.matrix() > 0
    assert (hidden.known().high[~listed] == 9).all()
    assert (hidden.matrix()[listed] >= 10).all()
    assert hidden.known().price == pytest.approx(1 / 12)


def test_the_notes_say_the_claim_and_what_was_done_beside(city):
    made = city.release(**GRID, seed=SECRET, protect=[f"{DAY}:clip=4", "suppress:10", "round:5"])
    notes = " | ".join(made.notes)
    assert "ε = 1 per person-day, 8 per person over 8 days: geometric noise of scale 4 on each of" in notes
    assert "no flows are published with noise" in notes
    assert "suppress:10 and round:5 come after the noise, by the noisy numbers" in notes
    assert "66.7% of person-slots are not counted, so that nobody counts in more than 4 slots of a person-day" in notes
    assert "warning" not in notes
    (row,) = city.sql("select claim, clipped_share from study.release where release_id = $id", id=made.id).to_dicts()
    assert row["claim"] == "ε = 1 per person-day, 8 per person over 8 days"
    assert row["clipped_share"] == pytest.approx(2 / 3)
    assert "warning: the noise is drawn from seed=0, which can be guessed" in city.release(**GRID, protect=DAY).notes[0]


def test_clipping_counts_nobody_in_more_slots_of_a_unit_than_it_says(city):
    from trajlab.query import step

    plain = city.release(**GRID, seed=SECRET)
    params = {"release_id": plain.id, "unit_slots": 12, "clip": 5, "key": "k"}
    clipped = city._store.frame(step("4_counts/_clipped"), **params)
    assert clipped["people"].sum() == 60 * 8 * 5
    lower = plain.counts.join(clipped, on=["slot", "cell"], how="left", suffix="_clipped").fill_null(0)
    assert (lower["people_clipped"] <= lower["people"]).all()
    assert clipped.equals(city._store.frame(step("4_counts/_clipped"), **params))
    assert not clipped.equals(city._store.frame(step("4_counts/_clipped"), **params | {"key": "other"}))


@pytest.mark.parametrize(
    ("recipe", "error", "message"),
    [
        ("noise:geometric:eps=0:unit=person", ProtectionError,
         ("eps must be a number above 0, such as eps=1, not '0': 0 would tell nothing")),
        ("noise:geometric:eps=-1:unit=person", ProtectionError,
         ("eps must be a number above 0, such as eps=1, not '-1': 0 would tell nothing")),
        ("noise:geometric:eps=nan:unit=person", ProtectionError,
         ("eps must be a number above 0, such as eps=1, not 'nan': 0 would tell nothing")),
        ("noise:geometric:eps=1e-9:unit=person", ProtectionError,
         ("eps=1e-09 asks for noise of scale 9.6e+10, which leaves nothing of any count")),
        ("noise:gauss:eps=1:unit=person", UnknownNameError,
         ("no law of noise named 'gauss'; there are: geometric, laplace")),
        ("noise:geometric:eps=1:unit=trip", UnknownNameError,
         ("no unit of noise named 'trip'; there are: person, person-day, person-slot, person-week")),
        ("noise:geometric:eps=1", ProtectionError,
         ("'noise:geometric:eps=1' is not noise:law:eps=…:unit=…:[clip=…]: noise takes 3 to 4 settings")),
        ("noise:geometric:eps=1:unit=person:clip=0", ProtectionError,
         ("clip must be a whole number of slots, 1 or more, not '0'")),
        ("noise:geometric:eps=1:unit=person-slot:clip=2", ProtectionError,
         ("clip bounds the slots of a unit that has several: a person-slot has one")),
        (["suppress:4", DAY], ProtectionError,
         (f"{DAY} cannot come after suppress:4: noise on counts that suppress changed would hide less than its ε says; "
          f"write {DAY} first")),
        (["round:5", DAY], ProtectionError,
         (f"{DAY} cannot come after round:5: noise on counts that round changed would hide less than its ε says; "
          f"write {DAY} first")),
        ([DAY, "suppress:5:secondary"], ProtectionError,
         ("suppress with secondary is for counts that add up to their totals, and noise leaves no totals to protect: "
          "write suppress:5")),
        (["round:5", "suppress:4"], ProtectionError,
         ("suppress:4 cannot come after round:5: suppress goes by the counts, and round has changed them; "
          "write suppress:4 first")),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_claimed_is_refused(city, recipe, error, message):
    with pytest.raises(error) as refused:
        city.release(**GRID, seed=SECRET, protect=recipe)
    assert str(refused.value) == message


def test_a_unit_that_the_period_is_too_short_for_is_refused(city):
    with pytest.raises(ProtectionError, match="unit=person-week needs a period of a week, and this one has 3 days"):
        city.release(**GRID, days=3, protect="noise:geometric:eps=1:unit=person-week")


def test_the_lab_audits_a_release_with_noise_and_no_other(city):
    found = city.audit(city.release(**GRID, seed=SECRET, protect=DAY))
    assert found.holds
    assert found.unit == "person-day"
    with pytest.raises(ProtectionError, match="the release is protected with suppress:4: only noise claims an ε"):
        city.audit(city.release(**GRID, seed=SECRET, protect="suppress:4"))
