"""Whole numbers that a caller gives as settings: checked once, and refused in one wording."""

from __future__ import annotations

from numbers import Integral

LARGEST = 2**31 - 1
"""What fits an INTEGER of the lab."""


def whole_number(
    name: str, value: object, least: int | None = None, most: int | None = LARGEST, *, error: type[Exception]
) -> int:
    """The value as an int; `error` unless it is a whole number from `least` to `most`.

    `True` is no number here, and 3.0 is no whole one: either is more often a slip than meant.
    """
    number = None if isinstance(value, bool) or not isinstance(value, Integral) else int(value)
    if number is None or (least is not None and number < least):
        lower = "" if least is None else f", {least} or more"
        raise error(f"{name} must be a whole number{lower}, not {value!r}")
    if most is not None and (number > most or (least is None and number < -most)):
        upper = "below two billion" if most == LARGEST else f"of at most {most:,}"
        raise error(f"{name} must be a whole number {upper}, not {value!r}")
    return number
