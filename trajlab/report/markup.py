"""HTML that escapes what it is given: only `Html` passes as it is, and only this package makes it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

_VOID = frozenset({"br", "hr", "input", "meta"})
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


Child = str | int | Iterable["Child"] | None
Attribute = str | float | bool | None


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """One element. Plain text in children and attributes is escaped, None and False are left out.

    `cls` is the attribute class, `for_` is for; other underscores become hyphens.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(*children)}</{name}>")


def join(*children: Child) -> Html:
    return Html("".join(map(_inside, children)))


def text(value: object) -> Html:
    """Anything as visible text; characters that HTML does not allow become U+FFFD."""
    return Html(html.escape(_UNPRINTABLE.sub("\ufffd", str(value)), quote=True))


def _inside(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, str | int):
        return text(child)
    return join(*child)


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = {"cls": "class", "for_": "for"}.get(key, key.replace("_", "-"))
    return f" {name}" if value is True else f' {name}="{text(value)}"'
