"""Where files are written before they are finished, so that a name stands for a whole file or for none."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from trajlab.errors import LabError

TEMPORARY = "trajlab-scratch-"
"""How the names of our folders among the system's temporary files begin."""


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


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder among the system's temporary files, gone when the work ends, however it ends.

    What is in it may be people's records: what a killed process left goes when the next one needs a folder,
    as it does to ingest.
    """
    _remove_abandoned()
    with ExitStack() as held:
        folder = _locked_folder(held)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _locked_folder(until: ExitStack) -> Path:
    """A new one, and another where somebody took it for something left before it was locked."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=TEMPORARY))
        with suppress(FileNotFoundError):
            if _locked(folder, until) is not None:
                return folder


def _remove_abandoned() -> None:
    """Remove the temporary folders of our own processes that were killed; those at work hold a lock on theirs."""
    for left in Path(tempfile.gettempdir()).glob(f"{TEMPORARY}*"):
        with suppress(OSError), ExitStack() as held:
            number = _locked(left, held)
            if number is not None and number >= 0 and os.fstat(number).st_uid == os.getuid():
                shutil.rmtree(left, ignore_errors=True)


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
