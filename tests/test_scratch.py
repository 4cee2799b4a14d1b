"""Files appear whole or not at all, and what a killed process left goes when the command runs again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import tiny_lab

from trajlab import export
from trajlab.errors import LabError
from trajlab.scratch import scratch_folder


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
from trajlab.scratch import scratch_folder
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


def test_an_empty_folder_that_is_there_is_filled(tmp_path):
    (tmp_path / "tables").mkdir()
    files = tiny_lab().export(tmp_path / "tables")
    assert files == sorted((tmp_path / "tables").iterdir())
    assert names(tmp_path) == ["tables"]
