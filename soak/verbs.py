"""Every command of trajlab as it is tried: the words, the folder it starts in, what it makes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trial:
    """One way to call a command, in a copy of the scene `start`."""

    words: str
    start: str = "released"
    makes: str | None = None
    """A new file or folder, there as a whole or not at all; the command refuses one that is there."""
    steps: bool = False
    """Whether it may keep finished steps when it is interrupted: days of an attack, releases of a study."""
    chance: tuple[str, ...] = ()
    """Files that differ from run to run, since a lab draws a secret of its own."""
    ends: bool = True
    """Whether it ends by itself."""


TRIALS: dict[str, tuple[Trial, ...]] = {
    "simulate": (
        Trial("simulate many.parquet --people 200 --days 7", "files"),
        Trial("simulate calls.csv --mode cdr --people 60 --days 5", "files"),
        Trial("simulate campus.csv --mode campus --people 60 --days 7", "files"),
    ),
    "prepare": (Trial("prepare porto-3x3 trips.csv taxis.duckdb", "files"),),
    "geography": (
        Trial("geography new.duckdb --stations stations.csv --zones zones.geojson", "files"),
        Trial("geography lab.duckdb --stations stations.csv --places places.csv", "ingested"),
    ),
    "ingest": (
        Trial("ingest new.duckdb city.csv --tz Europe/Lisbon", "files"),
        Trial("ingest lab.duckdb more.csv --tz Europe/Lisbon", "released"),
        Trial("ingest new.duckdb bandicoot --kind bandicoot --tz America/New_York --stations antennas.csv", "files"),
        Trial("ingest new.duckdb events --kind multimno", "files"),
    ),
    "release": (
        Trial("release lab.duckdb --index h3:8 --slot 30min", "ingested"),
        Trial("release lab.duckdb --index stations --slot 60min --fill linear --min-count 2", "released"),
    ),
    "audit": (Trial("audit lab.duckdb", "noisy"),),
    "publish": (Trial("publish lab.duckdb --date 2026-11-18"),),
    "differencing": (Trial("differencing lab.duckdb", steps=True),),
    "membership": (Trial("membership lab.duckdb --targets 10 --groups 10 --sizes 10", steps=True),),
    "plan": (Trial("plan --people 1000000 --days 30"),),
    "policy": (Trial("policy --list"),),
    "decide": (Trial("decide lab.duckdb --policy policy.toml", steps=True),),
    "cube": (Trial("cube lab.duckdb --by home:h3:6 --min-count 2", steps=True),),
    "feasibility": (Trial("feasibility lab.duckdb"),),
    "attack": (Trial("attack lab.duckdb xu2017"), Trial("attack lab.duckdb dsilva2024", steps=True)),
    "people": (Trial("people lab.duckdb people.csv"),),
    "protect": (
        Trial("protect lab.duckdb cut:6h --key-file key.txt"),
        Trial("protect lab.duckdb cut:6h --key-file key.txt -o cut.parquet", makes="cut.parquet", steps=True),
    ),
    "risk": (
        Trial("risk lab.duckdb points:4"),
        Trial("risk lab.duckdb top:2 points:2 sequence:2", steps=True),
    ),
    "smallest": (Trial("smallest lab.duckdb p0000001", steps=True),),
    "schedule": (
        Trial("schedule lab.duckdb timetable.toml", "campus", steps=True),
        Trial("schedule lab.duckdb found --index places --slot 1h 2h", "campus", steps=True),
    ),
    "utility": (Trial("utility lab.duckdb square:1000 square:2000 --zones h3:7", steps=True),),
    "study": (
        Trial("study lab.duckdb study.toml -o study.svg", "ingested", steps=True),
        Trial("study lab.duckdb --index square:1000 square:2000 --slot 1h -o study.svg", "ingested", steps=True),
    ),
    "study tradeoff": (
        Trial(
            "study tradeoff lab.duckdb --index square:1000 square:2000 --zones h3:7 --knowledge top:1 points:2 "
            "-o tradeoff.svg",
            steps=True,
        ),
    ),
    "recommend": (
        Trial(
            "recommend lab.duckdb --risk top:1 --index square:4000 --slot --suppress 3 --round -o recommend.svg",
            steps=True,
        ),
    ),
    "sql": (Trial("sql lab.duckdb 'select count(*) from records.fix, range(20000)'"),),
    "describe": (Trial("describe counts.occupancy", "files"),),
    "verify": (
        Trial("verify decision.json --lab lab.duckdb", "decided", steps=True),
        Trial("verify decision.json", "decided"),
    ),
    "export": (
        Trial("export lab.duckdb tables", "asked", makes="tables"),
        Trial("export lab.duckdb shapes --publishable --geo", makes="shapes"),
        Trial("export lab.duckdb present --publishable --format multimno", "gridded", makes="present"),
        Trial("export lab.duckdb published --publishable --format csv", makes="published"),
        Trial("export lab.duckdb published --publishable --policy own.toml", "decided", makes="published", steps=True),
    ),
    "figure": (
        Trial("figure lab.duckdb xu2017-fig8a -o fig8a.svg", "asked"),
        Trial("figure lab.duckdb xu2017-fig8a -o fig8a.png", "asked"),
    ),
    "report": (Trial("report lab.duckdb -o page.html", "asked"),),
    "explore": (Trial("explore lab.duckdb", "asked", ends=False),),
    "demo": (Trial("demo town --people 20 --days 2", "files", steps=True, chance=("lab.duckdb", "report.html")),),
}
"""At least one for every command: tests/test_soak.py compares the names with those that trajlab has."""


def every() -> list[tuple[str, Trial]]:
    """All trials, first the first of each verb, then the second of each: a short soak meets every verb."""
    longest = max(map(len, TRIALS.values()))
    return [(verb, trials[i]) for i in range(longest) for verb, trials in TRIALS.items() if i < len(trials)]
