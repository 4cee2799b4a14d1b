"""What a change of a release is judged by: the rules of a policy, or one risk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from trajlab import attacks
from trajlab.decide import UTILITY
from trajlab.decide.policy import Policy
from trajlab.decide.run import FAIL, PASS, verdict_of
from trajlab.errors import UnknownNameError
from trajlab.metrics import optimal
from trajlab.risk import knowledge

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release

MEMBERSHIP = "membership"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is found of one release: its risk, whether privacy is served, and the verdict of a policy."""

    risk: float
    safe: bool
    verdict: str | None = None


Judge = Callable[["Release"], Judgement]


ROWS = ("contributors", "dominance", "epsilon", "p_percent", "residents", "rounding", "smallest_count")
"""Rules about rows and recipes: answered in no time, and most changes that fail, fail one of these."""


def judge_by_policy(lab: Lab, policy: str | Path, seed: int) -> Judge:
    """The share of its rules on privacy that do not pass; at least, where a rule about rows fails: no attack is run."""
    asked = [rule for rule in Policy.load(policy).rules if rule.rule.concern != UTILITY and not rule.exception]
    first = [rule for rule in asked if rule.name in ROWS]

    def judge(release: Release) -> Judgement:
        failing = sum(verdict_of(lab, release, rule, seed) == FAIL for rule in first)
        if failing:
            return Judgement(failing / len(asked), safe=False, verdict=FAIL)
        decision = lab.decide(release, policy, seed=seed)
        rules = decision.rules.filter((pl.col("concern") != UTILITY) & pl.col("exception").is_null())
        failing = int((rules["verdict"] != PASS).sum())
        return Judgement(failing / max(len(rules), 1), safe=not failing, verdict=decision.verdict)

    return judge


def judge_by_risk(lab: Lab, name: str, seed: int) -> Judge:
    """An attack by the slots that it recovers, an adversary by whom it singles out, membership by its advantage."""
    if name in attacks.names():

        def share(release: Release) -> Judgement:
            pairing = "optimal" if release.people <= optimal.UP_TO else "greedy"
            run = lab.attack(release, name, seed=seed, pairing=pairing)
            scores = lab.sql(
                "select estimate from report.accuracy where run_id = $id and level = 3 order by pairing desc", id=run.id
            )
            return Judgement(float(scores["estimate"][0]), safe=False)

        return share
    if name == MEMBERSHIP:

        def advantage(release: Release) -> Judgement:
            found = lab.membership(release, adversary="release-only", seed=seed).table.filter(measure="advantage")
            return Judgement(float(found["estimate"][-1]), safe=False)

        return advantage
    if name.partition(":")[0] not in knowledge.names():
        raise UnknownNameError(
            "risk", name, [*attacks.names(), MEMBERSHIP, *(f"{kind}:…" for kind in knowledge.names())]
        )
    knowledge.load(name)

    def singled_out(release: Release) -> Judgement:
        return Judgement(lab.risk(release, name, seed=seed).unique_share, safe=False)

    return singled_out
