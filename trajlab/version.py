"""Which trajlab this is, and which libraries a result was made with."""

from __future__ import annotations

import importlib.metadata
import json

__version__ = "0.1.0"


def versions(*libraries: str) -> str:
    """Trajlab's version and those of the named distributions, as JSON: it is stored with every result."""
    found = {name: importlib.metadata.version(name) for name in libraries}
    return json.dumps({"trajlab": __version__} | found, sort_keys=True)
