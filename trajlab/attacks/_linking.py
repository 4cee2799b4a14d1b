"""Days joined to days: each track goes on as the one that it resembles most, all in all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from trajlab.attacks._city import City, Floats, Ints
from trajlab.attacks._similarity import Alike, savings, shares
from trajlab.attacks._steps import Step, StepLog
from trajlab.matching import Plan, assign, spread
from trajlab.matching.ties import keys

TOGETHER = 256
"""Tracks that are compared with each other to tell those of one group apart: bounds memory and time."""


def link(city: City, day: int, earlier: Sequence[Ints], today: Ints, log: StepLog, *, threads: int = 1) -> Ints:
    """For every track so far the track of `today` that continues it.

    `earlier` are the same tracks on one or more days before; of several, the day that is most
    like `today` counts.
    """
    alike = [Alike(before, today, city.cells) for before in earlier]
    row_term = np.min([each.row_term for each in alike], axis=0)

    behind = row_term - np.array([each.row_term for each in alike])

    def saved(rows: Ints, columns: Ints | None) -> csr_array:
        return savings(alike, behind, rows, columns)

    number = np.arange(city.people)
    answer = assign(
        saved,
        city.people,
        most=1.0,
        row_keys=keys(city.seed, number, day),
        column_keys=keys(city.seed, number, -day),
        rng=city.chance(day),
        threads=threads,
    )
    shared_nothing = city.people * alike[0].constant + float(row_term.sum() + alike[0].column_term.sum())
    log.add(
        Step(
            slot=day * city.slots_per_day,
            stage="link",
            sources=city.people,
            sinks=city.people,
            cost=shared_nothing - answer.saved,
            bound=shared_nothing - answer.bound,
            rounds=answer.rounds,
        )
    )
    return answer.column


def keep_apart(city: City, earlier: Sequence[Ints], so_far: Ints, today: Ints, column: Ints) -> Ints:
    """The same links, but tracks that `link` could not tell apart go on as they did on all days before.

    Tracks that were in the same cells as long on each of the `earlier` days cost the same
    with every track of today, so exchanging theirs costs nothing.
    """
    same = np.zeros(city.people, dtype=np.uint64)
    for day in earlier:
        same += keys(city.seed, city.cell_keys.view(np.int64)[day].view(np.uint64).sum(axis=1).view(np.int64))
    _, group = np.unique(same, return_inverse=True)
    plan = Plan(group, column, np.ones(city.people, dtype=np.int64))

    def leanings(members: Ints) -> tuple[Ints, Ints, Floats]:
        """Pairs within a group that share cells, and how much: some hundred tracks of a group at a time."""
        found = []
        members = members[np.argsort(group[members], kind="stable")]
        for start in range(0, len(members), TOGETHER):
            some = members[start : start + TOGETHER]
            shared = shares(so_far[some], city.cells) @ shares(today[column[some]], city.cells).T
            row, other = shared.tocoo().coords
            alike = group[some[row]] == group[some[other]]
            found.append((some[row[alike]], column[some[other[alike]]], shared.tocoo().data[alike]))
        member, goal, weight = zip(*found, strict=True)
        return np.concatenate(member), np.concatenate(goal), np.concatenate(weight)

    return spread(plan, group, city.track_keys, leanings)
