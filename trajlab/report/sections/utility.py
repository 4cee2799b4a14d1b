"""What is left of flows between zones when cells are generalised, and what that protects."""

from __future__ import annotations

from typing import Any

import polars as pl

from trajlab.report import flowmap, naming, words
from trajlab.report.contents import Contents
from trajlab.report.drawing.curves import Curves
from trajlab.report.evidence import Answer, Show, block, figure, table
from trajlab.report.findings import Finding
from trajlab.report.markup import Child, Html, join, tag
from trajlab.report.page import tabs
from trajlab.report.tradeoffs import FLOWS, MEASURES, by_kind, loss_by_risk, loss_by_size, risk_by_size
from trajlab.risk.run import describe_basis

TITLE = "What protection costs"
POSITION = 65
NEEDS = "nothing has been compared: trajlab utility LAB square:2000 --zones h3:7 --release RELEASE"
TERMS = {
    "Movement": "Two consecutive records of a person in different cells; constrained where a plausible time for one "
    "trip lies between them. Flows between zones are movements, shared out among zones by area at both ends.",
    "Loss": "Sum of what generalising cells changes in the flows between zones, by their sum before: 0 where nothing "
    "changes, 2 where every movement is somewhere else. A movement that is elsewhere counts twice, where it was and "
    "where it is, so that a loss of 100% misplaces 50 of 100 trips. For the common part of commuters, the share that "
    "is not common.",
    "Major flows": "The largest flows that make up 80% of everything (Pareto); flows that stand out among those of "
    "their origin or destination (backbone); flows from or to the busiest zones (hotspot).",
    "Error of the published table": "Sum of what protecting counts changes in the table, row by row, by its true sum; "
    "a row that is not published counts as nobody. Moved on the map: how far people are moved on average, where both "
    "tables are divided by their sums (earth mover's distance).",
    "Curve of risk and loss": "loss = -a risk^b + c through the generalisations of a trade-off. The larger b, the "
    "more the first steps of protection cost.",
}
MOST = 4
"""Trade-offs that get a panel."""

TRADEOFFS = """\
from report.tradeoff
order by generalisations desc, release_id, tradeoff_id"""
POINTS = """\
from report.tradeoff_point
where tradeoff_id = $tradeoff_id order by rank"""
CURVES = """\
from report.tradeoff_curve
where tradeoff_id = $tradeoff_id
order by zones_name, flows desc, measure, b nulls last, knowledge"""
LOSSES = """\
from report.utility_loss
order by zones_name, release_id, generalised_to, utility_id, flows desc, measure"""

ERRORS = """\
select release_id, recipe, min_count, published_table, relative_error, hidden_share, hidden_row_share, total_bias,
    rank_correlation, busiest_overlap, distance_m
from report.count_error order by release_id, unprotected_id, published_table desc"""

_NAMES = {"zones_name": "zones"}
"""What the frames of `Tradeoff`, which are drawn as well, call it."""

_WHY = (
    "Larger cells hide people, and blur where they go. Flows between zones are what planners make of such data: each "
    "step below publishes larger cells, asks how many people are still singled out, and how much of the flows is lost."
)


def render(contents: Contents) -> Html | None:
    losses, errors = contents.load_answer(LOSSES), contents.load_answer(ERRORS)
    if not len(losses.frame):
        return _errors(contents, errors) if len(errors.frame) else None
    tradeoffs = contents.load_answer(TRADEOFFS).frame
    panels = [
        (_name(contents, row["release_id"], row["generalisations"]), _panel(contents, row["tradeoff_id"], row["basis"]))
        for row in tradeoffs.iter_rows(named=True)
    ]
    shown = losses.drop("release_id", "utility_id").rename(_NAMES).frame
    drawn = tabs("utility", panels, most=MOST) if panels else None
    return join(
        _errors(contents, errors) if len(errors.frame) else None,
        tag("p", _WHY),
        drawn or block(table("Loss of utility", shown, show=_SHOW), losses),
    )


def _errors(contents: Contents, errors: Answer) -> Html:
    """What protections did to the published tables themselves."""
    people = errors.frame.filter(published_table="occupancy").sort("relative_error", descending=True)
    first = people.row(0, named=True) if len(people) else None
    said: list[Child] = []
    if first is not None:
        rest = (
            f" of its sum at most ({words.lower_first(contents.name_of(first['release_id']))}: {_protection(first)}); "
            f"{words.share(first['hidden_share'])} of the people in its cells are not published. These are errors of "
            "the published table, slot by slot; nobody's trace is looked at."
        )
        said = ["Protecting counts changes the published table by "]
        said += [tag("mark", words.share(first["relative_error"])), rest]
    shown: Show = {
        "release_id": contents.name_of,
        "published_table": lambda name: _TABLES[name],
        **dict.fromkeys(("relative_error", "hidden_share", "hidden_row_share", "busiest_overlap"), words.share),
        "total_bias": _signed,
        "rank_correlation": lambda value: words.number(value, 2),
        "distance_m": lambda length: words.NOTHING if length is None else words.metres(length),
    }
    heads = {
        "release_id": "Release",
        "published_table": "Of",
        "hidden_share": "People hidden",
        "hidden_row_share": "Rows hidden",
        "total_bias": "Bias of the total",
        "busiest_overlap": "Busiest tenth found",
        "distance_m": "Moved on the map",
    }
    protections = pl.Series("protection", [_protection(row) for row in errors.frame.iter_rows(named=True)])
    frame = errors.frame.drop("recipe", "min_count").insert_column(1, protections)
    rows = table("Published tables beside those they were made from", frame, show=shown, heads=heads)
    return block(
        join(tag("h3", "The error of the published table"), tag("p", said, cls="note") if said else None, rows), errors
    )


_TABLES = {"occupancy": "People in cells", "flow": "People who change cells"}


def _protection(row: dict[str, Any]) -> str:
    return str(row["recipe"]) or f"below {row['min_count']} left out"


def _signed(value: float | None) -> str:
    return words.share(value) if value is None or value >= 0 else f"\N{MINUS SIGN}{words.share(-value)}"


def findings(contents: Contents) -> list[Finding]:
    """What the largest cells of the longest trade-off leave of the risk, and what they cost."""
    tradeoffs = contents.load_answer(TRADEOFFS).frame
    if not len(tradeoffs):
        return []
    first, last = _ends(contents.load_answer(POINTS, tradeoff_id=tradeoffs["tradeoff_id"][0]).rename(_NAMES).frame)
    if not len(last.drop_nulls("risk")):
        return []
    row = last.drop_nulls("risk").sort("risk", descending=True, maintain_order=True).row(0, named=True)
    who = "frequent users" if tradeoffs["scope"][0] == "frequent" else "people"
    sentence = [
        f"of {words.number(row['people'])} {who} are still singled out by ",
        tag("strong", naming.knowledge(row["knowledge"])), f" in {words.lower_first(words.cells(row['index_name']))}",
        f"; {_lost(row)} (both are counted whole: there is no interval)." if row["loss"] is not None else ".",
    ]  # fmt: skip
    before = first.filter(knowledge=row["knowledge"])["risk"].item()
    return [Finding(row["risk"], sentence, row["low"], row["high"], {"in the release itself": before})]


def _ends(points: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The release itself and its largest cells, a row an adversary, by the first zones, flows and measure."""
    one = points.filter(flows=points["flows"][0], measure=points["measure"][0], zones=points["zones"][0])
    last = one.filter(pl.col("step") > 0).sort("size_m", "step")["step"][-1]
    return one.filter(step=0), one.filter(step=last)


_SHOW: Show = {
    "generalised_to": words.cells,
    "zones": lambda name: words.cells(name) if ":" in name else name,
    "measure": lambda name: MEASURES[name],
    "flows": lambda name: FLOWS[name],
    "knowledge": naming.knowledge,
    "index_name": words.cells,
    **dict.fromkeys(("loss", "common_part", "misplaced", "missing", "added", "risk", "low", "high"), words.share),
}


def _name(contents: Contents, release_id: str, steps: int) -> str:
    return f"{contents.name_of(release_id)}, {words.count(steps, 'generalisation')}"


def _panel(contents: Contents, tradeoff_id: str, basis: str) -> Html:
    points = contents.load_answer(POINTS, tradeoff_id=tradeoff_id).drop("tradeoff_id", "rank").rename(_NAMES)
    fits = contents.load_answer(CURVES, tradeoff_id=tradeoff_id).drop("tradeoff_id").rename(_NAMES)
    frame = points.frame
    flows, measure = frame["flows"][0], frame["measure"][0]
    drawn = [
        loss_by_risk(frame, fits.frame, known, flows, measure)
        for known in frame["knowledge"].unique(maintain_order=True)
    ]
    zones = frame["zones"].unique(maintain_order=True)
    first = frame.filter(knowledge=frame["knowledge"][0])
    return join(
        tag("p", _summary(frame), cls="lede"),
        tag("p", words.upper_first(f"{describe_basis('traces', basis)}."), cls="note"),
        [_figure(f"Singled out, by the size of {cells}", risk_by_size(part), points) for cells, part in by_kind(frame)],
        [
            _figure(
                f"Lost, by the size of {cells}: {FLOWS[kind]}, between {words.cells(name)}",
                loss_by_size(part, name),
                points,
            )
            for name in zones
            for kind in first["flows"].unique(maintain_order=True)
            for cells, part in by_kind(first.filter(zones=name, flows=kind))
        ],
        flowmap.between(contents, tradeoff_id, zones[0], flows),
        [
            _figure(
                f"{MEASURES[measure]}, {FLOWS[flows]}: lost, by the share singled out by {naming.knowledge(known)}",
                chart,
                fits,
            )
            for known, chart in zip(frame["knowledge"].unique(maintain_order=True), drawn, strict=True)
        ],
    )


def _figure(title: str, chart: Curves, answer: Answer) -> Html:
    return figure(title, chart.html(), answer, show=_SHOW)


def _summary(points: pl.DataFrame) -> Child:
    """Where the largest cells lead, beside the release itself."""
    first, last = _ends(points)
    fall = [
        f"from {words.share(start)} to {words.share(end)} by {naming.knowledge(name)}"
        for name, start, end in zip(first["knowledge"], first["risk"], last["risk"], strict=True)
    ]
    lost = last.row(0, named=True)
    larger = words.cells(lost["index_name"])
    return [
        f"With {larger[:1].lower()}{larger[1:]}, people singled out fall {words.join_list(fall)}; ",
        tag("mark", _lost(lost) if lost["loss"] is not None else "no flow is left to compare"),
        f": a loss of {words.share(lost['loss'])} ({MEASURES[lost['measure']].lower()}, {FLOWS[lost['flows']]}).",
    ]


def _lost(row: dict[str, Any]) -> str:
    """How many of a hundred movements are elsewhere: a loss counts each twice, where it was and where it is."""
    return words.misplaced(row, noun=_TRIPS[row["measure"]])


_TRIPS = {
    "all": "trips",
    "pareto": "trips of the largest flows",
    "backbone": "trips of flows that stand out",
    "hotspot": "trips of busy zones",
    "commuters": "trips",
}
