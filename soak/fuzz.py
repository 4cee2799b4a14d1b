"""Files and words that nobody thought of: random ones, and files of fixtures/ with random changes.

Hypothesis makes them smaller until they cannot be any smaller. What is found is written to build/soak/found/;
mend the reader, and put the file into fixtures/broken/grown/, so that its outcome is kept.
"""

from __future__ import annotations

import datetime as dt
import json
import time
import zoneinfo
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import strategies as st

from soak.readers import TZ, BrokenLawError, Readers
from soak.scenes import FIXTURES

ROUND = 60
"""Examples of a reader before it is another's turn."""
SHRINKING = 15
"""Seconds in which an example is made smaller."""


@dataclass
class Tally:
    examples: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def search(readers: Readers, name: str, seed: int, deadline: float, found: Path, tally: Tally) -> None:
    """One round of one reader; the smallest example that breaks its law is kept as a file."""
    law, examples = LAWS[name]
    worst: list[tuple[float, str, Any]] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=ROUND,
        deadline=None,
        database=None,
        derandomize=False,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        verbosity=hypothesis.Verbosity.quiet,
    )
    @hypothesis.given(examples)
    def tried(example: Any) -> None:
        now = time.monotonic()
        if now > deadline or (worst and now > worst[0][0] + SHRINKING):
            return
        tally.examples[name] += 1
        try:
            law(readers, example)
        except Exception as error:
            said = str(error) if isinstance(error, BrokenLawError) else f"{type(error).__name__}: {error}"
            worst.append((now, said, example))
            raise

    try:
        tried()
    except Exception:
        if not worst:  # hypothesis itself is in trouble
            raise
        _, said, example = min(worst, key=lambda each: len(str(each[2])))
        found.mkdir(parents=True, exist_ok=True)
        kept = found / f"{name}-{seed}{SUFFIX.get(name, '.txt')}"
        kept.write_bytes(example if isinstance(example, bytes) else repr(example).encode())
        first = " ".join(said.split())[:400]
        tally.problems.append(f"{name}, seed {seed}: {first} ({kept.name}: {str(example)[:200]})")


# --- what is tried

_CHARACTERS = st.sampled_from("\",;\t|\n\r \\'0159.-+:aZé€�\x00\ufeff=") | st.characters(codec="utf-8")
_JUNK = st.text(_CHARACTERS, max_size=12)
_SPOILED = st.sampled_from(
    ['"', '""', 'a"b', '"a', "nan", "inf", "1e400", "", " ", "\n", "\r", ",", "NULL", "0x1F", "-0"]
)


def _cells(good: str) -> st.SearchStrategy[str]:
    return st.just(good) | st.just(f'"{good}"') | _SPOILED | _JUNK


@st.composite
def _table(draw: st.DrawFn, header: str, row: tuple[str, ...]) -> bytes:
    """Mostly good rows, some spoiled, under the right names, with any delimiter and ends of lines."""
    mark = draw(st.sampled_from(",,,;\t|"))
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r", "\n\n"]))
    rows = draw(st.lists(st.tuples(*map(_cells, row)) | st.just(row) | st.lists(_cells("x"), max_size=7), max_size=8))
    text = end.join([header.replace(",", mark), *(mark.join(cells) for cells in rows)])
    bom = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"]))
    return bom + draw(_changed(text.encode(errors="replace"), most=2))


@st.composite
def _changed(draw: st.DrawFn, content: bytes, most: int = 6) -> bytes:
    """The same bytes with a few of them cut, doubled, or put in their place."""
    for _ in range(draw(st.integers(0, most))):
        at = draw(st.integers(0, len(content)))
        to = min(len(content), at + draw(st.integers(0, 8)))
        new = draw(st.sampled_from([b"", b'"', b"\n", b"\r", b",", b"\xff", b"\0", b"\xe9", content[at:to] * 2]))
        content = content[:at] + new + content[to:]
    return content


def _files(pattern: str) -> st.SearchStrategy[bytes]:
    """Files of the project, changed."""
    paths = sorted(path for path in FIXTURES.glob(pattern) if path.stat().st_size < 20_000)
    return st.sampled_from(paths).flatmap(lambda path: _changed(path.read_bytes()))


_ROW = ("ana", "2024-03-04T10:00:00Z", "38.7", "-9.1")
_STATION = ("A", "38.7", "-9.1")
_ZONES = st.sampled_from(sorted(zoneinfo.available_timezones())) | st.text("EuropLisbn/+-:0123UTCGM", max_size=16)
_LESSON = ("ana", "Mon", "08:00", "09:30", "A")
_OFFSETS = {
    "Z": 0, "z": 0, " UTC": 0, "+00:00": 0, "+01:00": 60, "-0330": -210, "+05:45": 345, " +02:00": 120, "+02": 120,
    "-11:30": -690, "+14:00": 840, " GMT": 0, "-00:00": 0,
    " UTC+5": 300, " GMT-3": -180, "UTC+05:30": 330,
}  # fmt: skip
_NO_OFFSETS = (
    " EST5", " xyz1", " EST", " IST", "+25:00", "+99", "PM", " am", "+1:2:3:4",
    " 5", "--3", " Mars/Base", "Z5", "[Europe/Lisbon]", "+05:30x", "T", " +", " CEST2",
)  # fmt: skip


@st.composite
def _times(draw: st.DrawFn) -> tuple[str, dt.datetime | None]:
    """Text, and the instant that it means, or nothing."""
    local = draw(st.datetimes(dt.datetime(1971, 1, 1), dt.datetime(2099, 12, 31)))  # noqa: DTZ001
    local = local.replace(microsecond=draw(st.sampled_from([0, 0, 500_000, local.microsecond])))
    kind = draw(st.sampled_from(["offset", "none", "junk", "naive", "name", "number", "packed"]))
    if kind == "number":
        scale = draw(st.sampled_from([1, 1000, 1_000_000]))
        seconds = int(local.replace(tzinfo=dt.UTC).timestamp())
        hypothesis.assume(seconds > 200_000_000)  # smaller ones could be milliseconds or calendar dates
        return str(seconds * scale), dt.datetime.fromtimestamp(seconds, dt.UTC)
    if kind == "packed":
        form = draw(st.sampled_from(["%Y%m%d", "%y%m%d", "%Y%m%d%H", "%Y%m%d%H%M"]))
        return local.strftime(form), None
    text = local.strftime(f"%Y-%m-%d{draw(st.sampled_from('T '))}%H:%M:%S")
    text += f".{local.microsecond:06}" if local.microsecond else ""
    if kind == "offset":
        mark = draw(st.sampled_from(sorted(_OFFSETS)))
        return text + mark, (local - dt.timedelta(minutes=_OFFSETS[mark])).replace(tzinfo=dt.UTC)
    if kind == "none":
        return text + draw(st.sampled_from(_NO_OFFSETS)), None
    if kind == "junk":
        junk = draw(st.text("abcxyzUTC+-:5 /_", min_size=1, max_size=8).filter(lambda t: t.strip() and "," not in t))
        hypothesis.assume(junk.strip().upper() not in {"Z", "UTC", "GMT"} and not junk.strip()[0].isdigit())
        hypothesis.assume(not _an_offset(junk.strip().removeprefix("UTC").strip()))
        return text + junk, None
    zone = draw(st.sampled_from(["Asia/Kolkata", "America/St_Johns", "Europe/Lisbon"])) if kind == "name" else TZ
    instant = local.replace(tzinfo=zoneinfo.ZoneInfo(zone)).astimezone(dt.UTC)
    gone = instant.astimezone(zoneinfo.ZoneInfo(zone)).replace(tzinfo=None) != local
    return (f"{text} {zone}" if kind == "name" else text), None if gone else instant


def _an_offset(text: str) -> bool:
    try:
        dt.datetime.strptime(text.removesuffix(":"), "%z")
    except ValueError:
        return text[:1] in "+-" and text[1:].replace(":", "").isdigit()
    return True


def _json() -> st.SearchStrategy[Any]:
    leaf: st.SearchStrategy[Any] = (
        st.none() | st.booleans() | st.integers() | st.floats() | _JUNK | st.just([]) | st.just({})
    )
    return leaf | st.lists(leaf, max_size=4) | st.dictionaries(st.sampled_from(["type", "coordinates", "id"]), leaf)


@st.composite
def _geojson(draw: st.DrawFn) -> bytes:
    """The zones of the tiny town with a few of their parts put in place of others."""
    tree = json.loads((FIXTURES / "tiny" / "zones.geojson").read_text())
    for _ in range(draw(st.integers(1, 3))):
        node, key = tree, "features"
        for _ in range(draw(st.integers(0, 7))):
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if not isinstance(node[key], dict | list) or not node[key]:
                break
            if draw(st.booleans()):
                node = node[key]
                key = draw(st.sampled_from(list(node) if isinstance(node, dict) else list(range(len(node)))))
        node[key] = draw(_json())
    return json.dumps(tree).encode()


_LINES = """
tz = "Europe/Lisbon" | tz = 3 | tz = "\\u0000" | holidays = ["2016-04-04"] | holidays = [2016-04-04] | holidays = 4
holidays = [[]] | [[slot]] | [slot] | slot = 1 | slot = [1] | slot = [{}] | x = 1 | weekday = "Mon" | weekday = []
weekday = ["Mon", "Tue"] | weekday = [[1]] | weekday = {a = 1} | weekday = 9 | from = "08:00" | from = 08:00:00
from = 8 | from = 2016-04-04 | to = "09:35" | to = nan | to = "25:00" | to = "24:00"
"""
_TOML = st.lists(
    st.sampled_from([line.strip() for line in _LINES.strip().replace("\n", "|").split("|")]) | _JUNK, max_size=9
).map(lambda lines: "\n".join(lines).encode(errors="replace"))

Law = Callable[[Readers, Any], None]
LAWS: dict[str, tuple[Law, st.SearchStrategy[Any]]] = {
    "csv": (Readers.csv, _table("uid,ts,lat,lng", _ROW) | _files("broken/*.csv") | _files("tiny/records.csv")),
    "time": (lambda readers, example: readers.time(*example), _times()),
    "zone": (Readers.zone, _JUNK | _ZONES),
    "timetable_csv": (
        Readers.timetable_csv,
        _table("weekday,from,to", ("Mon", "08:00", "09:30")) | _files("broken/timetables/*.csv"),
    ),
    "timetable_toml": (Readers.timetable_toml, _TOML | _files("**/*.toml")),
    "truth": (Readers.truth, _table("uid,weekday,from,to,place", _LESSON) | _files("term/lessons.csv")),
    "zones": (Readers.zones, _geojson() | _files("**/*.geojson")),
    "stations": (Readers.stations, _table("station,lat,lng", _STATION) | _files("broken/*station*.csv")),
    "places": (Readers.places, _table("place,lat,lng,parent", (*_STATION, "B")) | _files("broken/places.csv")),
    "people": (Readers.people, _table("uid,home,works", ("ana", "north", "by day")) | _files("tiny/records.csv")),
}
SUFFIX = {"time": ".txt", "zone": ".txt", "timetable_toml": ".toml", "zones": ".geojson"} | dict.fromkeys(
    ("csv", "timetable_csv", "truth", "stations", "places", "people"), ".csv"
)
