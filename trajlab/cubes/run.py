"""Attacks and risk, group by group: each group of a cube is a table of its own, of fewer people.

A group is made into a release and attacked or searched as any other. Groups that cannot be attacked are kept with the
reason. `report.cube_recovery` and `report.cube_risk` put groups and the whole side by side.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from trajlab import attacks
from trajlab.attacks.run import run
from trajlab.cubes import groups_by_size, settings_of
from trajlab.errors import ProtectionError, ReleaseError
from trajlab.release import groups
from trajlab.release.grid import records_fingerprint
from trajlab.release.making import make_release
from trajlab.risk import run as risk
from trajlab.risk import traces

if TYPE_CHECKING:
    from trajlab.attacks.run import Run
    from trajlab.cubes import Cube
    from trajlab.progress import Progress
    from trajlab.risk.run import Risk
    from trajlab.store import Store


@dataclass(frozen=True, slots=True)
class CubeRuns:
    """An attack on every group of a cube: the runs by group, and why the other groups cannot be attacked."""

    cube_id: str
    attack: str
    seed: int
    runs: dict[str, Run]
    refused: dict[str, str]

    @property
    def description(self) -> str:
        """How many groups were attacked, and which could not be, in a line."""
        whole = len(self.runs) + len(self.refused)
        text = f"{len(self.runs):,} of {whole:,} groups attacked"
        if self.refused:
            named = list(self.refused)[:5]
            more = f" and {len(self.refused) - 5:,} more" if len(self.refused) > 5 else ""
            text += f"; {', '.join(named)}{more} cannot be (report.cube_recovery says why)"
        return text


@dataclass(frozen=True, slots=True)
class CubeRisk:
    """A question asked of every group of a cube, and of everybody: answers by group, and over the whole release."""

    cube_id: str
    knowledge: str
    answers: dict[str, Risk]
    everybody: Risk


def attack_groups(
    store: Store, cube: Cube, attack: str, *, seed: int, pairing: str, settings: dict[str, Any], progress: Progress
) -> CubeRuns:
    """Attack each group of a cube, the largest first; what the lab has is not run again."""
    attacks.load(attack, **settings)  # one that does not exist is refused before groups are made
    whole = settings_of(store, cube.release_id)
    published = replace(whole, min_count=cube.min_count, protect=cube.recipe)
    runs: dict[str, Run] = {}
    refused: dict[str, str] = {}
    rows = []
    for value, people in sized_groups(store, cube):
        release_id = None
        try:
            release = make_release(store, replace(published, group=(cube.by, value)), progress)
            release_id = release.id
            if not len(release.counts):
                raise ReleaseError("no count of this group is left")
            runs[value] = run(store, release, attack, seed=seed, settings=settings, pairing=pairing, progress=progress)
        except (ProtectionError, ReleaseError) as error:
            refused[value] = str(error).partition("cannot be attacked this way: ")[2] or str(error)
        rows.append(
            {
                "cube_id": cube.id,
                "attack": attack,
                "settings": json.dumps(settings, sort_keys=True),
                "seed": seed,
                "value": value,
                "people": people,
                "release_id": release_id,
                "run_id": runs[value].id if value in runs else None,
                "reason": refused.get(value),
            }
        )
    texts = dict.fromkeys(("release_id", "run_id", "reason"), pl.String)
    with store.transaction(f"attack {attack} on cube {cube.id}"):
        store.execute(
            "delete from study.cube_run where cube_id = $cube and attack = $attack and settings = $settings "
            "and seed = $seed",
            cube=cube.id, attack=attack, settings=rows[0]["settings"], seed=seed,
        )  # fmt: skip
        store.insert("study.cube_run", pl.DataFrame(rows, schema_overrides=texts, infer_schema_length=None))
    return CubeRuns(cube.id, attack, seed, runs, refused)


def measure_groups(
    store: Store, cube: Cube, knowledge: str, *, basis: str, seed: int, settings: dict[str, Any], progress: Progress
) -> CubeRisk:
    """Ask one question of the traces of each group, and of everybody's."""

    def answer(release_id: str) -> Risk:
        searched = traces.of_release(store, release_id, basis, progress)
        return risk.measure(
            store, searched, searched, knowledge, seed=seed, sample=None, settings=settings, progress=progress
        )

    risk.parse_question(knowledge, seed=seed, sample=None, settings=settings)
    everybody = answer(cube.release_id)
    whole = replace(settings_of(store, cube.release_id), min_count=1)
    answers = {
        value: answer(make_release(store, replace(whole, group=(cube.by, value)), progress).id)
        for value, _ in sized_groups(store, cube)
    }
    ((in_full,),) = store.rows("select in_full from study.risk where risk_id = $id", id=everybody.id)
    frame = pl.DataFrame(
        {"value": list(answers), "risk_id": [found.id for found in answers.values()]},
        schema={"value": pl.String, "risk_id": pl.String},
    ).with_columns(
        cube_id=pl.lit(cube.id),
        knowledge=pl.lit(in_full),
        basis=pl.lit(basis),
        seed=pl.lit(seed),
        everybody_id=pl.lit(everybody.id),
    )
    with store.transaction(f"risk by {knowledge} of cube {cube.id}"):
        store.execute(
            "delete from study.cube_risk where cube_id = $cube and knowledge = $knowledge and basis = $basis "
            "and seed = $seed",
            cube=cube.id, knowledge=in_full, basis=basis, seed=seed,
        )  # fmt: skip
        store.insert("study.cube_risk", frame)
    return CubeRisk(cube.id, knowledge, answers, everybody)


def sized_groups(store: Store, cube: Cube) -> list[tuple[str, int]]:
    """The groups of a cube and their people, the largest first; refused where the lab has moved on since."""
    ((grouping_id, fingerprint),) = store.rows(
        "select cube.grouping_id, made.fingerprint from study.cube as cube "
        "join study.release as made using (release_id) where cube.cube_id = $id",
        id=cube.id,
    )
    with store.transaction(f"groups of cube {cube.id}"):
        if records_fingerprint(store) != fingerprint:
            raise ReleaseError(f"records were ingested since cube {cube.id} was made: make its release and it again")
        if groups.divide(store, cube.release_id, cube.by).id != grouping_id:
            raise ReleaseError(f"people are in other groups since cube {cube.id} was made: make it again")
    return groups_by_size(store, grouping_id)
