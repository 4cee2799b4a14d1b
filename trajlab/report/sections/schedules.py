"""What crowds give away of people's weekly schedules: by the size of the crowd, as curves, and slot by slot."""

from __future__ import annotations

from typing import Any

from trajlab.report import words
from trajlab.report.contents import Contents, Published
from trajlab.report.drawing import charts
from trajlab.report.evidence import Answer, block, figure, table
from trajlab.report.findings import Finding
from trajlab.report.markup import Child, Html, join, tag
from trajlab.report.page import tabs
from trajlab.risk.run import describe_basis

TITLE = "What weekly schedules give away"
POSITION = 65
NEEDS = (
    "weekly schedules have not been asked for, which takes weeks of records: trajlab schedule LAB "
    "grid:60min --release RELEASE"
)
TERMS = {
    "Habit": "A place where somebody is in the same slot of the week, in more than a stated share of the weeks (0.6 "
    "unless said otherwise). The place of a week is the one with most records in the slot.",
    "Sensitive slot": "A slot in which a person's habit is the most frequent in the crowd that fits what is known of "
    "them, more frequent than having none. Whoever guesses the habit of the crowd is right about the person.",
    "Disclosed": "Totally: every habit of the person is sensitive. Partly: some are. Hidden: none is. "
    "Shares are of people in crowds of at least the stated size; others are left out.",
    "Attack probability": "The largest chance, over all slots of the week, to meet any member of the crowd, in any "
    "week, at its likeliest place (prob-m).",
    "Effective schedules": "How many different schedules a crowd is worth: two to the power of their entropy. "
    "One means that all have the same (l-diversity).",
}
MOST = 8
"""Releases that get a panel."""
LINES = {
    "prob_m": "attack probability",
    "ssr": "sensitive slots of all slots",
    "ntr": "slots with a habit",
    "ssr_ntr": "sensitive of those with a habit",
}
QUESTIONS = """\
from report.schedule_answer
where release_id = $release_id order by rank"""
DISCLOSED = """\
from report.disclosed_by_size
where leak_id = $leak_id order by min_k"""
CURVE = """\
select metric, threshold, share from metrics.leak_curve
where leak_id = $leak_id and min_k = $min_k and metric in ('prob_m', 'ssr', 'ntr', 'ssr_ntr')
order by metric, threshold"""
BY_SLOT = """\
select slot_name, people, habits, sensitive, share, chance
from report.sensitive_slot where leak_id = $leak_id and min_k = $min_k
order by number"""
EXTRACTED = """\
select slot_name, lessons, usual_places, matched, habits, habits_matched
from report.extracted_schedule where leak_id = $leak_id
order by number"""
KINDS = ("totally disclosed", "partly disclosed", "hidden", "no habits")

_WHY = (
    "About the traces behind the table, which would have to leak first. "
    "A crowd hides who somebody is, not what its members have in common. Where everybody who fits what is known of a "
    "person spends Tuesday afternoon in one building, so does that person, whoever it is (Ma et al., 2017)."
)
_DISCLOSED = ("totally_disclosed", "partly_disclosed", "not_disclosed", "without_habits", "disclosed_share")
_HEADS = {"slot_name": "Slot"}
_SHARES = dict.fromkeys(
    ("measured", *_DISCLOSED, "low", "high", "prob_m", "ssr", "ntr", "share", "chance"), words.share
)


def render(contents: Contents) -> Html | None:
    panels = [(release.name, panel) for release in contents.releases if (panel := _panel(contents, release))]
    return join(tag("p", _WHY), tabs("schedules", panels, most=MOST)) if panels else None


def findings(contents: Contents) -> list[Finding]:
    """The most that the first question about any release found."""
    found = []
    for release in contents.releases:
        questions = contents.load_answer(QUESTIONS, release_id=release.id).frame
        if not len(questions):
            continue
        lead = questions.row(0, named=True)
        score = contents.load_answer(DISCLOSED, leak_id=lead["leak_id"]).frame.filter(min_k=lead["min_k"])
        found += [lead | row for row in score.iter_rows(named=True)]
    return [_finding(max(found, key=lambda row: float(row["disclosed_share"])))] if found else []


def _finding(row: dict[str, Any]) -> Finding:
    crowd = f"a crowd of {words.number(row['min_k'])} or more"
    sentence = [
        f"of {words.people(row['people'])} who hide in {crowd} from whoever knows ",
        tag("strong", words.count(row["points"], "point")),
        " of them have a weekly schedule that the crowd gives away at least in part.",
    ]  # fmt: skip
    yardsticks = {"one picked from the crowd": 1 / row["min_k"], "given away totally": row["totally_disclosed"]}
    return Finding(row["disclosed_share"], sentence, row["low"], row["high"], yardsticks, about=row["about"])


def _panel(contents: Contents, release: Published) -> Html | None:
    questions = contents.load_answer(QUESTIONS, release_id=release.id)
    if not len(questions.frame):
        return None
    lead = questions.frame.row(0, named=True)
    which = {"leak_id": lead["leak_id"], "min_k": lead["min_k"]}
    return join(
        tag("p", _summary(lead), cls="lede"),
        tag("p", words.upper_first(f"{describe_basis(lead['about'], lead['basis'])}."), cls="note"),
        _sizes(contents.load_answer(DISCLOSED, leak_id=lead["leak_id"]), release),
        _curves(contents.load_answer(CURVE, **which), lead, release),
        _slots(contents.load_answer(BY_SLOT, **which), lead, release),
        _extracted(contents.load_answer(EXTRACTED, leak_id=lead["leak_id"])),
        _every(questions) if len(questions.frame) > 1 else None,
    )


def _summary(lead: dict[str, Any]) -> Child:
    skipped = (
        f" ({words.count(lead['skipped_weeks'], 'week')} without any data left out)" if lead["skipped_weeks"] else ""
    )
    parts: list[Child] = [
        f"Over {words.count(lead['weeks'], 'week')}{skipped} of {words.count(lead['slots'], 'slot')} each, ",
        f"knowing {words.count(lead['points'], 'point')} of a person leaves a crowd of {lead['min_k']} or more for ",
        tag("strong", words.share(lead["measured"])), f" of {words.people(lead['people'])}. ",
    ]  # fmt: skip
    if lead["totally_disclosed"] is None:
        return [*parts, "There is no crowd of that size to learn schedules from."]
    return [
        *parts,
        "Of these, the schedules of ", tag("mark", words.share(lead["totally_disclosed"])), " are totally and of ",
        tag("mark", words.share(lead["partly_disclosed"])), " partly disclosed. The mean attack probability is ",
        tag("strong", words.share(lead["prob_m"])), f"; {words.share(lead['ntr'])} of slots hold a habit and ",
        f"{words.share(lead['ssr'])} a sensitive one.",
    ]  # fmt: skip


def _sizes(answer: Answer, release: Published) -> Html | None:
    if not len(answer.frame):
        return None
    rows = [
        (
            f"Crowds of {row['min_k']} or more: {words.people(row['people'])}",
            [row[name] for name in _DISCLOSED[:4]],
        )
        for row in answer.frame.iter_rows(named=True)
    ]
    return figure(
        "Disclosed schedules, by the size of the crowd",
        charts.shares(f"Shares of people by what is disclosed, {release.name}", rows, KINDS, of="of people are"),
        answer.drop("leak_id"),
        note="Larger crowds hide who somebody is better; whether they hide the schedule is what is drawn here.",
        show=_SHARES,
    )


def _curves(answer: Answer, lead: dict[str, Any], release: Published) -> Html | None:
    if not len(answer.frame):
        return None
    series: dict[str, charts.Points] = {
        name: _steps(answer.frame.filter(metric=metric).select("threshold", "share").rows())
        for metric, name in LINES.items()
    }
    return figure(
        "How people are distributed",
        charts.lines(
            f"Share of people with at most a value, {release.name}",
            series,
            charts.Axis(
                0, 1, [(n / 5, words.share(n / 5)) for n in range(6)], say=lambda x: f"{words.share(x)} or less"
            ),
            say=words.share,
        ),
        answer,
        note=f"Share of people, in crowds of {lead['min_k']} or more, with at most the value below. Where the lines of "
        "sensitive slots and of slots with a habit lie close, most habits can be guessed.",
        show=_SHARES,
    )


def _steps(curve: list[tuple[float, float]]) -> charts.Points:
    """The cumulative share at every hundredth."""
    known = {round(100 * value): share for value, share in curve}
    points, share = [], 0.0
    for n in range(101):
        share = known.get(n, share)
        points.append((n / 100, share))
    return points


def _slots(answer: Answer, lead: dict[str, Any], release: Published) -> Html | None:
    if not len(answer.frame):
        return None
    return figure(
        "Which slots of the week give people away",
        charts.columns(
            f"Share of people for whom a slot is sensitive, {release.name}",
            answer.frame.select("slot_name", "share").rows(),
            say=words.share,
        ),
        answer,
        note=f"Share of people, in crowds of {lead['min_k']} or more, whose habit in the slot is the crowd's.",
        show=_SHARES,
        heads=_HEADS,
    )


def _extracted(answer: Answer) -> Html | None:
    if not len(answer.frame):
        return None
    sums = answer.frame.select("lessons", "usual_places", "matched").sum().row(0)
    lessons, found, matched = (words.number(value) for value in sums)
    return figure(
        "Schedules read from records, beside true timetables",
        tag(
            "p",
            f"{matched} of {lessons} true lessons are the usual place of whoever has them; {found} usual places "
            "are where anything is taught.",
        ),
        answer,
        note="Over people whose timetable is known. Kept are those that are habits.",
        heads=_HEADS,
    )


def _every(questions: Answer) -> Html:
    caption = "Every question about schedules of this release"
    return block(table(caption, questions.frame.drop("release_id", "leak_id", "rank"), show=_SHARES), questions)
