"""Days joined to days: each track goes on as the one that it resembles most, all in all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from trajlab.attacks.city import City, Ints
from trajlab.attacks.similarity import Alike
from trajlab.attacks.watch import Step, Watch
from trajlab.matching import assign
from trajlab.matching.ties import keys


def link(city: City, day: int, earlier: Sequence[Ints], today: Ints, watch: Watch, *, threads: int = 1) -> Ints:
    """For every track so far the track of `today` that continues it.

    `earlier` are the same tracks on one or more days before; of several, the day that is most
    like `today` counts.
    """
    alike = [Alike(before, today, city.cells) for before in earlier]
    row_term = np.min([each.row_term for each in alike], axis=0)

    def savings(rows: Ints, columns: Ints | None) -> csr_array:
        found = [each.savings(rows, columns) for each in alike]
        for each, part in zip(alike, found, strict=True):
            behind = (row_term - each.row_term)[rows]
            if behind.any():
                part.data += np.repeat(behind, np.diff(part.indptr))
        best = found[0]
        for part in found[1:]:
            best = best.maximum(part)
        return best

    number = np.arange(city.people)
    answer = assign(
        savings,
        city.people,
        most=1.0,
        row_keys=keys(city.seed, number, day),
        column_keys=keys(city.seed, number, -day),
        rng=city.chance(day, "link"),
        threads=threads,
    )
    shared_nothing = city.people * alike[0].constant + float(row_term.sum() + alike[0].column_term.sum())
    watch.done(
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
