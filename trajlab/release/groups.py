"""Groups of people by what they have in common: where they live, or a column of the people table.

`home:h3:6` divides people by the H3 cell of their home, which is where they spend most nights; any other
name is a column of `lab.people`. Everybody is in exactly one group.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from trajlab import spatial
from trajlab.errors import ProtectionError, ReleaseError, UnknownNameError
from trajlab.ids import digest
from trajlab.protect.noise import Noise
from trajlab.query import step
from trajlab.release.grid import study_area

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trajlab.store import Store

HOME = "home:"
UNKNOWN = "unknown"
"""The group of people of whom the attribute is not known."""
LONGEST_NIGHT = 6 * 3600
"""Seconds: a longer slot that begins at night is mostly day."""
MOST_LISTED = 20
"""Groups that a refusal names."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """A division of the people of a release into groups; its rows in `slots.member` carry `id` as grouping_id."""

    id: str
    release_id: str
    attribute: str
    people: int
    groups: int
    unknown_people: int


def divide(store: Store, release_id: str, attribute: str) -> Grouping:
    """Find everybody's group and keep it in `slots.member`; call it inside a transaction.

    The same people in the same groups are kept once; where the people table has changed since, the division
    is another one with another id.
    """
    if not store.rows("select 1 from slots.person where release_id = $id limit 1", id=release_id):
        raise ReleaseError(f"release {release_id} was made elsewhere: the lab does not know the people behind it")
    refuse_unknown_attribute(store, attribute)
    home = attribute.startswith(HOME)
    if home:
        found = _homes(store, release_id, attribute)
    else:
        found = store.frame(step("3_slots/_trait_of_person"), release_id=release_id, trait=attribute)
    members = found.select("person", pl.col("value").fill_null(UNKNOWN))
    content = hashlib.sha256(members.write_csv().encode()).hexdigest()
    made = Grouping(
        id="g" + digest(release_id, attribute, content),
        release_id=release_id,
        attribute=attribute,
        people=len(members),
        groups=members["value"].n_unique(),
        unknown_people=int((members["value"] == UNKNOWN).sum()),
    )
    if not store.rows("select 1 from study.grouping where grouping_id = $id", id=made.id):
        row = {
            "grouping_id": made.id,
            "release_id": release_id,
            "attribute": attribute,
            "people": made.people,
            "groups": made.groups,
            "unknown_people": made.unknown_people,
        }
        store.insert("study.grouping", pl.DataFrame([row]))
        store.insert("slots.member", members.with_columns(grouping_id=pl.lit(made.id)))
    return made


def refuse_unknown_attribute(store: Store, attribute: str) -> None:
    """Refuse what nobody can be divided by, before anything is built for it."""
    if attribute.startswith(HOME):
        kind = attribute.removeprefix(HOME).partition(":")[0]
        if kind not in spatial.names():
            raise UnknownNameError("spatial index", kind, spatial.names())
        return
    known = [name for (name,) in store.rows("select distinct trait from records.trait")]
    if attribute not in known:
        raise UnknownNameError("column of the people table (lab.people)", attribute, [*known, "home:<index>"])


def refuse_noise(attribute: str, recipe: Sequence[Any]) -> None:
    """Refuse noise for less than a person where people are divided by home: its claim would not hold.

    A home is found from all nights of a person. A day more or less can move it, and with it every other day of the
    person from one group to another.
    """
    for protection in recipe:
        if isinstance(protection, Noise) and protection.unit != "person" and attribute.startswith(HOME):
            raise ProtectionError(
                f"noise for unit={protection.unit} does not hold for people divided by {attribute}: a home is found "
                "from all nights of a person, so one of them can move the others to another group; use unit=person"
            )


def refuse_unknown_group(store: Store, grouping: Grouping, value: str) -> None:
    """Refuse a group that nobody is in, naming those that there are, the largest first."""
    known = store.rows(
        "select value, count(*) from slots.member where grouping_id = $id group by value order by count(*) desc, value",
        id=grouping.id,
    )
    names = [name for name, _ in known]
    if value in names:
        return
    more = f" and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
    raise ReleaseError(
        f"nobody is in the group {grouping.attribute}={value!r}; there are: {', '.join(names[:MOST_LISTED])}{more}"
    )


def _homes(store: Store, release_id: str, attribute: str) -> pl.DataFrame:
    ((seconds, index_name),) = store.rows(
        "select slot_seconds, index_name from counts.release where release_id = $id", id=release_id
    )
    if seconds > LONGEST_NIGHT:
        raise ReleaseError(
            f"{attribute} needs slots of at most 6 hours, not {seconds / 3600:g}: homes are found from slots before "
            "06:00"
        )
    ((settings,),) = store.rows("select settings from study.release where release_id = $id", id=release_id)
    box = json.loads(settings)["box"]
    index = spatial.build(attribute.removeprefix(HOME), study_area(store, None if box is None else tuple(box)))
    homes = store.frame(step("3_slots/_home_cell"), release_id=release_id)
    cells = homes.drop_nulls("cell").unique("cell").sort("cell")
    if not len(cells):
        raise ReleaseError(
            f"nobody has a position in a slot before 06:00, so no home is known: {attribute} needs nights in the period"
        )
    if index.name == index_name:
        areas = cells["cell"].to_numpy()
    elif cells["lng"].null_count():
        raise ReleaseError(
            f"{cells['lng'].null_count():,} of {len(cells):,} homes are places without coordinates, so {attribute} "
            f"cannot place them: use {HOME}{index_name}, or give the places coordinates"
        )
    else:
        areas = index.assign(cells["lng"].to_numpy(), cells["lat"].to_numpy())
    names = pl.DataFrame({"cell": cells["cell"], "value": index.label(areas)})
    return homes.select("person", "cell").join(names, on="cell", how="left", maintain_order="left")
