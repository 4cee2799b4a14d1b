"""schedule: how many people's weekly schedules the table gives away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trajlab.decide import INFERENCE, SHARE, TRACES, Finding, Unanswerable
from trajlab.decide import _recovered as recovered
from trajlab.decide._published import check_name
from trajlab.errors import PolicyError, RiskError, ScheduleError
from trajlab.schedule import parse_settings
from trajlab.settings import whole_number

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release

METRICS = ("totally_disclosed", "partly_disclosed", "prob_m", "prob_m_above_0.8", "ssr", "alike")


WORDS = {
    "totally_disclosed": "people whose week is given away wholly are",
    "partly_disclosed": "people whose week is given away in part are",
}


@dataclass(frozen=True, slots=True)
class Schedule:
    """`metric` of metrics.leak: what the sets of people who share `points` give away of a weekly `timetable`.

    Asked of what is `searched`, see singling_out, over sets of at least `min_k` people. A habit needs two weeks to
    show in, so a shorter table gives none away.
    """

    concern: ClassVar[str] = INFERENCE
    unit: ClassVar[str] = SHARE
    limit: ClassVar[str] = "at_most"

    metric: str = "totally_disclosed"
    points: int = 3
    timetable: str = "grid:60min"
    min_k: int = 2
    searched: str = "recovered:dsilva2024"

    def __post_init__(self) -> None:
        check_name("metric of schedules", self.metric, METRICS)
        whole_number("points", self.points, 1, error=PolicyError)
        whole_number("min_k", self.min_k, 2, error=PolicyError)
        recovered.parse_searched(self.searched)
        parse_settings(self.timetable, (), None)

    @property
    def about(self) -> str:
        return recovered.about(self.searched)

    def answer(self, lab: Lab, release: Release, limit: float, seed: int) -> Finding:
        if release.slots < 14 * release.slots_per_day:
            days = release.slots / release.slots_per_day
            return Finding(0.0, "no weekly habit shows in less than two weeks, which counts as", people=0,
                           note=f"the table has {days:g} days")  # fmt: skip
        searched = recovered.traces_for(lab, release, self.searched, seed)
        try:
            leak = lab.schedule(self.timetable, searched, points=self.points, min_k=self.min_k, seed=seed)
        except (ScheduleError, RiskError) as error:
            raise Unanswerable(str(error)) from error
        ((people, estimate, low, high),) = lab._store.rows(
            "select people, estimate, low, high from metrics.leak "
            "where leak_id = $id and min_k = $min_k and metric = $metric",
            id=leak.id,
            min_k=self.min_k,
            metric=self.metric,
        )
        if estimate is None:
            raise Unanswerable(f"nobody is in a set of {self.min_k} or more, so nobody's schedule was looked for")
        where = f"true traces (basis {leak.basis})" if self.about == TRACES else "recovered tracks"
        return Finding(
            estimate,
            WORDS.get(self.metric, f"of schedules, {self.metric.replace('_', ' ')} is"),
            low,
            high,
            None,
            round(estimate * people),
            note=f"over {people:,} people in sets of {self.min_k} or more {where}",
        )


RULE = Schedule
