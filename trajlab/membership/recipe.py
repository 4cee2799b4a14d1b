"""A recipe in words (`suppress:15`, `round:5`, `noise:geometric:eps=1:unit=person-day`) as a channel of counts."""

from __future__ import annotations

from collections.abc import Sequence

from trajlab.errors import MembershipError
from trajlab.membership.channel import Channel, Noise, Round, Step, Suppress

EXACT = "exact"
"""What a recipe without any protection of counts is called."""
UNITS = ("person-slot", "person-day", "person-week", "person")


def parse(text: str | Sequence[str] | None) -> tuple[str, ...]:
    """Protections in their order, from a list of them or from one text with commas or blanks between them."""
    words = text.replace(",", " ").split() if isinstance(text, str) else list(text or ())
    return tuple(str(word) for word in words if word != EXACT)


def name(protections: Sequence[str]) -> str:
    return ", ".join(protections) or EXACT


def channel(protections: Sequence[str], *, slots: int, slots_per_day: int, min_count: int = 1) -> Channel:
    """What the protections do to a count of a table of so many slots; a `min_count` hides counts below it."""
    steps = [step for text in protections if (step := _step(text, slots, slots_per_day)) is not None]
    hides = any(isinstance(step, Suppress) for step in steps)
    return Channel((*([Suppress(min_count)] if min_count > 1 and not hides else []), *steps))


def _step(text: str, slots: int, slots_per_day: int) -> Step | None:
    kind, *words = text.split(":")
    given = dict(word.split("=", 1) for word in words if "=" in word)
    plain = [word for word in words if "=" not in word]
    try:
        if kind in ("generalise", "slots"):
            return None
        if kind == "suppress":
            return Suppress(_whole(given.get("k", plain[0] if plain else "")))
        if kind == "round":
            return Round(_whole(given.get("base", plain[0] if plain else "")))
        if kind == "noise":
            unit = given.get("unit", "person-day")
            entries = dict(zip(UNITS, (1, slots_per_day, 7 * slots_per_day, slots), strict=True))[unit]
            eps = float(given["eps"])
            if plain[0] in ("geometric", "laplace") and eps > 0:
                return Noise(plain[0], min(entries, slots) / eps)
    except (KeyError, ValueError, IndexError):
        pass
    raise MembershipError(
        f"{text!r} is no protection of counts: write suppress:15, round:5 or noise:geometric:eps=1:unit=person-day "
        "(unit person-slot, person-day, person-week or person), in the order in which they are applied"
    )


def _whole(text: str) -> int:
    number = int(text)
    if number < 2:
        raise ValueError(text)
    return number
