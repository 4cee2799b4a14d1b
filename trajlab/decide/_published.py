"""What rules about the rows of a table share: who is behind each, and whether noise stands in for a threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from trajlab.cubes import settings_of
from trajlab.decide import TRUTH, Finding, Unanswerable
from trajlab.errors import UnknownNameError
from trajlab.protect import load_recipe
from trajlab.protect.noise import Noise
from trajlab.query import step
from trajlab.release.making import make_release
from trajlab.release.truth import unprotected_id

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release

TABLES = ("both", "occupancy", "flow")
OVER = ("slot", "period")


def check_name(kind: str, name: str, known: Sequence[str]) -> None:
    """Refuse a setting that is none of these names."""
    if name not in known:
        raise UnknownNameError(kind, name, known)


def truth_of(lab: Lab, release: Release) -> str:
    """The id under which the lab keeps the people behind a release."""
    truth = unprotected_id(lab._store, release.id)
    if not lab._store.rows("select 1 from slots.person where release_id = $id limit 1", id=truth):
        raise Unanswerable(TRUTH)
    return truth


@contextmanager
def beside_everything(lab: Lab, release: Release) -> Iterator[tuple[str, str]]:
    """The release that every count is in, and this one: what a rule on usefulness compares.

    Behind a release of `min_count` there is none of every count. It is made while the rule is asked, with this one as
    the recipe `suppress` makes it, row for row the same, and neither stays in the lab.
    """
    truth = truth_of(lab, release)
    if release.min_count <= 1:
        yield truth, release.id
        return
    with lab._store.rehearsal("the table without its threshold"):
        asked = replace(settings_of(lab._store, truth), min_count=1, protect=(f"suppress:{release.min_count}",))
        made = make_release(lab._store, asked, lab._progress)
        (were,), (are,) = (
            lab._store.rows("select fingerprint from study.release where release_id = $id", id=one)
            for one in (truth, made.id)
        )
        if were != are:
            raise Unanswerable("records were added after the release was made: make it again, and decide about that")
        yield truth_of(lab, made), made.id


def rows_behind(lab: Lab, release: Release, table: str, least: int) -> tuple[int, int | None, int, int]:
    """Of the rows published: how many, fewest people behind one, rows with fewer than `least`, the people in those."""
    ((rows, fewest, few_rows, few_people),) = lab._store.rows(
        step("6_metrics/_contributors"),
        release_id=release.id,
        truth_id=truth_of(lab, release),
        table=table,
        least=least,
    )
    return rows, fewest, few_rows, few_people


def epsilon_of(release: Release, unit: str) -> float | None:
    """The ε that the noise of a release leaves per unit, by sequential composition; None without noise.

    A unit moves one count in each of its slots, or in as many as `clip` says of each unit of the noise; each costs
    1 / scale. A unit that is longer than the table is the whole table.
    """
    for protection in load_recipe(release.recipe):
        if isinstance(protection, Noise):
            slots, day = release.slots, release.slots_per_day
            asked = min({"person-slot": 1, "person-day": day, "person-week": 7 * day, "person": slots}[unit], slots)
            own = protection.unit_slots(slots, day)
            moved = min(protection.bound(slots, day) * -(-asked // own), asked)
            return moved / protection.scale(slots, day)
    return None


def noise_answers(release: Release, most: float, limit: float) -> Finding | None:
    """Noise of at most that ε per person-week in place of a threshold; None where it does not stand in for one."""
    eps = epsilon_of(release, "person-week") if most > 0 else None
    if eps is None or eps > most:
        return None
    subject = "noise on every count hides who is behind it, which counts as"
    return Finding(limit, subject, people=0, note=f"ε = {eps:.3g} per person-week")
