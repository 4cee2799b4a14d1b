"""How it was made: settings, seeds, versions and input of each release and question, and what each figure means."""

from __future__ import annotations

import json

from trajlab.query import Query, catalogue
from trajlab.report import sections, words
from trajlab.report.contents import Contents
from trajlab.report.evidence import block, table
from trajlab.report.markup import Child, Html, join, tag

TITLE = "How it was made"
POSITION = 90
TERMS = {
    "Fingerprint": "Digest of everything that was ingested and of what was kept of it. Releases with the same "
    "fingerprint were made from the same records; the same settings on them give the same release.",
    "Outside the study box": "Records beyond the box: moved to its edge (clamp) or left out (drop).",
}

MADE = "from study.release order by release_id"

_SETTINGS = {
    "index": "Cells", "slot": "Slot", "fill": "Fill of empty slots", "start": "First day", "days": "Days",
    "tz": "Time zone", "align": "People aligned onto one period", "coverage": "Coverage required",
    "min_count": "Smallest published count", "people": "Sample of people", "seed": "Seed of sample and noise",
    "box": "Study box", "outside": "Points outside the box", "protect": "Protection of the counts",
}  # fmt: skip
_FACTS = {
    "people": "People", "left_out": "People left out", "records": "Records gridded",
    "outside": "Records outside the study box", "fingerprint": "Fingerprint of the input",
}  # fmt: skip


def render(contents: Contents) -> Html | None:
    if not contents.releases:
        return None
    return join(_settings(contents), [_draw_questions(contents, query) for query in _questions()], _terms())


def _questions() -> list[Query]:
    """Every table of the study that keeps what was done with which settings and seed, but for the releases."""
    kept = {"settings", "seed", "versions"}
    return [query for query in catalogue().values() if kept <= {column.name for column in query.columns}]


def _draw_questions(contents: Contents, query: Query) -> Html | None:
    """One line for each run or question, with everything that it takes to get the same numbers again."""
    answer = contents.load_answer(f"from {query.table} order by {', '.join(query.grain)}")
    if not len(answer.frame):
        return None
    names = {release.id: release.name for release in contents.releases}
    show = {
        "release_id": lambda release_id: names.get(release_id, release_id),
        "settings": _describe_json,
        "versions": _describe_json,
    }
    heads = {column.name: column.name.removesuffix("_id").replace("_", " ").capitalize() for column in query.columns}
    return block(table(f"{query.summary[:1].upper()}{query.summary[1:]}", answer.frame, show=show, heads=heads), answer)


def _describe_json(text: str) -> str:
    """A JSON object on one line: names and values."""
    return ", ".join(f"{name} {words.NOTHING if value is None else value}" for name, value in json.loads(text).items())


def _settings(contents: Contents) -> Html | None:
    answer = contents.load_answer(MADE)
    made = {row["release_id"]: row for row in answer.frame.iter_rows(named=True)}
    own = [release for release in contents.releases if release.id in made]
    if not own:
        return None
    rows = [made[release.id] for release in own]
    settings = [json.loads(row["settings"]) for row in rows]
    versions = [json.loads(row["versions"]) for row in rows]
    lines = [_line("Id", [tag("code", release.id) for release in own])]
    lines += [
        _line(_SETTINGS.get(key, key), [_setting(key, one.get(key)) for one in settings])
        for key in _keys(_SETTINGS, settings)
    ]
    lines += [_line(name, [_plain(row[key]) for row in rows]) for key, name in _FACTS.items()]
    lines += [
        _line(f"Version of {key}", [str(one.get(key, words.NOTHING)) for one in versions])
        for key in _keys({}, versions)
    ]
    heads = [tag("th", "", scope="col"), *(tag("th", release.name, scope="col") for release in own)]
    shown = tag(
        "table", tag("caption", "Settings of each release"), tag("thead", tag("tr", heads)), tag("tbody", lines)
    )
    scroll = tag("div", shown, cls="scroll", tabindex=0, role="region", aria_label="Settings of each release")
    return block(scroll, answer)


def _terms() -> Html:
    terms = {name: text for section in sections.load_all() for name, text in section.terms.items()}
    lines = [tag("div", tag("dt", name), tag("dd", text)) for name, text in sorted(terms.items())]
    return join(tag("h3", "What each figure means"), tag("dl", lines, cls="terms"))


def _line(name: str, values: list[Child]) -> Html:
    return tag("tr", tag("th", name, scope="row"), [tag("td", value) for value in values])


def _keys(first: dict[str, str], objects: list[dict[str, object]]) -> list[str]:
    """Known names in their order, then whatever else there is, by name."""
    every = {key for one in objects for key in one}
    return [key for key in first if key in every] + sorted(every - first.keys())


def _setting(key: str, value: object) -> str:
    if key == "slot" and isinstance(value, int):
        return words.span(value)
    if key == "coverage" and isinstance(value, int | float):
        return words.share(value) if value else "none"
    if key == "seed" and isinstance(value, int):
        return words.seed(value).removeprefix("seed ")
    if value is None:
        return {"protect": "none", "people": "everybody", "box": "1st to 99.5th percentile"}.get(key, words.NOTHING)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return _plain(value)


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return words.number(value) if isinstance(value, int | float) else str(value)
