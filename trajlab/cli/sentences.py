"""What a question was answered with, as lines that a person reads: one a question, numbers as so many of so many.

They say what the relations of `report` and `metrics` hold; `--table` of each command prints these instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from trajlab.report import naming, words

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.membership.run import Membership
    from trajlab.risk.run import Risk
    from trajlab.schedule import Leak
    from trajlab.utility import Utility
    from trajlab.utility.counts import CountUtility

LEVELS = {1: "each night by itself", 2: "each day by itself", 3: "the whole period"}
"""What a track is when it is scored, see metrics.recovery."""
PEOPLE_KNOWN = {"top": "their most frequent places", "random": "places and times", "consecutive": "the same in a row"}


def risk(lab: Lab, found: Risk) -> str:
    """255 of 300 people are singled out by top 2 places, 85% (81% to 89%), and the id of the question."""
    row = lab.sql("from report.reidentification where risk_id = $id", id=found.id).row(0, named=True)
    looked_for = "people" if row["protection"] == "none" else "pieces of traces"
    single = round(row["unique_share"] * row["people"])
    return (
        f"{found.knowledge}: {single:,} of {row['people']:,} {looked_for} are singled out by "
        f"{naming.knowledge(found.knowledge)}, {_share(row, 'unique_share')}; "
        f"a blind guess is right for {words.share(row['blind_guess'])} [{found.id}]"
    )


def feasibility(lab: Lab, release_id: str, seed: int) -> Iterator[str]:
    """Who is singled out by one, two, three points and so on: a line for each way to know them."""
    known = lab.sql(
        "select knowledge, points, people, estimate from metrics.singled_out "
        "where release_id = $id and seed = $seed order by knowledge desc, points",
        id=release_id,
        seed=seed,
    )
    yield f"of {known['people'].to_list()[0]:,} people, singled out of the traces behind the release by so many known:"
    width = max(map(len, PEOPLE_KNOWN.values()))
    for (name,), rows in known.group_by("knowledge", maintain_order=True):
        shares = (
            f"{points} {words.share(share):>5}" for points, share in rows.select("points", "estimate").iter_rows()
        )
        yield f"  {PEOPLE_KNOWN[name]:<{width}}  {'   '.join(shares)}"


def attack(lab: Lab, run_id: str) -> Iterator[str]:
    """How many of a hundred slots are recovered, and how far off a track is, beside what needs no skill."""
    scores = lab.sql(
        "select metric, level, estimate, low, high, shuffle, stay, control from report.every_metric "
        "where run_id = $id and of = 'recovered' and metric in ('accuracy', 'error_m') "
        "qualify row_number() over (partition by metric, level order by pairing desc) = 1 order by metric, level",
        id=run_id,
    ).to_dicts()
    yield "of 100 slots, so many are recovered in the right cell (95% interval), beside what needs no skill:"
    for row in scores:
        if row["metric"] == "accuracy":
            yield f"  {LEVELS[row['level']]:<20}  {_share(row, 'estimate')}; {_yardsticks(row, words.share)}"
    for row in scores:
        if row["metric"] == "error_m":
            within = f"{_metres(row['low'])} to {_metres(row['high'])}"
            yield (f"a track is off by {_metres(row['estimate'])} on average ({within}); {_yardsticks(row, _metres)}")


def membership(found: Membership) -> Iterator[str]:
    """How often an adversary is right about who is in the table: a line for each recipe and size of groups."""
    for (recipe, size), rows in found.table.group_by("recipe", "group_size", maintain_order=True):
        told = {row["measure"]: row for row in rows.to_dicts()}
        line = (
            f"groups of {size:,}, {'counts as they are' if recipe == 'exact' else recipe}: of a table with the person "
            f"and one without, the right one is told {_share(told['auc'], 'estimate')} of the time, 50% by chance"
        )
        if "tpr_at_1_percent" in told:
            line += f"; at 1% false alarms {words.share(told['tpr_at_1_percent']['estimate'])} of members are found"
        yield line


def utility(lab: Lab, found: Utility) -> Iterator[str]:
    """How many of a hundred movements are not where they were: a line for all movements and one for those in time."""
    rows = lab.sql(
        "from report.utility_loss where utility_id = $id and measure = 'all' order by flows desc", id=found.id
    )
    for row in rows.iter_rows(named=True):
        name = "movements" if row["flows"] == "raw" else "movements within a plausible time"
        yield (
            f"{found.after}, {name}: {words.misplaced(row)}"
            if row["loss"] is not None
            else f"{found.after}, {name}: none between these zones"
        )


def count_errors(lab: Lab, found: CountUtility) -> Iterator[str]:
    """What the published tables no longer say: a line for people in cells and one for people who change cells."""
    rows = lab.sql(
        "from report.count_error where release_id = $release and unprotected_id = $before "
        "order by published_table desc",
        release=found.release_id,
        before=found.unprotected_id,
    )
    for row in rows.iter_rows(named=True):
        name = "people in cells" if row["published_table"] == "occupancy" else "people who change cells"
        parts = [
            f"{words.of_hundred(row['hidden_share'])} are not published",
            f"the sum of errors is {words.share(row['relative_error'])} of the true sum",
            f"{words.share(row['busiest_overlap'])} of the busiest tenth of cells can be told",
        ]
        parts += [f"they are moved by {_metres(row['distance_m'])} on average"] if row["distance_m"] else []
        yield f"{name}: {'; '.join(parts)}"


def schedule(lab: Lab, leak: Leak, truth: str | None) -> Iterator[str]:
    empty = f", {leak.skipped_weeks} without any data left out" if leak.skipped_weeks else ""
    yield f"leak {leak.id}: {leak.slots} slots a week, {leak.weeks} weeks{empty}, {leak.points} points known"
    yield leak.description
    yield f"{leak.measured:.1%} of {leak.people:,} people are in sets of {leak.min_k} or more" + (
        "" if leak.totally is None else f"; of these {leak.totally:.1%} totally and {leak.partly:.1%} partly disclosed"
    )
    if truth:
        lessons, usual, matched = lab.sql(
            "select sum(lessons), sum(usual_places), sum(matched) from report.extracted_schedule where leak_id = $id",
            id=leak.id,
        ).row(0)
        share = words.share(matched / lessons) if lessons else words.NOTHING
        yield (
            f"of {int(lessons):,} true lessons the records show the place of {int(matched):,}, {share}; "
            f"{int(usual):,} usual places were found in slots where something is taught"
        )


def _share(row: dict[str, Any], column: str) -> str:
    return f"{words.share(row[column])} ({words.share(row['low'])} to {words.share(row['high'])})"


def _yardsticks(row: dict[str, Any], say: Any) -> str:
    names = {"stay": "nobody moves", "shuffle": "joined at random", "control": "people not in the data"}
    return ", ".join(f"{name} {say(row[key])}" for key, name in names.items() if row[key] is not None)


def _metres(length: float) -> str:
    """With a plain space: a terminal breaks no lines for us, and may know nothing but ASCII."""
    return words.metres(length).replace("\N{NO-BREAK SPACE}", " ")
