"""Where SQL runs. Each module of this package is one engine, found by its file name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trajlab import plugins

if TYPE_CHECKING:
    from types import ModuleType


def names() -> list[str]:
    return plugins.names(__name__)


def load(name: str) -> ModuleType:
    return plugins.load(__name__, name, "engine")
