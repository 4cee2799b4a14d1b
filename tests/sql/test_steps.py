"""What every step, a SQL file whose name begins with an underscore, gets by existing: a header that is true."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import trajlab
from trajlab.query import folder, step

STEPS = sorted(f"{file.parent.name}/{file.stem}" for file in folder().glob("[1-9]_*/_*.sql"))


def header(name: str) -> dict[str, str]:
    """The fields of a step's header; `name` and `summary` are of its first line."""
    text = (folder() / f"{name}.sql").read_text(encoding="utf-8").partition("\n\n")[0]
    assert all(line.startswith("--") for line in text.splitlines()), "the header is comments, then an empty line"
    lines = [line.removeprefix("--").removeprefix(" ") for line in text.splitlines()]
    first, _, summary = lines[0].partition(": ")
    fields = {"name": first, "summary": summary}
    current = "prose"
    for line in lines[1:]:
        if found := re.match(r"(reads|params|columns):\s*(.*)", line):
            current = found[1]
            fields[current] = found[2]
        else:
            fields[current] = fields.get(current, "") + "\n" + line
    return fields


def listed(text: str) -> set[str]:
    return {name.strip() for name in text.split(",")} - {"none", ""}


def tree(name: str) -> dict:
    ((text,),) = duckdb.execute("select json_serialize_sql($q)", {"q": step(name)}).fetchall()
    found = json.loads(text)
    assert not found["error"], found.get("error_message")
    return found["statements"][0]["node"]


def nodes(found: object) -> Iterator[dict]:
    if isinstance(found, dict):
        yield found
    for value in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        yield from nodes(value)


@pytest.mark.parametrize("name", STEPS)
def test_the_header_names_the_step_and_says_what_it_does(name):
    stage, _, stem = name.partition("/")
    fields = header(name)
    assert fields["name"] == f"{stage[2:]}.{stem}"
    assert fields["summary"].endswith(".")
    assert {"reads", "params", "columns"} <= fields.keys()


@pytest.mark.parametrize("name", STEPS)
def test_the_header_lists_the_parameters(name):
    (statement,) = duckdb.extract_statements(step(name))
    assert statement.type == duckdb.StatementType.SELECT
    assert set(statement.named_parameters) == listed(header(name)["params"])


@pytest.mark.parametrize("name", STEPS)
def test_the_header_lists_what_is_read(name):
    own = {entry["key"] for node in nodes(tree(name)) for entry in node.get("cte_map", {}).get("map", [])}
    tables = {
        f"{node['schema_name']}.{node['table_name']}".removeprefix(".")
        for node in nodes(tree(name))
        if node.get("type") == "BASE_TABLE"
    }
    assert tables - own == listed(header(name)["reads"])


@pytest.mark.parametrize("name", STEPS)
def test_the_header_lists_the_columns_that_the_step_names(name):
    """Columns that a star passes on are in the words before the list."""
    found = re.findall(r"(?m)^  (\w+) +\S+ +\S", header(name)["columns"])
    select = tree(name)
    while "select_list" not in select:
        select = select["left"]
    named = [item for item in select["select_list"] if item["class"] != "STAR"]
    assert found == [item["alias"] or item["column_names"][-1] for item in named]
    assert len(named) == len(select["select_list"]) or "those of" in header(name)["columns"].splitlines()[0]


def test_a_python_module_asks_for_every_step():
    package = Path(trajlab.__file__).parent
    code = "".join(file.read_text(encoding="utf-8") for file in package.rglob("*.py"))
    assert [name for name in STEPS if f'"{name}"' not in code and f"'{name}'" not in code] == []
