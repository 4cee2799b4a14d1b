"""`python -m soak`: every part, or those that are named, within a time; 1 where anything did not hold."""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from soak import corpus, full_disk, kills, mistakes
from soak.scenes import Scenes
from soak.verbs import Trial, every

PARTS = ("mistakes", "corpus", "fuzz", "full_disk", "kills")
FOUND = Path("build") / "soak" / "found"


class Soak:
    """One soak: what is asked of it, where it works, and what it found."""

    def __init__(self, asked: argparse.Namespace, work: Path) -> None:
        self._asked, self._work = asked, work
        self._scenes = Scenes(work / "scenes")
        self._ends = time.monotonic() + asked.seconds
        self._truths: dict[Trial, kills.Undisturbed | None] = {}
        self._killed = kills.Tally()
        self.problems: list[str] = []

    def run(self) -> None:
        for place, part in enumerate(self._asked.parts):
            left = self._ends - time.monotonic()
            share = 1 if place == len(self._asked.parts) - 1 else {"fuzz": 0.25, "full_disk": 0.3}.get(part, 1)
            before = len(self.problems)
            print(f"== {part}", flush=True)
            for told in getattr(self, f"try_{part}")(time.monotonic() + max(left, 0) * share):
                print(told, flush=True)
            print(f"   {len(self.problems) - before} problems", flush=True)

    def try_mistakes(self, deadline: float) -> Iterator[str]:
        tally = mistakes.Tally()
        mistakes.make_all(self._scenes, self._work, tally, deadline, self._asked.only)
        yield from self._found(tally.problems)
        yield f"   {tally.refused} of {tally.made} bad sets of words refused in one line"

    def try_corpus(self, deadline: float) -> Iterator[str]:
        tally = corpus.Tally()
        corpus.try_all(self._work, tally, deadline)
        yield from self._found(tally.problems)
        yield f"   {tally.files} bad files, {tally.outcomes} outcomes"

    def try_fuzz(self, deadline: float) -> Iterator[str]:
        from soak import fuzz  # hypothesis belongs to the tests
        from soak.readers import Readers

        tally, readers = fuzz.Tally(), Readers()
        names = [name for name in fuzz.LAWS if self._asked.only in (None, name)]
        for turn in count():
            name, seed = names[turn % len(names)], self._asked.seed + turn // len(names)
            if time.monotonic() > deadline or not names:
                break
            before = len(tally.problems)
            fuzz.search(readers, name, seed, deadline, FOUND, tally)
            if tally.problems[before:]:
                names.remove(name)  # one finding of a reader at a time
            yield from self._found(tally.problems[before:])
            if not names:
                break
        yield f"   {sum(tally.examples.values()):,} examples: {_listed(tally.examples)}"

    def try_full_disk(self, deadline: float) -> Iterator[str]:
        tally = full_disk.Tally()
        for _, trial, truth, chance in self._trials("full_disk", deadline):
            if trial.ends:
                before = len(tally.problems)
                full_disk.fill(trial, truth, self._scenes, self._work, chance, tally)
                yield from self._found(tally.problems[before:])
        yield f"   {tally.refused} refused for want of room, {tally.fitted} had room enough"

    def try_kills(self, deadline: float) -> Iterator[str]:
        tally = self._killed
        for verb, trial, truth, chance in self._trials("kills", deadline):
            before = len(tally.problems)
            kills.kill(verb, trial, truth, self._scenes, self._work, chance, tally)
            yield from self._found(tally.problems[before:])
        for name in ("SIGKILL", "SIGINT", "SIGTERM"):
            by_verb = Counter({verb: n for (verb, sent), n in tally.hit.items() if sent == name})
            yield f"   {sum(by_verb.values())} {name}: {_listed(by_verb)}"
        yield f"   {tally.late} signals came after the end"
        yield f"   {tally.same} of {tally.reruns} reruns ended with all tables and files identical"

    def _trials(self, part: str, deadline: float) -> Iterator[tuple[str, Trial, kills.Undisturbed, random.Random]]:
        """Trials in turn, each with chance of its own: the same seed and number, the same draw."""
        chosen = [(verb, trial) for verb, trial in every() if self._asked.only in (None, verb)]
        if not chosen:
            sys.exit(f"no command is called {self._asked.only!r}")
        for number in count():
            if time.monotonic() > deadline:
                return
            verb, trial = chosen[number % len(chosen)]
            if trial not in self._truths:
                before = len(self._killed.problems)
                self._truths[trial] = kills.undisturbed(trial, self._scenes, self._work, self._killed)
                for line in self._found(self._killed.problems[before:]):
                    print(line, flush=True)
            truth = self._truths[trial]
            if truth is not None:
                yield verb, trial, truth, random.Random(f"{self._asked.seed}/{part}/{number}")
            elif not any(self._truths.get(trial, True) for _, trial in chosen):
                return

    def _found(self, problems: list[str]) -> Iterator[str]:
        self.problems += problems
        for problem in problems:
            yield f"-- {problem}"


def _listed(counted: Counter[str]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in counted.items())


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    asked.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (default: all)")
    asked.add_argument("--seconds", type=float, default=600, help="when to stop (default: 600)")
    asked.add_argument("--seed", type=int, default=0, help="another number, other moments and files (default: 0)")
    asked.add_argument("--only", help="one command, or one reader of fuzz")
    asked.add_argument("--write", action="store_true", help="write the outcomes of fixtures/broken again")
    args = asked.parse_args()
    args.parts = args.parts or list(PARTS)
    if unknown := set(args.parts) - set(PARTS):
        asked.error(f"no part is called {min(unknown)!r}; there are: {', '.join(PARTS)}")
    work = Path(tempfile.mkdtemp(prefix="trajlab-soak-"))
    try:
        if args.write:
            tally = corpus.write(work)
            print(*tally.problems, f"{tally.outcomes} outcomes of {tally.files} files written", sep="\n")
            return 0
        soak = Soak(args, work)
        soak.run()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if soak.problems:
        print(f"{len(soak.problems)} problems; again with: python -m soak PART --seed {args.seed} --only NAME")
    return 1 if soak.problems else 0


if __name__ == "__main__":
    sys.exit(main())
