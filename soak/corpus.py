"""Bad files: every file of fixtures/broken, given to every command that reads its kind, and what is said of it.

The outcomes are in outcomes.tsv beside this file: file, command, exit code, words. After a change of words
`python -m soak --write` writes them again; read the difference by eye.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import trajlab as tl
from soak.mistakes import ENGINE
from soak.scenes import FIXTURES
from trajlab.cli import main

BROKEN = FIXTURES / "broken"
OUTCOMES = Path(__file__).with_name("outcomes.tsv")
NOT_TRIED = ("README.md",)
TABLES = (
    "ingest lab.duckdb {file}",
    "ingest lab.duckdb {file} --tz Europe/Lisbon",
    "ingest lab.duckdb {file} --kind cdr --stations stations.csv --tz Europe/Lisbon",
    "ingest lab.duckdb {file} --kind wifi --places places.csv --tz Europe/Lisbon",
    "geography lab.duckdb --stations {file}",
    "geography lab.duckdb --places {file}",
    "people lab.duckdb {file}",
)
TIMETABLES = ("schedule lab.duckdb {file}",)
LESSONS = ("schedule lab.duckdb grid:60min --truth {file}",)
POLICIES = ("decide lab.duckdb --policy {file}",)
ZONES = ("geography lab.duckdb --zones {file}",)


@dataclass
class Tally:
    files: int = 0
    outcomes: int = 0
    problems: list[str] = field(default_factory=list)


def try_all(work: Path, tally: Tally, deadline: float) -> None:
    """Compare every outcome with the one that is stored."""
    stored = dict(line.split("\t", 1) for line in _stored())
    for (file, command), (code, said) in outcomes(work, tally):
        if time.monotonic() > deadline:
            return
        was = stored.pop(f"{file} {command}", None)
        is_now = f"{code}\t{said}"
        if was != is_now:
            tally.problems.append(
                f"{file}, trajlab {command.format(file='FILE')}: {is_now!r}"
                + ("; no outcome is stored: python -m soak --write" if was is None else f", and not {was!r}")
            )
    tally.problems += [f"{key}: an outcome is stored and there is no such file" for key in stored]


def write(work: Path) -> Tally:
    tally = Tally()
    lines = [f"{file} {command}\t{code}\t{said}" for (file, command), (code, said) in outcomes(work, tally)]
    OUTCOMES.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tally


def outcomes(work: Path, tally: Tally) -> Iterator[tuple[tuple[str, str], tuple[int, str]]]:
    """What comes of each file and command; whatever is stored, it is one line and trajlab's own words."""
    folder = work / "corpus"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tl.open(folder / "clean.duckdb") as lab:
        lab.ingest(FIXTURES / "tiny" / "records.csv", tz="Europe/Lisbon")
        lab.release("square:1000", "3h")
    for name in ("stations.csv", "places.csv"):
        shutil.copy(BROKEN / name, folder)
    for path in sorted(BROKEN.rglob("*")):
        if not path.is_file() or path.name in NOT_TRIED:
            continue
        tally.files += 1
        for command in commands(path):
            tally.outcomes += 1
            file = path.relative_to(BROKEN).as_posix()
            code, out, err = _run(command, path, folder)
            if problem := _ill_said(code, err):
                tally.problems.append(f"{file}, trajlab {command.format(file='FILE')}: {problem}")
            yield (file, command), (code, _one_line(err or out, path))


def commands(path: Path) -> tuple[str, ...]:
    """The commands that read such a file."""
    if "policies" in path.parent.name:
        return POLICIES
    if "timetable" in path.parent.name or path.suffix == ".toml":
        return TIMETABLES
    if "lessons" in path.parent.name:
        return LESSONS
    if "zones" in path.parent.name or path.suffix == ".geojson":
        return ZONES
    return TABLES


def _run(command: str, path: Path, folder: Path) -> tuple[int, str, str]:
    shutil.copy(folder / "clean.duckdb", folder / "lab.duckdb")
    out, err, was = io.StringIO(), io.StringIO(), Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([str(path) if word == "{file}" else word for word in command.split()])
    except Exception as error:  # a bug, to be counted and not to end the soak
        return 1, "", f"Traceback: {error!r}"
    finally:
        os.chdir(was)
    return code, out.getvalue(), err.getvalue()


def _ill_said(code: int, err: str) -> str | None:
    if code not in (0, 2) or "Traceback" in err:
        return err.strip()
    if code == 2 and (err.count("\n") != 1 or not err.startswith("trajlab: ")):
        return f"not one line: {err!r}"
    engine = ENGINE.search(err)
    return f"the engine's words: {err.strip()}" if engine else None


def _one_line(said: str, path: Path) -> str:
    """The words in one line, without the machine's folder."""
    return " / ".join(line.strip() for line in said.replace(f"{path.parent}{os.sep}", "").splitlines()).replace(
        "\t", "\\t"
    )


def _stored() -> list[str]:
    return OUTCOMES.read_text(encoding="utf-8").splitlines() if OUTCOMES.exists() else []
