"""The answer to one SELECT over a lab, whole or block by block, or the reason why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trajlab.engine.duckdb import translate_errors
from trajlab.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb
    import polars as pl
    import pyarrow as pa

    from trajlab.store import Store

BLOCK = 100_000
"""Rows that are held at once where an answer is passed on and not kept."""
BEYOND = "column {!r} has times before the year 1 or after 9999, which frames cannot hold: cast it, to text perhaps"
_NO_FRAME = "your query gives a type that frames cannot hold: cast it, to text perhaps"
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""1 January of the year 1 and 31 December 9999, in days since 1970."""
_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def whole(store: Store, query: str, params: dict[str, object]) -> pl.DataFrame:
    """The answer as one frame."""
    import polars as pl
    import pyarrow as pa

    with translate_errors("your query"):
        relation = _relation(store, query, params)
        try:
            frame: pl.DataFrame = relation.pl()
        except (pl.exceptions.PolarsError, pa.ArrowException) as error:
            raise QueryError(_NO_FRAME) from error
        _refuse_times(frame)
        return frame


def blocks(store: Store, query: str, params: dict[str, object]) -> Iterator[pl.DataFrame]:
    """The same, some rows at a time and at least one block, however many there are."""
    import polars as pl
    import pyarrow as pa

    with translate_errors("your query"):
        relation = _relation(store, query, params)
        try:
            nothing = relation.limit(0).pl()
            reader = relation.to_arrow_reader(BLOCK)
            empty = True
            for batch in reader:
                if batch.num_rows:
                    empty = False
                    frame = pl.DataFrame(pl.from_arrow(pa.Table.from_batches([batch])))
                    _refuse_times(frame)
                    yield frame
            if empty:
                yield nothing
        except (pl.exceptions.PolarsError, pa.ArrowException) as error:
            raise QueryError(_NO_FRAME) from error


def holds_times_beyond(table: pa.Table) -> str | None:
    """The first column with times or dates that Python has no words for, also within lists and structs."""
    return next(
        (
            name
            for name, column in zip(table.column_names, table.columns, strict=True)
            if any(_is_beyond(chunk) for chunk in column.chunks)
        ),
        None,
    )


def _is_beyond(array: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_struct(kind):
        return any(_is_beyond(part) for part in array.flatten())
    if pa.types.is_map(kind):
        return _is_beyond(array.keys) or _is_beyond(array.items)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _is_beyond(array.flatten())
    if pa.types.is_timestamp(kind):
        number, per_day = array.cast(pa.int64()), _PER_DAY[kind.unit]
    elif pa.types.is_date32(kind):
        number, per_day = array.cast(pa.int32()), 1
    else:
        return False
    extremes = pc.min_max(number).as_py()
    if extremes["min"] is None:
        return False
    return bool(extremes["min"] < _FIRST_DAY * per_day or extremes["max"] >= (_LAST_DAY + 1) * per_day)


def _refuse_times(frame: pl.DataFrame) -> None:
    doubtful = [name for name, kind in frame.schema.items() if kind.is_temporal() or kind.is_nested()]
    column = holds_times_beyond(frame.select(doubtful).to_arrow()) if doubtful else None
    if column is not None:
        raise QueryError(f"your query: {BEYOND.format(column)}")


def _relation(store: Store, query: str, params: dict[str, object]) -> duckdb.DuckDBPyRelation:
    import duckdb

    statements = store.con.extract_statements(query)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise QueryError("one SELECT at a time: tables change through the lab's verbs only")
    relation = store.con.sql(query, params=params) if params else store.con.sql(query)
    if any(_has_interval(kind) for kind in relation.types):
        raise QueryError(_NO_FRAME)
    return relation


def _has_interval(kind: Any) -> bool:
    nested = kind.children if kind.id in ("list", "array", "struct", "map", "union") else []
    return kind.id == "interval" or any(_has_interval(inner) for _, inner in nested if hasattr(inner, "id"))
