"""Ties fall as an adversary would let them: never worse than the plain Hungarian's persistent order."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import trajlab as tl
from bench.ties import accuracy, plain, published
from trajlab.attacks import StepLog, load
from trajlab.attacks._city import City
from trajlab.attacks._linking import keep_apart
from trajlab.release import Release

DATA = Path(os.environ.get("TRAJLAB_DATA", "no data"))
A, B, C, HOME, WORK = range(5)
XY = np.array([(0, 0), (1000, 0), (0, 1000), (9000, 0), (0, 9000)], dtype=float)


def counted(tracks, per_day):
    counts = np.array([np.bincount(slot, minlength=len(XY)) for slot in np.array(tracks).T])
    return Release.from_matrix(counts, XY, per_day, start="2024-01-01", unit="m")


def recovered(release, attack, seed):
    return load(attack).recover(release, np.random.default_rng(seed), StepLog())


@pytest.mark.parametrize("seed", range(8))
def test_whoever_has_been_in_a_cell_longest_stays_when_somebody_must_leave(seed):
    """One lives in A, another comes by from B at night, and one of them goes on to C."""
    day = [[A] * 8, [B, A, C, C, C, C, C, C]]
    tracks = recovered(counted(np.tile(day, 2), 8), "xu2017", seed)
    assert sorted(map(tuple, tracks[:, :8].tolist())) == sorted(map(tuple, day))


@pytest.mark.parametrize("seed", range(5))
def test_whoever_was_in_a_cell_before_comes_back_to_it(seed):
    """Two people meet in A at night; B's goes back to B, C's to C, as near to A as each other."""
    day = [[B, B, A, A, B, B, B, B], [C, C, A, A, C, C, C, C]]
    tracks = recovered(counted(np.tile(day, 2), 8), "xu2017", seed)
    assert sorted(map(tuple, tracks[:, :5].tolist())) == [(B, B, A, A, B), (C, C, A, A, C)]


@pytest.mark.parametrize("seed", range(5))
def test_tracks_that_were_alike_yesterday_go_on_as_they_did_the_days_before(seed):
    """On day one they differ, on day two both stay at home, on day three they differ again."""
    tracks = np.array([[HOME, A, A, HOME, *[HOME] * 4], [HOME, B, B, HOME, *[HOME] * 4]])
    today = np.array([[HOME, B, B, HOME], [HOME, A, A, HOME]])
    city = City(counted(np.concatenate([tracks, today], axis=1), 4), 6.0, seed)
    tracks, today = city.as_sorted(tracks), city.as_sorted(today)
    for column in ([0, 1], [1, 0]):
        kept = keep_apart(city, [tracks[:, 4:]], tracks, today, np.array(column))
        assert kept.tolist() == [1, 0]


def mean_accuracies(attack, counts, xy, per_day, truth, seeds):
    ours = [tl.recover(counts, xy, slots_per_day=per_day, method=attack, seed=seed, unit="m") for seed in seeds]
    theirs = [plain(counts, xy, per_day, attack, seed) for seed in seeds]
    return (float(np.mean([accuracy(tracks, truth, xy) for tracks in runs])) for runs in (ours, theirs))


@pytest.mark.parametrize("attack", ["xu2017", "dsilva2024"])
def test_ties_recover_no_less_of_a_simulated_city_than_a_plain_hungarian(attack):
    lab = tl.open(":memory:")
    lab.ingest(tl.simulate(people=120, days=5, seed=1), tz="Europe/Lisbon")
    ours, theirs = mean_accuracies(attack, *published(lab, index="square:500", slot="30min"), range(3))
    assert ours >= theirs


@pytest.mark.needs_data
@pytest.mark.skipif(not DATA.is_dir(), reason="TRAJLAB_DATA names no folder with StudentLife")
@pytest.mark.parametrize("attack", ["xu2017", "dsilva2024"])
@pytest.mark.parametrize("size", [500, 200])
def test_ties_recover_no_less_of_studentlife_than_a_plain_hungarian(attack, size):
    lab = tl.open(":memory:")
    lab.ingest(DATA / "studentlife.parquet", tz="America/New_York")
    settings = {"index": f"square:{size}", "slot": "30min", "start": "2013-04-01", "days": 7}
    ours, theirs = mean_accuracies(attack, *published(lab, **settings), range(4))
    assert ours >= theirs
