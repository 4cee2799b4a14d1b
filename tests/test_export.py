"""What leaves the house: one release, named, and text that spreadsheets do not compute."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import polars as pl
import pytest
from conftest import TINY_BOX, tiny_lab

import trajlab as tl
from trajlab.cli import main
from trajlab.errors import LabError, RefusedError, ReleaseError, UnknownNameError

WIFI = "uid,ts,place\na,2024-03-04T10:00:00Z,=1+1\nb,2024-03-04T11:00:00Z,-bar\nb,2024-03-04T12:00:00Z,hall\n"


@pytest.fixture
def two() -> tuple[tl.Lab, str, str]:
    lab = tiny_lab()
    fine = lab.release("square:1000", "3h", box=TINY_BOX, outside="clamp", min_count=2)
    return lab, fine.id, lab.release("square:2000", "3h", box=TINY_BOX, outside="clamp", min_count=2).id


def test_a_publishable_export_has_the_release_asked_for_and_no_row_of_another(two, tmp_path):
    lab, _, coarse = two
    files = lab.export(tmp_path / "out", publishable=True, release=coarse)
    assert files.release_id == coarse
    index = lab.sql("select index_id from counts.release where release_id = $id", id=coarse).item()
    assert [file.name for file in files if file.suffix != ".parquet"] == ["datapackage.json"]
    for file in files:
        if file.name == "datapackage.json":
            continue
        frame = pl.read_parquet(file)
        assert len(frame) > 0, file
        key = "release_id" if "release_id" in frame.columns else "index_id"
        assert set(frame[key]) == {coarse if key == "release_id" else index}, file
    cells = pl.read_parquet(tmp_path / "out" / "grid.cell.parquet")
    assert set(cells["cell"]) == set(pl.read_parquet(tmp_path / "out" / "counts.occupancy.parquet")["cell"])


def test_several_releases_are_never_mixed(two, tmp_path):
    lab, fine, coarse = two
    with pytest.raises(
        ReleaseError, match="has 2 releases and one is published at a time: say which; there are"
    ) as told:
        lab.export(tmp_path / "out", publishable=True)
    assert f"{fine} (square:1000, 180 min, fill static, counts from 2)" in str(told.value)
    assert coarse in str(told.value)
    assert not (tmp_path / "out").exists()


def test_a_release_that_is_not_there_is_refused_with_those_that_are(two, tmp_path):
    lab, fine, _ = two
    with pytest.raises(UnknownNameError, match=f"no release named 'r0'; there are: .*{fine}"):
        lab.export(tmp_path / "out", publishable=True, release="r0")


def test_a_lab_without_a_release_has_nothing_to_publish(tmp_path):
    with pytest.raises(ReleaseError, match="no release yet: there is nothing to publish"):
        tiny_lab().export(tmp_path / "out", publishable=True)


def test_a_release_is_chosen_for_publication_alone(two, tmp_path):
    lab, fine, _ = two
    with pytest.raises(LabError, match="a release is exported with publishable: without it every table"):
        lab.export(tmp_path / "out", release=fine)
    assert len(lab.export(tmp_path / "all")) > 20


def test_an_export_warns_of_other_releases_from_which_what_is_left_out_can_be_computed(two, tmp_path):
    lab, fine, coarse = two
    first, warning = lab.export(tmp_path / "out", publishable=True, release=fine).notes
    assert first == f"release {fine} (square:1000, 180 min, fill static, counts from 2)"
    assert warning.startswith(f"warning: publish no other release of this lab beside it ({coarse} (square:2000,")
    assert "counts left out here can be computed" in warning


def test_an_export_says_that_counts_of_one_are_in_it(tmp_path):
    lab = tiny_lab()
    made = lab.release("square:1000", "3h")
    told, warning = lab.export(tmp_path / "out", publishable=True, release=made).notes
    assert made.id in told
    assert warning == "warning: its counts begin at one person, nothing was left out; min_count leaves out small ones"


def test_a_release_beside_which_there_is_no_other_needs_no_warning(tmp_path):
    lab = tiny_lab()
    lab.release("square:1000", "3h", min_count=2)
    assert len(lab.export(tmp_path / "out", publishable=True).notes) == 1


def test_the_shell_names_what_it_exports_and_takes_a_release(two, tmp_path, capsys):
    file = tmp_path / "lab.duckdb"
    with tiny_lab(file) as lab:
        ids = [lab.release(f"square:{side}", "3h", min_count=2).id for side in (1000, 2000)]
    assert main(["export", str(file), str(tmp_path / "out"), "--publishable"]) == 2
    assert "the lab has 2 releases and one is published at a time" in capsys.readouterr().err
    assert main(["export", str(file), str(tmp_path / "out"), "--publishable", "--release", ids[0]]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith(f"release {ids[0]} (square:1000")
    assert told[1].startswith("warning: publish no other release")
    assert told[2].endswith("counts.flow.parquet")


@pytest.fixture
def formulas(tmp_path) -> tl.Lab:
    """Places that a spreadsheet would compute."""
    (tmp_path / "wifi.csv").write_text(WIFI)
    lab = tl.open()
    lab.ingest(tmp_path / "wifi.csv", kind="wifi", tz="UTC")
    lab.release("places", "1h")
    return lab


def test_text_that_a_spreadsheet_would_compute_is_spelled_out_in_exported_csv_and_not_in_parquet(formulas, tmp_path):
    formulas.export(tmp_path / "csv", publishable=True, form="csv")
    formulas.export(tmp_path / "exact", publishable=True)
    assert set(pl.read_csv(tmp_path / "csv" / "grid.cell.csv")["label"]) == {"'=1+1", "'-bar", "hall"}
    assert set(pl.read_parquet(tmp_path / "exact" / "grid.cell.parquet")["label"]) == {"=1+1", "-bar", "hall"}


def test_protected_records_in_csv_hold_no_formula(formulas, tmp_path):
    cut = formulas.protect(formulas.table("counts.release")["release_id"].item(), "cut:6h")
    formulas.protected_records(cut, tmp_path / "out.csv")
    formulas.protected_records(cut, tmp_path / "out.parquet")
    assert set(pl.read_csv(tmp_path / "out.csv")["place"]) == {"'=1+1", "'-bar", "hall"}
    assert set(pl.read_parquet(tmp_path / "out.parquet")["place"]) == {"=1+1", "-bar", "hall"}


# What a policy refuses


@pytest.fixture
def policies(tmp_path) -> dict[str, str]:
    """One that passes at two people to a row, one that does not, and one that nobody can answer yet."""
    texts = {
        "two": 'name = "two"\n[[rule]]\nrule = "contributors"\nat_least = 2\n',
        "six": 'name = "six"\n[[rule]]\nrule = "contributors"\nat_least = 60\n',
        "excepted": 'name = "six"\n[[rule]]\nrule = "contributors"\nat_least = 60\nexception = "made up"\n',
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.toml").write_text(text)
    return {name: str(tmp_path / f"{name}.toml") for name in texts}


def test_a_release_that_the_policy_lets_out_says_so_in_its_metadata(two, policies, tmp_path):
    lab, fine, _ = two
    lab.export(tmp_path / "out", publishable=True, release=fine, policy=policies["two"])
    decision = json.loads((tmp_path / "out" / "datapackage.json").read_text())["decision"]
    text = Path(policies["two"]).read_bytes()
    assert decision == {
        "decision_id": lab.table("study.decision")["decision_id"].item(),
        "release_id": fine,
        "policy": "two",
        "policy_hash": hashlib.sha256(text).hexdigest(),
        "verdict": "pass",
        "exceptions": {},
    }


def test_a_release_that_the_policy_refuses_is_not_written(two, policies, tmp_path):
    lab, fine, _ = two
    with pytest.raises(
        RefusedError, match=rf"policy six does not let release {fine} out: contributors \(fail\); nothing was written"
    ) as refused:
        lab.export(tmp_path / "out", publishable=True, release=fine, policy=policies["six"])
    assert refused.value.verdict == "fail"
    assert "`trajlab decide` has the numbers; an exception belongs into the policy, with its reason" in str(
        refused.value
    )
    assert not (tmp_path / "out").exists()


def test_an_exception_with_its_reason_lets_it_out_and_goes_with_it(two, policies, tmp_path):
    lab, fine, _ = two
    lab.export(tmp_path / "out", publishable=True, release=fine, policy=policies["excepted"])
    described = json.loads((tmp_path / "out" / "datapackage.json").read_text())
    assert described["decision"]["exceptions"] == {"contributors": "made up"}


def test_a_policy_is_for_a_release_that_is_published(two, policies, tmp_path):
    lab, _, _ = two
    refusal = "a policy decides on a release that is published: give it with publishable, without cube"
    with pytest.raises(LabError, match=refusal):
        lab.export(tmp_path / "out", policy=policies["two"])
    with pytest.raises(LabError, match=refusal):
        lab.export(tmp_path / "out", publishable=True, cube="c0", policy=policies["two"])


def test_a_folder_that_cannot_be_written_is_refused_before_the_policy_is_asked(two, policies, tmp_path):
    lab, fine, _ = two
    with pytest.raises(LabError, match="is not an empty folder"):
        lab.export(tmp_path, publishable=True, release=fine, policy=policies["two"])
    assert lab.table("study.decision").is_empty()


def test_the_shell_ends_as_decide_does_where_a_policy_refuses(policies, tmp_path, capsys):
    file, out = tmp_path / "lab.duckdb", tmp_path / "out"
    with tiny_lab(file) as lab:
        lab.release("square:1000", "3h", min_count=2)
    asked = ["export", str(file), str(out), "--publishable", "--policy"]
    assert main([*asked, policies["six"]]) == 1
    assert capsys.readouterr().err.startswith("trajlab: policy six does not let release")
    straddling = (
        'name = "s"\n[[rule]]\nrule = "singling_out"\nknowledge = "top:2"\nsearched = "traces"\nat_most = 0.5\n'
    )
    (tmp_path / "straddling.toml").write_text(straddling)
    assert main([*asked, str(tmp_path / "straddling.toml")]) == 3
    assert "singling_out (review)" in capsys.readouterr().err
    assert not out.exists()
    assert main([*asked, policies["two"]]) == 0
