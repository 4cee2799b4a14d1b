"""A release whose counts are protected: made from the release without protection, which stays in the lab.

It has an id, counts, flows and a calendar of its own. Whose counts they are is kept once, under the release that it
was made from (`study.release.unprotected_id`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from trajlab.errors import ProtectionError
from trajlab.ids import digest
from trajlab.protect import COUNTS, SETTINGS, CountProtection, Table, name_of
from trajlab.query import Query, catalogue, step
from trajlab.release import notes

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.store import Store

KEYS = {"counts.occupancy": ("slot", "cell"), "counts.flow": ("slot", "origin", "destination")}


def rewrite(settings: Any, recipe: Sequence[Any], coarser: Any) -> Any:
    """The settings of the release underneath: what makes it coarser is applied, nothing else is left."""
    for protection in recipe:
        if protection.protects == SETTINGS:
            settings = protection.rewrite(settings, coarser)
    return settings


def publish(store: Store, unprotected_id: str, recipe: Sequence[Any], seed: int, progress: Progress) -> str:
    """The id of the release that the recipe makes of another one, built unless the lab has it."""
    texts = [name_of(protection) for protection in recipe]
    release_id = "r" + digest(unprotected_id, texts)
    if not store.rows("select 1 from counts.release where release_id = $id", id=release_id):
        with progress.step(", ".join(texts)):
            _build(store, release_id, unprotected_id, recipe, seed)
    return release_id


def _build(store: Store, release_id: str, unprotected_id: str, recipe: Sequence[Any], seed: int) -> None:
    texts = [name_of(protection) for protection in recipe]
    steps = [protection for protection in recipe if protection.protects == COUNTS]
    table = _table(store, unprotected_id)
    store.execute(
        "insert into slots.slot by name select * replace ($id as release_id) from slots.slot "
        "where release_id = $unprotected_id",
        id=release_id,
        unprotected_id=unprotected_id,
    )
    listed = {}
    for name, keys in KEYS.items():
        counts = _counts(store, name, keys, unprotected_id)
        for number, protection in enumerate(steps):
            counts = _applied(counts, protection, table, _generator(seed, unprotected_id, texts, name, number))
        listed[name] = len(counts)
        counts = counts.drop("contributors").with_columns(release_id=pl.lit(release_id))
        store.insert(name, counts.sort(keys))
        store.check_grain(Query.load(name), release_id=release_id)
    if not listed["counts.occupancy"]:
        raise ProtectionError(f"{' '.join(texts)} leaves no count of this release: there is nothing to publish")
    _describe(store, release_id, unprotected_id, texts)
    for query in catalogue().values():
        if query.kind == "table" and query.scope == ("release_id",) and query.table.startswith("report."):
            store.build(query, release_id=release_id)
    notes.write_protected(store, release_id, unprotected_id, steps)


def _table(store: Store, release_id: str) -> Table:
    ((slots, slots_per_day),) = store.rows(
        "select slots, slots_per_day from counts.release where release_id = $id", id=release_id
    )
    return Table(slots, slots_per_day, store.frame(step("4_counts/_domain"), release_id=release_id))


def _counts(store: Store, name: str, keys: Sequence[str], release_id: str) -> pl.DataFrame:
    rows = f"select {', '.join(keys)}, people, people as contributors from {name}"  # noqa: S608
    return store.frame(f"{rows} where release_id = $id order by all", id=release_id)


def _applied(counts: pl.DataFrame, protection: CountProtection, table: Table, rng: np.random.Generator) -> pl.DataFrame:
    """Whoever adds a protection cannot list a cell or a slot that there is not, nor keep more than it says."""
    made = protection.apply(counts, table, rng)
    named = name_of(protection)
    if set(made.columns) != set(counts.columns) or sum(made.drop("contributors").null_count().row(0)):
        raise ProtectionError(f"{named} must give the columns {', '.join(counts.columns)} and no number less")
    if protection.only_removes and len(made.join(counts, on=counts.columns, how="anti", nulls_equal=True)):
        raise ProtectionError(f"{named} says that it only removes, but has changed counts")
    return made


def _generator(seed: int, *what: object) -> np.random.Generator:
    """Chance for one step of one release: no two share it, or one table's noise would give away another's."""
    return np.random.default_rng(list(hashlib.sha256(repr((seed, *what)).encode()).digest()))


def _describe(store: Store, release_id: str, unprotected_id: str, texts: Sequence[str]) -> None:
    ids = {"id": unprotected_id}
    people = _people_of_every_slot(store, unprotected_id)
    published = store.frame("select * from counts.release where release_id = $id", **ids).with_columns(
        release_id=pl.lit(release_id),
        recipe=pl.lit(" ".join(texts)),
        total_low=pl.lit(people, pl.Int64),
        total_high=pl.lit(people, pl.Int64),
    )
    made = store.frame("select * from study.release where release_id = $id", **ids)
    settings = json.loads(made["settings"][0]) | {"protect": list(texts)}
    store.insert("counts.release", published)
    store.insert(
        "study.release",
        made.with_columns(release_id=pl.lit(release_id), settings=pl.lit(json.dumps(settings, sort_keys=True))),
    )


def _people_of_every_slot(store: Store, release_id: str) -> int | None:
    """How many people there are, where it is the same in every slot; None where it is not."""
    ((fewest, most, slots),) = store.rows(
        "select min(people), max(people), count(*) from (select sum(people)::bigint as people from counts.occupancy "
        "where release_id = $id group by slot)",
        id=release_id,
    )
    ((expected,),) = store.rows("select slots from counts.release where release_id = $id", id=release_id)
    return int(most) if fewest == most and slots == expected else None
