"""Adversaries who know some of a person's elements, whichever they are: the worst combination, and the mean.

Risk of a person is the maximum over all combinations of `most` elements of 1 / traces that
fit (Pellungrini et al. 2018, as scikit-mobility computes it); people with fewer elements
are known entirely. Elements are the visits of a person, or the places, with what is known of them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from trajlab.errors import RiskError
from trajlab.risk.crowds.fitting import Fit
from trajlab.risk.crowds.lists import Floats, Ints, Lists, lists, number_items
from trajlab.risk.crowds.walking import NONE, Walk

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.risk.knowledge import Question
    from trajlab.store import Store

LIMIT = 100_000
"""Different combinations of a person up to which all are looked at and the mean is given."""
BEAM = 32
"""Beginnings of combinations that a first search for the maximum extends, per person."""
AT_ONCE = 500
"""People above the limit who are searched together."""


def search(
    store: Store,
    ask: Question,
    progress: Progress,
    elements: str,
    *,
    most: int,
    limit: int = LIMIT,
    called: str = "visits",
    ordered: bool = False,
    fit: Fit | None = None,
    whole: bool = False,
    **params: object,
) -> None:
    """Fill `metrics.anonymity` for the elements that the SELECT `elements` finds of the traces $id.

    It gives trace, slot, cell, label, n and value: n equal elements at a cell (and time `label`), and the
    value that has to fit, or null. `ordered`: they have to fit in the order of slots, then cells.
    `whole`: whoever has fewer than `most` is nothing unusual.
    """
    target = store.frame("select trace, own from metrics.target where risk_id = $id order by trace", id=ask.risk_id)
    traces = store.frame("select trace from slots.trace where traces_id = $id order by trace", id=ask.searched_id)
    themselves = ask.known_id == ask.searched_id
    frames = [store.frame(elements, id=ask.searched_id, **params)]
    if not themselves:
        known = store.frame(elements, id=ask.known_id, **params)
        frames.append(known.join(target.select("trace"), on="trace", how="semi"))
    if fit is not None and fit.exact:  # a place with a value is then an element like any other
        frames = [frame.with_columns(label="value", value=pl.lit(None, pl.Float64)) for frame in frames]
        fit = None
    frames, items = number_items(frames)
    theirs = lists(frames[0], traces["trace"], ordered=ordered)
    everybody = themselves and len(target) == len(traces)
    mine = theirs if everybody else lists(frames[-1], target["trace"], ordered=ordered)
    frames.clear()  # the lists have it all
    have = mine.elements
    if not whole and most > have.max(initial=0):
        raise RiskError(
            f"nobody has {most:,} {called}: of {len(have):,} people the one with most has {have.max(initial=0):,}"
        )
    walk = Walk(
        mine,
        theirs,
        items,
        most,
        ordered,
        fit,
        None if themselves else _own(target, traces),
        _binomials(int(have.max(initial=0)), most),
    )
    over = _choices(mine, walk.size, most) > limit
    walk.over(np.flatnonzero(~over))
    _maximum(walk, np.flatnonzero(over), progress)
    store.insert(
        "metrics.anonymity", _answer(walk, over, target, len(traces)).with_columns(risk_id=pl.lit(ask.risk_id))
    )


def check(most: int, limit: int, called: str = "visits", tolerance: float = 0.0) -> None:
    """Refuse settings that make no sense."""
    for name, value in ((called, most), ("limit", limit)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise RiskError(f"{name} must be a whole number, 1 or more, not {value!r}")
    if not 0.0 <= tolerance <= 1.0:
        raise RiskError(f"tolerance is a share of the value, from 0 to 1, not {tolerance!r}")


def _maximum(walk: Walk, people: Ints, progress: Progress) -> None:
    """The worst combination alone: the rarest beginnings first, and the rest only while it can be worse."""
    if not len(people):
        return
    walk.bounded = True
    if walk.own is None and walk.fit is None and not walk.ordered:
        walk.floor[people] = _same_everything(walk.known, walk.searched, people)
    for begin in range(0, len(people), AT_ONCE):
        some = people[begin : begin + AT_ONCE]
        for walk.beam in (BEAM, None):
            walk.over(some[walk.best[some] > walk.floor[some]])
        progress.show(begin + len(some), len(people))


def _same_everything(known: Lists, searched: Lists, people: Ints) -> Ints:
    """How many traces have all that the person has: no combination of it leaves fewer."""
    groups = int(max(known.item.max(initial=0), searched.item.max(initial=0))) + 1
    there = searched.owner * groups + searched.item  # sorted: a trace's items are
    by_item = np.argsort(searched.item, kind="stable")
    begin, stop = (
        np.searchsorted(searched.item[by_item], known.item[known.first[people]], side=side)
        for side in ("left", "right")
    )
    who = np.repeat(np.arange(len(people)), stop - begin)
    trace = searched.owner[by_item[np.repeat(begin, stop - begin) + _steps(stop - begin)]]
    length = np.diff(known.first)[people]
    for place in range(int(length.max(initial=0))):
        asked = np.flatnonzero(length[who] > place)
        group = known.first[people][who[asked]] + place
        at = np.minimum(np.searchsorted(there, trace[asked] * groups + known.item[group]), len(there) - 1)
        has = (there[at] == trace[asked] * groups + known.item[group]) & (searched.size[at] >= known.size[group])
        kept = np.ones(len(who), bool)
        kept[asked] = has
        who, trace = who[kept], trace[kept]
    return np.bincount(who, minlength=len(people))


def _steps(counts: Ints) -> Ints:
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)


def _own(target: pl.DataFrame, traces: pl.DataFrame) -> Ints:
    found = target.join(
        traces.with_row_index("place"), left_on="own", right_on="trace", how="left", maintain_order="left"
    )
    return found["place"].cast(pl.Int64).fill_null(-1).to_numpy()


def _binomials(elements: int, most: int) -> Ints:
    """How many ways there are to take up to `most` of up to `elements`."""
    largest = math.comb(elements, min(most, elements // 2))
    if largest * max(most, 1) >= 2**62:
        raise RiskError(
            f"a person with {elements:,} elements has more than 10^18 combinations of {most:,}: ask for fewer"
        )
    table = np.zeros((elements + 1, most + 1), np.int64)
    table[:, 0] = 1
    for taken in range(1, most + 1):
        table[1:, taken] = np.cumsum(table[:-1, taken - 1])
    return table


def _choices(mine: Lists, size: Ints, most: int) -> Floats:
    """How many different combinations each person has, equal elements being the same."""
    ways = np.zeros((len(size), most + 1))
    ways[:, 0] = 1
    length = np.diff(mine.first)
    for place in range(int(length.max(initial=0))):
        rows = np.flatnonzero(length > place)
        equal = mine.size[mine.first[rows] + place]
        shorter = ways[rows]
        for more in range(1, most + 1):
            ways[rows, more:] += np.where((equal >= more)[:, None], shorter[:, : most + 1 - more], 0)
    return ways[np.arange(len(size)), size]


def _answer(
    walk: Walk, over: np.ndarray[tuple[int], np.dtype[np.bool_]], target: pl.DataFrame, traces: int
) -> pl.DataFrame:
    """One row a person; whoever has no elements at all might be anybody."""
    people = len(walk.size)
    combinations = walk.choose[walk.known.elements, walk.size]
    nothing = walk.size == 0
    own = np.ones(people, bool) if walk.own is None else walk.own >= 0
    found = np.where(nothing, own, walk.best < NONE)
    k = np.where(nothing, traces, np.where(found, walk.best, walk.least))
    risk = np.where(found, 1 / np.maximum(k, 1), 0.0)
    mean = np.where(nothing, risk, _means(walk) / combinations)
    return pl.DataFrame(
        {
            "trace": target["trace"],
            "known": pl.Series(walk.size, dtype=pl.Int32),
            "k": k,
            "found": found,
            "risk": risk,
            "mean_risk": pl.Series(mean).set(pl.Series(over), None),
            "combinations": combinations,
        }
    )


def _means(walk: Walk) -> Floats:
    """Sums of ways / k, added in the order of k so that the names of cells cannot change a digit."""
    who, k, ways = walk.sums()
    total: Floats = walk.alone.astype(np.float64) + np.bincount(who, ways / k, minlength=len(walk.alone))
    return total
