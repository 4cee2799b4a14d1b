"""Membership: asked of a release, played once and kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from trajlab.errors import MembershipError
from trajlab.ids import digest
from trajlab.membership import game, recipe, roc
from trajlab.membership.groups import Crowd
from trajlab.membership.question import Question
from trajlab.membership.reference import NOWHERE, Cells, Reference, unwatched_points
from trajlab.membership.weighing import HABITS, TRACE
from trajlab.release.truth import unprotected_id
from trajlab.version import versions

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.release import Release
    from trajlab.store import Store

Ints = npt.NDArray[np.int64]

ABOUT = "table"
DESCRIPTION = (
    "about the published table: no trace has to leak. 0.5 is guessing for auc and auc_pooled, 0 for advantage, "
    "0.01 for tpr_at_1_percent"
)


@dataclass(frozen=True, slots=True)
class Membership:
    """Answers for every recipe and size of groups; their rows in the lab carry the `ids` as membership_id.

    `table` has recipe, group_size, measure, estimate, low and high; `description` says what they are about.
    """

    release_id: str
    adversary: str
    reference: str | None
    ids: tuple[str, ...]
    table: pl.DataFrame
    description: str = DESCRIPTION


@dataclass(frozen=True, slots=True)
class _Board:
    """Who is drawn and who watched: numbers of the people of the pool, where they are, and the adversary's part."""

    crowd: Crowd
    watch: game.Watch | None
    people: Ints
    first_slot: int


def measure(
    store: Store, release: Release, question: Question, recipes: Sequence[tuple[str, ...]] | None, progress: Progress
) -> Membership:
    """Play the games that the lab has not yet; the same question twice is played once."""
    truth = _truth(store, release.id)
    asked = list(recipes) if recipes is not None else [tuple(release.recipe)]
    if recipes is None and not release.recipe and release.min_count > 1:
        asked = [(f"suppress:{release.min_count}",)]
    channels = [recipe.channel(one, slots=release.slots, slots_per_day=release.slots_per_day) for one in asked]
    names = [recipe.name(one) for one in asked]
    sizes = question.sizes_for(_pool(store, truth, question))
    _refuse_short(release, question)
    ids = {
        (place, nth): "m" + digest(release.id, replace(question, sizes=None), size, name)
        for place, size in enumerate(sizes)
        for nth, name in enumerate(names)
    }
    there = store.rows("select membership_id from study.membership where membership_id in $ids", ids=[*ids.values()])
    if missing := [key for key, membership_id in ids.items() if (membership_id,) not in there]:
        places, nths = (sorted(set(each)) for each in zip(*missing, strict=True))
        with store.transaction("membership"), progress.step("membership"):
            board = _board(store, truth, release, question)
            played = game.play(
                board.crowd,
                board.watch,
                [sizes[place] for place in places],
                [channels[nth] for nth in nths],
                number=question.groups,
                seed=question.seed,
                show=progress.show,
            )
            for (some, other), scores in played.items():
                place, nth = places[some], nths[other]
                asked_of = {"recipe": names[nth], "group_size": sizes[place]}
                _write(store, ids[place, nth], release.id, question, asked_of, board, scores)
    return _load(store, release.id, question, tuple(ids.values()))


def _truth(store: Store, release_id: str) -> str:
    """The release under whose id the people behind it are kept."""
    truth = unprotected_id(store, release_id)
    if not store.rows("select 1 from slots.person where release_id = $id limit 1", id=truth):
        raise MembershipError(
            f"release {release_id} was made elsewhere: the lab does not know the people behind it, and without them "
            "nobody can be in a group or not"
        )
    return truth


def _pool(store: Store, release_id: str, question: Question) -> int:
    """How many people groups are drawn from."""
    ((people,),) = store.rows("select count(*) from slots.person where release_id = $id and kept", id=release_id)
    return int(people) // 2 if question.reference == "people" else int(people)


def _refuse_short(release: Release, question: Question) -> None:
    if question.reference in ("earlier", "period") and release.slots < 2 * release.slots_per_day:
        days = release.slots / release.slots_per_day
        raise MembershipError(
            f"the adversary watches the earlier half of the period, and {days:.3g} days have no half of whole days: "
            "publish two days or more, or ask with reference='people' or adversary='release-only'"
        )


def _board(store: Store, truth: str, release: Release, question: Question) -> _Board:
    """People in a seeded order that depends on nothing but their ids, the first of them the targets."""
    people, cells = _traces(store, truth, release.slots, question.seed)
    n_cells = int(cells.max(initial=0)) + 1
    targets = np.arange(question.targets)
    if question.reference in ("earlier", "period"):
        days = release.slots // release.slots_per_day // 2
        first = days * release.slots_per_day
        phases = release.slots_per_day * (7 if days >= 7 else 1)
        table, reference = cells[:, first:], Reference(cells[:, :first], phases, n_cells, first)
        habits = question.reference == "earlier"
        points = (reference.usual_points if habits else reference.true_points)(targets, table[targets])
        watch = game.Watch(reference, targets, HABITS if habits else TRACE)
        return _Board(Crowd(table, n_cells, targets, points), watch, people, first)
    if question.reference == "people":
        pool = cells[: len(cells) // 2]
        reference = Reference(cells[len(cells) // 2 :], release.slots, n_cells, 0)
        points = reference.true_points(None, pool[targets])
        return _Board(Crowd(pool, n_cells, targets, points), game.Watch(reference, None, TRACE), people, 0)
    return _Board(Crowd(cells, n_cells, targets, unwatched_points(cells[targets])), None, people, 0)


def _traces(store: Store, release_id: str, slots: int, seed: int) -> tuple[Ints, Cells]:
    """Numbers of everybody in a release, and the place of their cell (by id) in every slot."""
    order = store.frame(
        "select place.person from slots.person as place join records.person as name using (person) "
        "where place.release_id = $id and place.kept order by md5($seed || ':' || name.uid), name.uid",
        id=release_id, seed=str(seed),
    )["person"].to_numpy()  # fmt: skip
    found = store.frame("select person, slot, cell from slots.position where release_id = $id", id=release_id)
    row = np.argsort(order)[np.searchsorted(np.sort(order), found["person"].to_numpy())]
    _, cell = np.unique(found["cell"].to_numpy(), return_inverse=True)
    cells = np.full((len(order), slots), NOWHERE, dtype=np.int32)
    cells[row, found["slot"].to_numpy()] = cell
    return order.astype(np.int64), cells


def _write(
    store: Store,
    membership_id: str,
    release_id: str,
    question: Question,
    asked_of: dict[str, object],
    board: _Board,
    scores: npt.NDArray[np.float64],
) -> None:
    if store.rows("select 1 from study.membership where membership_id = $id", id=membership_id):
        return
    inside = game.sides(question.targets, question.groups, question.seed)
    found = roc.measure(scores, inside, question.seed)
    size = {"group_size": asked_of["group_size"], "drawn_groups": question.groups, "targets": question.targets}
    row = {
        "membership_id": membership_id,
        "release_id": release_id,
        "adversary": question.adversary,
        "reference": question.reference,
        "recipe": asked_of["recipe"],
        "about": ABOUT,
        **size,
        "people": len(board.crowd.traces),
        "first_slot": board.first_slot,
        "slots": board.crowd.traces.shape[1],
        "seed": question.seed,
        "versions": versions("numpy", "scipy"),
    }
    store.insert("study.membership", pl.DataFrame([row], schema_overrides={"reference": pl.String}))
    measures = [
        {"measure": name, "estimate": value, "low": low, "high": high}
        for name, (value, low, high) in found.measures.items()
    ]
    same = {"membership_id": membership_id, "about": ABOUT, **size}
    answers = pl.DataFrame(measures).with_columns(**{name: pl.lit(value) for name, value in same.items()})
    store.insert("metrics.membership", answers)
    curve = pl.DataFrame({"false_positive_rate": roc.RATES, "true_positive_rate": found.curve})
    store.insert("metrics.membership_roc", curve.with_columns(membership_id=pl.lit(membership_id)))
    points = np.bincount(board.crowd.points.target, minlength=len(scores))
    targets = pl.DataFrame(
        {
            "person": board.people[: len(scores)],
            "points": points,
            "auc": found.targets,
            "score_in": np.median(scores[inside].reshape(len(scores), -1), axis=1),
            "score_out": np.median(scores[~inside].reshape(len(scores), -1), axis=1),
        }
    )
    store.insert("metrics.membership_score", targets.with_columns(membership_id=pl.lit(membership_id)))


def _load(store: Store, release_id: str, question: Question, ids: tuple[str, ...]) -> Membership:
    table = store.frame(
        "select recipe, answer.group_size, measure, estimate, low, high from metrics.membership as answer "
        "join study.membership as asked using (membership_id) where membership_id in $ids",
        ids=[*ids],
    )
    order = pl.DataFrame({"measure": roc.MEASURES, "place": range(len(roc.MEASURES))})
    table = table.join(order, on="measure").sort("group_size", "recipe", "place").drop("place")
    return Membership(release_id, question.adversary, question.reference, ids, table)
