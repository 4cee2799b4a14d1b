"""Cubes: counts and flows of a release by an attribute of its people, such as place by hour by home area.

A cube says more than the release it is made of: each group is a table of its own, of fewer people. Small counts
are left out by how many different people they hold, never by what these people weigh.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from trajlab.errors import ReleaseError, UnknownNameError
from trajlab.ids import digest
from trajlab.query import Query, step
from trajlab.release import groups
from trajlab.settings import whole_number

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.store import Store

MANY = 0.1
"""Groups per person above which a cube is noted to be of hardly anybody."""
HEAVIEST = 1_000_000_000
"""The most that one person may weigh."""
TABLES = ("counts.cube", "counts.flow_cube")


@dataclass(frozen=True, slots=True)
class Cube:
    """Counts and flows by group; its rows in `counts.cube` and `counts.flow_cube` carry `id` as cube_id.

    `notes` are for whoever makes it: how many people are in no known group, and groups of hardly anybody.
    """

    id: str
    release_id: str
    by: str
    weights: str | None
    min_count: int
    people: int
    groups: int
    notes: tuple[str, ...] = ()


def make_cube(
    store: Store, release_id: str, by: str, *, weights: str | None, min_count: int | None, progress: Progress
) -> Cube:
    """Divide the people of a release and count each group; the same cube twice is built once."""
    settings, least = _of_release(store, release_id)
    least = least if min_count is None else whole_number("min_count", min_count, 1, error=ReleaseError)
    if settings.get("group"):
        raise ReleaseError(f"release {release_id} is of one group already: make a cube of the release of everybody")
    with store.transaction(f"cube by {by}"):
        grouping = groups.divide(store, release_id, by)
        cube_id = "c" + digest(grouping.id, weights, _weights(store, release_id, weights), least)
        if not store.rows("select 1 from study.cube where cube_id = $id", id=cube_id):
            row = {
                "cube_id": cube_id,
                "release_id": release_id,
                "grouping_id": grouping.id,
                "attribute": by,
                "weights": weights,
                "min_count": least,
            }
            for table in TABLES:
                with progress.step(table, poll=store.engine.percent_done):
                    store.build(Query.load(table), **row)
            store.insert("study.cube", pl.DataFrame([row], schema_overrides={"weights": pl.String}))
    return load_cube(store, cube_id)


def load_cube(store: Store, cube_id: str) -> Cube:
    """A cube that the lab has."""
    found = store.rows(
        "select cube.release_id, cube.attribute, cube.weights, cube.min_count, grouping.people, grouping.groups, "
        "cube.grouping_id from study.cube as cube join study.grouping as grouping using (grouping_id) "
        "where cube.cube_id = $id",
        id=cube_id,
    )
    if not found:
        raise UnknownNameError("cube", cube_id, [name for (name,) in store.rows("select cube_id from study.cube")])
    release_id, by, weights, least, people, n_groups, grouping_id = found[0]
    return Cube(cube_id, release_id, by, weights, least, people, n_groups, _notes(store, grouping_id, least))


def _of_release(store: Store, release_id: str) -> tuple[dict[str, object], int]:
    found = store.rows(
        "select made.settings, release.min_count from counts.release as release "
        "left join study.release as made using (release_id) where release.release_id = $id",
        id=release_id,
    )
    if not found:
        raise UnknownNameError(
            "release", release_id, [id_ for (id_,) in store.rows("select release_id from counts.release")]
        )
    settings, min_count = found[0]
    if settings is None:
        raise ReleaseError(f"release {release_id} was made elsewhere: the lab does not know the people behind it")
    return json.loads(settings), min_count


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


def _notes(store: Store, grouping_id: str, least: int) -> tuple[str, ...]:
    ((attribute, people, n_groups, unknown),) = store.rows(
        "select attribute, people, groups, unknown_people from study.grouping where grouping_id = $id", id=grouping_id
    )
    ((alone,),) = store.rows(
        "select count(*) from "
        "(select value from slots.member where grouping_id = $id group by value having count(*) = 1)",
        id=grouping_id,
    )
    notes = []
    if n_groups > MANY * people:
        notes.append(
            f"warning: {attribute} makes {n_groups:,} groups of {people:,} people, more than one for every "
            f"{1 / MANY:.0f}: most counts are of one or two people; a coarser attribute divides less"
        )
    if alone and least == 1:
        are = "group is" if alone == 1 else "groups are"
        notes.append(
            f"warning: {alone:,} {are} of one person, whose counts are that person's whole trace; min_count leaves out "
            "small ones"
        )
    if unknown:
        notes.append(f"{unknown:,} of {people:,} people have no {attribute}: they are the group {groups.UNKNOWN!r}")
    return tuple(notes)
