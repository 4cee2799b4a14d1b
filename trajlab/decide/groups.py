"""May this cube be published? Every rule of a policy, asked of every group: each is a table of its own.

The worst group decides, since whoever publishes a cube publishes all of them. What groups give away together, and
beside the counts of everybody, is what `lab.differencing` finds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from trajlab.cubes import settings_of
from trajlab.cubes.run import sized_groups
from trajlab.decide.policy import Policy
from trajlab.decide.run import FAIL, PASS, REVIEW, WORDS, Decision, decide
from trajlab.errors import ProtectionError
from trajlab.ids import digest
from trajlab.query import Query
from trajlab.release.making import make_release

if TYPE_CHECKING:
    from trajlab.cubes import Cube
    from trajlab.lab import Lab

NOTHING = "no count of this group is left"


@dataclass(frozen=True, eq=False)
class CubeDecision:
    """The verdict on a cube; its rows in the lab carry `id` as cube_decision_id.

    `groups` has a row for each group (study.cube_decision), `rules` one for each rule with the group that keeps it
    worst (report.cube_verdict); `decisions` are those on the groups.
    """

    id: str
    cube_id: str
    policy: str
    verdict: str
    groups: pl.DataFrame
    rules: pl.DataFrame
    decisions: dict[str, Decision]

    def __str__(self) -> str:
        """The whole in one line."""
        many = dict(self.groups.group_by("verdict").len().iter_rows())
        parts = [f"{many[verdict]:,} {verdict}" for verdict in (FAIL, REVIEW, PASS) if verdict in many]
        return (
            f"{self.verdict}: {WORDS[self.verdict]} ({self.policy}: {', '.join(parts)} of {len(self.groups):,} groups)"
        )


def decide_groups(
    lab: Lab,
    cube: Cube,
    policy: str | Path | Policy,
    *,
    exceptions: Mapping[str, str] | None = None,
    seed: int = 0,
) -> CubeDecision:
    """Decide each group of a cube as a release of its own, the largest first; what the lab has is used again."""
    store = lab._store
    asked = Policy.load(policy).excepting(exceptions or {})
    published = replace(settings_of(store, cube.release_id), min_count=cube.min_count, protect=cube.recipe)
    decisions: dict[str, Decision] = {}
    rows = []
    for value, people in sized_groups(store, cube):
        try:
            release = make_release(store, replace(published, group=(cube.by, value)), lab._progress)
        except ProtectionError:
            release = None
        if release is not None and len(release.counts):
            decisions[value] = decide(lab, release, asked, seed=seed)
        rows.append({"value": value, "people": people})
    out = store.rows("select published_id from study.published order by all")
    decision_id = "w" + digest(cube.id, asked.hash, [rule.exception for rule in asked.rules], seed, out)
    groups = pl.DataFrame(rows, schema={"value": pl.String, "people": pl.Int64}).with_columns(
        cube_decision_id=pl.lit(decision_id),
        cube_id=pl.lit(cube.id),
        policy=pl.lit(asked.name),
        decision_id=_by_group({value: decision.id for value, decision in decisions.items()}, None),
        verdict=_by_group({value: decision.verdict for value, decision in decisions.items()}, PASS),
        reason=_by_group(dict.fromkeys(decisions, None), NOTHING),
    )
    with store.transaction("the decision on the cube"):
        store.clear(Query.load("study.cube_decision"), cube_decision_id=decision_id)
        store.insert("study.cube_decision", groups)
    verdicts = set(groups["verdict"])
    verdict = FAIL if FAIL in verdicts else REVIEW if REVIEW in verdicts else PASS
    rules = store.relation(Query.load("report.cube_verdict"), cube_decision_id=decision_id)
    return CubeDecision(decision_id, cube.id, asked.name, verdict, groups, rules, decisions)


def _by_group(known: Mapping[str, str | None], otherwise: str | None) -> pl.Expr:
    return pl.col("value").replace_strict(known, default=otherwise, return_dtype=pl.String)
