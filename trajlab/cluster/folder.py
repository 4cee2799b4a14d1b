"""The folder of a cluster lab: which large tables are finished, and where their files are.

    trajlab.json                            format and number of shards: what makes a folder a cluster lab
    lab.duckdb                              every small table, and a view over each large one
    tables/grid.fix/<index_id>/00003.parquet   shard 3 of one index
    tables/grid.fix/<index_id>/_done.json      written last: without it, nobody reads what is there
    work/                                   what is on its way from one step to the next

Views name no file: they read the variable of their table, which whoever opens the folder sets from
the marks. So the folder can be moved, and no table holds a path.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trajlab.cluster import LARGE, MIXED
from trajlab.errors import LabError
from trajlab.query import Query

if TYPE_CHECKING:
    from trajlab.engine import Engine

FORMAT = 1
MARK = "_done.json"
MOST_SHARDS = 100_000


@dataclass(frozen=True, slots=True)
class Folder:
    path: Path
    shards: int

    @staticmethod
    def is_one(path: str | Path) -> bool:
        return (Path(path) / "trajlab.json").is_file()

    @classmethod
    def open(cls, path: str | Path) -> Folder:
        """A folder that is a cluster lab already."""
        path = Path(path).absolute()
        try:
            about = json.loads((path / "trajlab.json").read_text(encoding="utf-8"))
            written, shards = int(about["format"]), int(about["shards"])
        except (FileNotFoundError, NotADirectoryError):
            raise LabError(
                f"{path.name} is not a cluster lab: it has no trajlab.json; name a new or empty folder to make one"
            ) from None
        except (ValueError, KeyError, TypeError):
            raise LabError(f"{path.name}: trajlab.json is damaged: restore it from a copy") from None
        if written > FORMAT:
            raise LabError(
                f"{path.name} was written by a newer trajlab (folder format {written}); this one reads "
                f"formats up to {FORMAT}: upgrade trajlab to open it"
            )
        return cls(path, shards)

    @classmethod
    def make(cls, path: str | Path, shards: int) -> Folder:
        """A new cluster lab; the folder is new or empty."""
        path = Path(path).absolute()
        if isinstance(shards, bool) or not isinstance(shards, int) or not 1 <= shards <= MOST_SHARDS:
            raise LabError(f"shards must be a whole number between 1 and {MOST_SHARDS:,}, not {shards!r}")
        if path.is_file():
            raise LabError(f"{path.name} is a file: a cluster lab is a folder, that every worker sees")
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise LabError(
                    f"{path.name} is not a cluster lab: it has no trajlab.json; name a new or empty folder to make one"
                )
            write_whole(path / "trajlab.json", json.dumps({"format": FORMAT, "shards": shards}))
        except OSError as error:
            if isinstance(error, LabError):
                raise
            raise LabError(f"{path.name} cannot be written: {error.strerror}") from error
        return cls(path, shards)

    @property
    def lab(self) -> Path:
        return self.path / "lab.duckdb"

    def part(self, table: str, key: str, shard: int) -> Path:
        return self.path / "tables" / table / key / f"{shard:05d}.parquet"

    def work(self, *names: str) -> Path:
        return self.path.joinpath("work", *names)

    def is_done(self, table: str, key: str) -> bool:
        return (self.path / "tables" / table / key / MARK).is_file()

    def mark_done(self, table: str, key: str, rows: Iterable[int]) -> None:
        """From now on the table is read; what tasks that were cut off left behind goes."""
        home = self.path / "tables" / table / key
        for left in home.glob("*.unfinished"):
            with suppress(OSError):
                left.unlink()
        write_whole(home / MARK, json.dumps({"rows": list(rows)}))

    def forget(self, table: str, key: str) -> None:
        home = self.path / "tables" / table / key
        with suppress(OSError):
            (home / MARK).unlink()
        shutil.rmtree(home, ignore_errors=True)

    def keys(self, table: str) -> list[str]:
        """What is finished of a table: a file never changes after that."""
        return sorted(mark.parent.name for mark in (self.path / "tables" / table).glob(f"*/{MARK}"))

    def files(self, table: str, shard: int | None = None, keys: Collection[str] | None = None) -> list[str]:
        """The files of what is finished of a table, of one shard or of all; `keys` leaves out others."""
        found: list[str] = []
        for mark in sorted((self.path / "tables" / table).glob(f"*/{MARK}")):
            if keys is not None and mark.parent.name not in keys:
                continue
            rows = json.loads(mark.read_text(encoding="utf-8"))["rows"]
            shards = range(len(rows)) if shard is None else [shard]
            found += [str(mark.parent / f"{number:05d}.parquet") for number in shards if rows[number]]
        return found

    def has_finished_work(self) -> bool:
        """Whether a phase of an ingest, or a table, is finished."""
        return any(self.path.glob("work/*/*.json")) or any(self.path.glob(f"tables/*/*/{MARK}"))

    def remove(self) -> None:
        """Remove what makes this a cluster lab, and the folder if nothing else is in it."""
        for name in ("tables", "work"):
            shutil.rmtree(self.path / name, ignore_errors=True)
        for name in ("lab.duckdb", "lab.duckdb.wal", "trajlab.json"):
            (self.path / name).unlink(missing_ok=True)
        with suppress(OSError):
            self.path.rmdir()

    def create_views(self, engine: Engine) -> None:
        """Put a view in place of each large table that the lab still has."""
        tables = engine.rows(
            "select schema_name || '.' || table_name from duckdb_tables() where database_name = current_database()"
        )
        for table in [table for table in LARGE if (table,) in tables]:
            query = Query.load(table)
            empty = self.path / "tables" / table / "empty.parquet"
            empty.parent.mkdir(parents=True, exist_ok=True)
            engine.execute(f"copy {table} to {text_literal(str(empty))} (format parquet)")
            self.show(engine, table)
            columns = ", ".join(f'"{column.name}"' for column in query.columns)
            rows = f"select {columns} from read_parquet(getvariable('{variable(table)}'))"  # noqa: S608
            with engine.transaction():
                if table in MIXED:
                    engine.execute("create schema if not exists here")
                    engine.execute(f"create table {kept_in(table)} as from {table}")
                    rows += f" union all select {columns} from {kept_in(table)}"  # noqa: S608
                engine.execute(f"drop table {table}")
                engine.execute(f"create view {table} as {rows}")
                engine.execute(f"comment on view {table} is {text_literal(query.summary)}")
                for column in query.columns:
                    engine.execute(f'comment on column {table}."{column.name}" is {text_literal(column.meaning)}')

    def show(self, engine: Engine, *tables: str) -> None:
        """Let the views read what is finished now; of `MIXED` unless named, what the lab knows to be finished."""
        engine.kept_in = {table: kept_in(table) for table in MIXED}  # type: ignore[attr-defined]
        for table in tables or LARGE:
            shown = self._not_kept_here(engine, table, known=not tables) if table in MIXED else None
            files = [str(self.path / "tables" / table / "empty.parquet"), *self.files(table, keys=shown)]
            listed = ", ".join(map(text_literal, files))
            engine.execute(f"set variable {variable(table)} = [{listed}]")

    def _not_kept_here(self, engine: Engine, table: str, *, known: bool) -> set[str]:
        """What is finished of one of `MIXED`, except what the embedded engine has made in the meantime.

        `known` leaves out too what the lab does not know: a cluster was cut off just before its end.
        """
        shown = set(self.keys(table))
        if not shown:
            return shown
        name = "traces_id" if "traces_id" in Query.load(table).grain else "risk_id"
        if known:
            questions = "study.traces" if name == "traces_id" else "study.risk"
            shown &= {key for (key,) in engine.rows(f"select {name} from {questions}")}  # noqa: S608
        here = engine.rows(f"select distinct {name} from {kept_in(table)}")  # noqa: S608
        return shown - {key for (key,) in here}


def variable(table: str) -> str:
    return "files_of_" + table.replace(".", "_")


def kept_in(table: str) -> str:
    """The table that takes what the embedded engine adds to one of `MIXED`."""
    return "here." + table.replace(".", "_")


def text_literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def unfinished(path: Path) -> Path:
    """Where a file is written before it is whole: two tasks that write the same one do not meet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.unfinished")


def write_whole(path: Path, text: str) -> None:
    new = unfinished(path)
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)  # noqa: PTH105
