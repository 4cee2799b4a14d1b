"""A blank lab of this version, kept in the folder that `TRAJLAB_CACHE` names: new labs copy their relations from it.

The statements that make and describe the relations of a lab take a second, the copy a fiftieth of it. Without the
variable nothing is kept; where the folder cannot be written or read, a lab is made by its statements, as ever.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from trajlab.errors import LabError, QueryError

if TYPE_CHECKING:
    from collections.abc import Callable

    from trajlab.engine import Engine

VARIABLE = "TRAJLAB_CACHE"


def copy_relations(engine: Engine, version: str, make: Callable[[Engine], None]) -> bool:
    """Give an empty lab what `make` makes, from the blank lab of that version; whether that could be done."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return False
    file = Path(folder) / f"blank-{version}.duckdb"
    try:
        if not file.exists():
            _write(type(engine), file, make)
        return engine.copy_relations(str(file), rows_of="study.lab")
    except (OSError, LabError, QueryError):
        return False


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
