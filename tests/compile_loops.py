"""Compile the loops of all attacks once, before two processes of the tests would each do it.

What is compiled is kept beside the sources, so the second time this takes a few seconds.
"""

from __future__ import annotations

import numpy as np

import trajlab as tl
from trajlab import attacks
from trajlab.attacks import _habits_beliefs
from trajlab.attacks._steps import StepLog

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


if __name__ == "__main__":
    main()
