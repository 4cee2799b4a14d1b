"""The questions of docs/questions.md, each with the SQL that answers it: a button of the playground."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

_QUESTION = re.compile(r"^## (\d+)\. (.*?)\n\n(.*?)```sql\n(.*?)```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Question:
    number: int
    title: str
    why: str
    sql: str


def file() -> Path:
    """Where the page is: inside the installed package, or among the docs of the source tree."""
    installed = Path(__file__).with_name("questions.md")
    return installed if installed.is_file() else Path(__file__).parents[2] / "docs" / "questions.md"


@functools.cache
def known() -> tuple[Question, ...]:
    """In the order of the page, words without their markup."""
    found = _QUESTION.findall(file().read_text(encoding="utf-8"))
    return tuple(Question(int(number), _plain(title), _plain(why), sql.strip()) for number, title, why, sql in found)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).replace("`", "").split())
