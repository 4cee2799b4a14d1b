"""How it was made: settings, seeds, versions and input of each release, and what each figure means."""

from __future__ import annotations

import json

from trajlab.report import sections, words
from trajlab.report.contents import Contents
from trajlab.report.evidence import block
from trajlab.report.markup import Child, Html, join, tag

TITLE = "How it was made"
POSITION = 90
TERMS = {
    "Fingerprint": "Digest of everything that was ingested and of what was kept of it. Releases with the same "
    "fingerprint were made from the same records; the same settings on them give the same release.",
    "Outside the study box": "Records beyond the box: moved to its edge (clamp) or left out (drop).",
}

MADE = """
select release_id, settings, fingerprint, people, left_out, records, outside, versions
from study.release
order by release_id
"""

_SETTINGS = {
    "index": "Cells", "slot": "Slot", "fill": "Fill of empty slots", "start": "First day", "days": "Days",
    "tz": "Time zone", "align": "People aligned onto one period", "coverage": "Coverage required",
    "min_count": "Smallest published count", "people": "Sample of people", "seed": "Seed of the sample",
    "box": "Study box", "outside": "Points outside the box",
}  # fmt: skip
_FACTS = {
    "people": "People", "left_out": "People left out", "records": "Records gridded",
    "outside": "Records outside the study box", "fingerprint": "Fingerprint of the input",
}  # fmt: skip


def render(contents: Contents) -> Html | None:
    if not contents.releases:
        return None
    return join(_settings(contents), _terms())


def _settings(contents: Contents) -> Html | None:
    answer = contents.ask(MADE)
    made = {row["release_id"]: row for row in answer.frame.iter_rows(named=True)}
    own = [release for release in contents.releases if release.id in made]
    if not own:
        return None
    rows = [made[release.id] for release in own]
    settings = [json.loads(row["settings"]) for row in rows]
    versions = [json.loads(row["versions"]) for row in rows]
    lines = [_line("Id", [tag("code", release.id) for release in own])]
    lines += [
        _line(_SETTINGS.get(key, key), [_setting(key, told.get(key)) for told in settings])
        for key in _keys(_SETTINGS, settings)
    ]
    lines += [_line(name, [_plain(row[key]) for row in rows]) for key, name in _FACTS.items()]
    lines += [
        _line(f"Version of {key}", [str(told.get(key, words.NOTHING)) for told in versions])
        for key in _keys({}, versions)
    ]
    heads = [tag("th", "", scope="col"), *(tag("th", release.name, scope="col") for release in own)]
    shown = tag(
        "table", tag("caption", "Settings of each release"), tag("thead", tag("tr", heads)), tag("tbody", lines)
    )
    scroll = tag("div", shown, cls="scroll", tabindex=0, role="region", aria_label="Settings of each release")
    return block(scroll, answer)


def _terms() -> Html:
    terms = {name: told for section in sections.found() for name, told in section.terms.items()}
    listed = [tag("div", tag("dt", name), tag("dd", told)) for name, told in sorted(terms.items())]
    return join(tag("h3", "What each figure means"), tag("dl", listed, cls="terms"))


def _line(name: str, values: list[Child]) -> Html:
    return tag("tr", tag("th", name, scope="row"), [tag("td", value) for value in values])


def _keys(first: dict[str, str], told: list[dict[str, object]]) -> list[str]:
    """Known names in their order, then whatever else is told, by name."""
    every = {key for one in told for key in one}
    return [key for key in first if key in every] + sorted(every - first.keys())


def _setting(key: str, value: object) -> str:
    if key == "slot" and isinstance(value, int):
        return words.span(value)
    if key == "coverage" and isinstance(value, int | float):
        return words.share(value) if value else "none"
    if value is None:
        return {"people": "everybody", "box": "1st to 99.5th percentile"}.get(key, words.NOTHING)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return _plain(value)


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return words.number(value) if isinstance(value, int | float) else str(value)
