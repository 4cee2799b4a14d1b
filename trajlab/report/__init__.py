"""One self-contained HTML page on what a lab holds: opens offline, asks the network for nothing.

The page is built from the top down: `overview` (the first screen), then every module of
`sections`, found by its file name. Numbers come from SQL that the page shows beside them
(`evidence`), drawings from `charts` and `maps`, and every piece of text is escaped on its
way into the page (`markup`). The page has one script, `drawing/map.js`, which lets the reader
move about its maps; a policy in its head forbids any other, and all of it can be read without.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from trajlab.errors import LabError

if TYPE_CHECKING:
    from trajlab.lab import Lab


MOST_EXAMPLES = 6
FORMS = (".svg", ".png", ".html")
"""Endings of a drawing by itself, as a picture, and of the page around it."""


def write(lab: Lab, path: Path, *, examples: int = 0, backdrop: Path | None = None) -> Path:
    """Write the page; the same lab gives the same bytes. `backdrop` is a GeoJSON file to draw behind the cells.

    All or nothing: the file appears, or replaces an older one, when it is complete.
    """
    if not 0 <= examples <= MOST_EXAMPLES:
        raise LabError(f"the page has room for the days of 0 to {MOST_EXAMPLES} example people, not {examples}")
    check_place(path, "report.html")
    return write_file(path, render(lab, examples=examples, backdrop=backdrop))


def save(path: str | Path, name: str, *, svg: Callable[[], str], html: Callable[[], str]) -> Path:
    """Write a drawing by itself, or the page around it, as the ending of the path says; `name` is what to call it."""
    from trajlab.figures._raster import png

    path = check_form(path, name)
    written: dict[str, Callable[[], str | bytes]] = {".svg": svg, ".png": lambda: png(svg()), ".html": html}
    return write_file(path, written[path.suffix.lower()]())


def check_form(path: str | Path, name: str) -> Path:
    """A path with an ending that `save` can write; to be asked before long work."""
    path = Path(path)
    if path.suffix.lower() not in FORMS:
        raise LabError(f"{path.name!r} is no .svg, .png or .html: name the file {name}.svg, {name}.png or {name}.html")
    return check_place(path, f"{name}.svg")


def check_place(path: Path, example: str) -> Path:
    """A path whose folder is there and can be written to; to be asked before long work."""
    if path.is_dir():
        raise LabError(f"{path} is a folder: name the file to write, such as {example}")
    if not path.parent.is_dir():
        raise LabError(f"cannot write {path}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise LabError(f"cannot write {path}: files in the folder {path.parent} may not be written")
    return path


def write_file(path: Path, content: str | bytes) -> Path:
    """Write a file, all or nothing."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        unfinished.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        unfinished.replace(path)
    except OSError as error:
        raise LabError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def render(lab: Lab, *, examples: int = 0, backdrop: Path | None = None) -> str:
    """The page as text, with the true days of so many example people."""
    from trajlab.report import overview, page, sections
    from trajlab.report.contents import Contents

    contents = Contents.of(lab, examples=examples, backdrop_file=backdrop)
    shown = [(section, body) for section in sections.load_all() if (body := section.render(contents)) is not None]
    return page.document(overview.render(contents), shown, examples=examples, ground=contents.ground)
