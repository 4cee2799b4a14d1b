"""A first look at checked sources, before anything is written: rows, faults, and how times are written."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from trajlab.errors import IngestError
from trajlab.ingest._times import no_zone
from trajlab.query import step


@dataclass(frozen=True, slots=True)
class Survey:
    """What a first look at a source tells."""

    rows: int
    faults: int
    zoned: int = 0
    naive: int = 0
    numbers: int = 0
    repeated: int = 0
    at_zero: int = 0
    bad_times: int = 0
    no_zone: int = 0
    with_degrees: int = 0
    fits_swapped: int = 0
    only_fits_swapped: int = 0
    only_fits_as_is: int = 0
    one_fault: str | None = None
    """The reason of every refused row, where there is one for all of them."""

    @property
    def looks_swapped(self) -> bool:
        """Most latitudes are impossible, no longitude is, and swapped nearly all are right."""
        return (
            2 * self.only_fits_swapped > self.with_degrees
            and self.only_fits_as_is == 0
            and 100 * self.fits_swapped >= 99 * self.with_degrees
        )


def survey_rows(con: duckdb.DuckDBPyConnection) -> dict[int, Survey]:
    """Count `ingest_row` by source and person (`ingest_survey`), and look closer where any row is unusual."""
    con.execute(f"create or replace temp table ingest_survey as {step('1_records/_survey_people')}")
    counted = con.sql(step("1_records/_survey_sources")).fetchall()
    if not any(unusual for *_, unusual in counted):
        return {source: Survey(rows, faults) for source, rows, faults, _ in counted}
    closer = {source: more for source, *more in con.sql(step("1_records/_survey_oddities")).fetchall()}
    return {source: Survey(rows, faults, *closer[source]) for source, rows, faults, _ in counted}


def refuse_unreadable_times(survey: Survey, *, tz: str | None, column: str, where: str) -> None:
    if tz is None and survey.no_zone:
        if survey.zoned or survey.numbers:
            raise IngestError(
                f"{where}: times in column {column!r} carry a zone in {survey.zoned + survey.numbers:,} rows and "
                f"none in {survey.naive:,}: say which zone the others are in with tz=..., "
                "for example tz='Europe/Lisbon'"
            )
        raise IngestError(no_zone(where, column))
    if survey.rows and survey.bad_times == survey.rows:
        reason = f": {survey.one_fault}" if survey.one_fault not in (None, "time not understood") else ""
        raise IngestError(
            f"{where}: no time in column {column!r} could be read, from row 1 on{reason}; expected ISO 8601 such as "
            "2013-04-01T12:00:00+02:00, or seconds or milliseconds since 1970"
        )
