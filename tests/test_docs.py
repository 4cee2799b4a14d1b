"""The documentation runs: commands, Python, SQL, and the generated pages are up to date."""

from __future__ import annotations

import importlib
import re
import shlex
import sys
from pathlib import Path

import pytest

import trajlab
from trajlab import spatial
from trajlab.cli import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]
_BLOCK = re.compile(r"```(console|python)\n(.*?)```", re.DOTALL)


def run_page(page: Path, capsys: pytest.CaptureFixture[str]) -> str:
    for kind, code in _BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "python":
            exec(compile(code, page.name, "exec"), {})
        else:
            for line in code.splitlines():
                prompt, program, *words = shlex.split(line)
                assert (prompt, program) == ("$", "trajlab"), line
                assert main(words) == 0, (line, capsys.readouterr().err)
    return capsys.readouterr().out


@pytest.mark.parametrize("page", ["docs/tutorial.md", "README.md"])
def test_a_newcomer_can_follow_the_page(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run_page(ROOT / page, capsys)


def test_generated_pages_are_up_to_date(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    generate = importlib.import_module("docs.generate")
    assert (DOCS / "tables.md").read_text(encoding="utf-8") == generate.tables(), "run `make docs`"
    questions = (DOCS / "questions.md").read_text(encoding="utf-8")
    assert generate.answered(questions) == questions, "run `make docs` and read what changed"
    assert questions.count("```sql") >= 10


def test_the_index_of_the_how_to_keeps_the_laws(tmp_path, monkeypatch):
    found = re.search(r"```python file=band.py\n(.*?)```", (DOCS / "add-an-index.md").read_text(), re.DOTALL)
    assert found is not None
    (tmp_path / "band.py").write_text(found[1])
    monkeypatch.setattr(spatial, "__path__", [*spatial.__path__, str(tmp_path)])
    spatial.names.cache_clear() if hasattr(spatial.names, "cache_clear") else None
    try:
        lab = trajlab.open(":memory:")
        lab.ingest(trajlab.simulate(people=5, days=1), tz="Europe/Lisbon")
        release = lab.release(index="band:0.01", slot="1h")
        assert release.people == 5
        assert len(release.cells) > 1
    finally:
        sys.modules.pop("trajlab.spatial.band", None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


def test_every_table_of_the_lab_is_documented():
    from trajlab.query import catalogue

    text = (DOCS / "tables.md").read_text(encoding="utf-8")
    assert all(f"### {table}\n" in text for table in catalogue())
