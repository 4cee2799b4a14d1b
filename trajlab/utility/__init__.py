"""What a generalisation leaves of origin-destination flows (yin2015).

Movements are counted between the cells of a release, once. A generalisation publishes the same movements
between larger cells. Both are converted to zones, in proportion to area at both ends, and the
two matrices compared: `sides` has the cells, `targets` the zones, `overlap` the areas, `matrices` the tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from trajlab.errors import UnknownNameError, UtilityError
from trajlab.ids import digest
from trajlab.query import Query, step, tables_of
from trajlab.release import Release
from trajlab.release.truth import unprotected_id
from trajlab.utility import sides
from trajlab.utility.matrices import Matrices, Settings
from trajlab.utility.nesting import nesting_note
from trajlab.utility.sides import Before
from trajlab.version import versions

if TYPE_CHECKING:
    from trajlab.release.box import Box
    from trajlab.store import Store
    from trajlab.utility.sides import Side

FLOWS = ("raw", "constrained")
MEASURES = ("all", "pareto", "backbone", "hotspot", "commuters")
"""Ten together: each is taken of raw and of constrained flows."""

__all__ = [
    "FLOWS",
    "MEASURES",
    "After",
    "Matrices",
    "Settings",
    "Utility",
    "after",
    "compare",
    "compare_published",
    "load_utility",
]


@dataclass(frozen=True, eq=False)
class Utility:
    """One comparison; its rows in the lab carry `id` as utility_id.

    `losses` has a row for each of the ten measures, with the columns of metrics.utility. `notes` says what was
    made of the zones, and whether cells became smaller.
    """

    id: str
    release_id: str
    after: str
    zones: str
    losses: pl.DataFrame
    notes: tuple[str, ...] = ()

    def loss(self, measure: str = "all", flows: str = "raw") -> float | None:
        """One of the losses; None where no pair of zones counts."""
        for kind, name, known in (("measure", measure, MEASURES), ("kind of flows", flows, FLOWS)):
            if name not in known:
                raise UnknownNameError(kind, name, known)
        value: float | None = self.losses.filter(measure=measure, flows=flows)["loss"].item()
        return value


@dataclass(frozen=True, slots=True)
class After:
    """What a release is generalised to: cells, counted from the study box, and the smallest flow that is published.

    Small flows are left out slot by slot, so a threshold comes with the release whose slots they are. A release whose
    counts are `protected` is compared by the flows that it publishes.
    """

    index: str
    box: Box
    min_count: int = 1
    release_id: str | None = None
    protected: bool = False


def after(store: Store, before: Before, given: Release | str) -> After:
    """The generalisation that a release of the same people, its id, or the name of an index stands for."""
    name = given.id if isinstance(given, Release) else given
    if not isinstance(name, str):
        raise UtilityError(f"after is a release, its id, or an index such as 'stations:800', not {name!r}")
    found = store.rows(
        "select index_id, index_name, min_count, recipe from counts.release where release_id = $id", id=name
    )
    if not found:
        if isinstance(given, Release):
            raise UtilityError(f"release {name} is not in this lab: generalise a release of the lab's own")
        if re.fullmatch("r[0-9a-f]{12}", name):
            known = [release_id for (release_id,) in store.rows("select release_id from counts.release")]
            raise UnknownNameError("release", name, known)
        return After(name, before.box)
    if not store.rows("select 1 from study.release where release_id = $id", id=name):
        raise UtilityError(f"release {name} was made elsewhere: the lab has no records to see anybody move in")
    ((coarse_id, index_name, min_count, recipe),) = found
    to = After(index_name, sides.box_of(store, coarse_id), min_count, name, protected=bool(recipe))
    _refuse_other_people(store, before, unprotected_id(store, name), to.box)
    return to


def compare_published(matrices: Matrices, release_id: str) -> Utility:
    """The same for a release whose counts are protected: the flows that it publishes, beside those of the one before.

    What it leaves out of a slot is lost. A table has no times between records, so there are no constrained flows.
    """
    side = sides.side_of(matrices.store, release_id)
    own = matrices.before
    before_id, after_id = matrices.published(own.side, own.release_id), matrices.published(side, release_id)
    note = (
        "flows are those that are published: people who are in another cell in the next slot; constrained ones would "
        "need records"
    )
    some = matrices.store.rows("select 1 from counts.flow where release_id = $id limit 1", id=release_id)
    nothing = () if some else (f"release {release_id} publishes no flow: all of them are lost",)
    return _compare(matrices, side, before_id, after_id, (note, *nothing))


def compare(matrices: Matrices, side: Side, min_count: int = 1, published_id: str | None = None) -> Utility:
    """Both matrices between the zones, and the ten losses, unless the lab has them; call it inside a transaction."""
    before_id, after_id = matrices.original(), matrices.merged(side, min_count, published_id)
    return _compare(matrices, side, before_id, after_id)


def _compare(matrices: Matrices, side: Side, before_id: str, after_id: str, notes: tuple[str, ...] = ()) -> Utility:
    store = matrices.store
    utility_id = "u" + digest(before_id, after_id)
    if not store.rows("select 1 from study.utility where utility_id = $id", id=utility_id):
        _write(store, utility_id, before_id, after_id)
        params = {"utility_id": utility_id, "before_id": before_id, "after_id": after_id}
        for query in tables_of("utility_id", params):
            with matrices.progress.step(query.table, poll=store.engine.percent_done):
                store.build(query, **params)
    target = matrices.target
    nesting = nesting_note(store, side.index_id, side.index.name, target.index_id, target.index.name)
    said = (*notes, *target.notes, *_no_generalisation(matrices.before.side, side), *([nesting] if nesting else []))
    return load_utility(store, utility_id, said)


def load_utility(store: Store, utility_id: str, notes: tuple[str, ...] = ()) -> Utility:
    """A comparison that the lab has."""
    found = store.rows(
        "select release_id, after_name, zones_name from study.utility where utility_id = $id", id=utility_id
    )
    if not found:
        known = [name for (name,) in store.rows("select utility_id from study.utility")]
        raise UnknownNameError("comparison", utility_id, known)
    losses = _in_order(store.relation(Query.load("metrics.utility"), utility_id=utility_id).drop("utility_id"))
    release_id, after_name, zones_name = found[0]
    return Utility(utility_id, release_id, after_name, zones_name, losses, notes)


def _in_order(losses: pl.DataFrame) -> pl.DataFrame:
    """Rows in the order in which measures are listed."""
    return losses.sort(pl.col("flows").cast(pl.Enum(FLOWS)), pl.col("measure").cast(pl.Enum(MEASURES)))


def _write(store: Store, utility_id: str, before_id: str, after_id: str) -> None:
    ((release_id, zones_name),) = store.rows(
        "select release_id, zones_name from study.od where od_id = $id", id=before_id
    )
    ((after_name,),) = store.rows("select index_name from study.od where od_id = $id", id=after_id)
    row = {
        "utility_id": utility_id,
        "release_id": release_id,
        "after_name": after_name,
        "zones_name": zones_name,
        "before_id": before_id,
        "after_id": after_id,
        "versions": versions("duckdb", "shapely"),
    }
    store.insert("study.utility", pl.DataFrame([row]))


def _no_generalisation(fine: Side, coarse: Side) -> Iterator[str]:
    """A note where cells become smaller ones."""
    before, after = (float(np.nanmedian(side.index.area_km2(side.cells))) for side in (fine, coarse))
    if after < 0.9 * before:
        yield (
            f"{coarse.index.name} has smaller cells ({after:.3g} km²) than {fine.index.name} ({before:.3g} km²): "
            "it generalises nothing, and its loss is that of placing people more closely than the release does"
        )


def _refuse_other_people(store: Store, before: Before, after: str, box: Box) -> None:
    """A generalisation changes cells and nothing else; other people or days would be counted as loss."""
    setting = "select settings::json ->> $name from study.release where release_id = $id"
    both = f"releases {before.release_id} and {after}"
    why = "flows are compared of the same people and period, so make both with the same settings but for the cells"
    for name in ("tz", "start", "days", "align", "coverage", "people", "seed", "outside"):
        one, other = (store.rows(setting, name=name, id=release_id)[0][0] for release_id in (before.release_id, after))
        if one != other:
            raise UtilityError(f"{both} differ in {name} ({one} and {other}): {why}")
    if store.rows(setting, name="outside", id=after)[0][0] == "drop" and box != before.box:
        raise UtilityError(f"{both} leave out what lies outside different boxes: {why}")
    ((gone, come),) = store.rows(step("3_slots/_other_people"), before_id=before.release_id, after_id=after)
    if gone or come:
        raise UtilityError(
            f"{both} hold other people, or other days of them ({gone:,} and {come:,} of their own): {why}"
        )
