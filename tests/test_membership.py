"""Was this person in the table: the test is the likelihood ratio, the game is fair, and refusals say what to do."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import betabinom

import trajlab as tl
from trajlab.errors import MembershipError, UnknownNameError
from trajlab.membership import game, recipe, roc
from trajlab.membership.channel import Channel, Noise, Round, Suppress, symbols
from trajlab.membership.groups import Crowd
from trajlab.membership.likelihood import RULED_OUT, beta_binomial, law_in, law_out, log_ratios
from trajlab.membership.reference import NOWHERE, Reference, unwatched_points
from trajlab.membership.weighing import TRACE, weights

RECIPES = {
    "exact": Channel(),
    "suppressed": Channel((Suppress(3),)),
    "rounded": Channel((Round(5),)),
    "both": Channel((Suppress(3), Round(5))),
    "geometric": Channel((Noise("geometric", 1.7),)),
    "laplace": Channel((Noise("laplace", 1.7),)),
    "all": Channel((Noise("geometric", 0.8), Suppress(2), Round(3))),
}


def rising(x: Fraction, n: int) -> Fraction:
    return math.prod((x + i for i in range(n)), start=Fraction(1))


def chance_of(count: int, people: int, seen: int, watched: int) -> Fraction:
    """Beta-binomial by hand: so many of `people`, when `seen` of `watched` were there, and half a person more."""
    half = Fraction(1, 2)
    inside, outside = seen + half, watched - seen + half
    ways = math.comb(people, count) * rising(inside, count) * rising(outside, people - count)
    return ways / rising(inside + outside, people)


def published(count: int, name: str) -> dict[int, float]:
    """What may be published for a true count, told without matrices: value, or None as -99, to its chance."""

    def geometric(scale: float) -> dict[int, float]:
        r = math.exp(-1 / scale)
        return {z: (1 - r) / (1 + r) * r ** abs(z) for z in range(-60, 61)}

    def laplace(scale: float) -> dict[int, float]:
        def cdf(x: float) -> float:
            return math.exp(x / scale) / 2 if x < 0 else 1 - math.exp(-x / scale) / 2

        return {z: cdf(z + 0.5) - cdf(z - 0.5) for z in range(-60, 61)}

    def nearest(value: int, base: int) -> int:
        return math.floor(value / base + 0.5) * base

    noise = {"geometric": geometric(1.7), "laplace": laplace(1.7), "all": geometric(0.8)}.get(name, {0: 1.0})
    found: dict[int, float] = {}
    for z, chance in noise.items():
        value = count + z
        if name in ("suppressed", "both"):
            value = -99 if value < 3 else value
        if name == "all":
            value = -99 if value < 2 else nearest(value, 3)
        if name in ("rounded", "both") and value != -99:
            value = nearest(value, 5)
        found[value] = found.get(value, 0.0) + chance
    return found


def symbol(value: int, top: int) -> int:
    return 0 if value == -99 else int(np.clip(value, -1, top + 1)) + 2


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize(("people", "seen", "watched", "chance"), [(4, 1, 6, 1.0), (7, 3, 5, 0.25), (3, 0, 9, 0.8)])
def test_the_closed_form_is_the_likelihood_enumerated(name, people, seen, watched, chance):
    top = people
    matrix = RECIPES[name].matrix(top)
    inside, outside = np.zeros(top + 4), np.zeros(top + 4)
    for count in range(people + 1):
        for value, share in published(count, name).items():
            outside[symbol(value, top)] += float(chance_of(count, people, seen, watched)) * share
    for others in range(people):
        for there, likely in ((1, chance), (0, 1 - chance)):
            for value, share in published(others + there, name).items():
                told = float(chance_of(others, people - 1, seen, watched)) * likely * share
                inside[symbol(value, top)] += told
    rate = np.array([float(seen)]), np.array([float(watched)])
    np.testing.assert_allclose(law_out(*rate, people, matrix)[0], outside, atol=1e-12)
    np.testing.assert_allclose(law_in(*rate, np.array([chance]), people, matrix)[0], inside, atol=1e-12)
    ratio = log_ratios(*rate, np.array([chance]), people, matrix).ratio[0]
    both = (inside > 1e-9) & (outside > 1e-9)
    np.testing.assert_allclose(ratio[both], np.log(inside[both] / outside[both]), atol=1e-7)
    assert (ratio[(inside == 0) & (outside > 1e-9)] == RULED_OUT).all()


@pytest.mark.parametrize("name", RECIPES)
def test_laws_add_up_to_one_whatever_the_top(name):
    rng = np.random.default_rng(0)
    watched = rng.integers(1, 5000, 30).astype(float)
    seen, chance = np.floor(watched * rng.random(30)), rng.random(30)
    for top in (5, 40, 300):
        matrix = RECIPES[name].matrix(top)
        np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-12)
        np.testing.assert_allclose(law_out(seen, watched, 200, matrix).sum(axis=1), 1, atol=1e-9)
        np.testing.assert_allclose(law_in(seen, watched, chance, 200, matrix).sum(axis=1), 1, atol=1e-9)


def test_the_law_of_a_count_is_scipys_beta_binomial():
    mine = beta_binomial(50, np.array([3.0]), np.array([40.0]), 50)[0, :51]
    np.testing.assert_allclose(mine, betabinom.pmf(np.arange(51), 50, 3.5, 37.5), rtol=1e-9)


@pytest.mark.parametrize("name", RECIPES)
def test_what_is_drawn_follows_the_matrix(name):
    counts = np.repeat([0, 2, 6], 40_000)
    values, hidden = RECIPES[name].publish(counts, np.random.default_rng(1))
    drawn = symbols(values, hidden, 9).reshape(3, -1)
    for row, count in enumerate((0, 2, 6)):
        share = np.bincount(drawn[row], minlength=13) / 40_000
        np.testing.assert_allclose(share, RECIPES[name].matrix(9)[count], atol=0.012)


def test_a_sum_over_independent_points_is_the_ratio_of_the_whole_table():
    """Every table of two cells enumerated: the log ratio of both counts together is the sum of the two."""
    seen, watched, chance = np.array([1.0, 3.0]), np.array([6.0, 5.0]), np.array([1.0, 0.5])
    ratio = log_ratios(seen, watched, chance, 4, np.eye(6, 8, 2)).ratio
    for first, second in itertools.product(range(1, 5), range(5)):
        inside = outside = 1.0
        for count, n, r, q in ((first, 1, 6, 1.0), (second, 3, 5, 0.5)):
            more = float(chance_of(count - 1, 3, n, r)) if count else 0.0
            same = float(chance_of(count, 3, n, r)) if count < 4 else 0.0
            inside *= q * more + (1 - q) * same
            outside *= float(chance_of(count, 4, n, r))
        assert ratio[0, first + 2] + ratio[1, second + 2] == pytest.approx(math.log(inside / outside))


def test_points_that_say_the_same_share_one_weight_and_independent_ones_keep_theirs():
    ratios = log_ratios(np.array([30.0]), np.array([1000.0]), np.array([1.0]), 500, np.eye(82, 84, 2))
    row = np.zeros(2, dtype=np.int64)
    alone = weights(ratios, row, np.eye(2), 10**9, TRACE)
    assert alone == pytest.approx([1.0, 1.0], abs=0.15)
    shared = weights(ratios, row, np.ones((2, 2)), 10**9, 1.0)
    assert shared.sum() == pytest.approx(alone.mean(), rel=0.08)


def people_at_random(people: int, slots: int, cells: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(cells, size=(people, slots)).astype(np.int32)


def test_a_group_changed_for_a_target_is_the_group_counted_anew():
    traces = people_at_random(30, 6, 4)
    traces[3, 2] = traces[7, 5] = NOWHERE
    targets = np.arange(8)
    crowd = Crowd(traces, 4, targets, unwatched_points(traces[targets]))
    rng = np.random.default_rng(3)
    for _ in range(5):
        group = crowd.draw(12, rng)
        table = crowd.table(group.members)
        inside = rng.random(8) < 0.5
        counts = crowd.counts_at(group, table, inside)
        ones = np.ones(table.shape)
        totals = crowd.totals_at(group, table.sum(axis=0).astype(float), ones, ones, inside)
        for target in targets:
            members = set(group.members.tolist())
            if inside[target] and target not in members:
                members = members - {int(group.members[0])} | {int(target)}
            elif not inside[target] and target in members:
                members = members - {int(target)} | {group.spare}
            assert len(members) == 12
            anew = crowd.table(np.array(sorted(members)))
            own = crowd.points.target == target
            slot, cell = crowd.points.slot[own], crowd.points.cell[own]
            assert counts[own].tolist() == anew[slot, cell].tolist()
            assert totals[own].tolist() == anew.sum(axis=0)[cell].tolist()


def test_correlation_is_that_of_the_people_watched():
    """Against numpy on the indicators of everybody but the target, within a round and between two."""
    rng = np.random.default_rng(5)
    home = rng.integers(3, size=60)
    cells = np.where(rng.random((60, 8)) < 0.7, home[:, None], rng.integers(3, size=(60, 8))).astype(np.int32)
    reference = Reference(cells, 4, 3, 8)
    table = cells[:1, :8]
    points = reference.true_points(np.array([0]), table)
    found = reference.correlation(points, slice(0, 8), 0)
    others = cells[1:].reshape(59, 2, 4)
    cell = points.cell
    at = np.stack([others[:, :, slot % 4] == cell[slot] for slot in range(8)])  # points × people × rounds
    for j, k in itertools.combinations(range(8), 2):
        joint = (at[j] & at[k]).mean() if j // 4 == k // 4 else (at[j].mean(axis=1) * at[k].mean(axis=1)).mean()
        p, q = at[j].mean(), at[k].mean()
        n = at[j].size
        rates = [(share * n + 0.5) / (n + 1) for share in (p, q)]
        spread = math.sqrt(math.prod(rate * (1 - rate) for rate in rates))
        assert found[j, k] == pytest.approx((joint - p * q) / spread, abs=1e-5)


def test_the_areas_are_those_of_every_pair():
    rng = np.random.default_rng(0)
    inside = game.sides(7, 20, 0)
    scores = np.round(rng.normal(size=inside.shape) + inside, 1)
    found = roc.measure(scores, inside, 0)
    for row, (values, side) in enumerate(zip(scores, inside, strict=True)):
        pairs = [(a > b) + (a == b) / 2 for a in values[side] for b in values[~side]]
        assert found.targets[row] == pytest.approx(np.mean(pairs))
    assert found.measures["auc"][0] == pytest.approx(found.targets.mean())
    pot = [(a > b) + (a == b) / 2 for a in scores[inside] for b in scores[~inside]]
    assert found.measures["auc_pooled"][0] == pytest.approx(np.mean(pot))
    cuts = np.unique(scores)
    gaps = [(scores[inside] >= cut).mean() - (scores[~inside] >= cut).mean() for cut in cuts]
    assert found.measures["advantage"][0] == pytest.approx(max(gaps))
    few = [(scores[inside] >= cut).mean() for cut in cuts if (scores[~inside] >= cut).mean() <= 0.01]
    assert found.measures["tpr_at_1_percent"][0] == pytest.approx(max(few))
    for estimate, low, high in found.measures.values():
        assert low <= estimate <= high


def city(people: int = 240, days: int = 4, seed: int = 1, **settings) -> tuple[tl.Lab, tl.Release]:
    lab = tl.open(":memory:", quiet=True)
    lab.ingest(tl.simulate(people=people, days=days, seed=seed, interval="2h"), tz="Europe/Lisbon")
    return lab, lab.release(index="h3:7", slot="2h", **settings)


@pytest.fixture(scope="module")
def made() -> tuple[tl.Lab, tl.Release]:
    return city()


def auc(found, recipe_name="exact", measure="auc", size=None) -> tuple[float, float, float]:
    rows = found.table.filter(recipe=recipe_name, measure=measure)
    return rows.row(0)[-3:]


def test_exact_counts_of_small_groups_give_people_away(made):
    lab, release = made
    for settings in ({"reference": "period"}, {"reference": "people"}, {"adversary": "release-only"}):
        found = lab.membership(release, sizes=[10], targets=30, groups=40, **settings)
        assert auc(found)[0] > 0.97, settings
        assert auc(found, measure="tpr_at_1_percent")[0] > 0.8, settings


def test_habits_say_something_and_a_known_trace_says_more(made):
    lab, release = made
    habits = lab.membership(release, sizes=[40], targets=40, groups=40)
    trace = lab.membership(release, sizes=[40], targets=40, groups=40, reference="period")
    assert auc(habits)[1] > 0.55
    assert auc(trace)[0] > auc(habits)[0]


def test_larger_groups_and_stronger_protections_hide_better(made):
    lab, release = made
    recipes = [
        "exact",
        "suppress:5",
        "round:5",
        "noise:geometric:eps=1:unit=person-day",
        "noise:laplace:eps=0.01:unit=person",
    ]
    found = lab.membership(release, sizes=[20, 100], targets=40, groups=60, reference="period", recipes=recipes)
    exact = found.table.filter(recipe="exact", measure="auc").sort("group_size")["estimate"].to_list()
    assert exact[0] > exact[1] > 0.8
    others = found.table.filter(pl.col("recipe") != "exact", measure="auc", group_size=20)
    assert len(others) == 4
    assert (others["estimate"] < exact[0]).all()


def test_much_noise_leaves_nothing_but_guessing(made):
    lab, release = made
    found = lab.membership(
        release, sizes=[20], targets=60, groups=60, reference="period", recipes="noise:geometric:eps=0.01:unit=person"
    )
    name = "noise:geometric:eps=0.01:unit=person"
    for measure in ("auc", "auc_pooled"):
        estimate, low, high = auc(found, name, measure)
        assert low <= 0.5 <= high
        assert abs(estimate - 0.5) < 0.05


@pytest.mark.parametrize("settings", [{"reference": "period"}, {"reference": "people"}, {"adversary": "release-only"}])
def test_noise_for_a_person_keeps_its_bound(made, settings):
    """One person is exchanged for another: a table is at most exp(2 ε) times as likely with the target as without."""
    lab, release = made
    name = "noise:geometric:eps=0.5:unit=person"
    found = lab.membership(release, sizes=[20], targets=60, groups=60, recipes=name, **settings)
    lab.table("metrics.membership_roc", membership_id=found.ids[0])
    curve = lab.table("metrics.membership_roc", membership_id=found.ids[0])
    false, true = curve["false_positive_rate"].to_numpy(), curve["true_positive_rate"].to_numpy()
    error = 4 * np.sqrt(np.maximum(true * (1 - true), 1e-3) / (30 * 60)) + 0.02
    assert (true <= math.exp(2 * 0.5) * false + error).all()
    assert auc(found, name, "advantage")[1] <= math.tanh(0.5) + 0.02


@pytest.mark.parametrize("kind", ["reference", "release-only"])
def test_a_target_like_everybody_else_cannot_be_told(kind):
    """All people share one trace: with and without the target the table is the same."""
    traces = np.repeat(people_at_random(1, 8, 5, seed=2), 60, axis=0)
    targets = np.arange(10)
    if kind == "reference":
        reference = Reference(traces, 8, 5, 0)
        watch = game.Watch(reference, targets, TRACE)
        points = reference.true_points(targets, traces[targets])
    else:
        watch, points = None, unwatched_points(traces[targets])
    played = game.play(Crowd(traces, 5, targets, points), watch, [20], [Channel()], number=20, seed=0)
    found = roc.measure(played[0, 0], game.sides(10, 20, 0), 0)
    assert found.measures["auc"][0] == 0.5


def test_targets_who_are_a_random_draw_of_anybody_are_told_by_chance_alone():
    """The adversary is given another person's trace as the target's: AUC is one half, within its interval."""
    traces = people_at_random(300, 12, 6)
    targets = np.arange(40)
    reference = Reference(traces[200:], 12, 6, 0)
    somebody = people_at_random(40, 12, 6, seed=9)
    points = reference.true_points(None, somebody)
    points = type(points)(
        *(getattr(points, name) for name in ("target", "slot", "cell", "seen", "watched", "chance")),
        traces[points.target, points.slot] == points.cell,
        points.first,
    )
    crowd = Crowd(traces[:200], 6, targets, points)
    played = game.play(crowd, game.Watch(reference, None, TRACE), [50], [Channel()], number=100, seed=0)
    found = roc.measure(played[0, 0], game.sides(40, 100, 0), 0)
    _, low, high = found.measures["auc"]
    assert low <= 0.5 <= high


def test_the_same_seed_gives_the_same_bytes_whatever_the_order_of_rows():
    frame = tl.simulate(people=120, days=2, seed=3, interval="2h")
    answers = []
    for order in (frame, frame.sample(fraction=1.0, shuffle=True, seed=8)):
        lab = tl.open(":memory:", quiet=True)
        lab.ingest(order, tz="Europe/Lisbon")
        release = lab.release(index="h3:7", slot="2h")
        asked = {
            "sizes": [20],
            "targets": 20,
            "groups": 20,
            "recipes": ["exact", "noise:geometric:eps=1:unit=person-slot"],
        }
        found = lab.membership(release, **asked).table
        alone = lab.membership(release, adversary="release-only", **asked).table
        score = lab.sql(
            "select uid, recipe, auc, score_in, score_out from metrics.membership_score "
            "join records.person using (person) join study.membership using (membership_id) where adversary = 'reference' order by all"
        )
        answers.append((found, alone, score))
    for one, other in zip(*answers, strict=True):
        assert_frame_equal(one, other, check_exact=True)


def test_another_seed_draws_other_people_and_the_same_question_is_answered_once(made):
    lab, release = made
    first = lab.membership(release, sizes=[20], targets=10, groups=10, seed=5)
    again = lab.membership(release.id, sizes=[20], targets=10, groups=10, seed=5)
    other = lab.membership(release, sizes=[20], targets=10, groups=10, seed=6)
    assert first.ids == again.ids != other.ids
    assert_frame_equal(first.table, again.table)
    people = [
        set(lab.table("metrics.membership_score", membership_id=found.ids[0])["person"]) for found in (first, other)
    ]
    assert people[0] != people[1]
    asked = lab.table("study.membership", membership_id=first.ids[0]).row(0, named=True)
    assert (asked["about"], asked["reference"], asked["first_slot"], asked["slots"]) == ("table", "earlier", 24, 24)
    assert first.description.startswith("about the published table")


def test_a_release_that_hides_small_counts_is_asked_about_as_it_is(made):
    lab, _ = made
    hidden = lab.release(index="h3:7", slot="2h", min_count=5)
    found = lab.membership(hidden, sizes=[20], targets=20, groups=20)
    assert found.table["recipe"].unique().to_list() == ["suppress:5"]


def test_seven_days_watched_speak_of_the_same_weekday():
    traces = people_at_random(20, 14, 3)
    reference = Reference(traces, 7, 3, 14)
    points = reference.usual_points(np.array([4]), traces[4:5])
    chance = {(slot, cell): q for slot, cell, q in zip(points.slot, points.cell, points.chance, strict=True)}
    for slot in range(14):
        for cell in {traces[4, slot % 7], traces[4, slot % 7 + 7]}:
            often = int(traces[4, slot % 7] == cell) + int(traces[4, slot % 7 + 7] == cell)
            assert chance[slot, cell] == (often + 0.5) / 3
    assert len(chance) == len(points.slot)


def test_refusals_say_what_to_do(made):
    lab, release = made
    with pytest.raises(
        MembershipError,
        match=r"groups of 121 need at least 242 people to be drawn from, and there are 240: ask for smaller",
    ):
        lab.membership(release, sizes=[121])
    with pytest.raises(MembershipError, match=r"there are 120 \(the other half is the adversary's reference\)"):
        lab.membership(release, sizes=[100], reference="people")
    with pytest.raises(MembershipError, match="targets must be a whole number, 2 or more, not 1"):
        lab.membership(release, sizes=[10], targets=1)
    with pytest.raises(MembershipError, match="1,000 targets were asked for, and there are 240 people: take fewer"):
        lab.membership(release, sizes=[10], targets=1000)
    with pytest.raises(MembershipError, match="groups must be even, half of them with the target, not 11"):
        lab.membership(release, groups=11)
    with pytest.raises(MembershipError, match="groups must be a whole number, 10 or more, not 2"):
        lab.membership(release, groups=2)
    with pytest.raises(MembershipError, match="a size of groups must be a whole number, 2 or more, not 1"):
        lab.membership(release, sizes=[1])
    with pytest.raises(MembershipError, match="say how large groups are"):
        lab.membership(release, sizes=[])
    with pytest.raises(UnknownNameError, match="no adversary named 'oracle'; there are: reference, release-only"):
        lab.membership(release, adversary="oracle")
    with pytest.raises(UnknownNameError, match="no reference named 'later'; there are: earlier, people, period"):
        lab.membership(release, reference="later")
    with pytest.raises(MembershipError, match="release-only watched nobody: leave reference out"):
        lab.membership(release, adversary="release-only", reference="people")
    with pytest.raises(
        MembershipError, match="'slots:60min' changes the cells or slots of a release: make that release"
    ):
        lab.membership(release, recipes=["slots:60min"])
    with pytest.raises(MembershipError, match="no recipe was given: leave recipes out"):
        lab.membership(release, recipes=[])
    assert len(lab.table("study.membership").filter(pl.col("group_size") > 100)) == 0


def test_protected_releases_are_asked_about_by_their_own_recipe_and_the_people_behind_them():
    lab = tl.open(":memory:", quiet=True)
    lab.ingest(tl.simulate(people=60, days=2, seed=1, interval="2h"), tz="Europe/Lisbon")
    for protections, steps in (
        (["suppress:3"], (Suppress(3),)),
        (
            ["noise:laplace:eps=2:unit=person-slot", "suppress:3", "round:5"],
            (Noise("laplace", 0.5), Suppress(3), Round(5)),
        ),
        (["generalise:h3:6", "round:5"], (Round(5),)),
    ):
        release = lab.release(index="h3:7", slot="2h", protect=protections)
        found = lab.membership(release, sizes=[20], targets=10, groups=10)
        assert found.table["recipe"].unique().to_list() == [", ".join(release.recipe)]
        assert recipe.channel(release.recipe, slots=24, slots_per_day=12).steps == steps
        assert lab.table("study.membership", membership_id=found.ids[0])["people"].item() == 60


@pytest.mark.parametrize(
    "name",
    ["suppress:3", "round:5", "noise:geometric:eps=0.6:unit=person-slot", "noise:laplace:eps=0.6:unit=person-slot"],
)
def test_what_the_game_publishes_is_what_a_release_would(name):
    """The same counts through the protection of releases and through the game's channel, in distribution."""
    from trajlab import protect

    (protection,) = protect.load_recipe([name])
    counts = pl.DataFrame(
        {"slot": np.repeat(np.arange(3000, dtype=np.int32), 3), "cell": [1, 2, 3] * 3000, "people": [1, 4, 8] * 3000}
    )
    counts = counts.with_columns(
        pl.col("cell").cast(pl.UInt64), pl.col("people").cast(pl.Int64), contributors=pl.col("people").cast(pl.Int64)
    )
    cells = pl.DataFrame(
        {"cell": [1, 2, 3], "parent_cell": [None, None, None]}, schema={"cell": pl.UInt64, "parent_cell": pl.UInt64}
    )
    told = protection.apply(counts, protect.Table(3000, 24, cells), np.random.default_rng(0))
    listed = counts.select("slot", "cell").join(told, on=["slot", "cell"], how="left", maintain_order="left")["people"]
    theirs = listed.fill_null(0 if "round" in name else -99).to_numpy().reshape(-1, 3)
    channel = recipe.channel([name], slots=3000, slots_per_day=24)
    for column, count in enumerate((1, 4, 8)):
        values = theirs[:, column]
        seen = np.where(values == -99, 0, np.clip(values, -1, 21) + 2)
        np.testing.assert_allclose(np.bincount(seen, minlength=24) / 3000, channel.matrix(20)[count], atol=0.035)


@pytest.mark.parametrize(
    "text",
    [
        "suppress",
        "cut:6h",
        "round:5, noise:geometric:eps=1:unit=person-day",
        "suppress:1",
        "suppress:x",
        "round:0",
        "noise:geometric",
        "noise:geometric:eps=0",
        "noise:gauss:eps=1",
        "noise:geometric:eps=1:unit=trip",
        "blur:5",
    ],
)
def test_a_recipe_that_is_none_is_refused_with_what_there_is(made, text):
    lab, release = made
    with pytest.raises(tl.TrajlabError):
        lab.membership(release, sizes=[10], recipes=[text])


def test_one_day_has_no_earlier_half_and_a_release_of_others_has_no_people():
    lab, release = city(people=60, days=1)
    with pytest.raises(MembershipError, match=r"1 days have no half of whole days: publish two days or more"):
        lab.membership(release, sizes=[10], targets=5)
    found = lab.membership(release, sizes=[10], targets=5, groups=10, adversary="release-only")
    assert len(found.table) == 4
    elsewhere = tl.Release.from_matrix(np.ones((48, 3), dtype=int), np.zeros((3, 2)), 24, unit="m")
    with pytest.raises(MembershipError, match="was made elsewhere: the lab does not know the people behind it"):
        lab.membership(elsewhere)
    with pytest.raises(
        MembershipError, match="groups of 100 need at least 200 people to be drawn from, and there are 60"
    ):
        lab.membership(release, adversary="release-only")


def test_units_say_how_much_noise_a_count_gets():
    def scale(text: str) -> float:
        (step,) = recipe.channel([text], slots=96, slots_per_day=24).steps
        return step.scale

    assert scale("noise:geometric:eps=2:unit=person-slot") == 0.5
    assert scale("noise:geometric:eps=2:unit=person-day") == 12
    assert scale("noise:laplace:eps=2:unit=person-day:clip=6") == 3
    assert scale("noise:geometric:eps=2:unit=person") == 48
