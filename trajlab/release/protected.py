"""A release whose counts are protected: made from the release without protection, which stays in the lab.

It has an id, counts, flows and a calendar of its own. Whose counts they are is kept once, under the release that it
was made from (`study.release.unprotected_id`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from trajlab.errors import ProtectionError
from trajlab.ids import digest
from trajlab.protect import COUNTS, SETTINGS, CountProtection, Table, name_of
from trajlab.protect.noise import Noise
from trajlab.query import Query, catalogue, step
from trajlab.release import noisy, notes

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
    people = _people_of_every_slot(store, unprotected_id)
    found = _Found(None if people is None else (people, people))
    for name, keys in KEYS.items():
        counts = _counts(store, name, keys, unprotected_id)
        for number, protection in enumerate(steps):
            chance = _generator(seed, unprotected_id, texts, name, number)
            if isinstance(protection, Noise) and name == "counts.occupancy":
                counts, found = _with_noise(store, unprotected_id, counts, protection, table, chance, found)
            else:
                counts = _applied(counts, protection, table, chance)
        if name == "counts.occupancy" and not len(counts):
            raise ProtectionError(f"{' '.join(texts)} leaves no count of this release: there is nothing to publish")
        store.insert(name, counts.drop("contributors").with_columns(release_id=pl.lit(release_id)).sort(keys))
        store.check_grain(Query.load(name), release_id=release_id)
    _describe(store, release_id, unprotected_id, texts, found)
    for query in catalogue().values():
        if query.kind == "table" and query.scope == ("release_id",) and query.table.startswith("report."):
            store.build(query, release_id=release_id)
    more = [] if found.clipped is None else list(noisy.describe(steps, table, seed, found.clipped))
    if any(getattr(protection, "secondary", "") for protection in steps):
        more.append(("flows", 1.0, "no flows are published beside secondary suppression: they add up to its counts"))
    notes.write_protected(store, release_id, unprotected_id, steps, more)


@dataclass(frozen=True, slots=True)
class _Found:
    """What is to be said of a protected release besides its counts."""

    total: tuple[int, int] | None
    claim: str | None = None
    clipped: float | None = None


def _with_noise(
    store: Store,
    unprotected_id: str,
    counts: pl.DataFrame,
    noise: Noise,
    table: Table,
    chance: np.random.Generator,
    found: _Found,
) -> tuple[pl.DataFrame, _Found]:
    """Noisy counts, and what holds of them; how many people there are is then read off them, as anybody can."""
    before = noisy.person_slots(counts)
    counts = noisy.clip(store, unprotected_id, noise, table, chance) if noise.clip else counts
    clipped = 1 - noisy.person_slots(counts) / before
    made = _applied(counts, noise, table, chance)
    total = None if noise.clip or found.total is None else noisy.estimate_total(made, noise, table)
    return made, _Found(total, noise.claim(table.slots, table.slots_per_day), clipped)


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


def _describe(store: Store, release_id: str, unprotected_id: str, texts: Sequence[str], found: _Found) -> None:
    ids = {"id": unprotected_id}
    low, high = (None, None) if found.total is None else found.total
    published = store.frame("select * from counts.release where release_id = $id", **ids).with_columns(
        release_id=pl.lit(release_id),
        recipe=pl.lit(" ".join(texts)),
        total_low=pl.lit(low, pl.Int64),
        total_high=pl.lit(high, pl.Int64),
    )
    made = store.frame("select * from study.release where release_id = $id", **ids)
    settings = json.loads(made["settings"][0]) | {"protect": list(texts)}
    store.insert("counts.release", published)
    store.insert(
        "study.release",
        made.with_columns(
            release_id=pl.lit(release_id),
            settings=pl.lit(json.dumps(settings, sort_keys=True)),
            claim=pl.lit(found.claim, pl.String),
            clipped_share=pl.lit(found.clipped, pl.Float64),
        ),
    )


def _people_of_every_slot(store: Store, release_id: str) -> int | None:
    """How many people there are, where filling puts everybody somewhere in every slot; None where it does not."""
    ((fill, people),) = store.rows(
        "select release.fill, made.people from counts.release as release join study.release as made using (release_id) "
        "where release.release_id = $id",
        id=release_id,
    )
    return None if fill == "none" else int(people)
