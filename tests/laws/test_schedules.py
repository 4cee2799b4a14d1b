"""Schedule leakage against a slow, obvious version of it, and the laws that it keeps."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Sequence
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest
from conftest import examples
from hypothesis import assume, given
from hypothesis import strategies as st

import trajlab as tl
from trajlab import schedule
from trajlab.errors import ScheduleError
from trajlab.schedule.timetable import Slot, Timetable

ZONE = "Europe/Lisbon"
BEFORE_THE_CLOCKS_CHANGE = dt.date(2024, 3, 20)  # a Wednesday; clocks go forward on the 31st
KEEP = 0.6

few = examples(few=2, many=15)
seeds = st.integers(0, 2**20)


def random_records(rng: np.random.Generator, start: dt.date, weeks: int, tz: str = ZONE) -> pl.DataFrame:
    """People of a few kinds, each with usual places by day and hour, seen now and then."""
    people, places = int(rng.integers(2, 9)), int(rng.integers(2, 5))
    kinds = rng.integers(0, places, (3, 7, 4))
    kind = rng.integers(0, 3, people)
    begins = dt.datetime.combine(start, dt.time(), ZoneInfo(tz)).astimezone(dt.UTC)
    hours = weeks * 7 * 24
    rows = []
    for who in range(people):
        for hour in np.flatnonzero(rng.random(hours) < 0.35):
            ts = begins + dt.timedelta(hours=int(hour), minutes=int(rng.integers(60)))
            usual = kinds[kind[who], hour // 24 % 7, hour % 24 // 6]
            place = usual if rng.random() < 0.7 else rng.integers(places)
            rows.append({"uid": f"p{who}", "ts": ts, "place": f"place {place}"})
    return pl.DataFrame(rows)


def random_timetable(rng: np.random.Generator, holidays: Sequence[dt.date] = ()) -> Timetable:
    slots = []
    for weekday in rng.choice(np.arange(1, 8), int(rng.integers(1, 5)), replace=False):
        edges = np.sort(rng.choice(np.arange(0, 1441, 5), 2 * int(rng.integers(1, 3)), replace=False))
        slots += [Slot(int(weekday), int(a), int(b)) for a, b in edges.reshape(-1, 2)]
    return Timetable("random", tuple(slots), holidays=tuple(holidays))


def lab_of(records: pl.DataFrame, tz: str = ZONE) -> tl.Lab:
    lab = tl.open(threads=1)
    lab.ingest(records, kind="wifi", tz=tz)
    return lab


def exists(day: dt.date, minute: int) -> bool:
    """Whether the clocks show this minute on that day: they skip an hour in spring."""
    shown = dt.datetime.combine(day, dt.time(minute // 60, minute % 60), ZoneInfo(ZONE))
    return shown.astimezone(dt.UTC).astimezone(ZoneInfo(ZONE)).time() == shown.time()


def obvious_schedule(records: pl.DataFrame, timetable: Timetable, start: dt.date, days: int) -> dict:
    """Uid -> slot number -> (place, appear), and slot number -> weeks that count."""
    seen: dict = {}
    weeks_with_data: set[int] = set()
    for uid, ts, place in records.sort("ts").iter_rows():
        local = ts.astimezone(ZoneInfo(ZONE))
        day = (local.date() - start).days
        if local.date() in timetable.holidays or not 0 <= day < days:
            continue
        minute = local.hour * 60 + local.minute
        for number, slot in enumerate(timetable.slots, start=1):
            if slot.weekday == local.isoweekday() and slot.begins <= minute < slot.ends:
                weeks_with_data.add(day // 7)
                seen.setdefault((uid, number), {}).setdefault(day // 7, []).append(place)
    held = {}
    for number, slot in enumerate(timetable.slots, start=1):
        dates = [start + dt.timedelta(days=day) for day in range(days)]
        held[number] = sum(
            day.isoweekday() == slot.weekday
            and day not in timetable.holidays
            and (day - start).days // 7 in weeks_with_data
            and any(exists(day, minute) for minute in range(slot.begins, slot.ends))
            for day in dates
        )
    schedule: dict = {uid: {} for uid in records["uid"]}
    for (uid, number), by_week in seen.items():
        usual = []
        for _, there in sorted(by_week.items()):
            most = max(Counter(there).values())
            usual.append(next(place for place in there if there.count(place) == most))
        most = max(Counter(usual).values())
        schedule[uid][number] = (next(place for place in usual if usual.count(place) == most), most)
    return {
        "schedule": schedule,
        "held": held,
        "records": sum(map(len, (w for s in seen.values() for w in s.values()))),
    }


def obvious_leak(members: set[str], target: str, told: dict) -> dict:
    """prob-m, ntr, ssr of a person in a set, straight from the definitions."""
    schedule, held = told["schedule"], told["held"]
    k = len(members)
    best, sensitive, habits = 0.0, 0, 0

    def habit(uid: str, number: int) -> str | None:
        place, appear = schedule[uid].get(number, (None, 0))
        return place if appear * 10 > KEEP * 10 * held[number] else None

    for number, weeks in held.items():
        sums: Counter = Counter()
        for uid in members:
            place, appear = schedule[uid].get(number, (None, 0))
            sums[place] += appear
        best = max(best, max(sums.values(), default=0) / (k * weeks))
        votes = Counter(habit(uid, number) for uid in members)
        own = habit(target, number)
        habits += own is not None
        sensitive += own is not None and all(votes[own] > n for place, n in votes.items() if place != own)
    whole = Counter(tuple(habit(uid, number) for number in held) for uid in members)
    entropy = -sum(n / k * math.log2(n / k) for n in whole.values())
    return {
        "prob_m": best,
        "habit_slots": habits,
        "sensitive_slots": sensitive,
        "schedules": len(whole),
        "effective": 2**entropy,
    }


def leak_of(lab, timetable, release, **asked):
    """A slot that is held in fewer than two weeks is refused, rightly; laws speak of the others."""
    try:
        return lab.schedule(timetable, release, **asked)
    except ScheduleError as refused:
        assume("held in fewer than" not in str(refused))
        raise


@few
@given(seed=seeds)
def test_every_answer_is_that_of_the_obvious_version(seed):
    rng = np.random.default_rng(seed)
    start, weeks = BEFORE_THE_CLOCKS_CHANGE, int(rng.integers(3, 5))
    records = random_records(rng, start, weeks)
    first = records["ts"].min().astimezone(ZoneInfo(ZONE)).date()
    holidays = [first + dt.timedelta(days=int(rng.integers(7)))] if rng.random() < 0.5 else []
    timetable = random_timetable(rng, holidays)
    lab = lab_of(records)
    release = lab.release("places", "6h", fill="none", days=7 * weeks - 1)
    leak = leak_of(lab, timetable, release, points=int(rng.integers(1, 4)), min_k=2, keep=KEEP, seed=seed)

    told = obvious_schedule(records, timetable, first, 7 * weeks - 1)
    names = dict(lab.sql("select person, uid from records.person").rows())
    labels = dict(lab.sql("select cell, label from grid.cell").rows())
    entries = lab.sql(
        "select trace, number, cell, appear from slots.schedule where schedule_id = $id", id=leak.schedule_id
    )
    found: dict = {uid: {} for uid in names.values()}
    for trace, number, cell, appear in entries.iter_rows():
        found[names[trace]][number] = (labels[cell], appear)
    assert found == told["schedule"]
    held = lab.sql("select number, weeks from slots.timetable where schedule_id = $id", id=leak.schedule_id)
    assert dict(held.rows()) == told["held"]
    assert lab.table("study.schedule")["records"].item() == told["records"]

    points: dict = {}
    for uid, ts, place in records.iter_rows():
        local = ts.astimezone(ZoneInfo(ZONE))
        points.setdefault(uid, set()).add((4 * (local.date() - first).days + local.hour // 6, place))
    known: dict = {}
    for trace, slot, cell in lab.sql("select trace, slot, cell from metrics.known_point").iter_rows():
        known.setdefault(names[trace], set()).add((slot, labels[cell]))
    rows = lab.sql("select * from metrics.person_leak where leak_id = $id", id=leak.id).rows(named=True)
    assert len(rows) == len(names)
    for row in rows:
        uid = names[row["person"]]
        members = {other for other, theirs in points.items() if known[uid] <= theirs}
        assert row["k"] == len(members)
        if row["k"] == 1:
            assert row["prob_m"] is None
            assert row["ssr"] is None
            assert row["disclosed"] is None
            continue
        right = obvious_leak(members, uid, told)
        assert {name: row[name] for name in right} == pytest.approx(right)
        assert row["ssr"] == pytest.approx(right["sensitive_slots"] / len(told["held"]))
        assert row["ntr"] == pytest.approx(right["habit_slots"] / len(told["held"]))
        kind = (
            "nothing" if not right["habit_slots"] else "hidden" if not right["sensitive_slots"]
            else "totally" if right["sensitive_slots"] == right["habit_slots"] else "partly"
        )  # fmt: skip
        assert row["disclosed"] == kind


@few
@given(seed=seeds)
def test_rates_and_probabilities_stay_within_their_bounds(seed):
    rng = np.random.default_rng(seed)
    lab = lab_of(random_records(rng, BEFORE_THE_CLOCKS_CHANGE, 3))
    leak = leak_of(lab, random_timetable(rng), lab.release("places", "1d", fill="none"), points=1, min_k=2, seed=seed)
    bounds = lab.sql(
        """
        select person.*, own.most
        from metrics.person_leak as person
        left join (
            select schedule.trace, max(schedule.appear / slot.weeks) as most
            from slots.schedule as schedule
            join slots.timetable as slot using (schedule_id, number)
            where schedule_id = $schedule
            group by schedule.trace
        ) as own on own.trace = person.trace
        where leak_id = $id and k >= 2
        """,
        id=leak.id,
        schedule=leak.schedule_id,
    )
    for row in bounds.iter_rows(named=True):
        assert 0 <= row["ssr"] <= row["ntr"] <= 1
        assert (row["most"] or 0) / row["k"] - 1e-12 <= row["prob_m"] <= 1
        assert 1 <= row["effective"] <= row["schedules"] + 1e-9 <= row["k"] + 1e-6
    shares = lab.sql(
        "select min_k, sum(estimate) as total from metrics.leak where leak_id = $id and "
        "metric in ('totally_disclosed', 'partly_disclosed', 'hidden', 'nothing') group by min_k",
        id=leak.id,
    )
    assert all(total == pytest.approx(1) for total in shares["total"])
    curves = lab.sql(
        "select metric, min_k, share from metrics.leak_curve where leak_id = $id order by metric, min_k, threshold",
        id=leak.id,
    )
    for _, curve in curves.group_by("metric", "min_k"):
        assert curve["share"].is_sorted()
        assert curve["share"][-1] == 1


@few
@given(seed=seeds)
def test_a_set_of_identical_people_discloses_everything(seed):
    rng = np.random.default_rng(seed)
    one = random_records(rng, BEFORE_THE_CLOCKS_CHANGE, 3).filter(uid="p0")
    many = pl.concat([one.with_columns(uid=pl.lit(f"twin {n}")) for n in range(5)])
    lab = lab_of(many)
    leak = leak_of(lab, random_timetable(rng), lab.release("places", "1h", fill="none"), min_k=5, seed=seed)
    rows = lab.sql("select * from metrics.person_leak where leak_id = $id", id=leak.id).rows(named=True)
    assert {row["k"] for row in rows} == {5}
    for row in rows:
        assert row["ssr"] == row["ntr"]
        assert row["schedules"] == 1
        assert row["disclosed"] == ("totally" if row["habit_slots"] else "nothing")


@few
@given(seed=seeds, weeks=st.integers(1, 200))
def test_shifting_everything_by_whole_weeks_changes_nothing(seed, weeks):
    rng = np.random.default_rng(seed)
    records, timetable = random_records(rng, dt.date(2024, 3, 20), 3, "UTC"), random_timetable(rng)
    answers = []
    for shift in (0, weeks):
        lab = lab_of(records.with_columns(pl.col("ts") + dt.timedelta(weeks=shift)), "UTC")
        leak = leak_of(lab, timetable, lab.release("places", "2h", fill="none"), min_k=2, seed=seed)
        answers.append(
            [
                lab.sql(f"select * exclude ({column}) from {table} where {column} = $id order by all", id=name)
                for table, column, name in (
                    ("slots.schedule", "schedule_id", leak.schedule_id),
                    ("metrics.person_leak", "leak_id", leak.id),
                    ("metrics.leak", "leak_id", leak.id),
                    ("metrics.leak_curve", "leak_id", leak.id),
                )
            ]
        )
    assert all(before.equals(after) for before, after in zip(*answers, strict=True))


@pytest.mark.parametrize("start", [dt.date(2024, 3, 20), dt.date(2024, 10, 20)])
@pytest.mark.parametrize("basis", ["records", "observed"])
def test_clock_changes_lose_no_record(start, basis):
    records = random_records(np.random.default_rng(7), start, 3)
    lab = lab_of(records)
    release = lab.release("places", "30min", fill="none")
    leak = lab.schedule("grid:15min", release, basis=basis, points=1)
    ((counted, traces_id),) = lab.sql("select records, traces_id from study.schedule").rows()
    everything = len(records) if basis == "records" else lab.sql("select count(*) from slots.observed").item()
    assert (
        counted
        == everything
        == lab.sql("select sum(visits) from slots.visit where traces_id = $id", id=traces_id).item()
    )
    week = lab.sql("select sum(records) from slots.week where schedule_id = $id", id=leak.schedule_id).item()
    assert week == counted


@few
@given(seed=seeds)
def test_neither_order_threads_nor_blocks_change_the_answer(seed):
    rng = np.random.default_rng(seed)
    records, timetable = random_records(rng, BEFORE_THE_CLOCKS_CHANGE, 3), random_timetable(rng)
    answers = []
    for threads, block, rows in ((1, 3_000_000, records), (2, 1, records.sample(fraction=1, shuffle=True, seed=seed))):
        lab = tl.open(threads=threads)
        lab.ingest(rows, kind="wifi", tz=ZONE)
        release = lab.release("places", "1d", fill="none")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(schedule, "BLOCK", block)
            leak = leak_of(lab, timetable, release, points=2, min_k=2, seed=seed)
        blocks = lab.sql("select count(distinct block) from metrics.crowd").item()
        assert blocks == (
            lab.sql("select count(distinct crowd) from metrics.crowd").item() if block == 1 else min(blocks, 1)
        )
        answers.append(
            [
                lab.sql(f"select * exclude (leak_id) from {table} where leak_id = $id order by all", id=leak.id)
                for table in ("metrics.person_leak", "metrics.leak", "metrics.leak_curve", "metrics.leak_by_slot")
            ]
            + [lab.sql("select * exclude (leak_id, block) from metrics.crowd_slot order by all")]
        )
    for one, other in zip(*answers, strict=True):
        assert one.equals(other)
