"""Whether recovering people from counts can work at all: the statistics of xu2017, sections 3 and 4.

Each is a table that needs the truth behind a release and no attack: how few places hold a
person's time, how few points single a person out, how still the nights are, how well the next
place can be guessed, and how much the days of one person resemble each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trajlab.errors import MetricError, UnknownNameError
from trajlab.query import catalogue

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.store import Store

TABLES = (
    "metrics.place_share",
    "metrics.drawn_point",
    "metrics.shared_point",
    "metrics.singled_out",
    "metrics.night_places",
    "metrics.night_share",
    "metrics.prediction_error",
    "metrics.day_gain",
)


def build(store: Store, release_id: str, *, seed: int = 0, progress: Progress) -> None:
    """Replace the feasibility statistics of one release; call it inside a transaction.

    `seed` decides which points are drawn of each person and whose days are compared with
    whose; another seed replaces what an earlier one drew.
    """
    params = _params(store, release_id) | {"seed": str(seed)}
    if not store.rows("select 1 from slots.position where release_id = $id limit 1", id=release_id):
        raise MetricError(f"release {release_id} was made elsewhere: the lab does not know the people behind it")
    for query in catalogue().values():
        if query.table in TABLES:
            with progress.step(query.table, poll=store.engine.percent_done):
                store.build(query, **params)


def _params(store: Store, release_id: str) -> dict[str, object]:
    releases = {
        name: {"release_id": name, "slots": slots, "slots_per_day": slots_per_day, "night_slots": night_slots}
        for name, slots, slots_per_day, night_slots in store.rows(
            "select release_id, slots, slots_per_day, (slots_per_day + 3) // 4 from counts.release"
        )
    }
    if release_id not in releases:
        raise UnknownNameError("release", release_id, releases)
    return releases[release_id]
