"""Flows between zones before and after a generalisation: by hand on the tiny town, and against slow versions."""

from __future__ import annotations

import datetime as dt
import itertools
import json
from collections import Counter, defaultdict
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl
import pyproj
import pytest
import shapely
from conftest import TINY, TINY_BOX, examples, tiny_lab
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import trajlab as tl
from trajlab.cli import main
from trajlab.errors import ReleaseError, SpatialError, UnknownNameError, UtilityError
from trajlab.query import Query
from trajlab.store import Store
from trajlab.utility import targets
from trajlab.utility.overlap import WHOLE, billionths

BROKEN = Path(__file__).parents[1] / "fixtures" / "broken" / "zones"
BOX = (8.0, 47.0, 8.2, 47.12)
START = dt.datetime(2024, 3, 4, tzinfo=dt.UTC)
SEEDS = st.integers(0, 2**32 - 1)


# ---------------------------------------------------------------- a random city, and everything about it computed slowly


def zone_file(folder: Path, shapes: dict[str, shapely.Geometry], name: str = "zones.geojson") -> Path:
    features = [
        {"type": "Feature", "id": zone, "properties": {}, "geometry": shapely.geometry.mapping(shape)}
        for zone, shape in shapes.items()
    ]
    file = folder / name
    file.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return file


def rectangles(rng: np.random.Generator, across: int, down: int) -> dict[str, shapely.Geometry]:
    """Zones of uneven size that divide the study box, a little beyond its edges."""
    west, south, east, north = BOX
    xs = np.r_[west - 0.1, np.sort(rng.uniform(west, east, across - 1)), east + 0.1]
    ys = np.r_[south - 0.1, np.sort(rng.uniform(south, north, down - 1)), north + 0.1]
    pairs = itertools.product(itertools.pairwise(xs), itertools.pairwise(ys))
    return {f"z{n:02}": shapely.box(x0, y0, x1, y1) for n, ((x0, x1), (y0, y1)) in enumerate(pairs)}


def city(folder: Path, seed: int, *, people: int = 8, records: int = 25, stations: int = 9, **lab_settings) -> tl.Lab:
    rng = np.random.default_rng(seed)
    masts = pl.DataFrame(
        {
            "station": [f"s{n}" for n in range(stations)],
            "lat": rng.uniform(BOX[1], BOX[3], stations).round(5),
            "lng": rng.uniform(BOX[0], BOX[2], stations).round(5),
        }
    )
    often = rng.dirichlet(np.full(stations, 0.6), people)
    rows = [
        {
            "uid": f"u{person}",
            "ts": START + dt.timedelta(minutes=int(minute)),
            "station": f"s{rng.choice(stations, p=often[person])}",
        }
        for person in range(people)
        for minute in np.sort(rng.integers(0, 2000, records))
    ]
    lab = tl.open(":memory:", **lab_settings)
    lab.ingest(pl.DataFrame(rows), kind="cdr", tz="UTC", stations=masts)
    lab.geography(zones=zone_file(folder, rectangles(rng, int(rng.integers(2, 5)), int(rng.integers(2, 4)))))
    return lab


def slow_movements(lab: tl.Lab, index_id: int, shortest: float = 5, longest: float = 100) -> dict[str, Counter]:
    fixes = lab.sql("select person, ts, cell from grid.fix where index_id = $id", id=index_id).rows()
    found = {"raw": Counter(), "constrained": Counter()}
    for _, group in itertools.groupby(sorted(fixes), key=lambda fix: fix[0]):
        for (_, before, origin), (_, after, destination) in itertools.pairwise(group):
            if origin != destination:
                found["raw"][origin, destination] += 1
                if shortest * 60 <= (after - before).total_seconds() <= longest * 60:
                    found["constrained"][origin, destination] += 1
    return found


def slow_shares(lab: tl.Lab, index_id: int, zones_id: int) -> dict[int, dict[int, float]]:
    """Every cell with every zone, one pair after another, in a projection of pyproj's."""
    flat = pyproj.Transformer.from_crs("OGC:CRS84", "+proj=cea +lat_ts=47 +lon_0=8", always_xy=True)

    def shapes(which: int) -> dict[int, shapely.Geometry]:
        rows = lab.sql("select cell, polygon from grid.cell where index_id = $id", id=which).rows()
        return {
            cell: shapely.transform(
                shapely.segmentize(shapely.from_wkt(text), 0.002), lambda xy: np.column_stack(flat.transform(*xy.T))
            )
            for cell, text in rows
        }

    zones = shapes(zones_id)
    shares = {}
    for cell, shape in shapes(index_id).items():
        areas = {zone: shape.intersection(other).area for zone, other in zones.items()}
        shares[cell] = {zone: area / sum(areas.values()) for zone, area in areas.items() if area > 100}
    return shares


def slow_flows(between_cells: Counter, shares: dict[int, dict[int, float]]) -> dict[tuple[int, int], float]:
    flows: dict[tuple[int, int], float] = defaultdict(float)
    for (origin, destination), people in between_cells.items():
        for (zone, share), (other, part) in itertools.product(shares[origin].items(), shares[destination].items()):
            flows[zone, other] += people * share * part
    return dict(flows)


def slow_loss(before: dict, after: dict, pairs: set | None = None) -> float:
    pairs = before.keys() | after.keys() if pairs is None else pairs
    return sum(abs(before.get(p, 0) - after.get(p, 0)) for p in pairs) / sum(before.get(p, 0) for p in pairs)


def matrix(lab: tl.Lab, od_id: str, flows: str = "raw") -> dict[tuple[int, int], float]:
    rows = lab.sql(f"select origin, destination, {flows} from metrics.od_flow where od_id = $id", id=od_id).rows()
    return {(origin, destination): flow for origin, destination, flow in rows if flow > 0}


def sides(lab: tl.Lab, utility_id: str) -> list[dict]:
    ids = lab.sql("select before_id, after_id from study.utility where utility_id = $id", id=utility_id).row(0)
    return [lab.sql("select * from study.od where od_id = $id", id=od_id).row(0, named=True) for od_id in ids]


# ---------------------------------------------------------------- by hand


def test_the_tiny_town_by_hand():
    """Eq. 1 to 4. Northgate and Southgate are in the west, mill and hospital in the east, school and market on the border.

    The 24 movements of fixtures/tiny/README.md: Northgate-mill 4 and 3 back, mill-market 2, market-mill 1, market-Northgate 1,
    school-Southgate 2 and 1 back, hospital-Southgate 3 and 2 back, market-school 2 and 2 back, school-hospital 1. With half of
    school and market in either zone: west to west 3, west to east 8.5, east to west 9.5, east to east 3. In squares of
    2 km, school and market are in squares of which a quarter is in the west: 1.25, 8, 9.5, 5.25.
    The border runs one metre beside the middle of the square, so all this holds to a hundredth.
    """
    lab = tiny_lab()
    release = lab.release(index="square:1000", slot="3h", box=TINY_BOX, outside="clamp")
    found = lab.utility(release, "square:2000")
    before, after = sides(lab, found.id)
    assert lab.sql("select sum(raw), sum(constrained) from metrics.movement").row(0) == (24, 4)
    west, east = (
        lab.sql(
            "select cell from grid.cell where index_id = $id and label = $zone", id=before["zones_id"], zone=zone
        ).item()
        for zone in ("west", "east")
    )
    order = [(west, west), (west, east), (east, west), (east, east)]
    assert [matrix(lab, before["od_id"])[pair] for pair in order] == pytest.approx([3, 8.5, 9.5, 3], abs=0.02)
    assert [matrix(lab, after["od_id"])[pair] for pair in order] == pytest.approx([1.25, 8, 9.5, 5.25], abs=0.02)
    assert found.loss() == pytest.approx((1.75 + 0.5 + 0 + 2.25) / 24, abs=0.002)
    assert found.loss("commuters") == pytest.approx(found.loss() / 2)  # where no flow is lost
    # Emil's four walks on Monday: market, school, market, mill, market, each within 100 minutes
    assert [matrix(lab, before["od_id"], "constrained")[pair] for pair in order] == pytest.approx(
        [0.5, 1, 1, 1.5], abs=0.02
    )
    # Dora and Cleo at Southgate, by the hour, and so on: README.md
    hours = dict(lab.sql("select cell, person_hours from metrics.presence").rows())
    assert hours[0] == 18
    assert sum(hours.values()) == 82


def test_a_movement_takes_at_least_the_shortest_and_at_most_the_longest_time(tmp_path):
    lab = tiny_lab()
    release = lab.release(index="square:1000", slot="3h", box=TINY_BOX, outside="clamp")
    for shortest, longest, walks in ((55, 70, 4), (56, 70, 3), (55, 69, 3), (0, 54, 1), (0, 0, 1), (71, 179, 2)):
        found = lab.utility(release, "square:2000", shortest=shortest, longest=longest)
        assert found.losses.filter(measure="all", flows="constrained")["before"].item() == walks, (shortest, longest)
        assert found.losses.filter(measure="all", flows="raw")["before"].item() == 24


def test_only_people_and_days_of_the_release_move():
    """Early and late go round three places on a Monday, one a week after the other; other days are no part of it.

    Few is seen moving once, in one slot of 24, and left out for it.
    """
    round_trip = [(0, 0), (30, 1), (60, 2), (120, 0)]
    there = [(0, 0), (30, 1)]
    seen = {
        "early": {0: round_trip, 1: there, 7: there},
        "late": {0: there, 6: there, 7: round_trip},
        "few": {0: [(0, 0), (20, 1)]},
    }
    rows = [
        {
            "uid": uid,
            "ts": START + dt.timedelta(days=day, hours=8, minutes=minute),
            "lat": 47.05,
            "lng": 8.05 + 0.03 * n,
        }
        for uid, days in seen.items()
        for day, moments in days.items()
        for minute, n in moments
    ]
    lab = tl.open(":memory:")
    lab.ingest(pl.DataFrame(rows), tz="UTC")
    release = lab.release(index="square:1000", slot="1h", fill="none", box=BOX, days=1, align=True, coverage=0.1)
    lab.utility(release, "square:2000", zones="square:4000")
    moved = lab.sql("select raw, constrained from metrics.movement order by origin, destination").rows()
    assert moved == [(2, 2)] * 3
    assert lab.sql("select person_hours from metrics.presence order by cell").rows() == [(4,), (2,), (2,)]


# ---------------------------------------------------------------- against slow versions


@examples(few=4, many=16)
@given(seed=SEEDS)
def test_matrices_and_losses_are_those_of_a_slow_version(seed, tmp_path_factory):
    lab = city(tmp_path_factory.mktemp("city"), seed)
    release = lab.release(index="stations", slot="1h", fill="none", box=BOX)
    after_index = ["stations:4000", "stations:9000", "square:3000", "h3:6"][seed % 4]
    found = lab.utility(release, after_index, zones=["zones", "square:4000"][seed // 4 % 2])
    before, after = sides(lab, found.id)
    movements = slow_movements(lab, before["index_id"])
    becomes = dict(
        lab.sql("select cell, coarse from grid.generalised where coarse_id = $id", id=after["index_id"]).rows()
    )
    shares = [slow_shares(lab, side["index_id"], side["zones_id"]) for side in (before, after)]
    for flows in ("raw", "constrained"):
        merged: Counter = Counter()
        for (origin, destination), people in movements[flows].items():
            merged[becomes[origin], becomes[destination]] += people
        slow = [slow_flows(movements[flows], shares[0]), slow_flows(merged, shares[1])]
        for side, expected in zip((before, after), slow, strict=True):
            got = matrix(lab, side["od_id"], flows)
            total = sum(movements[flows].values())
            assert sum(got.values()) == pytest.approx(total, rel=1e-12), "mass is conserved"
            assert side[flows] == pytest.approx(total, rel=1e-12)
            for pair in got.keys() | expected.keys():
                assert got.get(pair, 0) == pytest.approx(expected.get(pair, 0), abs=2e-3)
        if total:
            assert found.loss("all", flows) == pytest.approx(slow_loss(*slow), abs=1e-3)
            common = 2 * sum(min(slow[0].get(p, 0), slow[1].get(p, 0)) for p in slow[0]) / (2 * total)
            assert found.loss("commuters", flows) == pytest.approx(1 - common, abs=1e-3)
            row = found.losses.filter(measure="all", flows=flows).row(0, named=True)
            assert row["common_part"] == pytest.approx(common, abs=1e-3)


def slow_backbone(flows: dict[tuple[int, int], float], alpha: float) -> set[tuple[int, int]]:
    """The disparity filter on a graph of networkx's, edge by edge, from either end."""
    graph = nx.DiGraph()
    graph.add_weighted_edges_from((*pair, flow) for pair, flow in flows.items())
    kept = set()
    for origin, destination, weight in graph.edges(data="weight"):
        for strength, degree in (
            (graph.out_degree(origin, weight="weight"), graph.out_degree(origin)),
            (graph.in_degree(destination, weight="weight"), graph.in_degree(destination)),
        ):
            if degree > 1 and (1 - weight / strength) ** (degree - 1) < alpha:
                kept.add((origin, destination))
    return kept


def slow_pareto(flows: dict[tuple[int, int], float], share: float) -> set[tuple[int, int]]:
    total, upto, kept = sum(flows.values()), 0.0, set()
    for size, ties in itertools.groupby(sorted(flows.items(), key=lambda item: -item[1]), key=lambda item: item[1]):
        if upto >= share * total - 1e-9:
            break
        pairs = [pair for pair, _ in ties]
        kept |= set(pairs)
        upto += size * len(pairs)
    return kept


def slow_hotspots(lab: tl.Lab, before: dict, shares: dict[int, dict[int, float]]) -> set[int]:
    """Sort zones by people; the tangent at the end of the Lorenz curve cuts the axis at 1 - mean / max."""
    seen = lab.sql("select person, ts, cell from grid.fix where index_id = $id", id=before["index_id"]).rows()
    by_the_hour = Counter(
        cell for cell, _, _ in {(cell, ts.replace(minute=0, second=0), who) for who, ts, cell in seen}
    )
    assert dict(lab.sql("select cell, person_hours from metrics.presence").rows()) == by_the_hour
    people: dict[int, float] = defaultdict(float)
    for cell, hours in by_the_hour.items():
        for zone, share in shares[cell].items():
            people[zone] += hours * share
    every = sorted([*people.values(), *[0.0] * (before["zones"] - len(people))])
    cut = 1 - (sum(every) / len(every)) / every[-1]
    return {zone for zone, n in people.items() if sum(v <= n + 1e-6 for v in every) / len(every) > cut}


@examples(few=4, many=16)
@given(seed=SEEDS)
def test_major_flows_are_those_of_a_slow_version(seed, tmp_path_factory):
    lab = city(tmp_path_factory.mktemp("city"), seed, people=12, records=40)
    release = lab.release(index="stations", slot="1h", fill="none", box=BOX)
    pareto, alpha = [(0.8, 0.05), (0.5, 0.2)][seed % 2]
    found = lab.utility(release, "stations:6000", pareto=pareto, alpha=alpha)
    before, after = sides(lab, found.id)
    hot = slow_hotspots(lab, before, slow_shares(lab, before["index_id"], before["zones_id"]))
    assert set(lab.sql("select zone from metrics.od_zone where hotspot")["zone"]) == hot
    for flows in ("raw", "constrained"):
        original, changed = (matrix(lab, side["od_id"], flows) for side in (before, after))
        expected = {
            "pareto": slow_pareto(original, pareto),
            "backbone": slow_backbone(original, alpha),
            "hotspot": {pair for pair in original if hot & set(pair)},
        }
        major = lab.sql("select * from metrics.major_flow where flows = $flows", flows=flows)
        for measure, pairs in expected.items():
            assert set(major.filter(pl.col(measure)).select("origin", "destination").rows()) == pairs, measure
            row = found.losses.filter(measure=measure, flows=flows).row(0, named=True)
            assert row["pairs"] == len(pairs)
            if pairs:
                assert row["loss"] == pytest.approx(slow_loss(original, changed, pairs), abs=1e-9)
            else:
                assert row["loss"] is None


def random_flows(rng: np.random.Generator, zones: int) -> dict[tuple[int, int], float]:
    """A few pairs of zones, with whole and fractional flows, many of them equal."""
    pairs = [(a, b) for a in range(zones) for b in range(zones) if rng.random() < 0.35]
    return {pair: float(rng.choice([0.25, 1, 1, 2, 3.5, 7, 20, 64])) for pair in pairs or [(0, 1)]}


def od_frame(od_id: str, raw: dict, constrained: dict) -> pl.DataFrame:
    pairs = sorted(raw.keys() | constrained.keys())
    columns = {
        "origin": [a for a, _ in pairs],
        "destination": [b for _, b in pairs],
        "raw": [raw.get(pair, 0.0) for pair in pairs],
        "constrained": [constrained.get(pair, 0.0) for pair in pairs],
    }
    kinds = {"origin": pl.UInt64, "destination": pl.UInt64, "raw": pl.Float64, "constrained": pl.Float64}
    return pl.DataFrame(columns, schema=kinds).with_columns(od_id=pl.lit(od_id))


def test_flows_that_are_equal_but_for_rounding_are_major_together():
    """One trip between two squares of 3 km, each of nine zones: 81 flows of a ninth of a ninth, which no decimal is."""
    lab = tl.open(":memory:")
    rows = [
        {"uid": uid, "ts": START + dt.timedelta(minutes=30 * n), "lat": 47.01, "lng": 8.01 + 0.1 * n}
        for uid in "abcde"
        for n in (0, 1)
    ]
    lab.ingest(pl.DataFrame(rows), tz="UTC")
    release = lab.release(index="square:3000", slot="1h", fill="none", box=BOX)
    for share in (0.1, 0.8):
        losses = lab.utility(release, "square:6000", zones="square:1000", pareto=share).losses.filter(flows="raw")
        assert dict(losses.select("measure", "pairs").rows())["pareto"] == 81
    assert lab.sql("select distinct sum(hotspot::int) from metrics.od_zone group by od_id").item() == 18


@pytest.fixture(scope="module")
def empty() -> Store:
    """A lab for many examples, each of which leaves it as it was."""
    return Store()


def test_flows_that_make_up_the_share_exactly_are_enough():
    store = Store()
    with store.transaction("flows"):
        store.insert("metrics.od_flow", od_frame("o", {(0, 1): 8.0, (1, 0): 2.0}, {}))
        store.build(Query.load("metrics.major_flow"), od_id="o", pareto=0.8, alpha=0.05)
    assert store.rows("select origin, destination from metrics.major_flow where pareto") == [(0, 1)]


@examples(few=20, many=120)
@given(seed=SEEDS)
def test_sparse_flows_are_judged_and_compared_as_by_a_slow_version(empty, seed):
    """The tables alone, on flows that leave most pairs empty and lose some of their mass."""
    rng = np.random.default_rng(seed)
    zones = int(rng.integers(3, 9))
    pareto, alpha = float(rng.choice([0.5, 0.8, 1])), float(rng.choice([0.05, 0.25, 0.5]))
    before = {flows: random_flows(rng, zones) for flows in ("raw", "constrained")}
    after = {flows: random_flows(rng, zones) for flows in ("raw", "constrained")}
    hot = {zone for zone in range(zones) if rng.random() < 0.3}
    people = pl.DataFrame({"zone": range(zones)}, schema={"zone": pl.UInt64}).with_columns(
        od_id=pl.lit("o1"), person_hours=pl.lit(1.0), percentile=pl.lit(0.5), hotspot=pl.col("zone").is_in(sorted(hot))
    )
    with empty.rehearsal("flows"):
        empty.insert("metrics.od_flow", od_frame("o1", before["raw"], before["constrained"]))
        empty.insert("metrics.od_flow", od_frame("o2", after["raw"], after["constrained"]))
        empty.insert("metrics.od_zone", people)
        empty.build(Query.load("metrics.major_flow"), od_id="o1", pareto=pareto, alpha=alpha)
        empty.build(Query.load("metrics.utility"), utility_id="u", before_id="o1", after_id="o2")
        major = empty.frame("select * from metrics.major_flow")
        losses = empty.frame("select * from metrics.utility")
    for flows in ("raw", "constrained"):
        original, changed = before[flows], after[flows]
        every = original.keys() | changed.keys()
        expected = {
            "all": every,
            "commuters": every,
            "pareto": slow_pareto(original, pareto),
            "backbone": slow_backbone(original, alpha),
            "hotspot": {pair for pair in original if hot & set(pair)},
        }
        for measure, pairs in expected.items():
            if measure not in ("all", "commuters"):
                kept = major.filter(pl.col(measure), pl.col("flows") == flows)
                assert set(kept.select("origin", "destination").rows()) == pairs, measure
            row = losses.filter(measure=measure, flows=flows).row(0, named=True)
            assert row["pairs"] == len(pairs)
            if not pairs:
                assert (row["loss"], row["common_part"], row["before"], row["difference"]) == (None, None, 0, 0)
                continue
            total = [sum(side.get(pair, 0) for pair in pairs) for side in (original, changed)]
            common = 2 * sum(min(original.get(pair, 0), changed.get(pair, 0)) for pair in pairs) / sum(total)
            assert (row["before"], row["after"], row["common_part"]) == pytest.approx((*total, common))
            assert row["loss"] == pytest.approx(
                1 - common if measure == "commuters" else slow_loss(original, changed, pairs)
            )


@pytest.mark.parametrize(
    ("people", "zones", "hot"),
    [
        ([4, 2, 1, 1], 4, [0, 1]),  # the others are at the percentile 1 - 2/4, not above it
        ([4, 2, 1, 1], 8, [0, 1]),  # nor above 1 - 1/4, with four empty zones below them
        ([4, 2, 2], 3, [0, 1, 2]),  # both above 1/3, as no more than two have as many
        ([4, 2, 2 - 2e-9], 3, [0, 1, 2]),  # as many but for rounding
        ([5, 5], 2, [0, 1]),
    ],
)
def test_hotspots_by_hand(people, zones, hot):
    store = Store()
    ids = {"flows_id": "f", "index_id": 1, "zones_id": 2}
    numbers = pl.DataFrame({"cell": range(len(people))}, schema={"cell": pl.UInt64})
    with store.transaction("people in zones"):
        hours = pl.Series([round(n) for n in people])
        store.insert("metrics.presence", numbers.with_columns(flows_id=pl.lit("f"), person_hours=hours))
        shares = numbers.with_columns(
            zone=pl.col("cell"),
            index_id=pl.lit(1, pl.UInt64),
            zones_id=pl.lit(2, pl.UInt64),
            billionths=pl.Series([round(WHOLE * n / round(n)) for n in people]),
            area_km2=pl.lit(1.0),
        )
        store.insert("grid.overlap", shares)
        store.build(Query.load("metrics.od_zone"), od_id="o", zones=zones, **ids)
    assert [zone for (zone,) in store.rows("select zone from metrics.od_zone where hotspot order by zone")] == hot
    assert store.rows("select max(percentile) from metrics.od_zone") == [(1.0,)]


def test_flows_as_large_as_the_last_major_one_are_major_too(tmp_path):
    """Ten equal flows: nobody can say which eight are the largest."""
    rows = [
        {"uid": f"u{n}", "ts": START + dt.timedelta(minutes=30 * i), "lat": 47.01, "lng": 8.01 + 0.018 * (n + i)}
        for n in range(10)
        for i in (0, 1)
    ]
    lab = tl.open(":memory:")
    lab.ingest(pl.DataFrame(rows), tz="UTC")
    release = lab.release(index="square:500", slot="1h", fill="none", box=BOX)
    losses = lab.utility(release, "square:1000", zones="square:500").losses
    assert losses.filter(measure="pareto", flows="raw")["pairs"].item() == 10


# ---------------------------------------------------------------- laws


@examples(few=67, many=400)
@given(st.lists(st.lists(st.floats(1e-6, 1e12), min_size=1, max_size=9), min_size=1, max_size=9))
def test_shares_are_whole_and_add_up_to_one(groups):
    which = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    amounts = np.concatenate([np.array(group) for group in groups])
    share = billionths(which, amounts)
    assert (np.bincount(which, share) == WHOLE).all()
    exact = amounts / np.bincount(which, amounts)[which]
    assert (np.abs(share / WHOLE - exact) <= 1.001 / WHOLE).all()


@pytest.fixture(scope="module")
def town_by_the_lake(tmp_path_factory) -> tl.Lab:
    return city(tmp_path_factory.mktemp("town"), 5, people=15, records=40)


@pytest.mark.parametrize("index", ["stations", "stations:3000", "square:2000", "h3:7", "zones"])
@pytest.mark.parametrize("zones", ["zones", "h3:6", "square:5000"])
def test_a_release_against_itself_loses_nothing(index, zones, town_by_the_lake):
    lab = town_by_the_lake
    release = lab.release(index=index, slot="1h", fill="none", box=BOX)
    losses = lab.utility(release, release, zones=zones).losses
    assert losses["loss"].drop_nulls().max() == 0
    assert losses["common_part"].drop_nulls().min() == 1
    assert losses.filter(measure="all")["loss"].null_count() == 0


@examples(few=2, many=6)
@given(seed=SEEDS)
def test_neither_the_names_of_zones_nor_the_order_of_rows_nor_threads_change_anything(seed, tmp_path_factory):
    def losses(rename, order, threads):
        folder = tmp_path_factory.mktemp("city")
        lab = city(folder, seed, threads=threads)
        zones = lab.sql("select name, outline from records.zone").rows()
        shapes = {rename(zone): shapely.from_wkb(polygon) for zone, polygon in zones}
        lab.geography(zones=zone_file(folder, dict(order(list(shapes.items())))))
        release = lab.release(index="stations", slot="1h", fill="none", box=BOX)
        return lab.utility(release, "stations:5000").losses

    plain = losses(str, list, 1)
    assert plain["loss"].max() > 0
    assert_frame_equal(plain, losses(str, lambda rows: rows[::-1], 2), check_exact=True)
    swapped = losses(lambda zone: f"y{99 - int(zone[1:]):02}", list, 2)
    assert_frame_equal(plain, swapped, rel_tol=1e-9)  # shares are rounded in another order


def test_the_shares_of_every_cell_add_up_to_one(town_by_the_lake):
    lab = town_by_the_lake
    for index, zones in itertools.product(["stations", "square:1500", "h3:8"], ["zones", "h3:6"]):
        lab.utility(lab.release(index=index, slot="1h", fill="none", box=BOX), "square:5000", zones=zones)
    sums = lab.sql("select index_id, zones_id, cell, sum(billionths) as whole from grid.overlap group by all")
    assert (sums["whole"] == WHOLE).all()
    cells = lab.sql("select distinct index_id, cell from grid.overlap").height
    assert (
        cells == lab.sql("select count(*) from grid.cell where index_id in (select index_id from grid.overlap)").item()
    )


def test_hexagons_beyond_which_masts_lie_are_the_nearest(tmp_path):
    """Masts west and east of the study box, by so much that their polygons have nothing of it."""
    masts = {"far west": 7.4, "west": 7.6, "middle": 8.05, "east": 8.5, "far east": 8.7}
    rows = [
        {"uid": uid, "ts": START + dt.timedelta(minutes=30 * n), "station": station}
        for uid in "ab"
        for n, station in enumerate(masts)
    ]
    lab = tl.open(":memory:")
    table = pl.DataFrame({"station": masts.keys(), "lat": [47.05] * 5, "lng": masts.values()})
    lab.ingest(pl.DataFrame(rows), kind="cdr", tz="UTC", stations=table)
    release = lab.release(index="stations", slot="1h", fill="none", box=(8.0, 47.0, 8.1, 47.1), outside="clamp")
    before, _ = sides(lab, lab.utility(release, "stations:300", zones="h3:7").id)
    placed = """
        select mast.label, zone.lng
        from grid.overlap as overlap
        join grid.cell as mast on mast.index_id = overlap.index_id and mast.cell = overlap.cell
        join grid.cell as zone on zone.index_id = overlap.zones_id and zone.cell = overlap.zone
        where overlap.area_km2 = 0 and overlap.billionths = $whole and overlap.index_id = $id
    """
    where = dict(lab.sql(placed, whole=WHOLE, id=before["index_id"]).rows())
    assert set(where) == set(masts) - {"middle"}
    assert all((lng < 8.02) if "west" in mast else (lng > 8.08) for mast, lng in where.items())


@examples(few=5, many=50)
@given(seed=SEEDS)
def test_every_hexagon_that_has_a_part_of_the_box_is_a_zone(empty, seed):
    rng = np.random.default_rng(seed)
    west, south = rng.uniform(-170, 160), rng.uniform(-65, 65)
    box = (west, south, west + rng.uniform(0.05, 0.2), south + rng.uniform(0.05, 0.2))
    zones = targets.target(empty, f"h3:{rng.integers(5, 8)}", box)
    lon, lat = rng.uniform(box[0], box[2], 50_000), rng.uniform(box[1], box[3], 50_000)
    edge = rng.integers(0, 4, 10_000)
    lon[:10_000] = np.select([edge == 0, edge == 1], [box[0], box[2]], lon[:10_000])
    lat[:10_000] = np.select([edge == 2, edge == 3], [box[1], box[3]], lat[:10_000])
    assert set(zones.index.assign(lon, lat)) <= set(zones.zones)


def test_loading_zones_later_changes_nothing_between_other_zones(tmp_path):
    """Polygons of masts go as far as the zones that flows are compared between, whatever else the lab has."""
    lab = city(tmp_path, 3)
    release = lab.release(index="stations", slot="1h", fill="none", box=BOX)
    file = zone_file(tmp_path, rectangles(np.random.default_rng(1), 3, 2), "all.geojson")
    first = [lab.utility(release, "stations:5000", zones=zones).losses for zones in ("h3:7", file)]
    west, south, _, north = BOX
    halves = {"a": shapely.box(west, south, 8.1, north), "b": shapely.box(8.1, south, 8.15, north)}
    lab.geography(zones=zone_file(tmp_path, halves, "small.geojson"))
    for zones, before in zip(("h3:7", file), first, strict=True):
        assert_frame_equal(lab.utility(release, "stations:5000", zones=zones).losses, before, check_exact=True)
        assert lab.utility(release, "stations", zones=zones).loss() == 0


def test_places_at_one_spot_are_in_the_zone_of_their_spot(tmp_path):
    lab = tl.open(":memory:")
    spots = {"lib1": 8.05, "lib2": 8.05, "gate": 8.15}
    places = pl.DataFrame({"place": spots.keys(), "lat": [47.05] * 3, "lng": spots.values()})
    rows = [
        {"uid": uid, "ts": START + dt.timedelta(minutes=30 * n), "place": place}
        for uid in "ab"
        for n, place in enumerate(["lib1", "gate", "lib2", "gate"])
    ]
    lab.ingest(pl.DataFrame(rows), kind="wifi", tz="UTC", places=places)
    halves = {"a": shapely.box(7.9, 46.9, 8.1, 47.2), "b": shapely.box(8.1, 46.9, 8.3, 47.2)}
    release = lab.release(index="places", slot="1h", fill="none")
    found = lab.utility(release, "square:20000", zones=zone_file(tmp_path, halves))
    west, east = (0, 1)
    assert matrix(lab, sides(lab, found.id)[0]["od_id"]) == pytest.approx({(west, east): 4, (east, west): 2})


def test_masts_beyond_a_grid_belong_to_the_nearest_of_its_zones(tmp_path):
    lab = city(tmp_path, 3, people=20, records=60)
    release = lab.release(index="stations", slot="1h", fill="none", box=(8.0, 47.0, 8.1, 47.06), outside="clamp")
    before, _ = sides(lab, lab.utility(release, "stations:3000", zones="square:2000").id)
    shares = """
        select mast.label as mast, zone.label as zone, overlap.billionths, overlap.area_km2
        from grid.overlap as overlap
        join grid.cell as mast on mast.index_id = overlap.index_id and mast.cell = overlap.cell
        join grid.cell as zone on zone.index_id = overlap.zones_id and zone.cell = overlap.zone
        where overlap.index_id = $index_id and overlap.zones_id = $zones_id
    """
    found = lab.sql(shares, index_id=before["index_id"], zones_id=before["zones_id"])
    whole = found.group_by("mast").agg(pl.col("billionths").sum())
    assert sorted(whole["mast"]) == [f"s{n}" for n in range(9)]
    assert (whole["billionths"] == WHOLE).all()
    beyond = found.filter(pl.col("area_km2") == 0)
    assert sorted(beyond.select("mast", "zone").rows()) == [("s2", "3,3"), ("s5", "3,2"), ("s6", "3,3"), ("s8", "3,3")]


def test_a_merged_station_has_the_areas_of_its_members(tmp_path):
    lab = city(tmp_path, 3, people=20, records=60)
    found = lab.utility(lab.release(index="stations", slot="1h", fill="none", box=BOX), "stations:7000")
    before, after = sides(lab, found.id)
    assert lab.sql("select count(*) from grid.cell where index_id = $id", id=before["index_id"]).item() == 9
    areas = """
        select map.coarse, overlap.zone, sum(overlap.area_km2) as members, any_value(merged.area_km2) as merged
        from grid.overlap as overlap
        join grid.generalised as map on map.cell = overlap.cell and map.index_id = overlap.index_id
        join grid.overlap as merged on merged.index_id = $after and merged.cell = map.coarse and merged.zone = overlap.zone
        where overlap.index_id = $before
        group by all
    """
    both = lab.sql(areas, before=before["index_id"], after=after["index_id"])
    assert both["members"].to_list() == pytest.approx(both["merged"].to_list(), rel=1e-4)
    assert 1 < len(both["coarse"].unique()) < 9


def test_movements_within_a_larger_cell_are_kept_unless_counts_are_suppressed(tmp_path):
    lab = city(tmp_path, 2, people=20, records=60)
    release = lab.release(index="stations", slot="1h", fill="none", box=BOX)
    whole = lab.utility(release, "stations:7000")
    inside = lab.sql("select sum(raw) from metrics.merged_movement where origin = destination").item()
    assert inside > 0
    few = lab.release(index="stations:7000", slot="12h", fill="none", box=BOX, min_count=3)
    less = lab.utility(release, few)
    row = less.losses.filter(measure="all", flows="raw").row(0, named=True)
    assert row["before"] == whole.losses["before"][0] > row["after"] > 0


def slow_published(lab: tl.Lab, index_id: int, coarse: dict[int, int], hours: int, enough: int) -> dict[str, Counter]:
    """Who moves in which slot, one after another; what fewer people do in a slot is left out of the sum."""
    fixes = lab.sql("select person, ts, cell from grid.fix where index_id = $id", id=index_id).rows()
    seen: dict[str, dict] = {"raw": defaultdict(list), "constrained": defaultdict(list)}
    for person, group in itertools.groupby(sorted(fixes), key=lambda fix: fix[0]):
        for (_, before, origin), (_, after, destination) in itertools.pairwise(group):
            if origin != destination:
                slot = (before - START) // dt.timedelta(hours=hours)
                key = slot, coarse[origin], coarse[destination]
                seen["raw"][key].append(person)
                if 5 <= (after - before).total_seconds() / 60 <= 100:
                    seen["constrained"][key].append(person)
    published = {}
    for flows, moves in seen.items():
        published[flows] = Counter()
        for (_, *ends), people in moves.items():
            if len(set(people)) >= enough:
                published[flows][tuple(ends)] += len(people)
    return published


@pytest.mark.parametrize(("hours", "enough"), [(6, 3), (12, 4), (24, 5), (1, 2)])
def test_small_flows_are_left_out_slot_by_slot_as_they_are_published(hours, enough, tmp_path):
    """A flow that many people make over the period, but few in any slot, is never published."""
    lab = city(tmp_path, 2, people=20, records=60)
    release = lab.release(index="stations", slot="1h", fill="none", box=BOX)
    few = lab.release(index="stations:7000", slot=f"{hours}h", fill="none", box=BOX, min_count=enough)
    found = lab.utility(release, few)
    before, after = sides(lab, found.id)
    assert (after["min_count"], after["published_id"]) == (enough, few.id)
    assert before["published_id"] is None
    made = lab.sql("select cell, coarse from grid.generalised where coarse_id = $id", id=after["index_id"])
    expected = slow_published(lab, before["index_id"], dict(made.iter_rows()), hours, enough)
    merged = lab.sql("select * from metrics.merged_movement where flows_id = $id", id=after["flows_id"])
    for flows in ("raw", "constrained"):
        counted = {(o, d): n for o, d, n in merged.select("origin", "destination", flows).iter_rows() if n}
        assert counted == expected[flows]
    whole = lab.sql("select sum(raw) from metrics.movement").item()
    assert 0 <= merged["raw"].sum() < whole
    assert found.losses.filter(measure="all", flows="raw")["after"].item() == pytest.approx(merged["raw"].sum())


def test_one_threshold_in_longer_slots_leaves_more(tmp_path):
    lab = city(tmp_path, 2, people=20, records=60)
    release = lab.release(index="stations", slot="1h", fill="none", box=BOX)
    same = {"index": "stations:7000", "fill": "none", "box": BOX, "min_count": 2}
    found = [lab.utility(release, lab.release(slot=slot, **same)) for slot in ("1h", "4h", "24h")]
    left = [each.losses.filter(measure="all", flows="raw")["after"].item() for each in found]
    assert left == sorted(left)
    assert left[0] < left[2]


def published_flows(lab: tl.Lab, release_id: str) -> Counter:
    found: Counter = Counter()
    for _, origin, destination, people in lab.published(release_id).flows.iter_rows():
        if origin != destination:
            found[origin, destination] += people
    return found


@pytest.mark.parametrize("enough", [2, 3])
def test_the_flows_of_a_protected_release_are_compared_as_they_are_published(enough):
    """Slot by slot: a threshold on the sum over the period would lose far less."""
    lab = tl.open(quiet=True)
    lab.ingest(tl.simulate(people=80, days=2, seed=2), tz="Europe/Lisbon")
    release = lab.release(index="h3:6", slot="2h")
    few = lab.release(index="h3:6", slot="2h", protect=[f"suppress:{enough}"])
    found = lab.utility(release, few, zones="h3:5")
    before, after = sides(lab, found.id)
    assert (before["published_id"], after["published_id"]) == (release.id, few.id)
    whole, left = published_flows(lab, release.id), published_flows(lab, few.id)
    hidden = 1 - sum(left.values()) / sum(whole.values())
    by_the_period = sum(n for n in whole.values() if n < enough) / sum(whole.values())
    assert by_the_period < hidden / 2
    row = found.losses.filter(measure="all", flows="raw").row(0, named=True)
    assert row["before"] == pytest.approx(sum(whole.values()))
    assert row["loss"] == pytest.approx(hidden)
    assert row["loss"] == pytest.approx(lab.count_utility(few).error("relative_error", "flow"))
    assert found.losses.filter(flows="constrained")["loss"].null_count() == 5
    for pair, od in ((whole, before), (left, after)):
        shares = dict_of_shares(lab, od["index_id"], od["zones_id"])
        assert matrix(lab, od["od_id"]) == pytest.approx(slow_flows(pair, shares), rel=1e-6)
    assert "flows are those that are published" in found.notes[0]
    assert lab.utility(release, few, zones="h3:5").losses.equals(found.losses)


def dict_of_shares(lab: tl.Lab, index_id: int, zones_id: int) -> dict[int, dict[int, float]]:
    rows = lab.sql("select cell, zone, billionths from grid.overlap where index_id = $index_id and zones_id = $zones_id",
                   index_id=index_id, zones_id=zones_id).rows()  # fmt: skip
    shares: dict[int, dict[int, float]] = defaultdict(dict)
    for cell, zone, part in rows:
        shares[cell][zone] = part / WHOLE
    return shares


def test_a_release_in_which_everybody_stays_has_no_published_flow(tmp_path):
    lab = city(tmp_path, 2, people=20, records=60)
    release = lab.release(index="stations", slot="24h", fill="none", box=BOX, days=1)
    few = lab.release(index="stations", slot="24h", fill="none", box=BOX, days=1, protect=["suppress:2"])
    with pytest.raises(UtilityError, match=f"nobody of release {release.id} is in another cell in the next slot"):
        lab.utility(release, few)


def test_other_shares_of_major_flows_are_another_answer(tmp_path):
    lab = city(tmp_path, 4, people=15, records=40)
    release = lab.release(index="stations", slot="1h", fill="none", box=BOX)
    plain = lab.utility(release, "stations:6000").losses
    for setting, measure in (({"pareto": 1}, "pareto"), ({"alpha": 1}, "backbone")):
        more = lab.utility(release, "stations:6000", **setting).losses
        pairs = [found.filter(measure=measure, flows="raw")["pairs"].item() for found in (plain, more)]
        assert pairs[0] < pairs[1]


def test_a_release_and_its_index_are_the_same_generalisation(tmp_path):
    lab = city(tmp_path, 4)
    release = lab.release(index="stations", slot="1h", fill="none", box=BOX)
    coarse = lab.release(index="stations:6000", slot="6h", fill="static", box=BOX)
    by_name, by_release, by_id = (lab.utility(release, after) for after in ("stations:6000", coarse, coarse.id))
    assert by_name.id == by_release.id == by_id.id
    assert by_name.loss() > 0
    before = lab.table("study.od")
    assert_frame_equal(lab.table("study.od"), before)


def test_another_set_of_zones_takes_nothing_but_the_conversion_anew(tmp_path):
    lab = city(tmp_path, 4)
    release = lab.release(index="stations", slot="1h", fill="none", box=BOX)
    one = lab.utility(release, "stations:6000")
    movements = lab.table("metrics.movement")
    other = lab.utility(release, "stations:6000", zones="h3:5")
    assert_frame_equal(lab.table("metrics.movement"), movements)
    assert one.id != other.id
    assert lab.table("study.od")["flows_id"].n_unique() == 2


def test_ten_thousand_zones_are_a_table_and_no_square(tmp_path):
    lab = city(tmp_path, 6, people=10, records=30)
    release = lab.release(index="square:200", slot="1h", fill="none", box=BOX)
    found = lab.utility(release, "square:400", zones="square:130")
    zones = sides(lab, found.id)[0]["zones"]
    assert zones > 10_000
    moved = lab.sql("select count(*) from metrics.movement").item()
    assert lab.sql("select count(*) from metrics.od_flow").item() < 2 * moved * 25 * 25 < zones**2 / 100


# ---------------------------------------------------------------- refused


@pytest.fixture(scope="module")
def lab(tmp_path_factory) -> tl.Lab:
    lab = city(tmp_path_factory.mktemp("city"), 1)
    lab.release(index="stations", slot="1h", fill="none", box=BOX)
    return lab


@pytest.fixture(scope="module")
def release(lab) -> str:
    return lab.sql(
        "select release_id from counts.release where index_name like 'stations:%' and min_count = 1 limit 1"
    ).item()


def contents(lab: tl.Lab) -> dict[str, int]:
    """Rows of every table, in one statement: views have nothing of their own."""
    tables = lab.sql("select schema_name || '.' || table_name as name from duckdb_tables()")["name"]
    return dict(lab.sql(" union all ".join(f"select '{name}', count(*) from {name}" for name in tables)).rows())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"after": "circles:3"}, "no spatial index named 'circles'; there are: h3, inspire, places, quadkey, square, stations, zones"),
        ({"after": "stations:zzz"}, "stations:zzz has no usable side"),
        ({"zones": "square:1"}, "square:1 would cut the study area into more than 200,000 zones: take larger ones"),
        ({"zones": "nowhere.geojson"}, "nowhere.geojson cannot be read: No such file or directory"),
        ({"zones": "taz\0.geojson"}, "'taz.x00.geojson' cannot be the name of a file"),
        ({"zones": "taz.shp"}, "taz.shp is no file of zones: they are read from GeoJSON .* so convert it, or name an index"),
        ({"zones": 5}, "zones are an index such as 'square:1000', a file, or None for the lab's own, not 5"),
        ({"zones": BROKEN / "crs_text.geojson"}, 'crs_text.geojson has a "crs" that names no coordinate system: write it as'),
        ({"zones": BROKEN / "crs_list.geojson"}, 'crs_list.geojson has a "crs" that names no coordinate system'),
        ({"zones": BROKEN / "no_list.geojson"}, "no_list.geojson is a FeatureCollection without a list of features"),
        ({"shortest": 10, "longest": 5}, "a constrained movement takes from shortest to longest minutes.*not from 10 to 5"),
        ({"shortest": -1}, "0 or more"),
        ({"pareto": 0}, "pareto is a share above 0 and up to 1, not 0"),
        ({"alpha": 1.5}, "alpha is a share above 0 and up to 1, not 1.5"),
        ({"alpha": "0.05"}, "alpha must be a number, not '0.05'"),
        ({"shortest": 99_998, "longest": 99_999},
         r"none of the \d+ movements takes from 99998 to 99999 minutes, so the constrained flow is empty: move the bounds"),
        ({"zones": BROKEN / "overlapping.geojson"},
         r"the zones overlap: 5.* km², \d\.\d+% of their area, in 1 place, most of it between a and b near 47.\d+, 8.1\d*; cut"),
        ({"zones": BROKEN / "gap.geojson"},
         r"the zones leave gaps: .* km², .*% of their area, in 1 place, most of it beside .* near 47.0\d+, 8.1\d*; add the missing"),
        ({"zones": BROKEN / "crossing.geojson"}, "1 of 1 zones are not valid polygons .they cross themselves, for instance.: a;"),
        ({"zones": BROKEN / "too_small.geojson"}, r"\d of 9 stations lie outside the zones: s\d, .*; give zones that hold them"),
        ({"zones": BROKEN / "half_named.geojson"}, "the zones of half_named.geojson have no id on every feature"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused_and_leaves_the_lab_as_it_was(lab, release, given, message):
    before = contents(lab)
    with pytest.raises((UtilityError, SpatialError, UnknownNameError), match=message):
        lab.utility(release, **({"after": "stations:5000"} | given))
    assert contents(lab) == before


def test_zones_that_nearly_divide_the_city_are_taken_with_a_note(lab, release, tmp_path):
    west, south, east, north = BOX
    halves = {
        "a": shapely.box(west - 1, south - 1, 8.1, north + 1),
        "b": shapely.box(8.1 - 1e-5, south - 1, east + 1, north + 1),
    }
    found = lab.utility(release, "stations:5000", zones=zone_file(tmp_path, halves))
    assert any("the zones overlap: " in note and note.endswith("taken as it is") for note in found.notes)


def test_zones_in_another_coordinate_system_are_converted_and_that_is_said(lab, release, tmp_path):
    to_mercator = pyproj.Transformer.from_crs("OGC:CRS84", "EPSG:3857", always_xy=True).transform
    rows = lab.sql("select name, outline from records.zone").rows()
    moved = {
        zone: shapely.transform(shapely.from_wkb(wkb), lambda xy: np.column_stack(to_mercator(*xy.T)))
        for zone, wkb in rows
    }
    file = zone_file(tmp_path, moved, "mercator.geojson")
    document = json.loads(file.read_text()) | {"crs": {"type": "name", "properties": {"name": "EPSG:3857"}}}
    file.write_text(json.dumps(document))
    found = lab.utility(release, "stations:5000", zones=file)
    assert "mercator.geojson: converted from WGS 84 / Pseudo-Mercator to longitude and latitude" in found.notes
    here = lab.utility(release, "stations:5000")
    assert found.losses["loss"].to_list() == pytest.approx(here.losses["loss"].to_list(), abs=1e-6)


def test_without_zones_it_says_where_to_get_some():
    lab = tl.open(":memory:")
    lab.ingest(TINY / "records.csv", tz="Europe/Lisbon")
    release = lab.release(index="square:1000", slot="3h", box=TINY_BOX, outside="clamp")
    with pytest.raises(
        UtilityError, match="the lab has no zones to compare flows between: load some with lab.geography"
    ):
        lab.utility(release, "square:2000")
    assert lab.utility(release, "square:4000", zones="square:2000").loss() > 0


def test_every_mast_outside_the_zones_is_counted_though_its_polygon_has_some_of_them(lab, release):
    zone = shapely.union_all(
        [
            shapely.geometry.shape(f["geometry"])
            for f in json.loads((BROKEN / "too_small.geojson").read_text())["features"]
        ]
    )
    masts = lab.sql("select lng, lat from records.station").to_numpy()
    outside = int((~shapely.covers(zone, shapely.points(masts))).sum())
    with pytest.raises(UtilityError, match=rf"^{outside} of 9 stations lie outside the zones"):
        lab.utility(release, "stations:5000", zones=BROKEN / "too_small.geojson")


def test_a_cell_is_inside_where_it_shares_some_area_though_its_centre_is_outside(tmp_path):
    lab = tl.open(":memory:")
    rows = [
        {"uid": uid, "ts": START + dt.timedelta(minutes=30 * n), "lat": 47.01, "lng": 8.01 + 0.04 * n}
        for uid in "ab"
        for n in (0, 1)
    ]
    lab.ingest(pl.DataFrame(rows), tz="UTC")
    release = lab.release(index="square:3000", slot="1h", fill="none", box=BOX)
    edge = max(
        shapely.bounds(shapely.from_wkt(text))[0] for text in lab.sql("select polygon from grid.cell")["polygon"]
    )
    halves = {"a": shapely.box(7.9, 46.9, 8.02, 47.2), "b": shapely.box(8.02, 46.9, edge + 0.005, 47.2)}
    found = lab.utility(release, "square:6000", zones=zone_file(tmp_path, halves))
    assert found.losses["before"][0] == pytest.approx(2)


def test_cells_outside_the_zones_are_refused_with_their_number():
    lab = tiny_lab()
    release = lab.release(
        index="square:1000", slot="3h", outside="clamp"
    )  # Fay's trip to the sea is at the edge of this larger box
    with pytest.raises(UtilityError, match=r"1 of 7 cells lie outside the zones: 0,0; give zones that hold them"):
        lab.utility(release, "square:2000")


def test_nobody_who_moves_is_no_flow():
    lab = tl.open(":memory:")
    still = [{"uid": u, "ts": START + dt.timedelta(hours=h), "lat": 47.05, "lng": 8.1} for u in "ab" for h in range(3)]
    lab.ingest(pl.DataFrame(still), tz="UTC")
    release = lab.release(index="square:1000", slot="1h", box=BOX)
    with pytest.raises(
        UtilityError, match="nobody moves: no person of release r.* has two consecutive records in different"
    ):
        lab.utility(release, "square:2000", zones="square:2000")


def test_releases_of_other_people_or_days_are_refused(tmp_path):
    lab = city(tmp_path, 1)
    same = {"slot": "1h", "fill": "none", "box": BOX}
    release = lab.release(index="stations", **same)
    with pytest.raises(UtilityError, match=r"differ in people \(None and 5\): flows are compared of the same people"):
        lab.utility(release, lab.release(index="stations:5000", people=5, **same))
    with pytest.raises(UtilityError, match=r"differ in days \(2 and 1\)"):
        lab.utility(release, lab.release(index="stations:5000", days=1, **same))
    with pytest.raises(UtilityError, match="leaves out counts below 2 itself: before must be complete"):
        lab.utility(lab.release(index="stations", min_count=2, **same), "stations:5000")
    elsewhere = tl.Release.from_matrix(np.ones((48, 2), int), np.array([[0, 0], [900, 0]]), slots_per_day=24)
    with pytest.raises(UtilityError, match="is not in this lab: generalise a release of the lab's own"):
        lab.utility(release, elsewhere)
    for verb in (lab.utility, lab.tradeoff):
        with pytest.raises(UtilityError, match=f"release {elsewhere.id} is not in this lab, which has no records"):
            verb(elsewhere, "stations:5000")
    with pytest.raises(UnknownNameError, match="no release named 'r0123456789ab'; there are: r"):
        lab.utility(release, "r0123456789ab")
    lab.attack(elsewhere, "stay")
    for pair in ((elsewhere.id, "stations:5000"), (release, elsewhere.id)):
        with pytest.raises(UtilityError, match=f"release {elsewhere.id} was made elsewhere: the lab has no records"):
            lab.utility(*pair)
    with pytest.raises(UtilityError, match="after is a release, its id, or an index such as 'stations:800', not 800"):
        lab.utility(release, 800)
    with pytest.raises(ReleaseError, match="a release, or its id, is needed here, not None"):
        lab.utility(None, "stations:5000")
    with pytest.raises(UnknownNameError, match="no measure named 'most'; there are: all, backbone"):
        lab.utility(release, "stations:5000").loss("most")
    before = lab.utility(release, "stations:4000").loss()
    more = pl.DataFrame({"uid": ["new"] * 2, "ts": [START, START + dt.timedelta(hours=1)], "station": ["s1", "s2"]})
    lab.ingest(more, kind="cdr", tz="UTC")
    lab.release(index="stations", **same)
    assert lab.utility(release, "stations:4000").loss() == before


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        ({"people": 5, "seed": 1}, {"people": 5, "seed": 2}, r"differ in seed \(1 and 2\)"),
        ({"coverage": 0.1}, {"coverage": 0.2}, r"differ in coverage \(0.1 and 0.2\)"),
        ({"start": "2024-03-04", "days": 1}, {"start": "2024-03-05", "days": 1}, "differ in start"),
        ({"tz": "UTC"}, {"tz": "Europe/Lisbon"}, r"differ in tz \(UTC and Europe/Lisbon\)"),
        ({"outside": "clamp"}, {"outside": "drop"}, r"differ in outside \(clamp and drop\)"),
        ({"days": 1}, {"days": 1, "align": True}, "differ in align"),
        ({"outside": "drop"}, {"outside": "drop", "box": (8.0, 47.0, 8.1, 47.12)}, "leave out what lies outside different boxes"),
        ({"coverage": 0.37}, {"coverage": 0.37, "slot": "6h"}, r"hold other people, or other days of them \(0 and \d+ of their own\)"),
    ],
)  # fmt: skip
def test_what_else_tells_two_releases_apart(one, other, message, tmp_path):
    lab = city(tmp_path, 1)
    plain = {"slot": "1h", "fill": "none", "box": BOX}
    release = lab.release(index="stations", **(plain | one))
    with pytest.raises(UtilityError, match=message):
        lab.utility(release, lab.release(index="stations:5000", **(plain | other)))


def test_other_days_of_the_same_people_are_refused():
    """Six hours in a row are most slots of an hour; four visits over a day are most slots of six hours."""
    days = {0: range(6, 12), 7: (1, 7, 13, 19)}
    rows = [
        {"uid": "a", "ts": START + dt.timedelta(days=day, hours=hour), "lat": 47.05, "lng": 8.05 + 0.01 * (hour % 3)}
        for day, hours in days.items()
        for hour in hours
    ]
    lab = tl.open(":memory:")
    lab.ingest(pl.DataFrame(rows), tz="UTC")
    same = {"fill": "none", "box": BOX, "days": 1, "align": True}
    release = lab.release(index="square:500", slot="1h", **same)
    with pytest.raises(UtilityError, match=r"hold other people, or other days of them \(1 and 1 of their own\)"):
        lab.utility(release, lab.release(index="square:3000", slot="6h", **same), zones="square:2000")


def test_squares_of_a_release_count_from_its_own_box(tmp_path):
    lab = city(tmp_path, 1)
    same = {"slot": "1h", "fill": "none", "outside": "clamp"}
    release = lab.release(index="stations", box=BOX, **same)
    moved = lab.release(index="square:4000", box=(7.98, 46.99, 8.23, 47.14), **same)
    assert lab.utility(release, moved).loss() != lab.utility(release, "square:4000").loss()


def test_stations_that_changed_since_are_said_to_have(tmp_path):
    lab = city(tmp_path, 1)
    release = lab.release(index="stations", slot="1h", fill="none", box=BOX)
    lab.geography(stations=pl.DataFrame({"station": ["new"], "lat": [47.05], "lng": [8.05]}))
    with pytest.raises(UtilityError, match=f"the stations of the lab were changed after release {release.id} was made"):
        lab.utility(release, "stations:5000")


def test_places_without_coordinates_have_no_flows_between_zones():
    lab = tl.open(":memory:")
    rows = [{"uid": "a", "ts": START + dt.timedelta(hours=n), "place": place} for n, place in enumerate("xyx")]
    lab.ingest(pl.DataFrame(rows), kind="wifi", tz="UTC")
    release = lab.release(index="places", slot="1h", fill="none")
    with pytest.raises(UtilityError, match=r"2 of 2 cells of places:\w+ have no coordinates: nobody can say which"):
        lab.utility(release, "square:2000", zones="square:2000")


def test_cells_that_become_smaller_are_noted(town_by_the_lake):
    lab = town_by_the_lake
    release = lab.release(index="square:3000", slot="1h", fill="none", box=BOX)
    (note,) = lab.utility(release, "square:500", zones="h3:6").notes
    assert note == (
        "square:500 has smaller cells (0.25 km²) than square:3000 (9 km²): it generalises nothing, and its loss is that "
        "of placing people more closely than the release does"
    )
    assert lab.utility(release, "square:6000", zones="h3:6").notes == ()


def test_what_the_zones_leave_out_of_the_box_is_noted(lab, release, tmp_path):
    """A strip without a mast, open to the outside on both ends."""
    west, south, east, north = BOX
    masts = lab.sql("select lng from records.station order by lng")["lng"].to_list()
    gap, left = max((b - a, a) for a, b in itertools.pairwise(masts))
    strips = {
        "a": shapely.box(west - 1, south - 1, left, north + 1),
        "b": shapely.box(left + gap, south - 1, east + 1, north + 1),
    }
    notes = lab.utility(release, "stations:5000", zones=zone_file(tmp_path, strips)).notes
    assert notes[1] == (
        f"{gap / (east - west):.1%} of the study box is in no zone: water, or a zone that is missing; what cells have "
        "there is left out of their shares"
    )


def test_the_command_shows_the_ten_losses(tmp_path, capsys):
    file = str(tmp_path / "lab.duckdb")
    with tiny_lab(file) as lab:
        lab.release(index="square:1000", slot="3h", box=TINY_BOX, outside="clamp")
    zones = ["--zones", str(TINY / "zones.geojson")]
    assert main(["utility", file, "square:2000", "square:4000", *zones, "--table"]) == 0
    said = capsys.readouterr().out
    assert said.count("utility u") == 2
    assert said.count("zones.geojson: zones are named by 'feature id'") == 2
    assert all(said.count(f"┆ {measure} ") == 4 for measure in ("all", "pareto", "backbone", "hotspot", "commuters"))
    assert main(["utility", file, "octagons"]) == 2
    assert "trajlab: no spatial index named 'octagons'" in capsys.readouterr().err
