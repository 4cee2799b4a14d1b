"""The sections of the page: each module here is one, found by its file name.

A section has a `TITLE`, a `POSITION` (lower is higher on the page), `TERMS` (every figure it
shows, explained in words; they are collected at the end of the page) and a function
`render` that returns its body, or None where the lab holds nothing for it to show. It may have a
function `findings` as well: what the first screen says of it at once. `NEEDS` says why it would be missing
and which command changes that, with LAB and RELEASE for their names; the playground shows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trajlab import plugins

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trajlab.report.contents import Contents
    from trajlab.report.findings import Finding
    from trajlab.report.markup import Html


@dataclass(frozen=True)
class Section:
    name: str
    title: str
    position: int
    terms: dict[str, str]
    render: Callable[[Contents], Html | None]
    findings: Callable[[Contents], Sequence[Finding]]
    needs: str = ""


def load_all() -> list[Section]:
    """Every section, in the order of the page."""
    return sorted(map(load, plugins.names(__name__)), key=lambda section: (section.position, section.name))


def load(name: str) -> Section:
    module = plugins.load(__name__, name, "section")
    findings = getattr(module, "findings", _nothing)
    return Section(
        name, module.TITLE, module.POSITION, module.TERMS, module.render, findings, getattr(module, "NEEDS", "")
    )


def _nothing(contents: Contents) -> Sequence[Finding]:
    return ()
