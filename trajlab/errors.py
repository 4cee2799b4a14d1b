"""What can go wrong, in the words of the person who has to fix it.

Policy: a user's mistake raises a `TrajlabError` whose message says what is wrong,
where, how many, and what to do about it, in one line that never quotes a raw
record beyond its row number. Whatever was being built is left as it was before.
Any other exception is a bug in trajlab.
"""

from __future__ import annotations

from collections.abc import Iterable


class TrajlabError(Exception):
    """Base of every error raised on purpose. Anything else is a bug in trajlab."""


class IngestError(TrajlabError, ValueError):
    """A file or frame cannot be read into records."""


class SpatialError(TrajlabError, ValueError):
    """A spatial index cannot be built or cannot place what it was given."""


class SlotError(TrajlabError, ValueError):
    """A slot length, period or fill rule makes no sense for these records."""


class ReleaseError(TrajlabError, ValueError):
    """A release cannot be made, or lacks something that an attack requires."""


class MetricError(TrajlabError, ValueError):
    """Arrays that cannot be compared, or a measure that cannot be taken of them."""


class AttackError(TrajlabError, ValueError):
    """An attack was given a setting that makes no sense."""


class RiskError(TrajlabError, ValueError):
    """A question about re-identification that cannot be asked, or not of these traces."""


class MembershipError(TrajlabError, ValueError):
    """A question about who is in a table that cannot be asked, or not of this release."""


class ScheduleError(TrajlabError, ValueError):
    """A timetable that cannot be read, or a question about schedules that these records cannot answer."""


class ProtectionError(TrajlabError, ValueError):
    """A protection that cannot be applied, or was given a setting that makes no sense."""


class DifferencingError(TrajlabError, ValueError):
    """What is published together cannot be audited so, or cannot be written into the ledger."""


class UtilityError(TrajlabError, ValueError):
    """Flows that cannot be compared, or a trade-off that cannot be drawn."""


class PolicyError(TrajlabError, ValueError):
    """A policy that cannot be read, or that asks what does not exist."""


class RefusedError(PolicyError):
    """A policy does not let a release out: `verdict` is fail or review."""

    def __init__(self, message: str, verdict: str) -> None:
        super().__init__(message)
        self.verdict = verdict


class StudyError(TrajlabError, ValueError):
    """A study that cannot be planned, is larger than its budget, or a release that no protection makes pass."""


class FigureError(TrajlabError, ValueError):
    """A figure that this lab has not the tables for, or that this machine cannot draw."""


class SimulationError(TrajlabError, ValueError):
    """A city that cannot be simulated was asked for."""


class ContractError(TrajlabError, ValueError):
    """A table or a query does not keep the promise in its header."""


class QueryError(TrajlabError, ValueError):
    """SQL that the engine refused, with the engine's own reason."""


class LabError(TrajlabError, OSError):
    """The lab file cannot be opened, read or written."""

    def __str__(self) -> str:  # OSError would print only the first of several arguments
        return str(self.args[0])


class UnknownNameError(TrajlabError, KeyError):
    """A name was not found; the message lists the names that exist."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"no {kind} named {name!r}; there are: {', '.join(sorted(known)) or 'none yet'}")

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0])
