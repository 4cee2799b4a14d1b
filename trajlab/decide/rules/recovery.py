"""recovery: how much of people's days an attack recovers from the published table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trajlab import attacks
from trajlab.decide import LINKABILITY, SHARE, TABLE, TRUTH, Finding, Unanswerable
from trajlab.decide._published import truth_of
from trajlab.decide._recovered import run_attack, run_of
from trajlab.query import step

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release

STAY = "stay"


@dataclass(frozen=True, slots=True)
class Recovery:
    """Accuracy of `attack`: the share of slots in which a recovered track is in its person's cell.

    With `over_control` it is what the attack gains beyond chance, (accuracy - control) / (1 - control), where
    control is its accuracy for people whom it cannot have recovered (metrics.control). Where the yardstick `stay`,
    which leaves people where they are, gets more than the attack, an adversary would take that, and so does the rule.
    """

    concern: ClassVar[str] = LINKABILITY
    about: ClassVar[str] = TABLE
    unit: ClassVar[str] = SHARE
    limit: ClassVar[str] = "at_most"

    attack: str = "dsilva2024"
    over_control: bool = False

    def __post_init__(self) -> None:
        attacks.load(self.attack)

    def answer(self, lab: Lab, release: Release, limit: float, seed: int) -> Finding:
        truth_of(lab, release)
        runs = {self.attack: run_attack(lab, release, self.attack, seed).id}
        if still := run_of(lab, release, STAY, seed):
            runs[STAY] = still
        findings = [self._score(lab, name, run_id, limit) for name, run_id in runs.items()]
        return max(findings, key=lambda finding: finding.estimate)

    def _score(self, lab: Lab, name: str, run_id: str, limit: float) -> Finding:
        found = lab._store.rows(step("6_metrics/_recovery_of_run"), run_id=run_id, accuracy=limit)
        if not found:
            raise Unanswerable(TRUTH)
        ((pairing, estimate, low, high, yardstick, control, control_low, control_high, worst, people),) = found
        who = "the guess that nobody moves (stay)" if name == STAY else f"the attack {name}"
        subject = f"{who} places people in the right cell in"
        note = "of the slots"
        if self.over_control:
            if control is None:
                raise Unanswerable("the lab has nobody to take the control of: fewer than two people were recovered")
            subject = f"beyond chance, {who} recovers"
            note = f"it is right in {100 * estimate:.1f} % of the slots, where chance gives {100 * control:.1f} %"
            low, high = _gain(low, control_high), _gain(high, control_low)
            estimate, worst, yardstick = (_gain(share, control) for share in (estimate, worst, yardstick))
        groups = lab._store.frame(step("6_metrics/_recovery_by_group"), run_id=run_id, pairing=pairing)
        return Finding(estimate, subject, low, high, yardstick, people, worst, groups, note)


def _gain(accuracy: float, control: float) -> float:
    return max(0.0, (accuracy - control) / (1 - control)) if control < 1 else 0.0


RULE = Recovery
