"""The audit: which hidden counts follow from everything that is published together. Done once and kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from trajlab.differencing import ledger, sums, tables
from trajlab.differencing.bounds import Bounds, ContradictionError, propagate
from trajlab.differencing.programme import Solved, solve
from trajlab.differencing.words import Words
from trajlab.errors import DifferencingError
from trajlab.ids import digest
from trajlab.query import Query, step
from trajlab.release.truth import unprotected_id
from trajlab.settings import whole_number
from trajlab.version import versions

if TYPE_CHECKING:
    from trajlab.differencing.sums import Sums
    from trajlab.differencing.tables import Block, Table
    from trajlab.progress import Progress
    from trajlab.store import Store

Ints = npt.NDArray[np.int64]

WIDTH, LEAST = 3, 5
ELSEWHERE, SUBTRACTION, BOUNDS, CONTRIBUTORS = "published elsewhere", "subtraction", "bounds", "contributors"
COLUMNS = {
    "release_id": pl.String,
    "cube_id": pl.String,
    "value": pl.String,
    "slot": pl.Int32,
    "cell": pl.UInt64,
    "how": pl.String,
    "low": pl.Float64,
    "high": pl.Float64,
    "derivation": pl.String,
}


@dataclass(frozen=True, eq=False)
class Differencing:
    """What an audit found; its rows in the lab carry `id` as differencing_id.

    Of `hidden` counts, `recovered` are known to the person, `narrow` ones to less than the width; `empty` are those
    known to be nobody, which is not counted as recovered. `few_contributors` are listed counts of fewer different
    people than `least`, which the lab knows and a reader does not. `disclosed` has all but the empty ones, with
    the columns of metrics.disclosure.
    """

    id: str
    release_id: str
    beside: tuple[str, ...]
    width: int
    least: int
    hidden: int
    recovered: int
    narrow: int
    empty: int
    few_contributors: int
    sums: int
    left_out_sums: int
    unsolved: int
    disclosed: pl.DataFrame = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def passes(self) -> bool:
        """Whether nothing is disclosed, and every group of sums was solved."""
        return not (self.recovered or self.narrow or self.few_contributors or self.unsolved)

    def __str__(self) -> str:
        together = (
            f"{self.release_id} by itself" if not self.beside else f"{self.release_id} beside " + ", ".join(self.beside)
        )
        return (
            f"{together}: {self.recovered:,} of {self.hidden:,} hidden counts follow exactly, {self.narrow:,} more to "
            f"less than {self.width}; {self.few_contributors:,} listed counts are of fewer than {self.least} people"
        )


def audit(
    store: Store,
    release_id: str,
    *,
    beside: Sequence[str] | None = None,
    width: int = WIDTH,
    least: int = LEAST,
    progress: Progress,
) -> Differencing:
    """Audit a release together with all that is out and what is named; the same audit twice is made once."""
    width = whole_number("width", width, 1, error=DifferencingError)
    least = whole_number("least", least, 1, error=DifferencingError)
    if isinstance(beside, str):
        raise DifferencingError(f"beside is a list of releases and cubes, such as [{beside!r}]")
    for each in (release_id, *(beside or ())):
        ledger.find(store, each)
    others = tuple(sorted({*ledger.everything(store), *(beside or ())} - {release_id}))
    differencing_id = "d" + digest(release_id, others, width, least)
    if not store.rows("select 1 from study.differencing where differencing_id = $id", id=differencing_id):
        with store.transaction("differencing"):
            _build(store, differencing_id, release_id, others, width, least, progress)
    return load(store, differencing_id)


def load(store: Store, differencing_id: str) -> Differencing:
    """An audit that the lab has."""
    (row,) = store.frame("select * from study.differencing where differencing_id = $id", id=differencing_id).to_dicts()
    disclosed = store.relation(Query.load("metrics.disclosure"), differencing_id=differencing_id)
    return Differencing(
        id=differencing_id,
        release_id=row["release_id"],
        beside=tuple(row["beside"].split()),
        width=row["width"],
        least=row["least"],
        hidden=row["hidden_counts"],
        recovered=row["recovered_counts"],
        narrow=row["narrow_counts"],
        empty=row["empty_counts"],
        few_contributors=row["few_contributors"],
        sums=row["sums"],
        left_out_sums=row["left_out_sums"],
        unsolved=row["unsolved_counts"],
        disclosed=disclosed,
        notes=tuple(row["notes"].splitlines()),
    )


def _build(
    store: Store,
    differencing_id: str,
    release_id: str,
    others: Sequence[str],
    width: int,
    least: int,
    progress: Progress,
) -> None:
    ids = [release_id, *others]
    notes: list[str] = []
    with progress.step("tables published together"):
        blocks = tables.read(store, ids, notes)
    with progress.step("sums between them"):
        found_sums = sums.build(store, blocks)
    with progress.step("what follows from the sums"):
        starting, solved = _solve(blocks, found_sums, width, progress)
    with progress.step("what is disclosed"):
        tally, frames = _disclosed(blocks, found_sums, starting, solved, width, notes)
        for each in ids:
            frames.append(_few_contributors(store, each, least, notes))
    rows = pl.concat([pl.DataFrame(schema=COLUMNS), *frames]).with_columns(differencing_id=pl.lit(differencing_id))
    if found_sums.left_out:
        notes.append(
            f"{found_sums.left_out:,} sums between tables do not hold to the person and are left out: people are put "
            "where most of their records of a slot are, and a reader who uses these sums is misled"
        )
    row = {
        "differencing_id": differencing_id,
        "release_id": release_id,
        "beside": " ".join(others),
        "width": width,
        "least": least,
        "tables": len(ids),
        **tally,
        "few_contributors": int((rows["how"] == CONTRIBUTORS).sum()),
        "sums": found_sums.system.sums,
        "left_out_sums": found_sums.left_out,
        "notes": "\n".join(notes),
        "versions": versions("numpy", "scipy"),
    }
    store.insert("study.differencing", pl.DataFrame([row], schema_overrides={"width": pl.Int32, "least": pl.Int32}))
    store.insert("metrics.disclosure", rows.sort("release_id", "cube_id", "value", "slot", "cell", "how"))
    store.check_grain(Query.load("metrics.disclosure"), differencing_id=differencing_id)


def _solve(blocks: Sequence[Block], found: Sums, width: int, progress: Progress) -> tuple[Bounds, Solved]:
    """What tables say of the counts one by one, and what follows from that and the sums."""
    none = [np.zeros(0, dtype=np.int64)]
    low = np.concatenate(none + [np.max([t.flow_low for t in block.tables], axis=0).ravel() for block in blocks])
    high = np.concatenate(none + [np.min([t.flow_high for t in block.tables], axis=0).ravel() for block in blocks])
    given = np.full(len(low), -1, dtype=np.int32)
    try:
        bounds = propagate(found.system, low, high)
        wanted = bounds.low < bounds.high
        solved = solve(found.system, bounds, wanted, enough=width, show=progress.show)
    except ContradictionError as error:
        block = blocks[int(np.searchsorted(found.offsets, error.unknown, side="right")) - 1]
        names = ", ".join(table.id for table in block.tables)
        raise DifferencingError(
            f"the tables contradict each other: no number of people fits {names} and what else is published; check the "
            "recipe and the total of tables that were made elsewhere"
        ) from error
    return Bounds(low, high, given, given), solved


def _disclosed(
    blocks: Sequence[Block], found: Sums, starting: Bounds, solved: Solved, width: int, notes: list[str]
) -> tuple[dict[str, int], list[pl.DataFrame]]:
    """How many hidden counts of every table are known, and the rows that say which and how."""
    words = Words(blocks, found, solved.bounds)
    tally = dict.fromkeys(("hidden_counts", "recovered_counts", "narrow_counts", "empty_counts", "unsolved_counts"), 0)
    frames = []
    for number, block in enumerate(blocks):
        here = slice(int(found.offsets[number]), int(found.offsets[number + 1]))
        low, high = solved.bounds.low[here], solved.bounds.high[here]
        for table in block.tables:
            own_low, own_high = table.low.ravel(), table.high.ravel()
            hidden = own_low < own_high
            exact = hidden & (low == high)
            recovered = exact & (high > 0)
            narrow = hidden & (low < high) & (high - low < width) & (high - low < own_high - own_low)
            tally["hidden_counts"] += int(hidden.sum())
            tally["recovered_counts"] += int(recovered.sum())
            tally["empty_counts"] += int((exact & (high == 0)).sum())
            tally["narrow_counts"] += int(narrow.sum())
            tally["unsolved_counts"] += int((hidden & (low < high) & solved.too_large[here]).sum())
            if hidden.any() and (own_high - own_low)[hidden].max() < width:
                notes.append(
                    f"{table.id}: its own recipe leaves less than {width} of every count, whatever is beside it"
                )
            rows = np.flatnonzero(recovered | narrow)
            if len(rows):
                frames.append(_rows(block, table, here.start, rows, starting, solved, words))
    if tally["unsolved_counts"]:
        notes.append(
            f"{tally['unsolved_counts']:,} hidden counts are in groups too large for linear programming: their bounds "
            "follow from one sum after the other, and closer ones may exist"
        )
    return tally, frames


def _rows(
    block: Block, table: Table, start: int, rows: npt.NDArray[np.intp], starting: Bounds, solved: Solved, words: Words
) -> pl.DataFrame:
    unknown = start + rows
    slot, column = np.divmod(rows, block.columns)
    low, high = solved.bounds.low[unknown], solved.bounds.high[unknown]
    read = (starting.low[unknown] == low) & (starting.high[unknown] == high)
    programme = solved.by_programme[unknown]
    how = np.where(read, ELSEWHERE, np.where((low == high) & ~programme, SUBTRACTION, BOUNDS))
    lines = [
        _elsewhere(block, int(each))
        if is_read
        else "linear programme over the sums that it is part of"
        if is_programme
        else words.derivation(int(number))
        for each, number, is_read, is_programme in zip(rows, unknown, read, programme, strict=True)
    ]
    return pl.DataFrame(
        {
            "release_id": [table.release_id] * len(rows),
            "cube_id": [table.cube_id] * len(rows),
            "value": [None] * len(rows) if block.values is None else [block.values[each] for each in column],
            "slot": slot.astype(np.int32),
            "cell": block.cells[column],
            "how": how,
            "low": low.astype(float),
            "high": high.astype(float),
            "derivation": lines,
        },
        schema=COLUMNS,
    )


def _elsewhere(block: Block, place: int) -> str:
    """Which table of the same counts says more, or whose flows do."""
    low = max(other.flow_low.flat[place] for other in block.tables)
    high = min(other.flow_high.flat[place] for other in block.tables)
    for other in block.tables:
        named = f"{other.id}{f' ({other.recipe})' if other.recipe else ''}"
        if other.low.flat[place] == low and other.high.flat[place] == high:
            return f"{low:,} in {named}" if low == high else f"{low:,} to {high:,} in {named}"
        if other.flow_low.flat[place] == low and other.flow_high.flat[place] == high:
            return f"flows into and out of the cell in {named}"
    return "several tables of the same counts together"


def _few_contributors(store: Store, published_id: str, least: int, notes: list[str]) -> pl.DataFrame:
    """Listed counts of fewer different people than `least`, whatever is listed: the lab knows, no reader does."""
    empty = pl.DataFrame(schema=COLUMNS)
    release_id, cube_id = ledger.find(store, published_id)
    truth = unprotected_id(store, release_id)
    if not store.rows("select 1 from study.release where release_id = $id", id=truth):
        notes.append(f"{published_id} was made elsewhere: how many people are behind its counts is not known")
        return empty
    if cube_id is None:
        recipe = store.rows("select recipe from counts.release where release_id = $id", id=release_id)[0][0]
        found = store.frame(step("6_metrics/_few_behind"), release_id=release_id, unprotected_id=truth, least=least)
    else:
        ((recipe, grouping_id),) = store.rows(
            "select recipe, grouping_id from study.cube where cube_id = $id", id=cube_id
        )
        found = store.frame(
            step("6_metrics/_few_behind_cube"),
            cube_id=cube_id,
            unprotected_id=truth,
            grouping_id=grouping_id,
            least=least,
        )
    if tables.is_noisy(recipe) or not len(found):
        return empty
    return found.with_columns(
        release_id=pl.lit(release_id),
        cube_id=pl.lit(cube_id, pl.String),
        how=pl.lit(CONTRIBUTORS),
        low=pl.col("contributors").cast(pl.Float64),
        high=pl.col("contributors").cast(pl.Float64),
        derivation=pl.format("listed as {}", "listed"),
    ).select(pl.col(name).cast(kind) for name, kind in COLUMNS.items())
