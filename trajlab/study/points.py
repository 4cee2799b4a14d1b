"""Risk beside loss, release by release: the points of a study's chart."""

from __future__ import annotations

import polars as pl

from trajlab.errors import StudyError, UnknownNameError

KEYS = ("index_name", "slot_minutes", "recipe", "release_id")


def points(scores: pl.DataFrame, risk: str | None = None, loss: str | None = None) -> pl.DataFrame:
    """One row for each release: its settings, `risk` with `low` and `high`, `loss`, and what the two are in words.

    `risk` is an attack (share of slots recovered), an adversary such as points:4 (people singled out from the
    traces, or `points:4 on xu2017` from its tracks) or one of membership (advantage); `loss` is counts (relative
    error) or such as flows:h3:7. Means over the seeds. By default the first by name that the study has, of an
    attack before an adversary, of flows before counts.
    """
    risks, losses = _risks(scores), _losses(scores)
    for noun, known in (("risk", risks), ("loss", losses)):
        if not known:
            raise StudyError(f"this study has no {noun} to draw: ask for {_MISSING[noun]} in its file")
    for noun, given, known in (("risk", risk, risks), ("loss", loss, losses)):
        if given is not None and given not in known:
            raise UnknownNameError(f"{noun} of this study", given, known)
    risk, loss = risk or next(iter(risks)), loss or next(iter(losses))
    here = (
        scores.filter(risks[risk])
        .group_by(KEYS, maintain_order=True)
        .agg(risk=pl.col("estimate").mean(), low=pl.col("low").mean(), high=pl.col("high").mean())
    )
    there = scores.filter(losses[loss]).group_by(KEYS).agg(loss=pl.col("estimate").mean())
    return here.join(there, on=KEYS, maintain_order="left").with_columns(risk_name=pl.lit(risk), loss_name=pl.lit(loss))


_MISSING = {"risk": "attack, adversary or membership", "loss": "utility"}


def _risks(scores: pl.DataFrame) -> dict[str, pl.Expr]:
    """Every risk that the study has, and the rows that it is in."""
    result, metric, level = pl.col("result"), pl.col("metric"), pl.col("level")
    found: dict[str, pl.Expr] = {}
    for attack, rows in _by(scores.filter(result="recovery", metric="accuracy"), "attack"):
        pairing = "optimal" if "optimal" in rows["pairing"] else "greedy"
        found[attack] = (
            (result == "recovery") & (pl.col("attack") == attack) & (metric == "accuracy") & (level == 3)
            & (pl.col("pairing") == pairing) & (pl.col("of") == "recovered")
        )  # fmt: skip
    unique = (result == "risk") & (metric == "unique_share") & (pl.col("scope") == "all")
    for adversary, rows in _by(scores.filter(unique), "adversary"):
        own = unique & (pl.col("adversary") == adversary)
        if rows["attack"].null_count():
            found[adversary] = own & pl.col("attack").is_null()
        for attack in rows["attack"].drop_nulls().unique(maintain_order=True):
            found[f"{adversary} on {attack}"] = own & (pl.col("attack") == attack)
    for adversary, rows in _by(scores.filter(result="membership"), "adversary"):
        largest = rows["level"].max()
        found[adversary] = (
            (result == "membership") & (pl.col("adversary") == adversary) & (metric == "advantage") & (level == largest)
        )
    return found


def _losses(scores: pl.DataFrame) -> dict[str, pl.Expr]:
    """Every loss that the study has, and the rows that it is in."""
    result, metric, scope = pl.col("result"), pl.col("metric"), pl.col("scope")
    found: dict[str, pl.Expr] = {}
    for zones, _ in _by(scores.filter(result="flows"), "zones_name"):
        found[f"flows:{zones}"] = (
            (result == "flows") & (pl.col("zones_name") == zones) & (metric == "all") & (scope == "raw")
        )
    if len(scores.filter(result="counts")):
        found["counts"] = (result == "counts") & (metric == "relative_error") & (scope == "occupancy")
    return found


def _by(rows: pl.DataFrame, column: str) -> list[tuple[str, pl.DataFrame]]:
    """The rows of each value of a column, by name."""
    return sorted(((str(name), part) for (name,), part in rows.group_by(column)), key=lambda named: named[0])
