"""Cubes: counts and flows of a release by an attribute of its people, such as place by hour by home area.

A cube says more than the release it is made of: each group is a table of its own, of fewer people. Small counts
are left out by how many different people they hold, never by what these people weigh.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from trajlab.errors import ProtectionError, ReleaseError, UnknownNameError
from trajlab.ids import digest
from trajlab.protect import COUNTS, SETTINGS, load_recipe, name_of
from trajlab.protect.noise import Noise
from trajlab.protect.suppress import Suppress
from trajlab.query import Query, step
from trajlab.release import groups
from trajlab.release.making import Settings, make_release
from trajlab.release.truth import unprotected_id
from trajlab.settings import whole_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trajlab.progress import Progress
    from trajlab.store import Store

MANY = 0.1
"""Groups per person above which a cube is noted to be of hardly anybody."""
HEAVIEST = 1_000_000_000
"""The most that one person may weigh."""
ONE_GROUP_EACH = (
    "everybody is in one group, so what the noise of a group claims holds for the whole cube; which groups there are "
    "is published as it is"
)
"""What is to be known of noise in a cube."""
TABLES = ("counts.cube", "counts.flow_cube")


@dataclass(frozen=True, slots=True)
class Cube:
    """Counts and flows by group; its rows in `counts.cube` and `counts.flow_cube` carry `id` as cube_id.

    `recipe` names the protections that the counts of each group went through. `notes` are for whoever makes it: how
    many people are in no known group, groups of hardly anybody, groups of which nothing is left.
    """

    id: str
    release_id: str
    by: str
    weights: str | None
    min_count: int
    recipe: tuple[str, ...]
    people: int
    groups: int
    notes: tuple[str, ...] = ()


def make_cube(
    store: Store,
    release_id: str,
    by: str,
    *,
    weights: str | None,
    min_count: int | None,
    protect: str | Sequence[str],
    progress: Progress,
) -> Cube:
    """Divide the people of a release and count each group; the same cube twice is built once.

    What makes cells or slots larger is done to the release before, the rest of the recipe to the counts of each
    group. A release that is protected already is divided as it was counted, and its groups are protected
    as it is, unless another recipe is given.
    """
    groups.refuse_unknown_attribute(store, by)
    least = None if min_count is None else whole_number("min_count", min_count, 1, error=ReleaseError)
    release_id, recipe = _unprotected(store, release_id, load_recipe(protect), progress)
    settings = settings_of(store, release_id)
    settings = replace(settings, min_count=settings.min_count if least is None else least, protect=recipe)
    if settings.group is not None:
        raise ReleaseError(f"release {release_id} is of one group already: make a cube of the release of everybody")
    groups.refuse_noise(by, load_recipe(recipe))
    smallest = _smallest_count(settings)
    if weights is not None and smallest is None:
        raise ReleaseError(
            f"weights are published as they are, so {' '.join(recipe)} beside them protects nothing: use suppress alone"
        )
    with store.transaction(f"cube by {by}"):
        grouping = groups.divide(store, release_id, by)
        cube_id = "c" + digest(grouping.id, weights, _weights(store, release_id, weights), settings.min_count, *recipe)
        row = {
            "cube_id": cube_id,
            "release_id": release_id,
            "grouping_id": grouping.id,
            "attribute": by,
            "weights": weights,
            "min_count": settings.min_count,
            "recipe": " ".join(recipe),
        }
        known = store.rows("select 1 from study.cube where cube_id = $id", id=cube_id)
        if not known and smallest is not None:
            for table in TABLES:
                with progress.step(table, poll=store.engine.percent_done):
                    store.build(Query.load(table), **row | {"min_count": smallest})
            if not store.rows("select 1 from counts.cube where cube_id = $id limit 1", id=cube_id):
                raise ReleaseError(f"no group has a count of {smallest:,} people or more: there is nothing to publish")
            store.insert("study.cube", pl.DataFrame([row], schema_overrides={"weights": pl.String}))
    if not known and smallest is None:
        _unite(store, row, settings, progress)
    return load_cube(store, cube_id)


def load_cube(store: Store, cube_id: str) -> Cube:
    """A cube that the lab has."""
    found = store.rows(
        "select cube.release_id, cube.attribute, cube.weights, cube.min_count, cube.recipe, grouping.people, "
        "grouping.groups, cube.grouping_id from study.cube as cube join study.grouping as grouping "
        "using (grouping_id) where cube.cube_id = $id",
        id=cube_id,
    )
    if not found:
        raise UnknownNameError("cube", cube_id, [name for (name,) in store.rows("select cube_id from study.cube")])
    release_id, by, weights, least, recipe, people, n_groups, grouping_id = found[0]
    notes = _notes(store, cube_id, grouping_id, everything=least == 1 and not recipe)
    if any(isinstance(protection, Noise) for protection in load_recipe(recipe.split())):
        notes = (*notes, ONE_GROUP_EACH)
    return Cube(cube_id, release_id, by, weights, least, tuple(recipe.split()), people, n_groups, notes)


def settings_of(store: Store, release_id: str) -> Settings:
    """The settings that a release was made with; refused where the lab did not make it."""
    found = store.rows("select settings from study.release where release_id = $id", id=release_id)
    if not found:
        known = [name for (name,) in store.rows("select release_id from counts.release")]
        if release_id in known:
            raise ReleaseError(f"release {release_id} was made elsewhere: the lab does not know the people behind it")
        raise UnknownNameError("release", release_id, known)
    given = json.loads(found[0][0])
    given["box"] = None if given["box"] is None else tuple(given["box"])
    given["group"] = tuple(given["group"]) if given.get("group") else None
    return Settings(**given)


def groups_by_size(store: Store, grouping_id: str) -> list[tuple[str, int]]:
    """The groups and their people, the largest first."""
    found = store.rows(
        "select value, count(*) from slots.member where grouping_id = $id group by value order by count(*) desc, value",
        id=grouping_id,
    )
    return [(value, people) for value, people in found]


def _unprotected(
    store: Store, release_id: str, recipe: Sequence[Any], progress: Progress
) -> tuple[str, tuple[str, ...]]:
    """The release that is divided, and the protections of counts that each group goes through."""
    settings = settings_of(store, release_id)
    given = recipe or load_recipe(settings.protect)
    release_id = unprotected_id(store, release_id)
    larger = tuple(name_of(protection) for protection in recipe if protection.protects == SETTINGS)
    if larger:
        release_id = make_release(store, replace(settings, protect=larger), progress).id
    return release_id, tuple(name_of(protection) for protection in given if protection.protects == COUNTS)


def _smallest_count(settings: Settings) -> int | None:
    """The fewest people that a count of a group is published of, where leaving out is all that is done; else None."""
    recipe = load_recipe(settings.protect)
    if not recipe:
        return settings.min_count
    if len(recipe) == 1 and isinstance(recipe[0], Suppress) and not recipe[0].secondary:
        return int(recipe[0].k)
    return None


def _unite(store: Store, row: dict[str, Any], settings: Settings, progress: Progress) -> None:
    """A cube whose groups are protected one by one: the counts are those of the groups' own releases."""
    releases: list[dict[str, str]] = []
    nothing: ProtectionError | None = None
    for value, _ in groups_by_size(store, row["grouping_id"]):
        try:
            made = make_release(store, replace(settings, group=(row["attribute"], value)), progress)
        except ProtectionError as error:  # nothing is left of this group; a note says of how many
            nothing = error
        else:
            releases.append({"value": value, "group_release_id": made.id})
    if nothing is not None and not releases:
        raise nothing
    frame = pl.DataFrame(releases, schema={"value": pl.String, "group_release_id": pl.String})
    asked = {name: row[name] for name in ("cube_id", "release_id", "attribute")}
    with store.transaction(f"cube by {row['attribute']}"), store.engine.frames(group_release=frame):
        for table, united in (
            ("counts.cube", "4_counts/_cube_of_groups"),
            ("counts.flow_cube", "4_counts/_flows_of_groups"),
        ):
            store.execute(f"insert into {table} by name {step(united)}", **asked)
            store.check_grain(Query.load(table), cube_id=row["cube_id"])
        store.insert("study.cube", pl.DataFrame([row], schema_overrides={"weights": pl.String}))


def _weights(store: Store, release_id: str, trait: str | None) -> str | None:
    """A digest of everybody's weight; refused unless everybody has one that a sum can hold."""
    if trait is None:
        return None
    known = [name for (name,) in store.rows("select distinct trait from records.trait")]
    if trait not in known:
        raise UnknownNameError("column of the people table (lab.people)", trait, known)
    given = store.frame(step("3_slots/_weight_of_person"), release_id=release_id, trait=trait)
    heavy = pl.col("number") > HEAVIEST
    finite = pl.col("number").is_finite().fill_null(value=False)
    problems = {
        "have none: give everybody one (lab.people), or leave weights out": pl.col("value").is_null(),
        "have something that is not a number": ~finite | (~heavy & pl.col("weight").is_null()),
        "have less than 0": pl.col("number") < 0,
        f"have more than {HEAVIEST:,}": heavy,
    }
    for problem, where in problems.items():
        if found := len(given.filter(where)):
            raise ReleaseError(f"weights {trait!r}: {found:,} of {len(given):,} people {problem}")
    return hashlib.sha256(given.select("person", "weight").write_csv().encode()).hexdigest()


def _notes(store: Store, cube_id: str, grouping_id: str, *, everything: bool) -> tuple[str, ...]:
    """What to know of a cube; `everything` says that nothing was done to its counts."""
    ((attribute, people, n_groups, unknown),) = store.rows(
        "select attribute, people, groups, unknown_people from study.grouping where grouping_id = $id", id=grouping_id
    )
    notes = []
    if n_groups > MANY * people:
        notes.append(
            f"warning: {attribute} makes {n_groups:,} groups of {people:,} people, more than one for every "
            f"{1 / MANY:.0f}: most counts are of one or two people; a coarser attribute divides less"
        )
    if everything:
        alone = sum(size == 1 for _, size in groups_by_size(store, grouping_id))
        are = "group is" if alone == 1 else "groups are"
        if alone:
            notes.append(
                f"warning: {alone:,} {are} of one person, whose counts are that person's whole trace; min_count leaves "
                "out small ones"
            )
    else:
        ((left,),) = store.rows("select count(distinct value) from counts.cube where cube_id = $id", id=cube_id)
        if left < n_groups:
            notes.append(f"{n_groups - left:,} of {n_groups:,} groups have no count left")
    if unknown:
        notes.append(f"{unknown:,} of {people:,} people have no {attribute}: they are the group {groups.UNKNOWN!r}")
    return tuple(notes)
