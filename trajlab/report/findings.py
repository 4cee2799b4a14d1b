"""What the first screen says of each section: one number, how sure it is, and what it is to be held against.

A section that has something to say at once has a function `findings`; the first screen shows
whatever it finds, in the order of the page. A number stands on a line from nothing to everything
with its interval, and its yardsticks stand on the same line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trajlab.report import words
from trajlab.report.markup import Child, Html, tag

_WIDTH, _HEIGHT = 300, 22
_MARKS = 2
"""Kinds of marks: a stroke and a ring, as on bars."""


@dataclass(frozen=True)
class Finding:
    """A share between 0 and 1, said in words that follow it: 51% "of slots: an adversary …"."""

    value: float
    sentence: Child
    low: float | None = None
    high: float | None = None
    yardsticks: Mapping[str, float | None] = field(default_factory=dict)
    """What to hold it against, by name; at most two are drawn."""
    about: str = "traces"
    """table: what is published gives it away; traces: those behind it would, if they leaked."""


def cards(found: Sequence[tuple[str, str, Finding]]) -> Html | None:
    """Findings side by side, each with the name of its section and a link to it."""
    if not found:
        return None
    return tag("div", [_card(*each) for each in found], cls="cards found")


def _card(section: str, title: str, finding: Finding) -> Html:
    within = None
    if finding.low is not None and finding.high is not None:
        within = tag("span", f"95% interval {words.share(finding.low)} to {words.share(finding.high)}")
    yardsticks = [(name, value) for name, value in finding.yardsticks.items() if value is not None][:_MARKS]
    marks = [
        tag("li", tag("i", cls=f"chip m{n}"), tag("span", name), tag("b", words.share(value)))
        for n, (name, value) in enumerate(yardsticks)
    ]
    return tag(
        "article",
        tag("h2", tag("a", title, href=f"#{section}")),
        tag("p", tag("b", words.share(finding.value)), within, cls="big"),
        _line(finding, [value for _, value in yardsticks]),
        tag("p", finding.sentence, cls="told"),
        tag("ul", marks, cls="marks") if marks else None,
        cls="card finding",
    )


def _line(finding: Finding, yardsticks: Sequence[float]) -> Html:
    def at(value: float) -> str:
        return f"{4 + (_WIDTH - 8) * min(max(value, 0.0), 1.0):.1f}"

    middle = _HEIGHT // 2
    drawn = [tag("path", d=f"M4 {middle}H{_WIDTH - 4}", cls="track")]
    if finding.low is not None and finding.high is not None:
        drawn.append(tag("path", d=f"M{at(finding.low)} {middle}H{at(finding.high)}", cls="within"))
    drawn.append(tag("circle", cx=at(finding.value), cy=middle, r=4.5, cls="value"))
    for n, value in enumerate(yardsticks):
        drawn.append(
            tag("path", d=f"M{at(value)} 2V{_HEIGHT - 2}", cls="mark")
            if n == 0
            else tag("circle", cx=at(value), cy=middle, r=4, cls="mark")
        )
    sentence = f"{words.share(finding.value)} on a line from 0% to 100%, beside its yardsticks"
    return tag("svg", drawn, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label=sentence, cls="chart gauge")
