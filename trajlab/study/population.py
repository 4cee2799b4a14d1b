"""The same people in every release of a study: found once, and pinned where releases would differ.

Who is in a release depends on its cells and slots: zones hold only who was seen in one, and long slots are covered by
fewer records than short ones. What differs between two releases of a study should be what it varies, so it holds
the people whom every one of its releases would hold.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from trajlab.errors import StudyError
from trajlab.ids import digest
from trajlab.release.grid import records_fingerprint
from trajlab.release.making import Settings, covered_people, unprotected_settings
from trajlab.release.truth import unprotected_id

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.store import Store


@dataclass(frozen=True, slots=True)
class Population:
    """Whom every release of a study holds; `pinned` where releases have to be told."""

    id: str
    people: int
    left_out: int
    pinned: bool

    def apply(self, settings: Settings) -> Settings:
        """The settings of a release of these people."""
        if not self.pinned:
            return settings
        return dataclasses.replace(settings, people=None, coverage=0.0, population=self.id)


def find_population(store: Store, releases: Sequence[Settings], progress: Progress) -> Population:
    """The people of all releases, in the lab under an id that depends on the records and the settings alone."""
    bases = list(dict.fromkeys(unprotected_settings(store, settings) for settings in releases))
    asked = json.dumps([dataclasses.asdict(settings) for settings in bases], sort_keys=True)
    population_id = "p" + digest(asked, records_fingerprint(store))
    found = store.rows(
        "select people, left_out, pinned from study.population where population_id = $id", id=population_id
    )
    if not found:
        people, left_out, differs = _in_every_release(store, bases, progress)
        _store(store, population_id, asked, people, left_out, pinned=differs)
        return find_population(store, releases, progress)
    return Population(population_id, *found[0])


def pin_people(store: Store, release_id: str) -> str:
    """The people and days of a release as a population: for others that are to hold the same."""
    asked = json.dumps({"release_id": release_id})
    population_id = "p" + digest(asked)
    if not store.rows("select 1 from study.population where population_id = $id", id=population_id):
        people = store.frame(
            "select person, (first_slot // (7 * release.slots_per_day))::integer as week from slots.person "
            "join counts.release as release using (release_id) where release_id = $id and kept order by person",
            id=unprotected_id(store, release_id),
        )
        _store(store, population_id, asked, people, 0, pinned=True)
    return population_id


def _in_every_release(store: Store, bases: Sequence[Settings], progress: Progress) -> tuple[pl.DataFrame, int, bool]:
    """People with their days, how many are left out, and whether the releases would differ by themselves.

    Where they would not, the people are not kept: only how many there are counts.
    """
    samples = {(settings.people, settings.seed if settings.people else 0) for settings in bases}
    first, *others = [covered_people(store, settings, progress) for settings in _different(bases)]
    everywhere, somewhere = first, first
    for other in others:
        everywhere = everywhere.join(other.select("person"), on="person", how="semi", maintain_order="left")
        somewhere = pl.concat([somewhere, other]).unique("person", keep="first", maintain_order=True)
    if not len(everywhere):
        raise StudyError(
            "nobody is in every release of the study: lower coverage, or leave out the cells that cover few"
        )
    differs = any(not first.equals(other) for other in others)
    left_out = len(somewhere) - len(everywhere)
    if len(samples) > 1 and differs:
        raise StudyError(
            "the releases cover different people, and several seeds draw different samples of them: give one seed, or "
            "leave people out of [release]"
        )
    people, seed = samples.pop()
    if not differs:  # every release draws the same sample by itself
        return everywhere.head(people or len(everywhere)), left_out, differs
    return _draw(store, everywhere, people, seed), left_out, differs


def _different(bases: Sequence[Settings]) -> list[Settings]:
    """Those that can cover different people: without a least coverage, slots of any length have the same."""
    if any(settings.coverage or settings.align for settings in bases):
        return list({(settings.index, settings.slot): settings for settings in bases}.values())
    longest = {settings.index: settings for settings in sorted(bases, key=lambda settings: settings.slot)}
    return list(longest.values())


def _draw(store: Store, covered: pl.DataFrame, people: int | None, seed: int) -> pl.DataFrame:
    """The sample that the lottery of a release draws (slots.person), of the people of all releases."""
    if people is None:
        return covered
    if people > len(covered):
        raise StudyError(
            f"people={people:,} were asked for, and only {len(covered):,} are in every release of the study: ask for "
            "fewer, or lower coverage"
        )
    names = dict(store.rows("select person, uid from records.person"))
    order = sorted(
        covered["person"].to_list(),
        key=lambda person: (hashlib.md5(f"{seed}:{names[person]}".encode()).hexdigest(), names[person]),
    )
    return covered.filter(pl.col("person").is_in(order[:people])).sort("person")


def _store(store: Store, population_id: str, asked: str, people: pl.DataFrame, left_out: int, *, pinned: bool) -> None:
    row = {
        "population_id": population_id,
        "settings": asked,
        "people": len(people),
        "left_out": left_out,
        "pinned": pinned,
    }
    with store.transaction("the people of a study"):
        store.insert("study.population", pl.DataFrame([row]))
        if pinned:
            store.insert("slots.population", people.with_columns(population_id=pl.lit(population_id)))
