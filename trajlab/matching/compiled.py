"""Loops compiled when they are first called, by numba, and kept for the next time where a folder can be written.

numba installs from wheels on every platform that the other packages support, and needs no
compiler. Functions are compiled one by one, without the interpreter's lock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    try:
        loop: Callable[..., Any] = njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        loop = njit(nogil=True, error_model="numpy")(function)
    return loop
