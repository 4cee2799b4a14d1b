"""The laws of `Attack`, on every attack there is: a file in trajlab/attacks/ is checked by being there."""

from __future__ import annotations

import dataclasses
import importlib
import os
import sys

import numpy as np
import polars as pl
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from trajlab import attacks
from trajlab.errors import AttackError, ReleaseError, UnknownNameError
from trajlab.matching import assignment, sifting, within
from trajlab.release import REQUIREMENTS, Release

some = examples(few=10, many=60)
every_attack = pytest.mark.parametrize("name", attacks.names())


def recover(name, release, seed=0):
    return attacks.load(name).recover(release, np.random.default_rng(seed), attacks.StepLog())


def counted(tracks, cells):
    """How many tracks are in each cell, slots × cells."""
    return np.array([np.bincount(slot, minlength=cells) for slot in tracks.T])


def lives(rng, people, cells, slots, moving=0.4):
    """People who now and then go to another cell."""
    truth = np.empty((people, slots), dtype=int)
    truth[:, 0] = rng.integers(cells, size=people)
    for slot in range(1, slots):
        goes = rng.random(people) < moving
        truth[:, slot] = np.where(goes, rng.integers(cells, size=people), truth[:, slot - 1])
    return truth


def published(truth, xy, slots_per_day, start="2024-01-01"):
    return Release.from_matrix(counted(truth, len(xy)), xy, slots_per_day, start=start, unit="m")


@st.composite
def releases(draw):
    """Two days and more, the last one perhaps shorter, of a few people in cells at places of their own."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    per_day = draw(st.sampled_from([2, 3, 4, 6]))
    slots = 2 * per_day + draw(st.integers(0, 2 * per_day))
    places = st.tuples(st.integers(0, 9), st.integers(0, 9))
    xy = np.array(draw(st.lists(places, min_size=2, max_size=6, unique=True)), dtype=float) * 250
    truth = lives(rng, draw(st.integers(2, 12)), len(xy), slots)
    return published(truth, xy, per_day, draw(st.sampled_from(["2024-01-01", "2024-03-31 05:30"])))


def town(seed=0, people=40, cells=9, days=3, per_day=8, more=3):
    rng = np.random.default_rng(seed)
    xy = np.argwhere(np.ones((-(-cells // 3), 3)))[:cells] * 500.0
    return published(lives(rng, people, cells, days * per_day + more), xy, per_day)


# The laws


@every_attack
@some
@given(release=releases(), seed=st.integers(0, 2**32 - 1))
def test_as_many_tracks_are_in_a_cell_as_the_release_counts(name, release, seed):
    tracks = recover(name, release, seed)
    assert np.array_equal(counted(tracks, len(release.cells)), release.matrix())


@every_attack
@some
@given(release=releases())
def test_every_track_is_in_one_cell_of_the_release_in_every_slot(name, release):
    tracks = recover(name, release)
    assert tracks.shape == (release.people, release.slots)
    assert tracks.dtype == np.int32
    assert tracks.min() >= 0
    assert tracks.max() < len(release.cells)


@every_attack
@some
@given(release=releases(), seed=st.integers(0, 2**32 - 1))
def test_same_seed_same_tracks(name, release, seed):
    assert np.array_equal(recover(name, release, seed), recover(name, release, seed))


@every_attack
def test_another_seed_is_another_guess(name):
    release = town()
    assert not np.array_equal(recover(name, release, 0), recover(name, release, 1))


@every_attack
@some
@given(release=releases())
def test_the_order_of_the_rows_of_a_release_changes_nothing(name, release):
    shuffled = dataclasses.replace(release, counts=release.counts.sample(fraction=1, shuffle=True, seed=1))
    assert np.array_equal(recover(name, release), recover(name, shuffled))


@every_attack
@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_cells_changes_nothing_but_their_numbers(name, seed):
    """Cells are told apart by where they are, so this law needs no two in one place."""
    release = town(seed)
    order = np.random.default_rng(seed).permutation(len(release.cells))
    other = Release.from_matrix(release.matrix()[:, order], release.xy()[order], 8, unit="m")
    assert np.array_equal(recover(name, release), order[recover(name, other)])


@every_attack
@pytest.mark.parametrize("seed", range(3))
def test_neither_threads_nor_the_way_of_matching_change_the_tracks(name, seed, monkeypatch):
    release = town(seed)
    module = importlib.import_module(f"trajlab.attacks.{name}")
    found = [recover(name, release, seed)]
    monkeypatch.setattr(module, "MANY", 1, raising=False)
    monkeypatch.setattr(sifting, "WHOLE", 9)
    monkeypatch.setattr(sifting, "RUN", 3)
    monkeypatch.setattr(assignment, "WHOLE", 0)
    monkeypatch.setattr(assignment, "RUN", 7)
    for cores in (1, 2, 5):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        found.append(recover(name, release, seed))
    assert all(np.array_equal(found[0], tracks) for tracks in found)


@every_attack
def test_an_attack_leaves_its_release_and_the_global_chance_alone(name):
    release, state = town(), np.random.get_state()  # noqa: NPY002
    before = release.counts.clone(), release.cells.clone()
    recover(name, release)
    assert before[0].equals(release.counts)
    assert before[1].equals(release.cells)
    assert np.array_equal(state[1], np.random.get_state()[1])  # noqa: NPY002


@every_attack
@pytest.mark.parametrize("more", [0, 1, 3, 7])
def test_the_last_day_may_be_shorter(name, more):
    release = town(days=2, more=more)
    assert np.array_equal(counted(recover(name, release), 9), release.matrix())


@every_attack
def test_two_cells_in_one_place_are_two_cells(name):
    xy = np.array([[0.0, 0.0], [0.0, 0.0], [1000.0, 0.0]])
    release = published(lives(np.random.default_rng(0), 6, 3, 16), xy, 8)
    assert np.array_equal(counted(recover(name, release), 3), release.matrix())


# Willing: what meets the requirements is attacked, anything else is refused


def broken(requirement):
    """A release that lacks this, and nothing else that it could have."""
    fine = town(people=6, cells=4, days=2, per_day=4, more=0)
    counts, xy = fine.matrix(), fine.xy()
    match requirement:
        case "every slot":
            return dataclasses.replace(fine, counts=fine.counts.filter(pl.col("slot") != 5))
        case "equal totals":
            counts[3, 2] += 1
            return Release.from_matrix(counts, xy, 4)
        case "population":
            return dataclasses.replace(fine, total=(5, 5))
        case "exact":
            return dataclasses.replace(fine, recipe=("round:2",))
        case "night start":
            return Release.from_matrix(counts, xy, 4, start="2024-01-01 06:00")
        case "two days":
            return Release.from_matrix(counts[:7], xy, 4)
        case "two people":
            return published(lives(np.random.default_rng(0), 1, 4, 8), xy, 4)
        case "two cells":
            return Release.from_matrix(np.full((8, 1), 6), xy[:1], 4, unit="m")
        case "coordinates":
            return dataclasses.replace(fine, cells=fine.cells.with_columns(x=pl.lit(float("nan"))))


REASONS = {
    "every slot": "1 of 8 slots are missing, the first is slot 5",
    "equal totals": r"totals differ between slots: 1 of 8 slots do not have 6 people \(slot 3 has 7\)",
    "population": "no population fits its counts: slot 0 holds at least 6 people, 1 more than the 5 whom the table is",
    "exact": r"its counts are not exact \(round:2\); use an attack that copes with that",
    "night start": "the first slot starts at 06:00; it must start between 00:00 and 06:00",
    "two days": "linking days needs at least two of them, and there are 1.75",
    "two people": "there are 1 people; at least two are needed",
    "two cells": "there are 1 cells; at least two are needed",
    "coordinates": "4 of 4 cells have no coordinates",
}


@pytest.mark.parametrize("requirement", sorted(REQUIREMENTS))
def test_a_broken_release_lacks_what_it_should_and_nothing_else(requirement):
    assert len(broken(requirement).unmet(requirement)) == 1
    assert broken(requirement).unmet(*set(REQUIREMENTS) - {requirement}) == []


@every_attack
@pytest.mark.parametrize("requirement", sorted(REQUIREMENTS))
def test_a_release_that_lacks_what_is_required_is_refused_and_any_other_attacked(name, requirement):
    release = broken(requirement)
    attack = attacks.load(name)
    if requirement in attack.requires:
        with pytest.raises(ReleaseError, match=f"^release .* cannot be attacked this way: {REASONS[requirement]}"):
            recover(name, release)
    else:
        assert allowed(release, recover(name, release))


# Counts as they are published: from a lowest to a highest number, totals that change, people outside


def allowed(release, tracks):
    """Whether the tracks are as many as the table is about, and in every cell as many as it allows."""
    known = release.known()
    here = counted(tracks + 1, len(release.cells) + 1)[:, 1:]
    return len(tracks) == release.people and bool(((known.low <= here) & (here <= known.high)).all())


@st.composite
def hidden(draw):
    """Small counts left out, and perhaps the total with them."""
    whole, least = draw(releases()), draw(st.integers(2, 5))
    counts = whole.counts.filter(pl.col("people") >= least)
    if counts.is_empty():
        counts = whole.counts
    total = draw(st.sampled_from([None, (whole.people, whole.people), (whole.people, whole.people + 3)]))
    return dataclasses.replace(whole, counts=counts, min_count=least, total=total)


@st.composite
def changing(draw):
    """People who come and go: exact counts, another total in every slot."""
    whole = draw(releases())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    fewer = np.maximum(whole.matrix() - rng.integers(0, 2, whole.matrix().shape), 0)
    fewer[fewer.sum(axis=1) == 0, 0] = 1
    fewer[0] += fewer[0].sum() < 2
    return Release.from_matrix(fewer, whole.xy(), whole.slots_per_day, start=whole.start, unit="m")


def copes(name):
    return not {"exact", "equal totals"} & set(attacks.load(name).requires)


every_attack_that_copes = pytest.mark.parametrize("name", [name for name in attacks.names() if copes(name)])


@every_attack_that_copes
@some
@given(release=st.one_of(hidden(), changing()), seed=st.integers(0, 2**32 - 1))
def test_every_cell_holds_as_many_tracks_as_the_table_allows_and_nobody_is_invented(name, release, seed):
    if release.unmet(*attacks.load(name).requires):
        return
    tracks = recover(name, release, seed)
    assert allowed(release, tracks)
    assert np.array_equal(tracks, recover(name, release, seed))


@every_attack_that_copes
def test_the_order_of_rows_and_the_way_of_matching_change_nothing_where_counts_are_hidden(name, monkeypatch):
    whole = town(people=80, cells=12, days=2)
    release = dataclasses.replace(whole, counts=whole.counts.filter(pl.col("people") >= 6), min_count=6, total=(80, 80))
    tracks = recover(name, release)
    assert (tracks < 0).any() or name in ("xu2017", "dsilva2024", "stay", "shuffle")
    shuffled = dataclasses.replace(release, counts=release.counts.sample(fraction=1.0, shuffle=True, seed=3))
    assert np.array_equal(tracks, recover(name, shuffled))
    monkeypatch.setattr(within, "WHOLE", 0)
    assert np.array_equal(tracks, recover(name, release))


@every_attack
def test_a_table_whose_total_is_published_is_attacked_as_one_without(name):
    """Exact counts say the total themselves."""
    release = town()
    assert np.array_equal(recover(name, release), recover(name, dataclasses.replace(release, total=(40, 40))))


@every_attack
def test_an_attack_says_what_it_requires_and_what_it_does(name):
    attack = attacks.load(name)
    assert set(attack.requires) <= set(REQUIREMENTS)
    assert dataclasses.is_dataclass(attack)
    assert type(attack).__dataclass_params__.frozen
    assert attacks.describe(name).partition("\n")[0].endswith(".")


# What an attack tells while it works


@every_attack
def test_the_steps_told_are_those_expected_and_their_bounds_lie_below(name):
    shown = []
    log = attacks.StepLog(show=lambda done, total: shown.append((done, total)))
    attacks.load(name).recover(town(), np.random.default_rng(0), log)
    assert log.total in (0, town().slots - 1)
    assert len(log.steps) == len(shown) == log.total
    shares = [done / total for done, total in shown]
    assert shares == sorted(set(shares))
    assert shares[-1:] in ([], [pytest.approx(1.0)])
    assert sorted({step.slot for step in log.steps}) == list(range(1, 1 + log.total))
    for step in log.steps:
        assert step.bound <= step.cost + 1e-9
        assert step.cost - step.bound <= 1e-4 * max(step.cost, 1.0)


# A file is enough


PROPER = '''"""A yardstick of a test."""
from dataclasses import dataclass
from typing import ClassVar
import numpy as np

@dataclass(frozen=True, slots=True)
class Pile:
    """Put people where the first row of cells says."""

    requires: ClassVar[tuple[str, ...]] = ("every slot", "equal totals")
    lose: int = 0

    def recover(self, release, rng, log):
        counts = release.matrix()
        cells = np.arange(counts.shape[1], dtype=np.int32)
        tracks = np.column_stack([np.repeat(cells, slot) for slot in counts])
        return np.minimum(tracks, counts.shape[1] - 1 - LOSE)

ATTACK = Pile
'''


@pytest.fixture
def added(tmp_path, monkeypatch):
    """Puts a file beside the attacks that there are."""

    def add(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.setattr(attacks, "__path__", [*attacks.__path__, str(tmp_path)])
        monkeypatch.delitem(sys.modules, f"trajlab.attacks.{name}", raising=False)
        importlib.invalidate_caches()

    yield add
    for name in [name for name in sys.modules if name.startswith("trajlab.attacks.pile")]:
        del sys.modules[name]


def test_a_new_file_is_an_attack_and_the_laws_catch_it_when_it_cheats(added):
    """The laws run over `attacks.names()`, so a file that appears there is checked by being there."""
    law = test_as_many_tracks_are_in_a_cell_as_the_release_counts.hypothesis.inner_test
    added("pile", PROPER.replace("LOSE", "0"))
    assert "pile" in attacks.names()
    assert attacks.describe("pile") == "Put people where the first row of cells says."
    law("pile", town(), 0)
    added("pile_of_liars", PROPER.replace("LOSE", "1"))
    assert {"pile", "pile_of_liars"} <= set(attacks.names())
    with pytest.raises(AssertionError):
        law("pile_of_liars", town(), 0)


def test_the_laws_run_over_every_file_that_is_not_part_of_an_attack():
    marks = test_same_seed_same_tracks.pytestmark
    assert [mark.args[1] for mark in marks if mark.name == "parametrize"] == [attacks.names()]
    assert {"dsilva2024", "shuffle", "stay", "xu2017"} <= set(attacks.names())


def test_an_unknown_attack_or_setting_lists_those_that_exist():
    with pytest.raises(UnknownNameError, match=f"no attack named 'guess'; there are: {', '.join(attacks.names())}"):
        attacks.load("guess")
    with pytest.raises(UnknownNameError, match="no attack named '_steps'"):
        attacks.load("_steps")
    with pytest.raises(AttackError, match="^attack shuffle has no setting 'luck'; it has none$"):
        attacks.load("shuffle", luck=1)
    with pytest.raises(AttackError, match="attack xu2017 has no setting 'luck'; it has direct_link_below, night_hours"):
        attacks.load("xu2017", luck=1)
