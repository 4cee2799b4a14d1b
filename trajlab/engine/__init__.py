"""Where SQL runs. Each module of this package is one engine, found by its file name."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from trajlab.errors import UnknownNameError

if TYPE_CHECKING:
    from types import ModuleType


def names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load(name: str) -> ModuleType:
    if name not in names():
        raise UnknownNameError("engine", name, names())
    return importlib.import_module(f"{__name__}.{name}")
