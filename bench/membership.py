"""The likelihood ratio beside the classifier of "Knock Knock, Who's There?" (NDSS 2018), on the same groups.

    python -m bench.membership
    python -m bench.membership --speed

Its setting: groups of 1,000, 50 targets, an adversary who has the traces of other people and the target's own. The
classifier is a logistic regression with a quadratic penalty on all counts of a table, trained for every target on
groups of the adversary's own people, half of them with the target, published by the same recipe. It is given
what it likes best: of several penalties, and of counts as they are and counts divided by their spread, the one that
does best *on the test groups*. The likelihood ratio has no such choice and no training. `--speed` times 1,000 targets
in a release of 10,000 people.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve
from threadpoolctl import threadpool_limits

import trajlab as tl
from trajlab.membership import game, recipe, roc, run
from trajlab.membership.channel import Channel
from trajlab.membership.groups import Crowd
from trajlab.membership.question import Question
from trajlab.membership.reference import NOWHERE, unwatched_points

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

RECIPES = ("exact", "suppress:10", "round:5", "noise:geometric:eps=1:unit=person-slot")
PENALTIES = (1e-3, 1e-1, 10.0)
TRAINING = 400
"""Groups that each classifier is trained on."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=4000)
    parser.add_argument("--days", type=int, default=3)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--targets", type=int, default=50)
    parser.add_argument("--groups", type=int, default=100)
    parser.add_argument("--recipe", action="append", help="default: several")
    parser.add_argument("--speed", action="store_true")
    args = parser.parse_args()
    if args.speed:
        speed()
    else:
        compare(args.people, args.days, args.size, args.targets, args.groups, args.recipe or RECIPES)


def published(people: int, days: int, slot: str = "60min") -> tuple[tl.Lab, tl.Release]:
    lab = tl.open(":memory:", quiet=True)
    lab.ingest(tl.simulate(people=people, days=days, seed=0, interval=slot), tz="Europe/Lisbon")
    return lab, lab.release(index="h3:8", slot=slot)


def speed() -> None:
    lab, release = published(10_000, 7)
    print(f"{release!r}\n{'adversary':<24} {'targets':>8} {'groups of':>10} {'seconds':>8} {'peak GB':>8} {'AUC':>6}")
    for adversary, reference in (("reference", "earlier"), ("reference", "people"), ("release-only", None)):
        began = time.perf_counter()
        found = lab.membership(release, adversary=adversary, reference=reference, targets=1000, sizes=[1000])
        seconds = time.perf_counter() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
        area = found.table.filter(measure="auc")["estimate"].item()
        name = f"{adversary} {reference or ''}"
        print(f"{name:<24} {1000:>8,} {1000:>10,} {seconds:>8.1f} {peak:>8.2f} {area:>6.3f}", flush=True)


def compare(people: int, days: int, size: int, targets: int, groups: int, recipes: Sequence[str]) -> None:
    lab, release = published(people, days)
    question = Question(reference="people", sizes=(size,), targets=targets, groups=groups)
    board = run._board(lab._store, release.id, release, question)
    _, cells = run._traces(lab._store, release.id, release.slots, question.seed)
    watched = cells[len(cells) // 2 :]
    inside = game.sides(targets, groups, question.seed)
    print(f"{release!r}: groups of {size:,}, {targets} targets, {groups} groups each; AUC, mean over targets, 95 %")
    print(f"{'recipe':<40} {'likelihood ratio':>22} {'classifier':>22} {'seconds':>8} {'seconds':>8}")
    for text in recipes:
        channel = recipe.channel(recipe.parse(text), slots=release.slots, slots_per_day=release.slots_per_day)
        began = time.perf_counter()
        played = game.play(board.crowd, board.watch, [size], [channel], number=groups, seed=question.seed)[0, 0]
        middle = time.perf_counter()
        with threadpool_limits(limits=1, user_api="blas"):  # as for the other
            learned = classifier(board.crowd, watched, channel, size, groups, question.seed, inside)
        end = time.perf_counter()
        areas = (roc.measure(scores, inside, 0).measures["auc"] for scores in (played, learned))
        told = " ".join(f"{area:>8.3f} ({low:.3f}-{high:.3f})" for area, low, high in areas)
        print(f"{text:<40} {told} {middle - began:>8.1f} {end - middle:>8.1f}", flush=True)


def classifier(
    crowd: Crowd,
    watched: npt.NDArray[np.int32],
    channel: Channel,
    size: int,
    groups: int,
    seed: int,
    inside: game.Bools,
) -> Floats:
    """Scores (targets × groups) of the best of the classifiers, on the groups that `game.play` draws."""
    rng = np.random.default_rng([seed, 9])
    own = Crowd(watched, crowd.n_cells, np.arange(0), unwatched_points(watched[:0]))
    label = np.arange(TRAINING) % 2 == 0
    tables = [own.table(own.draw(size, rng).members[int(flag) :]) for flag in label]  # a place is left for the target
    train = Features(tables, channel, rng)
    test_rng = np.random.default_rng([seed, 2, size])
    drawn = [crowd.draw(size, test_rng) for _ in range(groups)]
    test = Features([crowd.table(group.members) for group in drawn], channel, rng)
    centre = train.values.mean(axis=0)
    found = []
    for spread in (np.ones_like(centre), train.values.std(axis=0) + 0.1):
        weight = 1 / spread**2
        base, tests = (train.values - centre) * weight, test.values - centre
        gram, cross = base @ (train.values - centre).T, tests @ base.T
        across = np.ascontiguousarray(base.T)
        scores = np.empty((len(PENALTIES), *inside.shape))
        for target, row in enumerate(crowd.targets):
            path = places(crowd.traces[row], crowd.n_cells)
            change = train.change(slice(None), path, 1) * label[:, None]
            mine = change @ across[path]
            kernel = gram + mine + mine.T + (change * weight[path]) @ change.T
            lines = np.empty((groups, TRAINING))
            for turn, group in enumerate(drawn):
                line, at_path = cross[turn].copy(), tests[turn, path].copy()
                comes = bool(inside[target, turn])
                if (row in group.members) != comes:
                    other = places(crowd.traces[group.members[0] if comes else group.spare], crowd.n_cells)
                    for route, step in ((np.setdiff1d(path, other), 1), (np.setdiff1d(other, path), -1)):
                        moved = test.change(turn, route, step if comes else -step)
                        line += moved @ across[route]
                        if step == 1:
                            at_path[np.searchsorted(path, route)] += moved
                lines[turn] = line + (change * weight[path]) @ at_path
            unit = np.trace(kernel) / TRAINING
            for nth, penalty in enumerate(PENALTIES):
                scores[nth, target] = (lines / unit) @ fit(kernel / unit, label.astype(float), penalty)
        found += list(scores)
    return max(found, key=lambda scores: float(roc.areas(scores, inside).mean()))


class Features:
    """Published counts of many groups as rows of numbers, hidden ones as 0, and what one person changes in them."""

    def __init__(self, tables: list[Ints], channel: Channel, rng: np.random.Generator) -> None:
        self._counts = np.stack(tables).reshape(len(tables), -1)
        self._channel, self._rng = channel, rng
        self.values = self._published(self._counts).astype(np.float32)

    def change(self, rows: int | slice, places: Ints, step: int) -> npt.NDArray[np.float32]:
        counts = self._counts[rows][..., places]
        if self._channel.noise_variance:
            return np.full(counts.shape, step, dtype=np.float32)
        return (self._published(np.maximum(counts + step, 0)) - self._published(counts)).astype(np.float32)

    def _published(self, counts: Ints) -> Ints:
        values, hidden = self._channel.publish(counts, self._rng)
        return np.where(hidden, 0, values)


def places(trace: npt.NDArray[np.int32], n_cells: int) -> Ints:
    """Columns of a table that a person is counted in, in their order."""
    slot = np.flatnonzero(trace != NOWHERE)
    return slot * n_cells + trace[slot].astype(np.int64)


def fit(kernel: Floats, label: Floats, penalty: float) -> Floats:
    """Logistic regression with a quadratic penalty, by Newton's method: what each training table adds to a score."""
    kernel = kernel + 1.0  # a constant beside the counts
    value, found = np.zeros(len(label)), np.zeros(len(label))
    for _ in range(5):
        chance = 1 / (1 + np.exp(-np.clip(value, -30, 30)))
        weight = chance * (1 - chance) + 1e-6
        wanted = value + (label - chance) / weight
        found = cho_solve(cho_factor(kernel + penalty * np.diag(1 / weight), check_finite=False), wanted)
        value = kernel @ found
    return found


if __name__ == "__main__":
    main()
