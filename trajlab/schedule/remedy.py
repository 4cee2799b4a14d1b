"""A simulated remedy: how far schedule leakage falls when places are merged or slots lengthened (ma2017, section V).

One release for each index and slot, the same question asked of each. What is published are slots, one
place for each, so that a longer slot blurs both what an adversary knows and what there is to learn. The numbers
are those of metrics.remedy.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import polars as pl

from trajlab.errors import ScheduleError
from trajlab.release.slots import slot_seconds
from trajlab.study.run import each_once

if TYPE_CHECKING:
    from trajlab.lab import Lab


def remedies(
    lab: Lab, timetable: Any, *, index: Any, slot: Any, basis: str, release: dict[str, Any], question: dict[str, Any]
) -> pl.DataFrame:
    """One row per index and slot, in the order given; the first is what the others are compared with."""
    cases = list(
        itertools.product(each_once("index", index), dict.fromkeys(map(slot_seconds, each_once("slot", slot))))
    )
    if len(cases) < 2:
        raise ScheduleError(
            'nothing to compare: give index or slot as a list of at least two, such as index=["places", "places:1"]'
        )
    leaks = []
    for of, seconds in cases:
        made = lab.release(of, seconds, **release)
        leaks.append(lab.schedule(timetable, made, basis=basis, **question))
    settings = pl.DataFrame(
        {
            "index": [of for of, _ in cases],
            "slot_minutes": [seconds / 60 for _, seconds in cases],
            "leak_id": [leak.id for leak in leaks],
        }
    )
    scores = lab.table("metrics.remedy", leak_id=leaks[0].id).rename({"median_crowd": "median_k"})
    scores = scores.drop("release_id", "index_name", "slot_minutes", "basis")
    return settings.join(scores, on="leak_id", maintain_order="left").select(pl.exclude("leak_id"), "leak_id")
