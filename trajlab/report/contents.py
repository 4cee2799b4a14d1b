"""What every part of the page needs to know of the lab: its releases and what to call them."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from trajlab.report import words
from trajlab.report.evidence import Answer

if TYPE_CHECKING:
    from trajlab.lab import Lab

RELEASES = """
with published_cell as (
    select release_id, cell, max(people) as most
    from counts.occupancy
    group by release_id, cell
),

size as (
    select
        published_cell.release_id,
        median(cell.area_km2) as median_area_km2,
        max(published_cell.most) as largest_count
    from published_cell
    join counts.release as release using (release_id)
    left join grid.cell as cell using (index_id, cell)
    group by published_cell.release_id
)

select
    summary.*,
    1 - summary.observed as filled,
    size.median_area_km2,
    size.largest_count,
    made.left_out,
    release.index_id,
    release.starts,
    release.tz,
    release.slot_seconds,
    release.slots_per_day
from report.summary as summary
join counts.release as release using (release_id)
join study.release as made using (release_id)
left join size using (release_id)
order by summary.index_name, summary.slot_minutes, summary.fill, summary.min_count, summary.release_id
"""

SOURCES = """
select
    source.source_id,
    source.name,
    source.kind,
    source.tz,
    source.rows,
    coalesce(sum(tally.rows) filter (tally.outcome = 'kept'), 0)::bigint as kept,
    coalesce(sum(tally.rows) filter (tally.outcome <> 'kept'), 0)::bigint as refused
from records.source as source
left join records.tally as tally using (source_id)
group by all
order by source.source_id
"""


@dataclass(frozen=True)
class Published:
    """One release, by the row that sums it up."""

    row: dict[str, Any]
    name: str
    """Kind of cells, and whatever else tells it from the other releases on the page."""

    @property
    def id(self) -> str:
        return str(self.row["release_id"])

    @property
    def days(self) -> int:
        return -(-int(self.row["slots"]) // int(self.row["slots_per_day"]))

    @property
    def period(self) -> tuple[dt.date, dt.date]:
        first = self.row["starts"].date()
        return first, first + dt.timedelta(days=self.days - 1)


@dataclass(frozen=True)
class Contents:
    lab: Lab
    summary: Answer
    releases: tuple[Published, ...]

    @classmethod
    def of(cls, lab: Lab) -> Contents:
        summary = Answer.to(lab, RELEASES)
        rows = list(summary.frame.iter_rows(named=True))
        releases = tuple(Published(row, name) for row, name in zip(rows, _names(rows), strict=True))
        return cls(lab, summary, releases)

    @cached_property
    def sources(self) -> Answer:
        return self.ask(SOURCES)

    def ask(self, sql: str, **params: str | int | float) -> Answer:
        return Answer.to(self.lab, sql, **params)

    def name_of(self, release_id: str) -> str:
        return next(release.name for release in self.releases if release.id == release_id)


def _names(rows: list[dict[str, Any]]) -> list[str]:
    """The kind of cells, then only those settings in which the releases differ, then the id."""
    told = {
        "index_name": lambda row: words.cells(row["index_name"]),
        "slot_seconds": lambda row: words.span(row["slot_seconds"]),
        "fill": lambda row: f"fill {row['fill']}",
        "min_count": lambda row: f"counts from {row['min_count']}",
        "people": lambda row: words.people(row["people"]),
        "starts": lambda row: f"from {row['starts']:%Y-%m-%d}",
        "slots": lambda row: words.counted(row["slots"], "slot"),
    }
    differing = [key for key in told if key == "index_name" or len({row[key] for row in rows}) > 1]
    names = [" · ".join(told[key](row) for key in differing) for row in rows]
    return [
        f"{name} ({row['release_id']})" if names.count(name) > 1 else name
        for name, row in zip(names, rows, strict=True)
    ]
