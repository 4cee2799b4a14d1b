"""Transport to sinks that are known from a lowest to a highest amount, or at a price: as cheap as a linear programme."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from trajlab.matching import transport, transport_within, within
from trajlab.matching.ties import keys


@st.composite
def problems(draw):
    """A few sources of one or more points, a few sinks with bounds, some of them priced."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sources, sinks = draw(st.integers(1, 6)), draw(st.integers(1, 7))
    supply, waiting = rng.integers(1, 5, sources), draw(st.integers(0, 3))
    count = rng.integers(1, 4, sources) if draw(st.booleans()) else np.ones(sources, dtype=np.int64)
    price = draw(st.sampled_from([np.inf, np.inf, 3.0, 50.0, 500.0, 5000.0]))
    low = rng.integers(0, 4, sinks)
    high = low + rng.integers(0, 4, sinks) * rng.integers(0, 2, sinks)
    if np.isinf(price):
        while low.sum() > supply.sum() + waiting:
            low = np.maximum(low - 1, 0)
    else:
        low, high = low - 1, high - 1  # noise makes counts negative
    return {
        "points": rng.integers(0, 20, (count.sum(), 2)) * 100.0,
        "supply": supply,
        "sinks": rng.integers(0, 20, (sinks, 2)) * 100.0,
        "low": low,
        "high": high,
        "price": price,
        "waiting": waiting,
        "aside": draw(st.sampled_from([10.0, 300.0, 3000.0])),
        "first": np.cumsum(count) - count,
    }


def solve(problem):
    return transport_within(
        **problem,
        source_keys=keys(1, np.arange(len(problem["supply"]))),
        sink_keys=keys(2, np.arange(len(problem["sinks"]))),
        largest=3000.0,
    )


def programme(problem):
    """The same as a linear programme: pairs, going aside, coming back, staying aside, units below and above."""
    supply, low, high = problem["supply"], problem["low"], problem["high"]
    apart = np.linalg.norm(problem["points"][:, None] - problem["sinks"], axis=2)
    apart = np.minimum.reduceat(apart, problem["first"], axis=0)
    n, m = apart.shape
    hard = np.isinf(problem["price"])
    cost = np.concatenate(
        [apart.ravel(), np.full(n + m, problem["aside"]), [0.0], np.full(2 * m, 0.0 if hard else problem["price"])]
    )
    goes = np.zeros((n + 1, len(cost)))
    for i in range(n):
        goes[i, i * m : (i + 1) * m] = goes[i, n * m + i] = 1
    goes[n, n * m + n : n * m + n + m + 1] = 1
    comes = np.zeros((m, len(cost)))
    for j in range(m):
        comes[j, j : n * m : m] = comes[j, n * m + n + j] = 1
    below, above = np.zeros((2, m, len(cost)))
    below[:, -2 * m : -m] = above[:, -m:] = np.eye(m)
    answer = linprog(
        cost,
        A_ub=np.vstack([-comes - below, comes - above]),
        b_ub=np.concatenate([-low, high]),
        A_eq=goes,
        b_eq=np.append(supply, problem["waiting"]),
        bounds=[(0, None)] * (len(cost) - 2 * m) + [(0, 0 if hard else None)] * (2 * m),
    )
    assert answer.status == 0
    return answer.fun


@pytest.mark.parametrize("whole", [0, within.WHOLE])
@examples(few=27, many=160)
@given(problem=problems())
def test_no_plan_is_cheaper_and_the_bound_proves_it(whole, problem):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(within, "WHOLE", whole)
        plan = solve(problem)
    best = programme(problem)
    assert plan.cost == pytest.approx(best, rel=1e-6, abs=1e-3)
    assert best - 0.05 <= plan.bound <= best + 1e-6


@examples(few=27, many=160)
@given(problem=problems())
def test_every_unit_goes_somewhere_and_bounds_without_a_price_hold(problem):
    plan = solve(problem)
    sent = np.bincount(plan.source, plan.amount, len(problem["supply"]) + 1)
    assert np.array_equal(sent, np.append(problem["supply"], problem["waiting"]))
    taken = np.bincount(plan.sink, plan.amount, len(problem["sinks"]) + 1)[:-1]
    if np.isinf(problem["price"]):
        assert ((problem["low"] <= taken) & (taken <= problem["high"])).all()


@examples(few=13, many=80)
@given(seed=st.integers(0, 2**32 - 1))
def test_exact_demands_are_met_as_transport_meets_them(seed):
    """The same plan, ties and all: what an attack makes of exact counts does not depend on which of the two runs."""
    rng = np.random.default_rng(seed)
    points, sinks = rng.integers(0, 5, (6, 2)) * 500.0, rng.integers(0, 5, (5, 2)) * 500.0
    supply = rng.integers(1, 4, 6)
    demand = np.bincount(rng.integers(0, 5, int(supply.sum())), minlength=5)
    sinks, demand = sinks[demand > 0], demand[demand > 0]
    named = {"source_keys": keys(1, np.arange(6)), "sink_keys": keys(2, np.arange(len(sinks))), "largest": 9000.0}
    exact = transport(points, supply, sinks, demand, **named)
    for price in (np.inf, 1e9):
        plan = transport_within(points, supply, sinks, demand, demand, price=price, waiting=0, aside=1e4, **named)
        assert sorted(zip(plan.source, plan.sink, plan.amount, strict=True)) == sorted(
            zip(exact.source, exact.sink, exact.amount, strict=True)
        )
