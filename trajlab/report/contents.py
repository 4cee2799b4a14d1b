"""What every part of the page needs to know of the lab: its releases and what to call them."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from trajlab.query import catalogue
from trajlab.report import listing, words
from trajlab.report.evidence import Answer

if TYPE_CHECKING:
    from trajlab.lab import Lab

RELEASES = """
with published as (
    select
        release_id,
        count(*) as counts,
        median(people)::double as median_count,
        avg(case when people = 1 then 1.0 else 0.0 end) as alone,
        max(people) as largest_count
    from counts.occupancy
    group by release_id
),

size as (
    select
        published_cell.release_id,
        count(*) as cells,
        median(cell.area_km2) as median_area_km2
    from (select distinct release_id, cell from counts.occupancy) as published_cell
    join counts.release as release using (release_id)
    left join grid.cell as cell using (index_id, cell)
    group by published_cell.release_id
),

most_at_once as (
    select release_id, max(people)::bigint as people
    from (select release_id, slot, sum(people) as people from counts.occupancy group by release_id, slot)
    group by release_id
)

-- What somebody else published has no line in report.summary: only its counts are known.
select
    release.release_id,
    release.index_name,
    release.slot_seconds / 60.0::double as slot_minutes,
    release.slots,
    release.fill,
    release.min_count,
    coalesce(summary.people, most_at_once.people, 0) as people,
    coalesce(summary.cells, size.cells, 0) as cells,
    coalesce(summary.counts, published.counts, 0) as counts,
    coalesce(summary.flow_counts, 0) as flows,
    coalesce(summary.median_count, published.median_count) as median_count,
    coalesce(summary.alone, published.alone) as alone,
    summary.hidden,
    summary.observed_share as observed,
    1 - summary.observed_share as filled,
    size.median_area_km2,
    published.largest_count,
    made.left_out,
    made.last_source,
    made.settings,
    release.index_id,
    release.starts,
    release.tz,
    release.slot_seconds,
    release.slots_per_day
from counts.release as release
left join report.summary as summary using (release_id)
left join study.release as made using (release_id)
left join published using (release_id)
left join size using (release_id)
left join most_at_once using (release_id)
order by release.index_name, slot_minutes, release.fill, release.min_count, release.release_id
"""

SOURCES = """
-- By kind and not by file: a file is often one person's, and called after them.
with outcome as (
    select
        source_id,
        coalesce(sum(rows) filter (outcome = 'kept'), 0) as kept,
        coalesce(sum(rows) filter (outcome <> 'kept'), 0) as refused
    from records.tally
    group by source_id
)

select
    source.kind,
    source.tz,
    count(*) as sources,
    sum(source.rows)::bigint as rows,
    coalesce(sum(outcome.kept), 0)::bigint as kept,
    coalesce(sum(outcome.refused), 0)::bigint as refused
from records.source as source
left join outcome using (source_id)
group by source.kind, source.tz
order by source.kind, source.tz
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
    def own(self) -> bool:
        """Whether the lab made it, and so knows the truth behind it; else somebody else published it."""
        return self.row["left_out"] is not None

    @property
    def days(self) -> int:
        return -(-int(self.row["slots"]) // int(self.row["slots_per_day"]))

    @property
    def period(self) -> tuple[dt.date, dt.date] | None:
        """First and last day; None for a table that tells no dates."""
        if not listing.dated(self.row):
            return None
        first = self.row["starts"].date()
        return first, first + dt.timedelta(days=self.days - 1)


@dataclass(frozen=True)
class Contents:
    lab: Lab
    summary: Answer
    releases: tuple[Published, ...]
    examples: int = 0
    """People whose days may be drawn: none, unless whoever writes the page says that they may be."""

    @classmethod
    def of(cls, lab: Lab, *, examples: int = 0) -> Contents:
        summary = Answer.to(lab, RELEASES)
        rows = list(summary.frame.iter_rows(named=True))
        releases = tuple(Published(row, name) for row, name in zip(rows, _names(rows), strict=True))
        return cls(lab, summary, releases, examples)

    def only(self, release: Published) -> Contents:
        """The same lab as if it had this one release."""
        frame = self.summary.frame.filter(pl.col("release_id") == release.id)
        return replace(self, summary=replace(self.summary, frame=frame), releases=(release,))

    @cached_property
    def sources(self) -> Answer:
        return self.ask(SOURCES)

    def ask(self, sql: str, **params: str | int | float) -> Answer:
        """What the lab answers; a table that its trajlab did not know yet holds nothing, so neither does the answer."""
        if self._missing.intersection(re.findall(r"\b[a-z]+\.[a-z_]+\b", sql)):
            return Answer(sql.strip(), params, pl.DataFrame())
        return Answer.to(self.lab, sql, **params)

    @cached_property
    def _missing(self) -> set[str]:
        """Tables that this trajlab knows and the lab, made by an older one and open for reading, lacks."""
        there = self.lab.sql("select table_schema || '.' || table_name as name from information_schema.tables")
        return set(catalogue()).difference(there["name"])

    def name_of(self, release_id: str) -> str:
        return next((release.name for release in self.releases if release.id == release_id), release_id)


def _names(rows: list[dict[str, Any]]) -> list[str]:
    """The kind of cells, then only those settings in which the releases differ, then the id."""
    told = listing.differences(rows, besides=("index_name",))
    names = [" · ".join([words.cells(row["index_name"]), *more]) for row, more in zip(rows, told, strict=True)]
    return [
        f"{name} ({row['release_id']})" if names.count(name) > 1 else name
        for name, row in zip(names, rows, strict=True)
    ]
