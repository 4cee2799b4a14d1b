"""Where files are written before they are finished, so that a name stands for a whole file or for none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from trajlab.errors import LabError


@contextmanager
def scratch_folder(target: Path) -> Iterator[Path]:
    """A hidden folder beside `target`, gone when the work ends, however it ends.

    A killed process cannot tidy up, so the name follows from the target: the same command again finds what
    was left, and removes it first. Whoever works in the folder holds a lock on it, which ends with the process,
    so that nobody takes the work of another for something left.
    """
    folder = target.parent / f".{target.name}.unfinished"
    folder.mkdir(exist_ok=True)
    with ExitStack() as held:
        number = _locked(folder, held)
        if number is None:
            raise LabError(
                f"{target.name} is being written by another program: wait for that one, or choose another name"
            )
        for left in folder.iterdir():
            left.unlink() if left.is_symlink() or not left.is_dir() else shutil.rmtree(left)
        try:
            yield folder
        finally:
            if _is(folder, number):  # it may have become the target, and another's have come since
                shutil.rmtree(folder, ignore_errors=True)


def _locked(folder: Path, until: ExitStack) -> int | None:
    """A lock on the folder until `until` ends, or None where another has it; -1 where there are no such locks."""
    try:
        import fcntl
    except ImportError:
        return -1
    number = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
    until.callback(os.close, number)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    except OSError:  # a file system without locks
        return -1
    return number if _is(folder, number) else None


def _is(folder: Path, number: int) -> bool:
    """Whether the folder of that name is still the one that is open under the number."""
    try:
        return number < 0 or os.path.samestat(os.fstat(number), folder.stat())
    except FileNotFoundError:
        return False
