"""A body and its seal as the bytes of a file, and back: a file that is not whole does not come back."""

from __future__ import annotations

import hashlib
from typing import Any

from trajlab.certificate import canonical, schema

LARGEST = 32 * 2**20
"""Bytes of a certificate, at most: whatever is larger is something else."""
_SEAL = schema.load()["$defs"]["seal"]["properties"]


class BrokenSealError(ValueError):
    """The file is no certificate, or is one no longer; the message says what is wrong with it."""


def seal(body: dict[str, Any]) -> bytes:
    """The file of a body: canonical JSON with the digest of the body in it, and a line end."""
    sealed = {
        "algorithm": _SEAL["algorithm"]["const"],
        "covers": _SEAL["covers"]["const"],
        "digest": digest(body),
    }
    return canonical.encode({"body": body, "seal": sealed}) + b"\n"


def digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(canonical.encode(body)).hexdigest()


def unseal(content: bytes) -> dict[str, Any]:
    """The body of a whole certificate; BrokenSealError where a byte of the file is not as it was written."""
    if len(content) > LARGEST:
        raise BrokenSealError(f"it is larger than a certificate can be ({LARGEST // 2**20} MB)")
    if not content.endswith(b"\n"):
        raise BrokenSealError("it does not end with a line end")
    try:
        found: Any = canonical.decode(content[:-1])
    except ValueError as error:
        raise BrokenSealError(f"it is not canonical JSON ({type(error).__name__}): bytes were changed") from None
    if wrong := next(schema.violations(found), None):
        raise BrokenSealError(f"it does not keep to the schema: {wrong}")
    body: dict[str, Any] = found["body"]
    if found["seal"]["digest"] != digest(body):
        raise BrokenSealError("its content is not the one that was sealed: the digest differs")
    return body
