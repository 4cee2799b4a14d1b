"""JSON with one spelling for each value, after RFC 8785: what two people hash and sign is the same bytes.

Keys are sorted by their UTF-16 code units, nothing stands between values, numbers are spelled as ECMAScript spells
them and text has only the escapes that it must have.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

LARGEST = 2**53 - 1
"""Whole numbers beyond it are not the same number to every reader of JSON."""
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPES |= {chr(code): f"\\u{code:04x}" for code in range(0x20) if chr(code) not in _ESCAPES}


def encode(value: object) -> bytes:
    """The value as canonical JSON; ValueError for what has no such form: NaN, half a surrogate, a date."""
    return _text(value).encode("utf-8")


def decode(content: bytes) -> object:
    """The value that the bytes spell canonically; ValueError where they are not its one spelling."""
    try:
        value: object = json.loads(content.decode("utf-8"), parse_int=_whole)
        spelled = encode(value)
    except RecursionError:
        raise ValueError("values lie too deep within each other") from None
    if spelled != content:
        raise ValueError("not in canonical form")
    return value


def _whole(text: str) -> int | float:
    """A whole number as it is; beyond those that are exact everywhere it was written from a float, and is one."""
    return int(text) if len(text) <= len(str(LARGEST)) and abs(int(text)) <= LARGEST else float(text)


def _text(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        if abs(value) > LARGEST:
            raise ValueError(f"{value} is too large a number for JSON")
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{_string(key)}:{_text(value[key])}" for key in keys) + "}"
    if isinstance(value, Sequence):
        return "[" + ",".join(map(_text, value)) + "]"
    raise ValueError(f"JSON has no {type(value).__name__}")


def _string(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(letter, letter) for letter in text) + '"'


def _number(value: float) -> str:
    """The shortest digits that give the number back, without an exponent from 1e-6 up to 1e21."""
    if not math.isfinite(value):
        raise ValueError(f"JSON has no {value}")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, power = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole) + int(power or 0)
    digits = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(digits)
    digits = digits.rstrip("0")
    if 0 < point <= 21:
        spelled = digits.ljust(point, "0") if len(digits) <= point else f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        spelled = f"0.{'0' * -point}{digits}"
    else:
        spelled = f"{digits[0]}{'.' if digits[1:] else ''}{digits[1:]}e{point - 1:+d}"
    return sign + spelled
