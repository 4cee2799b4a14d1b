"""What may change of a release: ladders of cells, slots, thresholds, rounding and noise, each from weak to strong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from trajlab import protect
from trajlab.decide.rules.epsilon import Epsilon
from trajlab.errors import StudyError
from trajlab.release.making import Settings
from trajlab.release.slots import slot_seconds
from trajlab.spatial import inspire
from trajlab.study.search import Point

if TYPE_CHECKING:
    from trajlab.decide.policy import PolicyRule

_SUPPRESS, _ROUND = (5, 10, 15, 20), (5,)
"""Thresholds and steps of rounding that are tried unless you say."""


@dataclass(frozen=True)
class Ladders:
    """What may change, each from weak to strong; the first of each is the release as it is."""

    index: tuple[str, ...]
    slot: tuple[int, ...]
    suppress: tuple[int, ...]
    round: tuple[int, ...]
    eps: tuple[float, ...]
    unit: str = "person-day"
    own: tuple[str, ...] = ()
    """Protections of the release as it is: what stands for the first of each."""

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.index), len(self.slot), len(self.suppress), len(self.round), len(self.eps))

    def recipe(self, point: Point) -> tuple[str, ...]:
        """The protections of counts of one point, in their order; 0 stands for none."""
        _, _, hiding, rounding, noise = point
        stronger = {
            "noise": f"noise:geometric:eps={self.eps[noise]:g}:unit={self.unit}" if noise else "",
            "suppress": f"suppress:{self.suppress[hiding]}" if hiding else "",
            "round": f"round:{self.round[rounding]}" if rounding else "",
        }
        own = {text.partition(":")[0]: text for text in self.own}
        texts = [stronger[name] or own.get(name, "") for name in stronger]
        return tuple(protect.name_of(protect.load(text)) for text in texts if text)


def build_ladders(
    settings: Settings,
    index: Sequence[str] | None,
    slot: Sequence[str | int] | None,
    suppress: Sequence[int] | None,
    rounding: Sequence[int] | None,
    eps: Sequence[float] | None,
    unit: str,
    rules: Sequence[PolicyRule] = (),
    days: float = math.inf,
) -> Ladders:
    """From the release as it is to the strongest of each kind; what is weaker than it already is, is left out.

    What nobody names is what the rules of a policy ask for, where they ask for a threshold, rounding or noise.
    """
    if eps is None and (noise := _noise(rules, days)):
        eps, unit = noise
    suppress = _thresholds(rules) if suppress is None else suppress
    rounding = _steps(rules) if rounding is None else rounding
    own = {protect.name_of(one).partition(":")[0]: one for one in protect.load_recipe(settings.protect)}
    own_k, own_base = (
        int(getattr(own[name], word)) if name in own else 0 for name, word in (("suppress", "k"), ("round", "base"))
    )
    own_eps = float(own["noise"].eps) if "noise" in own else 0.0
    unit = own["noise"].unit if "noise" in own else unit
    for name, given in (("suppress", suppress), ("round", rounding), ("eps", eps)):
        for number in given or ():
            whole = name != "eps"
            if isinstance(number, bool) or not isinstance(number, int if whole else int | float) or not number > 0:
                raise StudyError(f"{name} is a list of {'whole ' * whole}numbers above 0, not {number!r}")
    longer = [slot_seconds(one) for one in slot] if slot is not None else _longer(settings.slot)
    if short := [one for one in longer if one % settings.slot]:
        raise StudyError(
            f"slots of {short[0] / 60:g} min do not hold whole slots of {settings.slot / 60:g} min: name multiples"
        )
    smaller_eps = sorted({float(one) for one in eps or () if not own_eps or one < own_eps}, reverse=True)
    made = Ladders(
        (
            settings.index,
            *(one for one in (_coarser(settings.index) if index is None else index) if one != settings.index),
        ),
        (settings.slot, *sorted({one for one in longer if one > settings.slot})),
        (own_k, *sorted({one for one in suppress if one > own_k})),
        (own_base, *sorted({one for one in rounding if one > own_base})),
        (own_eps, *smaller_eps),
        unit,
        tuple(map(protect.name_of, own.values())),
    )
    protect.load_recipe(made.recipe(tuple(places - 1 for places in made.shape)))
    return made


def _thresholds(rules: Sequence[PolicyRule]) -> tuple[int, ...]:
    """The threshold of a policy, half as much again and twice as much; a lower one would be for nothing."""
    asked = max((ceil(rule.limit) for rule in rules if rule.name in ("contributors", "smallest_count")), default=0)
    return (asked, asked + ceil(asked / 2), 2 * asked) if asked > 1 else _SUPPRESS


def _steps(rules: Sequence[PolicyRule]) -> tuple[int, ...]:
    asked = max((ceil(rule.limit) for rule in rules if rule.name == "rounding"), default=0)
    return (asked,) if asked > 1 else _ROUND


def _noise(rules: Sequence[PolicyRule], days: float) -> tuple[tuple[float, ...], str] | None:
    """ε and its unit: of a rule about noise, or where noise may stand in for a threshold.

    What is shorter than a week has no person-week: there, the table is the person's whole part.
    """
    asked = [(rule.limit, rule.rule.per) for rule in rules if isinstance(rule.rule, Epsilon)]
    asked += [(eps, "person-week") for rule in rules if (eps := getattr(rule.rule, "unless_epsilon", 0.0)) > 0]
    if not asked:
        return None
    eps, unit = min(asked)
    return (eps,), "person" if unit == "person-week" and days < 7 else unit


def _coarser(index: str) -> list[str]:
    """Larger cells of the same kind: squares of twice and four times the side, hexagons and tiles of levels below.

    Of the European grid, its next sides in powers of ten.
    """
    kind, _, size = index.partition(":")
    if kind == "square" and size.replace(".", "").isdigit():
        return [f"square:{float(size) * times:g}" for times in (2, 4)]
    if kind == "inspire" and size.isdigit():
        larger = (10 ** len(size), 10 ** (len(size) + 1))
        return [f"inspire:{side}" for side in larger if side <= inspire.LARGEST]
    if kind == "h3" and size.isdigit():
        return [f"h3:{int(size) - fewer}" for fewer in (1, 2) if int(size) >= fewer]
    if kind == "quadkey" and size.isdigit():
        return [f"quadkey:{int(size) - fewer}" for fewer in (1, 2) if int(size) > fewer]
    return []


def _longer(slot: int) -> list[int]:
    return [slot * times for times in (2, 4) if 86_400 % (slot * times) == 0]
