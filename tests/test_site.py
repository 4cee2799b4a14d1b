"""The documentation as a site: whole, with links that lead somewhere, and nothing fetched from elsewhere."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sys.path.insert(0, str(ROOT))
    try:
        built: Path = importlib.import_module("docs.site").build(tmp_path_factory.mktemp("site") / "site")
    finally:
        sys.path.remove(str(ROOT))
    return built


def test_every_page_of_the_documentation_is_on_the_site(site: Path) -> None:
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} | {"index", "CONTRIBUTING", "CHANGELOG"}
    assert {page.stem for page in site.glob("*.html")} >= pages
    front = (site / "index.html").read_text(encoding="utf-8")
    for page in pages - {"index"}:
        assert f'href="{page}.html"' in front, page


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for page in site.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        fetched = re.findall(r'<(?:script|img|iframe|source)[^>]*\ssrc="([^"]*)"', text)
        fetched += re.findall(r'<link[^>]*\shref="([^"]*)"', text)
        assert not [address for address in fetched if "//" in address], page.name
    for sheet in site.rglob("*.css"):
        assert not re.findall(r"url\([\"']?https?:", sheet.read_text(encoding="utf-8")), sheet.name


def test_code_with_a_name_keeps_it_and_files_of_the_tree_are_named_only(site: Path) -> None:
    text = (site / "add-an-index.html").read_text(encoding="utf-8")
    assert "band.py" in text
    assert "file=band.py" not in text
    assert "../trajlab" not in text
