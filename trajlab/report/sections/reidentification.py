"""Who is singled out by a little knowledge, on true, protected and recovered traces."""

from __future__ import annotations

import math
from itertools import groupby
from typing import Any

import polars as pl

from trajlab.report import exposure, words
from trajlab.report.contents import Contents, Published
from trajlab.report.drawing import charts
from trajlab.report.drawing.bars import Bar, Groups
from trajlab.report.evidence import Answer, figure
from trajlab.report.findings import Finding
from trajlab.report.markup import Child, Html, join, tag
from trajlab.report.page import tabs
from trajlab.report.questions import HEADS, Questions, count_targets, interval, share

TITLE = "Who is singled out"
POSITION = 60
NEEDS = "nobody has asked who is singled out: trajlab risk LAB top:2 points:4 --release RELEASE"
TERMS = {
    "Singled out": "Exactly one of the traces searched fits what is known of a person, and it is that person's own. "
    "Shares are of everybody looked for; their 95% intervals are Wilson's.",
    "Crowd": "All traces that fit what is known of a person, their own among them: the anonymity set, of size k. "
    "Where their own does not fit, as happens among recovered tracks, a person hides in no crowd and is not at risk.",
    "Top places and points": "Top places are the cells where a trace is most often. A point is a cell in one slot, "
    "drawn at random from what the person visited. Worst: of all combinations of so many places or visits, the one "
    "that leaves the person in the smallest crowd.",
    "Blind guess": "Picking one of the traces searched without knowing anything: right once in as many as there are.",
    "Risk": "Chance to pick the right trace from the crowd: 1 / k, and 0 for whoever hides in none. The worst tenth "
    "are the people of a group with the highest.",
    "Protected traces": "A protection such as cut:6h gives everybody a fresh id in every window of time. "
    "Each piece of a person then counts as a person of its own.",
}
MOST = 8
"""Releases that get a panel."""
LINES = 6
"""Questions that get a line."""
ABREAST = 5
"""Kinds of knowledge that one chart of bars has room for on a narrow screen."""

CURVE = """\
select curve.risk_id, k, curve.people, at_most, share
from report.crowd_size as curve join report.reidentification using (release_id, risk_id)
where release_id = $release_id order by rank, k"""

_WHY = (
    "About the traces behind the table, which would have to leak or be recovered first: protecting counts changes "
    "nothing here. "
    "A trace without a name still tells where somebody goes. Whoever knows a little of a person, two places perhaps, "
    "looks for the traces that fit; where one alone does, it is that person's, with everything else that is in it."
)


def render(contents: Contents) -> Html | None:
    panels = [(release.name, panel) for release in contents.releases if (panel := _panel(contents, release))]
    return join(tag("p", _WHY), tabs("reidentification", panels, most=MOST)) if panels else None


def findings(contents: Contents) -> list[Finding]:
    """The most that any question found, of tracks recovered from the table and of the traces behind it."""
    found = [questions for release in contents.releases if (questions := Questions.of(contents, release))]
    leads = [(questions, row) for questions in found for row in questions.leads]
    chosen = [
        max((lead for lead in leads if lead[1]["about"] == about), key=lambda lead: share(lead[1]), default=None)
        for about in ("table", "traces")
    ]
    return [_finding(*lead) for lead in chosen if lead is not None]


def _finding(questions: Questions, row: dict[str, Any]) -> Finding:
    sentence = [
        f"of {count_targets(row)} in the {questions.traces[row['searched_id']]} are singled out by whoever knows ",
        tag("strong", questions.knowledge[row["risk_id"]]), " of them.",
    ]  # fmt: skip
    yardsticks = {"a blind guess": row["blind_guess"]}
    return Finding(row["unique_share"], sentence, row["low"], row["high"], yardsticks, row["about"])


def _panel(contents: Contents, release: Published) -> Html | None:
    questions = Questions.of(contents, release)
    if questions is None:
        return None
    return join(
        tag("p", _summary(questions), cls="lede"),
        _sentences(questions),
        tag("p", " ".join(questions.notes), cls="note"),
        _unique(questions, release),
        _curve(contents.load_answer(CURVE, release_id=release.id), questions, release),
        exposure.cells(contents, questions, release),
        exposure.hours(contents, questions, release),
        exposure.groups(contents, questions),
    )


def _summary(questions: Questions) -> Child:
    """The finding in words: the worst question, what a blind guess gives, and the same elsewhere."""
    lead = questions.lead
    parts: list[Child] = [
        f"Of {count_targets(lead)} in the {questions.traces[lead['searched_id']]}, ",
        tag("mark", words.share(lead["unique_share"])), " are singled out by whoever knows ",
        tag("strong", questions.knowledge[lead["risk_id"]]), f" of them (95% interval {interval(lead)}). ",
        f"A blind guess is right once in {words.number(lead['traces'])}. ",
    ]  # fmt: skip
    here, *others = questions.same_question(questions.compared)
    if not others:
        return parts
    elsewhere = [
        f"{words.share(row['unique_share'])} ({interval(row)}) of {count_targets(row)} "
        f"in the {questions.traces[row['searched_id']]}"
        for row in others[: charts.SERIES - 1]
    ]
    if here is lead:
        return [*parts, f"Knowing that singles out {words.join_list(elsewhere)}."]
    first = f"{words.share(here['unique_share'])} of the same"
    return [
        *parts,
        f"Knowing {questions.knowledge[here['risk_id']]} singles out {words.join_list([first, *elsewhere])}.",
    ]


def _unique(questions: Questions, release: Published) -> Html:
    drawn = list(questions.traces)[: charts.SERIES]
    found = {(questions.knowledge[row["risk_id"]], row["searched_id"]): row for row in questions.rows}
    kinds = list(dict.fromkeys(questions.knowledge[row["risk_id"]] for row in questions.rows))
    groups = [(kind, [_bar(found.get((kind, traces))) for traces in drawn]) for kind in kinds]
    size = math.ceil(len(groups) / math.ceil(len(groups) / ABREAST))
    text = f"Share of people singled out by what is known of them, {release.name}"
    names = [questions.traces[traces] for traces in drawn]
    sheets = [Groups(text, names, groups[n : n + size], marks=[_GUESS], most=1.0) for n in range(0, len(groups), size)]
    more = len(questions.traces) - len(drawn)
    left = f" The first {len(drawn)} sets of traces are drawn; {more} more are in the table." if more > 0 else ""
    return figure(
        "Singled out, by what is known",
        [charts.legend(sheets[0].legend), [charts.both(sheet.drawing) for sheet in sheets]],
        questions.answer.drop("release_id", "risk_id", "rank", "protection", "exposing_cells", "exposing_slots"),
        note="Share of people whose own trace is the only one that fits. Lines on bars are 95% intervals; the stroke "
        f"is what a blind guess gives.{left}",
        show=questions.show,
        heads=HEADS,
    )


_GUESS = "a blind guess"


def _sentences(questions: Questions) -> Child:
    """Every answer in words, a line for each set of traces."""
    order = list(questions.traces)
    rows = sorted(questions.rows, key=lambda row: order.index(row["searched_id"]))
    lines = []
    for traces, of_traces in groupby(rows, key=lambda row: str(row["searched_id"])):
        answers = list(of_traces)
        parts = [
            f"{words.share(row['unique_share'])} ({interval(row)}) by {questions.knowledge[row['risk_id']]}"
            for row in answers[:LINES]
        ]
        more = len(answers) - len(parts)
        parts += [f"{words.count(more, 'more answer')} below"] if more else []
        name = questions.traces[traces]
        head = tag("strong", f"{name[:1].upper()}{name[1:]}")
        lines.append(tag("li", head, f", of {count_targets(*answers)}: {words.join_list(parts)}."))
    more = len(lines) - charts.SERIES
    left = tag("li", f"{words.count(more, 'more set')} of traces in the table below.") if more > 0 else None
    return tag("ul", lines[: charts.SERIES], left)


def _curve(answer: Answer, questions: Questions, release: Published) -> Html | None:
    if not len(answer.frame):
        return None
    first = questions.knowledge[questions.compared["risk_id"]]
    ranked = sorted(
        questions.rows,
        key=lambda row: (questions.knowledge[row["risk_id"]] != first, -len(questions.same_question(row))),
    )
    drawn = ranked[:LINES]
    steps = {row["risk_id"]: answer.frame.filter(risk_id=row["risk_id"]).select("k", "share").rows() for row in drawn}
    most = max((k for curve in steps.values() for k, _ in curve), default=1)
    end = math.log10(max(most, 10)) * 1.02
    series: dict[str, charts.Points] = {questions.name_of(row): _steps(steps[row["risk_id"]], end) for row in drawn}
    more = len(questions.rows) - len(drawn)
    left = f" {words.count(len(drawn), 'question')} of {len(questions.rows)} are drawn; the query gives all."
    return figure(
        "How large a crowd hides people",
        charts.lines(
            f"Share of people by the size of the crowd they hide in, {release.name}",
            series,
            charts.Axis(0, end, _ticks(end), say=lambda x: f"in a crowd of {words.number(_size(x))} or fewer"),
            say=words.share,
        ),
        answer,
        note="Share of people who hide among at most so many traces that fit what is known of them, their own "
        "included; on the left, those who are singled out. Each step to the right is so many times more, not so "
        f"many more. A line that ends below 100% leaves people whose own trace does not fit.{left if more else ''}",
        show=questions.show,
    )


def _steps(curve: list[tuple[int, float]], end: float) -> charts.Points:
    """The curve at even steps of the logarithm, which is how the axis is drawn."""
    known = pl.DataFrame(curve, schema={"k": pl.Int64, "share": pl.Float64}, orient="row")
    places = [end * n / 100 for n in range(101)]
    at = pl.DataFrame({"x": places, "k": [_size(x) for x in places]}).set_sorted("k")
    joined = at.join_asof(known.set_sorted("k"), on="k", strategy="backward")
    return list(joined.select("x", pl.col("share").fill_null(0.0)).iter_rows())


def _size(x: float) -> int:
    return int(10**x * (1 + 1e-9))


def _ticks(end: float) -> list[tuple[float, str]]:
    times = (1, 2, 5) if end < 2.2 else (1,)
    sizes = [m * 10**power for power in range(math.ceil(end) + 1) for m in times]
    return [(math.log10(size), words.number(size)) for size in sizes if math.log10(size) <= end]


def _bar(row: dict[str, Any] | None) -> Bar:
    if row is None:
        return Bar(None)
    return Bar(row["unique_share"], row["low"], row["high"], {_GUESS: row["blind_guess"]})
