"""The documentation as a site: `make site` writes build/site, to be opened from any web server or folder.

Made with mkdocs and its material theme, without fonts or scripts from elsewhere. Pages are found by being there: those
that `ORDER` does not name come last, under "More".
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent

ORDER = {
    "Tutorials": ["tutorial", "tutorial-operator", "tutorial-campus", "tutorial-generalisation", "gallery"],
    "Understand": [
        "flow", "decide", "policies", "certificate", "study", "differencing", "recovery", "habits", "protection",
        "cubes", "membership", "reidentification", "schedule", "utility", "threat-model", "science", "faq",
    ],
    "How to": [
        "data", "formats", "prepare", "report", "questions", "cluster", "scale", "add-a-table", "add-an-index",
        "add-an-attack",
        "add-an-adversary", "add-a-protection", "add-a-section",
    ],
    "Reference": ["commands", "python", "tables", "figures", "performance"],
    "Project": ["CONTRIBUTING", "CHANGELOG"],
}  # fmt: skip
"""Sections of the site and their pages, by file name."""


def build(folder: Path) -> Path:
    """Write the site into a folder; a link that leads nowhere is an error."""
    from mkdocs.commands.build import build as mkdocs
    from mkdocs.config import load_config

    with tempfile.TemporaryDirectory() as scratch:
        pages = Path(scratch) / "pages"
        _gather(pages)
        config = Path(scratch) / "mkdocs.yml"
        config.write_text(json.dumps(_settings(pages, folder)), encoding="utf-8")  # JSON is YAML
        mkdocs(load_config(str(config), strict=True))
    return folder


def _gather(pages: Path) -> None:
    """All pages in one folder, README first, their links to each other made good."""
    pages.mkdir()
    for picture in DOCS.glob("*.png"):
        shutil.copy(picture, pages)
    shutil.copytree(DOCS / "gallery", pages / "gallery", ignore=shutil.ignore_patterns("__*"))
    for name, file in {"index": ROOT / "README.md", **{name: ROOT / f"{name}.md" for name in ORDER["Project"]}}.items():
        (pages / f"{name}.md").write_text(_linked(file.read_text(encoding="utf-8")), encoding="utf-8")
    for file in DOCS.glob("*.md"):
        (pages / file.name).write_text(_linked(file.read_text(encoding="utf-8")), encoding="utf-8")


def _linked(text: str) -> str:
    """Links as they are in one folder; files of the source tree are named and not linked, files in code get titles."""
    text = re.sub(r"\]\((?:docs|\.\.)/README\.md", "](index.md", text)
    text = re.sub(r"\]\((?:docs|\.\.)/([\w-]+\.(?:md|png))", r"](\1", text)
    text = re.sub(r"\[([^\]]+)\]\(\.\./[^)]+\)", r"\1", text)
    text = re.sub(r"^```(\w+) line-of=.*$", r"```\1", text, flags=re.MULTILINE)
    return re.sub(r"^```(\w+) file=(\S+)$", r'```\1 title="\2"', text, flags=re.MULTILINE)


def _settings(pages: Path, folder: Path) -> dict[str, Any]:
    there = {file.stem for file in pages.glob("*.md")} - {"index"}
    named = {section: [f"{name}.md" for name in names if name in there] for section, names in ORDER.items()}
    more = sorted(there.difference(*ORDER.values()))
    nav: list[dict[str, Any]] = [{"trajlab": "index.md"}, *({section: listed} for section, listed in named.items())]
    nav += [{"More": [f"{name}.md" for name in more]}] if more else []
    return {
        "site_name": "trajlab",
        "site_description": "What published mobility counts give away",
        "docs_dir": str(pages),
        "site_dir": str(folder.resolve()),
        "use_directory_urls": False,
        "nav": nav,
        "theme": {
            "name": "material",
            "font": False,
            "features": ["navigation.tabs", "navigation.sections", "navigation.top", "toc.follow", "content.code.copy"],
            "palette": [
                {
                    "media": "(prefers-color-scheme: light)",
                    "scheme": "default",
                    "primary": "white",
                    "accent": "deep orange",
                },
                {
                    "media": "(prefers-color-scheme: dark)",
                    "scheme": "slate",
                    "primary": "black",
                    "accent": "deep orange",
                },
            ],
        },
        "plugins": ["search"],
        "markdown_extensions": [
            "tables",
            "attr_list",
            "pymdownx.superfences",
            "pymdownx.highlight",
            {"toc": {"permalink": True}},
        ],
        "validation": {"links": {"anchors": "warn", "absolute_links": "warn", "unrecognized_links": "warn"}},
    }


if __name__ == "__main__":
    print(f"wrote {build(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / 'build' / 'site'))}")
