"""singling_out: how many people somebody who knows a little of them finds among the tracks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trajlab.decide import SHARE, SINGLING_OUT, TRACES, Finding, Unanswerable
from trajlab.decide import _recovered as recovered
from trajlab.errors import RiskError
from trajlab.risk import knowledge

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release


@dataclass(frozen=True, slots=True)
class SinglingOut:
    """The share of people whom `knowledge` (as in `lab.risk`) singles out among what is `searched`.

    `recovered:ATTACK` searches the tracks that the attack recovered, and is about the published table. `traces`
    searches the true traces behind it, which nobody publishes: what a leak of them would do.
    """

    concern: ClassVar[str] = SINGLING_OUT
    unit: ClassVar[str] = SHARE
    limit: ClassVar[str] = "at_most"

    knowledge: str = "points:4"
    searched: str = "recovered:dsilva2024"

    def __post_init__(self) -> None:
        knowledge.load(self.knowledge)
        recovered.parse_searched(self.searched)

    @property
    def about(self) -> str:
        return recovered.about(self.searched)

    def answer(self, lab: Lab, release: Release, limit: float, seed: int) -> Finding:
        searched = recovered.traces_for(lab, release, self.searched, seed)
        try:
            risk = lab.risk(searched, self.knowledge, seed=seed)
        except RiskError as error:
            raise Unanswerable(str(error)) from error
        ((worst,),) = lab._store.rows(
            "select estimate from metrics.risk where risk_id = $id and scope = 'all' and metric = 'worst_decile_risk'",
            id=risk.id,
        )
        groups = lab._store.frame(
            "select trait, value, people, unique_share as estimate from metrics.risk_by_group where risk_id = $id "
            "order by trait, value",
            id=risk.id,
        )
        return Finding(
            risk.unique_share,
            f"knowing {_known(self.knowledge)} singles out",
            risk.low,
            risk.high,
            self._yardstick(lab, release, seed),
            round(risk.unique_share * risk.people),
            worst,
            groups,
            f"of {risk.people:,} people, {_where(self.about, risk.basis)}",
        )

    def _yardstick(self, lab: Lab, release: Release, seed: int) -> float | None:
        """The same among tracks whose slots were joined at random."""
        shuffled = None if self.about == TRACES else recovered.run_of(lab, release, "shuffle", seed)
        return None if shuffled is None else lab.risk(shuffled, self.knowledge, seed=seed).unique_share


def _known(knowledge: str) -> str:
    """What is known in words, such as 4 points (points:4); of other kinds, as it stands."""
    kind, _, size = knowledge.partition(":")
    noun = {"points": "point", "cont": "point", "top": "most frequent place"}.get(kind)
    if noun is None or not size.isdigit():
        return knowledge
    return f"{size} {noun}{'' if size == '1' else 's'}{' in a row' if kind == 'cont' else ''} ({knowledge})"


def _where(about: str, basis: str) -> str:
    if about == TRACES:
        return f"among the true traces (basis {basis}), which would have to leak"
    return "among the tracks recovered"


RULE = SinglingOut
