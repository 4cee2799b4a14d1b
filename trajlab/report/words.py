"""Numbers, spans of time and kinds of cells, as a reader who is no programmer says them."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

NOTHING = "–"
_DAY = 86_400


def number(value: float | None, digits: int = 3) -> str:
    """Whole numbers in full with commas, others to a few significant digits."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if float(value).is_integer() or abs(value) >= 10 ** (digits - 1):
        return f"{round(value):,}"
    return f"{float(f'{value:.{digits}g}'):.10f}".rstrip("0").rstrip(".")


def share(value: float | None) -> str:
    """A percentage that says 0% and 100% only where nothing or everything is meant."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if 0 < value < 0.001:
        return "under 0.1%"
    if 0.999 < value < 1:
        return "over 99.9%"
    return f"{100 * value:.0f}%" if value == 0 or 0.0995 <= value < 0.9905 or value >= 1 else f"{100 * value:.1f}%"


def of_hundred(value: float | None) -> str:
    """A share as so many of a hundred, or of a thousand where it is that small."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if 0 < value < 0.0005:
        return "fewer than 1 of 1,000"
    return f"{1000 * value:.0f} of 1,000" if 0 < value < 0.01 else f"{100 * value:.0f} of 100"


def misplaced(row: Mapping[str, Any], noun: str = "trips") -> str:
    """What becomes of a hundred trips: of a row with `misplaced`, `missing` and `added`, shares of those before."""
    said = {"misplaced": "misplaced", "missing": "missing", "added": "added that nobody made"}
    parts = [f"{100 * row[name]:.0f} are {text}" for name, text in said.items() if row[name] >= 0.005]
    return f"of 100 {noun}, {join_list(parts) or 'fewer than 1 is misplaced'}"


def percentages(step: float) -> Callable[[float], str]:
    """How to write shares that lie `step` apart: with as many digits as tell them apart."""
    digits = len(f"{100 * step:.10f}".rstrip("0").partition(".")[2])
    return lambda value: f"{100 * value:.{digits}f}%"


def estimated(value: float, error: float) -> str:
    """A number with its standard error, to two digits of the error."""
    digits = max(0, 1 - math.floor(math.log10(error))) if error > 0 else 2
    return f"{value:,.{digits}f} ± {error:,.{digits}f}"


def span(seconds: float) -> str:
    """A length of time: 30 minutes, 1 hour, 2 days."""
    for unit, size in (("day", _DAY), ("hour", 3600), ("minute", 60), ("second", 1)):
        if seconds >= size and seconds % size == 0:
            return count(seconds / size, unit)
    return count(seconds / 60, "minute")


def count(value: float, noun: str) -> str:
    return f"{number(value)} {noun if value == 1 else noun + 's'}"


def people(value: float) -> str:
    return "1 person" if value == 1 else f"{number(value)} people"


def join_list(items: Sequence[str]) -> str:
    return ", ".join(items[:-1]) + (" and " if len(items) > 1 else "") + items[-1] if items else ""


def between(first: dt.date, last: dt.date) -> str:
    """A period in local dates, both ends included."""
    if first == last:
        return _date(first)
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{_date(last)}"
    return f"{_date(first)} – {_date(last)}" if first.year != last.year else f"{first.day} {first:%B} – {_date(last)}"


def cells(index: str) -> str:
    """The kind and size of cells behind an index name such as square:500."""
    kind, _, rest = index.partition(":")
    size = rest.rpartition(":")[2]
    if kind == "square" and rest:
        return f"Squares of {metres(float(rest))}" if _is_number(rest) else f"Squares, {rest}"
    if kind == "inspire" and _is_number(rest):
        return f"European grid cells of {metres(float(rest))}"
    if kind == "quadkey" and rest:
        return f"Web map tiles of level {rest}"
    if kind == "h3" and rest:
        return f"H3 hexagons of resolution {rest}"
    if kind == "stations":
        merged = f", merged within {metres(float(size))}" if ":" in rest and _is_number(size) else ""
        return f"Base stations{merged}"
    if kind == "places" and ":" in rest and size.isdigit():
        return f"Named places, merged {'once' if size == '1' else f'{size} times'}"
    return {"zones": "Zones", "places": "Named places", "matrix": "Cells of a published table"}.get(kind, index)


def lower_first(name: str) -> str:
    """The name of a release inside a sentence."""
    return name if name.startswith(("H3", "European")) else name[:1].lower() + name[1:]


def upper_first(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def short(label: str, most: int = 60) -> str:
    return label if len(label) <= most else label[: most - 1] + "…"


def metres(length: float) -> str:
    return f"{number(length / 1000)}\N{NO-BREAK SPACE}km" if length >= 1000 else f"{number(length)}\N{NO-BREAK SPACE}m"


def _date(day: dt.date) -> str:
    return f"{day.day} {day:%B} {day.year}"


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


SECRET_SEED = 2**40
"""A seed this large was drawn to be kept: noise comes from it, and whoever has it can take the noise off."""


def seed(number: int) -> str:
    """A seed as a page may show it to others."""
    return f"seed {number}" if number < SECRET_SEED else "seed kept secret"
