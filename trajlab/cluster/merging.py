"""How rows of shards become one: `sum(people) >= $min_count`, with all other columns as the key."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trajlab.errors import ContractError

_TERM = re.compile(r"(sum|min|max)\((\w+)\)(?:\s*>=\s*\$(\w+))?")


def merge_sql(merge: str, columns: Sequence[str], rows: str) -> str:
    """A SELECT that merges the relation `rows`, its columns in the same order.

    Sums are whole numbers. Without a term the key alone is left, each once; `order by` goes behind as it is.
    """
    terms, _, order = merge.partition("order by")
    found = {column: (how, least) for how, column, least in _terms(terms)}
    if unknown := found.keys() - set(columns):
        raise ContractError(f"merge: names {min(unknown)!r}, which is no column of {', '.join(columns)}")
    listed = [
        f'"{name}"' if name not in found else f'{found[name][0]}("{name}"){"::bigint" * (found[name][0] == "sum")}'
        for name in columns
    ]
    named = ", ".join(f'{term} as "{name}"' for term, name in zip(listed, columns, strict=True))
    limits = [f'{how}("{column}") >= ${least}' for column, (how, least) in found.items() if least]
    keys = ", ".join(f'"{name}"' for name in columns if name not in found)
    sql = f"select {named} from {rows}" + (f" group by {keys}" if keys else "")  # noqa: S608
    sql += f" having {' and '.join(limits)}" if limits else ""
    if order:
        return f"{sql} order by {order}"
    return f"{sql} order by {keys}" if keys else sql


def limits(merge: str) -> list[str]:
    """Parameters that hold after the merge alone: a shard runs with 1 instead."""
    return [least for _, _, least in _terms(merge) if least]


def _terms(merge: str) -> list[tuple[str, str, str]]:
    text = merge.strip()
    found = [match.groups(default="") for match in _TERM.finditer(text)]
    if _TERM.sub("", text).replace(",", "").strip():
        raise ContractError(f"merge: {merge!r} is not such as 'sum(people) >= $min_count'")
    return [(how, column, least) for how, column, least in found]
