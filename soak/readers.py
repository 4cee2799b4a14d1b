"""Laws of the readers: what holds of any file, however bad; `fuzz` looks for files for which it does not.

A file is refused with a `TrajlabError` of one line in trajlab's own words, or read. What is read is
compared with a second reading that shares nothing with the first: records of a CSV file counted by one regular
expression, instants from how their text was made, zones from Python's own list.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
import shutil
import tempfile
import weakref
import zoneinfo
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from soak.mistakes import ENGINE
from trajlab.errors import TrajlabError
from trajlab.ingest import add_places, add_stations, ingest
from trajlab.ingest._times import check_zone
from trajlab.progress import Progress
from trajlab.risk import traits
from trajlab.schedule import timetable, truth
from trajlab.spatial._zone_files import read_zones
from trajlab.store import Store

TZ = "Europe/Lisbon"
DELIMITERS = ",;\t|"


class BrokenLawError(AssertionError):
    """A law does not hold."""


class Readers:
    """A lab in memory that every example is read into and forgotten from, and a folder for its file."""

    def __init__(self) -> None:
        self._store = Store()
        self._folder = Path(tempfile.mkdtemp(prefix="soak-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def csv(self, content: bytes) -> None:
        """Rows kept and rejected are the records that a second reader counts."""
        path = self._written(content, "records.csv")
        with self._trial():
            if self._refused(lambda: ingest(self._store.con, path, tz=TZ)):
                return
            ((rows, kept, rejected),) = self._store.rows(
                "select (select sum(rows) from records.source), (select count(*) from records.fix), "
                "(select count(*) from records.rejected)"
            )
            _hold(rows == kept + rejected, f"{rows} rows are {kept} kept and {rejected} rejected")
            counted = count_records(content)
            _hold(rows == counted, f"{rows} rows were read and a second reader counts {counted}")

    def time(self, written: str, instant: dt.datetime | None) -> None:
        """A time is the instant that its text was made from, or rejected; text that means no instant is rejected."""
        path = self._written(
            f"uid,ts,lat,lng\nana,{written},38.7,-9.1\nben,1709553600,38.7,-9.1\n".encode(), "times.csv"
        )
        with self._trial():
            if self._refused(lambda: ingest(self._store.con, path, tz=TZ)):
                return
            found = self._store.rows("select epoch_us(ts) from records.fix where source_row = 1")
            for (us,) in found:
                read = dt.datetime.fromtimestamp(0, dt.UTC) + dt.timedelta(microseconds=us)
                _hold(instant is not None, f"{written!r} was read as {read} and means nothing")
                _hold(read == instant, f"{written!r} was read as {read} and means {instant}")

    def zone(self, name: str) -> None:
        """A zone that passes is one that Python knows."""
        if not self._refused(lambda: check_zone(self._store.con, name)):
            _hold(name in zoneinfo.available_timezones(), f"zone {name!r} passes and nobody knows it")

    def timetable_csv(self, content: bytes) -> None:
        """A timetable that is read has a slot for every line."""
        path = self._written(content, "timetable.csv")
        found: list[timetable.Timetable] = []
        if not self._refused(lambda: found.append(timetable.read(path))) and b'"' not in content:
            lines = [line for line in re.split(r"\r\n|\n|\r", content.decode("utf-8-sig")) if line]
            _hold(len(found[0].slots) == len(lines) - 1, f"{len(found[0].slots)} slots from {len(lines) - 1} lines")

    def timetable_toml(self, content: bytes) -> None:
        path = self._written(content, "timetable.toml")
        self._refused(lambda: timetable.read(path))

    def truth(self, content: bytes) -> None:
        path = self._written(content, "lessons.csv")
        self._refused(lambda: truth.read(path))

    def zones(self, content: bytes) -> None:
        path = self._written(content, "zones.geojson")
        self._refused(lambda: read_zones(path))

    def stations(self, content: bytes) -> None:
        """Stations in the lab are the names that a second reader finds."""
        path = self._written(content, "stations.csv")
        with self._trial():
            if not self._refused(lambda: add_stations(self._store.con, path)) and b'"' not in content:
                self._names("station", content)

    def places(self, content: bytes) -> None:
        path = self._written(content, "places.csv")
        with self._trial():
            if not self._refused(lambda: add_places(self._store.con, path)) and b'"' not in content:
                self._names("place", content)

    def people(self, content: bytes) -> None:
        path = self._written(content, "people.csv")
        with self._trial():
            self._store.con.execute("insert into records.person values (1, 'ana'), (2, 'ben')")
            self._refused(lambda: traits.add(self._store, path, Progress()))

    def _names(self, column: str, content: bytes) -> None:
        text = content.decode("utf-8-sig", errors="replace").strip("\r\n")
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)))
        where = [name.strip().lower() for name in rows[0]].index(column)
        named = {row[where].strip() for row in rows[1:] if len(row) > where and row[where].strip()}
        ((there,),) = self._store.rows(f"select count(*) from records.{column}")  # noqa: S608
        _hold(there == len(named), f"{there} of {len(named)} names are in the lab")

    def _trial(self) -> AbstractContextManager[None]:
        return self._store.rehearsal("a trial")

    def _written(self, content: bytes, name: str) -> Path:
        path = self._folder / name
        path.write_bytes(content)
        return path

    def _refused(self, read: Callable[[], object]) -> bool:
        try:
            read()
        except TrajlabError as refusal:
            said = str(refusal)
            engine = ENGINE.search(said)
            _hold(engine is None, f"the engine's words: {said}")
            return True
        return False


def count_records(content: bytes) -> int:
    """Records below the column names: lines, joined where a field in proper quotes has a line break.

    A line whose quotes are not in order is a record of its own, and the next line is looked at afresh.
    """
    text = content.decode("utf-8", errors="replace").removeprefix("\ufeff").lstrip("\r\n")
    edge = re.escape(_delimiter(text))
    field = rf'(?:"(?:[^"]|"")*+"|[^"{edge}\r\n]*+)'
    proper = re.compile(rf"{field}(?:{edge}{field})*+(?=[\r\n]|\Z)")
    line = re.compile(r"[^\r\n]*")
    at = count = 0
    while at < len(text):
        if text[at] in "\r\n":
            at += 1
            continue
        found = proper.match(text, at) or line.match(text, at)
        assert found is not None
        at, count = found.end(), count + 1
    return max(count - 1, 0)


def _delimiter(text: str) -> str:
    """The one that gives most columns, the earlier of two that give as many."""
    head = [len(next(csv.reader(io.StringIO(text, newline=""), delimiter=mark), [])) for mark in DELIMITERS]
    return DELIMITERS[head.index(max(head))]


def _hold(holds: bool, said: str) -> None:  # noqa: FBT001
    if not holds:
        raise BrokenLawError(said)
