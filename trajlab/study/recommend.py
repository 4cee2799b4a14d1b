"""The least change that passes: coarser cells, longer slots, thresholds, rounding, noise, and what each loses.

`recommend(lab, release, policy="strict")` looks for the weakest changes that the policy lets through, and gives the
cheapest three; without a policy, the frontier: changes that none beats in both risk and loss. What may change is a
ladder from weak to strong. Higher thresholds, coarser rounding and more noise are taken to have no more risk, so that
most need not be measured. Larger cells and longer slots are all tried: they can make an attack easier.
"""

from __future__ import annotations

import dataclasses
import json
import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from trajlab.decide.policy import Policy
from trajlab.errors import ProtectionError, ReleaseError, StudyError
from trajlab.ids import digest
from trajlab.query import Query
from trajlab.release.grid import refuse_index
from trajlab.release.making import Settings, make_release
from trajlab.settings import whole_number
from trajlab.study.blur import blur
from trajlab.study.judges import Judge, Judgement, judge_by_policy, judge_by_risk
from trajlab.study.ladders import Ladders, build_ladders
from trajlab.study.population import pin_people
from trajlab.study.search import Point, least_of, search_cheapest, search_everything, search_frontier

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release

CHEAPEST = 3
FREE = 2
"""Cells and slots come first in a point, and along them risk may rise."""
ALIKE = 0.02
"""Risks that are no further apart are taken for the same when the frontier is looked for."""


@dataclass(frozen=True, eq=False)
class Recommendation:
    """What was found; its rows in the lab carry `id` as recommendation_id.

    `table` has a row for each change that was measured, with the columns of metrics.recommendation, the smallest loss
    first; `frontier` those that none beats in both risk and loss, `cheapest` up to three that pass. `candidates` is
    how many combinations there are, `looked_at` how many had to be measured.
    """

    id: str
    release_id: str
    risk_name: str
    table: pl.DataFrame
    candidates: int
    looked_at: int
    policy: str | None = None

    @property
    def frontier(self) -> pl.DataFrame:
        return self.table.filter("not_beaten")

    @property
    def main_points(self) -> pl.DataFrame:
        """Of the frontier, from the smallest loss on, each that lowers the risk by enough to be told from the last."""
        kept: list[int] = []
        reached = math.inf
        for place, risk in self.frontier.select("position", "risk").iter_rows():
            if reached - risk > ALIKE:
                kept.append(place)
                reached = risk
        return self.frontier.filter(pl.col("position").is_in(kept))

    @property
    def cheapest(self) -> pl.DataFrame:
        return self.table.drop_nulls("cheapest").sort("cheapest")

    def _points(self) -> pl.DataFrame:
        empty = pl.lit(None, pl.Float64)
        return self.table.with_columns(
            low=empty,
            high=empty,
            risk_name=pl.lit(self.risk_name),
            loss_name=pl.lit("Loss: what the table has not in common with the one without protection"),
        )

    @property
    def _title(self) -> str:
        return f"What makes {self.policy} pass" if self.policy else "What protects, and what it loses"

    def chart(self) -> str:
        """Risk against loss, a labelled point for each change, as the text of an SVG file."""
        from trajlab.report import risk_loss

        return risk_loss.svg(self._title, self._points())

    def save(self, path: str | Path) -> Path:
        """Write the chart: `.svg` or `.png` for the drawing alone, `.html` for a page with its numbers."""
        from trajlab.report import risk_loss, save

        return save(
            path,
            "recommend",
            svg=self.chart,
            html=lambda: risk_loss.html(self._title, self._points(), self.cheapest["command"].to_list()),
        )

    def __repr__(self) -> str:
        return (
            f"<Recommendation {self.id} for {self.release_id}: {len(self.cheapest)} that pass, "
            f"{len(self.frontier)} on the frontier, {self.looked_at} of {self.candidates} measured>"
        )


def recommend(
    lab: Lab,
    release: str,
    *,
    policy: str | Path | None = None,
    risk: str | None = None,
    index: Sequence[str] | None = None,
    slot: Sequence[str | int] | None = None,
    suppress: Sequence[int] | None = None,
    round: Sequence[int] | None = None,  # noqa: A002
    eps: Sequence[float] | None = None,
    unit: str = "person-day",
    seed: int = 0,
    thorough: bool = False,
    judge: Judge | None = None,
) -> Recommendation:
    """Measure changes of a release, from weak to strong, until it is clear which pass with the smallest loss."""
    if policy is not None and risk is not None:
        raise StudyError("a policy says what the risk is: give policy or risk, not both")
    seed = whole_number("seed", seed, 0, 2**63 - 1, error=StudyError)
    name = "share of rules on privacy that do not pass" if policy is not None else risk or "xu2017"
    with lab._store.transaction("what may change of a release"):  # people are pinned only if all of it makes sense
        settings = _settings(lab, release)
        rules = () if policy is None or judge else Policy.load(policy).rules
        published = lab.published(release)
        days = published.slots / published.slots_per_day
        ladders = build_ladders(settings, index, slot, suppress, round, eps, unit, rules, days)
        for cells in ladders.index:
            refuse_index(lab._store, cells, settings.box)
        label = None if policy is None else policy if judge else Policy.load(policy).name
        judge = judge or (judge_by_policy(lab, policy, seed) if policy is not None else judge_by_risk(lab, name, seed))
    case = _Case(lab, release, settings, ladders, judge)
    if thorough:
        search_everything(ladders.shape, case.risk)
    elif policy is not None:
        free, chains = ladders.shape[:FREE], ladders.shape[FREE:]
        search_cheapest(free, chains, case.is_unsafe, case.loss, case.passes, CHEAPEST)
    else:
        search_frontier(ladders.shape[:FREE], ladders.shape[FREE:], case.risk, case.loss, within=ALIKE)
    asked = (release, label, name, json.dumps(dataclasses.asdict(ladders), sort_keys=True), seed)
    return _store(lab, case, asked)


@dataclass
class _Case:
    """The changes that were made and measured so far."""

    lab: Lab
    release_id: str
    settings: Settings
    ladders: Ladders
    judge: Judge
    made: dict[Point, Release | None] = field(default_factory=dict)
    losses: dict[Point, float] = field(default_factory=dict)
    found: dict[Point, Judgement] = field(default_factory=dict)

    def release(self, point: Point) -> Release | None:
        """The release that a change makes; None where nothing is left to publish."""
        if point not in self.made:
            try:
                self.made[point] = make_release(self.lab._store, self.of(point), self.lab._progress)
            except ProtectionError as error:
                if "nothing to publish" not in str(error):
                    raise
                self.made[point] = None
        return self.made[point]

    def loss(self, point: Point) -> float | None:
        """What a change loses beside the release that nothing protects; None where nothing is left."""
        release = self.release(point)
        if release is None:
            return None
        if point not in self.losses:
            self.losses[point] = blur(self.lab._store, release.id, self.finest)
        return self.losses[point]

    @cached_property
    def finest(self) -> str:
        """The release without anything that protects its counts."""
        return make_release(self.lab._store, dataclasses.replace(self.settings, protect=()), self.lab._progress).id

    def risk(self, point: Point) -> float:
        """The risk of one change; a table of which nothing is left, or too little to attack, has none."""
        if point not in self.found:
            self.lab._progress.say(f"change {len(self.found) + 1}: {', '.join(self.describe(point))}")
            self.found[point] = self._judged(point, self.release(point))
        return self.found[point].risk

    def _judged(self, point: Point, made: Release | None) -> Judgement:
        """What is found of a change; one that an attack cannot use, such as a single cell, is left out."""
        if made is not None:
            try:
                return self.judge(made)
            except ReleaseError:
                if not any(point):  # the release as it is: whoever asks has to know
                    raise
                self.made[point] = None
        return Judgement(0.0, safe=True)

    def is_unsafe(self, point: Point) -> float:
        """0 where privacy is served, 1 where it is not: what a policy's verdict is searched by."""
        self.risk(point)
        return 0.0 if self.found[point].safe else 1.0

    def passes(self, point: Point) -> bool:
        return self.release(point) is not None and self.found[point].verdict == "pass"

    def of(self, point: Point) -> Settings:
        """The settings of the release that a change makes."""
        return dataclasses.replace(
            self.settings,
            index=self.ladders.index[point[0]],
            slot=self.ladders.slot[point[1]],
            protect=self.ladders.recipe(point),
        )

    def describe(self, point: Point) -> list[str]:
        settings = self.of(point)
        return [settings.index, f"{settings.slot / 60:g} min", *settings.protect]


def _store(lab: Lab, case: _Case, asked: tuple[Any, ...]) -> Recommendation:
    from trajlab.report.risk_loss import not_beaten

    store = lab._store
    recommendation_id = "a" + digest(*asked)
    rows = []
    for point, judged in case.found.items():
        release, settings = case.release(point), case.of(point)
        if release is None:
            continue
        rows.append(
            {
                "recommendation_id": recommendation_id,
                "release_id": release.id,
                "index_name": settings.index,
                "slot_minutes": settings.slot / 60,
                "recipe": " ".join(settings.protect),
                "risk": judged.risk,
                "loss": case.loss(point),
                "verdict": judged.verdict,
                "command": _command(settings),
            }
        )
    table = pl.DataFrame(rows, schema_overrides={"verdict": pl.String}).sort("loss", "risk", "release_id")
    least = [one.id for point in least_of(case.found, case.passes, FREE) if (one := case.release(point))]
    passing = table.filter(pl.col("release_id").is_in(least))["release_id"].to_list()[:CHEAPEST]
    places = {release_id: place for place, release_id in enumerate(passing, start=1)}
    table = table.with_columns(
        position=pl.int_range(1, len(table) + 1, dtype=pl.Int32),
        not_beaten=pl.Series(not_beaten(table), dtype=pl.Boolean),
        cheapest=pl.col("release_id").replace_strict(places, default=None, return_dtype=pl.Int32),
    )
    release_id, policy, name, ladders, seed = asked
    candidates = 1
    for places_of in case.ladders.shape:
        candidates *= places_of
    made = {
        "recommendation_id": recommendation_id,
        "release_id": release_id,
        "policy": policy,
        "risk_name": name,
        "ladders": ladders,
        "seed": seed,
        "possible_changes": candidates,
        "looked_at": len(case.found),
    }
    with store.transaction("the recommendation"):
        for query, frame in (
            ("study.recommendation", pl.DataFrame([made], schema_overrides={"policy": pl.String})),
            ("metrics.recommendation", table),
        ):
            store.clear(Query.load(query), recommendation_id=recommendation_id)
            store.insert(query, frame)
    shown = store.relation(Query.load("metrics.recommendation"), recommendation_id=recommendation_id)
    return Recommendation(
        recommendation_id, release_id, name, shown.drop("recommendation_id"), candidates, len(case.found), policy
    )


def _settings(lab: Lab, release_id: str) -> Settings:
    """The settings of a release without what protects its counts: where every change begins."""
    found = lab._store.rows(
        "select made.settings, release.index_name, release.recipe from study.release as made "
        "join counts.release as release using (release_id) where release_id = $id",
        id=release_id,
    )
    if not found:
        raise StudyError(f"release {release_id} was made elsewhere: the lab has no records to make another one of")
    ((text, index, recipe),) = found
    given = json.loads(text)
    given |= {
        "index": index,
        "box": None if given["box"] is None else tuple(given["box"]),
        "protect": tuple(recipe.split()),
    }
    if given.get("group") is not None:
        raise StudyError(f"release {release_id} holds one group: ask for the release of everybody")
    if any(note.startswith("no zone was given") for note in lab.published(release_id).notes):
        given["tz"] = None  # said again, it would be meant
    settings = Settings(**given)
    if settings.min_count > 1:
        settings = dataclasses.replace(
            settings, min_count=1, protect=(f"suppress:{settings.min_count}", *settings.protect)
        )
    if settings.coverage or settings.people is not None:
        population = pin_people(lab._store, release_id)
        settings = dataclasses.replace(settings, coverage=0.0, people=None, population=population)
    return settings


def _command(settings: Settings) -> str:
    """The command line that makes a release; LAB stands for the file of the lab."""
    words = ["trajlab", "release", "LAB", "--index", settings.index, "--slot", f"{settings.slot}s"]
    usual = Settings(index=settings.index, slot=settings.slot)
    for name in ("fill", "tz", "start", "days", "align", "seed", "outside", "box", "population"):
        value = getattr(settings, name)
        if value == getattr(usual, name):
            continue
        words.append(f"--{name}")
        words += [] if value is True else [str(part) for part in value] if name == "box" else [str(value)]
    words += ["--protect", *settings.protect] if settings.protect else []
    return shlex.join(words)
