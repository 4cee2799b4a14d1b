"""Who may import whom: the barrier between truth and what is published, and the layers below."""

from __future__ import annotations

import ast
import graphlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from trajlab.query import catalogue

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "trajlab"

# A module or package may import, of trajlab, only what stands here for the longest name that fits it.
MAY_IMPORT = {
    "errors": set(),
    "ids": set(),
    "plain": set(),
    "settings": set(),
    "version": set(),
    "plugins": {"errors"},
    "query": {"errors"},
    "engine": {"errors", "engine", "plugins"},
    "blank": {"errors", "engine"},
    "schema": {"blank", "errors", "ids", "engine", "query", "version"},
    "store": {"errors", "engine", "query", "schema"},
    "progress": {"plain"},
    "scratch": {"errors"},
    "spatial": {"errors", "spatial", "plugins"},
    "simulation": {"errors", "settings", "simulation"},
    "ingest": {"errors", "ingest", "plugins", "query", "scratch"},
    # What an attack sees: no store, no records, no truth.
    "release.__init__": {"errors", "release.known", "release.matrix", "release.population"},
    "release.population": {"release.__init__"},
    "release.known": {"protect", "release.__init__"},
    "release.matrix": {"errors", "ids", "protect", "settings"},
    "release.frames": set(),
    "release": {
        *("errors", "ids", "engine", "ingest", "progress", "protect", "query", "release", "settings", "spatial"),
        *("store", "version"),
    },
    "matching": {"matching"},
    "attacks.run": {
        *("attacks", "errors", "ids", "metrics", "progress", "query", "release.__init__", "settings", "store"),
        "version",
    },
    "attacks": {"attacks", "matching", "errors", "plugins", "release.__init__"},
    "metrics.feasibility": {"metrics", "errors", "progress", "query", "release.truth", "risk", "store"},
    "metrics": {"metrics", "errors", "progress", "query", "release.truth", "store"},
    # Pure: a case comes in, an answer goes out.
    "risk.crowds": {"risk.crowds", "errors"},
    "risk.knowledge": {"risk.crowds", "risk.knowledge", "errors", "plugins"},
    "risk": {
        *("risk", "errors", "ids", "ingest", "progress", "query", "release.__init__", "release.truth", "store"),
        "version",
    },
    # Numbers in, numbers out: only the verb reaches the lab.
    "membership.run": {
        *("membership", "errors", "ids", "progress", "query", "release.__init__", "release.truth", "store"),
        "version",
    },
    "membership.recipe": {"membership", "errors", "protect.__init__"},
    "membership": {"membership", "errors", "settings"},
    # Sums in, bounds out; what is read off the lab comes from other modules.
    "differencing.bounds": set(),
    "differencing.programme": {"differencing.bounds"},
    "differencing.words": {"differencing"},
    "differencing": {
        *("differencing", "errors", "ids", "progress", "protect", "query", "release.__init__", "release.known"),
        *("release.truth", "settings", "store", "version"),
    },
    "protect": {
        *("protect", "errors", "engine", "ids", "plain", "plugins", "progress", "query", "release", "risk.traces"),
        *("settings", "store", "scratch"),
    },
    "cubes": {
        *("cubes", "attacks.__init__", "attacks.run", "errors", "ids", "progress", "protect", "query", "release"),
        *("risk", "settings", "store"),
    },
    "schedule": {
        *("schedule", "errors", "ids", "lab", "progress", "query", "release", "risk", "settings", "store", "study"),
        "version",
    },
    "utility": {
        *("utility", "errors", "ids", "matching", "progress", "query", "release", "report", "risk", "spatial", "store"),
        "version",
    },
    "decide": {
        *(
            "decide",
            "attacks",
            "cubes",
            "errors",
            "ids",
            "lab",
            "membership.question",
            "plugins",
            "progress",
            "protect",
        ),
        *("query", "release", "risk", "schedule", "settings", "utility"),
    },
    "certificate": {"certificate", "decide.policy", "errors", "lab", "report", "store", "version"},
    "study": {
        *(
            "study",
            "attacks",
            "decide",
            "errors",
            "ids",
            "lab",
            "membership",
            "metrics.optimal",
            "metrics.pairing",
            "progress",
            "protect",
            "query",
            "release",
            "report",
        ),
        *("risk", "schedule", "settings", "spatial", "store", "utility"),
    },
    "figures": {"figures", "errors", "lab", "plugins", "report", "version"},
    "report": {
        "report",
        "errors",
        "figures",
        "lab",
        "plugins",
        "query",
        "risk",
        "spatial",
        "study",
        "utility",
        "version",
    },
    "explore": {"explore", "answer", "engine", "errors", "lab", "query", "report", "spatial", "store"},
    "prepare": {
        *(
            "prepare",
            "errors",
            "engine",
            "ingest",
            "lab",
            "plugins",
            "query",
            "release",
            "schema",
            "scratch",
            "spatial",
        ),
    },
}


def module_name(file: Path) -> str:
    return ".".join(file.relative_to(PACKAGE).with_suffix("").parts)


MODULES = {module_name(file): file for file in sorted(PACKAGE.rglob("*.py"))}


def imports(file: Path, *, types: bool = True) -> set[str]:
    """The modules of trajlab that a file imports, at its top or inside functions; `types` those for annotations too."""
    found: set[str] = set()
    for node in _imports(ast.parse(file.read_text(encoding="utf-8")), types=types):
        if isinstance(node, ast.Import):
            found |= {_module(alias.name) for alias in node.names if alias.name.startswith("trajlab.")}
        elif (node.module or "").partition(".")[0] == "trajlab":
            found |= {_module(f"{node.module}.{alias.name}") for alias in node.names}
    return found


def _imports(node: ast.AST, *, types: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif types or not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            yield from _imports(child, types=types)


def _module(full: str) -> str:
    """The module that `trajlab.release.Release` or `trajlab.release.matrix` is in."""
    name = full.removeprefix("trajlab").removeprefix(".")
    while name not in MODULES and f"{name}.__init__".removeprefix(".") not in MODULES:
        name = name.rpartition(".")[0]
    return name if name in MODULES else f"{name}.__init__".removeprefix(".")


def fits(name: str, rule: str) -> bool:
    return name == rule or name.startswith(rule + ".")


@pytest.mark.parametrize("rule", MAY_IMPORT)
def test_a_module_imports_only_what_lies_below_it(rule):
    ours = [name for name in MODULES if max((r for r in MAY_IMPORT if fits(name, r)), key=len, default="") == rule]
    assert ours
    for name in ours:
        beyond = {each for each in imports(MODULES[name]) if not any(fits(each, may) for may in MAY_IMPORT[rule])}
        assert not beyond, f"{name} imports {beyond}"


def test_no_module_imports_itself_through_others():
    """Imports for annotations alone do not count: nothing is loaded by them."""
    graph = {name: imports(file, types=False) - {name} for name, file in MODULES.items()}
    try:
        list(graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


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


def test_what_solves_sums_speaks_of_no_mobility():
    words = re.compile(r"\b(person|people|cell|slot|track|trace|night|day|attack|release|mobility)s?\b", re.IGNORECASE)
    for name in ("bounds", "programme"):
        text = (PACKAGE / "differencing" / f"{name}.py").read_text(encoding="utf-8")
        assert not words.findall(text.replace("slots=True", "")), name


def test_what_counts_crowds_speaks_of_no_mobility():
    words = re.compile(
        r"\b(person|people|cell|slot|trace|track|trajector\w*|visit|place|night|day|hour|adversar\w*|release|mobility)s?\b",
        re.IGNORECASE,
    )
    for file in (PACKAGE / "risk" / "crowds").glob("*.py"):
        text = file.read_text(encoding="utf-8").replace("slots=True", "").replace("No word on mobility", "")
        assert not words.findall(text), file


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


EMBEDDED = ("engine.duckdb", "store", "ingest", "prepare", "risk.traits", "answer", "explore", "lab", "cluster")
"""Who may use DuckDB's own connection: what reads files, and what runs a reader's own SELECT."""


def test_sql_goes_through_the_engine():
    for name, file in MODULES.items():
        if not any(fits(name, may) for may in EMBEDDED):
            text = file.read_text(encoding="utf-8")
            assert not re.search(r"^\s*(import|from) duckdb\b|\bstore\.con\b", text, re.MULTILINE), name


def test_a_select_of_more_than_three_lines_is_a_file():
    """Relations, steps and functions live in `sql/`; statements of up to three lines may stand where they are used."""
    for name, file in MODULES.items():
        code = file.read_text(encoding="utf-8")
        nodes = list(ast.walk(ast.parse(code)))
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for text in nodes:
            if isinstance(text, ast.Constant | ast.JoinedStr) and text.end_lineno - text.lineno >= 3:
                written = (ast.get_source_segment(code, text) or "").strip('f"\\\n ')
                is_select = re.search(r"\bselect\b|^from\b", written, re.IGNORECASE) and id(text) not in docstrings
                assert not is_select or written.count("\n") < 3, f"{name}, line {text.lineno}: put it into sql/"


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
