"""A recipe (`suppress:15`, `round:5`, `noise:geometric:eps=1:unit=person-day`) as a channel of counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trajlab import protect
from trajlab.errors import MembershipError
from trajlab.membership.channel import Channel, Noise, Round, Step, Suppress

EXACT = "exact"
"""What a recipe without any protection of counts is called."""


def parse(given: str | Sequence[str]) -> tuple[str, ...]:
    """Protections in their order, from a list of them or from one text with commas or blanks between them.

    What is none, or in an order without sense, is refused as for a release.
    """
    words = given.replace(",", " ").split() if isinstance(given, str) else list(given)
    found = protect.load_recipe([word for word in words if word != EXACT])
    for protection in found:
        if protection.protects == protect.SETTINGS:
            raise MembershipError(
                f"{protect.name_of(protection)!r} changes the cells or slots of a release: make that release, and "
                "ask about it"
            )
    return tuple(protect.name_of(protection) for protection in found)


def name(protections: Sequence[str]) -> str:
    return ", ".join(protections) or EXACT


def channel(protections: Sequence[str], *, slots: int, slots_per_day: int) -> Channel:
    """What the protections of counts among these do to one count of a release of so many slots."""
    counted = [each for each in protect.load_recipe(list(protections)) if each.protects == protect.COUNTS]
    return Channel(tuple(_step(each, slots, slots_per_day) for each in counted))


def _step(protection: Any, slots: int, slots_per_day: int) -> Step:
    kind = protect.name_of(protection).partition(":")[0]
    if kind == "suppress":
        return Suppress(int(protection.k))
    if kind == "round":
        return Round(int(protection.base))
    if kind == "noise":
        return Noise(protection.law, protection.scale(slots, slots_per_day))
    raise MembershipError(f"nobody has said yet how likely counts are after {kind}: ask about a release without it")
