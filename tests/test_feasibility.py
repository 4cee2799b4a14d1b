"""The feasibility statistics equal slow, obvious versions of themselves, on towns of several kinds."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest
from conftest import TINY_BOX, tiny_lab
from polars.testing import assert_frame_equal

import trajlab as tl
from trajlab.errors import UnknownNameError
from trajlab.metrics import feasibility
from trajlab.progress import Progress
from trajlab.report import render, words

SEED = 3


def build(lab: tl.Lab, release: tl.Release, seed: int = SEED) -> None:
    feasibility.build(lab._store, release.id, seed=seed, progress=Progress())


def thinned(people: int, share: float) -> pl.DataFrame:
    """A simulated city of which few records are left, and hardly any of the first people."""
    frame = tl.simulate(people=people, days=3, seed=2)
    chance = np.random.default_rng(0).random(len(frame))
    uids = frame["uid"].unique().sort()
    silent = frame["uid"].is_in(uids[: people // 4].implode()).to_numpy()
    return frame.filter(pl.Series(chance < np.where(silent, 0.01, share)))


@dataclass(frozen=True)
class Town:
    """A lab with its statistics built, and the truth in plain Python."""

    lab: tl.Lab
    release: tl.Release

    @property
    def truth(self) -> dict[int, dict[int, int]]:
        """Person -> slot -> cell."""
        found: dict[int, dict[int, int]] = defaultdict(dict)
        for person, slot, cell in self.lab.sql(
            "select person, slot, cell from slots.position where release_id = $r order by person, slot",
            r=self.release.id,
        ).iter_rows():
            found[person][slot] = cell
        return dict(found)

    @property
    def uid(self) -> dict[int, str]:
        return dict(self.lab.table("records.person").iter_rows())

    def day(self, slot: int) -> int:
        return slot // self.release.slots_per_day

    def is_night(self, slot: int) -> bool:
        return slot % self.release.slots_per_day * 24 < 6 * self.release.slots_per_day

    def table(self, name: str) -> pl.DataFrame:
        return self.lab.table(name).filter(pl.col("release_id") == self.release.id)


def complete() -> Town:
    lab = tl.open(":memory:")
    lab.ingest(tl.simulate(people=30, days=3, seed=1), tz="Europe/Lisbon")
    lab.release("square:4000", "2h", days=2)  # another release, whose rows must not count
    return Town(lab, lab.release("square:1000", "1h"))


def sparse() -> Town:
    """Slots without records are left out, and some people have fewer than five points."""
    lab = tl.open(":memory:")
    lab.ingest(thinned(40, 0.4), tz="Europe/Lisbon")
    return Town(lab, lab.release("square:3000", "1h", fill="none"))


def tiny() -> Town:
    lab = tiny_lab()
    return Town(lab, lab.release(index="square:1000", slot="3h", fill="static", box=TINY_BOX, outside="clamp"))


@pytest.fixture(scope="module", params=[complete, sparse, tiny], ids=lambda made: made.__name__)
def town(request: pytest.FixtureRequest) -> Town:
    made: Town = request.param()
    build(made.lab, made.release)
    return made


@pytest.fixture(scope="module")
def six() -> Town:
    made = tiny()
    build(made.lab, made.release)
    return made


def lot(*parts: object) -> str:
    return hashlib.md5(":".join(map(str, parts)).encode()).hexdigest()


def interval(p: float, n: int) -> tuple[float, float]:
    """Wilson's: the x with |p - x| = 1.96 standard errors of x."""
    z2 = 1.96**2 / n
    low, high = sorted(np.roots([1 + z2, -2 * p - z2, p * p]).real)
    return float(low), float(high)


def check_estimates(table: pl.DataFrame, key: list[str], expected: dict[tuple[object, ...], float]) -> None:
    found = {tuple(row[k] for k in key): row for row in table.iter_rows(named=True)}
    assert found.keys() == expected.keys()
    for k, value in expected.items():
        row = found[k]
        assert row["estimate"] == pytest.approx(value, abs=1e-8), k
        assert (row["low"], row["high"]) == pytest.approx(interval(value, row["people"]), abs=1e-6), k
        assert 0 <= row["low"] <= row["estimate"] <= row["high"] <= 1


def shares_of_the_top(cells: list[int]) -> list[float]:
    most = sorted(Counter(cells).values(), reverse=True)
    return [sum(most[:k]) / len(cells) for k in range(1, 6)]


def mean_over_people(shares: dict[int, dict[object, float]], keys: list[object]) -> dict[tuple[object, ...], float]:
    return {(k,): sum(share.get(k, 0) for share in shares.values()) / len(shares) for k in keys}


def test_the_share_of_the_top_places_equals_the_obvious_version(town: Town) -> None:
    seen: dict[int, list[int]] = defaultdict(list)
    for person, cell in town.lab.sql(
        "select person, cell from slots.position where release_id = $r and observed", r=town.release.id
    ).iter_rows():
        seen[person].append(cell)
    shares = {person: dict(enumerate(shares_of_the_top(cells), 1)) for person, cells in seen.items()}
    table = town.table("metrics.place_share")
    check_estimates(table, ["places"], mean_over_people(shares, [1, 2, 3, 4, 5]))
    for row in table.iter_rows(named=True):
        ordered = sorted(share[row["places"]] for share in shares.values())
        assert row["people"] == len(ordered)
        for percent in (5, 25, 50, 75, 95):
            assert row[f"p{percent:02}"] == ordered[math.ceil(percent / 100 * len(ordered)) - 1]


def test_the_share_of_the_night_places_equals_the_obvious_version(town: Town) -> None:
    shares = {}
    for person, track in town.truth.items():
        if cells := [cell for slot, cell in track.items() if town.is_night(slot)]:
            shares[person] = dict(enumerate(shares_of_the_top(cells), 1))
    check_estimates(town.table("metrics.night_share"), ["places"], mean_over_people(shares, [1, 2, 3, 4, 5]))


def test_the_places_of_a_night_equal_the_obvious_version(town: Town) -> None:
    shares: dict[int, dict[object, float]] = {}
    nights: Counter[int] = Counter()
    for person, track in town.truth.items():
        by_night: dict[int, set[int]] = defaultdict(set)
        for slot, cell in track.items():
            if town.is_night(slot):
                by_night[town.day(slot)].add(cell)
        if by_night:
            tally = Counter(len(cells) for cells in by_night.values())
            shares[person] = {places: n / len(by_night) for places, n in tally.items()}
            nights += tally
    table = town.table("metrics.night_places")
    check_estimates(table, ["places"], mean_over_people(shares, sorted(nights)))
    assert dict(table.select("places", "nights").iter_rows()) == nights


KINDS = {"top": "top:{}:unordered", "random": "points:{}", "consecutive": "cont:{}"}


def known_points(town: Town, knowledge: str, size: int) -> dict[int, list[tuple[int, int]]]:
    """What the question knew of each person, first to last."""
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    rows = town.lab.sql(
        "select trace, slot, cell from metrics.known_point join study.risk using (risk_id) "
        "where release_id = $r and knowledge = $k order by trace, rank",
        r=town.release.id,
        k=KINDS[knowledge].format(size),
    )
    for person, slot, cell in rows.iter_rows():
        found[person].append((slot, cell))
    return found


def test_people_singled_out_equal_the_obvious_version(town: Town) -> None:
    truth = town.truth
    alone: Counter[tuple[object, ...]] = Counter()
    longest = max(map(len, truth.values()))
    for knowledge, size in itertools.product(("random", "consecutive"), range(1, min(5, longest) + 1)):
        for person, points in known_points(town, knowledge, size).items():
            assert len(set(points)) == min(size, len(truth[person]))
            others = [
                other
                for other, track in truth.items()
                if other != person and all(track.get(slot) == cell for slot, cell in points)
            ]
            alone[knowledge, size] += not others
    for size in range(1, min(5, max(len(set(track.values())) for track in truth.values())) + 1):
        sets = {}
        for person, track in truth.items():
            tally = Counter(track.values())
            first = {cell: min(slot for slot in track if track[slot] == cell) for cell in tally}
            sets[person] = frozenset(sorted(tally, key=lambda cell: (-tally[cell], first[cell], cell))[:size])
        alone["top", size] = sum(n == 1 for n in Counter(sets.values()).values())
    table = town.table("metrics.singled_out")
    check_estimates(table, ["knowledge", "points"], {key: n / len(truth) for key, n in alone.items()})
    assert {
        (k, n): unique for k, n, unique in table.select("knowledge", "points", "unique_people").iter_rows()
    } == alone


def test_one_question_has_one_answer() -> None:
    """Asked together, visits read once, and asked one by one, in a lab of its own."""
    lab = tl.open(":memory:")
    lab.ingest(tl.simulate(people=40, days=2, seed=5), tz="UTC")
    release = lab.release("square:1000", "1h", days=2)
    build(lab, release)
    together = answers(lab)
    lab._store.execute("delete from study.risk")
    lab._store.execute("delete from metrics.anonymity")
    lab._store.execute("delete from metrics.known_point")
    singled_out = {}
    for (name, text), size in itertools.product(KINDS.items(), range(1, 6)):
        found = lab.risk(release, text.format(size), seed=SEED)
        singled_out[name, size] = (found.people, found.unique_share, found.low, found.high)
    for table, whole in zip(answers(lab), together, strict=True):
        assert_frame_equal(table, whole, check_exact=True)
    shown = lab.table("metrics.singled_out").select("knowledge", "points", "people", "estimate", "low", "high")
    assert {(name, size): tuple(score) for name, size, *score in shown.iter_rows()} == singled_out


def answers(lab: tl.Lab) -> list[pl.DataFrame]:
    return [lab.table(f"metrics.{name}") for name in ("anonymity", "known_point")]


def test_errors_of_prediction_equal_the_obvious_version(town: Town) -> None:
    xy = {
        cell: (x, y)
        for cell, x, y in town.lab.sql(
            "select cell, x, y from grid.cell join counts.release using (index_id) where release_id = $r",
            r=town.release.id,
        ).iter_rows()
    }
    errors: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for person, track in town.truth.items():
        for slot in track:
            if slot + 1 not in track or town.day(slot + 1) != town.day(slot):
                continue
            (x, y), goal = xy[track[slot]], xy[track[slot + 1]]
            if town.is_night(slot):
                errors["night", "stay"][person].append(math.dist((x, y), goal))
            elif slot - 1 in track:
                before = xy[track[slot - 1]]
                errors["day", "stay"][person].append(math.dist((x, y), goal))
                errors["day", "velocity"][person].append(math.dist((2 * x - before[0], 2 * y - before[1]), goal))
    expected = {
        (part, model, metres): sum(sum(e <= metres + 0.001 for e in mine) / len(mine) for mine in people.values())
        / len(people)
        for (part, model), people in errors.items()
        for metres in range(0, 5001, 250)
    }
    table = town.table("metrics.prediction_error")
    check_estimates(table, ["time_of_day", "model", "metres"], expected)
    for part, model, n in table.select("time_of_day", "model", "transitions").unique().iter_rows():
        assert n == sum(map(len, errors[part, model].values()))


def entropy(cells: list[int]) -> float:
    return -sum(n / len(cells) * math.log2(n / len(cells)) for n in Counter(cells).values())


def test_the_gain_between_days_equals_the_obvious_version(town: Town) -> None:
    days: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for person, track in town.truth.items():
        for slot, cell in track.items():
            days[person][town.day(slot)].append(cell)
    order = sorted(days, key=lambda person: lot(SEED, town.uid[person]))
    following = dict(itertools.pairwise([*order, order[0]]))
    gains: dict[str, dict[int, list[float]]] = {"one person": {}, "two people": {}}
    for person in days:
        for kind, other in (("one person", person), ("two people", following[person])):
            found = [
                entropy(u + v) - (entropy(u) + entropy(v)) / 2
                for day, u in days[person].items()
                if (v := days[other].get(day + 1))
            ]
            if found:
                gains[kind][person] = found
    bins = {
        kind: {person: [min(max(math.floor(g * 20 + 1e-7), 0), 19) for g in mine] for person, mine in people.items()}
        for kind, people in gains.items()
    }
    expected = {
        (kind, b): sum(mine.count(b) / len(mine) for mine in people.values()) / len(people)
        for kind, people in bins.items()
        for b in range(20)
    }
    table = town.table("metrics.day_gain")
    check_estimates(table, ["days_of", "bin"], expected)
    for row in table.iter_rows(named=True):
        mine = gains[row["days_of"]]
        assert row["mean_gain"] == pytest.approx(np.mean([np.mean(g) for g in mine.values()]), abs=1e-8)
        assert row["pairs"] == sum(found.count(row["bin"]) for found in bins[row["days_of"]].values())
        assert (row["gain_from"], row["gain_to"]) == (row["bin"] / 20, (row["bin"] + 1) / 20)


def test_the_sparse_town_has_people_with_fewer_than_five_points_and_days_of_unequal_length() -> None:
    """Otherwise the oracles above would not meet these cases."""
    town = sparse()
    sizes = [len(track) for track in town.truth.values()]
    assert min(sizes) < 5 < max(sizes)
    assert len({(p, town.day(s)) for p, t in town.truth.items() for s in t}) < 3 * len(sizes)


def one(town: Town, table: str, **key: object) -> dict[str, object]:
    (row,) = town.table(table).filter(**key).iter_rows(named=True)  # type: ignore[arg-type]
    return row


def test_the_six_people_spend_their_time_as_their_story_says(six: Town) -> None:
    # Ana 10 of 16 slots at home, Ben 9, Cleo 7 of 11 with records, Dora 10, Emil 14 at the market, Fay 1 of 3.
    by_hand = (10 / 16 + 9 / 16 + 7 / 11 + 10 / 16 + 14 / 16 + 1 / 3) / 6
    assert one(six, "metrics.place_share", places=1)["estimate"] == pytest.approx(by_hand, abs=1e-9)
    # Cleo's nights are filled with the school, then with Southgate; everybody else has one night place.
    assert one(six, "metrics.night_share", places=1)["estimate"] == pytest.approx(5.5 / 6, abs=1e-9)
    assert six.table("metrics.night_places").select("places", "people", "nights").rows() == [(1, 6, 12)]
    # Dora goes from the hospital to Southgate, four kilometres, when the second night slot ends.
    assert one(six, "metrics.prediction_error", time_of_day="night", metres=3750)["estimate"] == pytest.approx(5.5 / 6)
    assert one(six, "metrics.prediction_error", time_of_day="night", metres=4000)["estimate"] == 1


def test_the_six_people_are_told_apart_as_their_story_says(six: Town) -> None:
    # One place: only Emil's market and Fay's school are nobody else's first. Two: Ana and Ben share
    # home and mill, Cleo and Fay school and Southgate. Three: everybody differs, Ana by having only two.
    unique = six.table("metrics.singled_out").filter(knowledge="top").sort("points")
    assert unique["unique_people"].to_list() == [2, 2, 6]
    # Ana and Ben part only in slot 14: whoever does not know that slot cannot tell them apart.
    apart = six.lab.sql(
        "select answer.k, list(point.slot) as slots from metrics.anonymity as answer join study.risk using (risk_id) "
        "join metrics.known_point as point using (risk_id, trace) where trace <= 2 and knowledge not like 'top:%' "
        "group by risk_id, trace, answer.k"
    )
    assert len(apart) == 20
    assert all((k == 1) == (14 in slots) for k, slots in apart.iter_rows())


def test_a_day_like_the_one_before_gains_nothing(six: Town) -> None:
    # Ana and Dora repeat their Monday. Ben's market gains 0.07, Cleo's filled night 0.11, Emil's walk 0.14;
    # Fay leaves the school at Tuesday noon, for one slot at the hospital and three at Southgate: 0.31.
    found = six.table("metrics.day_gain").filter((pl.col("days_of") == "one person") & (pl.col("pairs") > 0))
    assert found.select("bin", "pairs").rows() == [(0, 2), (1, 1), (2, 2), (6, 1)]
    gains = [0, 0, 0.067576, 0.105823, 0.137915, 0.311278]
    assert found["mean_gain"][0] == pytest.approx(sum(gains) / 6, abs=1e-5)


def test_more_known_points_never_single_out_fewer_people(town: Town) -> None:
    for _, table in town.table("metrics.singled_out").filter(pl.col("knowledge") != "top").group_by("knowledge"):
        assert table.sort("points")["unique_people"].is_sorted()


def test_nothing_depends_on_the_order_of_rows_or_on_threads(town: Town) -> None:
    params = dict.fromkeys(("release_id", "slots", "slots_per_day", "night_slots", "seed"))
    before = {query.table: town.table(query.table) for query in feasibility.tables(params)}
    assert {"metrics.place_share", "metrics.day_gain", "metrics.night_places"} < set(before)
    con = town.lab._store.con
    try:
        for order, threads in (("slot desc, person desc", 1), ("md5(person || ':' || slot)", 4)):
            con.execute(f"set threads = {threads}")
            con.execute(f"create or replace temp table shuffled as select * from slots.position order by {order}")
            con.execute("delete from slots.position")
            con.execute("insert into slots.position select * from shuffled")
            build(town.lab, town.release)
            for name, table in before.items():
                assert_frame_equal(town.table(name), table, check_exact=True)
    finally:
        con.execute("reset threads")


def test_people_who_are_added_change_nobodys_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feasibility, "MOST", 3)
    frame = tl.simulate(people=12, days=2, seed=5)
    few = frame.filter(pl.col("uid").is_in(frame["uid"].unique().sort()[2:7].implode()))
    draws = []
    for records in (frame, few):
        lab = tl.open(":memory:")
        lab.ingest(records, tz="UTC")
        build(lab, lab.release("square:1000", "1h", box=(-10, 38, -8, 40), days=2))
        draws.append(
            lab.sql(
                "select uid, knowledge, rank, slot from metrics.known_point join study.risk using (risk_id) "
                "join records.person on person = trace where knowledge not like 'top:%'"
            )
        )
    assert_frame_equal(
        draws[0].filter(pl.col("uid").is_in(few["uid"].unique().implode())), draws[1], check_row_order=False
    )


def test_another_seed_draws_other_points_and_compares_other_days() -> None:
    town = complete()
    build(town.lab, town.release, seed=1)
    first, gain = town.table("metrics.singled_out"), town.table("metrics.day_gain")
    build(town.lab, town.release, seed=2)
    both = town.table("metrics.singled_out")
    assert_frame_equal(both.filter(seed=1), first)
    drawn = both.filter(pl.col("knowledge") != "top")
    assert not drawn.filter(seed=2).drop("seed").equals(drawn.filter(seed=1).drop("seed"))
    assert town.table("metrics.day_gain")["seed"].unique().to_list() == [2]
    assert set(town.lab.sql("select count(*) as n from figures.xu2017_3 group by series, x_value")["n"]) == {1}
    build(town.lab, town.release, seed=1)
    assert_frame_equal(town.table("metrics.day_gain"), gain)
    assert_frame_equal(town.table("metrics.singled_out"), both)


def test_a_release_may_be_named_by_its_id() -> None:
    town = complete()
    town.lab.feasibility(town.release.id, seed=SEED)
    by_name = town.table("metrics.singled_out")
    assert len(by_name) == 15
    town.lab.feasibility(town.release, seed=SEED)
    assert_frame_equal(town.table("metrics.singled_out"), by_name)


@pytest.mark.parametrize(("slot", "day", "places"), [("1h", "aaaaab" + "c" * 18, 2), ("4h", "aaaabbbbcccc" + "d" * 12, 2),
                                                     ("30min", "abcdef" + "g" * 18, 6)])  # fmt: skip
def test_the_night_ends_with_the_last_slot_that_begins_before_six(slot: str, day: str, places: int) -> None:
    """One slot fewer would miss the last place of the night, one more would count the first of the morning."""
    town = at_places({"x": day, "y": day}, slot)
    assert town.table("metrics.night_places").select("places", "people").rows() == [(places, 2)]


def test_one_person_on_one_day_has_no_days_to_compare() -> None:
    lab = tl.open(":memory:")
    frame = tl.simulate(people=2, days=1, seed=1)
    lab.ingest(frame.filter(pl.col("uid") == frame["uid"][0]), tz="UTC")
    town = Town(lab, lab.release("square:1000", "1h", days=1))
    build(town.lab, town.release)
    assert len(town.table("metrics.day_gain")) == 0
    row = one(town, "metrics.singled_out", knowledge="random", points=1)
    assert (row["people"], row["unique_people"], row["estimate"]) == (1, 1, 1.0)
    assert row["low"] < 0.25


def at_places(days: dict[str, str], slot: str = "1h") -> Town:
    """People at named places: one letter an hour, from Monday on."""
    rows = [
        (uid, f"2024-03-{4 + hour // 24:02}T{hour % 24:02}:00:00Z", place)
        for uid, places in days.items()
        for hour, place in enumerate(places)
    ]
    lab = tl.open(":memory:")
    lab.ingest(pl.DataFrame(rows, schema=["uid", "ts", "place"], orient="row"), kind="wifi", tz="UTC")
    made = Town(lab, lab.release("places", slot))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feasibility, "MOST", 1)  # nobody asks here who is singled out
        build(made.lab, made.release)
    return made


def test_a_gain_on_the_border_of_two_bins_counts_in_the_upper_one() -> None:
    # Half of the day in common: exactly half a bit. Nothing in common: exactly one. The same: none.
    halves = at_places({"half": "a" * 12 + "b" * 12 + "a" * 12 + "c" * 12}, slot="4h")
    assert one(halves, "metrics.day_gain", days_of="one person", bin=10)["pairs"] == 1
    other = at_places({"move": "abc" * 8 + "def" * 8, "stay": "abc" * 16})
    assert [one(other, "metrics.day_gain", days_of="one person", bin=b)["pairs"] for b in (0, 19)] == [1, 1]


def test_places_without_coordinates_have_no_error_of_prediction() -> None:
    town = at_places(dict.fromkeys("xyz", "ab" * 24))
    assert len(town.table("metrics.prediction_error")) == 0
    assert len(town.table("metrics.day_gain")) == 40
    assert 'id="feasibility"' in render(town.lab)


def test_an_unknown_release_is_named_with_those_that_exist(six: Town) -> None:
    with pytest.raises(UnknownNameError, match=f"no release named 'r0'; there are: {six.release.id}"):
        feasibility.build(six.lab._store, "r0", progress=Progress())


def test_the_report_shows_the_statistics_where_they_were_built() -> None:
    town = complete()
    assert 'id="feasibility"' not in render(town.lab)
    build(town.lab, town.release)
    page = render(town.lab)
    assert page.count('<section id="feasibility">') == 1
    top = one(town, "metrics.singled_out", knowledge="random", points=4)["estimate"]
    assert f"{words.share(top)} of the people" in page  # type: ignore[arg-type]


def test_a_failure_in_the_middle_leaves_the_lab_as_it_was(tiny, monkeypatch):
    from trajlab.store import Store

    release = tiny.release(index="square:1000", slot="3h", box=TINY_BOX)
    build = Store.build

    def fail(store, query, **params):
        if query.table == "metrics.night_share":
            raise RuntimeError("the power went")
        build(store, query, **params)

    monkeypatch.setattr(Store, "build", fail)
    with pytest.raises(RuntimeError, match="the power went"):
        tiny.feasibility(release)
    for table in ("metrics.anonymity", "metrics.place_share", "slots.visit", "study.risk"):
        assert tiny.sql(f"select count(*) as rows from {table}").item() == 0, table
