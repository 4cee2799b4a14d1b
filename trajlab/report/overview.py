"""The first screen: what was published, what an adversary gets from it, and each release on a card."""

from __future__ import annotations

from collections.abc import Callable

from trajlab.report import findings, opening, sections, verdicts, words
from trajlab.report.contents import Contents, Published
from trajlab.report.markup import Child, Html, join, tag
from trajlab.report.page import TITLE

CARDS = 6
"""Releases that get a card; the table below the cards has all of them."""


def render(contents: Contents) -> Html:
    if contents.releases:
        return _published(contents)
    sources = contents.sources.frame
    if len(sources):
        return join(
            tag("h1", "Nothing is published yet"),
            tag(
                "p", "The lab holds ", _strong(words.count(int(sources["rows_kept"].sum()), "record")), " from ",
                words.count(int(sources["files"].sum()), "source"), ", and no release. A release is what would be "
                "published: how many people are in each cell during each slot of time.", cls="lede",
            ),
            _next("Publish one, then write this page again:", _RELEASE),
        )  # fmt: skip
    return join(
        tag("h1", "This lab is empty"),
        tag("p", "No records were ingested and nothing was published, so there is nothing to report on.", cls="lede"),
        _next("Read some records, publish their counts, then write this page again:", _INGEST + "\n" + _RELEASE),
    )


_INGEST = "trajlab ingest lab.duckdb traces.parquet --kind gps --tz Europe/Lisbon"
_RELEASE = "trajlab release lab.duckdb --index h3:8 --slot 30min\ntrajlab report lab.duckdb -o report.html"


def _next(sentence: str, commands: str) -> Html:
    return join(tag("p", sentence), tag("pre", tag("code", commands), tabindex=0))


def _published(contents: Contents) -> Html:
    releases = contents.releases
    cards = [_card(release) for release in releases[:CARDS]]
    more = len(releases) - len(cards)
    return join(
        tag("h1", TITLE),
        opening.render(contents),
        tag("p", _what(releases), " ", _alone(releases), " ", _small(releases), cls="lede"),
        _found(contents),
        tag("p", _filled(releases), " ", _hidden(releases), cls="lede second"),
        tag("div", cards, cls="cards"),
        tag("p", f"{words.count(more, 'more release')} in the table below.", cls="note") if more else None,
    )


def _found(contents: Contents) -> Html | None:
    """What the sections have to say at once; where nobody tried anything, that."""
    found = [
        (section.name, section.title, finding)
        for section in sections.load_all()
        for finding in section.findings(contents)
    ]
    if found:
        parts = {part: [each for each in found if each[2].about == part] for part in ("table", "traces")}
        return join(
            [tag("h2", verdicts.PARTS[part], cls="part"), findings.cards(each)] for part, each in parts.items() if each
        )
    return tag(
        "p", "No attack was run and no question asked yet: what these counts give away is not known.", cls="lede"
    )


def _what(releases: tuple[Published, ...]) -> Child:
    people = _spread(releases, "people", words.number)
    who, verb = ("1 person", "was") if people == "1" else (f"{people} people", "were")
    periods = [release.period for release in releases if release.period]
    first, last = min((a for a, _ in periods), default=None), max((b for _, b in periods), default=None)
    lengths = [words.span(seconds) for seconds in sorted({r.row["slot_seconds"] for r in releases})]
    kinds = sorted(words.lower_first(kind) for kind in {words.cells(r.row["index_name"]) for r in releases})
    length = (last - first).days + 1 if first and last else max(release.days for release in releases)
    days = words.count(length, "day")
    every = f"every {words.join_list(lengths)}".replace("every 1 ", "every ")
    if len(releases) == 1:
        cells = words.count(releases[0].row["cells"], "cell")
        how = [_strong(cells), f" ({kinds[0]})"]
    else:
        how = [
            _strong(words.count(len(releases), "release")),
            f": {words.join_list(kinds)}",
        ]
    when = f" ({words.between(first, last)}) in " if first and last else " in "
    return [_strong(who), f" {verb} counted {every} over ", _strong(days), when, *how, "."]


def _alone(releases: tuple[Published, ...]) -> Child:
    if all(release.row["alone"] is None for release in releases):
        return "No count was large enough to be published."
    if all(not release.row["alone"] for release in releases):
        return "No published count shows a person alone in a cell."
    low, high = _extremes(releases, "alone")
    alone = _spread(releases, "alone", words.share)
    which = (
        f" (fewest with {words.lower_first(low.name)}, most with {words.lower_first(high.name)})"
        if alone != words.share(low.row["alone"])
        else ""
    )
    return [
        tag("mark", alone), f" of the published counts{which} are exactly one person, somebody ",
        tag("em", "alone in a cell"), ": such a count tells where one person was.",
    ]  # fmt: skip


def _small(releases: tuple[Published, ...]) -> Child:
    if all(release.row["median_count"] is None for release in releases):
        return None
    low, high = (words.number(release.row["median_count"]) for release in _extremes(releases, "median_count"))
    if low == high:
        return ["Half of the counts are ", _strong(low), " or smaller."]
    return ["Half of the counts are no larger than ", _strong(low), " in one release, ", _strong(high), " in another."]


def _filled(releases: tuple[Published, ...]) -> Child:
    if all(release.row["filled"] is None for release in releases):
        return "The lab holds no records behind these counts, so it does not know the truth."
    if all(not release.row["filled"] for release in releases):
        return "Every position behind the counts was observed, none was filled in."
    return [
        _strong(_spread(releases, "filled", words.share)),
        " of the positions behind the counts were filled in between records rather than observed.",
    ]


def _hidden(releases: tuple[Published, ...]) -> Child:
    limits = sorted({release.row["min_count"] for release in releases if release.row["min_count"] > 1})
    if not any(release.own for release in releases):
        return None
    recipes = sorted({release.row["recipe"] for release in releases if release.row["recipe"]})
    if recipes:
        through = f"{words.count(len(recipes), 'recipe')}: {words.join_list(recipes)}"
        return ["Counts of some releases are protected by ", _strong(through), ". The others are as they were counted."]
    if not limits:
        return "Nothing is suppressed: every count is published, however small."
    below = f"Suppressing counts below {words.join_list([words.number(limit) for limit in limits])} hides "
    return [below, _strong(_spread(releases, "hidden", words.share)), " of all person-slots."]


def _card(release: Published) -> Html:
    row = release.row
    alone = row["alone"]
    area = row["median_area_km2"]
    facts = {
        "People": words.number(row["people"]),
        "Cells": words.number(row["cells"]),
        "Typical cell": words.NOTHING if area is None else f"{words.number(area, 2)} km²",
        "Slots": f"{words.number(row['slots'])} × {words.span(row['slot_seconds'])}",
        "Counts": words.number(row["counts"]),
        "Middle count": words.number(row["median_count"]),
        "Largest count": words.number(row["largest_count"]),
        "Filled": words.share(row["filled"]),
        "Hidden": words.share(row["hidden"]),
    }
    return tag(
        "article",
        tag("h2", release.name),
        tag(
            "p",
            tag("b", words.share(alone)),
            tag("span", "of counts are one person, alone"),
            cls="big" if alone else "big calm",
        ),
        tag("div", tag("i", style=f"width:{100 * (alone or 0):.1f}%"), cls="meter", aria_hidden="true"),
        tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts.items()]),
        cls="card",
    )


def _spread(releases: tuple[Published, ...], key: str, say: Callable[[float], str]) -> str:
    """One value, or the lowest and the highest among the releases."""
    values = sorted(release.row[key] for release in releases if release.row[key] is not None)
    if not values:
        return words.NOTHING
    low, high = say(values[0]), say(values[-1])
    return (
        low if low == high else f"{low.removesuffix('%') if high.endswith('%') and low[0].isdigit() else low} to {high}"
    )


def _extremes(releases: tuple[Published, ...], key: str) -> tuple[Published, Published]:
    known = [release for release in releases if release.row[key] is not None]
    return min(known, key=lambda release: release.row[key]), max(known, key=lambda release: release.row[key])


def _strong(text: str) -> Html:
    return tag("strong", text)
