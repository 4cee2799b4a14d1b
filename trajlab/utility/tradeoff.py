"""What a generalisation costs and what it protects: risk against loss of utility, and the curve through both (yin2015).

`lab.tradeoff(release)` generalises a release step by step, asks at each step how many people are singled out and
how much of the flows between zones is lost, and fits loss = -a risk^b + c. Every answer is kept by what it
is an answer to, so a study with more steps, adversaries or zones only adds what is missing.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import polars as pl

from trajlab.errors import UnknownNameError, UtilityError
from trajlab.ids import digest
from trajlab.progress import Steps
from trajlab.query import Query, tables_of
from trajlab.risk import run as risk
from trajlab.utility import FLOWS, MEASURES, Matrices, Settings, Utility, compare, generalised_risk, sides
from trajlab.utility.curve import fit
from trajlab.utility.targets import Target, target
from trajlab.version import versions

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.store import Store
    from trajlab.utility.sides import Before, Side

    Indexed = TypeVar("Indexed", Side, Target)

SIZES = tuple(range(200, 2801, 200))
"""Metres: the generalisations of yin2015."""
KNOWLEDGE = ("top:2", "top:3", "points:4", "points:8")
SCOPES = ("all", "frequent", "frequent_of_all")


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """One study; its rows in the lab carry `id` as tradeoff_id.

    `points` has a row for each generalisation, adversary and measure (metrics.tradeoff), `fits` one for each curve
    (metrics.tradeoff_fit), both with the name of the zones.
    """

    id: str
    release_id: str
    points: pl.DataFrame
    fits: pl.DataFrame
    basis: str
    notes: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """Of what the risk is: what was searched, and what counted as a visit."""
        return risk.describe_basis("traces", self.basis)

    def chart(self) -> str:
        """Figures 4 to 13 of yin2015 on one sheet, as the text of an SVG file."""
        from trajlab.report import tradeoffs

        return tradeoffs.svg(self)

    def save(self, path: str | Path) -> Path:
        """Write the charts: `.svg` or `.png` for the drawings alone, `.html` for a page with their numbers."""
        from trajlab.report import save, tradeoffs

        return save(path, "tradeoff", svg=lambda: tradeoffs.svg(self), html=lambda: tradeoffs.html(self))

    def __repr__(self) -> str:
        steps = self.points.filter(pl.col("step") > 0)["step"].n_unique()
        fitted = int(self.fits["reason"].is_null().sum())
        curves = f"{fitted} of {len(self.fits)} curves fitted"
        return f"<Tradeoff {self.id}: {steps} generalisations, {curves}, basis {self.basis}>"


@dataclass(frozen=True)
class Plan:
    """What a trade-off varies and measures, checked once."""

    indexes: tuple[str, ...] | None
    """None for those of yin2015."""
    zones: tuple[str | Path | None, ...]
    questions: generalised_risk.Questions
    measures: tuple[str, ...] = MEASURES
    flows: tuple[str, ...] = FLOWS
    scope: str = "all"
    settings: Settings = dataclasses.field(default_factory=Settings)

    def __post_init__(self) -> None:
        for kind, given, known in (
            ("measure", self.measures, MEASURES),
            ("kind of flows", self.flows, FLOWS),
            ("scope", (self.scope,), SCOPES),
        ):
            for name in given:
                if name not in known:
                    raise UnknownNameError(kind, name, known)
        for what, some in (
            ("generalisation", self.indexes is None or self.indexes),
            ("adversary", self.questions.knowledge),
            ("measure", self.measures),
            ("kind of flows", self.flows),
            ("set of zones", self.zones),
        ):
            if not some:
                raise UtilityError(f"a trade-off needs at least one {what}, and none was given")
        for name in self.indexes or ():
            if not isinstance(name, str):
                raise UtilityError(f"a generalisation is an index such as 'stations:800', not {name!r}")


def default_indexes(side: Side) -> list[str]:
    """Stations merged within 200 to 2,800 m, or squares of that side for any other kind of cells; only larger ones."""
    kind = "stations" if side.index.name.startswith("stations") else "square"
    larger = [f"{kind}:{size}" for size in SIZES if size > _size(side)]
    if not larger:
        raise UtilityError(
            f"the cells of {side.index.name} are larger than any of yin2015 (up to {SIZES[-1]:,} m): name larger ones, "
            f"such as index=['square:{4 * SIZES[-1]}', ...]"
        )
    return larger


def study(store: Store, release_id: str, plan: Plan, progress: Progress) -> Tradeoff:
    """Every step that the lab lacks, then the points and the curves; refusals come before the long work."""
    with store.transaction("the generalisations"):
        before = sides.before(store, release_id)
        indexes = default_indexes(before.side) if plan.indexes is None else plan.indexes
        larger = _once(sides.generalised(store, before.side, spec, before.box) for spec in indexes)
        worlds = _once(target(store, zones, before.box) for zones in plan.zones)
        matrices = [Matrices(store, before, zones, plan.settings, progress, plan.flows) for zones in worlds]
        for each in matrices:
            each.original()
    steps = Steps((len(larger) + 1) + len(larger) * len(worlds), progress)
    steps.next("risk of the release")
    generalised_risk.measure(store, before, before.side, plan.questions, progress)
    compared: dict[tuple[int, int], Utility] = {}
    for z, each in enumerate(matrices):
        for n, side in enumerate(larger, start=1):
            steps.next(f"utility of {side.index.name}")
            with store.transaction(f"utility of {side.index.name}"):
                compared[z, n] = compare(each, side)
    for side in larger:
        steps.next(f"risk after {side.index.name}")
        generalised_risk.measure(store, before, side, plan.questions, progress)
    costs = {where: found.id for where, found in compared.items()}
    tradeoff_id = _identity(release_id, worlds, costs, plan)
    if not store.rows("select 1 from study.tradeoff where tradeoff_id = $id", id=tradeoff_id):
        with store.transaction("the trade-off"):
            _describe(store, tradeoff_id, before, larger, worlds, costs, plan)
            tables = tables_of("tradeoff_id", {"tradeoff_id"})
            after_the_curve = [query for query in tables if "metrics.tradeoff_fit" in query.reads]
            for query in tables:
                if query not in after_the_curve:
                    store.build(query, tradeoff_id=tradeoff_id)
            _refuse_empty_scope(store, tradeoff_id, plan.scope)
            _fit(store, tradeoff_id)
            for query in after_the_curve:
                store.build(query, tradeoff_id=tradeoff_id)
    notes = tuple(dict.fromkeys(note for found in compared.values() for note in found.notes))
    return dataclasses.replace(load_tradeoff(store, tradeoff_id), notes=notes)


def _once(indexed: Iterable[Indexed]) -> list[Indexed]:
    """The first of those that are the same under several names."""
    found: dict[int, Indexed] = {}
    for each in indexed:
        found.setdefault(each.index_id, each)
    return list(found.values())


def load_tradeoff(store: Store, tradeoff_id: str) -> Tradeoff:
    """A trade-off that the lab has."""
    found = store.rows(
        "select release_id, basis, knowledge from study.tradeoff where tradeoff_id = $id", id=tradeoff_id
    )
    if not found:
        known = [name for (name,) in store.rows("select tradeoff_id from study.tradeoff")]
        raise UnknownNameError("trade-off", tradeoff_id, known)
    ((release_id, basis, knowledge),) = found
    zones = store.frame(
        "select distinct zones_id, zones_name as zones from study.tradeoff_step where tradeoff_id = $id", id=tradeoff_id
    )
    points, fits = (
        _in_order(store.relation(Query.load(table), tradeoff_id=tradeoff_id).join(zones, on="zones_id"), knowledge)
        for table in ("metrics.tradeoff", "metrics.tradeoff_fit")
    )
    return Tradeoff(tradeoff_id, release_id, points, fits, basis)


def _in_order(rows: pl.DataFrame, knowledge: str) -> pl.DataFrame:
    """By zones, then in the order in which adversaries, flows and measures were listed, then by step."""
    orders = {"knowledge": knowledge.split(" "), "flows": FLOWS, "measure": MEASURES}
    listed = [pl.col(name).cast(pl.Enum(names)) for name, names in orders.items()]
    rows = rows.sort("zones", *listed, *(["step"] if "step" in rows.columns else []))
    first = ["zones", *orders]
    return rows.select(*first, pl.exclude(*first, "tradeoff_id", "zones_id"))


def _named(worlds: list[Target]) -> list[str]:
    """What each set of zones is called; files of one name from several folders are numbered."""
    names = [zones.called for zones in worlds]
    return [
        name if names.count(name) == 1 else f"{name} ({names[: n + 1].count(name)})" for n, name in enumerate(names)
    ]


def _identity(release_id: str, worlds: list[Target], costs: dict[tuple[int, int], str], plan: Plan) -> str:
    parts = (release_id, plan.questions, plan.measures, plan.flows, plan.scope, sorted(costs.items()), _named(worlds))
    return "c" + digest(*parts)


def _describe(
    store: Store,
    tradeoff_id: str,
    before: Before,
    larger: list[Side],
    worlds: list[Target],
    costs: dict[tuple[int, int], str],
    plan: Plan,
) -> None:
    """Rows of study.tradeoff and study.tradeoff_step."""
    questions = plan.questions
    row = {
        "tradeoff_id": tradeoff_id,
        "release_id": before.release_id,
        "basis": questions.basis,
        "knowledge": " ".join(questions.knowledge),
        "flows": " ".join(plan.flows),
        "measures": " ".join(plan.measures),
        "scope": plan.scope,
        "seed": questions.seed,
        "sample": questions.sample,
        "versions": versions("duckdb", "numpy", "scipy", "shapely"),
    }
    store.insert("study.tradeoff", pl.DataFrame([row], schema_overrides={"sample": pl.Int64}))
    steps = [
        {
            "tradeoff_id": tradeoff_id,
            "zones_id": zones.index_id,
            "zones_name": name,
            "step": n,
            "index_name": side.index.name,
            "coarse_id": side.index_id,
            "cells": len(side.cells),
            "size_m": _size(side),
            "utility_id": costs.get((z, n)),
        }
        for z, (zones, name) in enumerate(zip(worlds, _named(worlds), strict=True))
        for n, side in enumerate((before.side, *larger))
    ]
    store.insert("study.tradeoff_step", pl.DataFrame(steps, schema_overrides={"step": pl.Int32}))


def _size(side: Side) -> float:
    """The side of merging squares, 0 for stations that are not merged, else of a square as large as the median cell."""
    if hasattr(side.index, "side"):
        return float(side.index.side or 0)
    return 1000 * math.sqrt(float(np.nanmedian(side.index.area_km2(side.cells))))


def _fit(store: Store, tradeoff_id: str) -> None:
    keys = ("zones_id", "knowledge", "flows", "measure")
    points = store.frame(
        "select zones_id, knowledge, flows, measure, step, risk, loss from metrics.tradeoff "
        "where tradeoff_id = $id and step > 0 order by all",
        id=tradeoff_id,
    )
    rows = [
        dict(zip(keys, key, strict=True)) | dataclasses.asdict(fit(part["risk"], part["loss"].cast(pl.Float64)))
        for key, part in points.partition_by(*keys, as_dict=True, maintain_order=True).items()
    ]
    numbers = dict.fromkeys(("a", "b", "c", *(f"{x}_{y}" for x in "abc" for y in ("error", "p")), "r2"), pl.Float64)
    frame = pl.DataFrame(
        rows, schema_overrides={**numbers, "steps": pl.Int32, "reason": pl.String, "zones_id": pl.UInt64}
    )
    store.insert("metrics.tradeoff_fit", frame.with_columns(tradeoff_id=pl.lit(tradeoff_id)))
    store.check_grain(Query.load("metrics.tradeoff_fit"), tradeoff_id=tradeoff_id)


def _refuse_empty_scope(store: Store, tradeoff_id: str, scope: str) -> None:
    if not store.rows("select 1 from metrics.tradeoff where tradeoff_id = $id limit 1", id=tradeoff_id):
        raise UtilityError(
            f"nobody is in the scope {scope!r}: no person has a record a day on average; take scope='all'"
        )
