"""Where files are written before they are finished, so that a name stands for a whole file or for none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def unfinished(target: Path) -> Iterator[Path]:
    """A hidden folder beside `target`, gone when the work ends, however it ends.

    A killed process cannot tidy up, so the name follows from the target: the same command again finds what
    was left, and removes it first.
    """
    folder = target.parent / f".{target.name}.unfinished"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
