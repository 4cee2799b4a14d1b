"""Records that come later change nothing of a release: every verb gives the same rows before and after."""

import datetime as dt
import json

import polars as pl
import pytest

import trajlab as tl
from trajlab.errors import ProtectionError

KEY = "a key that both labs are given, for the same fresh ids"
BOX = (-9.3, 38.6, -9.0, 38.9)
CITY = tl.simulate(people=8, days=14, interval="60min", seed=5)
GUESTS = tl.simulate(people=5, days=14, interval="60min", seed=6).with_columns(
    uid="guest-" + pl.col("uid").cast(pl.String)
)
LATER = pl.concat([
    GUESTS.select("uid", "ts", "lat", "lng"),
    CITY.with_columns(pl.col("uid").cast(pl.String), pl.col("ts") + dt.timedelta(minutes=7)).select("uid", "ts", "lat", "lng"),
])  # fmt: skip


def every_verb(lab: tl.Lab, release: str, file) -> None:
    for basis in ("slots", "observed", "records"):
        lab.risk(release, "points:3", basis=basis)
    lab.risk(release, "top:2")
    lab.schedule("grid:60min", release, points=2)
    lab.feasibility(lab.published(release))
    run = lab.attack(release, "xu2017", pairing="greedy")
    lab.risk(run, "points:2")
    lab.utility(release, "square:4000", zones="square:3000")
    lab.tradeoff(release, ["square:2000", "square:4000", "square:8000"], zones="square:3000", knowledge="top:2")
    lab.smallest_set(release, str(CITY["uid"][0]), most=2)
    made = lab.protect(release, "cut:6h", basis="records", key=KEY)
    lab.risk(made, "points:2")
    lab.protected_records(made, file)


def everything(lab: tl.Lab, *ids: str) -> dict[str, list[tuple]]:
    """Every table but those of the records and of other releases, with what carries any of the ids."""
    tables = [name for name in lab.sql("select schema_name || '.' || table_name as name from duckdb_tables()")["name"]
              if not name.startswith(("records.", "counts.release")) and name not in ("study.lab", "study.secret")]  # fmt: skip
    return {name: sorted(lab.sql(f"select * from {name}").rows(), key=repr) for name in sorted(tables)}


@pytest.fixture(scope="module")
def labs(tmp_path_factory):
    """One lab asked at once, and one asked after more records, other releases and their questions came."""
    folder = tmp_path_factory.mktemp("older")
    kept = {}
    for when in ("before", "after"):
        lab = tl.open(":memory:")
        lab.ingest(CITY, tz="Europe/Lisbon")
        first = lab.release(index="square:1000", slot="2h", box=BOX)
        second = None
        if when == "after":
            lab.ingest(LATER, tz="Europe/Lisbon")
            second = lab.release(index="square:1000", slot="2h", box=BOX)
            lab.risk(second, "points:3", basis="records")
        every_verb(lab, first.id, folder / f"{when}.csv")
        kept[when] = (lab, first, second, folder / f"{when}.csv")
    return kept


def test_every_verb_gives_an_older_release_the_same_rows_after_more_records_came(labs):
    (before, first, _, _), (after, again, second, _) = labs["before"], labs["after"]
    assert first.id == again.id != second.id
    now, then = everything(after), everything(before)
    for name, rows in then.items():
        missing = set(map(repr, rows)).difference(map(repr, now[name]))
        assert not missing, (name, len(missing))
    assert {name for name, rows in then.items() if rows} >= {
        "metrics.risk", "metrics.anonymity", "slots.visit", "slots.schedule", "metrics.person_leak", "metrics.utility",
        "metrics.tradeoff", "metrics.recovery", "metrics.day_gain", "attacks.track", "metrics.movement",
    }  # fmt: skip


def test_protected_records_of_an_older_release_are_the_same_bytes_after_more_records_came(labs):
    assert labs["before"][3].read_bytes() == labs["after"][3].read_bytes()


def test_a_release_remembers_the_newest_source_that_it_was_made_from(labs):
    lab, first, second, _ = labs["after"]
    newest = dict(lab.sql("select release_id, last_source from study.release").iter_rows())
    assert (newest[first.id], newest[second.id]) == (1, 2)


def test_records_taken_out_of_the_lab_since_are_missed_in_so_many_words(tmp_path):
    day = dt.datetime(2024, 3, 4, 9)
    home = [("hermit", day + dt.timedelta(hours=n), 38.71, -9.14) for n in range(4)]
    out = [("rover", day + dt.timedelta(hours=n), 38.71 + n / 100, -9.14) for n in range(4)]
    lab = tl.open(":memory:")
    columns = {"schema": ["uid", "ts", "lat", "lng"], "orient": "row"}
    lab.ingest(pl.DataFrame(home + out, **columns), tz="UTC")
    release = lab.release(index="square:1000", slot="1h")
    made = lab.protect(release, "cut:6h", basis="records")
    lab.ingest(pl.DataFrame([("rover", day, 38.9, -9.1)], **columns), tz="UTC", drop_single_location=True)
    file = tmp_path / "out.csv"
    with pytest.raises(ProtectionError) as refused:
        lab.protected_records(made, file)
    assert str(refused.value) == (
        f"8 records are behind release {release.id} and the lab has 4 of them now: were people taken out of it since "
        "(drop_single_location)? No file was made"
    )
    assert not file.exists()
    assert json.loads(lab.sql("select settings from study.release").item())["index"] == "square:1000"
