"""What is written down of combinations at once is bounded, and answers do not depend on the bound."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import trajlab as tl
from trajlab.risk.crowds import states, walking

ANSWER = """
select trace, known, k, found, pick_chance, mean_pick_chance, combinations
from metrics.anonymity
where risk_id = $id
order by trace
"""
LONGEST = 48
"""Visits of one person, which are never divided."""


def answered(knowledge: str, block: int, monkeypatch: pytest.MonkeyPatch) -> tuple[pl.DataFrame, int]:
    """Everybody's answer, and the most combinations that were written down at once."""
    most = [0]

    def measured(*given, **named):
        found = states.longer(*given, **named)
        most[0] = max(most[0], len(found))
        return found

    monkeypatch.setattr(states, "BLOCK", block)
    monkeypatch.setattr(walking, "BLOCK", block, raising=False)
    monkeypatch.setattr(walking, "longer", measured)
    lab = tl.open()
    lab.ingest(tl.simulate(people=60, days=1, seed=3), tz="Europe/Lisbon")
    risk = lab.risk(lab.release("square:20000", "30min"), knowledge)  # nearly everybody begins in one place
    return lab.sql(ANSWER, id=risk.id), most[0]


@pytest.mark.parametrize("knowledge", ["sequence:2", "sequence:3", "time:2", "locations:2"])
def test_smaller_blocks_give_the_same_answers_to_the_byte(knowledge, monkeypatch):
    large, _ = answered(knowledge, 4_000_000, monkeypatch)
    small, _ = answered(knowledge, 50, monkeypatch)
    assert_frame_equal(small, large, check_exact=True)


@pytest.mark.parametrize("knowledge", ["sequence:2"])
def test_a_place_that_everybody_visits_is_counted_in_pieces(knowledge, monkeypatch):
    _, whole = answered(knowledge, 4_000_000, monkeypatch)
    _, most = answered(knowledge, 20, monkeypatch)
    assert most <= 20 + LONGEST < whole
