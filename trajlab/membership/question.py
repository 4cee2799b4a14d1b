"""What is asked about membership: checked once, before anything is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trajlab.errors import MembershipError, UnknownNameError
from trajlab.membership import recipe
from trajlab.settings import whole_number

ADVERSARIES = {
    "reference": "watched others, and knows the target from before or the target's own trace",
    "release-only": "watched nobody, knows the target's own trace, and reads the rest off the table",
}
REFERENCES = {
    "earlier": "everybody in the earlier half of the period, the target too; the table is the later half",
    "period": "the same, and the target's own trace of the later half",
    "people": "every second person in the period of the table, and the target's own trace",
}
SIZES = (100, 1_000, 10_000)
"""Sizes of groups unless you say, as far as there are people for them."""


@dataclass(frozen=True, slots=True)
class Question:
    """Who attacks, whom, in groups of how many; `sizes` None for those of `SIZES` that fit."""

    adversary: str = "reference"
    reference: str | None = None
    sizes: tuple[int, ...] | None = None
    targets: int = 100
    groups: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        if self.adversary not in ADVERSARIES:
            raise UnknownNameError("adversary", self.adversary, ADVERSARIES)
        if self.adversary == "release-only" and self.reference is not None:
            raise MembershipError("the adversary release-only watched nobody: leave reference out")
        if self.adversary == "reference":
            object.__setattr__(self, "reference", self.reference or "earlier")
            if self.reference not in REFERENCES:
                raise UnknownNameError("reference", str(self.reference), REFERENCES)
        for name, least in (("targets", 2), ("groups", 10), ("seed", 0)):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), least, error=MembershipError))
        if self.groups % 2:
            raise MembershipError(f"groups must be even, half of them with the target, not {self.groups}")
        if self.sizes is not None:
            found = tuple(whole_number("a size of groups", size, 2, error=MembershipError) for size in self.sizes)
            if not found:
                raise MembershipError("say how large groups are: sizes=[100, 1000]")
            object.__setattr__(self, "sizes", tuple(sorted(set(found))))

    def sizes_for(self, pool: int) -> tuple[int, ...]:
        """Sizes of groups drawn from so many people; a group that has most of them is refused."""
        wanted = self.sizes if self.sizes is not None else [size for size in SIZES if 2 * size <= pool] or SIZES[:1]
        for size in wanted:
            if 2 * size > pool:
                half = " (the other half is the adversary's reference)" if self.reference == "people" else ""
                raise MembershipError(
                    f"groups of {size:,} need at least {2 * size:,} people to be drawn from, and there are "
                    f"{pool:,}{half}: ask for smaller groups (sizes), or take a release of more people"
                )
        if self.targets > pool:
            raise MembershipError(f"{self.targets:,} targets were asked for, and there are {pool:,} people: take fewer")
        return tuple(wanted)


def parse_recipes(given: str | Iterable[str | Sequence[str]] | None) -> list[tuple[str, ...]] | None:
    """Recipes to try, each a text or a list of protections; None for the release's own."""
    if given is None:
        return None
    several = [given] if isinstance(given, str) else list(given)
    found = list(dict.fromkeys(recipe.parse(one) for one in several))
    if not found:
        raise MembershipError("no recipe was given: leave recipes out for the release's own")
    return found
