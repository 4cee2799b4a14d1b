"""Does a certificate hold? Whole by its seal, true by asking the lab again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trajlab.certificate import canonical
from trajlab.certificate.sealing import BrokenSealError, unseal
from trajlab.errors import LabError

MOST = 20
"""Differences that are listed; a lab of other records has one in every number."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What came out: whether the certificate holds, what was checked, and every difference that was found."""

    holds: bool
    recomputed: bool
    differences: tuple[str, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        if self.holds and self.recomputed:
            first = "verified: the lab gives every result of the certificate again"
        elif self.holds:
            first = "whole: no byte differs from what was sealed; whether it is true, only a lab can say (--lab LAB)"
        else:
            first = "NOT VERIFIED"
        return "\n".join([first, *(f"  {each}" for each in self.differences), *self.notes])


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise LabError(f"{path.name!r} cannot be read: {error.strerror or error}") from error


def check_seal(path: Path) -> tuple[dict[str, Any] | None, Verification]:
    """The body, where the file is whole, and what the seal alone can say."""
    try:
        body = unseal(read(path))
    except BrokenSealError as error:
        return None, Verification(holds=False, recomputed=False, differences=(f"{path.name}: {error}",), notes=())
    return body, Verification(holds=True, recomputed=False, differences=(), notes=())


def compare(certified: dict[str, Any], recomputed: dict[str, Any]) -> Verification:
    """Hold a certificate against what the lab says now; other versions of software are told, and are no fault."""
    notes = tuple(
        f"note: {name} was {version}, and is {recomputed['versions'].get(name, 'missing')} here"
        for name, version in sorted(certified["versions"].items())
        if recomputed["versions"].get(name) != version
    )
    ours, theirs = ({key: body[key] for key in body if key != "versions"} for body in (certified, recomputed))
    found = list(_differences(ours, theirs, ""))
    told = found[:MOST] + ([f"and {len(found) - MOST} more"] if len(found) > MOST else [])
    return Verification(holds=not found, recomputed=True, differences=tuple(told), notes=notes)


def _differences(ours: Any, theirs: Any, where: str) -> Iterator[str]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(ours.keys() | theirs.keys()):
            inside = f"{where}.{key}".removeprefix(".")
            yield from _differences(ours.get(key), theirs.get(key), inside)
    elif isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            yield f"{where}: {len(ours)} in the certificate, {len(theirs)} in the lab"
        for number, (one, other) in enumerate(zip(ours, theirs, strict=False)):
            name = one["rule"] if isinstance(one, dict) and "rule" in one else number
            yield from _differences(one, other, f"{where}[{name}]")
    elif canonical.encode(ours) != canonical.encode(theirs):
        yield f"{where}: {_short(ours)} in the certificate, {_short(theirs)} in the lab"


def _short(value: object) -> str:
    text = canonical.encode(value).decode("utf-8")
    return text if len(text) <= 80 else text[:79] + "…"
