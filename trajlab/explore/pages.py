"""The pages of the playground: what was published and what comes of it, the tables, and a box for SQL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import polars as pl

from trajlab.errors import QueryError, TrajlabError
from trajlab.explore import comparing, picking, pictures, questions
from trajlab.explore.sandbox import Sandbox
from trajlab.query import Query, catalogue
from trajlab.report import sections, words
from trajlab.report.contents import Contents
from trajlab.report.evidence import table
from trajlab.report.markup import Child, Html, join, tag
from trajlab.report.page import shell

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; base-uri 'none'; form-action 'self'"
PREVIEW = 100
"""Rows of a table that its page shows."""
SECRET = "study.secret"
"""A table whose rows no page shows of its own accord."""

_FIRST = "from report.summary"
_NAMES = {"": "Look", "compare": "Compare", "questions": "Questions", "tables": "Tables", "sql": "SQL"}
Choices = dict[str, str]


class NoSuchPageError(TrajlabError):
    """An address that leads nowhere."""


def render(sandbox: Sandbox, place: str, choices: Choices) -> str:
    """The page at an address."""
    if place not in _PAGES:
        raise NoSuchPageError(f"there is no page {words.short(place)!r} here")
    return _document(sandbox, place, _PAGES[place](sandbox, choices))


def trouble(sandbox: Sandbox, text: str) -> str:
    return _document(sandbox, None, [tag("h1", "That did not work"), tag("p", text, cls="trouble", role="alert")])


def _draw_chosen(sandbox: Sandbox, choices: Choices) -> Child:
    """One release through the sections of the report, with one run and one question in full."""
    with sandbox.one_at_a_time:
        return _draw_release(sandbox, choices)


def _draw_release(sandbox: Sandbox, choices: Choices) -> Child:
    contents = Contents.of(sandbox.lab)
    if not contents.releases:
        return [tag("h1", sandbox.name), tag("p", "Nothing is published yet: make a release, then open this again.")]
    chosen = next(
        (release for release in contents.releases if release.id == choices.get("release")), contents.releases[0]
    )
    here = contents.only(chosen)
    shown = _parts(sandbox, here)
    now, body = next((each for each in shown if each[0].name == choices.get("part")), shown[0])
    keep = {name: value for name, value in choices.items() if name in ("run", "question")}
    links = [
        tag(
            "a",
            section.title,
            href="?" + urlencode({"release": chosen.id, "part": section.name, **keep}),
            aria_current="page" if section is now else None,
        )
        for section, _ in shown
    ]
    return [
        tag("h1", sandbox.name),
        picking.form(contents, chosen, now.name, choices),
        picking.run(here, choices.get("run", "")),
        picking.question(here, choices.get("question", "")),
        tag("nav", tag("ul", [tag("li", link) for link in links], cls="parts"), aria_label="Parts"),
        _missing(shown, chosen.id, sandbox.name),
        tag("section", tag("h2", now.title), body, id=now.name),
    ]


def _missing(shown: list[tuple[sections.Section, Html]], release: str, lab: str) -> Child:
    """Which sections this release has nothing for, and the command that gives them something."""
    names = {section.name for section, _ in shown}
    lines = [
        tag("li", tag("strong", section.title), ": ", section.needs.replace("RELEASE", release).replace("LAB", lab))
        for section in sections.load_all()
        if section.name not in names and section.needs
    ]
    if not lines:
        return None
    return tag(
        "details",
        tag("summary", f"{words.count(len(lines), 'section')} with nothing to show for this release"),
        tag("ul", lines),
        cls="missing",
    )


def _parts(sandbox: Sandbox, here: Contents) -> list[tuple[sections.Section, Html]]:
    """The sections of one release, drawn once: the lab does not change while it is open here."""
    release = here.releases[0].id
    if release not in sandbox.drawn:
        drawn = [(section, section.render(here)) for section in sections.load_all()]
        sandbox.drawn[release] = [
            (section, join(here.ground, body) if 'href="#ground"' in body else body)
            for section, body in drawn
            if body is not None
        ]
    return sandbox.drawn[release]


def _compare(sandbox: Sandbox, choices: Choices) -> Child:
    with sandbox.one_at_a_time:
        return comparing.page(Contents.of(sandbox.lab), choices)


def _questions(sandbox: Sandbox, choices: Choices) -> Child:
    """Every question of the documentation as a button that asks it of this lab."""
    asked = [
        tag(
            "form",
            tag("button", f"{each.number}. {each.title}"),
            tag("p", each.why, cls="note") if each.why else None,
            tag("input", type="hidden", name="query", value=each.sql),
            tag("input", type="hidden", name="run", value="1"),
            method="post",
            action="sql",
        )
        for each in questions.known()
    ]
    lede = "Each button asks one question of this lab. The answer comes with its SQL, to change and ask again."
    return [tag("h1", "Questions"), tag("p", lede, cls="lede"), tag("div", asked, cls="questions")]


def _tables(sandbox: Sandbox, choices: Choices) -> Child:
    """Every table in a line, or one with its meaning and first rows."""
    if "name" not in choices:
        lines = [
            tag("tr", tag("th", _to_table(query), scope="row"), tag("td", query.summary))
            for query in sorted(catalogue().values(), key=lambda query: query.file)
        ]
        rows = tag("div", tag("table", tag("tbody", lines)), cls="scroll", tabindex=0)
        return [tag("h1", "Tables"), tag("div", rows, cls="block")]
    query = Query.load(choices["name"])
    columns = [
        tag("tr", tag("th", column.name, scope="row"), tag("td", column.type), tag("td", column.meaning))
        for column in query.columns
    ]
    given = ", ".join(f"${name}" for name in query.params) if query.kind == "macro" else None
    sql = f"from {query.table}" if given is None else f"from {query.table}({given})"
    return [
        tag("h1", query.table),
        tag("p", f"{query.summary[:1].upper()}{query.summary[1:]}", cls="lede"),
        tag("p", query.prose.strip()) if query.prose.strip() else None,
        tag("div", tag("div", tag("table", tag("tbody", columns)), cls="scroll", tabindex=0), cls="block"),
        tag("p", tag("a", "Ask about it in SQL", href="sql?" + urlencode({"query": sql}))),
        _preview(sandbox, query, sql),
    ]


def _preview(sandbox: Sandbox, query: Query, sql: str) -> Child:
    if query.table == SECRET:
        return tag("p", "Its rows are not shown here: whoever sees them can tell whose fresh id is whose.", cls="note")
    if query.kind == "macro":
        needed = ", ".join(query.params)
        return tag("p", f"It is asked of one at a time: put values in the place of {needed}.", cls="note")
    try:
        with sandbox.one_at_a_time:
            frame = sandbox.lab.sql(f"{sql} limit {PREVIEW}")
    except QueryError as error:
        return tag("p", str(error), cls="trouble")
    return tag("div", _rows(f"The first {len(frame):,} rows", frame), cls="block")


def _rows(caption: str, frame: pl.DataFrame) -> Html:
    """A table with the columns' own names, and whole numbers as they are: many of them are ids."""
    whole = {name: _whole for name, kind in frame.schema.items() if kind.is_integer()}
    return table(caption, frame, show=whole, heads={name: name for name in frame.columns}, longest=len(frame))


def _whole(value: int | None) -> str:
    return words.NOTHING if value is None else str(value)


def _sql(sandbox: Sandbox, choices: Choices) -> Child:
    query = choices.get("query", _FIRST)
    answer: Child = None
    if "run" in choices:
        answer = _draw_answer(sandbox, query)
    keys = tag("span", "Ctrl+Enter runs it", cls="note")
    limits = f"Read-only; at most {sandbox.rows:,} rows and {sandbox.seconds:g} seconds."
    box = tag("textarea", query, name="query", id="query", spellcheck="false", autofocus=answer is None)
    return [
        tag("h1", "Ask in SQL"),
        tag(
            "div",
            tag(
                "div",
                tag(
                    "form",
                    tag("label", "One SELECT over the lab's tables", for_="query"),
                    box,
                    tag(
                        "div",
                        tag("button", "Run"),
                        keys,
                        tag("span", limits, cls="note"),
                        cls="done",
                    ),
                    tag("input", type="hidden", name="run", value="1"),
                    method="post",
                    action="sql",
                    cls="query",
                ),
                answer,
            ),
            tag(
                "aside",
                tag("h2", "Tables"),
                [_draw_columns(query) for query in _relations()],
                tabindex=0,
                aria_label="Tables",
            ),
            cls="beside",
        ),
    ]


def _draw_answer(sandbox: Sandbox, query: str) -> Child:
    try:
        frame, more = sandbox.run(query)
    except QueryError as error:
        return tag("p", str(error), cls="trouble", role="alert")
    text = f"{words.count(len(frame), 'row')}{', and there are more' if more else ''}"
    return tag(
        "div",
        tag("p", text, role="status"),
        pictures.of(frame),
        _rows("The answer", frame.drop("polygon", strict=False)),
        cls="block",
        id="answer",
    )


def _relations() -> list[Query]:
    return sorted(catalogue().values(), key=lambda query: query.file)


def _draw_columns(query: Query) -> Html:
    columns = [
        tag("div", tag("dt", tag("code", column.name), f" {column.type.lower()}"), tag("dd", column.meaning))
        for column in query.columns
    ]
    return tag("details", tag("summary", query.table), tag("p", query.summary), tag("dl", columns))


def _to_table(query: Query) -> Html:
    return tag("a", query.table, href="tables?" + urlencode({"name": query.table}))


def _document(sandbox: Sandbox, place: str | None, body: Child) -> str:
    links = [
        tag("a", name, href=where or ".", aria_current="page" if where == place else None)
        for where, name in _NAMES.items()
    ]
    return shell(
        f"{sandbox.name} · trajlab explore",
        tag("a", "Skip to the page", href="#page", cls="skip"),
        tag("header", tag("div", tag("strong", "trajlab explore"), tag("nav", links, aria_label="Pages"), cls="inner")),
        tag("main", tag("section", body, cls="hero"), id="page"),
        policy=POLICY,
        style_too=Html(Path(__file__).with_name("explore.css").read_text(encoding="utf-8")),
        scripts=["keys.js", "map.js"],
    )


_PAGES: dict[str, Callable[[Sandbox, Choices], Child]] = {
    "": _draw_chosen,
    "compare": _compare,
    "questions": _questions,
    "tables": _tables,
    "sql": _sql,
}
