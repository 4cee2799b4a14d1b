"""The page around the sections: head, navigation, footer. One script, for maps; no link to anywhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

from trajlab.report.markup import Child, Html, join, tag
from trajlab.report.sections import Section
from trajlab.version import __version__

TITLE = "What the published counts show"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
MAP_SCRIPT = Path(__file__).parent / "drawing" / "map.js"


def document(
    first_screen: Html, sections: Sequence[tuple[Section, Html]], *, examples: int = 0, ground: Html | None = None
) -> str:
    """The whole page, from the doctype on; it says whether it shows the days of anybody.

    `ground` is what its maps have in common; with it comes the script for maps.
    """
    links = [tag("a", section.title, href=f"#{section.name}") for section, _ in sections]
    return shell(
        f"{TITLE} · trajlab",
        tag("a", "Skip to the findings", href="#findings", cls="skip"),
        tag(
            "header",
            tag("div", tag("strong", "trajlab"), tag("nav", links, aria_label="Sections"), cls="inner"),
        ),
        tag(
            "main",
            tag("section", first_screen, id="findings", cls="hero"),
            [tag("section", tag("h2", section.title), content, id=section.name) for section, content in sections],
        ),
        tag("footer", tag("p", _colophon(examples))),
        ground,
        inline=MAP_SCRIPT.read_text(encoding="utf-8") if ground is not None else None,
    )


def shell(
    title: str,
    *body: Child,
    policy: str = _POLICY,
    style_too: Html | None = None,
    scripts: Sequence[str] = (),
    inline: str | None = None,
) -> str:
    """A page with the style of the report and nothing else in it yet.

    Scripts by name only where the policy allows them; one inside the page is allowed by what it says, letter by
    letter, so that nothing else can run.
    """
    if inline is not None:
        digest = base64.b64encode(hashlib.sha256(inline.encode("utf-8")).digest()).decode()
        policy = f"{policy}; script-src 'sha256-{digest}'"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", style("colours", "charts", "style"), style_too),
        [tag("script", src=script, defer=True) for script in scripts],
    )
    last = tag("script", Html(inline)) if inline is not None else None
    page = tag("html", head, Html("\n"), tag("body", *body, last), lang="en")
    return join(Html("<!DOCTYPE html>\n"), page, Html("\n"))


def style(*names: str) -> Html:
    """Style sheets of the page, by name: colours and charts are all that a drawing by itself needs."""
    return Html("".join(Path(__file__).with_name(f"{name}.css").read_text(encoding="utf-8") for name in names))


def tabs(
    group: str, panels: Sequence[tuple[str, Child]], *, choose: str = "Choose a release", most: int | None = None
) -> Html:
    """One panel at a time, chosen by radio buttons: works without script, and prints all of them.

    With `most`, the first so many, and a line that says how many more there are.
    """
    if most is not None and len(panels) > most:
        left = f"The first {most} are drawn; {len(panels) - most} more are in the lab."
        return join(tabs(group, panels[:most], choose=choose), tag("p", left, cls="note"))
    if len(panels) == 1:
        return join(panels[0][1])
    shown = []
    for n, (name, panel) in enumerate(panels):
        key = f"{group}-{n}"
        shown += [
            tag("input", type="radio", name=group, id=key, checked=n == 0),
            tag("label", name, for_=key),
            tag("div", tag("p", name, cls="print-only"), panel, cls="panel"),
        ]
    return tag("div", shown, cls="tabs", role="group", aria_label=choose)


def _colophon(examples: int) -> Child:
    holds = "The page holds counts and sums over people, nobody's trace, and asks the network for nothing."
    if examples:
        holds = (
            "The page shows days of single people, because whoever wrote it said that they are simulated or agreed to "
            "it: do not pass it on if that is not so. It asks the network for nothing."
        )
    return (
        f"Made with trajlab {__version__} from the tables of one lab. {holds} It was written for those who run the "
        "study: shares marked as filled or hidden come from the records themselves and are not part of what was "
        "published."
    )
