"""What rules about attacks share: the run, and which traces a question is asked of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trajlab import attacks
from trajlab.decide import TABLE, TRACES, Unanswerable
from trajlab.decide._published import truth_of
from trajlab.errors import AttackError, PolicyError, ReleaseError

if TYPE_CHECKING:
    from trajlab.attacks.run import Run
    from trajlab.lab import Lab
    from trajlab.release import Release


def run_attack(lab: Lab, release: Release, attack: str, seed: int) -> Run:
    """The run of an attack on a release, made unless the lab has it."""
    try:
        return lab.attack(release, attack, seed=seed)
    except (ReleaseError, AttackError) as error:
        raise Unanswerable(f"{attack} cannot be run on this table: {error}") from error


def parse_searched(text: str) -> str | None:
    """The attack of `recovered:ATTACK`, or None for `traces`; anything else is refused."""
    kind, _, attack = text.partition(":")
    if text == "traces":
        return None
    if kind != "recovered" or not attack:
        raise PolicyError(f"searched must be 'traces' or 'recovered:' and an attack, not {text!r}")
    attacks.load(attack)
    return attack


def about(searched: str) -> str:
    """Whether an answer is about the published table or about traces that would have to leak."""
    return TRACES if searched == "traces" else TABLE


def traces_for(lab: Lab, release: Release, searched: str, seed: int) -> str:
    """The id of what is searched: the run of the attack, or the release whose true traces are meant."""
    truth_of(lab, release)  # whom to look for
    attack = parse_searched(searched)
    return release.id if attack is None else run_attack(lab, release, attack, seed).id


def run_of(lab: Lab, release: Release, attack: str, seed: int) -> str | None:
    """A run that the lab has; None otherwise."""
    found = lab._store.rows(
        "select run_id from study.run where release_id = $id and attack = $attack and seed = $seed and complete",
        id=release.id, attack=attack, seed=seed,
    )  # fmt: skip
    return str(found[0][0]) if found else None
