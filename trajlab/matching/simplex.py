"""The network simplex of POT, told what it needs and nothing more.

`ot.emd` checks and converts its input for several array libraries, which costs more than
solving a small problem, and it does not take a warm start for sparse costs. Its compiled
functions do; they also let other threads run meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from ot.lp.emd_wrap import emd_c, emd_c_sparse

from trajlab.matching.plan import Floats, Ints

PIVOTS = 10**9
OPTIMAL = 1


@dataclass(frozen=True, slots=True)
class Solved:
    """Amounts, and prices u (rows) and v (columns) with u + v ≤ cost wherever the solver looked."""

    source: Ints
    sink: Ints
    amount: Ints
    u: Floats
    v: Floats
    bound: float
    rounds: int = 1


def dense(cost: Floats, supply: Ints, demand: Ints) -> Solved:
    """All pairs at once; the prices prove that nothing is cheaper."""
    flow, _, u, v, code = emd_c(supply.astype(np.float64), demand.astype(np.float64), cost, PIVOTS, 1)
    _check(code)
    source, sink = np.nonzero(flow)
    violation = np.minimum((cost - u[:, None] - v).min(axis=1), 0.0)
    return Solved(source, sink, _whole(flow[source, sink]), u, v, bound=float(supply @ (u + violation) + demand @ v))


def sparse(row: Ints, column: Ints, cost: Floats, supply: Floats, demand: Floats, u: Floats, v: Floats) -> Solved:
    """Only the pairs given, starting from prices that a similar problem had."""
    source, sink, amount, _, u, v, code = emd_c_sparse(
        supply, demand, row.astype(np.uint64), column.astype(np.uint64), cost, PIVOTS, u, v
    )
    _check(code)
    return Solved(
        source.astype(np.int64), sink.astype(np.int64), _whole(amount), u, v, bound=float(supply @ u + demand @ v)
    )


def _whole(amount: Floats) -> Ints:
    return np.rint(amount).astype(np.int64)


def _check(code: int) -> None:
    if code != OPTIMAL:
        raise ArithmeticError(f"the network simplex stopped with code {code}: supplies and demands must balance")
