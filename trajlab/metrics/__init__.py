"""What the tables of the lab say about privacy: scores of attacks, and what needs more than SQL for them.

parts       nights, days, everything: the stretches that are compared
pairing     which track is taken for which person; optimal and greedy are the two ways
headline    values per person -> metrics.recovery, each with its bootstrap interval
recovery    score: every table about one run of an attack, in the lab
compare     the same scores from arrays
"""

from __future__ import annotations

from trajlab.metrics.compare import compare
from trajlab.metrics.recovery import score

__all__ = ["compare", "score"]
