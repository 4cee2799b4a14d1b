"""Words that mean nothing: every one is refused with exit code 2 and one line, and changes nothing."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from soak import state
from soak.scenes import Scenes
from soak.verbs import TRIALS
from trajlab.cli import main

ENGINE = re.compile(
    r"duckdb\.|polars|pyarrow|shapely|GEOS|numpy|\b(Binder|Catalog|Parser|Conversion|Constraint|Internal|IO|"
    r"Invalid Input|Out of Range|Not implemented|Invalid) Error|LINE \d|Candidate functions|read_csv|"
    r"object has no attribute|NoneType|Errno|0x[0-9a-f]{6}",
)
"""Words that belong to the machinery, not to a message."""

BAD_LABS = ("nowhere.duckdb", "below/nothing.duckdb", "key.txt", "folder", "key.txt/lab.duckdb", "''", "md:cloud")
BAD_ENGINES = ("--threads 0", "--threads many", "--memory-limit lots", "--memory-limit -1GB", "--no-such-option")

MISTAKES: dict[str, tuple[str, ...]] = {
    "demo": ("key.txt", "town --people 0", "town --people few", "town --days 0", "town --days -3", "town extra"),
    "simulate": (
        "",
        "x.parquet --people 0",
        "x.parquet --people -1",
        "x.parquet --days 0",
        "x.parquet --mode walk",
        "x.parquet --interval 7min",
        "x.parquet --interval often",
        "x.parquet --start soon",
        "x.parquet --start 2024-02-30",
        "x.parquet --tz Nowhere/City",
        "x.parquet --mode cdr --stations 0",
        "x.xls",
        "folder",
        "below/nothing/x.csv",
    ),
    "prepare": (
        "",
        "porto-3x3",
        "porto-9x9 trips.csv p.duckdb",
        "porto-3x3 nothing.csv p.duckdb",
        "porto-3x3 city.csv p.duckdb",
        "geolife-37 trips.csv p.duckdb",
        "geolife-37 folder p.duckdb",
    ),
    "geography": (
        "lab.duckdb",
        "lab.duckdb --stations nothing.csv",
        "lab.duckdb --stations key.txt",
        "lab.duckdb --stations city.csv",
        "lab.duckdb --places stations.csv",
        "lab.duckdb --zones key.txt",
        "lab.duckdb --zones nothing.geojson",
        "lab.duckdb --zones folder",
        "new.duckdb --stations nothing.csv",
    ),
    "ingest": (
        "lab.duckdb",
        "lab.duckdb nothing.csv",
        "lab.duckdb ''",
        "lab.duckdb key.txt",
        "lab.duckdb folder",
        "lab.duckdb stations.csv",
        "lab.duckdb city.csv --kind pigeon",
        "lab.duckdb city.csv --kind geolife",
        "lab.duckdb city.csv --kind porto",
        "lab.duckdb city.csv --kind wifi",
        "lab.duckdb city.csv --kind multimno",
        "lab.duckdb folder --kind multimno",
        "lab.duckdb events --kind gps --tz",
        "lab.duckdb city.csv --kind bandicoot",
        "lab.duckdb folder --kind bandicoot",
        "new.duckdb bandicoot --kind bandicoot --tz Europe/Lisbon --stations key.txt",
        "new.duckdb bandicoot --kind multimno",
        "lab.duckdb city.csv --tz europe/lisbon",
        "lab.duckdb city.csv --tz ''",
        "lab.duckdb city.csv --tz +01:00",
        "lab.duckdb city.csv --column uid",
        "lab.duckdb city.csv --column uid=nobody",
        "lab.duckdb city.csv --column wings=uid",
        "lab.duckdb city.csv --stations stations.csv",
        "lab.duckdb city.csv --places nothing.csv",
        "new.duckdb nothing.csv",
        "lab.duckdb lab.duckdb",
    ),
    "release": (
        "lab.duckdb --index circle:3",
        "lab.duckdb --index square",
        "lab.duckdb --index square:0",
        "lab.duckdb --index square:-500",
        "lab.duckdb --index square:nan",
        "lab.duckdb --index square:like=",
        "lab.duckdb --index h3:16",
        "lab.duckdb --index h3:half",
        "lab.duckdb --index places",
        "lab.duckdb --index ''",
        "lab.duckdb --slot 7min",
        "lab.duckdb --slot 0min",
        "lab.duckdb --slot soon",
        "lab.duckdb --fill glue",
        "lab.duckdb --tz Mars/Base",
        "lab.duckdb --start tomorrow",
        "lab.duckdb --start 1900-01-01",
        "lab.duckdb --days 0",
        "lab.duckdb --days -2",
        "lab.duckdb --align",
        "lab.duckdb --coverage 2",
        "lab.duckdb --coverage nan",
        "lab.duckdb --min-count 0",
        "lab.duckdb --people 0",
        "lab.duckdb --box 1 2 3",
        "lab.duckdb --box 5 5 4 4",
        "lab.duckdb --box nan 0 1 1",
        "lab.duckdb --box -200 0 1 1",
        "lab.duckdb --outside fly",
    ),
    "cube": (
        "lab.duckdb",
        "lab.duckdb --by shoe-size",
        "lab.duckdb --by home:circle:3",
        "lab.duckdb --by home:",
        "lab.duckdb --by home:h3:6 --weights shoe-size",
        "lab.duckdb --by home:h3:6 --min-count 0",
        "lab.duckdb --by home:h3:6 --release r0",
        "lab.duckdb --by home:h3:6 --attack luck",
        "lab.duckdb --by home:h3:6 --risk rumours",
    ),
    "feasibility": ("", "lab.duckdb --release r0", "lab.duckdb --seed odd"),
    "attack": (
        "lab.duckdb",
        "lab.duckdb guess",
        "lab.duckdb xu2017 --release r0",
        "lab.duckdb xu2017 --pairing none",
        "lab.duckdb xu2017 --set speed=3",
        "lab.duckdb xu2017 --set speed",
        "lab.duckdb xu2017 --set night_hours=often",
        "lab.duckdb dsilva2024 --set lookback=0",
        "lab.duckdb xu2017 --seed -1",
    ),
    "people": ("lab.duckdb", "lab.duckdb nothing.csv", "lab.duckdb stations.csv", "lab.duckdb key.txt"),
    "protect": (
        "lab.duckdb",
        "lab.duckdb melt",
        "lab.duckdb cut",
        "lab.duckdb cut:0h",
        "lab.duckdb cut:6h --release r0",
        "lab.duckdb cut:6h --basis guesses",
        "lab.duckdb cut:6h --key-file nothing.txt",
        "lab.duckdb cut:6h --key-file folder",
        "lab.duckdb cut:6h --key-file lab.duckdb",
        "lab.duckdb cut:6h -o city.csv",
        "lab.duckdb cut:6h -o x.xls",
        "lab.duckdb cut:6h -o below/x.csv",
    ),
    "risk": (
        "lab.duckdb",
        "lab.duckdb rumours:3",
        "lab.duckdb points:0",
        "lab.duckdb points:-2",
        "lab.duckdb points:some",
        "lab.duckdb top:2:sideways",
        "lab.duckdb top:2 rumours",
        "lab.duckdb top:2 --sample 0",
        "lab.duckdb top:2 --seed -1",
        "lab.duckdb top:2 --basis guesses",
        "lab.duckdb top:2 --release r0",
        "lab.duckdb top:2 --traces t0",
        "lab.duckdb top:2 --run n0",
        "lab.duckdb top:2 --traces t0 --run n0",
        "lab.duckdb top:2 --set depth=3",
    ),
    "smallest": (
        "lab.duckdb",
        "lab.duckdb nobody",
        "lab.duckdb p0000001 --most 0",
        "lab.duckdb p0000001 --limit 0",
        "lab.duckdb p0000001 --basis guesses",
    ),
    "schedule": (
        "lab.duckdb",
        "lab.duckdb nothing.csv",
        "lab.duckdb city.csv",
        "lab.duckdb key.txt",
        "lab.duckdb grid:0min",
        "lab.duckdb grid:7min",
        "lab.duckdb grid:60min --points 0",
        "lab.duckdb grid:60min --short half",
        "lab.duckdb grid:60min --min-k 0",
        "lab.duckdb grid:60min --keep 2",
        "lab.duckdb grid:60min --holiday easter",
        "lab.duckdb grid:60min --truth nothing.csv",
        "lab.duckdb grid:60min --sample 0",
        "lab.duckdb grid:60min --basis guesses",
        "lab.duckdb grid:60min --index circle:3",
    ),
    "utility": (
        "lab.duckdb",
        "lab.duckdb circle:3 --zones h3:7",
        "lab.duckdb square:1000 --zones nothing.geojson",
        "lab.duckdb square:1000 --zones h3:99",
        "lab.duckdb square:1000 --zones h3:7 --pareto 2",
        "lab.duckdb square:1000 --zones h3:7 --alpha 0",
        "lab.duckdb square:1000 --zones h3:7 --shortest 9 --longest 3",
        "lab.duckdb square:1000 --zones h3:7 --shortest nan",
        "lab.duckdb square:1000 --release r0",
    ),
    "study": (
        "",
        "lab.duckdb --attack guess",
        "lab.duckdb --index circle:3",
        "lab.duckdb --slot 7min",
        "lab.duckdb --people 0",
        "lab.duckdb --people all",
        "lab.duckdb --pairing none",
        "lab.duckdb nothing.toml",
        "lab.duckdb people.csv",
        "lab.duckdb study.toml --index h3:8",
        "lab.duckdb study.toml --runs 1",
        "lab.duckdb --yes",
        "lab.duckdb -o study.xls",
        "lab.duckdb -o below/nothing/study.svg",
    ),
    "study tradeoff": (
        "",
        "lab.duckdb --index circle:3 --zones h3:7",
        "lab.duckdb --zones nothing.geojson",
        "lab.duckdb --zones h3:7 --knowledge rumours",
        "lab.duckdb --zones h3:7 --measures beauty",
        "lab.duckdb --zones h3:7 --flows lava",
        "lab.duckdb --zones h3:7 --scope some",
        "lab.duckdb --zones h3:7 --sample 0",
        "lab.duckdb --zones h3:7 -o tradeoff.xls",
    ),
    "recommend": (
        "",
        "nothing.duckdb",
        "lab.duckdb --release r0",
        "lab.duckdb --risk guess",
        "lab.duckdb --policy nothing.toml",
        "lab.duckdb --policy strict --risk top:1",
        "lab.duckdb --risk top:1 --suppress 0",
        "lab.duckdb --risk top:1 --slot 7min",
        "lab.duckdb --risk top:1 --index circle:3",
        "lab.duckdb --risk top:1 -o recommend.xls",
    ),
    "sql": (
        "lab.duckdb",
        "lab.duckdb 'selec 1'",
        "lab.duckdb ''",
        "lab.duckdb 'select * from nowhere'",
        "lab.duckdb 'drop table records.fix'",
        "lab.duckdb 'select 1; select 2'",
        "lab.duckdb 'select $x'",
        "lab.duckdb 'select 1' --param x",
        "lab.duckdb 'select 1' --format xls",
        "lab.duckdb 'select 1' --rows some",
        "lab.duckdb \"select * from 'key.txt'\"",
    ),
    "describe": ("counts.nope", "''", "counts.occupancy extra"),
    "verify": (
        "",
        "nothing.json",
        "nothing.json --lab lab.duckdb",
        "folder",
        "key.txt --lab nothing.duckdb",
        "key.txt --lab lab.duckdb --threads some",
    ),
    "export": (
        "lab.duckdb",
        "lab.duckdb folder2 --format xls",
        "lab.duckdb full",
        "lab.duckdb key.txt",
        "lab.duckdb key.txt/below",
        "lab.duckdb folder2 --policy flowkit",
        "lab.duckdb folder2 --publishable --policy nobody",
        "lab.duckdb folder2 --publishable --format multimno",
        "lab.duckdb folder2 --geo --format csv",
    ),
    "figure": (
        "lab.duckdb",
        "lab.duckdb nobody1999-fig1",
        "lab.duckdb xu2017-fig8a -o fig.xls",
        "lab.duckdb xu2017-fig8a -o below/nothing/fig.svg",
        "lab.duckdb xu2017-fig8a --release r0",
    ),
    "report": (
        "",
        "lab.duckdb -o folder",
        "lab.duckdb -o below/nothing/page.html",
        "lab.duckdb --example-people -1",
        "lab.duckdb --example-people some",
    ),
    "plan": ("", "--people 10", "--people 0 --days 3", "--people 10 --days -1", "--people 9 --days 9 --memory nan"),
    "policy": ("", "--show nobody", "--list some"),
    "decide": (
        "",
        "lab.duckdb",
        "lab.duckdb --policy nobody",
        "lab.duckdb --policy strict --release r0",
        "lab.duckdb --policy flowkit --exception recovery",
        "lab.duckdb --policy flowkit --exception nothing=reason",
        "lab.duckdb --policy flowkit --seed -1",
        "lab.duckdb --policy flowkit --cube nothing",
        "lab.duckdb --policy flowkit --certificate below/nothing/decision.json",
    ),
    "audit": ("", "lab.duckdb --release r0", "lab.duckdb --seed some"),
    "publish": (
        "",
        "lab.duckdb --release r0 --date 2026-11-18",
        "lab.duckdb --date yesterday",
        "lab.duckdb --note early",
    ),
    "differencing": (
        "",
        "lab.duckdb --release r0",
        "lab.duckdb --beside r0",
        "lab.duckdb --width 0",
        "lab.duckdb --least some",
    ),
    "membership": (
        "",
        "lab.duckdb --release r0",
        "lab.duckdb --adversary nobody",
        "lab.duckdb --targets 1",
        "lab.duckdb --sizes 100000",
        "lab.duckdb --recipe blur:5",
    ),
    "explore": ("", "lab.duckdb --port 99999", "lab.duckdb --port -1", "lab.duckdb --seconds 0", "lab.duckdb --rows 0"),
}
"""For every command what else may be wrong than the lab and the engine, which are tried for each."""


@dataclass
class Tally:
    made: int = 0
    refused: int = 0
    problems: list[str] = field(default_factory=list)


def every() -> list[str]:
    """All sets of words, each beginning with its command."""
    found = [f"{verb} {words}".strip() for verb, each in MISTAKES.items() for words in each]
    for trial, *_ in TRIALS.values():
        name = next((word for word in trial.words.split() if word.endswith(".duckdb")), None)
        if name is None:
            continue
        new = name != "lab.duckdb"  # these commands make a lab where there is none
        found += [trial.words.replace(name, lab) for lab in BAD_LABS if not (new and lab.startswith("nowhere"))]
        found += [f"{trial.words} {words}" for words in BAD_ENGINES]
    return found


def make_all(scenes: Scenes, work: Path, tally: Tally, deadline: float, only: str | None = None) -> None:
    """Every set of words, or those of one command, in one folder that must stay as it is."""
    folder = scenes.copy("released", work / "mistakes")
    (folder / "folder").mkdir()
    (folder / "full").mkdir()
    (folder / "full" / "mine.txt").write_text("mine")
    before = state.of(folder)
    lab = (folder / "lab.duckdb").read_bytes()
    for words in every():
        if time.monotonic() > deadline or (only and not f"{words} ".startswith(f"{only} ")):
            continue
        make(words, folder, tally)
        there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
        if there == set(before) and (folder / "lab.duckdb").read_bytes() == lab:
            continue
        after = state.of(folder)
        if changed := state.differ(before, after):
            tally.problems.append(f"trajlab {words}: refused, but changed {', '.join(changed)}")
        before, lab = after, (folder / "lab.duckdb").read_bytes()
    for left in state.differ(before, state.of(folder)):
        tally.problems.append(f"one of the bad sets of words changed {left}")


def make(words: str, folder: Path, tally: Tally) -> None:
    """One set of words, in this process."""
    tally.made += 1
    code, said = run_here(shlex.split(words), folder)
    problem = ill_said(code, said)
    if problem:
        tally.problems.append(f"trajlab {words}: {problem}")
    else:
        tally.refused += 1


def run_here(words: list[str], folder: Path) -> tuple[int | None, str]:
    """Exit code and stderr of a command; no code where anything but a refusal came out."""
    err, was = io.StringIO(), Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
            return main(words), err.getvalue()
    except SystemExit as ended:
        return int(ended.code or 0), err.getvalue()
    except BaseException:
        return None, traceback.format_exc()
    finally:
        os.chdir(was)


def ill_said(code: int | None, said: str) -> str | None:
    """What is wrong with a refusal: it ends with 2 and says one line, after the usage where words were missing."""
    if code is None:
        return f"a traceback: {said.strip().splitlines()[-1]}"
    if code != 2:
        return f"ends with {code}"
    lines = said.rstrip("\n").split("\n")
    if lines[0].startswith("usage: "):
        lines = [line for line in lines[1:] if not line.startswith(" ")]
    if len(lines) != 1 or not lines[0].startswith("trajlab"):
        return f"not one line: {said!r}"
    if (engine := ENGINE.search(said)) and "your query: " not in said:
        return f"the engine's words ({engine[0]}): {said.strip()}"
    return None
