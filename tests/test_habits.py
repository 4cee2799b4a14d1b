"""Habits: the exchange of cells between two tracks against all exchanges there are, and cases solved by eye."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import trajlab as tl
from trajlab.attacks._city import City
from trajlab.attacks._habits_beliefs import harden, is_away, look_up, nearness, nothing, occupied
from trajlab.attacks._habits_exchange import choose, scratch, seats, sweep
from trajlab.attacks._habits_linking import join_days
from trajlab.attacks._habits_lists import Lists, first_lists, moves_of, recount_lists, relist
from trajlab.attacks._habits_messages import backwards, forwards, habits_by_day, recount
from trajlab.attacks._habits_model import familiarity, first_model, fit, odds
from trajlab.attacks._habits_profiles import add, entry, profiles
from trajlab.attacks._habits_seats import POSSIBLE, seat_all
from trajlab.attacks._habits_sparse import Beliefs, believe_sparsely
from trajlab.attacks._habits_votes import agreement, confidence, vote
from trajlab.release import Release

PER_DAY = 8


def counted(tracks, cells):
    return np.stack([np.bincount(slot, minlength=cells) for slot in tracks.T])


def town(seed, people=6, cells=5, days=4):
    """Tracks that stay and go, and the city and the model of them."""
    rng = np.random.default_rng(seed)
    tracks = rng.integers(cells, size=(people, days * PER_DAY)).astype(np.int32)
    for slot in range(1, tracks.shape[1]):
        tracks[:, slot] = np.where(rng.random(people) < 0.5, tracks[:, slot - 1], tracks[:, slot])
    xy = rng.permutation(cells * cells)[:cells, None] // [1, cells] % cells * 500.0
    city = City(Release.from_matrix(counted(tracks, cells), xy, PER_DAY, unit="m"), 0.0, seed)
    return city, tracks, first_model(city, tracks, evidence=0.3, floor=0.05)


def explained(model, known, track, start, end):
    """Log-likelihood of one track from `start` on, slowly: what it is known for is `known` outside the window."""
    slots = len(track)
    outside = np.r_[0:start, end:slots]
    spent = np.bincount(known[outside], minlength=len(model.popular))
    new = outside[(outside == 0) | (known[outside] != known[outside - 1])]
    found = 0.0
    for slot in range(start, min(end + 2, slots)):
        cell, part = track[slot], model.block[slot]
        then = (known[outside][model.block[outside] == part] == cell).mean()
        ever = spent[cell] / len(outside)
        if slot < end:
            found += model.evidence * np.log(model.being @ [then, ever] + model.floor)
        if slot == 0:
            continue
        before = track[slot - 1]
        just = int(slot > 1 and track[slot - 2] != before)
        chance = model.moving[just, part, familiarity(spent[before] / len(outside))]
        ways = [then, ever, (known[new] == cell).mean(), odds(model.spots, model.popular, model.reach, before, cell)]
        likely = model.going[[0, 2, 1, 3]] @ ways
        found += np.log(1 - chance if cell == before else chance * likely)
    return found


def exchanges(one, two, start, end):
    """Every choice of slots in [start, end) that begins and ends only where one of the two moves."""
    for chosen in itertools.product([False, True], repeat=end - start):
        at = np.zeros(len(one), dtype=bool)
        at[start:end] = chosen
        here = np.arange(start + 1, end)
        rest = (one[here] == one[here - 1]) & (two[here] == two[here - 1])
        if not (at[here] != at[here - 1])[rest].any():
            yield at


@pytest.mark.parametrize("seed", range(12))
def test_the_best_exchange_is_the_best_of_all(seed):
    city, tracks, model = town(seed)
    rng = np.random.default_rng(seed)
    room, state = scratch(city.slots, city.places, model.moving.shape[1]), np.array([seed + 1], dtype=np.uint64)
    for start in (0, int(rng.integers(1, city.slots - 8)), city.slots - 7):
        end = start + 7
        one, two = tracks[:2]

        def value(at, one=one, two=two, start=start, end=end):
            pair = np.where(at, two, one), np.where(at, one, two)
            return sum(explained(model, row, track, start, end) for row, track in zip((one, two), pair, strict=True))

        room.chosen[:] = 0
        made = profiles(tracks, model.block, model.moving.shape[1], city.places)
        assert choose(tracks, made, 0, 1, start, end, model, np.inf, room, state)
        found = value(room.chosen[: city.slots].astype(bool))
        best = max(value(at) for at in exchanges(one, two, start, end))
        assert found == pytest.approx(best, abs=1e-9)
        assert found >= value(np.zeros(city.slots, dtype=bool)) - 1e-9  # it never falls


def test_at_temperature_one_an_exchange_is_drawn_as_often_as_it_is_likely():
    city, tracks, model = town(3)
    room, state = scratch(city.slots, city.places, model.moving.shape[1]), np.array([7], dtype=np.uint64)
    start, end, (one, two) = 9, 13, tracks[:2]
    made = profiles(tracks, model.block, model.moving.shape[1], city.places)
    drawn = {}
    for _ in range(4000):
        choose(tracks, made, 0, 1, start, end, model, 1.0, room, state)
        at = room.chosen[start:end].astype(bool)
        drawn[tuple(np.where(at, two[start:end], one[start:end]))] = (
            drawn.get(tuple(np.where(at, two[start:end], one[start:end])), 0) + 1
        )
    weight = {}
    for at in exchanges(one, two, start, end):
        pair = np.where(at, two, one), np.where(at, one, two)
        log = sum(explained(model, row, track, start, end) for row, track in zip((one, two), pair, strict=True))
        key = tuple(pair[0][start:end])
        weight[key] = weight.get(key, 0.0) + np.exp(log)
    for key, expected in weight.items():
        assert drawn.get(key, 0) / 4000 == pytest.approx(expected / sum(weight.values()), abs=0.03)


@pytest.mark.parametrize("inverse", [1.0, 2.0, np.inf])
def test_exchanges_and_joined_days_keep_every_count_and_every_seat(inverse):
    city, tracks, model = town(1, people=30, cells=7)
    counts = counted(tracks, city.places)
    join_days(city, tracks, model, 0.5, np.random.default_rng(0))
    seat, who, first = seats(tracks, city.places)
    assert sweep(tracks, seat, who, first, PER_DAY, model, inverse, 2000, np.array([5], dtype=np.uint64)) > 0
    assert np.array_equal(counted(tracks, city.places), counts)
    slot = np.arange(city.slots)
    assert np.array_equal(who[slot, seat], np.broadcast_to(np.arange(30)[:, None], tracks.shape))
    assert (first[slot, tracks] <= seat).all()
    assert (seat < first[slot, tracks + 1]).all()


def test_profiles_stay_those_of_their_tracks_while_cells_come_and_go():
    rng = np.random.default_rng(0)
    places, block = 500, (np.arange(16) % PER_DAY // 4).astype(np.int32)
    tracks = rng.integers(places, size=(2, 16)).astype(np.int32)
    made = profiles(tracks, block, 2, places)
    for _ in range(200):  # many more cells than there are entries
        start = int(rng.integers(16))
        end = min(start + 3, 16)
        add(made, 0, tracks[0], start, min(end + 1, 16), block, -1)
        tracks[0, start:end] = rng.integers(places)
        add(made, 0, tracks[0], start, min(end + 1, 16), block, 1)
    arrivals = np.r_[True, tracks[0, 1:] != tracks[0, :-1]]
    for cell in range(places):
        there, at = tracks[0] == cell, entry(made, 0, cell)
        expected = [*np.bincount(block[there], minlength=2), there.sum(), (there & arrivals).sum()]
        found = made.known[0, at] if made.cell[0, at] >= 0 else np.zeros(4)
        assert np.array_equal(found, expected), cell
    assert made.arrivals[0] == arrivals.sum()


def test_rounds_of_exchanges_explain_the_tracks_better():
    city, tracks, model = town(2, people=20)
    _, before = fit(model, tracks, PER_DAY)
    sweep(tracks, *seats(tracks, city.places), PER_DAY, model, np.inf, 3000, np.array([5], dtype=np.uint64))
    assert fit(model, tracks, PER_DAY)[1] > before + 0.1


def test_the_vote_takes_what_most_samples_say_as_far_as_counts_allow():
    samples = [np.array([[0, 1], [1, 2], [2, 0]], dtype=np.int32) for _ in range(3)]
    samples[2][:2, 0] = [1, 0]
    answer = vote(samples)
    assert answer.tolist() == [[0, 1], [1, 2], [2, 0]]
    sure = agreement(answer, samples, [], 3)
    assert sure[:, 0] == pytest.approx([2 / 3, 2 / 3, 1])
    assert sure[:, 1] == pytest.approx(1)


def test_tracks_of_another_restart_are_compared_with_those_most_like_them():
    answer = np.array([[0, 0, 1, 1], [2, 2, 2, 0]], dtype=np.int32)
    other = answer[::-1].copy()
    other[0, 3], other[1, 3] = 1, 0
    assert agreement(answer, [answer], [[other]], 3).tolist() == [[1, 1, 1, 0.5], [1, 1, 1, 0.5]]


def test_a_track_on_which_samples_differ_is_trusted_less_everywhere():
    agree = np.array([[1, 1, 1, 1], [1, 1, 0.5, 0.5]], dtype=np.float32)
    assert confidence(agree).tolist() == [[1, 1, 1, 1], [0.5625, 0.5625, 0.28125, 0.28125]]


@pytest.fixture(scope="module")
def city():
    """A lab whose release was attacked by an attack that says how sure it is, and by one that does not."""
    lab = tl.open(":memory:")
    lab.ingest(tl.simulate(people=40, days=3, seed=1), tz="Europe/Lisbon")
    release = lab.release("square:2000", "1h")
    lab.attack(release, "habits", rounds=3, joining=2, samples=3)
    lab.attack(release, "xu2017")
    return lab


def test_confidence_is_stored_of_every_position_of_an_attack_that_has_it(city):
    found = city.sql(
        "select attack, count(track.cell) as tracks, count(sure.confidence) as known, "
        "min(confidence) as low, max(confidence) as high from attacks.track as track join study.run using (run_id) "
        "left join attacks.confidence as sure using (run_id, track, slot) where attack in ('habits', 'xu2017') "
        "group by attack order by attack"
    ).rows()
    (_, tracks, known, low, high), (_, _, none, _, _) = found
    assert tracks == known == 40 * 72
    assert none == 0
    assert 0 <= low < high <= 1


def test_the_reliability_curve_is_that_of_an_obvious_loop(city):
    run = city.sql("select run_id from study.run where attack = 'habits'").item()
    for pairing in ("optimal", "greedy"):
        guesses = city.sql(
            "select confidence, track.cell = position.cell as right from metrics.person_recovery as pair "
            "join attacks.track as track using (run_id, track) "
            "join attacks.confidence using (run_id, track, slot) "
            "join study.run as run using (run_id) "
            "join slots.position as position on position.release_id = run.release_id "
            "and position.person = pair.person and position.slot = track.slot "
            "where run_id = $run and pairing = $pairing",
            run=run, pairing=pairing,
        ).rows()  # fmt: skip
        classes = {}
        for sure, right in guesses:
            surer = sum(other > sure for other, _ in guesses)
            classes.setdefault(10 - 10 * surer // len(guesses), []).append((sure, right))
        expected = {decile: (len(some), *np.mean(some, axis=0)) for decile, some in classes.items()}
        curve = city.sql(
            "select decile, positions, confidence, accuracy from metrics.confidence "
            "where run_id = $run and pairing = $pairing",
            run=run, pairing=pairing,
        )  # fmt: skip
        assert {decile: pytest.approx(rest, abs=1e-8) for decile, *rest in curve.iter_rows()} == {
            decile: list(rest) for decile, rest in expected.items()
        }
        overall = city.sql("select distinct overall_accuracy from report.confidence where pairing = $p", p=pairing)
        assert overall.item() == pytest.approx(np.mean([right for _, right in guesses]))


def test_the_report_says_how_right_the_surest_positions_are(city):
    from trajlab.report import render

    page = render(city)
    assert "How sure the attack is, and how right" in page
    assert "surest position" in page


def test_two_who_leave_the_same_place_go_to_their_own_homes():
    """Homes 0 and 1, work 2 for both; some days one of them stays at home, so that their homes are known."""
    xy = [[0, 0], [1000, 0], [500, 2000]]
    nights, work = 3, 2
    days = [(True, True), (True, False), (True, True), (False, True), (True, True), (True, True)]
    lives = [[home] * nights + [work if goes[home] else home] * 3 + [home] * 2 for goes in days for home in (0, 1)]
    truth = np.array([np.concatenate(lives[home::2]) for home in (0, 1)])
    tracks = tl.recover(counted(truth, 3), xy, slots_per_day=8, method="habits", unit="m")
    assert sorted(tracks.tolist()) == sorted(truth.tolist())


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ({"rounds": 0}, "rounds is a whole number, 1 or more, not 0"),
        ({"restarts": 1.5}, "restarts is a whole number, 1 or more, not 1.5"),
        ({"windows": -1}, "windows is a whole number, 0 or more, not -1"),
        ({"cold": 0}, "cold is a number above 0, not 0"),
        ({"evidence": True}, "evidence is a number, not True"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(setting, reason):
    with pytest.raises(tl.TrajlabError, match=reason):
        tl.recover([[1, 1]] * 4, [[0, 0], [1000, 0]], slots_per_day=2, method="habits", **setting)


def chances(model, tables, track, person, multiplier):
    """Weight of one whole track, slowly: moves, how usual each cell is, and the multipliers of the counts."""
    usual, going, familiar = tables
    found = 1.0
    for slot, cell in enumerate(track):
        day, part = slot // PER_DAY, model.block[slot]
        found *= usual[day, person, part, cell] * multiplier[slot, cell]
        if slot == 0:
            continue
        before = track[slot - 1]
        just = int(slot > 1 and track[slot - 2] != before)
        chance = model.moving[just, part, familiar[day, person, before]]
        by_map = model.going[3] * odds(model.spots, model.popular, model.reach, before, cell)
        found *= 1 - chance if cell == before else chance * (going[day, person, part, cell] + by_map)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_beliefs_are_those_of_all_ways_there_are(seed):
    """Messages with the multipliers that a round ends with, against the sum over every track that could be."""
    city, tracks, model = town(seed, people=4, cells=3, days=1)
    city, tracks, model = shortened(city, tracks, model, 6)
    counts, people = occupied(tracks), len(tracks)
    known = nothing(1, people, model.moving.shape[1], city.places)
    recount(tracks, PER_DAY, model.block, known)
    known.spent[:] *= 2  # so that other days are left when this one is taken out
    tables = (*np.empty((2, 1, people, model.moving.shape[1], city.places), np.float32),
              np.empty((1, people, city.places), np.int8))  # fmt: skip
    habits_by_day(PER_DAY, known, model, 0.3, is_away(model.spots, tracks), tables)
    tables[0][:] *= np.random.default_rng(seed).uniform(0.5, 1, tables[0].shape).astype(np.float32)
    tables[1][:] = np.random.default_rng(seed).uniform(0, 0.5, tables[1].shape)
    entries = people * len(counts.cell)
    later, likely = np.ones((2, entries), np.float32), np.empty(entries, np.float32)
    multiplier, near = np.ones(len(counts.cell), np.float32), nearness(model.spots)
    for _ in range(200):
        backwards(counts, multiplier, PER_DAY, model, tables, near, later)
        forwards(counts, multiplier, PER_DAY, model, tables, near, later, known, likely)
    slots = tracks.shape[1]
    dense = np.zeros((slots, city.places))
    dense[np.repeat(np.arange(slots), np.diff(counts.first)), counts.cell] = multiplier
    ways = list(itertools.product(*(counts.cell[a:b] for a, b in itertools.pairwise(counts.first))))
    for person in range(people):
        weight = np.array([chances(model, tables, way, person, dense) for way in ways])
        for slot in range(slots):
            start, end = counts.first[slot : slot + 2]
            found = likely[people * start : people * end].reshape(people, -1)[person]
            there = [weight[[way[slot] == cell for way in ways]].sum() for cell in counts.cell[start:end]]
            assert found == pytest.approx(np.array(there) / weight.sum(), abs=2e-3)
    for slot in range(slots):  # and they sum to the counts
        start, end = counts.first[slot : slot + 2]
        sums = likely[people * start : people * end].reshape(people, -1).sum(axis=0)
        assert sums == pytest.approx(counts.people[start:end], abs=2e-3)


def shortened(city, tracks, model, slots):
    """The first slots alone."""
    tracks = np.ascontiguousarray(tracks[:, :slots])
    block = model.block[:slots]
    return city, tracks, model._replace(block=block, length=np.bincount(block, minlength=len(model.length)) * 2.0)


@pytest.mark.parametrize("seed", range(5))
def test_tracks_made_of_beliefs_are_the_best_that_the_counts_allow(seed):
    _, tracks, _ = town(seed, people=5, cells=4, days=1)
    counts = occupied(tracks)
    likely = np.random.default_rng(seed).random(5 * len(counts.cell)).astype(np.float32)
    found = harden(counts, likely, 5)
    assert np.array_equal(counted(found, 4), counted(tracks, 4))
    for slot in range(tracks.shape[1]):
        start, end = counts.first[slot : slot + 2]
        belief = likely[5 * start : 5 * end].reshape(5, -1)
        column = {cell: number for number, cell in enumerate(counts.cell[start:end])}

        def value(cells, belief=belief, column=column):
            return sum(belief[person, column[cell]] for person, cell in enumerate(cells))

        best = max(value(cells) for cells in itertools.permutations(tracks[:, slot]))
        assert value(found[:, slot]) == pytest.approx(best)
        assert look_up(counts, likely, found)[:, slot].sum() == pytest.approx(best)


def test_far_places_are_more_usual_for_those_who_travel():
    spots = np.array([[0.0, 0], [1, 0], [100, 0], [101, 0]])
    tracks = np.zeros((40, 4 * PER_DAY), dtype=np.int32)
    tracks[:, ::2] = 1
    tracks[0, :PER_DAY] = 2
    away = is_away(spots, tracks)
    assert away.tolist() == [[False, False, True, True]] * 2 + [[True, True, False, False]] * 2
    counts = counted(tracks, 4)
    city = City(Release.from_matrix(counts, spots * 500, PER_DAY, unit="m"), 0.0, 0)
    model = first_model(city, tracks, evidence=0.3, floor=0.02)
    known = nothing(4, 40, model.moving.shape[1], 4)
    recount(tracks, PER_DAY, model.block, known)
    tables = (*np.empty((2, 4, 40, model.moving.shape[1], 4), np.float32), np.empty((4, 40, 4), np.int8))
    habits_by_day(PER_DAY, known, model, 0.3, away, tables)
    usual = tables[0]
    assert usual[3, 0, 0, 3] > 1.5 * usual[3, 1, 0, 3]  # never there, and on another day far away
    assert usual[0, 0, 0, 3] == usual[0, 1, 0, 3]  # the day of the journey is no evidence for itself


def test_those_without_habits_keep_tracks_that_go_from_cell_to_cell():
    """Nobody has habits: beliefs are the same for all, and tracks made of them would leap about."""
    rng = np.random.default_rng(0)
    steps = rng.choice([-1, 0, 1], p=[0.2, 0.6, 0.2], size=(30, 3 * PER_DAY))
    truth = (rng.integers(60, size=(30, 1)) + steps.cumsum(axis=1)) % 60
    angle = 2 * np.pi * np.arange(60) / 60
    xy = 10_000 * np.column_stack([np.cos(angle), np.sin(angle)])
    counts = counted(truth, 60)
    moved = {}
    for method in ("dsilva2024", "habits"):
        tracks = tl.recover(counts, xy, slots_per_day=PER_DAY, method=method, unit="m")
        moved[method] = np.linalg.norm(np.diff(xy[tracks], axis=1), axis=-1).mean()
    assert moved["habits"] < 1.5 * moved["dsilva2024"]


def whole_lists(people, places, days=1):
    """Lists in which every track has every cell."""
    cell = np.broadcast_to(np.arange(places, dtype=np.int32), (days, people, places)).copy()
    return Lists(cell, np.full((days, people), places, dtype=np.int32))


@pytest.mark.parametrize("seed", range(4))
def test_beliefs_on_lists_of_all_cells_are_those_without_lists(seed):
    city, tracks, model = town(seed, people=7, cells=6, days=3)
    counts, people, places = occupied(tracks), len(tracks), city.places
    blocks, days = model.moving.shape[1], city.days
    known = nothing(days, people, blocks, places)
    recount(tracks, PER_DAY, model.block, known)
    size = (days, people, blocks, places)
    tables = (*np.empty((2, *size), np.float32), np.empty((days, people, places), np.int8))
    habits_by_day(PER_DAY, known, model, 0.3, is_away(model.spots, tracks), tables)
    familiar = tables[2].copy()
    tables[2][:] = familiar[0]  # over midnight lists go by how familiar a cell was before, tables by how it is then
    entries = people * len(counts.cell)
    later, likely = np.ones((2, entries), np.float32), np.empty(entries, np.float32)
    multiplier = np.ones(len(counts.cell), np.float32)
    for _ in range(3):
        known = nothing(days, people, blocks, places)
        backwards(counts, multiplier, PER_DAY, model, tables, nearness(model.spots), later)
        forwards(counts, multiplier, PER_DAY, model, tables, nearness(model.spots), later, known, likely)
    with ThreadPoolExecutor(1) as pool:
        beliefs = Beliefs(city, tracks, model, pool)
        beliefs.lists = whole_lists(people, places, days)
        beliefs.known = np.zeros((days, people, blocks + 2, places), np.float32)
        beliefs.later = np.empty((2, city.slots, people, places), np.float32)
        beliefs.tables = (
            np.zeros(size, np.float32),
            np.zeros(size, np.float32),
            np.zeros((days, people, places), np.int8),
        )
        recount_lists(0, people, tracks, PER_DAY, model.block, beliefs.lists, beliefs.known)
        beliefs.habits(0.3)
        for one, two in zip(beliefs.tables, (*tables[:2], familiar), strict=True):
            assert one == pytest.approx(two, abs=1e-5)
        beliefs.tables[2][:] = familiar[0]
        for _ in range(3):
            beliefs.messages()
    assert beliefs.known[:, :, blocks] == pytest.approx(known.spent, abs=0.02)
    assert beliefs.known[:, :, blocks + 1] == pytest.approx(known.arrived, abs=0.02)


@pytest.mark.parametrize("seed", range(6))
def test_seats_are_the_best_that_the_counts_and_short_lists_allow(seed):
    rng = np.random.default_rng(seed)
    people, places, room = 40, 9, 4
    path = rng.integers(places, size=people).astype(np.int32)
    need = np.bincount(path, minlength=places).astype(np.float32)
    cells = np.stack(
        [np.sort(np.r_[cell, rng.permutation(np.delete(np.arange(places), cell))[: room - 1]]) for cell in path]
    )
    cells, widths = cells.astype(np.int32), np.full(people, room, dtype=np.int32)
    belief = rng.dirichlet([0.3] * room, size=people).astype(np.float32)
    found, sure = np.empty(people, dtype=np.int32), np.empty(people, dtype=np.float32)
    seat_all(belief, cells, widths, path, need, found, sure)
    assert np.array_equal(np.bincount(found, minlength=places), need)
    dense = np.full((people, places), -1e6)
    possible = (belief >= POSSIBLE) | (cells == path[:, None])
    dense[np.nonzero(possible)[0], cells[possible]] = belief[possible]
    seat = np.repeat(np.arange(places), need.astype(int))
    value = dense[:, seat]
    best = value[linear_sum_assignment(-value)].sum()
    assert sure.sum() == pytest.approx(best, abs=1e-4)
    assert dense[np.arange(people), found] == pytest.approx(sure)


def test_lists_keep_the_cells_of_the_first_tracks_and_what_is_known_of_cells_that_stay():
    city, tracks, model = town(5, people=12, cells=40, days=3)
    lists = first_lists(tracks, PER_DAY, 10)
    known = np.zeros((3, 12, model.moving.shape[1] + 2, 10), np.float32)
    recount_lists(0, 12, tracks, PER_DAY, model.block, lists, known)
    moves = moves_of(tracks, PER_DAY, city.places)
    for seed in range(3):
        relist(0, 12, np.uint64(seed), tracks, tracks, moves, model.spots, PER_DAY, lists, known)
        assert lists.width.max() == 10
        for person, day in itertools.product(range(12), range(3)):
            row = lists.cell[day, person, : lists.width[day, person]]
            own = tracks[person, day * PER_DAY : (day + 1) * PER_DAY]
            assert (np.diff(row) > 0).all()
            assert np.isin(own, row).all()
            assert np.array_equal(known[day, person, -2, : len(row)], [(own == cell).sum() for cell in row])
            others = np.bincount(tracks[person], minlength=city.places)[row].sum()
            assert others >= PER_DAY


def test_beliefs_on_lists_keep_every_count_and_are_the_same_with_any_number_of_threads(monkeypatch):
    monkeypatch.setattr("trajlab.attacks._habits_sparse.SMALLEST", 5)
    city, tracks, model = town(1, people=30, cells=12, days=3)
    found = []
    for threads in (1, 3):
        monkeypatch.setattr("trajlab.attacks._habits_sparse.os.cpu_count", lambda threads=threads: threads)
        found.append(believe_sparsely(city, tracks, model, 4, 3))
    assert np.array_equal(counted(found[0][0], city.places), counted(tracks, city.places))
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1], found[1][1])
    assert not np.array_equal(found[0][0], tracks)
    assert 0 <= found[0][1].min() <= found[0][1].max() <= 1


def test_two_who_leave_the_same_place_go_to_their_own_homes_by_short_lists_too(monkeypatch):
    monkeypatch.setattr("trajlab.attacks._habits_beliefs.ROOM", 0)
    test_two_who_leave_the_same_place_go_to_their_own_homes()
