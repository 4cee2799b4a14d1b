"""The whole road on a simulated city: what `trajlab demo` and `trajlab simulate` run."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajlab.errors import LabError
from trajlab.export import make_folder
from trajlab.report import words
from trajlab.simulation import Mode, simulate_campus, simulate_stations, write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trajlab.lab import Lab
    from trajlab.release import Release

INDEXES = ("square:500", "h3:8", "stations")
TZ = "Europe/Lisbon"
ATTACKS = ("xu2017", "dsilva2024")
ATTACKED = 500
"""People of the release that the demo attacks: enough to see what happens, few enough for a minute."""
KNOWN = ("top:2", "points:2", "points:4")
PROTECTION = "cut:6h"
LARGER = ("square:1000", "square:1500", "square:2000", "square:3000", "square:4000")
"""What the squares of 500 m become, to see what that protects and what it costs."""
POLICY = "open-data"
ZONES = "h3:7"
EXAMPLES = 3
"""People whose days the report draws: they are simulated."""


def run(folder: Path, *, people: int, days: int, seed: int) -> None:
    """Simulate, ingest, release with three indexes, attack, ask for risks, decide, report; prints each step."""
    import polars as pl

    from trajlab.opening import open_lab

    make_folder(folder)
    lab_file = folder / "lab.duckdb"
    _forget_older_demo(lab_file)
    began = time.perf_counter()
    city = folder / "city.parquet"
    rows = write(city, people, days, seed=seed, interval="15min", tz=TZ)
    _say(began, f"simulated {people:,} people for {days} days, seed {seed}: {rows:,} positions in {city}")
    with open_lab(lab_file) as lab:
        done = lab.ingest(city, tz=TZ)
        lab.geography(stations=simulate_stations(people, days, seed=seed, tz=TZ))
        _say(began, f"ingested {done.kept:,} records, refused {done.rows - done.kept:,}")
        for index in INDEXES:
            release = lab.release(index=index, slot="30min", fill="static")
            _say(began, f"published {len(release.counts):,} counts in {len(release.cells):,} cells of {index}")
        attacked = lab.release(index=INDEXES[0], slot="30min", fill="static", people=min(people, ATTACKED))
        lab.feasibility(attacked)
        for attack in ATTACKS:
            lab.attack(attacked, attack)
            _say(began, f"recovered {attacked.people:,} tracks from the counts of {attacked.index} with {attack}")
        _say(began, _singled_out(lab, attacked))
        _say(began, _costs(lab, attacked))
        decision = lab.decide(attacked, POLICY)
        _say(began, f"asked whether {attacked.index} may be published: {decision}")
        lab.certificate(decision, folder / "decision.json")
        report = lab.report(folder / "report.html", example_people=EXAMPLES)
        with pl.Config(
            tbl_cols=-1, tbl_hide_column_data_types=True, tbl_hide_dataframe_shape=True, tbl_width_chars=140
        ):
            print("\nWhat was published, and how often somebody is alone in a published count:\n")
            print(_summary(lab))
            print("\nShare of slots in which a recovered track is in the right cell, beside two yardsticks:\n")
            print(_recovered(lab))
    print(f"\nThe lab:    {lab_file}")
    print(f"The report: {report}, to open in a browser")
    print(f"The answer: {folder / 'decision.html'}, of the certificate decision.json beside it")
    print(f"Ask it:     {Path(sys.argv[0])} sql {lab_file} 'from report.summary'")


def simulate_to_files(
    file: Path, *, mode: Mode, people: int, days: int, stations: int, **options: Any
) -> Iterator[str]:
    """Write records, and the reference tables that belong to the mode, beside each other."""
    rows = write(file, people, days, mode=mode, stations=stations, **options)
    yield f"{file}: {rows:,} records"
    tables = {}
    if mode == "cdr":
        tables = {"stations": simulate_stations(people, days, mode=mode, stations=stations, **options)}
    elif mode == "campus":
        campus = simulate_campus(people, days, **options)
        tables = {"places": campus.places, "schedule": campus.schedule, "timetable": campus.timetable}
    for name, table in tables.items():
        beside = file.with_name(f"{file.stem}_{name}.csv")
        table.write_csv(beside)
        yield f"{beside}: {len(table):,} rows"


def _summary(lab: Lab) -> object:
    return lab.sql(
        "select index_name as index, people, cells, counts, flow_counts, median_count, "
        "round(alone, 3) as alone, round(observed_share, 3) as observed_share from report.summary order by cells desc"
    )


def _recovered(lab: Lab) -> object:
    return lab.sql(
        "select attack, round(estimate, 3) as accuracy, round(low, 3) as low, round(high, 3) as high, "
        "round(shuffle, 3) as shuffle, round(stay, 3) as stay from report.every_metric where metric = 'accuracy' "
        "and level = 3 and pairing = 'optimal' and attack in ('xu2017', 'dsilva2024') order by accuracy"
    )


def _singled_out(lab: Lab, release: Release) -> str:
    """Ask a few questions about re-identification, one of them again after a protection, and say what came out."""
    shares = [f"{known} {lab.risk(release, known).unique_share:.0%}" for known in KNOWN]
    after = lab.risk(lab.protect(release, PROTECTION), "points:2").unique_share
    return f"singled out of {release.people:,} people: {', '.join(shares)}; points:2 after {PROTECTION} {after:.0%}"


def _costs(lab: Lab, release: Release) -> str:
    """Generalise the release step by step, and say where the last step leads."""
    study = lab.tradeoff(release, LARGER, zones=ZONES, knowledge=("top:2", "points:4"), basis="slots")
    last = lab.sql(
        "from report.tradeoff_point where tradeoff_id = $id and step = $step and flows = 'raw' and measure = 'all' "
        "order by rank limit 1",
        id=study.id,
        step=len(LARGER),
    ).row(0, named=True)
    return f"with {LARGER[-1]} instead: top:2 {last['risk']:.0%}; {words.misplaced(last)} (between {ZONES})"


def _forget_older_demo(lab_file: Path) -> None:
    """A demo starts afresh, but never over a lab that holds anything but a demo."""
    from trajlab.opening import open_lab

    if not lab_file.exists():
        return
    with open_lab(lab_file, read_only=True) as lab:
        names = lab.sql("select distinct name from records.source")["name"].to_list()
    if any(Path(name).name != "city.parquet" for name in names):
        raise LabError(f"{lab_file} holds records that are not a demo's: choose another folder")
    lab_file.unlink()


def _say(began: float, text: str) -> None:
    print(f"{time.perf_counter() - began:5.1f} s  {text}", flush=True)
