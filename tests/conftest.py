"""The tiny town (fixtures/tiny/README.md tells its two days), as a lab."""

from __future__ import annotations

import fcntl
import math
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import polars as pl
import pytest

import trajlab as tl
from trajlab import blank, progress
from trajlab.risk import traits
from trajlab.schedule import finding

MANY = bool(os.environ.get("TRAJLAB_NEW_EXAMPLES"))
"""Whether somebody looks for examples that nobody has seen (`make examples`): otherwise they are the same every time."""
hypothesis.settings.register_profile("repeatable", derandomize=True, max_examples=30)
if not MANY:
    hypothesis.settings.load_profile("repeatable")


def examples(few: int, many: int) -> hypothesis.settings:
    """How often to try a property: `few` times, always alike, in every run of the tests, `many` by `make examples`."""
    return hypothesis.settings(max_examples=many if MANY else few, deadline=None)


RUN = "TRAJLAB_TEST_RUN"
"""The folder that all processes of a test run share: the first makes it, the others inherit the variable."""
_MADE: list[str] = []


def pytest_configure() -> None:
    if not os.environ.get(RUN):
        _MADE.append(tempfile.mkdtemp(prefix="trajlab-tests-"))
        os.environ[RUN] = _MADE[0]
    os.environ.setdefault(blank.VARIABLE, os.environ[RUN])  # labs are made after one blank lab: see tests/test_blank.py
    progress.SELDOM = math.inf  # on a busy machine, too, stderr has nothing but what a test is about


def pytest_unconfigure() -> None:
    for folder in _MADE:
        shutil.rmtree(folder, ignore_errors=True)


ROOT = Path(__file__).parents[1]
TINY = ROOT / "fixtures" / "tiny"
TERM = ROOT / "fixtures" / "term"
HOMES = pl.DataFrame(
    {
        "uid": ["ana", "ben", "cleo", "dora", "gus"],
        "home": ["Northgate", "Northgate", "Southgate", "Southgate", "elsewhere"],
        "works": ["by day", "by day", None, "by night", None],
    }
)
TINY_BOX = (-9.168738, 38.697476, -9.111244, 38.742517)
ONE_THREAD = 1
"""For labs so small that another would never have anything to do: waking it takes a tenth of the time."""


def ingest_tiny(path: str | Path = ":memory:") -> tl.Lab:
    lab = tl.open(path)
    lab.ingest(TINY / "records.csv", tz="Europe/Lisbon")
    lab.geography(stations=TINY / "stations.csv", zones=TINY / "zones.geojson")
    return lab


def _once(name: str, make: Callable[[Path], None]) -> Path:
    """A file that the first of the processes of a test run makes, and the others wait for."""
    file = Path(os.environ[RUN]) / name
    with Path(f"{file}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            unfinished = file.with_name(f"unfinished-{name}")
            unfinished.unlink(missing_ok=True)
            make(unfinished)
            unfinished.rename(file)
    return file


def _tiny_file() -> Path:
    return _once("tiny.duckdb", lambda file: ingest_tiny(file).close())


def tiny_lab(path: str | Path = ":memory:") -> tl.Lab:
    """A new lab that holds the tiny town, as `ingest_tiny` makes it and ten times faster."""
    if path != ":memory:":
        new = Path(path).expanduser()
        assert not new.exists()
        shutil.copy(_tiny_file(), new)
        return tl.open(path, threads=ONE_THREAD)
    lab = tl.open(threads=ONE_THREAD)
    con = lab._store.con
    con.execute(f"attach '{_tiny_file()}' as town (read_only)")
    for (table,) in con.execute(
        "select schema_name || '.' || table_name from duckdb_tables() where database_name = 'town' and "
        "estimated_size > 0 and table_name != 'lab'"
    ).fetchall():
        con.execute(f"insert into {table} select * from town.{table}")
    con.execute("detach town")
    return lab


def filled(lab: tl.Lab) -> dict[str, int]:
    """How many rows each table of the lab has: the same before and after what is refused."""
    con = lab._store.con
    names = con.sql("select schema_name || '.' || table_name from duckdb_tables() where not temporary order by all")
    return {table: con.sql(f"select count(*) from {table}").fetchall()[0][0] for (table,) in names.fetchall()}


@pytest.fixture(scope="session")
def tiny_file() -> Path:
    """The tiny town as a file: to be copied, not written to."""
    return _tiny_file()


@pytest.fixture
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tl.Lab]:
    """The tiny town, for one test to change as it likes."""
    with tiny_lab(tmp_path_factory.mktemp("tiny") / "lab.duckdb") as lab:
        yield lab


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory) -> tl.Lab:
    """The tiny town with its release, attacked and searched: shared between tests, so only for reading."""
    file = tmp_path_factory.mktemp("town") / "town.duckdb"
    shutil.copy(_once("town.duckdb", _make_town), file)
    return tl.open(file, threads=ONE_THREAD)


def _make_town(file: Path) -> None:
    lab = tiny_lab(file)
    release = lab.release(index="square:1000", slot="3h", fill="static", box=TINY_BOX, outside="clamp")
    lab.feasibility(release)
    lab.count_utility(release)
    run = lab.attack(release, "xu2017")
    lab.risk(release, "top:2")
    lab.risk(release, "top:2:unordered", basis="records", sample=4)
    lab.risk(release, "points:2")
    lab.risk(run, "top:2")
    lab.tradeoff(release, ["square:2000", "square:4000"], zones="zones", knowledge=["top:1", "points:2"], basis="slots")
    lab.membership(release, sizes=[3], targets=4, groups=10, recipes=["exact", "suppress:2"])
    with lab._store.transaction("people"):
        traits.add(lab._store, HOMES, lab._progress)
    lab.cube(release, "home:zones")
    works = lab.cube(release, "works", min_count=2)
    lab.publish(release, "2024-03-11", note="to the town hall")
    lab.differencing(works, least=2)
    lab.decide(release, TINY / "policy.toml")
    lab.study(TINY / "study.toml")
    lab.recommend(release, risk="top:2", index=[], slot=[], suppress=[], round=[])
    lab.close()


def term_lab(path: str | Path = ":memory:") -> tl.Lab:
    """Table II of ma2017 as records (fixtures/term/README.md)."""
    lab = tl.open(path)
    lab.ingest(TERM / "records.csv", kind="wifi", tz="Asia/Shanghai")
    return lab


@pytest.fixture(scope="session")
def term(tmp_path_factory: pytest.TempPathFactory) -> tl.Lab:
    """The term, its schedules asked for from true records and from recovered tracks: only for reading."""
    file = tmp_path_factory.mktemp("term") / "term.duckdb"
    shutil.copy(_once("term.duckdb", _make_term), file)
    return tl.open(file, threads=ONE_THREAD)


def _make_term(file: Path) -> None:
    lab = term_lab(file)
    release = lab.release("places", "1h", fill="none", outside="clamp")
    lab.schedule(TERM / "timetable.toml", release, min_k=3, truth=TERM / "lessons.csv")
    lab.schedule(TERM / "timetable.toml", lab.release("places", "3h", outside="clamp"), points=1, basis="slots")
    finding.arrivals(lab._store, release.id, lab._progress)
    lab.close()
