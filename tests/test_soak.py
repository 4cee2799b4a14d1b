"""A short slice of `make soak`: every command is in it, one of each class is killed, and it sees what is wrong."""

from __future__ import annotations

import random
import signal
import time

import pytest

import trajlab as tl
from soak import full_disk, kills, mistakes, state
from soak.readers import BrokenLawError, Readers, count_records
from soak.scenes import Scenes
from soak.verbs import TRIALS, Trial, every
from trajlab.cli import IN_ORDER


def test_every_command_is_killed_and_given_bad_words():
    assert set(TRIALS) == set(mistakes.MISTAKES) == set(IN_ORDER)
    assert [trial for verb, trial in every() if not trial.words.startswith(verb)] == []


@pytest.fixture(scope="module")
def scenes(tmp_path_factory) -> Scenes:
    return Scenes(tmp_path_factory.mktemp("soak") / "scenes")


ONE_OF_EACH = {
    "makes a lab": Trial("ingest new.duckdb city.csv --tz Europe/Lisbon", "files"),
    "changes a lab": Trial("people lab.duckdb people.csv", "ingested"),
    "writes files": Trial("export lab.duckdb tables", "ingested", makes="tables"),
}


@pytest.mark.parametrize("trial", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
def test_a_killed_command_leaves_nothing_half_done_and_ends_the_same_when_run_again(
    trial, scenes, tmp_path, monkeypatch
):
    monkeypatch.setattr(kills, "SIGNALS", (signal.SIGKILL,))
    tally = kills.Tally()
    truth = kills.undisturbed(trial, scenes, tmp_path, tally)
    assert truth is not None, tally.problems
    kills.kill(trial.words.split()[0], trial, truth, scenes, tmp_path, random.Random(0), tally)
    assert tally.problems == []
    assert (tally.same, tally.reruns) == (1, 1)


def test_a_full_disk_is_said_in_one_line_and_leaves_the_lab(scenes, tmp_path):
    trial = Trial("export lab.duckdb tables", "ingested", makes="tables")
    before = state.of(scenes.copy("ingested", tmp_path / "before"))
    tally = full_disk.Tally()
    full_disk.fill(trial, kills.Undisturbed(1.0, before, before), scenes, tmp_path, random.Random(1), tally)
    assert (tally.refused, tally.problems) == (1, [])


def test_states_tell_labs_apart_by_the_content_of_their_tables(tmp_path):
    for name, uid in (("a", "ana"), ("b", "ana"), ("c", "ben")):
        (tmp_path / name).mkdir()
        with tl.open(tmp_path / name / "lab.duckdb") as lab:
            lab._store.con.execute("insert into records.person values (1, $uid)", {"uid": uid})
    one, same, other = (state.of(tmp_path / name) for name in "abc")
    assert state.differ(one, same) == []
    assert state.differ(one, other) == ["lab.duckdb: records.person"]
    assert state.differ(one, {}) == ["lab.duckdb is left over"]


@pytest.mark.parametrize(
    ("code", "said", "problem"),
    [
        (2, "trajlab: no such lab\n", None),
        (2, "usage: trajlab sql [-h]\n            lab\ntrajlab sql: error: two words are missing\n", None),
        (0, "", "ends with 0"),
        (2, "trajlab: one\ntrajlab: two\n", "not one line"),
        (2, "trajlab: Binder Error: no column\n", "the engine's words (Binder Error)"),
        (None, "Traceback (most recent call last):\nKeyError: 3\n", "a traceback: KeyError: 3"),
    ],
)
def test_a_refusal_is_two_and_one_line_in_trajlabs_words(code, said, problem):
    found = mistakes.ill_said(code, said)
    assert found is None if problem is None else found is not None and found.startswith(problem)


def test_a_command_that_is_not_refused_is_a_problem(scenes, tmp_path):
    tally = mistakes.Tally()
    mistakes.make("describe counts.occupancy", scenes.copy("files", tmp_path / "here"), tally)
    mistakes.make("describe counts.nope", tmp_path / "here", tally)
    assert (tally.made, tally.refused) == (2, 1)
    assert tally.problems == ["trajlab describe counts.occupancy: ends with 0"]


@pytest.mark.parametrize(
    ("text", "records"),
    [
        ("a,b\n1,2\n3,4\n", 2),
        ("\ufeff\n\na,b\r\n1,2\r\n\r\n3,4", 2),
        ('a,b\n1,"2\n3",\n4,5\n', 2),
        ('a,b\n1,"2\n3,4\n5,6\n', 3),
        ('a,b\n1,"55" tv"\n3,4\n5,"6 "" 7"\n', 3),
        ("a;b\n1;2,3\n", 1),
        ("a,b\n", 0),
    ],
)
def test_a_second_reader_counts_records(text, records):
    assert count_records(text.encode()) == records


def test_a_row_that_vanishes_breaks_the_law_of_csv(monkeypatch):
    readers = Readers()
    good = b"uid,ts,lat,lng\nana,2024-03-04T10:00:00Z,38.7,-9.1\nben,2024-03-04T10:00:00Z,38.7,-9.1\n"
    readers.csv(good)
    monkeypatch.setattr("soak.readers.count_records", lambda content: count_records(content) + 1)
    with pytest.raises(BrokenLawError, match="2 rows were read and a second reader counts 3"):
        readers.csv(good)


def test_random_files_are_tried_and_what_breaks_a_law_is_kept(tmp_path, monkeypatch):
    from soak import fuzz

    tally = fuzz.Tally()
    fuzz.search(Readers(), "timetable_toml", 0, time.monotonic() + 60, tmp_path, tally)
    assert tally.problems == []
    assert tally.examples["timetable_toml"] > 30

    def no_digits(_: Readers, content: bytes) -> None:
        if b"8" in content:
            raise BrokenLawError("an eight")

    monkeypatch.setitem(fuzz.LAWS, "timetable_toml", (no_digits, fuzz.LAWS["timetable_toml"][1]))
    fuzz.search(Readers(), "timetable_toml", 0, time.monotonic() + 60, tmp_path, tally)
    assert tally.problems[0].startswith("timetable_toml, seed 0: an eight (timetable_toml-0.toml: ")
    assert b"8" in (tmp_path / "timetable_toml-0.toml").read_bytes()
