"""Signals at random moments: the lab opens, nothing is half-written, and the same command again ends as it would have.

The moment is a share of the time that the command takes undisturbed; that depends on the machine, so a failure may
need several tries to come back. What the command leaves is looked at in a copy, and the command runs again in
the folder itself, as a user would run it.
"""

from __future__ import annotations

import random
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from soak import running, state
from soak.scenes import Scenes
from soak.verbs import Trial

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
"""Every second one cannot be caught: that is the hardest."""


@dataclass
class Tally:
    """What was done and what was found."""

    hit: Counter[tuple[str, str]] = field(default_factory=Counter)
    late: int = 0
    same: int = 0
    reruns: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """What a trial comes to when nobody disturbs it."""

    seconds: float
    before: state.State
    after: state.State


def undisturbed(trial: Trial, scenes: Scenes, work: Path, tally: Tally) -> Undisturbed | None:
    """Run a trial twice: it must end the same. For one that does not end, the moment at which it is at work."""
    folder = scenes.copy(trial.start, work / "undisturbed")
    before = state.of(folder)
    if not trial.ends:
        return Undisturbed(3.0, before, before)
    first = running.run(trial.words, folder)
    after = state.of(folder)
    again = running.run(trial.words, scenes.copy(trial.start, work / "undisturbed"))
    if first.code or again.code:
        tally.problems.append(f"trajlab {trial.words}: fails undisturbed: {(first.said or again.said).strip()[-300:]}")
        return None
    for path in _not_by_chance(trial, state.differ(after, state.of(work / "undisturbed"))):
        tally.problems.append(f"trajlab {trial.words}: two undisturbed runs differ in {path}")
    if left := _scratch(work / "undisturbed"):
        tally.problems.append(f"trajlab {trial.words}: leaves {left} in the folder for temporary files")
    return Undisturbed(min(first.seconds, again.seconds), before, after)


def kill(
    verb: str, trial: Trial, truth: Undisturbed, scenes: Scenes, work: Path, chance: random.Random, tally: Tally
) -> None:
    """Start, signal, look, start again, compare."""
    folder = scenes.copy(trial.start, work / "killed")
    shutil.rmtree(work / "killed.tmp", ignore_errors=True)
    sent = chance.choice(SIGNALS)
    after = chance.uniform(0.15, 1.0) * truth.seconds
    ran = running.run(trial.words, folder, signal_=sent, after=after)
    if not ran.killed:
        tally.late += 1
    else:
        tally.hit[verb, sent.name] += 1
    told = f"trajlab {trial.words} ({sent.name} after {after:.2f} of {truth.seconds:.2f} s)"
    tally.problems += [f"{told}: {what}" for what in _after_the_signal(trial, truth, folder, ran, sent, work)]
    if not trial.ends:
        if (was := state.of(folder)) != truth.before:
            tally.problems.append(f"{told}: changed {', '.join(state.differ(was, truth.before))}")
        return
    if trial.makes and (made := folder / trial.makes).exists():
        shutil.rmtree(made) if made.is_dir() else made.unlink()
    again = running.run(trial.words, folder)
    tally.reruns += 1
    if again.code:
        tally.problems.append(f"{told}: the same command again fails: {again.said.strip()[-300:]}")
        return
    different = _not_by_chance(trial, state.differ(state.of(folder), truth.after))
    tally.problems += [f"{told}: after the same command again, {path}" for path in different]
    tally.same += not different


def _after_the_signal(
    trial: Trial, truth: Undisturbed, folder: Path, ran: running.Ran, sent: signal.Signals, work: Path
) -> Iterator[str]:
    copy = work / "looked-at"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    try:
        found = state.of(copy)
    except Exception as error:  # whatever it is, the lab does not open
        yield f"the lab does not open: {error!r}"
        return
    if sent is signal.SIGINT:
        yield from _interrupted(ran, folder, trial)
    if ran.code in (1, 2):
        yield f"ends with {ran.code}: {ran.said.strip()[-200:]}"
    for path, content in found.items():
        allowed = [truth.before.get(path), truth.after.get(path)]
        if isinstance(content, dict):
            if not trial.steps and content not in [was or state.empty_lab() for was in allowed]:
                yield f"{path} is neither as before nor as after: {', '.join(_changed(content, allowed))}"
        elif content not in allowed and not state.unfinished(path) and Path(path).name not in trial.chance:
            yield f"{path} is half-written"
    if trial.makes and (folder / trial.makes).is_dir():
        inside = {path for path in truth.after if path.startswith(f"{trial.makes}/")}
        if missing := inside - set(found):
            yield f"{trial.makes} is there with {len(inside) - len(missing)} of {len(inside)} files"


def _interrupted(ran: running.Ran, folder: Path, trial: Trial) -> Iterator[str]:
    """Ctrl-C is answered in one line, and leaves nothing lying about; before `main` Python answers itself."""
    started = "Traceback" not in ran.said or " in main\n" in ran.said
    if not started or not trial.ends:
        return
    if ran.killed and ran.ill_said:
        yield ran.ill_said
    if ran.killed and ran.code != 130:
        yield f"ends with {ran.code}, not 130"
    hidden = [p.name for p in folder.rglob("*") if state.unfinished(p.name)]
    if left := hidden + _scratch(folder):
        yield f"Ctrl-C leaves {left}"


def _scratch(folder: Path) -> list[str]:
    return [path.name for path in (folder.parent / f"{folder.name}.tmp").iterdir()]


def _changed(content: dict[str, str], allowed: list[str | dict[str, str] | None]) -> list[str]:
    least = [[t for t in content if content[t] != was.get(t)] for was in allowed if isinstance(was, dict)]
    return min(least, key=len, default=[])


def _not_by_chance(trial: Trial, paths: list[str]) -> list[str]:
    return [path for path in paths if not any(name in path for name in trial.chance)]
