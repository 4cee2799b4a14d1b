"""What a study would take of a cluster: the formula of docs/scale.md, with the unit costs that were measured."""

from __future__ import annotations

from dataclasses import dataclass

from trajlab.cluster.folder import MOST_SHARDS
from trajlab.errors import LabError

RECORD_SECONDS = 7.0e-6
"""Processor time of a record, from files to counts and flows."""
TASK_SECONDS = 0.12
"""Processor time that a task takes however few its records are."""
JOBS = 28
"""Of an ingest and a release: a task for each shard in each."""
START_SECONDS = 15.0
"""Processor time until a session is there."""
ID_BYTES = 3 * 40
"""That travel for each person: an id, three times."""
SORT_BYTES = 3 * 40
"""That a task holds for each record of its shard while it sorts them."""
POINT_BYTES = 8
"""Of a point that is known of somebody, read by every task that looks for it."""
POSITION_BYTES = 4
"""In Parquet, of a person in a slot: assumed, regular traces take less."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A study of so many people on so many cores; the answers are estimates, each a line of the formula."""

    people: int
    days: int
    records: float = 48
    """Of a person in a day."""
    slots: int = 48
    """Of a day."""
    cores: int = 16
    memory: float = 2.0
    """Gigabytes that DuckDB may hold in a task."""
    record_bytes: float = 25
    """Of a record in Parquet."""

    def __post_init__(self) -> None:
        for name in ("people", "days", "records", "slots", "cores", "memory", "record_bytes"):
            value = getattr(self, name)
            if not 0 < value < 1e15:  # NaN too is refused
                raise LabError(f"{name.replace('_', ' ')} must be more than 0, and less than 10^15, not {value}")

    @property
    def rows(self) -> float:
        return self.people * self.days * self.records

    @property
    def shards(self) -> int:
        """So many that the records of one fit a task, and at least two for each core; a lab has a most."""
        fitting = -(-self.rows * SORT_BYTES // (self.memory * 1e9))
        return int(min(max(fitting, 2 * self.cores), MOST_SHARDS))

    @property
    def task_bytes(self) -> float:
        return self.rows * SORT_BYTES / self.shards

    @property
    def shuffled_bytes(self) -> float:
        return self.rows * self.record_bytes + self.people * ID_BYTES

    def known_bytes(self, points: int) -> float:
        """What all tasks together read to look for everybody, of whom so many points are known."""
        return self.people * points * POINT_BYTES * self.shards

    @property
    def disk_bytes(self) -> float:
        """Records twice, once as the index has them, and the positions of one release."""
        return 2 * self.rows * self.record_bytes + self.people * self.days * self.slots * POSITION_BYTES

    @property
    def processor_seconds(self) -> float:
        return START_SECONDS + self.rows * RECORD_SECONDS + JOBS * self.shards * TASK_SECONDS

    @property
    def overhead(self) -> float:
        """The share of it that starting Spark and its tasks takes."""
        return 1 - self.rows * RECORD_SECONDS / self.processor_seconds

    @property
    def seconds(self) -> float:
        """If every core has work to the end."""
        return START_SECONDS + (self.processor_seconds - START_SECONDS) / min(self.cores, self.shards)

    def __str__(self) -> str:
        spills = self.task_bytes > self.memory * 1e9 * 1.01
        lines = {
            "records": f"{self.rows:,.0f}",
            "shards": f"{self.shards:,}" + (f", the most that a lab takes: each has to spill, {_bytes(self.task_bytes)}"
                                            f" for {self.memory:g} GB of memory" if spills else ""),
            "memory of a task": _bytes(min(self.task_bytes, self.memory * 1e9)) + ", beside Spark's own",
            "sent to shards": _bytes(self.shuffled_bytes),
            "on disk": f"{_bytes(self.disk_bytes)} with one release",
            "points:4": f"{_bytes(self.known_bytes(4))} of what is known are read, all tasks together",
            "processor time": f"{_time(self.processor_seconds)}, {self.overhead:.0%} of it to start Spark and tasks",
            "time": f"{_time(self.seconds)} on {self.cores:,} cores, if all have work to the end",
        }  # fmt: skip
        return "\n".join(f"{name:<16}  {text}" for name, text in lines.items())


def _bytes(number: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:,.3g} PB"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:,.0f} h"
