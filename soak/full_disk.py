"""A full disk: one line says so, and the lab is as it was.

A limit on the size of files stands for the disk: a lab may not grow, or a drawing not be written to its end.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from soak import running, state
from soak.kills import Undisturbed
from soak.scenes import Scenes
from soak.verbs import Trial


@dataclass
class Tally:
    refused: int = 0
    fitted: int = 0
    problems: list[str] = field(default_factory=list)


def fill(trial: Trial, truth: Undisturbed, scenes: Scenes, work: Path, chance: random.Random, tally: Tally) -> None:
    """Run a trial where files may grow to a random size and no further."""
    folder = scenes.copy(trial.start, work / "full")
    shutil.rmtree(work / "full.tmp", ignore_errors=True)
    most = _room(trial, truth, folder, chance)
    ran = running.run(trial.words, folder, largest_file=most)
    told = f"trajlab {trial.words} (files of {most:,} bytes at most)"
    if ran.code == 0:
        tally.fitted += 1
        return
    tally.refused += 1
    tally.problems += [f"{told}: {what}" for what in _refused(trial, truth, folder, ran)]


def _room(trial: Trial, truth: Undisturbed, folder: Path, chance: random.Random) -> int:
    """A lab that is there keeps the room that it has; where labs do not change, what is made gets too little."""
    labs = [path for path in truth.after if path.endswith(".duckdb") and truth.after[path] != truth.before.get(path)]
    there = max((lab.stat().st_size for lab in folder.rglob("*.duckdb")), default=0) if labs else 0
    return there + round(chance.uniform(0, 1) ** 2 * (1_000_000 if labs else 200_000))


def _refused(trial: Trial, truth: Undisturbed, folder: Path, ran: running.Ran) -> Iterator[str]:
    if ran.code != 2 or ran.ill_said:
        yield ran.ill_said or f"ends with {ran.code}"
    elif not any(words in ran.said for words in ("disk is full", "File too large", "No space left")):
        yield f"another reason is given: {ran.said.strip()}"
    try:
        found = state.of(folder)
    except Exception as error:  # whatever it is, the lab does not open
        yield f"the lab does not open: {error!r}"
        return
    for path, content in found.items():
        before = truth.before.get(path)
        if isinstance(content, dict):
            if not trial.steps and content != (before or state.empty_lab()):
                yield f"{path} was changed"
        elif content not in (before, truth.after.get(path)) and Path(path).name not in trial.chance:
            yield f"{path} is {'left over' if state.unfinished(path) else 'half-written'}"
