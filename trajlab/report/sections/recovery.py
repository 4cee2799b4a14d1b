"""What an adversary recovers: how much of people's trajectories each attack gets back from the counts alone."""

from __future__ import annotations

from typing import Any

import polars as pl

from trajlab.report import words
from trajlab.report.contents import Contents, Published
from trajlab.report.drawing import charts
from trajlab.report.drawing.bars import Bar, Groups
from trajlab.report.evidence import Answer, block, figure, table
from trajlab.report.findings import Finding
from trajlab.report.markup import Child, Html, join, tag
from trajlab.report.page import tabs
from trajlab.report.runs import ACCURACY, RUNS, Runs, best_run

TITLE = "What an adversary recovers"
POSITION = 50
NEEDS = "no attack has run on this release: trajlab attack LAB dsilva2024 --release RELEASE"
TERMS = {
    "Recovered track": "What an attack takes for one person: a cell for every slot, made from the published counts "
    "alone. For the scores, tracks are paired with people one to one.",
    "Accuracy": "Share of slots in which a track is in the cell of the person it is paired with; mean over people. "
    "Nights and days are first paired one by one, then whole trajectories. Lines on bars are 95% intervals.",
    "Yardsticks": "What needs no skill: joining the slots at random (shuffle), and assuming that nobody moves unless "
    "the counts force it (stay). What an attack gets beyond them, it has learned about people.",
    "Control": "The same tracks, paired with people who are not meant: people who are not in the release, or where "
    "there are too few of them, the half of its people that tracks were not taken for. What chance alone gives.",
    "Confidence": "How sure an attack is of a position, by how many of its own samples agree with it and with the rest "
    "of the track. It is told without the truth; the share of such positions that is right stands beside it.",
    "Unique and distinct": "By the set of the one to five most frequent cells. Unique: share of tracks whose set no "
    "other track has. Distinct: number of different sets, divided by the number of tracks.",
    "Optimality gap": "How much less than the matching that an attack found any matching could cost at most, "
    "as a share of its cost. Zero proves that there is no better one.",
}
MOST = 8
"""Releases that get a panel."""
_DRAWN = charts.SERIES - 1
"""Runs that get a bar; one colour is for the truth."""
_EXACT = 0.001

ERRORS = """\
select run_id, metres, positions, share
from report.recovery_error where release_id = $release_id and pairing = $pairing
order by run_rank, metres"""

EXPOSED = """\
select run_id, of_their_slots, people, share
from report.people_recovered where release_id = $release_id and pairing = $pairing
order by run_rank, above desc"""
CLASSES = ("over 80%", "over half", "over a fifth", "a fifth or less")

SURE = """\
select run_id, decile, positions, confidence, accuracy, overall_accuracy
from report.confidence where release_id = $release_id and pairing = $pairing
order by run_rank, decile desc"""

UNIQUE = """\
select run_id, of, metric, cells_known, people, estimate, low, high
from report.unique_tracks where release_id = $release_id
order by metric desc, of, run_rank, cells_known"""

PROOF = """\
select run_id, phase, matchings, cost, proven_at_least, largest_gap
from report.matching_proof where release_id = $release_id
order by run_rank, phase desc"""

STAGES = {1: "Nights, one by one", 2: "Days, one by one", 3: "The whole period"}


def render(contents: Contents) -> Html | None:
    panels = [(release.name, panel) for release in contents.releases if (panel := _panel(contents, release))]
    return join(tag("p", _WHY), tabs("recovery", panels, most=MOST)) if panels else None


_WHY = (
    "About the published table: an adversary has the counts and nothing else, no name, no record, no known trace. An "
    "attack joins the counts of one slot to those of the next, and one day to the next, until every person counted has "
    "a track."
)


def findings(contents: Contents) -> list[Finding]:
    best = best_run(contents)
    if best is None:
        return []
    sentence = [
        "of slots: so often an adversary who has the counts and nothing else places a person in the right cell (",
        tag("strong", best.name), f", {words.lower_first(best.release.name)}).",
    ]  # fmt: skip
    row = best.score
    yardsticks = {"if nobody moved": row["stay"], "joined at random": row["shuffle"]}
    return [Finding(row["estimate"], sentence, row["low"], row["high"], yardsticks, about="table")]


def _panel(contents: Contents, release: Published) -> Html | None:
    found = contents.load_answer(RUNS, release_id=release.id)
    if not len(found.frame):
        return None
    runs = Runs.of(list(found.frame.iter_rows(named=True)))
    scored = {"release_id": release.id, "pairing": runs.pairing}
    accuracy = contents.load_answer(ACCURACY, **scored)
    unique = contents.load_answer(UNIQUE, release_id=release.id)
    best = runs.best(accuracy.frame)
    lead = best["run_id"] if best else next(iter(runs.names))
    more = len(runs.names) - _DRAWN
    return join(
        tag("p", _summary(best, unique.frame, runs), cls="lede"),
        _accuracy(accuracy, release, runs),
        _errors(contents.load_answer(ERRORS, **scored), release, runs, lead),
        _exposed(contents.load_answer(EXPOSED, **scored), release, runs, lead),
        _sure(contents.load_answer(SURE, **scored), release, runs),
        _unique(unique, release, runs),
        _proof(contents.load_answer(PROOF, release_id=release.id), runs),
        tag("p", f"The first {_DRAWN} runs are drawn; {more} more are in the tables.", cls="note")
        if more > 0
        else None,
    )


def _summary(best: dict[str, Any] | None, unique: pl.DataFrame, runs: Runs) -> Child:
    """The finding in words: how often the best attack is right, and how much of that needed no attack."""
    if best is None:
        return _summary_without_truth(unique, runs)
    parts: list[Child] = [
        "In this release an adversary places a person in the right cell in ",
        tag("mark", words.share(best["estimate"])),
        f" of slots ({runs.names[best['run_id']]}; 95% interval {_interval(best)}). ",
    ]
    if best["run_id"] not in runs.skilled:
        return [*parts, "Only yardsticks were run: no attack has been tried."]
    if best["stay"] is not None:
        parts += ["Assuming that nobody moves already gives ", tag("strong", words.share(best["stay"]))]
        parts += (
            [f", joining slots at random {words.share(best['shuffle'])}. "] if best["shuffle"] is not None else [". "]
        )
        parts.append(_verdict(best))
    if best["control"] is not None:
        parts.append(f" Against people who are not meant, chance alone gives {words.share(best['control'])}.")
    return parts


def _verdict(best: dict[str, Any]) -> str:
    if best["low"] > best["stay"]:
        return "The difference is what the attack has learned about how people move."
    if best["high"] < best["stay"]:
        return "The attack does worse than that: it has learned nothing about how people move."
    return "That is as much within the uncertainty: the attack adds nothing that can be told from chance."


def _summary_without_truth(unique: pl.DataFrame, runs: Runs) -> Child:
    two = unique.filter(of="recovered", metric="unique_share", cells_known=2)
    text = "Somebody else published these counts, and the lab does not know who was where: how right the recovered "
    text += "tracks are cannot be said. "
    if not len(two):
        return text
    first = two.row(0, named=True)
    return [
        text, "Of the tracks of ", runs.names[first["run_id"]], ", ", tag("strong", words.share(first["estimate"])),
        " have two most frequent cells that no other track has. Tracks joined at random are shown beside them.",
    ]  # fmt: skip


def _accuracy(answer: Answer, release: Published, runs: Runs) -> Html | None:
    if not len(answer.frame):
        return None
    found = {(row["run_id"], row["level"]): row for row in answer.frame.iter_rows(named=True)}
    stages = {stage: name for stage, name in STAGES.items() if stage in answer.frame["level"]}
    groups = [(name, [_bar(found.get((run, stage))) for run in _drawn(runs)]) for stage, name in stages.items()]
    chart = Groups(f"Accuracy by stage, {release.name}", _series(runs), groups, most=1.0)
    return figure(
        "Slots in the right cell",
        chart.html(),
        answer,
        note="Accuracy after each stage of the recovery: nights by themselves, whole days by themselves, and all days "
        f"linked into one trajectory. Tracks and people are paired by the {runs.pairing} pairing. Control, in the "
        "table, is the accuracy over the whole period against people who are not meant: what chance alone gives.",
        show={**runs.show, "level": lambda stage: STAGES.get(stage, str(stage))},
        heads={"level": "Stage"},
    )


def _errors(answer: Answer, release: Published, runs: Runs, lead: str) -> Html | None:
    if not len(answer.frame):
        return None
    distances = answer.frame["metres"].unique().sort().to_list()
    done = answer.frame.group_by("metres").agg(pl.col("share").min()).filter(pl.col("share") >= 0.9995)["metres"]
    shown = [m for m in distances if not len(done) or m <= done.to_numpy().min()]
    place = {metres: n for n, metres in enumerate(shown)}
    labels = [(n, words.metres(m) if m else "0") for m, n in place.items() if n % 2 == 0]
    axis = charts.Axis(
        0,
        max(len(shown) - 1, 1) * 1.04,
        labels,
        say=lambda n: f"at most {words.metres(shown[min(int(n), len(shown) - 1)])}",
    )
    series: dict[str, charts.Points] = {
        runs.names[run]: [
            (float(place[m]), share)
            for m, share in answer.frame.filter(run_id=run).select("metres", "share").iter_rows()
            if m in place
        ]
        for run in _drawn(runs)
    }
    within = dict(answer.frame.filter(run_id=lead).select("metres", "share").iter_rows())
    return figure(
        "How far off",
        charts.lines(
            f"Share of recovered points by distance from the truth, {release.name}", series, axis, say=words.share
        ),
        answer,
        note=f"Share of recovered points, one person in one slot, that are at most so far from the truth. With "
        f"{runs.names[lead]}, {words.share(within.get(0))} are in the right cell and "
        f"{words.share(1 - within.get(1000, 0.0))} more than one kilometre off. The distances grow in steps, "
        "not evenly.",
        show=runs.show,
    )


def _exposed(answer: Answer, release: Published, runs: Runs, lead: str) -> Html | None:
    if not len(answer.frame):
        return None
    shares = {(row["run_id"], row["of_their_slots"]): row["share"] for row in answer.frame.iter_rows(named=True)}
    rows = [(runs.names[run], [shares.get((run, name), 0.0) for name in CLASSES]) for run in _drawn(runs)]
    most, half = (shares.get((lead, name), 0.0) for name in CLASSES[:2])
    return figure(
        "Who is exposed",
        charts.shares(
            f"Share of people by how much of their trajectory was recovered, {release.name}",
            rows,
            CLASSES,
            of="of people: recovered in",
        ),
        answer,
        note=f"People by the share of their slots that was recovered. With {runs.names[lead]}, "
        f"{words.share(most + half)} of the people are in the right cell in more than half of the slots, and "
        f"{words.share(most)} in more than 80%. A mean hides them.",
        show=runs.show,
    )


def _sure(answer: Answer, release: Published, runs: Runs) -> Html | None:
    """Reliability: what the first attack that says how sure it is believed of itself, and how often it was right."""
    if not len(answer.frame):
        return None
    run = answer.frame.row(0, named=True)["run_id"]
    rows = list(answer.frame.filter(run_id=run).sort("decile").iter_rows(named=True))
    surest = rows[-1]
    axis = charts.Axis(0.5, 10.5, [(n, str(n)) for n in range(1, 11)], say=lambda n: f"tenth {round(n)}")
    series: dict[str, charts.Points] = {
        "right": [(float(row["decile"]), row["accuracy"]) for row in rows],
        "believed": [(float(row["decile"]), row["confidence"]) for row in rows],
    }
    return figure(
        "How sure the attack is, and how right",
        charts.lines(
            f"Accuracy and confidence by tenths of the positions, {release.name}", series, axis, say=words.share
        ),
        answer,
        note=f"Recovered positions of {runs.names[run]} in tenths, from those it is least sure of (1) to the surest "
        f"(10). The {words.count(surest['positions'], 'surest position')} are right in "
        f"{words.share(surest['accuracy'])} of cases, all together in {words.share(surest['overall_accuracy'])}: an "
        "adversary can act on the former and leave the rest.",
        show=runs.show,
        heads={"decile": "Tenth"},
    )


def _unique(answer: Answer, release: Published, runs: Runs) -> Html | None:
    if not len(answer.frame):
        return None
    known = len(answer.frame.filter(of="truth")) > 0
    names = [*_series(runs), *(["true trajectories"] if known else [])]
    drawn: list[Child] = []
    for metric, title in (("unique_share", "Unique: nobody else has the set"), ("distinct_share", "Distinct sets")):
        rows = answer.frame.filter(metric=metric)
        found = {(row["of"], row["run_id"], row["cells_known"]): row for row in rows.iter_rows(named=True)}
        groups = [
            (
                f"Top {k}",
                [_bar(found.get(("recovered", run, k))) for run in _drawn(runs)]
                + ([_bar(found.get(("truth", _drawn(runs)[0], k)))] if known else []),
            )
            for k in range(1, 6)
        ]
        drawn += [tag("h4", title), Groups(f"{title}, {release.name}", names, groups, most=1.0).html()]
    return figure(
        "Tracks told apart by a few places",
        drawn,
        answer,
        note="Share of tracks that their one to five most frequent cells tell from all others, by two definitions. "
        "Who knows somebody's home and work can find the track that has both, right or wrong.",
        show=runs.show,
    )


def _proof(answer: Answer, runs: Runs) -> Html | None:
    if not len(answer.frame):
        return None
    frame = answer.frame
    largest = float(frame["largest_gap"].to_numpy().max())
    counted = words.count(int(frame["matchings"].sum()), "matching")
    text = f"{counted}, each with a proof of how good it is: "
    if largest < _EXACT:
        text += (
            "none could be improved by more than 0.1% of its cost. What was not recovered is no weakness of the search."
        )
    else:
        text += f"one of them could be improved by {_gap(largest)} of its cost, so a better search might recover more."
    heads = {"run_id": "Run", "phase": "Joining", "proven_at_least": "No matching below", "largest_gap": "Largest gap"}
    show = {**runs.show, "largest_gap": _gap}
    rows = table("Matchings of each run, costs in metres or bits", frame, show=show, heads=heads)
    return block(join(tag("h3", "The proof"), tag("p", text, cls="note"), rows), answer)


def _interval(row: dict[str, Any]) -> str:
    return f"{words.share(row['low'])} to {words.share(row['high'])}"


def _gap(value: float) -> str:
    return "0" if value <= 0 else "under 0.0001%" if value < 1e-6 else f"{words.number(100 * value, 2)}%"


def _bar(row: dict[str, Any] | None) -> Bar:
    return Bar(None) if row is None else Bar(row["estimate"], row["low"], row["high"])


def _drawn(runs: Runs) -> list[str]:
    return list(runs.names)[:_DRAWN]


def _series(runs: Runs) -> list[str]:
    return [runs.names[run] for run in _drawn(runs)]
