"""A SQL file as a value: its text and its contract.

`sql/4_counts/occupancy.sql` is the relation `counts.occupancy`. Each file opens with a
comment header (one sentence, prose, `grain:`, `reads:`, `params:`, `columns:`) and
holds one SELECT. There are four kinds of relation:

- a *table* is built, and keeps its rows;
- a *written* table is filled by a Python step: `written by:` instead of `reads:`, and no SELECT;
- a *view* (`view: yes`) is always true, and nothing is stored;
- a *macro* is a view with parameters: `from figures.xu2017_8a('r…')`.

`shards by: person` promises that the file, run on shards by that column and united, gives the same
rows; `none` that it needs everything at once. `merge: sum(people) >= $min_count` says how the rows of shards
by person become one: columns that it does not name are the key, and the limit holds after the sum.
`publish: yes` marks a relation that holds nobody's trace. A file whose name begins with an underscore is a
*step*: a SELECT over what a Python step has at hand while it works (`step`), no relation of the lab. Files in
`0_functions` are functions of one value, such as `wilson_low`.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trajlab.errors import ContractError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Collection


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Query:
    """One table of the lab: what a row is, what it is built from, what each column means."""

    table: str
    summary: str
    prose: str
    grain: tuple[str, ...]
    reads: tuple[str, ...]
    params: tuple[str, ...]
    columns: tuple[Column, ...]
    select: str
    written_by: str
    publishable: bool
    view: bool
    shards_by: str
    file: str
    merge: str = ""

    @property
    def kind(self) -> str:
        """table, written, view or macro."""
        if self.view:
            return "macro" if self.params else "view"
        return "written" if self.written_by else "table"

    @classmethod
    def load(cls, table: str) -> Query:
        tables = catalogue()
        if table not in tables:
            raise UnknownNameError("table", table, tables)
        return tables[table]

    @property
    def scope(self) -> tuple[str, ...]:
        """The grain columns that a parameter fixes: a rebuild of a table replaces exactly their rows."""
        return () if self.view else tuple(name for name in self.grain if name in self.params)

    @property
    def ddl(self) -> str:
        """Column definitions for `create table`."""
        return ", ".join(f'"{c.name}" {c.type}' for c in self.columns)


def describe(table: str | None = None) -> str:
    """A table and its columns in words; without a name, one line for each table."""
    if table is None:
        width = max(map(len, catalogue()))
        stages = sorted(catalogue().values(), key=lambda query: query.file)
        return "\n".join(f"{query.table:<{width}}  {query.summary}" for query in stages)
    query = Query.load(table)
    verb = "a view of" if query.view else "built from"
    made = f"written by {query.written_by}" if query.written_by else f"{verb} {', '.join(query.reads)}"
    if query.kind == "macro":
        made += f"; ask it with its parameters: from {query.table}({', '.join(f'${name}' for name in query.params)})"
    key = f"one row per {', '.join(query.grain)}" if query.grain else "no key"
    names, types = (max(len(getattr(column, part)) for column in query.columns) for part in ("name", "type"))
    columns = [f"  {c.name:<{names}}  {c.type:<{types}}  {c.meaning}" for c in query.columns]
    prose = ["", *query.prose.strip().splitlines()] if query.prose.strip() else []
    return "\n".join([f"{query.table}: {query.summary}", f"{key}; {made}", *prose, "", *columns])


@functools.cache
def catalogue() -> dict[str, Query]:
    """Every table by name, in the order in which a study builds them."""
    files = sorted(file for file in folder().glob("[1-9]_*/*.sql") if not file.name.startswith("_"))
    declared = {query.table: query for query in map(parse, files)}
    return {table: declared[table] for table in _in_build_order(declared)}


def tables_of(key: str, given: Collection[str]) -> list[Query]:
    """Every table of `metrics` that is built of each `key` from no more than these parameters, in order.

    So nothing lists the tables of a stage: whoever adds a file with these parameters adds a table.
    """
    return [
        query
        for query in catalogue().values()
        if query.kind == "table"
        and query.table.startswith("metrics.")
        and key in query.scope
        and set(query.params) <= set(given)
    ]


@functools.cache
def step(name: str) -> str:
    """The SELECT of a step, such as `1_records/_parse_times`: what a Python step runs on what it has at hand."""
    path = folder() / f"{name}.sql"
    return path.read_text(encoding="utf-8").partition("\n\n")[2].strip()


@functools.cache
def functions() -> dict[str, tuple[tuple[str, ...], str]]:
    """Every function of one value: its parameters and its expression, whose `$name` are the parameters."""
    found = {}
    for path in sorted(folder().glob("0_functions/*.sql")):
        header, _, select = path.read_text(encoding="utf-8").partition("\n\n")
        lines = [line.removeprefix("--").removeprefix(" ").rstrip() for line in header.splitlines()]
        params = _names(_fields(lines[1:]).get("params", ""))
        found[path.stem] = (params, select.strip().removeprefix("select").strip())
    return found


def folder() -> Path:
    """Where the SQL files are: inside the installed package, or at the top of the source tree."""
    installed = Path(__file__).parent / "sql"
    return installed if installed.is_dir() else Path(__file__).parents[1] / "sql"


def parse(path: Path) -> Query:
    """Read one SQL file; a header that does not follow the rules is refused."""
    text = path.read_text(encoding="utf-8")
    header, _, select = text.partition("\n\n") if "\n\n" in text else (text, "", "")
    lines = [line.removeprefix("--").removeprefix(" ").rstrip() for line in header.splitlines()]
    table = f"{path.parent.name[2:]}.{path.stem}"
    name, _, summary = lines[0].partition(": ")
    if name != table:
        raise ContractError(f"{path.name}: the header names {name!r}, the file is the table {table!r}")
    fields = _fields(lines[1:])
    if missing := {"grain", "columns"} - fields.keys():
        raise ContractError(f"{path.name}: the header has no {' and no '.join(sorted(missing))}")
    if bool(select.strip()) == ("written by" in fields):
        raise ContractError(f"{path.name}: a file has either a SELECT or a line 'written by:'")
    return Query(
        table=table,
        summary=summary,
        prose=fields["prose"],
        grain=_names(fields["grain"]),
        reads=_names(fields.get("reads", "")),
        params=_names(fields.get("params", "")),
        columns=_columns(path, fields["columns"]),
        select=select.strip(),
        written_by=fields.get("written by", ""),
        publishable=fields.get("publish") == "yes",
        view=fields.get("view") == "yes",
        shards_by=fields.get("shards by", "none").strip(),
        file=f"{path.parent.name}/{path.name}",
        merge=fields.get("merge", ""),
    )


_FIELD = re.compile(r"^(grain|reads|params|columns|written by|publish|view|shards by|merge):\s*(.*)$")


def _fields(lines: list[str]) -> dict[str, str]:
    fields = {"prose": ""}
    current = "prose"
    for line in lines:
        if found := _FIELD.match(line):
            current = found[1]
            fields[current] = found[2]
        else:
            fields[current] += "\n" + line
    return {name: value.strip("\n") for name, value in fields.items()}


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip() and name.strip() != "none")


def _columns(path: Path, text: str) -> tuple[Column, ...]:
    columns: list[Column] = []
    for line in text.splitlines():
        parts = line.split(None, 2)
        if len(parts) == 3 and line.startswith("  ") and not line.startswith("    "):
            columns.append(Column(*parts))
        elif columns and line.startswith("    "):
            last = columns.pop()
            columns.append(Column(last.name, last.type, f"{last.meaning} {line.strip()}"))
        elif line.strip():
            raise ContractError(f"{path.name}: this line of columns has no name, type and meaning: {line!r}")
    return tuple(columns)


def _in_build_order(tables: dict[str, Query]) -> list[str]:
    order: list[str] = []

    def visit(table: str, waiting: tuple[str, ...]) -> None:
        if table in order:
            return
        if table in waiting:
            raise ContractError(f"tables read each other in a circle: {' -> '.join((*waiting, table))}")
        if table not in tables:
            raise ContractError(f"{waiting[-1]} reads {table}, which no SQL file declares")
        for read in tables[table].reads:
            visit(read, (*waiting, table))
        order.append(table)

    for table in tables:
        visit(table, ())
    return order
