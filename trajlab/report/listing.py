"""What to call releases in a list: what they are, and every setting in which two of them differ."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trajlab.report import words

RELEASES = """\
from report.release_settings
order by index_name, slot_seconds, fill, min_count, people, release_id"""
"""What `lines` and `differences` read of a release."""

Row = Mapping[str, Any]

_WORDING: dict[str, Callable[[Row], str]] = {
    "index_name": lambda row: words.cells(row["index_name"]),
    "slot_seconds": lambda row: words.span(row["slot_seconds"]),
    "fill": lambda row: f"fill {row['fill']}",
    "min_count": lambda row: f"counts from {row['min_count']}",
    "people": lambda row: "people unknown" if row["people"] is None else words.people(row["people"]),
    "starts": lambda row: f"from {row['starts']:%Y-%m-%d}" if dated(row) else "without dates",
    "slots": lambda row: words.count(row["slots"], "slot"),
    "tz": lambda row: f"hours of {row['tz']}",
    "last_source": lambda row: (
        "made elsewhere" if row["last_source"] is None else f"records of {words.count(row['last_source'], 'source')}"
    ),
}
_SETTINGS: dict[str, Callable[[Any], str]] = {
    "align": lambda aligned: "aligned" if aligned else "not aligned",
    "coverage": lambda share: f"coverage from {words.share(share)}",
    "seed": lambda seed: words.seed(seed),
    "box": lambda box: "box found" if box is None else f"box {', '.join(map(str, box))}",
    "outside": lambda rule: f"outside {rule}",
    "protect": lambda recipe: " ".join(recipe or ()) or "counts as they are",
    "group": lambda group: "everybody" if group is None else f"people of {group[0]}={group[1]}",
}


def lines(rows: Sequence[Row]) -> list[str]:
    """One line for each release: its id, cells, slots, filling and smallest count, and whatever else differs."""
    differing = differences(rows, besides=("index_name", "slot_seconds", "fill", "min_count"))
    return [
        f"{row['release_id']} ({row['index_name']}, {row['slot_seconds'] / 60:g} min, "
        f"{', '.join([_WORDING['fill'](row), _WORDING['min_count'](row), *more])})"
        for row, more in zip(rows, differing, strict=True)
    ]


def differences(rows: Sequence[Row], *, besides: Sequence[str] = ()) -> list[list[str]]:
    """For each release, its value of every setting in which the releases differ, in words; of some, none."""
    settings = [json.loads(row["settings"]) if row["settings"] else {} for row in rows]
    columns = [key for key in _WORDING if key not in besides and len({row[key] for row in rows}) > 1]
    named = [key for key in _SETTINGS if len({repr(one.get(key)) for one in settings if one}) > 1]
    return [
        [_WORDING[key](row) for key in columns] + [_SETTINGS[key](one.get(key)) for key in named if one]
        for row, one in zip(rows, settings, strict=True)
    ]


def of_everybody(rows: Sequence[Row]) -> list[Row]:
    """The releases that are not of one group of people alone: the one that is meant where nobody says which."""
    return [row for row in rows if not row["settings"] or not json.loads(row["settings"]).get("group")]


def dated(row: Row) -> bool:
    """Where a published table has no times, Release.from_matrix starts in 1970."""
    return bool(row["starts"].year > 1970)
