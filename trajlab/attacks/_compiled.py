"""Loops compiled when they are first called (see `trajlab.matching.compiled`)."""

from trajlab.matching.compiled import compiled

__all__ = ["compiled"]
