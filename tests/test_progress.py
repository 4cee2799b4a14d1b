"""What long work says of itself, with a clock that a test moves."""

from __future__ import annotations

import io
import re
import threading

import numpy as np
import pytest

import trajlab as tl
from trajlab import cli, progress
from trajlab.attacks._steps import Step, StepLog
from trajlab.progress import Progress, Steps


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def goes(self, seconds: float) -> None:
        self.now += seconds


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    @property
    def screen(self) -> str:
        """What stands on the last line now."""
        return self.getvalue().rpartition("\x1b[K")[2]


@pytest.fixture(autouse=True)
def now_and_then(monkeypatch):
    """Lines come here as users see them; the other tests are without."""
    monkeypatch.setattr(progress, "SELDOM", 30.0)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_terminal_shows_share_and_time_left_and_nothing_afterwards(clock):
    screen = Terminal()
    progress = Progress(screen, clock=clock)
    with progress.step("xu2017 on r1", watched=False):
        clock.goes(1.9)
        progress.show(1, 4)
        assert screen.getvalue() == ""
        clock.goes(8.1)
        progress.show(1, 4)
        assert screen.screen == "xu2017 on r1 [######                  ]  25%, about 30 s left"
        clock.goes(290)
        progress.show(2, 4)
        assert screen.screen.endswith(" 50%, about 5 min left")
        clock.goes(4 * 3600)
        progress.show(2.5, 4)
        assert screen.screen.endswith(" 62%, about 2.5 h left")
    assert screen.screen == ""


def test_where_stderr_is_no_terminal_a_line_comes_every_half_minute_at_most(clock):
    log = io.StringIO()
    progress = Progress(log, clock=clock)
    with progress.step("dsilva2024 on r1", watched=False):
        for second in range(1, 101):
            clock.goes(1)
            progress.show(second, 100)
    assert (
        log.getvalue().splitlines()
        == [
            "dsilva2024 on r1: 30%, about 70 s left",
            "dsilva2024 on r1: 60%, about 40 s left",
            "dsilva2024 on r1: 90%, about 10 s left",
            "dsilva2024 on r1: done in 100 s",
        ]
        or log.getvalue().splitlines()[-1] == "dsilva2024 on r1: done in 2 min"
    )


def test_short_work_says_nothing_where_stderr_is_no_terminal(clock):
    log = io.StringIO()
    progress = Progress(log, clock=clock)
    for _ in range(40):  # a minute and a half of work, with the time for a coffee between any two pieces
        with progress.step("short", watched=False):
            clock.goes(2.5)
            progress.show(1, 1)
        clock.goes(60)
    assert log.getvalue() == ""


def test_many_short_steps_in_a_row_are_long_work(clock):
    log = io.StringIO()
    progress = Progress(log, clock=clock)
    for number in range(20):
        with progress.step(f"table {number}", watched=False):
            clock.goes(4)
            progress.tick(lambda: 50.0)
    lines = [line for line in log.getvalue().splitlines() if "done" not in line]
    assert lines == ["table 7: 50%, about 4 s left", "table 15: 50%, about 4 s left"]


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_quiet_work_says_nothing_at_all(clock, stream):
    out = stream()
    progress = Progress(out, quiet=True, clock=clock)
    steps = Steps(3, progress)
    with progress.step("attack", lambda: 30.0):
        clock.goes(1000)
        progress.show(1, 2)
        progress.tick(lambda: 30.0)
        steps.next("attack")
    assert out.getvalue() == ""


def test_a_share_never_falls_while_a_step_counts_its_own_work(clock):
    screen = Terminal()
    progress = Progress(screen, clock=clock)
    shown = []
    with progress.step("xu2017", watched=False):
        for done in (10, 30, 20, 40, 35, 100):
            clock.goes(5)
            progress.show(done, 100)
            shown.append(int(re.search(r"(\d+)%", screen.screen)[1]))
    assert shown == [10, 30, 30, 40, 40, 100]


def test_time_left_is_not_told_while_nothing_moves(clock):
    screen = Terminal()
    progress = Progress(screen, clock=clock)
    with progress.step("metrics.crowd", watched=False):
        clock.goes(5)
        progress.tick(lambda: 0.0)
        assert screen.screen.endswith("  0%, 5 s so far")
        clock.goes(5)
        progress.tick(lambda: 20.0)
        assert screen.screen.endswith(" 20%, about 40 s left")
        clock.goes(60)
        progress.tick(lambda: 20.0)
        assert screen.screen.endswith(" 20%, 70 s so far")


def test_a_second_query_in_a_step_makes_the_end_unknown(clock):
    screen = Terminal()
    progress = Progress(screen, clock=clock)
    with progress.step("slots.position", watched=False):
        clock.goes(10)
        progress.tick(lambda: 90.0)
        clock.goes(1)
        progress.tick(lambda: -1.0)  # between two queries
        assert screen.screen.endswith(" 90%, about 1 s left")
        progress.tick(lambda: 5.0)
        clock.goes(1)
        progress.tick(lambda: 6.0)
        assert screen.screen.endswith("  6%, 12 s so far")
        progress.show(1, 2)  # who counts its own work knows better
        clock.goes(1)
        progress.tick(lambda: 99.0)
        assert " 50%" in screen.screen


def test_a_step_goes_on_after_the_one_that_it_holds(clock):
    log = io.StringIO()
    progress = Progress(log, clock=clock)
    with progress.step("top:2", watched=False):
        clock.goes(40)
        with progress.step("metrics.top_place", watched=False):
            clock.goes(40)
            progress.tick(lambda: 50.0)
        clock.goes(40)
        progress.show(1, 2)
    assert log.getvalue().splitlines() == [
        "metrics.top_place: 50%, about 40 s left",
        "metrics.top_place: done in 40 s",
        "top:2: 50%, about 2 min left",
        "top:2: done in 2 min",
    ]


def test_a_study_says_where_it_is(clock):
    for out, heard in ((Terminal(), ["2 of 4: b", "3 of 4: c", "4 of 4: d"]), (io.StringIO(), ["3 of 4: c"])):
        progress = Progress(out, clock=clock)
        steps = Steps(4, progress)
        for told in "abcd":
            steps.next(told)
            with progress.step(told, watched=False):
                clock.goes(20)
        assert [line for line in out.getvalue().splitlines() if " of " in line] == heard


def days(log: StepLog, clock: Clock, number: int, slots: int, link: float):
    """An attack whose steps take a second and whose links take `link`, stored after every day."""
    log.expect(number * slots - 1, links=number - 1, link=40.0)
    for day in range(number):
        for slot in range(1, slots):
            clock.goes(1)
            log.add(Step(day * slots + slot, "day", 1, 1, 0.0, 0.0, 1))
        if day:
            clock.goes(link)
            log.add(Step(day * slots, "link", 1, 1, 0.0, 0.0, 1))
        log.steps = []  # written to the lab
        yield day


@pytest.mark.parametrize("link", [10.0, 40.0, 160.0])
def test_the_share_of_an_online_attack_grows_from_day_to_day_and_its_estimate_gets_better(clock, link):
    shares, worst, began = [], [], clock.now
    log = StepLog(lambda done, total: shares.append((clock.now - began, done / total)))
    for _ in days(log, clock, 20, 48, link):
        pass
    took = clock.now - began
    share = np.array([share for _, share in shares])
    assert (np.diff(share) > 0).all()
    assert share[-1] == pytest.approx(1.0)
    for day in range(1, 20):  # the estimated whole, at its worst on that day
        today = np.array(shares[48 * day - 1 : 48 * (day + 1) - 1])
        worst.append(np.abs(today[:, 0] / today[:, 1] / took - 1).max())
    assert max(worst[9:]) < 0.15
    assert max(worst[14:]) <= max(worst[2:7])


class Told(Progress):
    def __init__(self) -> None:
        super().__init__(io.StringIO())
        self.shares: list[float] = []

    def show(self, done: float, total: float) -> None:
        self.shares.append(done / total)


@pytest.mark.parametrize("attack", ["xu2017", "dsilva2024"])
def test_an_attack_that_is_stored_day_by_day_reaches_the_end_of_its_bar_once(attack):
    lab = tl.open(":memory:")
    lab.ingest(tl.simulate(people=12, days=5, seed=0), tz="Europe/Lisbon")
    release = lab.release("square:1000", "60min")
    lab._progress = told = Told()
    lab.attack(release, attack, seed=1, pairing="greedy")
    ((steps,),) = lab._store.rows(
        "select count(*) from attacks.step join study.run using (run_id) where attack = $attack and seed = 1",
        attack=attack,
    )
    rising = np.split(told.shares, np.flatnonzero(np.diff(told.shares) <= 0) + 1)
    longest = max(rising, key=len)
    assert len(longest) == steps  # all steps of all days, one after another
    assert longest[-1] == pytest.approx(1.0)


def test_the_engine_tells_how_far_a_query_is():
    lab = tl.open(":memory:")
    con, seen, ended = lab._store.con, [], threading.Event()

    def look() -> None:
        while not ended.is_set():
            seen.append(con.query_progress())

    looking = threading.Thread(target=look)
    looking.start()
    con.execute("select count(distinct hash(i) % 1000) from range(3000000) as t(i)").fetchall()
    ended.set()
    looking.join()
    assert max(seen) >= 0  # -1 is all that is heard from an engine that does not count


def test_quiet_is_an_option_of_commands_and_of_python(tmp_path, capsys):
    file = tmp_path / "lab.duckdb"
    tl.simulate(people=3, days=2, seed=0).write_parquet(tmp_path / "traces.parquet")
    assert cli.main(["ingest", str(file), str(tmp_path / "traces.parquet"), "--tz", "UTC", "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert tl.open(str(file), quiet=True)._progress.quiet
