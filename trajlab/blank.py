"""A blank lab of this version, kept beside what Python keeps of the package: new labs copy their relations from it.

The statements that make and describe the relations of a lab take a second, the copy a twentieth of it. The blank lab
lies where Python's compiled modules lie (`__pycache__`, or below `PYTHONPYCACHEPREFIX`), and nowhere where Python
is told to keep none (`PYTHONDONTWRITEBYTECODE`). `TRAJLAB_CACHE` names another folder, and left empty none. Where the
folder cannot be written or read, a lab is made by its statements.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING

from trajlab.errors import LabError, QueryError

if TYPE_CHECKING:
    from collections.abc import Callable

    from trajlab.engine import Engine

VARIABLE = "TRAJLAB_CACHE"


def copy_relations(engine: Engine, version: str, make: Callable[[Engine], None]) -> bool:
    """Give an empty lab what `make` makes, from the blank lab of that version; whether that could be done."""
    place = folder()
    if place is None:
        return False
    file = place / f"blank-{version}.duckdb"
    try:
        if not file.exists():
            _write(type(engine), file, make)
            if VARIABLE not in os.environ:  # a folder of ours, for one version at a time
                _remove_others(file)
        return engine.copy_relations(str(file), rows_of="study.lab")
    except (OSError, LabError, QueryError):
        return False


def folder() -> Path | None:
    """Where blank labs are kept, if anywhere."""
    if (named := os.environ.get(VARIABLE)) is not None:
        return Path(named) if named else None
    return None if sys.dont_write_bytecode else Path(cache_from_source(__file__)).parent


def _remove_others(file: Path) -> None:
    for other in set(file.parent.glob("blank-*.duckdb")) - {file}:
        with suppress(OSError):  # somebody reads it
            other.unlink()


def _write(kind: Callable[[str], Engine], file: Path, make: Callable[[Engine], None]) -> None:
    """Under another name until it is whole: several processes may want it at once."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        blank = kind(str(unfinished))
        try:
            make(blank)
        finally:
            blank.close()
        unfinished.replace(file)
    finally:
        with suppress(OSError):
            unfinished.unlink()
