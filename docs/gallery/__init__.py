"""The gallery: each study is one script that draws one picture and prints what it found.

A script begins with a title and a paragraph, writes NAME.png into the folder that it runs in, and prints a few lines.
`docs/gallery.md` has all of them, one after another.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent / "gallery.md"
ORDER = ("city_study", "city_recovery", "campus_schedules", "student_points", "student_recovery", "student_classes")

_OPENING = """# Gallery

Six complete studies, each one script, one picture and what it prints. `make gallery` runs them again and writes this
page. Those of students need the data of StudentLife (Wang et al. 2014), in the folder that `TRAJLAB_DATA` names.
"""


def text_of(name: str) -> tuple[str, str]:
    """Title and paragraph of a study."""
    words = ast.get_docstring(ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))) or ""
    title, _, paragraph = words.partition("\n\n")
    return title.rstrip("."), paragraph


def needs_data(name: str) -> bool:
    return "TRAJLAB_DATA" in (FOLDER / f"{name}.py").read_text(encoding="utf-8")


def run(name: str, folder: Path) -> str:
    """What the study prints; its picture is left in the folder."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(FOLDER / f"{name}.py")], cwd=folder, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr}")
    return done.stdout


def page(printed: dict[str, str]) -> str:
    """The page of the gallery, with what each study printed."""
    parts = [_OPENING]
    for name in ORDER:
        title, paragraph = text_of(name)
        parts.append(
            f"## {title}\n\n{paragraph}\n\n![{title}](gallery/{name}.png)\n\n```text\n{printed[name]}```\n\n"
            f"[{name}.py](gallery/{name}.py)\n"
        )
    return "\n".join(parts)


def shown(name: str) -> str:
    """What the page says that the study printed; nothing where it is not on the page yet."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    found = re.search(rf"\(gallery/{name}\.png\)\n\n```text\n(.*?)```", text, re.DOTALL)
    return found[1] if found else ""


def build(*, with_data: bool) -> list[str]:
    """Run the studies, write their pictures and the page; the names of those that were left as they are."""
    printed = {name: shown(name) for name in ORDER}
    for name in ORDER:
        if needs_data(name) and not with_data:
            continue
        with tempfile.TemporaryDirectory() as folder:
            printed[name] = run(name, Path(folder))
            shutil.copy(Path(folder) / f"{name}.png", FOLDER)
    PAGE.write_text(page(printed), encoding="utf-8")
    return [name for name in ORDER if needs_data(name) and not with_data]
