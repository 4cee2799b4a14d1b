"""Two versions of trajlab side by side: processor time and peak memory of every verb, and their ratio.

    git worktree add ../before v0.3.0
    python -m bench.versions ../before .

The two take turns, each turn in a process of its own on the same simulated file, and the least of the turns counts:
what else the machine does reaches both. Only what both versions can do is timed. Beyond 1.05 is slower.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ADVERSARIES = ("points:2", "top:2", "time:2", "sequence:2")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs=2, type=Path, help="the checkout before, the checkout after")
    parser.add_argument("--people", type=int, default=2_000)
    parser.add_argument("--turns", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "gps.parquet"
        simulate = f"from trajlab.simulation import write; write({str(file)!r}, people={args.people}, days=7, seed=0)"
        _in_tree(args.trees[0], ["-c", simulate], scratch)
        least: list[dict[str, list[float]]] = [{}, {}]
        for turn in range(args.turns):
            for side, tree in enumerate(args.trees):
                command = [str(Path(__file__).resolve()), str(file), str(Path(scratch) / f"{turn}-{side}.duckdb")]
                for verb, cost in json.loads(_in_tree(tree, command, scratch).splitlines()[-1]).items():
                    before = least[side].get(verb, cost)
                    least[side][verb] = [min(pair) for pair in zip(before, cost, strict=True)]
        show(*least)


def show(before: dict[str, list[float]], after: dict[str, list[float]]) -> None:
    print(f"{'verb':24} {'before':>9} {'after':>9} {'ratio':>6}   {'peak before':>11} {'after':>8}")
    for verb, (seconds, peak) in before.items():
        now, peak_now = after[verb]
        times = f"{seconds:7.2f} s {now:7.2f} s {now / seconds:6.2f}"
        print(f"{verb:24} {times}   {peak / 1e9:8.2f} GB {peak_now / 1e9:5.2f} GB")
    ratio = sum(seconds for seconds, _ in after.values()) / sum(seconds for seconds, _ in before.values())
    print(f"all together: {ratio:.2f}")


def _in_tree(tree: Path, command: list[str], cache: str) -> str:
    at = {"PYTHONPATH": str(tree.resolve()), "NUMBA_CACHE_DIR": f"{cache}/{tree.resolve().name}"}
    done = subprocess.run([sys.executable, *command], env={**os.environ, **at}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{tree}: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout


def measure(file: str, lab_file: str) -> dict[str, tuple[float, float]]:
    """What each verb costs in the version that is imported here: processor seconds, and the peak up to then."""
    import trajlab as tl

    costs: dict[str, tuple[float, float]] = {}

    def timed(verb: str, act: Callable[[], Any]) -> Any:
        start = time.process_time()
        done = act()
        costs[verb] = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return done

    lab = timed("open", lambda: tl.open(lab_file, quiet=True))
    with lab:
        timed("ingest", lambda: lab.ingest(file))
        release = timed("release square", lambda: lab.release("square:1000", "30min"))
        coarse = timed("release h3", lambda: lab.release("h3:7", "1h"))
        timed("feasibility", lambda: lab.feasibility(release))
        for adversary in ADVERSARIES:
            timed(f"risk {adversary}", partial(lab.risk, release, adversary))
        timed("utility", lambda: lab.utility(release, coarse, zones="square:2000"))
        for attack in ("xu2017", "dsilva2024"):
            timed(f"attack {attack}", partial(lab.attack, release, attack, pairing="greedy"))
        timed("report", lambda: lab.report(f"{lab_file}.html"))
        timed("export", lambda: lab.export(f"{lab_file}.folder"))
        timed("sql", lambda: lab.sql("from report.summary"))
    return costs


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[2].endswith(".duckdb"):
        print(json.dumps(measure(sys.argv[1], sys.argv[2])))
    else:
        main()
