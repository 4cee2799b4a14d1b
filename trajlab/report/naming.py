"""What to call runs, sets of traces and what an adversary knows: in words, and told apart where two are alike."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from trajlab.report import words

YARDSTICKS = {"stay": "nobody moves (stay)", "shuffle": "joined at random (shuffle)"}

_BASES = {"slots": "true traces", "observed": "true traces, observed slots only", "records": "true records"}
_COMBINED = {
    "locations": "by place",
    "sequence": "in order",
    "unique": "visited",
    "frequency": "and how often",
    "probability": "and their shares",
    "proportion": "and their ratios",
}


def runs(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The attack, then only those settings, and the seed, in which its runs on this release differ."""
    texts = {}
    for row in rows:
        same = [other for other in rows if other["attack"] == row["attack"]]
        settings = [json.loads(other["settings"]) for other in same]
        own = json.loads(row["settings"])
        differing = [key for key in own if len({repr(one.get(key)) for one in settings}) > 1]
        parts = [YARDSTICKS.get(row["attack"], row["attack"])]
        parts += [f"{key.replace('_', ' ')} {own[key]}" for key in differing]
        parts += [f"seed {row['seed']}"] if len({other["seed"] for other in same}) > 1 else []
        texts[row["run_id"]] = ", ".join(parts)
    return texts


def traces(rows: Sequence[Mapping[str, Any]], run_names: Mapping[str, str]) -> dict[str, str]:
    """True traces by what counts as a visit, or tracks by the run that recovered them; then what was done to them."""
    texts = {}
    for row in rows:
        run, done = row["run_id"], row["protection"]
        name = (
            _BASES.get(row["basis"], row["basis"]) if run is None else f"tracks recovered by {run_names.get(run, run)}"
        )
        texts[row["traces_id"]] = name if done == "none" else f"{name} after {done}"
    return _distinguish(texts)


def questions(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What is known, by risk_id; with the seed and the sample where questions differ in nothing else."""
    asked = sorted({row["knowledge"] for row in rows})
    known = _distinguish({text: knowledge(text) for text in asked})
    texts = {}
    for row in rows:
        same = [other for other in rows if other["knowledge"] == row["knowledge"]]
        parts = [known[row["knowledge"]]]
        parts += [f"seed {row['seed']}"] if len({other["seed"] for other in same}) > 1 else []
        drawn = "everybody" if row["sample"] is None else f"sample of {words.number(row['sample'])}"
        parts += [drawn] if len({other["sample"] for other in same}) > 1 else []
        texts[row["risk_id"]] = ", ".join(parts)
    return texts


def knowledge(text: str) -> str:
    """What is known, such as points:4:all, in short words; as it stands where it has none.

    Worst: of all combinations of so many, the one that leaves the smallest crowd.
    """
    kind, _, rest = text.partition(":")
    first, *more = rest.split(":")
    if kind == "homework":
        return "two rarest places" if first == "least" else "home and work"
    if kind == "top" and first == "variable":
        return "top places, number varies" + (", any order" if "unordered" in more else "")
    if not first.isdigit():
        return text
    size = int(first)
    if kind == "top":
        many = "top place" if size == 1 else f"top {size} places"
        return many + (", any order" if "unordered" in more and size > 1 else "")
    if kind in ("points", "cont"):
        many = words.count(size, "point") + (" in a row" if kind == "cont" and size > 1 else "")
        return many + (", short traces left out" if "drop" in more else "")
    if kind == "time":
        return f"worst {words.count(size, 'visit')}, place and {more[0] if more else 'hour'}"
    if kind in _COMBINED:
        noun = "visit" if kind in ("locations", "sequence") else "place"
        return f"worst {words.count(size, noun)} {_COMBINED[kind]}"
    return text


def picks_the_worst(text: str) -> bool:
    """Whether what is known is the most telling of all combinations, not what somebody would come by."""
    kind = text.partition(":")[0]
    return kind in _COMBINED or kind == "time"


def _distinguish(texts: Mapping[str, str]) -> dict[str, str]:
    """Names as they are, with what they stand for behind those that would be the same."""
    names = list(texts.values())
    return {key: name if names.count(name) == 1 else f"{name} ({key})" for key, name in texts.items()}
