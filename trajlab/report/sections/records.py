"""What went in: files, rows kept and refused, people, and records per day."""

from __future__ import annotations

import datetime as dt

from trajlab.report import words
from trajlab.report.contents import Contents
from trajlab.report.drawing import charts
from trajlab.report.evidence import Answer, block, figure, table
from trajlab.report.markup import Html, join, tag

TITLE = "Input"
POSITION = 80
TERMS = {
    "Records": "Rows of the input that were kept after cleaning: somebody was somewhere at some moment.",
    "Refused": "Rows of the input that were not kept, each with its reason; kept and refused add up to all rows.",
}

OUTCOMES = """\
from report.input_outcome
order by kind, outcome <> 'kept', rows desc, outcome"""
PEOPLE = "select count(*) as people from records.person"
DAILY = "from report.records_per_day order by local_date"
_MOST_BARS = 70
_HEADS = {"tz": "Time zone", "rows_kept": "Kept", "rows_refused": "Refused", "files": "Files, folders or frames"}


def render(contents: Contents) -> Html | None:
    sources = contents.sources
    if not len(sources.frame):
        return None
    daily, outcomes = contents.load_answer(DAILY), contents.load_answer(OUTCOMES)
    return join(
        tag("p", _summary(contents, daily)),
        block(table("Sources", sources.frame, heads=_HEADS), sources),
        block(table("What became of the rows", outcomes.frame, show={"share": words.share}), outcomes),
        _daily(daily) if len(daily.frame) else None,
    )


def _summary(contents: Contents, daily: Answer) -> str:
    people = words.people(contents.load_answer(PEOPLE).frame["people"][0])
    frame = contents.sources.frame
    kept, refused = int(frame["rows_kept"].sum()), int(frame["rows_refused"].sum())
    when = f", {words.between(*_ends(daily))}" if len(daily.frame) else ""
    gone = f"{words.number(refused) if refused else 'No'} {'row was' if refused == 1 else 'rows were'} refused."
    return f"{words.count(kept, 'record')} of {people}{when}. {gone}"


def _daily(daily: Answer) -> Html:
    first, last = _ends(daily)
    length = (last - first).days + 1
    step = next(days for days in (1, 7, 28, 364, length) if length <= days * _MOST_BARS)
    sums = [0] * (-(-length // step))
    for day, records in daily.frame.iter_rows():
        sums[(day - first).days // step] += records
    starts = [first + dt.timedelta(days=step * n) for n in range(len(sums))]
    bars = [(_label(day, step), float(total)) for day, total in zip(starts, sums, strict=True)]
    per = "day" if step == 1 else f"{step} days"
    return figure(
        f"Records per {per}",
        charts.columns(f"Records per {per}, local time", bars),
        daily,
        note="Local days of each source.",
        show={"local_date": str},
        heads={"local_date": "Day"},
    )


def _ends(daily: Answer) -> tuple[dt.date, dt.date]:
    days: list[dt.date] = daily.frame["local_date"].to_list()
    return days[0], days[-1]


def _label(day: dt.date, step: int) -> str:
    return f"{day:%a} {day.day} {day:%b}" if step == 1 else f"{day.day} {day:%b} {day.year}"
