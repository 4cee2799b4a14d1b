"""Origin-destination matrices: movements counted once, merged, and converted to zones; each kept under its id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from trajlab.errors import UtilityError
from trajlab.ids import digest
from trajlab.query import Query, step
from trajlab.risk.traces import tick_seconds
from trajlab.utility.overlap import overlap

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.store import Store
    from trajlab.utility.sides import Before, Side
    from trajlab.utility.targets import Target


@dataclass(frozen=True, slots=True)
class Settings:
    """What counts as constrained (minutes between two records) and as major; checked once."""

    shortest: float = 5.0
    longest: float = 100.0
    pareto: float = 0.8
    alpha: float = 0.05

    def __post_init__(self) -> None:
        for name in ("shortest", "longest", "pareto", "alpha"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise UtilityError(f"{name} must be a number, not {value!r}")
            object.__setattr__(self, name, float(value))
        if not 0 <= self.shortest <= self.longest < 1e6:
            raise UtilityError(
                "a constrained movement takes from shortest to longest minutes, 0 or more and not less than "
                f"shortest: not from {self.shortest:g} to {self.longest:g}"
            )
        for name, value in (("pareto", self.pareto), ("alpha", self.alpha)):
            if not 0 < value <= 1:
                raise UtilityError(f"{name} is a share above 0 and up to 1, not {value:g}")


@dataclass(frozen=True)
class Matrices:
    """Makes the matrices of one release between one set of zones; call it inside a transaction."""

    store: Store
    before: Before
    target: Target
    settings: Settings
    progress: Progress
    flows: Sequence[str] = ("raw", "constrained")
    """Those that must not be empty."""

    @property
    def flows_id(self) -> str:
        bounds = (self.settings.shortest, self.settings.longest)
        return "f" + digest(self.before.release_id, *bounds)

    def original(self) -> str:
        """The matrix of the release itself, with its hotspots and major flows."""
        self._count()
        od_id, new = self._converted(self.before.side, self.flows_id, generalised=False)
        if new:
            self._find_major(od_id)
        return od_id

    def published(self, side: Side, release_id: str) -> str:
        """The matrix of the flows that a release publishes; of the one before with hotspots and major flows."""
        is_before = release_id == self.before.release_id
        if is_before:
            self._count()  # who is where by the hour, which makes hotspots
        flows_id = "f" + digest("published", release_id)
        if not self.store.rows("select 1 from metrics.published_movement where flows_id = $id limit 1", id=flows_id):
            self._build("metrics.published_movement", {"flows_id": flows_id, "published_id": release_id})
            self._refuse_still(flows_id, release_id, is_before=is_before)
        od_id, new = self._converted(side, flows_id, published_id=release_id, generalised=not is_before)
        if is_before and new:
            self._find_major(od_id)
        return od_id

    def _refuse_still(self, flows_id: str, release_id: str, *, is_before: bool) -> None:
        some = self.store.rows("select 1 from metrics.published_movement where flows_id = $id limit 1", id=flows_id)
        if is_before and not some:
            raise UtilityError(
                f"nobody of release {release_id} is in another cell in the next slot, so there is no published flow to "
                "compare; take smaller cells or longer slots"
            )

    def _find_major(self, od_id: str) -> None:
        """Hotspots and major flows of a matrix before."""
        params = {
            "od_id": od_id,
            "flows_id": self.flows_id,
            "index_id": self.before.side.index_id,
            "zones_id": self.target.index_id,
            "zones": len(self.target.zones),
            "pareto": self.settings.pareto,
            "alpha": self.settings.alpha,
        }
        for table in ("metrics.od_zone", "metrics.major_flow"):
            self._build(table, params)

    def merged(self, side: Side, min_count: int = 1, published_id: str | None = None) -> str:
        """The matrix of the same movements between larger cells, after `original`.

        What fewer than `min_count` people do in a slot of the release `published_id` is left out.
        """
        slots_of = published_id if min_count > 1 else None
        flows_id = "f" + digest(self.flows_id, side.index_id, min_count, *([slots_of] if slots_of else []))
        if not self.store.rows("select 1 from metrics.merged_movement where flows_id = $id limit 1", id=flows_id):
            params = {
                "flows_id": flows_id,
                "source_id": self.flows_id,
                "index_id": self.before.side.index_id,
                "coarse_id": side.index_id,
                "min_count": min_count,
            }
            if slots_of is not None:
                self._build("metrics.slot_movement", params | self._slots(slots_of) | {"published_id": slots_of})
            self._build("metrics.merged_movement", params)
        return self._converted(side, flows_id, min_count=min_count, published_id=slots_of)[0]

    def _slots(self, release_id: str) -> dict[str, object]:
        """The clock of a release, and what counts as constrained."""
        ((slots,),) = self.store.rows("select slots from counts.release where release_id = $id", id=release_id)
        return {
            "tick_seconds": tick_seconds(self.store, release_id),
            "slots": slots,
            "shortest": 60 * self.settings.shortest,
            "longest": 60 * self.settings.longest,
        }

    def _count(self) -> None:
        """Movements and presence from records, once for a release and its bounds of time."""
        if not self.store.rows("select 1 from metrics.movement where flows_id = $id limit 1", id=self.flows_id):
            params = {
                "flows_id": self.flows_id,
                "release_id": self.before.release_id,
                "index_id": self.before.side.index_id,
                **self._slots(self.before.release_id),
            }
            for table in ("metrics.movement", "metrics.presence"):
                self._build(table, params)
        self._refuse_empty()

    def _refuse_empty(self) -> None:
        raw, constrained = self.store.rows(
            "select coalesce(sum(raw), 0), coalesce(sum(constrained), 0) from metrics.movement where flows_id = $id",
            id=self.flows_id,
        )[0]
        if not raw:
            raise UtilityError(
                f"nobody moves: no person of release {self.before.release_id} has two consecutive records in different "
                "cells, so there is no flow to compare; take smaller cells or a longer period"
            )
        if not constrained and "constrained" in self.flows:
            raise UtilityError(
                f"none of the {raw:,.0f} movements takes from {self.settings.shortest:g} to {self.settings.longest:g} "
                "minutes, so the constrained flow is empty: move the bounds with shortest and longest"
            )

    def _converted(
        self,
        side: Side,
        flows_id: str,
        *,
        min_count: int = 1,
        published_id: str | None = None,
        generalised: bool = True,
    ) -> tuple[str, bool]:
        """The matrix between zones of these movements, and whether it is new."""
        settings = self.settings
        od_id = "o" + digest(flows_id, self.target.index_id, settings.pareto, settings.alpha)
        if self.store.rows("select 1 from study.od where od_id = $id", id=od_id):
            return od_id, False
        with self.progress.step(f"areas of {side.index.name}"):
            overlap(self.store, side, self.target, self.before.box)
        params = {"od_id": od_id, "flows_id": flows_id, "index_id": side.index_id, "zones_id": self.target.index_id}
        self._build("metrics.od_flow", params)
        ((raw, constrained),) = self.store.rows(step("6_metrics/_od_total"), od_id=od_id)
        row = {
            "od_id": od_id,
            "release_id": self.before.release_id,
            "flows_id": flows_id,
            "index_id": side.index_id,
            "index_name": side.index.name,
            "generalised": generalised,
            "min_count": min_count,
            "published_id": published_id,
            "zones_id": self.target.index_id,
            "zones_name": self.target.index.name,
            "zones": len(self.target.zones),
            "shortest_minutes": settings.shortest,
            "longest_minutes": settings.longest,
            "pareto_share": settings.pareto,
            "alpha": settings.alpha,
            "raw": raw,
            "constrained": constrained,
        }
        self.store.insert("study.od", pl.DataFrame([row], schema_overrides={"published_id": pl.String}))
        return od_id, True

    def _build(self, table: str, params: dict[str, object]) -> None:
        with self.progress.step(table, poll=self.store.engine.percent_done):
            self.store.build(Query.load(table), **params)
