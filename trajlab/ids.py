"""Ids: short names for what was asked, the same wherever and whenever it is asked."""

from __future__ import annotations

import hashlib


def digest(*parts: object) -> str:
    """A short id that depends on the parts alone."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]
