"""Cutting and fresh ids: windows by hand, every record kept, and what is refused."""

from __future__ import annotations

import dataclasses
import datetime as dt
import hashlib
from collections import Counter
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from conftest import TINY_BOX, examples, tiny_lab
from hypothesis import given
from hypothesis import strategies as st

import trajlab as tl
from trajlab import protect
from trajlab.errors import ContractError, ProtectionError, TrajlabError, UnknownNameError
from trajlab.progress import Progress
from trajlab.protect import Period
from trajlab.protect._records import protected_records
from trajlab.protect.cut import Cut
from trajlab.protect.run import protect as publish
from trajlab.risk import traces

KEY = "a key for the tests, known to all"
OTHER_KEY = "another key of decent length"
MONDAY = dt.datetime(2024, 3, 4, tzinfo=dt.UTC)


def parts(window: str, slots: int, slot_seconds: int) -> list[int]:
    visits = pl.LazyFrame(
        {"person": 1, "slot": pl.int_range(slots, dtype=pl.Int32, eager=True), "cell": 7, "visits": 1}
    )
    return protect.load(f"cut:{window}").apply(visits, Period(slots, slot_seconds)).collect()["part"].to_list()


def source_of(lab: tl.Lab, basis: str = "slots", **settings: object) -> traces.Traces:
    release = lab.release(**({"index": "square:1000", "slot": "3h", "box": TINY_BOX, "outside": "clamp"} | settings))
    return traces.of_release(lab._store, release.id, basis, Progress())


def cut(lab: tl.Lab, source: traces.Traces, text: str = "cut:6h", key: str | None = KEY) -> traces.Traces:
    return publish(lab._store, source, text, key=key, progress=Progress())


def everything(lab: tl.Lab) -> dict[str, pl.DataFrame]:
    tables = ("slots.trace", "slots.visit", "study.traces", "study.secret")
    return {table: lab.table(table) for table in tables}


def records_of(uids: list[str], minutes: list[int], start: dt.datetime = MONDAY) -> pl.DataFrame:
    count = len(uids)
    return pl.DataFrame(
        {
            "uid": uids,
            "ts": [start + dt.timedelta(minutes=m) for m in minutes],
            "lat": [38.70 + n % 4 / 100 for n in range(count)],
            "lng": [-9.16 + n % 3 / 100 for n in range(count)],
        }
    )


@pytest.fixture(scope="module")
def lab() -> tl.Lab:
    """A tiny town for what is refused, which leaves it as it was."""
    return tiny_lab()


@pytest.fixture(scope="module")
def source(lab: tl.Lab) -> traces.Traces:
    return source_of(lab)


@pytest.fixture(scope="module")
def made(lab: tl.Lab, source: traces.Traces) -> traces.Traces:
    return cut(lab, source)


# Windows


def test_two_slots_of_three_hours_make_a_window_of_six():
    assert parts("6h", 8, 10_800) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_a_visit_belongs_to_the_window_in_which_its_slot_begins():
    """Slots of 3 hours begin at 0, 3, 6, 9, 12, ... and windows of 4 hours at 0, 4, 8, 12, ..."""
    assert parts("4h", 8, 10_800) == [0, 0, 1, 2, 3, 3, 4, 5]


def test_a_window_shorter_than_a_slot_leaves_one_slot_in_a_trace():
    assert parts("90min", 4, 10_800) == [0, 2, 4, 6]


def test_a_window_as_long_as_the_period_cuts_nothing():
    assert parts("2d", 16, 10_800) == [0] * 16


def test_windows_over_a_century_of_days_are_still_numbered():
    assert parts("2s", 36_600, 86_400)[-1] == 36_599 * 43_200


def test_more_windows_than_numbers_are_refused():
    with pytest.raises(ProtectionError, match="cut:1s makes more windows of this period than can be numbered"):
        parts("1s", 36_600, 86_400)


@examples(few=33, many=200)
@given(window=st.integers(1, 400_000), slots=st.integers(1, 200), slot_seconds=st.sampled_from([60, 900, 3600, 86_400]))
def test_windows_are_half_open_and_follow_each_other(window, slots, slot_seconds):
    for slot, part in enumerate(parts(f"{window}s", slots, slot_seconds)):
        assert part * window <= slot * slot_seconds < (part + 1) * window


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("6h", "6h"),
        (" 360 MIN ", "6h"),
        ("1d", "24h"),
        ("24hours", "24h"),
        ("90min", "90min"),
        ("45s", "45s"),
        ("3600s", "1h"),
    ],
)
def test_a_window_has_one_spelling_however_it_was_written(written, kept):
    assert Cut(written).window == kept


@pytest.mark.parametrize(
    "window",
    ["", "six hours", "6", "-6h", "1.5h", "6 fortnights", "h", "6h6h", "6h;drop table x", "٦h", "9" * 12 + "h"],
)
def test_a_window_that_is_no_duration_is_refused(window):
    with pytest.raises(ProtectionError, match="is not understood: write it like '6h', '90min', '1d' or '45s'"):
        protect.load(f"cut:{window}")


@pytest.mark.parametrize("window", ["0h", "0s", "3654d", "999999999d"])
def test_a_window_of_no_time_or_beyond_ten_years_is_refused(window):
    with pytest.raises(ProtectionError, match="must be at least a second and at most ten years"):
        protect.load(f"cut:{window}")


@pytest.mark.parametrize("text", ["cut", "cut:6h:3"])
def test_too_few_or_too_many_settings_are_refused(text):
    with pytest.raises(ProtectionError, match="is not cut:window: cut takes 1 settings"):
        protect.load(text)


# The tiny town


def test_the_tiny_town_cut_into_six_hours_has_eight_traces_a_person(lab, made):
    assert (made.traces, made.visits, made.protection, made.basis) == (48, 96, "cut:6h", "slots")
    seen = lab.sql(
        "select person, part, list_sort(list(slot)) as slots from slots.visit join slots.trace using (traces_id, trace) "
        "where traces_id = $id group by person, part",
        id=made.id,
    )
    assert set(seen["person"]) == set(range(1, 7))
    assert all(slots == [2 * part, 2 * part + 1] for _, part, slots in seen.iter_rows())


def test_fay_who_has_three_records_has_a_trace_for_each_window_with_one():
    lab = tiny_lab()
    made = cut(lab, source_of(lab, "records"))
    fay = lab.sql(
        "select part, trace.records from slots.trace as trace join records.person using (person) "
        "where traces_id = $id and uid = 'fay' order by part",
        id=made.id,
    )
    assert fay.rows() == [(2, 3), (6, 3)]


def test_an_id_is_the_beginning_of_a_digest_of_key_uid_and_part(lab, made):
    of_the_set = hashlib.sha256(f"{KEY}:cut:6h:2024-03-04T00:00:00:Europe/Lisbon".encode()).hexdigest()
    ids = lab.sql(
        "select uid, part, pseudonym from slots.trace join records.person using (person) where traces_id = $id",
        id=made.id,
    )
    for uid, part, pseudonym in ids.iter_rows():
        assert pseudonym == hashlib.sha256(f"{of_the_set}:{uid}:{part}".encode()).hexdigest()[:32]


def test_the_same_protection_is_made_once_however_it_was_written(lab, source, made):
    before = everything(lab)
    assert cut(lab, source, "cut:360min") == made
    assert all(table.equals(before[name]) for name, table in everything(lab).items())


@pytest.mark.parametrize("at_once", [1, 7, 20])
def test_some_people_at_a_time_make_the_traces_of_all_at_once(monkeypatch, at_once):
    made = []
    for visits in (1_000_000, at_once):
        monkeypatch.setattr("trajlab.protect.run.AT_ONCE", visits)
        with tiny_lab() as lab:
            traces = lab.protect(lab.release("square:1000", "3h", box=TINY_BOX), "cut:6h", key="a key for tests, known")
            made.append([lab.table(name).filter(traces_id=traces.id) for name in ("slots.trace", "slots.visit")])
            assert lab.sql("select 1 from duckdb_tables() where temporary").is_empty()
    assert all(one.equals(other) for one, other in zip(*made, strict=True))


def test_the_lab_draws_its_key_once_and_only_when_none_was_given():
    lab = tiny_lab()
    source = source_of(lab)
    cut(lab, source)
    assert lab.table("study.secret").is_empty()
    one = cut(lab, source, key=None)
    ((name, value),) = lab.table("study.secret").rows()
    assert name == "pseudonyms"
    assert len(bytes.fromhex(value)) == 32
    assert cut(lab, source, key=None) == one
    cut(lab, source, "cut:12h", key=None)
    assert lab.table("study.secret").rows() == [(name, value)]


def test_two_labs_that_draw_their_keys_share_no_id():
    ids = []
    for _ in range(2):
        lab = tiny_lab()
        cut(lab, source_of(lab), key=None)
        ids.append(set(lab.table("slots.trace")["pseudonym"].drop_nulls()))
    assert ids[0]
    assert ids[0].isdisjoint(ids[1])


def test_no_export_for_publication_has_a_secret_or_a_trace(tmp_path):
    lab = tiny_lab()
    cut(lab, source_of(lab), key=None)
    names = {file.stem for file in lab.export(tmp_path / "out", publishable=True)}
    assert names.isdisjoint({"study.secret", "slots.trace", "slots.visit", "study.traces"})


# What is refused


@pytest.mark.parametrize(
    "key", ["", "short", "fifteen letters", "a" * 40, "abab" * 10, b"bytes are no text", 1234567890123456]
)
def test_a_key_that_can_be_guessed_is_refused(key, lab, source):
    with pytest.raises(ProtectionError, match="the key can be guessed: give at least 16 characters drawn at random"):
        cut(lab, source, key=key)


def test_traces_that_an_attack_recovered_are_refused(lab, source):
    recovered = dataclasses.replace(source, id="t-recovered", run_id="a-run", basis="recovered")
    row = pl.DataFrame([dataclasses.asdict(recovered)]).rename({"id": "traces_id"})
    lab._store.insert("study.traces", row)
    with pytest.raises(ProtectionError, match="were recovered by run a-run and are nobody's for sure"):
        cut(lab, recovered)


def test_traces_that_are_protected_already_are_refused(lab, made):
    with pytest.raises(
        ProtectionError, match=f"are protected already .cut:6h.: .* start from release {made.release_id}"
    ):
        cut(lab, made, "cut:3h")


def test_traces_of_another_lab_are_refused(source):
    with pytest.raises(UnknownNameError, match="no set of traces named"):
        cut(tl.open(":memory:"), source)


def test_a_protection_that_does_not_exist_makes_no_traces():
    lab = tiny_lab()
    release = lab.release("square:1000", "3h")
    with pytest.raises(UnknownNameError, match="no protection named 'melt'; there are: .*cut"):
        lab.protect(release, "melt")
    assert lab.sql("select count(*) from study.traces").item() == 0


def test_an_unknown_protection_is_refused_with_those_that_exist(lab, source):
    with pytest.raises(UnknownNameError, match="no protection named 'mince'; there are: .*cut"):
        cut(lab, source, "mince:6h")


class Broken:
    """A protection that does not keep its word; each test says how."""

    keeps_visits = True

    def __init__(self, apply):
        self.apply = lambda visits, _period: apply(visits)


@pytest.mark.parametrize(
    ("apply", "said"),
    [
        (lambda v: v, "must give the columns person, slot, cell, visits, part"),
        (lambda v: v.with_columns(part=pl.lit(-1)), "gave 0 visits of people who had none and 96 without"),
        (lambda v: v.with_columns(part=pl.lit(None)), "gave 0 visits of people who had none and 96 without"),
        (lambda v: v.with_columns(part=0, slot=pl.col("slot") + 1), "and 6 without a slot of the release"),
        (lambda v: v.with_columns(part=0, person=pl.col("person") + 1), "gave 16 visits of people who had none"),
        (lambda v: v.with_columns(part=0, visits=0), "and 96 without a slot"),
        (lambda v: v.with_columns(part=2**40), "gave numbers that its columns cannot hold"),
        (lambda v: v.with_columns(part=0).filter(pl.col("slot") > 0), "says that it keeps visits, but 96 became 90"),
        (lambda v: v.with_columns(part=0).filter(pl.col("slot") > 99), "leaves no visit of anybody"),
        (lambda v: v.with_columns(part=0, slot=pl.lit(0)), "promises one row per trace, slot, cell"),
    ],
)
def test_a_protection_that_breaks_its_word_is_refused_and_the_lab_stays_as_it_was(
    apply, said, lab, source, monkeypatch
):
    import trajlab.protect.run as module

    before = everything(lab)
    monkeypatch.setattr(module, "load_protection", lambda _: Broken(apply))
    monkeypatch.setattr(module, "name_of", lambda _: "broken")
    with pytest.raises((ProtectionError, ContractError), match=said):
        cut(lab, source, key=None)
    assert all(table.equals(before[name]) for name, table in everything(lab).items())


# The records as a file


def read(path) -> pl.DataFrame:
    return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, try_parse_dates=True)


def test_every_record_is_in_the_file_once_under_the_id_of_its_window(tmp_path):
    lab = tiny_lab()
    made = cut(lab, source_of(lab, "observed"))
    count = protected_records(lab._store, made, tmp_path / "records.parquet")
    written = read(tmp_path / "records.parquet")
    whose = lab.sql(
        "select pseudonym, uid, part from slots.trace join records.person using (person) where traces_id = $id",
        id=made.id,
    )
    by_hand = [
        (uid, (int(ts.timestamp()) - int(MONDAY.timestamp())) // 21_600, ts, lat, lng)
        for uid, ts, lat, lng in lab.sql(
            "select uid, ts, lat, lng from records.fix join records.person using (person)"
        ).iter_rows()
    ]
    joined = written.join(whose, on="pseudonym").select("uid", "part", "ts", "lat", "lng").rows()
    assert count == len(written) == len(by_hand) == 82
    assert sorted(joined) == sorted(by_hand)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_file_has_nothing_but_ids_times_and_places_in_an_order_that_says_nothing(form, lab, made, tmp_path):
    protected_records(lab._store, made, tmp_path / f"records.{form}")
    written = read(tmp_path / f"records.{form}")
    assert written.columns == ["pseudonym", "ts", "lat", "lng", "place"]
    assert written.equals(written.sort(written.columns))
    assert [file.name for file in tmp_path.iterdir()] == [f"records.{form}"]
    content = (tmp_path / f"records.{form}").read_bytes()
    assert not any(uid.encode() in content for uid in lab.table("records.person")["uid"])


def test_the_same_key_writes_the_same_bytes(lab, made, tmp_path):
    other = tiny_lab()
    protected_records(lab._store, made, tmp_path / "one.parquet")
    protected_records(other._store, cut(other, source_of(other)), tmp_path / "other.parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "other.parquet").read_bytes()


def test_the_file_can_be_ingested_again(tmp_path):
    lab = tiny_lab()
    made = cut(lab, source_of(lab, "records"))
    protected_records(lab._store, made, tmp_path / "records.csv")
    again = tl.open(":memory:")
    again.ingest(tmp_path / "records.csv", tz="Europe/Lisbon", columns={"uid": "pseudonym"})
    assert len(again.table("records.fix")) == 82
    assert len(again.table("records.person")) == made.traces


@pytest.mark.parametrize(("day", "hours"), [(dt.date(2024, 10, 27), 25), (dt.date(2024, 3, 31), 23)])
@pytest.mark.parametrize(("slot", "window"), [("1h", "6h"), ("30min", "1h"), ("3h", "2h")])
def test_no_record_is_lost_when_the_clocks_change(day, hours, slot, window, tmp_path):
    midnight = dt.datetime.combine(day, dt.time(), ZoneInfo("Europe/Lisbon")).astimezone(dt.UTC)
    minutes = list(range(0, (hours + 24) * 60, 10))
    lab = tl.open(":memory:")
    lab.ingest(records_of(["ana"] * len(minutes), minutes, midnight), tz="Europe/Lisbon")
    source = source_of(lab, "records", slot=slot, box=None)
    made = cut(lab, source, f"cut:{window}")
    assert protected_records(lab._store, made, tmp_path / "records.parquet") == len(minutes)
    written = read(tmp_path / "records.parquet")
    seconds = {"1h": 3600, "30min": 1800, "3h": 10_800}[slot]
    local = written["ts"].dt.convert_time_zone("Europe/Lisbon").dt.replace_time_zone(None)
    since = (local - dt.datetime.combine(day, dt.time())).dt.total_seconds()
    by_clock = since // seconds * seconds // {"6h": 21_600, "1h": 3600, "2h": 7200}[window]
    assert written["ts"].n_unique() == len(minutes)
    together = {(a, b) for a, b in zip(by_clock, written["pseudonym"], strict=True)}
    assert len(together) == by_clock.n_unique() == written["pseudonym"].n_unique()


def test_people_laid_onto_a_common_week_are_cut_by_their_own_first_slot(tmp_path):
    """Ana is recorded in the first week, Ben in the second; both are cut from their own Monday."""
    week = 7 * 1440
    uids, minutes = ["ana"] * 40 + ["ben"] * 40, [*range(0, 4000, 100), *range(week, week + 4000, 100)]
    lab = tl.open(":memory:")
    lab.ingest(records_of(uids, minutes), tz="UTC")
    made = cut(lab, source_of(lab, "records", slot="1h", box=None, align=True, days=7), "cut:1d")
    assert lab.sql("select person, part from slots.trace where traces_id = $id order by all", id=made.id).rows() == [
        (person, part) for person in (1, 2) for part in (0, 1, 2)
    ]
    assert protected_records(lab._store, made, tmp_path / "records.csv") == 80
    sizes = Counter(read(tmp_path / "records.csv")["pseudonym"])
    assert sorted(sizes.values()) == sorted([15, 14, 11] * 2)


def test_records_beyond_the_box_or_the_period_or_of_people_left_out_stay_at_home(tmp_path):
    lab = tl.open(":memory:")
    lab.ingest(records_of(["ana", "ana", "ben", "ana", "cleo"] * 40, list(range(0, 200 * 30, 30))), tz="UTC")
    box = (-9.165, 38.695, -9.155, 38.715)
    source = source_of(lab, "records", slot="1h", box=box, outside="drop", days=2, people=2)
    made = cut(lab, source)
    count = protected_records(lab._store, made, tmp_path / "records.parquet")
    written = read(tmp_path / "records.parquet")
    expected = lab.sql(
        "select fix.ts, fix.lat, fix.lng from records.fix as fix join slots.person as person using (person) "
        "where kept and ts < timestamptz '2024-03-06 00:00:00+00' and lat < 38.715 and lng < -9.155 order by all"
    )
    assert written.select("ts", "lat", "lng").sort("ts", "lat", "lng").equals(expected)
    assert 0 < count < 96


def test_records_that_came_after_the_release_are_not_handed_on(tmp_path):
    lab = tiny_lab()
    made = cut(lab, source_of(lab))
    before = protected_records(lab._store, made, tmp_path / "before.parquet")
    lab.ingest(records_of(["ana"], [77]), tz="Europe/Lisbon")
    assert protected_records(lab._store, made, tmp_path / "after.parquet") == before
    assert read(tmp_path / "after.parquet").equals(read(tmp_path / "before.parquet"))


def test_a_lab_that_is_open_for_reading_can_write_the_file_but_protects_nothing(tmp_path):
    lab = tiny_lab(tmp_path / "lab.duckdb")
    source = source_of(lab)
    made = cut(lab, source)
    lab.close()
    with tl.open(tmp_path / "lab.duckdb", read_only=True) as lab:
        assert protected_records(lab._store, made, tmp_path / "records.csv") == 82
        assert cut(lab, source) == made
        with pytest.raises(TrajlabError, match="the lab is open for reading only"):
            cut(lab, source, "cut:3h")


def test_files_that_cannot_be_or_are_there_already_are_refused(lab, source, made, tmp_path):
    (tmp_path / "there.csv").write_text("mine")
    for name, said in [
        ("records.xlsx", "the name must end in .parquet or .csv"),
        ("records", "the name must end in .parquet or .csv"),
        ("there.csv", "it must be a new file in a folder that exists"),
        ("no/such/folder.csv", "it must be a new file in a folder that exists"),
    ]:
        with pytest.raises(ProtectionError, match=said):
            protected_records(lab._store, made, tmp_path / name)
    with pytest.raises(ProtectionError, match=f"traces {source.id} are not protected"):
        protected_records(lab._store, source, tmp_path / "records.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["there.csv"]
    assert (tmp_path / "there.csv").read_text() == "mine"


@pytest.mark.parametrize("apply", [lambda v: v.with_columns(part=pl.col("cell").rank("dense").cast(pl.Int32))])
def test_records_of_people_divided_by_place_have_no_part(apply, tmp_path, monkeypatch):
    import trajlab.protect.run as module

    lab = tiny_lab()
    source = source_of(lab)
    with monkeypatch.context() as patched:
        patched.setattr(module, "load_protection", lambda _: Broken(apply))
        patched.setattr(module, "name_of", lambda _: "cut:1s")
        made = cut(lab, source)
    with pytest.raises(ProtectionError, match="divides people otherwise than by time"):
        protected_records(lab._store, made, tmp_path / "records.csv")
    assert list(tmp_path.iterdir()) == []


def test_uids_of_any_kind_get_ids_like_everybody(tmp_path):
    uids = [
        "o'hara",
        '"; drop table records.fix; --',
        "ana:0",
        "ana",
        "$key",
        "Ωμέγα 🚲",
        "\u202eevil",
        "x" * 1000,
        "0" * 32,
    ]
    lab = tl.open(":memory:")
    lab.ingest(records_of(uids * 8, list(range(0, 8 * len(uids) * 20, 20))), tz="UTC")
    made = cut(lab, source_of(lab, "records", slot="1h", box=None), "cut:3h", key="'; drop schema slots; -- \ud800 🗝")
    ids = lab.sql("select pseudonym from slots.trace where traces_id = $id", id=made.id)["pseudonym"]
    assert ids.str.contains("^[0-9a-f]{32}$").all()
    assert ids.is_unique().all()
    assert protected_records(lab._store, made, tmp_path / "records.csv") == 8 * len(uids)
    assert set(read(tmp_path / "records.csv")["pseudonym"]) == set(ids)
    assert made.id != cut(lab, source_of(lab, "records", slot="1h", box=None), "cut:3h", key=OTHER_KEY).id
