"""Write the generated parts of the documentation: the reference pages, and the answers in docs/questions.md.

`python -m docs.generate` writes them; a test fails when they are out of date.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import polars as pl

import trajlab as tl
from docs import reference
from trajlab.errors import ScheduleError
from trajlab.query import Query, catalogue

DOCS = Path(__file__).parent
TINY = DOCS.parent / "fixtures" / "tiny"
TERM = DOCS.parent / "fixtures" / "term"
BOX = (-9.168738, 38.697476, -9.111244, 38.742517)
HOMES = pl.DataFrame(
    {
        "uid": ["ana", "ben", "cleo", "dora"],
        "home": ["Northgate", "Northgate", "Southgate", "Southgate"],
        "works": ["by day", "by day", None, "by night"],
    }
)
_ANSWERED = re.compile(r"(```sql\n(.*?)```\n)(\n```text\n.*?```\n)?", re.DOTALL)

_WEEKLY = re.compile(r"\b(study\.leak|report\.(schedule_leak|crowd_schedules|extracted_schedule|arrivals))\b")


def main() -> None:
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
    questions = DOCS / "questions.md"
    questions.write_text(answered(questions.read_text(encoding="utf-8")), encoding="utf-8")


def pages() -> dict[str, str]:
    """The pages that are written whole, by file name."""
    return {
        "tables.md": tables(),
        "commands.md": reference.commands(),
        "python.md": reference.python(),
        "figures.md": reference.figure_page(reference.city(), reference.campus()),
    }


def tables() -> str:
    """A page on every table and column of the lab, from the headers of the SQL files."""
    text = [
        "# Tables of the lab",
        "",
        "Generated from the headers in `sql/` by `make docs`. The same words are in the database",
        "(`select * from duckdb_columns()`) and in `trajlab describe`.",
    ]
    stage = ""
    for query in sorted(catalogue().values(), key=lambda q: q.file):
        if query.table.partition(".")[0] != stage:
            stage = query.table.partition(".")[0]
            text += ["", f"## {stage}"]
        text += ["", *_table(query)]
    return "\n".join(text) + "\n"


def answered(page: str) -> str:
    """The page with, under each SQL block, its answer on the tiny town, or on the term where it is about schedules."""
    town, weeks = study(), term()

    def answer(found: re.Match[str]) -> str:
        lab = weeks if _WEEKLY.search(found[2]) else town
        return f"{found[1]}\n```text\n{shown(lab.sql(found[2]))}\n```\n"

    return _ANSWERED.sub(answer, page)


def study() -> tl.Lab:
    """The tiny town published three times (squares, without single people, hexagons), attacked, searched, merged."""
    lab = tl.open(":memory:")
    lab.ingest(TINY / "records.csv", tz="Europe/Lisbon")
    squares = lab.release(index="square:1000", slot="3h", box=BOX, outside="clamp")
    lab.release(index="square:1000", slot="3h", box=BOX, outside="clamp", min_count=2)
    hexagons = lab.release(index="h3:8", slot="3h", box=BOX, outside="clamp")
    lab.attack(squares, "xu2017")
    lab.attack(hexagons, "xu2017")
    strongest = lab.attack(hexagons, "dsilva2024")
    lab.feasibility(hexagons)
    lab.people(HOMES)
    for known in ("top:2", "top:3", "points:4", "points:8"):
        lab.risk(squares, known)
    for known in ("top:2:unordered", "top:variable", "points:8"):
        lab.risk(hexagons, known)
    for places in (1, 2, 3):
        lab.risk(hexagons, f"top:{places}")
        lab.risk(strongest, f"top:{places}:unordered")
    for points in (1, 2, 4):
        lab.risk(hexagons, f"points:{points}")
        for hours in (24, 12, 6):
            if 3 * points <= hours:  # a slot is three hours long
                lab.risk(lab.protect(hexagons, f"cut:{hours}h"), f"points:{points}")
    larger = [f"square:{metres}" for metres in (2000, 3000, 4000, 5000)]
    lab.tradeoff(squares, larger, zones="square:2500", knowledge=["top:1", "points:2"], basis="slots")
    return lab


def term() -> tl.Lab:
    """Three people and sixteen weeks, their schedules searched with points of an hour and of three."""
    lab = tl.open(":memory:")
    lab.ingest(TERM / "records.csv", kind="wifi", tz="Asia/Shanghai")
    hours = lab.release("places", "1h", fill="none", outside="clamp")
    lab.schedule(TERM / "timetable.toml", hours, min_k=3, truth=TERM / "lessons.csv")
    lab.schedule(
        TERM / "timetable.toml",
        lab.release("places", "3h", fill="none", outside="clamp"),
        points=1,
        basis="observed",
        min_k=2,
    )
    with contextlib.suppress(ScheduleError):  # three people are too few to find a timetable; what is counted stays
        lab.schedule("found", hours)
    return lab


def shown(frame: pl.DataFrame) -> str:
    cells = [frame.columns, *([_told(value) for value in row] for row in frame.iter_rows())]
    widths = [max(len(row[i]) for row in cells) for i in range(len(frame.columns))]
    right = [kind.is_numeric() for kind in frame.dtypes]
    lines = (
        "  ".join(v.rjust(w) if r else v.ljust(w) for v, w, r in zip(row, widths, right, strict=True)) for row in cells
    )
    return "\n".join(line.rstrip() for line in lines)


def _table(query: Query) -> list[str]:
    verb = "a view of " if query.view else "built from "
    made = f"written by `{query.written_by}`" if query.written_by else verb + _listed(query.reads)
    key = f"One row per {_listed(query.grain)}; {made}." if query.grain else f"{made.capitalize()}; no key."
    prose = [*reference.short(query.prose.strip().splitlines()), ""] if query.prose.strip() else []
    rows = [f"| `{c.name}` | {c.type} | {c.meaning} |" for c in query.columns]
    return [f"### {query.table}", "", *reference.wrap(query.summary.capitalize()), "", *prose, *reference.wrap(key), "",
            "| column | type | meaning |", "|---|---|---|", *rows]  # fmt: skip


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "nothing"


def _told(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else "-" if value is None else str(value)


if __name__ == "__main__":
    main()
