"""Who may import whom: the barrier between truth and what is published, and the layers below."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from trajlab.query import catalogue

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "trajlab"

# A module may import, of trajlab, only what stands here for the first name that fits.
MAY_IMPORT = {
    "errors": set(),
    "query": {"errors"},
    "engine": {"errors", "engine"},
    "store": {"errors", "query", "engine", "__init__"},
    "progress": {"plain"},
    "plain": set(),
    "unfinished": {"errors"},
    "spatial": {"errors", "spatial"},
    "simulation": {"errors", "simulation"},
    "ingest": {"errors", "ingest"},
    "counts": set(),
    # What an attack sees: no store, no records, no truth.
    "release": {"errors", "matrix"},
    "matrix": {"errors", "release"},
    "matching": {"matching"},
    "attacks": {"attacks", "matching", "errors", "release"},
    "metrics": {"metrics", "errors", "progress", "query", "store"},
    "traces": {"errors", "progress", "query", "release", "store"},
    "knowledge": {"knowledge", "errors", "progress", "query", "store"},
    "protect": {
        "protect",
        "errors",
        "engine",
        "grid",
        "plain",
        "progress",
        "query",
        "release",
        "store",
        "traces",
        "unfinished",
    },
    "timetable": {"errors", "slots"},
    "schedule": {
        "schedule",
        "errors",
        "__init__",
        "lab",
        "progress",
        "query",
        "release",
        "risk",
        "slots",
        "store",
        "study",
        "timetable",
        "traces",
    },
    "traits": {"errors", "ingest", "progress", "query", "store"},
    "notes": {"ingest", "store"},
    "listing": {"report"},
    "figures": {"figures", "errors", "lab", "listing", "report", "__init__"},
    "explore": {"explore", "answer", "engine", "errors", "lab", "query", "report", "spatial", "store"},
    "prepare": {"prepare", "errors", "engine", "ingest", "spatial", "slots", "lab", "release"},
}


def imports(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "trajlab":
            found |= {alias.name if not alias.name.startswith("__") else "__init__" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("trajlab."):
            found.add(str(node.module).split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("trajlab.")}
    return found


@pytest.mark.parametrize("module", MAY_IMPORT)
def test_a_module_imports_only_what_lies_below_it(module):
    files = (
        [PACKAGE / f"{module}.py"] if (PACKAGE / f"{module}.py").exists() else sorted((PACKAGE / module).rglob("*.py"))
    )
    assert files
    for file in files:
        assert imports(file) <= MAY_IMPORT[module], file


def test_sql_of_attacks_reads_only_what_is_published():
    for query in catalogue().values():
        if query.table.startswith("attacks."):
            assert {table.partition(".")[0] for table in query.reads} <= {"counts", "grid", "attacks"}, query.table
            assert {"person", "uid"}.isdisjoint(c.name for c in query.columns), query.table


def test_the_solver_speaks_of_no_mobility():
    words = re.compile(
        r"\b(person|people|cell|slot|track|trajector\w*|night|day|attack|release|mobility)s?\b", re.IGNORECASE
    )
    for file in (PACKAGE / "matching").glob("*.py"):
        assert not words.findall(file.read_text(encoding="utf-8").replace("slots=True", "")), file


def test_what_is_published_says_so_and_knows_no_person():
    for query in catalogue().values():
        if query.publishable:
            assert {"person", "uid", "source_id"}.isdisjoint(c.name for c in query.columns), query.table
            assert query.table.partition(".")[0] != "records"


def test_sql_never_contains_a_value_as_text():
    """Our own names may be put into SQL text, a caller's value never: it is bound as $name."""
    suspicious = re.compile(r"""f["'][^"']*(=|like|in|values)\s*\(?\s*'\{""", re.IGNORECASE)
    for file in PACKAGE.rglob("*.py"):
        assert not suspicious.search(file.read_text(encoding="utf-8")), file


def test_the_project_names_no_machine_and_no_package_host():
    words = re.compile(r"(?<![\w.])/(?:root|home/\w+|work|farm)/|pythonhosted|pypi\.org|registry\.npmjs")
    skip = {".git", ".venv", "build", "demo", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}
    for file in ROOT.rglob("*"):
        parts = file.relative_to(ROOT).parts
        if (
            file.is_file()
            and parts[0] not in skip
            and file.suffix in {".py", ".md", ".sql", ".toml", ".txt", ".csv", ".html", ""}
        ):
            text = file.read_text(encoding="utf-8", errors="replace")
            assert file.name == "test_boundaries.py" or not words.search(text), file
