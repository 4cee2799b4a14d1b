"""Adversaries who know some of a person's elements, whichever they are: the worst combination, and the mean.

Risk of a person is the maximum over all combinations of `most` elements of 1 / traces that
fit (Pellungrini et al. 2018, as scikit-mobility computes it); people with fewer elements
are known entirely. Elements are the visits of a person, or the places, with what is known of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from trajlab.errors import RiskError
from trajlab.risk.crowds import combining, walking
from trajlab.risk.knowledge import Answer

if TYPE_CHECKING:
    from trajlab.risk.crowds.fitting import Fit
    from trajlab.risk.knowledge import Case, Show, Visits

LIMIT = combining.LIMIT
NOTHING = pl.lit(0, pl.Int64)


@dataclass(frozen=True, slots=True)
class AnyCombination:
    """What `search` is asked, for whoever answers it shard by shard."""

    read: Callable[[Visits], pl.DataFrame]
    most: int
    limit: int
    called: str
    ordered: bool
    fit: Fit | None
    whole: bool

    def refuse_too_many(self, longest: int, people: int) -> None:
        if not self.whole and self.most > longest:
            raise RiskError(
                f"nobody has {self.most:,} {self.called}: of {people:,} people the one with most has {longest:,}"
            )


def check(most: int, limit: int, called: str = "visits", tolerance: float = 0.0) -> None:
    """Refuse settings that make no sense."""
    for name, value in ((called, most), ("limit", limit)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise RiskError(f"{name} must be a whole number, 1 or more, not {value!r}")
    if not 0.0 <= tolerance <= 1.0:
        raise RiskError(f"tolerance is a share of the value, from 0 to 1, not {tolerance!r}")


def elements(
    frame: pl.DataFrame,
    *,
    n: pl.Expr | None = None,
    value: pl.Expr | None = None,
    at: pl.Expr = NOTHING,
    label: pl.Expr = NOTHING,
) -> pl.DataFrame:
    """A row of `frame` (trace, cell, ...) as elements of its trace.

    It is `n` equal elements at its cell (and time `label`), one unless said; `value` is what has to fit, and `at`
    the order of elements where that matters.
    """
    return frame.select(
        holder="trace",
        at=at,
        key="cell",
        label=label,
        n=pl.lit(1, pl.Int64) if n is None else n,
        value=pl.lit(None, pl.Float64) if value is None else value.cast(pl.Float64),
    )


def search_places(case: Case, show: Show, value: str, *, most: int, limit: int, fit: Fit) -> Answer:
    """The answer for any `most` places of a person, of which the column `value` of `Visits.places` has to fit."""

    def read(visits: Visits) -> pl.DataFrame:
        return elements(visits.places(), value=pl.col(value))

    return search(case, show, read, most=most, limit=limit, called="places", fit=fit)


def search(
    case: Case,
    show: Show,
    read: Callable[[Visits], pl.DataFrame],
    *,
    most: int,
    limit: int = LIMIT,
    called: str = "visits",
    ordered: bool = False,
    fit: Fit | None = None,
    whole: bool = False,
) -> Answer:
    """The answer for any `most` of the elements that `read` makes of visits.

    `ordered`: they have to fit in their order. `whole`: whoever has fewer than `most` is nothing unusual.
    """
    asked = AnyCombination(read, most, limit, called, ordered, fit, whole)
    if case.divided is not None:
        return case.divided(asked)
    wanted = case.targets.select("own", holder="trace")
    frames = [read(case.searched)]
    if not case.same:
        frames.append(read(case.known).join(wanted, on="holder", how="semi"))
    problem = combining.build_problem(frames, wanted, case.searched.traces(), ordered=ordered, fit=fit)
    asked.refuse_too_many(problem.longest, len(wanted))
    with telling_what_to_do():
        found = combining.solve(problem, most, limit, show)
    return Answer(found.with_columns(case.targets["trace"]))


@contextmanager
def telling_what_to_do() -> Iterator[None]:
    """A search that is given up says how to ask for less."""
    try:
        yield
    except walking.TooMuchWorkError as error:
        raise RiskError(
            f"{error} for people with more than the limit: "
            "ask for fewer elements, for a sample of people, or take a coarser grid or longer slots"
        ) from None
