"""A decision: every rule of a policy asked of one release, answered and kept.

A rule passes where the worse end of its interval keeps the limit, fails where not even the better end does, and is
under review where the interval straddles the limit, or where this release cannot answer. The whole fails with
any rule that fails, is under review with any under review, and passes otherwise. A rule with a written exception
keeps its own verdict, and the whole is decided without it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from trajlab.attacks.run import adopt
from trajlab.decide import EPSILON, NUMBER, PEOPLE, SHARE, Finding, Unanswerable
from trajlab.decide.policy import Policy, PolicyRule
from trajlab.errors import PolicyError
from trajlab.ids import digest
from trajlab.progress import Steps
from trajlab.query import Query
from trajlab.settings import whole_number

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release

PASS, FAIL, REVIEW = "pass", "fail", "review"
WORDS = {PASS: "publish", FAIL: "do not publish", REVIEW: "somebody has to look at it"}
EXIT = {PASS: 0, FAIL: 1, REVIEW: 3}
"""What the command ends with; 2 is a mistake."""
SCHEMA = {
    "estimate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "yardstick": pl.Float64,
    "lower_limit": pl.Float64,
    "upper_limit": pl.Float64,
    "people": pl.Int64,
    "worst_decile": pl.Float64,
    "exception": pl.String,
}


@dataclass(frozen=True, eq=False)
class Decision:
    """The verdict on one release under one policy; its rows in the lab carry `id` as decision_id.

    `rules` has a row for each rule, with the columns of metrics.verdict.
    """

    id: str
    release_id: str
    policy: str
    verdict: str
    rules: pl.DataFrame

    def __str__(self) -> str:
        """The whole in one line."""
        counts = self.rules.group_by("verdict").len()
        many = dict(counts.iter_rows())
        excepted = self.rules["exception"].is_not_null().sum()
        parts = [f"{many[v]} {v}" for v in (FAIL, REVIEW, PASS) if v in many]
        beside = f", {excepted} by exception" if excepted else ""
        return f"{self.verdict}: {WORDS[self.verdict]} ({self.policy}: {', '.join(parts)} of {len(self.rules)}{beside})"

    def __repr__(self) -> str:
        return f"<Decision {self.id} on {self.release_id}: {self}>"


def decide(
    lab: Lab,
    release: Release,
    policy: str | Path | Policy,
    *,
    exceptions: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Decision:
    """Ask every rule; what the lab has already is used, what is missing is made and kept."""
    seed = whole_number("seed", seed, 0, 2**63 - 1, error=PolicyError)
    asked = Policy.load(policy).excepting(exceptions or {})
    adopt(lab._store, release)
    steps = Steps(len(asked.rules), lab._progress)
    rows, groups = [], []
    for position, rule in enumerate(asked.rules, 1):
        steps.next(str(rule))
        found = _answer(lab, release, rule, seed)
        rows.append(_row(position, rule, found))
        if isinstance(found, Finding) and found.groups is not None:
            groups.append(found.groups.with_columns(position=pl.lit(position, pl.Int32)))
    frame = pl.DataFrame(rows, schema_overrides=SCHEMA).with_columns(pl.col("position").cast(pl.Int32))
    verdict = whole(frame)
    out = lab._store.rows("select published_id from study.published order by all")
    decision_id = "v" + digest(release.id, asked.hash, [rule.exception for rule in asked.rules], seed, out)
    with lab._store.transaction("the decision"):
        _write(lab, decision_id, release, asked, seed, verdict, frame, groups)
    return Decision(decision_id, release.id, asked.name, verdict, frame)


def load(lab: Lab, decision_id: str) -> Decision:
    """A decision that the lab has."""
    found = lab._store.rows(
        "select release_id, policy, verdict from study.decision where decision_id = $id", id=decision_id
    )
    if not found:
        known = ", ".join(row[0] for row in lab._store.rows("select decision_id from study.decision order by all"))
        raise PolicyError(f"the lab has no decision {decision_id!r}; it has {known or 'none: ask with trajlab decide'}")
    rules = lab._store.relation(Query.load("metrics.verdict"), decision_id=decision_id).drop("decision_id")
    ((release_id, policy, verdict),) = found
    return Decision(decision_id, release_id, policy, verdict, rules)


def verdict_of(lab: Lab, release: Release, rule: PolicyRule, seed: int) -> str:
    """The verdict of one rule by itself; nothing is kept of it."""
    return str(_row(1, rule, _answer(lab, release, rule, seed))["verdict"])


def whole(rules: pl.DataFrame) -> str:
    """The verdict on everything: the worst of those without an exception."""
    verdicts = set(rules.filter(pl.col("exception").is_null())["verdict"])
    return FAIL if FAIL in verdicts else REVIEW if REVIEW in verdicts else PASS


def judge(kind: str, limit: float, low: float, high: float) -> str:
    """Whether an interval keeps a limit: pass with both ends, fail with neither, else review."""
    if kind == "at_most":
        return PASS if high <= limit else FAIL if low > limit else REVIEW
    return PASS if low >= limit else FAIL if high < limit else REVIEW


def _answer(lab: Lab, release: Release, rule: PolicyRule, seed: int) -> Finding | str:
    """What the rule found, or why it cannot be answered."""
    try:
        return rule.rule.answer(lab, release, rule.limit, seed)
    except Unanswerable as reason:
        return str(reason)


def _row(position: int, rule: PolicyRule, found: Finding | str) -> dict[str, object]:
    kind = rule.rule.limit
    same = {
        "position": position,
        "rule": rule.name,
        "settings": rule.settings,
        "concern": rule.rule.concern,
        "about": rule.rule.about,
        "unit": rule.rule.unit,
        "lower_limit": rule.limit if kind == "at_least" else None,
        "upper_limit": rule.limit if kind == "at_most" else None,
        "why": rule.why,
        "exception": rule.exception or None,
    }
    if isinstance(found, str):
        numbers = dict.fromkeys(("estimate", "low", "high", "yardstick", "people", "worst_decile"))
        return {**same, **numbers, "verdict": REVIEW, "sentence": f"cannot be answered: {found}"}
    low = found.estimate if found.low is None else found.low
    high = found.estimate if found.high is None else found.high
    return {
        **same,
        "estimate": found.estimate,
        "low": low,
        "high": high,
        "yardstick": found.yardstick,
        "people": found.people,
        "worst_decile": found.worst_decile,
        "verdict": judge(kind, rule.limit, low, high),
        "sentence": _sentence(rule, found, low, high),
    }


def _sentence(rule: PolicyRule, found: Finding, low: float, high: float) -> str:
    """The finding in words: what, how much, how sure, and what is allowed."""
    unit = rule.rule.unit
    interval = "" if found.low is None else f" ({written(low, unit)} to {written(high, unit)})"
    note = f" {found.note}" if found.note.startswith("of ") else f"; {found.note}" if found.note else ""
    allowed = f"{rule.rule.limit.replace('_', ' ')} {written(rule.limit, unit)}"
    return f"{found.subject} {written(found.estimate, unit)}{interval}{note}; the limit is {allowed}"


def written(number: float, unit: str) -> str:
    """A number in its unit, as a reader writes it."""
    if math.isinf(number):
        return "without bound"
    if unit == SHARE:
        return f"{100 * number:.1f} %"
    if unit == EPSILON:
        return f"ε = {number:.3g}"
    whole_one = number == int(number)
    if unit == PEOPLE:
        return f"{int(number):,}" if whole_one else f"{number:,.1f}"
    if unit == NUMBER:
        return f"{int(number):,}" if whole_one else f"{number:.3g}"
    raise ValueError(unit)


def _write(
    lab: Lab,
    decision_id: str,
    release: Release,
    policy: Policy,
    seed: int,
    verdict: str,
    rules: pl.DataFrame,
    groups: list[pl.DataFrame],
) -> None:
    row = {
        "decision_id": decision_id,
        "release_id": release.id,
        "policy": policy.name,
        "policy_text": policy.text,
        "policy_hash": policy.hash,
        "records_hash": _records_hash(lab, release),
        "seed": seed,
        "verdict": verdict,
    }
    for table in ("study.decision", "metrics.verdict", "metrics.verdict_by_group"):
        lab._store.clear(Query.load(table), decision_id=decision_id)
    lab._store.insert("study.decision", pl.DataFrame([row]))
    lab._store.insert("metrics.verdict", rules.with_columns(decision_id=pl.lit(decision_id)))
    if groups:
        frame = pl.concat(groups, how="vertical_relaxed").with_columns(decision_id=pl.lit(decision_id))
        lab._store.insert("metrics.verdict_by_group", frame)


def _records_hash(lab: Lab, release: Release) -> str:
    """What the release was made from: the digest of its records, or of its counts where it was made elsewhere."""
    found = lab._store.rows("select fingerprint from study.release where release_id = $id", id=release.id)
    if found:
        return str(found[0][0])
    counts = lab._store.frame(
        "select slot, cell, people from counts.occupancy where release_id = $id order by all", id=release.id
    )
    return hashlib.sha256(counts.write_csv().encode()).hexdigest()[:16]
