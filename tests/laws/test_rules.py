"""The laws of `Rule`, on every rule there is: a file in trajlab/decide/rules/ is checked by being there."""

from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pytest

import trajlab as tl
from trajlab import decide
from trajlab.attacks.run import adopt
from trajlab.decide import Finding, Unanswerable
from trajlab.release import Release

every_rule = pytest.mark.parametrize("name", decide.names())
LIMITS = {decide.SHARE: 0.5, decide.PEOPLE: 5.0, decide.EPSILON: 1.0, decide.NUMBER: 5.0}


@pytest.fixture(scope="module")
def city():
    frame = tl.simulate(people=24, days=3, seed=5)
    with tl.open(quiet=True) as lab, tl.open(quiet=True) as again:
        lab.ingest(frame, tz="Europe/Lisbon")
        again.ingest(frame.reverse(), tz="Europe/Lisbon")
        yield lab, again


@every_rule
def test_a_rule_says_what_it_guards_against_and_in_what_it_counts(name):
    kind = decide.rule(name)
    assert kind.concern in (decide.SINGLING_OUT, decide.LINKABILITY, decide.INFERENCE, decide.UTILITY)
    assert kind.unit in LIMITS
    assert kind.limit in ("at_most", "at_least")
    assert kind().about in (decide.TABLE, decide.TRACES)
    assert inspect.getdoc(kind)
    assert all(type(field.default) in (str, int, float, bool) for field in dataclasses.fields(kind))


@every_rule
def test_the_same_release_gives_the_same_finding_whatever_the_order_of_rows(name, city):
    findings = []
    for lab in city:
        release = lab.release("square:3000", "4h", protect="suppress:2")
        findings.append(ask(name, lab, release))
    first, second = findings
    if isinstance(first, Finding):
        assert first.groups is None or first.groups.equals(second.groups)
        assert dataclasses.replace(first, groups=None) == dataclasses.replace(second, groups=None)
        assert first.low is None or first.low <= first.estimate <= first.high
    else:
        assert first == second


@every_rule
def test_a_table_made_elsewhere_never_passes_for_want_of_the_truth(name, city):
    lab, _ = city
    counts = np.array([[40, 60], [50, 50], [45, 55], [50, 50]] * 15)
    elsewhere = Release.from_matrix(counts, np.array([[0.0, 0.0], [900.0, 0.0]]), slots_per_day=4)
    adopt(lab._store, elsewhere)
    found = ask(name, lab, elsewhere)
    from_outside = {"smallest_count", "rounding", "epsilon", "differencing"}
    assert isinstance(found, Finding) == (name in from_outside)


def ask(name, lab, release):
    kind = decide.rule(name)
    try:
        return kind().answer(lab, release, LIMITS[kind.unit], 0)
    except Unanswerable as reason:
        return str(reason)
