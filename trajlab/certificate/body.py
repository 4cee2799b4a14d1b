"""What a decision is certified to say: everything that it was decided from, and nothing that changes by itself.

There is no date and no file name in it: the same records, release and policy give the same bytes anywhere.
"""

from __future__ import annotations

import importlib.metadata
import json
import math
import platform
from typing import TYPE_CHECKING, Any

from trajlab.certificate import canonical
from trajlab.report import words
from trajlab.report.exposure import SMALLEST_GROUP
from trajlab.version import __version__

if TYPE_CHECKING:
    from trajlab.store import Store

FORMAT = "trajlab-certificate-1"
UNBOUNDED = "unbounded"
LIBRARIES = ("duckdb", "numba", "numpy", "polars", "scipy")
_OF_RELEASE = (
    *("release_id", "index_name", "tz", "slot_seconds", "slots_per_day", "slots", "fill", "min_count", "recipe"),
    *("total_low", "total_high"),
)
_OF_RESULT = (
    *("position", "rule", "concern", "about", "unit", "estimate", "low", "high", "yardstick", "lower_limit"),
    *("upper_limit", "people", "worst_decile", "verdict", "sentence", "why", "exception"),
)
_OF_GROUP = ("trait", "value", "people", "estimate")


def compose(store: Store, decision_id: str) -> dict[str, Any]:
    """The body of the certificate of a decision that the lab holds."""
    (decision,) = store.frame("from study.decision where decision_id = $id", id=decision_id).to_dicts()
    return {
        "format": FORMAT,
        "decision_id": decision_id,
        "verdict": decision["verdict"],
        "release": _release(store, decision["release_id"]),
        "policy": {"name": decision["policy"], "text": decision["policy_text"], "hash": decision["policy_hash"]},
        "input": {"records_hash": decision["records_hash"]},
        "seed": decision["seed"] if decision["seed"] <= canonical.LARGEST else str(decision["seed"]),
        "results": _results(store, decision_id),
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """The software that answers here."""
    found = {name: importlib.metadata.version(name) for name in LIBRARIES}
    return {"trajlab": __version__, "python": platform.python_version(), **found}


def _release(store: Store, release_id: str) -> dict[str, Any]:
    (published,) = store.frame("from counts.release where release_id = $id", id=release_id).to_dicts()
    made = store.frame("select claim, settings from study.release where release_id = $id", id=release_id).to_dicts()
    settings = json.loads(made[0]["settings"]) if made and made[0]["settings"] else None
    if settings and isinstance(settings.get("seed"), int):
        # Whoever has the seed that noise comes from can take the noise off.
        settings["seed"] = settings["seed"] if settings["seed"] < words.SECRET_SEED else words.seed(settings["seed"])
    return {
        **{name: published[name] for name in _OF_RELEASE},
        "starts": published["starts"].isoformat(),
        "claim": made[0]["claim"] if made else None,
        "settings": settings,
    }


def _results(store: Store, decision_id: str) -> list[dict[str, Any]]:
    rules = store.frame("from metrics.verdict where decision_id = $id order by position", id=decision_id)
    groups = store.frame(
        "from metrics.verdict_by_group where decision_id = $id order by position, trait, value", id=decision_id
    ).to_dicts()
    return [
        {name: _finite(rule[name]) for name in _OF_RESULT}
        | {
            "settings": json.loads(rule["settings"]),
            "groups": [
                {name: _finite(group[name]) for name in _OF_GROUP}
                for group in groups
                if group["position"] == rule["position"] and group["people"] >= SMALLEST_GROUP
            ],
        }
        for rule in rules.to_dicts()
    ]


def _finite(value: Any) -> Any:
    """JSON has no infinity: a number without bound is told in words."""
    return UNBOUNDED if isinstance(value, float) and math.isinf(value) else value
