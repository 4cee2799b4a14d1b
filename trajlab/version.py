"""Which trajlab this is, and which libraries a result was made with."""

from __future__ import annotations

import functools
import importlib.metadata
import json

__version__ = "0.1.0"


def versions(*libraries: str) -> str:
    """Trajlab's version and those of the named distributions, as JSON: it is stored with every result."""
    found = {name: _installed(name) for name in libraries}
    return json.dumps({"trajlab": __version__} | found, sort_keys=True)


@functools.cache
def _installed(name: str) -> str:
    """Once in a process: the answer is in a file of the distribution."""
    return importlib.metadata.version(name)
