"""Both published attacks against slow, obvious versions of their papers' formulas.

People in one cell are alike, so exact solvers may recover different people. What must agree is
the cost of every matching: each step that the recovered tracks took is priced by the formula and
compared with the Hungarian method on the full matrix, people × people, from the same state.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import jensenshannon

from trajlab import attacks
from trajlab.attacks import Online, StepLog, _small, load
from trajlab.attacks._city import City
from trajlab.attacks._similarity import Alike, savings
from trajlab.errors import AttackError
from trajlab.matching import assignment, sifting
from trajlab.release import Release

DATA = Path(os.environ.get("TRAJLAB_DATA", "no data"))
some = examples(few=8, many=50)


@contextmanager
def small():
    """Whole days in one compiled loop, as few people are."""
    yield


@contextmanager
def whole():
    """Slot after slot, each of them solved whole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_small, "FEW", 0)
        yield


@contextmanager
def sifted():
    """Even a handful of pairs is solved in the way of large problems."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_small, "FEW", 0)
        patch.setattr(sifting, "WHOLE", 6)
        patch.setattr(assignment, "WHOLE", 0)
        patch.setattr(assignment, "RUN", 3)
        yield


every_way = pytest.mark.parametrize("way", [small, whole, sifted])


def published(truth, xy, slots_per_day, start="2024-01-01"):
    counts = np.array([np.bincount(slot, minlength=len(xy)) for slot in np.asarray(truth).T])
    return Release.from_matrix(counts, np.asarray(xy, dtype=float), slots_per_day, start=start, unit="m")


@st.composite
def releases(draw, *, scattered=None):
    """A few people with habits: each has a usual day, and strays from it now and then."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    per_day, days, people = draw(st.sampled_from([3, 4, 6, 8])), draw(st.integers(2, 5)), draw(st.integers(2, 10))
    cells = draw(st.integers(2, 9))
    if draw(st.booleans()) if scattered is None else scattered:
        xy = rng.permutation(20_000)[: 2 * cells].reshape(cells, 2)
    else:
        xy = rng.permutation([(x, y) for x in range(4) for y in range(4)])[:cells] * 500
    usual = np.tile(rng.integers(cells, size=(people, per_day)), days)
    strays = rng.random(usual.shape) < draw(st.sampled_from([0.0, 0.2, 0.8]))
    truth = np.where(strays, rng.integers(cells, size=usual.shape), usual)
    shorter = draw(st.integers(0, per_day - 1)) if days > 2 else 0
    start = draw(st.sampled_from(["2024-01-01", "2024-01-01 03:30"]))
    return published(truth[:, : truth.shape[1] - shorter], xy, per_day, start)


def recover(attack, release, seed=0):
    log = StepLog()
    return attack.recover(release, np.random.default_rng(seed), log), log


def hungarian(cost):
    row, column = linear_sum_assignment(cost)
    return cost[row, column].sum()


# The formulas


def entropy(track):
    shares = np.array(list(Counter(track.tolist()).values())) / len(track)
    return -(shares * np.log2(shares)).sum()


def gain(u, v):
    """xu2017, eq. 4, of the two days put one after the other."""
    return entropy(np.concatenate([u, v])) - (entropy(u) + entropy(v)) / 2


def distances(expected, xy, places):
    """People × people: from the nearest of the points where each is expected to every place counted."""
    return np.array(
        [[min(np.hypot(*(point - xy[place])) for point in points) for place in places] for points in expected]
    )


def bigrams(tracks, cells):
    table = np.zeros((cells, cells), dtype=int)
    for track in tracks:
        for here, there in pairwise(track):
            table[here, there] += 1
    return table


def xu_expects(release, night_hours, xy, tracks, at):
    """Where each track is expected in slot at + 1, from the tracks as recovered."""
    per_day = release.slots_per_day
    minutes = release.start.hour * 60 + release.start.minute + at * 24 * 60 // per_day
    now = xy[tracks[:, at]]
    if at % per_day == 0 or minutes % (24 * 60) < night_hours * 60:
        return [[point] for point in now]
    return [[point] for point in 2 * now - xy[tracks[:, at - 1]]]


def dsilva_expects(release, xy, tracks, at):
    per_day, day = release.slots_per_day, at // release.slots_per_day
    now = xy[tracks[:, at]]
    if at % per_day == 0:
        return [[point] for point in now]
    table = bigrams(tracks[:, : day * per_day], len(xy))
    expected = []
    for here, before in zip(tracks[:, at], tracks[:, at - 1], strict=True):
        usual = np.flatnonzero((table[here] == table[here].max()) & (table[here] > 0))
        expected.append([2 * xy[here] - xy[before], *xy[usual]])
    return expected


def check_steps(release, tracks, log, expects, lookback):
    """Every matching was optimal, given what came before it, and the cost and bound told are true."""
    xy, per_day = release.xy(), release.slots_per_day
    told = {step.slot: step for step in log.steps}
    for at in range(release.slots - 1):
        step = told[at + 1]
        if (at + 1) % per_day:
            cost = distances(expects(xy, tracks, at), xy, tracks[:, at + 1])
        else:
            day = (at + 1) // per_day
            today = tracks[:, day * per_day : (day + 1) * per_day]
            earlier = [tracks[:, (d - 1) * per_day : d * per_day] for d in range(day, max(day - lookback, 0), -1)]
            cost = np.array([[min(gain(b[i], v) for b in earlier) for v in today] for i in range(len(tracks))])
        best = hungarian(cost)
        slack = 1e-6 * max(cost.max(), 1.0) * len(tracks)
        assert np.trace(cost) == pytest.approx(best, rel=1e-6, abs=slack), (at, step.stage)
        assert step.cost == pytest.approx(np.trace(cost), rel=1e-6, abs=slack), (at, step.stage)
        assert step.bound <= best + 1e-9 * max(best, 1.0), (at, step.stage)
        assert step.cost - step.bound <= slack, (at, step.stage)
    stages = {slot: step.stage for slot, step in told.items()}
    assert len(log.steps) == len(told) == release.slots - 1
    assert {slot for slot, stage in stages.items() if stage == "link"} == set(range(per_day, release.slots, per_day))


# Every step is optimal


@every_way
@some
@given(release=releases(), night_hours=st.sampled_from([0, 6, 7.5, 24]), seed=st.integers(0, 9))
def test_every_step_of_xu2017_is_the_best_by_the_papers_formulas(way, release, night_hours, seed):
    with way():
        tracks, log = recover(load("xu2017", night_hours=night_hours), release, seed)

    def expects(*state):
        return xu_expects(release, night_hours, *state)

    check_steps(release, tracks, log, expects, lookback=1)


@every_way
@some
@given(release=releases(), lookback=st.sampled_from([1, 2, 3, 9]), seed=st.integers(0, 9))
def test_every_step_of_dsilva2024_is_the_best_by_the_papers_formulas(way, release, lookback, seed):
    with way():
        tracks, log = recover(load("dsilva2024", lookback=lookback), release, seed)

    def expects(*state):
        return dsilva_expects(release, *state)

    check_steps(release, tracks, log, expects, lookback)


@pytest.mark.parametrize("name", ["xu2017", "dsilva2024"])
@some
@given(release=releases(), seed=st.integers(0, 9))
def test_a_day_in_one_loop_has_the_same_tracks_and_proof_as_slot_after_slot(name, release, seed):
    found = []
    for way in (small, whole):
        with way():
            tracks, log = recover(load(name), release, seed)
        found.append((tracks.tolist(), sorted(log.steps, key=lambda step: step.slot)))
    assert found[0][0] == found[1][0]
    for ours, theirs in zip(found[0][1], found[1][1], strict=True):
        told = ("slot", "stage", "sources", "sinks")
        assert [getattr(ours, each) for each in told] == [getattr(theirs, each) for each in told]
        assert ours.cost == pytest.approx(theirs.cost)
        assert ours.bound == pytest.approx(theirs.bound, abs=0.01)


def test_counts_that_are_not_exact_or_too_many_people_go_slot_after_slot():
    release = week(days=2)
    city = City(release, 6.0, 0)
    assert _small.is_small(city)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_small, "FEW", release.people - 1)
        assert not _small.is_small(city)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_small, "ROOM", release.people * len(release.cells) - 1)
        assert not _small.is_small(city)
    city.exact = False
    assert not _small.is_small(city)


def week(seed=0, people=30, cells=25, days=5, per_day=8, stray=0.3):
    rng = np.random.default_rng(seed)
    usual = np.tile(rng.integers(cells, size=(people, per_day)), days)
    truth = np.where(rng.random(usual.shape) < stray, rng.integers(cells, size=usual.shape), usual)
    return published(truth, rng.integers(0, 10_000, (cells, 2)), per_day)


@pytest.mark.parametrize("lookback", [2, 3])
def test_a_longer_lookback_is_another_attack_and_one_day_looks_at_the_previous_only(lookback):
    release = week()
    shorter, _ = recover(load("dsilva2024", lookback=1), release)
    longer, _ = recover(load("dsilva2024", lookback=lookback), release)
    assert np.array_equal(shorter[:, :16], longer[:, :16])
    assert not np.array_equal(shorter, longer)


def test_the_habit_of_the_days_before_makes_dsilva2024_another_attack_than_xu2017():
    release = week()
    assert not np.array_equal(
        recover(load("dsilva2024"), release)[0], recover(load("xu2017", night_hours=0), release)[0]
    )


# Worked examples


def days_of(tracks, per_day):
    """The tracks of each day as words, one letter per cell, in order."""
    letters = np.array(list("abcdefgh"))[tracks]
    return [
        sorted("".join(track) for track in letters[:, start : start + per_day])
        for start in range(0, tracks.shape[1], per_day)
    ]


@pytest.mark.parametrize("night_hours", [0.0, 24.0])
def test_the_example_of_xu2017(night_hours):
    """Counts (1, 1, 1), (1, 1, 1), (1, 0, 2), with b next to c."""
    counts = [[1, 1, 1], [1, 1, 1], [1, 0, 2]] * 2
    release = Release.from_matrix(counts, [[0, 0], [5000, 0], [5100, 0]], 3)
    tracks, log = recover(load("xu2017", night_hours=night_hours), release)
    assert days_of(tracks, 3) == [["aaa", "bbc", "ccc"]] * 2
    assert sorted(track[:3].tolist() + track[3:].tolist() for track in tracks) == [
        [0, 0, 0] * 2,
        [1, 1, 2] * 2,
        [2, 2, 2] * 2,
    ]
    assert [step.cost for step in sorted(log.steps, key=lambda step: step.slot)] == pytest.approx(
        [0, 100, 0, 0, 100], abs=1e-4
    )


HABIT_XY = [[0, 0], [1000, 0], [900, 300], [100, 300]]
HABIT_DAYS = ["acc", "bbd", "aac", "bbd"]


def test_velocity_alone_crosses_the_ways_that_habit_keeps_apart():
    """On day one a's owner leaves for c, then b's for d; on day two they leave at once.

    d lies near a and c near b, so by distance they would rather go there. But c followed a on
    day one, and d or b followed b: by habit both go where they went before, at no cost.
    """
    truth = np.array([[*map("abcd".index, first + second)] for first, second in [HABIT_DAYS[::2], HABIT_DAYS[1::2]]])
    release = published(truth, HABIT_XY, 3)
    by_velocity, _ = recover(load("xu2017"), release)
    by_habit, log = recover(load("dsilva2024"), release)
    assert days_of(by_velocity, 3) == [["acc", "bbd"], ["aad", "bbc"]]
    assert days_of(by_habit, 3) == [["acc", "bbd"], ["aac", "bbd"]]
    assert np.array_equal(by_habit[np.argsort(by_habit[:, 0])], truth)
    assert {step.slot: step.cost for step in log.steps}[5] == pytest.approx(0.0, abs=1e-4)


def test_a_habit_over_midnight_counts():
    """What followed b was c, once, over midnight; on day three b is left by day, far from where velocity leads."""
    xy = [[0, 0], [1000, 0], [1000, 5000], [9000, 0]]
    truth = np.array([[*map("abcd".index, track)] for track in ("aab" + "ccc" + "abc", "ddd" * 3)])
    tracks, log = recover(load("dsilva2024"), published(truth, xy, 3))
    assert np.array_equal(tracks[np.argsort(tracks[:, 0])], truth)
    assert {step.slot: step.cost for step in log.steps}[8] == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("name", ["stay", "xu2017", "dsilva2024"])
def test_nobody_moves_where_nothing_changes(name):
    truth = np.repeat([[0], [1], [1], [2]], 12, axis=1)
    tracks, log = recover(load(name), published(truth, [[0, 0], [900, 0], [0, 900]], 4))
    assert sorted(tracks.tolist()) == truth.tolist()
    assert all(step.cost == pytest.approx(0.0, abs=1e-6) for step in log.steps)


def test_stay_moves_no_more_than_the_counts_force():
    rng = np.random.default_rng(0)
    release = published(rng.integers(5, size=(30, 20)), rng.integers(0, 9000, (5, 2)), 4)
    tracks, _ = recover(load("stay"), release)
    counts = release.matrix()
    moved = (tracks[:, 1:] != tracks[:, :-1]).sum(axis=0)
    assert np.array_equal(moved, np.maximum(counts[:-1] - counts[1:], 0).sum(axis=1))


def test_shuffle_joins_slots_without_regard_to_place():
    truth = np.repeat([[0], [1]] * 200, 8, axis=1)
    tracks, _ = recover(load("shuffle"), published(truth, [[0, 0], [900, 0]], 4))
    assert (tracks[:, 1:] == tracks[:, :-1]).mean() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("name", ["xu2017", "dsilva2024"])
def test_each_day_starts_from_its_own_first_slot(name):
    """The published code of dsilva2024 starts every day from the counts of the very first slot."""
    truth = np.array([[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 0, 0]])
    tracks, log = recover(load(name), published(truth, [[0, 0], [3000, 0], [9000, 0]], 2))
    assert np.bincount(tracks[:, 2], minlength=3).tolist() == [1, 2, 0]
    assert np.bincount(tracks[:, 4], minlength=3).tolist() == [1, 0, 2]
    assert all(step.cost < 1e-6 for step in log.steps if step.stage == "night")


@pytest.mark.parametrize("name", ["xu2017", "dsilva2024"])
def test_the_seed_says_who_of_those_alike_goes_where(name):
    """All in one cell, then half of them next door: there is one plan, and only chance tells people apart."""
    truth = np.array([[0, 0, 0, 0]] * 10 + [[0, 1, 1, 1]] * 10)
    release = published(truth, [[0, 0], [900, 0]], 2)
    found = [recover(load(name), release, seed)[0][:, :2].tolist() for seed in (0, 0, 1)]
    assert found[0] == found[1] != found[2]


# Online


@examples(few=7, many=30)
@given(release=releases(), seed=st.integers(0, 99))
def test_an_interrupted_run_goes_on_as_if_nothing_had_happened(release, seed):
    attack = load("dsilva2024", lookback=2)
    whole_run, _ = recover(attack, release, seed)
    days = list(attack.days(release, np.random.default_rng(seed), StepLog(), None))
    assert np.array_equal(np.concatenate(days, axis=1), whole_run)
    for done in range(1, len(days) + 1):
        known, log = np.concatenate(days[:done], axis=1), StepLog()
        rest = list(attack.days(release, np.random.default_rng(seed), log, known))
        assert np.array_equal(np.concatenate([known, *rest], axis=1), whole_run)
        assert len(log.steps) == log.total == release.slots - known.shape[1]


def test_the_tracks_so_far_can_be_read_after_each_day_and_need_no_later_counts():
    release = week()
    first_days = Release.from_matrix(release.matrix()[:24], release.xy(), 8)
    attack = load("dsilva2024")
    running = attack.days(release, np.random.default_rng(3), StepLog(), None)
    so_far = np.concatenate([next(running) for _ in range(3)], axis=1)
    assert so_far.shape == (30, 24)
    assert np.array_equal(so_far, recover(attack, first_days, 3)[0])


def test_only_an_attack_that_works_day_by_day_is_online():
    assert [name for name in attacks.names() if isinstance(load(name), Online)] == ["dsilva2024"]


# The short cut of xu2017


def one_by_one(cost, below):
    """Link the nearest pair below the threshold, again and again; then the best for the rest."""
    left, right = list(range(len(cost))), list(range(len(cost)))
    made = 0.0
    for i, j in sorted(np.ndindex(*cost.shape), key=lambda pair: cost[pair]):
        if cost[i, j] < below and i in left and j in right:
            left.remove(i)
            right.remove(j)
            made += cost[i, j]
    return made + hungarian(cost[np.ix_(left, right)])


def in_one_order(cost, expected, places):
    """Whether distances say which pair comes first: no two kinds of pair are equally far, but at zero."""
    far = {
        (*point, place, apart)
        for [point], row in zip(expected, cost, strict=True)
        for place, apart in zip(places, row, strict=True)
        if apart
    }
    apart = np.sort([each[-1] for each in far])
    return (np.diff(apart) > 1e-3).all()


@examples(few=20, many=120)
@given(release=releases(scattered=True), below=st.sampled_from([1.0, 2000.0, 8000.0, 1e9]))
def test_linking_at_once_links_the_nearest_below_the_threshold_and_matches_the_rest(release, below):
    tracks, _ = recover(load("xu2017", direct_link_below=below), release)
    xy = release.xy()
    for at in range(release.slots - 1):
        if (at + 1) % release.slots_per_day:
            expected = xu_expects(release, 6, xy, tracks, at)
            cost = distances(expected, xy, tracks[:, at + 1])
            if in_one_order(cost, expected, tracks[:, at + 1]):
                assert np.trace(cost) == pytest.approx(one_by_one(cost, below), rel=1e-6, abs=1e-3)


def test_linking_at_once_costs_more_and_zero_is_exact():
    release = week()
    exact, zero, short = (
        recover(load("xu2017", **settings), release)
        for settings in ({}, {"direct_link_below": 0}, {"direct_link_below": 5000})
    )
    assert np.array_equal(exact[0], zero[0])
    assert not np.array_equal(exact[0], short[0])
    xy = release.xy()

    def first_step(tracks):
        return np.trace(distances(xu_expects(release, 6, xy, tracks, 0), xy, tracks[:, 1]))

    assert first_step(short[0]) > first_step(exact[0])


# Settings


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("xu2017", {"night_hours": -1}, "^night_hours is a number of hours between 0 and 24, not -1$"),
        ("xu2017", {"night_hours": 25}, "^night_hours is a number of hours between 0 and 24, not 25$"),
        ("xu2017", {"night_hours": float("nan")}, "between 0 and 24, not nan$"),
        ("xu2017", {"night_hours": "six"}, "^night_hours is a number, not 'six'$"),
        ("xu2017", {"direct_link_below": -5}, "^direct_link_below is a distance in metres, 0 or more, not -5$"),
        ("xu2017", {"direct_link_below": float("inf")}, "0 or more, not inf$"),
        ("xu2017", {"direct_link_below": float("nan")}, "0 or more, not nan$"),
        ("xu2017", {"direct_link_below": "near"}, "^direct_link_below is a number, not 'near'$"),
        ("dsilva2024", {"lookback": 0}, "^lookback is a number of days, 1 or more, not 0$"),
        ("dsilva2024", {"lookback": 1.5}, "1 or more, not 1.5$"),
        ("dsilva2024", {"lookback": True}, "1 or more, not True$"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(name, settings, message):
    with pytest.raises(AttackError, match=message):
        load(name, **settings)


def test_the_defaults_are_those_of_the_papers():
    assert (load("xu2017").night_hours, load("xu2017").direct_link_below) == (6, 0)
    assert load("dsilva2024").lookback == 3


# Similarity of days


def gains(alike):
    """G of all pairs, from the parts that it is computed in."""
    return (
        alike.constant
        + alike.row_term[:, None]
        + alike.column_term
        - alike.savings(np.arange(alike.size), None).toarray()
    )


@st.composite
def pairs_of_days(draw, *, equal=False):
    people, cells, slots = draw(st.integers(1, 6)), draw(st.integers(1, 6)), draw(st.integers(1, 50))
    other = slots if equal else draw(st.integers(1, 50))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.integers(cells, size=(people, slots)), rng.integers(cells, size=(people, other)), cells


@examples(few=27, many=160)
@given(days=pairs_of_days())
def test_the_parts_of_the_gain_add_up_to_its_definition(days):
    first, second, cells = days
    expected = [[gain(u, v) for v in second] for u in first]
    assert gains(Alike(first, second, cells)) == pytest.approx(np.array(expected), abs=1e-12)


@examples(few=27, many=160)
@given(days=pairs_of_days(equal=True))
def test_for_days_of_equal_length_the_gain_is_the_jensen_shannon_divergence(days):
    first, second, cells = days
    alike = Alike(first, second, cells)
    shares = [np.array([np.bincount(track, minlength=cells) / len(track) for track in day]) for day in days[:2]]
    squared = np.array([[jensenshannon(p, q, base=2) ** 2 for q in shares[1]] for p in shares[0]])
    assert gains(alike) == pytest.approx(np.nan_to_num(squared), abs=1e-7)
    assert not alike.row_term.any()
    assert not alike.column_term.any()


@pytest.mark.parametrize("slots", [1, 3, 7, 48, 96, 144, 1440])
def test_days_that_share_no_cell_gain_one_bit_and_equal_days_nothing(slots):
    first = np.random.default_rng(0).integers(5, size=(4, slots))
    apart = Alike(first, first + 5, 10)
    assert apart.savings(np.arange(4), None).nnz == 0
    assert apart.constant == pytest.approx(1.0, abs=1e-15 * 16)
    assert np.diag(gains(Alike(first, first, 5))) == pytest.approx(0.0, abs=1e-12)


@some
@given(days=pairs_of_days(), seed=st.integers(0, 99))
def test_of_several_first_days_the_one_that_saves_most_counts(days, seed):
    first, second, cells = days
    rng = np.random.default_rng(seed)
    alike = [Alike(rng.permutation(first), second, cells) for _ in range(3)]
    behind = -rng.random((3, len(first)))
    each = [
        one.savings(np.arange(one.size), None).toarray() + by[:, None] for one, by in zip(alike, behind, strict=True)
    ]
    found = savings(alike, behind, np.arange(len(first)), None).toarray()
    assert np.array_equal(found, np.maximum(np.max(each, axis=0), 0.0))


@some
@given(days=pairs_of_days(), data=st.data())
def test_savings_of_some_rows_and_columns_are_those_of_all(days, data):
    alike = Alike(*days)
    some = st.lists(st.integers(0, alike.size - 1), unique=True).map(lambda chosen: np.array(sorted(chosen), dtype=int))
    rows, columns = data.draw(some), data.draw(some)
    everything = alike.savings(np.arange(alike.size), None)
    assert np.array_equal(alike.savings(rows, None).toarray(), everything.toarray()[rows])
    assert np.array_equal(alike.savings(rows, columns).toarray(), everything.toarray()[rows][:, columns])
    assert everything.data.min(initial=0) >= 0
    assert everything.data.max(initial=0) <= 1 + 1e-12


# Real data


@pytest.mark.needs_data
@pytest.mark.skipif(not DATA.is_dir(), reason="TRAJLAB_DATA names no folder with the Porto tables")
@pytest.mark.parametrize("size", ["3x3", "7x7"])
@pytest.mark.parametrize("name", ["xu2017", "dsilva2024"])
def test_the_published_porto_counts_are_attacked_with_proof(name, size):
    release = Release.from_matrix(DATA / f"porto_{size}_counts.csv", DATA / f"porto_{size}_cells.csv")
    tracks, log = recover(load(name), release)
    counts = [np.bincount(slot, minlength=len(release.cells)) for slot in tracks.T]
    assert np.array_equal(counts, release.matrix())
    assert len(log.steps) == 4320
    assert max((step.cost - step.bound) / step.cost for step in log.steps if step.cost > 0) < 1e-4


def test_an_interruption_does_not_wait_for_the_other_days(monkeypatch):
    """Days run beside each other; when one fails, the others give up at their next step."""
    monkeypatch.setattr("trajlab.attacks.xu2017.MANY", 0)
    release = published(
        np.random.default_rng(1).integers(4, size=(12, 40)), np.eye(4, 2) * 4000 + np.arange(8).reshape(4, 2), 8
    )

    class Impatient(StepLog):
        def add(self, step):
            StepLog.add(self, step)
            if step.slot == 12:
                raise KeyboardInterrupt

    log = Impatient()
    with pytest.raises(KeyboardInterrupt):
        load("xu2017").recover(release, np.random.default_rng(0), log)
    assert len(log.steps) < 39
