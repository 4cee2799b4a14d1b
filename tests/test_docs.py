"""The documentation runs: commands, Python, SQL, and the generated pages are up to date."""

from __future__ import annotations

import importlib
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
            for command in re.split(r"\n(?=\$ )", code.strip()):  # a quoted query may go on in the next line
                prompt, program, *words = shlex.split(command)
                assert (prompt, program) == ("$", "trajlab"), command
                assert main(words) == 0, (command, capsys.readouterr().err)
    return capsys.readouterr().out


FOLLOWED = [
    "README.md",
    "docs/certificate.md",
    "docs/cubes.md",
    "docs/decide.md",
    "docs/differencing.md",
    "docs/formats.md",
    "docs/membership.md",
    "docs/prepare.md",
    "docs/protection.md",
    "docs/recovery.md",
    "docs/reidentification.md",
    "docs/report.md",
    "docs/schedule.md",
    "docs/study.md",
    "docs/utility.md",
    *sorted(f"docs/{page.name}" for page in DOCS.glob("tutorial*.md")),
]


@pytest.mark.parametrize("page", FOLLOWED)
def test_a_newcomer_can_follow_the_page_and_sees_what_it_shows(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    said = run_page(ROOT / page, capsys)
    assert said
    for shown in re.findall(r"```text\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL):
        assert shown in said, f"{page} shows something else than what comes out"


def test_generated_pages_are_up_to_date(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    generate = importlib.import_module("docs.generate")
    for name, text in generate.pages().items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, f"{name} is out of date: run `make docs`"
    questions = (DOCS / "questions.md").read_text(encoding="utf-8")
    assert generate.answered(questions) == questions, "run `make docs` and read what changed"
    assert questions.count("```sql") >= 10


def test_a_question_is_asked_in_three_lines_and_has_an_answer():
    page = (DOCS / "questions.md").read_text(encoding="utf-8")
    answered = re.findall(r"```sql\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL)
    assert len(answered) == page.count("\n## ") == 43
    for sql, answer in answered:
        assert len(sql.splitlines()) <= 3, sql
        assert len(answer.splitlines()) > 1, sql


def test_the_index_of_the_how_to_keeps_the_laws(tmp_path):
    """In a process of its own: the new file is put beside the others, and the laws run over it."""
    found = re.search(r"```python file=band.py\n(.*?)```", (DOCS / "add-an-index.md").read_text(), re.DOTALL)
    assert found is not None
    (tmp_path / "band.py").write_text(found[1])
    code = f"""
import sys, pytest, trajlab as tl
from trajlab import spatial
spatial.__path__.append({str(tmp_path)!r})
lab = tl.open(":memory:")
lab.ingest(tl.simulate(people=5, days=1), tz="Europe/Lisbon")
assert lab.release(index="band:5", slot="1h").people == 5
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-k", "band:5", "tests/laws/test_spatial.py"]))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert " passed" in done.stdout


def test_the_attack_of_the_how_to_works_and_keeps_the_laws(tmp_path):
    """In a process of its own, like the index: the page's two files, and the laws over the new attack."""
    page = (DOCS / "add-an-attack.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"```python file=(\w+\.py)\n(.*?)```", page, re.DOTALL))
    assert files.keys() == {"drift.py", "test_drift.py"}
    plugin = tmp_path / "attacks"
    plugin.mkdir()
    (plugin / "drift.py").write_text(files["drift.py"], encoding="utf-8")
    (tmp_path / "test_drift.py").write_text(files["test_drift.py"], encoding="utf-8")
    code = f"""
import sys, pytest, trajlab as tl
from trajlab import attacks
attacks.__path__.append({str(plugin)!r})
lab = tl.open(":memory:")
lab.ingest(tl.simulate(people=30, days=2, seed=1), tz="Europe/Lisbon")
run = lab.attack(lab.release(index="square:1000", slot="1h"), "drift", velocity=0.5)
assert lab.sql("select count(*) from attacks.step where run_id = $run and gap < 0.001", run=run.id).item() == 47
files = [{str(tmp_path / "test_drift.py")!r}, "tests/laws/test_attacks.py"]
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-k", "drift", *files]))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert " passed" in done.stdout


def _unpacked(page: str, name: str, laws: str, folder: Path) -> tuple[str, Path]:
    """Write the files of a how-to, and the laws with its line among their examples; its text, and where the plug-in is."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"```python file=(\w+\.py)\n(.*?)```", text, re.DOTALL))
    assert files.keys() == {f"{name}.py", f"test_{name}.py"}
    (line,) = re.findall(r"```python line-of=EXAMPLES\n(.*?)```", text, re.DOTALL)
    law = (ROOT / "tests" / "laws" / laws).read_text(encoding="utf-8")
    assert law.count("EXAMPLES = {\n") == 1
    plugin = folder / "plugin"
    plugin.mkdir()
    (plugin / f"{name}.py").write_text(files[f"{name}.py"], encoding="utf-8")
    (folder / f"test_{name}.py").write_text(files[f"test_{name}.py"], encoding="utf-8")
    (folder / "test_laws.py").write_text(law.replace("EXAMPLES = {\n", "EXAMPLES = {\n" + line), encoding="utf-8")
    return text, plugin


def test_the_adversary_of_the_how_to_works_and_keeps_the_laws(tmp_path):
    """In a process of its own, like the attack: the page's two files, and the laws over the new adversary."""
    page = (DOCS / "add-an-adversary.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"```python file=(\w+\.py)\n(.*?)```", page, re.DOTALL))
    assert files.keys() == {"first.py", "test_first.py"}
    plugin = tmp_path / "knowledge"
    plugin.mkdir()
    (plugin / "first.py").write_text(files["first.py"], encoding="utf-8")
    (tmp_path / "test_first.py").write_text(files["test_first.py"], encoding="utf-8")
    shares = dict(re.findall(r"\| `(first:\d|top:\d)` \| ([0-9.]+) \|", page))
    assert len(shares) == 5
    code = f"""
import sys, pytest, trajlab as tl
from trajlab.risk import knowledge
knowledge.__path__.append({str(plugin)!r})
lab = tl.open(":memory:")
lab.ingest(tl.simulate(people=300, days=3, seed=1), tz="Europe/Lisbon")
release = lab.release(index="h3:8", slot="1h")
for known, share in {shares!r}.items():
    assert f"{{lab.risk(release, known).unique_share:.2f}}" == share, known
assert lab.risk(lab.attack(release, "stay"), "first:1").unique_share < float({shares!r}["first:1"])
files = [{str(tmp_path / "test_first.py")!r}, "tests/laws/test_knowledge.py"]
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-k", "first", *files]))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert " passed" in done.stdout


def test_the_protection_of_the_how_to_works_and_keeps_the_laws(tmp_path):
    """In a process of its own, like the attack: the page's files, its line among the examples, and the laws."""
    _, plugin = _unpacked("add-a-protection", "longer", "test_protections.py", tmp_path)
    code = f"""
import sys, pytest
sys.path.append("tests")
from trajlab import protect
protect.__path__.append({str(plugin)!r})
files = [{str(tmp_path / "test_longer.py")!r}, {str(tmp_path / "test_laws.py")!r}]
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-k", "longer", *files]))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert " passed" in done.stdout


def test_the_section_of_the_how_to_is_on_the_page_and_on_the_first_screen(tmp_path):
    """In a process of its own: the page's file is put beside the other sections."""
    page = (DOCS / "add-a-section.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python file=suppressed.py\n(.*?)```", page, re.DOTALL)
    (relation,) = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    (figure,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(figure, "add-a-section.md", "exec"), {})
    (tmp_path / "suppressed.py").write_text(code, encoding="utf-8")
    shutil.copytree(ROOT / "sql", tmp_path / "sql")
    (tmp_path / "sql" / "7_report" / "empty_slot.sql").write_text(relation)
    script = f"""
from pathlib import Path
import trajlab as tl
from trajlab import query
query.folder = lambda: Path({str(tmp_path / "sql")!r})
from trajlab.report import render, sections
sections.__path__.append({str(tmp_path)!r})
lab = tl.open(":memory:")
lab.ingest(tl.simulate(people=5, days=1), tz="Europe/Lisbon")
lab.release(index="h3:8", slot="1h", min_count=3)
page = render(lab)
assert '<section id="suppressed">' in page
assert "of the slots of a release have no count at all." in page.partition('<section id="releases">')[0]
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_relations_of_the_how_to_are_built_when_it_says(tmp_path):
    """In a process of its own: the page's three files are put beside the others."""
    page = (DOCS / "add-a-table.md").read_text(encoding="utf-8")
    files = {sql.partition(":")[0]: sql for sql in re.findall(r"```sql\n-- (\w+\.\w+: .*?)```", page, re.DOTALL)}
    assert files.keys() == {"report.quiet_cell", "counts.quiet_cell", "metrics.home_share"}
    shutil.copytree(ROOT / "sql", tmp_path / "sql")
    for table, sql in files.items():
        schema, _, name = table.partition(".")
        (folder,) = (tmp_path / "sql").glob(f"?_{schema}")
        assert f"`sql/{folder.name}/{name}.sql`" in page
        (folder / f"{name}.sql").write_text(f"-- {sql}", encoding="utf-8")
    code = f"""
from pathlib import Path
import trajlab as tl
from trajlab import query
query.folder = lambda: Path({str(tmp_path / "sql")!r})
lab = tl.open(":memory:")
lab.ingest(tl.simulate(people=5, days=1), tz="Europe/Lisbon")
release = lab.release(index="h3:8", slot="1h")
assert lab.table("counts.quiet_cell").equals(lab.table("report.quiet_cell"))
assert len(lab.table("counts.quiet_cell")) > 0
assert len(lab.table("metrics.home_share")) == 0
lab.feasibility(release)
assert len(lab.table("metrics.home_share", release_id=release.id)) == 5
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_sql_of_the_readme_runs(town):
    (query,) = re.findall(r"```sql\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert town.sql(query).columns == ["hour", "alone", "published"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lines_of_prose_are_short(page):
    """Tables, code, headings and pictures excepted: what a reader of the source and of a difference has to scroll for."""
    prose = re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    lines = [line for line in prose.splitlines() if not line.startswith(("|", "#", "!["))]
    assert not [line for line in lines if len(line) >= 120]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


def test_every_command_and_every_public_name_is_documented():
    import trajlab as tl
    from trajlab import figures
    from trajlab.cli import IN_ORDER

    commands, python, drawn = (
        (DOCS / f"{page}.md").read_text(encoding="utf-8") for page in ("commands", "python", "figures")
    )
    assert all(f"## trajlab {name}\n" in commands for name in IN_ORDER)
    assert all(f"## tl.{name}\n" in python for name in tl.__all__)
    verbs = [name for name in vars(tl.Lab) if not name.startswith("_")]
    assert all(f"### lab.{verb}\n" in python for verb in verbs)
    assert all(f"### {name}\n" in drawn for name in figures.known())


def test_every_table_of_the_lab_is_documented():
    from trajlab.query import catalogue

    text = (DOCS / "tables.md").read_text(encoding="utf-8")
    assert all(f"### {table}\n" in text for table in catalogue())
