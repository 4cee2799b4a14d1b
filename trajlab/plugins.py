"""Plug-ins: a file in a package is one, found by its file name; nothing lists it elsewhere.

    names("trajlab.attacks")                         ["dsilva2024", "habits", "shuffle", "stay", "xu2017"]
    load("trajlab.attacks", "stay", "attack").ATTACK

Files whose names begin with an underscore are what plug-ins share; `run.py` is the package's verb.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from trajlab.errors import UnknownNameError

VERB = "run"


def names(package: str) -> list[str]:
    """Every plug-in of the package, in alphabetical order."""
    found = pkgutil.iter_modules(importlib.import_module(package).__path__)
    return sorted(module.name for module in found if not module.name.startswith("_") and module.name != VERB)


def load(package: str, name: str, noun: str) -> ModuleType:
    """The plug-in of that name; one that is not there is refused with those that are."""
    if name not in (known := names(package)):
        raise UnknownNameError(noun, name, known)
    return importlib.import_module(f"{package}.{name}")


def load_all(package: str) -> dict[str, ModuleType]:
    """Every plug-in of the package by its name."""
    return {name: importlib.import_module(f"{package}.{name}") for name in names(package)}
