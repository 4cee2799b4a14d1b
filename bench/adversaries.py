"""The eight adversaries of scikit-mobility: seconds, and how long its own way takes.

    python -m bench.adversaries
    python -m bench.adversaries --only plain

scikit-mobility's way makes a pass over everybody for each combination: it groups the table by person, and for
each of them joins and compares data frames on latitude and longitude. That is written down here (pandas), timed on
some combinations of one person, and scaled to all; the same passes with counters instead of frames show
how much of it is pandas. Risks must agree on what was timed. Of every figure the best of several rounds counts, on
both sides: a shared machine adds to some. Then larger populations, in a process each.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from trajlab.progress import Progress
from trajlab.query import Query
from trajlab.risk import knowledge
from trajlab.risk import run as risk
from trajlab.risk.reading import open_case
from trajlab.store import Store

KINDS = ("locations", "sequence", "time", "unique", "frequency", "probability", "proportion", "homework")
PLACES = 12
"""Places that a person goes to, of the city's 1,000."""
ROUNDS = 5
WHERE = ["lat", "lng"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["plain", "large"], help="one half alone")
    parser.add_argument("--combinations", type=int, default=8, help="combinations that the plain way is timed on")
    parser.add_argument("--one", nargs=3, metavar=("PEOPLE", "VISITS", "KNOWLEDGE"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(int(args.one[0]), int(args.one[1]), args.one[2])))
        return
    if args.only != "large":
        against_the_plain_way(args.combinations)
    if args.only != "plain":
        larger()


def city(people: int, visits: int, seed: int = 0) -> pl.DataFrame:
    """Everybody goes to a few places, popular ones more often, and to some of them most of the time."""
    rng = np.random.default_rng(seed)
    popular = 1 / np.arange(1, 1_001) ** 0.8
    places = rng.choice(1_000, size=(people, PLACES), p=popular / popular.sum())
    often = 1 / np.arange(1, PLACES + 1)
    which = rng.choice(PLACES, size=(people, visits), p=often / often.sum())
    cell = np.take_along_axis(places, which, axis=1)
    slot = np.sort(np.argsort(rng.random((people, max(visits, 240))), axis=1)[:, :visits], axis=1)
    return pl.DataFrame(
        {
            "trace": np.repeat(np.arange(people), visits).astype(np.int32),
            "slot": slot.ravel().astype(np.int32),
            "cell": cell.ravel().astype(np.uint64),
        }
    )


def lab(visits: pl.DataFrame) -> Store:
    """A lab with these traces alone."""
    store = Store()
    people = visits.select("trace").unique()
    hours = pl.DataFrame({"slot": pl.Series(range(visits["slot"].max() + 1), dtype=pl.Int32)})  # type: ignore[operator, arg-type]
    for name, frame in (("visits", visits), ("people", people), ("hours", hours)):
        store.con.register(name, frame.to_arrow())
    store.con.execute("insert into slots.visit by name select 't' as traces_id, *, 1 as visits from visits")
    store.con.execute("insert into slots.trace by name select 't' as traces_id, trace, trace as person from people")
    store.con.execute(
        "insert into slots.slot by name select 'r' as release_id, slot, "
        "timestamp '2026-01-05' + slot * interval 1 hour as starts from hours"
    )
    return store


def answer(store: Store, text: str) -> pl.DataFrame:
    store.con.execute(
        "insert into metrics.target by name "
        "select $id as risk_id, trace, trace as person, trace as own from slots.trace",
        {"id": text},
    )
    risk.answer_question(
        store, text, knowledge.load(text), open_case(store, "r", "t", "t", text, Progress()), Progress()
    )
    return store.frame("select * from metrics.anonymity where risk_id = $id order by trace", id=text)


def measure(people: int, visits: int, text: str) -> dict[str, Any]:
    store = lab(city(people, visits))
    began = time.perf_counter()
    rows = answer(store, text)
    return {
        "seconds": time.perf_counter() - began,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "combinations": int(rows["combinations"].sum()),
        "unique": float((rows["k"] == 1).mean()),  # type: ignore[arg-type]
    }


def larger() -> None:
    print(
        f"\n{'people × visits':>18} {'knowledge':<20} {'combinations':>14} {'seconds':>8} {'peak GB':>8} {'unique':>7}"
    )
    cases = [(people, visits, "locations:2") for people in (1_000, 10_000, 50_000) for visits in (20, 50)]
    cases += [(10_000, 50, f"{kind}:2") for kind in KINDS if kind not in ("locations", "homework")]
    cases += [(10_000, 50, text) for text in ("frequency:2:0.5", "probability:2:0.5", "proportion:2:0.5", "homework")]
    cases += [(10_000, 50, text) for text in ("locations:3", "unique:3", "sequence:3", "locations:4")]
    for people, visits, text in cases:
        command = [sys.executable, "-m", "bench.adversaries", "--one", str(people), str(visits), text]
        told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print(
            f"{people:>10,} × {visits:<5} {text:<20} {told['combinations']:>14,} {told['seconds']:>8.2f} "
            f"{told['peak']:>8.2f} {told['unique']:>7.1%}",
            flush=True,
        )


def against_the_plain_way(some: int) -> None:
    visits = city(100, 20)
    frame = visits.to_pandas().assign(
        hour=lambda rows: rows["slot"],
        lat=lambda rows: 43 + rows["cell"] // 40 * 0.02,
        lng=lambda rows: 10 + rows["cell"] % 40 * 0.02,
    )
    print(
        f"{'100 people × 20 visits':<24} {'risks s':>8} {'summary s':>9} {'frames s':>9} {'times':>11} "
        f"{'counters s':>10} {'times':>7}"
    )
    for text in ("locations:2", "locations:3", "sequence:2", "sequence:3", "time:2", "unique:2", "frequency:2:0.5",
                 "probability:2:0.5", "proportion:2:0.5"):  # fmt: skip
        ours, summary, rows = best_of(visits, text)
        every = int(rows["combinations"].sum())
        frames, counters = plain(frame, text, rows, some)
        print(
            f"{text:<24} {ours:>8.3f} {summary:>9.3f} {frames * every:>9,.0f} {frames * every / ours:>10,.0f}× "
            f"{counters * every:>10.2f} {counters * every / ours:>6,.0f}×",
            flush=True,
        )


def best_of(visits: pl.DataFrame, text: str) -> tuple[float, float, pl.DataFrame]:
    """Seconds for everybody's risk in the lab's table, for the summaries of it, and the answer."""
    store = lab(visits)
    took = []
    for _ in range(1 + ROUNDS):  # once to warm up: imports and the engine's own first query
        for table in ("metrics.target", "metrics.anonymity"):
            store.clear(Query.load(table), risk_id=text)
        began = time.perf_counter()
        rows = answer(store, text)
        answered = time.perf_counter()
        for query in risk.summaries():
            store.build(query, risk_id=text, about="traces")
        took.append((answered - began, time.perf_counter() - answered))
    ours, summary = (min(seconds) for seconds in zip(*took, strict=True))
    return ours, summary, rows


def plain(visits: pd.DataFrame, text: str, rows: pl.DataFrame, some: int) -> tuple[float, float]:
    """Seconds for a combination with data frames and with counters; people whose risk is found must agree."""
    kind, known, *rest = text.split(":")
    tolerance = float(rest[0]) if rest else 0.0
    table = elements_of(visits, kind)
    counters = {who: plainly(there, kind) for who, there in table.groupby("trace")}
    person = rows.sort("combinations", "trace")["trace"][0]  # the whole of one person's combinations is compared
    mine = list(table[table["trace"] == person].itertuples(index=False, name=None))
    every = list(itertools.combinations(mine, min(int(known), len(mine))))

    def with_frames(each: Any) -> float:
        return 1 / sum(frames_match(there, each, kind, tolerance) for _, there in table.groupby("trace"))

    def with_counters(each: Any) -> float:
        return 1 / sum(counters_match(there, each, kind, tolerance) for there in counters.values())

    framed, first = timed(with_frames, every[:some])
    counted, risks = timed(with_counters, every)
    assert first == risks[:some]
    told = rows.filter(pl.col("trace") == person)
    assert max(risks) == told["pick_chance"][0]
    assert abs(sum(risks) / len(risks) - told["mean_pick_chance"][0]) < 1e-12
    return framed, counted


def timed(risk_of: Callable[[Any], float], combinations: list[Any]) -> tuple[float, list[float]]:
    """Seconds for one combination in the best of some rounds, and the risk of each."""
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        risks = [risk_of(each) for each in combinations]
        took.append((time.perf_counter() - began) / len(risks))
    return min(took), risks


def elements_of(visits: pd.DataFrame, kind: str) -> pd.DataFrame:
    """What scikit-mobility combines: records, or a vector of places with frequencies or probabilities."""
    if kind in ("locations", "sequence", "time"):
        return visits[["trace", *WHERE, "hour"]]
    times = visits.groupby(["trace", *WHERE]).size().reset_index(name="value")
    if kind == "probability":
        times["value"] = times["value"] / times.groupby("trace")["value"].transform("sum")
    return times


def frames_match(there: pd.DataFrame, known: tuple[Any, ...], kind: str, tolerance: float) -> bool:
    """One trace against one combination, with data frames."""
    ours = pd.DataFrame(known, columns=there.columns)
    if kind == "sequence":
        left = ((row["lat"], row["lng"]) for _, row in there.iterrows())
        return all((row["lat"], row["lng"]) in left for _, row in ours.iterrows())
    if kind in ("locations", "time"):
        on = [*WHERE, "hour"] if kind == "time" else WHERE
        theirs = there.groupby(on).size().reset_index(name="theirs")
        ours = ours.groupby(on).size().reset_index(name="ours")
        both = theirs.merge(ours, on=on)
        return len(both) == len(ours) and bool((both["theirs"] >= both["ours"]).all())
    both = there.merge(ours, on=WHERE, suffixes=("", "_known"))
    if len(both) != len(ours):
        return False
    if kind == "unique":
        return True
    x, v = both["value_known"], both["value"]
    if kind == "proportion":
        x, v = x / x.max(), v / v.max()
    return bool(((x >= v - v * tolerance) & (x <= v + v * tolerance)).all())


def plainly(there: pd.DataFrame, kind: str) -> Any:
    rows = list(there.itertuples(index=False, name=None))
    if kind == "sequence":
        return [row[1:3] for row in rows]
    if kind in ("locations", "time"):
        return Counter(row[1:3] if kind == "locations" else row[1:] for row in rows)
    return {row[1:3]: row[3] for row in rows}


def counters_match(there: Any, known: tuple[Any, ...], kind: str, tolerance: float) -> bool:
    """The same without data frames."""
    if kind == "sequence":
        left = iter(there)
        return all(row[1:3] in left for row in known)
    if kind in ("locations", "time"):
        asked = Counter(row[1:3] if kind == "locations" else row[1:] for row in known)
        return all(there[each] >= times for each, times in asked.items())
    if any(row[1:3] not in there for row in known):
        return False
    if kind == "unique":
        return True
    x, v = [row[3] for row in known], [there[row[1:3]] for row in known]
    if kind == "proportion":
        x, v = [each / max(x) for each in x], [each / max(v) for each in v]
    return all(b - b * tolerance <= a <= b + b * tolerance for a, b in zip(x, v, strict=True))


if __name__ == "__main__":
    main()
