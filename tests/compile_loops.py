"""Compile the loops of all attacks once, before two processes of the tests would each do it.

What is compiled is kept beside the sources, so the second time this takes a few seconds.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

import trajlab as tl
from trajlab import attacks
from trajlab.attacks import _habits_beliefs
from trajlab.attacks._steps import StepLog
from trajlab.matching import assign, transport
from trajlab.matching.ties import keys

WAYS = [("xu2017", {}), ("dsilva2024", {}), ("habits", {}), ("habits", {"beliefs": 0, "restarts": 1})]


def main() -> None:
    rng = np.random.default_rng(0)
    people = rng.integers(0, 12, size=(48, 20))
    counts = np.array([np.bincount(cells, minlength=12) for cells in people])
    release = tl.Release.from_matrix(counts, rng.random((12, 2)) * 5000, 24, unit="m")
    for name, settings in WAYS:
        attacks.load(name, **settings).recover(release, np.random.default_rng(0), StepLog())
    _habits_beliefs.ROOM = 0
    attacks.load("habits").recover(release, np.random.default_rng(0), StepLog())
    solve_large(rng)


def solve_large(rng: np.random.Generator) -> None:
    """Loops that only many sources and sinks, or rows and columns, come to."""
    sources, sinks, rows = 400, 300, 301
    demand = 1 + rng.multinomial(3 * sources - sinks, np.full(sinks, 1 / sinks))
    transport(
        rng.random((sources, 2)), np.full(sources, 3), rng.random((sinks, 2)), demand,
        source_keys=keys(0, np.arange(sources)), sink_keys=keys(1, np.arange(sinks)),
    )  # fmt: skip
    saved = csr_array(rng.random((rows, rows)))
    assign(
        lambda some, columns: saved[some] if columns is None else saved[some][:, columns], rows, most=1.0,
        row_keys=keys(0, np.arange(rows)), column_keys=keys(1, np.arange(rows)), rng=rng,
    )  # fmt: skip


if __name__ == "__main__":
    main()
