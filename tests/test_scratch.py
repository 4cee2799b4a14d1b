"""Files appear whole or not at all, and what a killed process left goes when the command runs again."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from conftest import ingest_tiny, tiny_lab

import trajlab as tl
from trajlab import export
from trajlab import scratch as files
from trajlab.errors import LabError
from trajlab.ingest import _csvfile, _joined_files
from trajlab.scratch import scratch_folder, temporary_folder


class KilledError(BaseException):
    """Stands for the end of the process."""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path):
    (tmp_path / ".out.csv.unfinished").mkdir()
    (tmp_path / ".out.csv.unfinished" / "out.csv").write_text("half a fi")
    with scratch_folder(tmp_path / "out.csv") as scratch:
        assert names(scratch) == []
    assert names(tmp_path) == []


WORKING = """
import sys, time
from pathlib import Path
from trajlab.scratch import scratch_folder, temporary_folder
with scratch_folder(Path(sys.argv[1])) as folder:
    (folder / "out.csv").write_text("half a fi")
    print("working", flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no locks on folders")
def test_what_another_process_is_writing_is_not_taken_for_left_over_until_it_is_killed(tmp_path):
    target, half = tmp_path / "out.csv", tmp_path / ".out.csv.unfinished" / "out.csv"
    with subprocess.Popen([sys.executable, "-c", WORKING, str(target)], stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == "working\n"
            told = "out.csv is being written by another program: wait for that one, or choose another name"
            with pytest.raises(LabError, match=told), scratch_folder(target):
                pass
            assert half.read_text() == "half a fi"
        finally:
            other.kill()
    assert half.exists()
    with scratch_folder(target) as scratch:
        assert names(scratch) == []
    assert names(tmp_path) == []


def test_a_folder_that_became_the_target_is_not_removed_nor_the_one_that_came_after_it(tmp_path):
    with scratch_folder(tmp_path / "tables") as scratch:
        scratch.rename(tmp_path / "tables")
        scratch.mkdir()
    assert names(tmp_path) == [".tables.unfinished", "tables"]


@pytest.mark.parametrize("output", ["tables", "cut.parquet"])
def test_a_command_after_a_kill_leaves_only_what_it_made(tmp_path, output):
    left = tmp_path / f".{output}.unfinished"
    left.mkdir()
    (left / "records.fix.parquet").write_text("half a fi")
    lab = tiny_lab()
    release = lab.release("square:1000", "3h")
    if output == "tables":
        lab.export(tmp_path / output)
    else:
        lab.protected_records(lab.protect(release, "cut:6h"), tmp_path / output)
    assert names(tmp_path) == [output]


def test_a_new_export_folder_appears_with_all_its_files_or_not_at_all(tmp_path, monkeypatch):
    def stop(*_: object) -> None:
        raise KilledError

    lab = tiny_lab()
    monkeypatch.setattr(Path, "rename", stop)
    with pytest.raises(KilledError):
        lab.export(tmp_path / "tables")
    assert names(tmp_path) == []
    monkeypatch.undo()
    assert len(lab.export(tmp_path / "tables")) == len(
        [query for query in export.catalogue().values() if not query.view]
    )


def linked(tmp_path: Path) -> Path:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "tables").symlink_to(tmp_path / "elsewhere")
    return tmp_path / "elsewhere"


def own(tmp_path: Path) -> Path:
    (tmp_path / "tables").mkdir(mode=0o750)
    return tmp_path / "tables"


@pytest.mark.parametrize("made", [own, linked])
def test_an_empty_folder_that_is_there_is_filled(tmp_path, made):
    folder = made(tmp_path)
    mode, before = folder.stat().st_mode, names(tmp_path)
    files = tiny_lab().export(tmp_path / "tables")
    assert files == sorted((tmp_path / "tables").iterdir())
    assert names(tmp_path) == before
    assert folder.stat().st_mode == mode
    assert len(names(folder)) == len(files) > 50


def test_the_folder_that_one_works_in_stays_the_same(tmp_path, monkeypatch):
    number = own(tmp_path).stat().st_ino
    monkeypatch.chdir(tmp_path / "tables")
    assert len(tiny_lab().export(tmp_path / "tables")) > 50
    assert (tmp_path / "tables").stat().st_ino == number
    assert names(tmp_path) == ["tables"]


@pytest.mark.parametrize(("made", "renames"), [(own, 1), (linked, 3)])
def test_an_export_that_is_stopped_leaves_an_empty_folder_empty(tmp_path, monkeypatch, made, renames):
    """An own folder is filled by one rename, a linked one by one for every file: the third is the second of them."""
    made(tmp_path)
    lab, rename = tiny_lab(), Path.rename
    before = names(tmp_path)

    def stop(path: Path, target: Path) -> Path:
        nonlocal renames
        renames -= 1
        if renames == 0:
            raise KilledError
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", stop)
    with pytest.raises(KilledError):
        lab.export(tmp_path / "tables")
    assert renames <= 0  # what had come goes back by renames too
    assert names(tmp_path) == before
    assert names(tmp_path / "tables") == []


TEMPORARY = """
import time
from trajlab.scratch import temporary_folder
with temporary_folder() as folder:
    (folder / "repaired.csv").write_text("somebody's records")
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no locks on folders")
def test_records_that_a_killed_process_left_among_temporary_files_go_when_somebody_ingests(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    strangers = tmp_path / "trajlab-scratch-link"
    (tmp_path / "mine").mkdir()
    strangers.symlink_to(tmp_path / "mine")
    with subprocess.Popen([sys.executable, "-c", TEMPORARY], stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout is not None
            folder = Path(other.stdout.readline().strip())
            ingest_tiny()
            assert names(folder) == ["repaired.csv"]
        finally:
            other.kill()
    assert folder.parent == tmp_path
    assert folder.exists()
    tl.open().ingest(tl.simulate(people=2, days=1), tz="Europe/Lisbon")
    assert names(tmp_path) == ["mine", "trajlab-scratch-link"]


def test_a_temporary_folder_that_another_removes_before_it_is_locked_is_made_again(monkeypatch):
    made = []

    def taken(folder: Path, until: ExitStack) -> int | None:
        made.append(folder)
        if len(made) == 1:
            folder.rmdir()
        return locked(folder, until) if len(made) != 2 else None

    locked = files._locked
    monkeypatch.setattr(files, "_remove_abandoned", lambda: None)
    monkeypatch.setattr(files, "_locked", taken)
    with temporary_folder() as folder:
        assert folder.is_dir()
    assert made[2] == folder
    made[1].rmdir()
    assert not any(folder.exists() for folder in made)


def test_a_csv_that_is_repaired_leaves_nothing_among_temporary_files(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    seen = []
    for module in (_csvfile, _joined_files):  # large files are repaired one by one, small ones together
        monkeypatch.setattr(module, "temporary_folder", lambda: seen.append("repair") or temporary_folder())
    file = tmp_path / "a.csv"
    file.write_text('uid,ts,lat,lng\nana,2024-03-04T08:00:00Z,38.73,-9.16\n"b"en,2024-03-04T08:00:00Z,38.73,-9.16\n')
    lab = tl.open()
    assert lab.ingest(file).kept == 1
    assert seen
    assert names(tmp_path) == ["a.csv"]
