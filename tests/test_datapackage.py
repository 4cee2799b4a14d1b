"""What is published says what it is: a Data Package descriptor that a stranger's tools can read."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import TINY_BOX, tiny_lab

import trajlab as tl
from trajlab import datapackage
from trajlab.query import Query, catalogue

FIELD_TYPES = {
    *("string", "number", "integer", "boolean", "object", "array", "list", "datetime", "date", "time", "year"),
    *("yearmonth", "duration", "geopoint", "geojson", "any"),
}
READ = {"integer": int, "number": float, "string": str, "boolean": {"true": True, "false": False}.__getitem__}


@pytest.fixture
def lab() -> tl.Lab:
    lab = tiny_lab()
    lab.release("square:1000", "3h", box=TINY_BOX, outside="clamp", min_count=2)
    return lab


def package(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))


def violations(descriptor: dict[str, Any]) -> list[str]:
    """What the specification of Data Package 2.0 demands of a descriptor, and this one has not."""
    wrong = []
    resources = descriptor.get("resources")
    if not isinstance(resources, list) or not resources:
        return ["resources must be a list of at least one"]
    if not re.fullmatch(r"[-a-z0-9._]+", descriptor.get("name", "")):
        wrong.append("name must be of lower case letters, digits, '.', '-' and '_'")
    if descriptor.get("$schema") != "https://datapackage.org/profiles/2.0/datapackage.json":
        wrong.append("$schema must be the profile of version 2")
    if "licenses" in descriptor and not all("name" in one or "path" in one for one in descriptor["licenses"] or [{}]):
        wrong.append("a licence must have a name or a path, and there must be one")
    if len({one.get("name") for one in resources}) < len(resources):
        wrong.append("names of resources must differ")
    for one in resources:
        if "name" not in one or ("path" in one) == ("data" in one):
            wrong.append("a resource must have a name, and a path or data")
        if Path(one.get("path", "")).is_absolute() or ".." in one.get("path", ""):
            wrong.append("a path must be relative and stay inside")
        if one.get("type") != "table" or not isinstance(one.get("bytes"), int):
            wrong.append("type must be table, bytes a number")
        fields = one.get("schema", {}).get("fields", [])
        if not fields or not all("name" in field and field.get("type") in FIELD_TYPES for field in fields):
            wrong.append("a schema must have fields with a name and a known type")
        if not {*one.get("schema", {}).get("primaryKey", [])} <= {field.get("name") for field in fields}:
            wrong.append("a primary key must be of fields")
    return wrong


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_publishable_export_has_a_descriptor_that_keeps_to_the_specification(lab, tmp_path, form):
    files = lab.export(tmp_path / "out", publishable=True, form=form)
    described = package(tmp_path / "out")
    assert violations(described) == []
    assert {one["path"] for one in described["resources"]} == {file.name for file in files} - {"datapackage.json"}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda d: d.pop("resources"), "resources must be a list"),
        (lambda d: d.update(name="A b"), "name must be of lower case"),
        (lambda d: d.update(licenses=[{}]), "a licence must have"),
        (lambda d: d["resources"][0].pop("path"), "a path or data"),
        (lambda d: d["resources"][0].update(path="/etc/passwd"), "stay inside"),
        (lambda d: d["resources"].append(d["resources"][0]), "names of resources must differ"),
        (lambda d: d["resources"][0]["schema"]["fields"][0].update(type="varchar"), "a known type"),
        (lambda d: d["resources"][0]["schema"].update(primaryKey=["nobody"]), "a primary key must be of fields"),
    ],
)
def test_the_check_of_the_specification_can_fail(lab, tmp_path, change, complaint):
    lab.export(tmp_path / "out", publishable=True)
    described = package(tmp_path / "out")
    change(described)
    assert any(complaint in each for each in violations(described))


def test_hashes_and_sizes_are_those_of_the_files(lab, tmp_path):
    lab.export(tmp_path / "out", publishable=True)
    for one in package(tmp_path / "out")["resources"]:
        content = (tmp_path / "out" / one["path"]).read_bytes()
        assert one["bytes"] == len(content)
        assert one["hash"] == "sha256:" + hashlib.sha256(content).hexdigest()


def test_fields_are_the_columns_in_the_words_of_the_sql_header_and_read_as_their_types(lab, tmp_path):
    lab.export(tmp_path / "out", publishable=True, form="csv")
    for one in package(tmp_path / "out")["resources"]:
        query, fields = Query.load(one["name"]), one["schema"]["fields"]
        assert [(field["name"], field["description"]) for field in fields] == [
            (c.name, c.meaning) for c in query.columns
        ]
        assert one["schema"]["primaryKey"] == list(query.grain)
        frame = pl.read_csv(tmp_path / "out" / one["path"], infer_schema=False)
        assert frame.columns == [field["name"] for field in fields]
        for field in fields:
            for text in frame[field["name"]].drop_nulls():
                if field["type"] == "datetime":
                    datetime.strptime(text, field["format"])
                else:
                    READ[field["type"]](text)


def test_every_column_that_may_be_published_has_a_type_in_the_descriptor():
    types = {column.type for query in catalogue().values() if query.publishable for column in query.columns}
    assert types <= datapackage.TYPES.keys()


def test_the_descriptor_has_the_recipe_and_no_licence_and_no_date(lab, tmp_path):
    made = lab.release("square:1000", "3h", box=TINY_BOX, outside="clamp", protect=["suppress:2"])
    lab.export(tmp_path / "out", publishable=True, release=made)
    described = package(tmp_path / "out")
    assert described["release"]["recipe"] == "suppress:2"
    assert described["release"]["release_id"] == made.id
    assert described["title"] == "People in squares of 1\N{NO-BREAK SPACE}km during slots of 3 hours"
    assert described["description"].startswith("Protections that the counts went through, in order: suppress:2.")
    assert not {"licenses", "created", "decision"} & described.keys()


def test_the_descriptor_says_that_small_counts_are_left_out_or_that_nothing_is(lab, tmp_path):
    lab.export(tmp_path / "two", publishable=True)
    assert package(tmp_path / "two")["description"].startswith("Counts below 2 are left out: a missing row means")
    one = lab.release("square:1000", "3h", box=TINY_BOX, outside="clamp", fill="none")
    lab.export(tmp_path / "one", publishable=True, release=one)
    assert package(tmp_path / "one")["description"] == "Nothing was left out of the counts and nothing was changed."


def test_the_same_release_gives_the_same_bytes(lab, tmp_path):
    first, again = (lab.export(tmp_path / name, publishable=True) for name in ("a", "b"))
    assert [file.read_bytes() for file in first] == [file.read_bytes() for file in again]


def test_a_cube_is_described_too_and_the_whole_lab_is_not(lab, tmp_path):
    lab.people(pl.DataFrame({"uid": ["ana", "ben"], "works": ["a", "b"]}))
    cube = lab.cube(lab.table("counts.release")["release_id"].item(), "works")
    lab.export(tmp_path / "cube", publishable=True, cube=cube)
    described = package(tmp_path / "cube")
    assert violations(described) == []
    assert described["title"].endswith("3 hours, by group")
    assert "counts.occupancy" not in {one["name"] for one in described["resources"]}
    assert "datapackage.json" not in {file.name for file in lab.export(tmp_path / "all")}
