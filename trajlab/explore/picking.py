"""Choosing a release, an attack run and an adversary's question, and what the last two came to."""

from __future__ import annotations

from collections.abc import Sequence

from trajlab.report import naming, words
from trajlab.report.contents import Contents, Published
from trajlab.report.drawing import charts
from trajlab.report.evidence import block, figure, table
from trajlab.report.markup import Child, Html, tag
from trajlab.report.questions import SHARES, Questions
from trajlab.report.runs import RUNS

SCORES = """\
select metric, level, pairing, people, estimate, low, high, shuffle, stay
from report.every_metric where run_id = $run_id and of = 'recovered'
order by metric, level, pairing"""
RISK = """\
select scope, metric, level, people, estimate, low, high
from metrics.risk where risk_id = $risk_id
order by scope, metric, level"""
CURVE = """\
select k, people, at_most, share
from report.crowd_size where risk_id = $risk_id
order by k"""


def form(contents: Contents, chosen: Published, part: str, choices: dict[str, str]) -> Html:
    """Three lists: changing one shows the page again."""
    releases = [(release.id, release.name) for release in contents.releases]
    runs = [("", "none in full"), *_runs(contents, chosen).items()]
    questions = [("", "none in full"), *_questions(contents, chosen).items()]
    return tag(
        "form",
        _list("Release", "release", releases, chosen.id),
        _list("Attack", "run", runs, choices.get("run", "")),
        _list("Adversary", "question", questions, choices.get("question", "")),
        tag("input", type="hidden", name="part", value=part),
        tag("button", "Show"),
        method="get",
        action=".",
        cls="pick",
    )


def run(contents: Contents, run_id: str) -> Html | None:
    """Every score of one run on the release chosen."""
    name = _runs(contents, contents.releases[0]).get(run_id)
    answer = contents.load_answer(SCORES, run_id=run_id)
    if name is None or not len(answer.frame):
        return None
    return block(table(f"Scores of {name}", answer.frame), answer)


def question(contents: Contents, risk_id: str) -> Child:
    """What one question came to, and how large a crowd it leaves people in."""
    name = _questions(contents, contents.releases[0]).get(risk_id)
    if name is None:
        return None
    answer, curve = (contents.load_answer(sql, risk_id=risk_id) for sql in (RISK, CURVE))
    steps = [(float(k), float(share)) for k, share in curve.frame.select("k", "share").iter_rows()]
    drawn = None
    if len(steps) > 1:
        last = steps[-1][0]
        axis = charts.Axis(1, last, [(1, "1"), (last, words.number(last))], say=lambda k: f"{k:.0f} or fewer")
        line = charts.lines(
            f"Share of people by the size of their crowd, {name}", {name: _filled(steps)}, axis, say=words.share
        )
        drawn = figure("How large a crowd hides people", line, curve, show=SHARES)
    return [block(table(f"Answer to: {name}", answer.frame), answer), drawn]


def _filled(steps: Sequence[tuple[float, float]], places: int = 200) -> charts.Points:
    """A curve of steps at even places, so that no step looks like a gap."""
    first, last = steps[0][0], steps[-1][0]
    at, n = [], 0
    for k in range(places + 1):
        x = first + (last - first) * k / places
        while n + 1 < len(steps) and steps[n + 1][0] <= x:
            n += 1
        at.append((x, steps[n][1]))
    return at


def _runs(contents: Contents, release: Published) -> dict[str, str]:
    return naming.runs(contents.load_answer(RUNS, release_id=release.id).frame.rows(named=True))


def _questions(contents: Contents, release: Published) -> dict[str, str]:
    questions = Questions.of(contents, release)
    return {} if questions is None else {row["risk_id"]: questions.name_of(row) for row in questions.rows}


def _list(label: str, name: str, options: Sequence[tuple[str, str]], chosen: str) -> Html:
    items = [tag("option", text, value=value, selected=value == chosen) for value, text in options]
    return tag("label", label, tag("select", items, name=name))
