"""What lies in a folder: every table of a lab by its content, every other file by its bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import duckdb

import trajlab as tl

State = dict[str, str | dict[str, str]]
"""By relative path: the digest of a file, or of each table of a lab."""


def of(folder: Path) -> State:
    """The state of every file below `folder`; opening a lab recovers what a killed process left of it."""
    for lab in sorted(folder.rglob("*.duckdb")):
        tl.open(lab).close()
    return {
        path.relative_to(folder).as_posix(): _tables(path) if path.suffix == ".duckdb" else _digest(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def unfinished(path: str) -> bool:
    """Whether a name says that nobody should look into the file: hidden, or the engine's own."""
    return any(part.startswith(".") or part.endswith((".wal", ".tmp")) for part in path.split("/"))


def empty_lab() -> dict[str, str]:
    with tl.open() as lab:
        return _content(lab._store.con)


def differ(one: State, other: State) -> list[str]:
    """Files and tables in which two states differ, in words."""
    said = []
    for path in sorted({*one, *other}):
        here, there = one.get(path), other.get(path)
        if isinstance(here, dict) and isinstance(there, dict):
            said += [f"{path}: {table}" for table in sorted({*here, *there}) if here.get(table) != there.get(table)]
        elif here != there:
            said.append(path if here and there else f"{path} is {'missing' if there else 'left over'}")
    return said


def _digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def _tables(lab: Path) -> dict[str, str]:
    with tl.open(lab, read_only=True) as opened:
        return _content(opened._store.con)


def _content(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    names = con.sql("select schema_name, table_name from duckdb_tables() where not temporary order by all").fetchall()
    return {f"{schema}.{table}": str(con.sql(_DIGEST.format(schema, table)).fetchall()[0]) for schema, table in names}


_DIGEST = """
select count(*), md5(string_agg(line, chr(10) order by line))
from (select row_of::varchar as line from {}.{} as row_of)
"""
