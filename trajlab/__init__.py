"""trajlab: what published mobility counts give away, and what they are still good for.

The stages, in the order in which data passes through them:

    ingest     GPS, CDR, Wi-Fi, GeoLife and Porto files -> records.fix, refused rows with their reason
    spatial    square cells, H3 hexagons, base stations, zones, named places -> grid.fix, grid.cell
    slots      local time slots, gaps filled -> slots.position
    counts     people per cell and slot -> counts.occupancy, counts.flow
    release    what is published, and nothing else: all that an attack may see
    attacks    tracks recovered from a release, by matchings proved optimal -> attacks.track, attacks.step
    metrics    what was recovered, against the truth and beside yardsticks -> metrics.*, report.every_metric
    membership whether it shows in the counts that somebody is among them -> metrics.membership
    differencing  hidden counts that follow from what is published together, and what is out -> metrics.disclosure
    utility    flows between zones before and after a generalisation, and risk against loss -> metrics.utility, tradeoff
    report     one page to look at

    >>> import trajlab as tl
    >>> lab = tl.open(":memory:")
    >>> _ = lab.ingest(tl.simulate(people=20, days=2, seed=0), tz="Europe/Lisbon")
    >>> release = lab.release(index="h3:8", slot="30min", fill="static")
    >>> release.people
    20
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from trajlab.version import __version__ as __version__

__all__ = [
    "Lab",
    "Release",
    "TrajlabError",
    "flow",
    "occupancy",
    "open",
    "read_trips",
    "recover",
    "recover_by_day",
    "score",
    "simulate",
    "simulate_campus",
    "simulate_stations",
]

if TYPE_CHECKING:
    from trajlab.attacks.run import recover, recover_by_day
    from trajlab.errors import TrajlabError
    from trajlab.lab import Lab
    from trajlab.metrics.score import score
    from trajlab.opening import open_lab as open  # noqa: A004
    from trajlab.release import Release
    from trajlab.release.frames import flow, occupancy
    from trajlab.release.trips import read_trips
    from trajlab.simulation import simulate, simulate_campus, simulate_stations

_HOME = {
    "Lab": ("trajlab.lab", "Lab"),
    "Release": ("trajlab.release", "Release"),
    "TrajlabError": ("trajlab.errors", "TrajlabError"),
    "flow": ("trajlab.release.frames", "flow"),
    "occupancy": ("trajlab.release.frames", "occupancy"),
    "open": ("trajlab.opening", "open_lab"),
    "read_trips": ("trajlab.release.trips", "read_trips"),
    "recover": ("trajlab.attacks.run", "recover"),
    "recover_by_day": ("trajlab.attacks.run", "recover_by_day"),
    "score": ("trajlab.metrics", "score"),
    "simulate": ("trajlab.simulation", "simulate"),
    "simulate_campus": ("trajlab.simulation", "simulate_campus"),
    "simulate_stations": ("trajlab.simulation", "simulate_stations"),
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import trajlab` stays quick."""
    if name not in _HOME:
        raise AttributeError(f"module 'trajlab' has no attribute {name!r}")
    module, attribute = _HOME[name]
    value = getattr(importlib.import_module(module), attribute)
    globals()[name] = value
    return value
