"""What the tables of the lab say about privacy: scores of attacks, and what needs more than SQL for them.

parts       nights, days, everything: the stretches that are compared
pairing     which track is taken for which person; optimal and greedy are the two ways
headline    values per person -> metrics.recovery, each with its bootstrap interval
recovery    score_run: every table about one run of an attack, in the lab
score       the same scores from arrays
"""

from __future__ import annotations

from trajlab.metrics.recovery import score_run
from trajlab.metrics.score import score

__all__ = ["score", "score_run"]
