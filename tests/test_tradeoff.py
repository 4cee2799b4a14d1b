"""Risk against loss of utility, and the curve through both."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from conftest import TINY, TINY_BOX, examples, tiny_lab
from hypothesis import assume, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy.optimize import curve_fit

import trajlab as tl
from trajlab.cli import main
from trajlab.errors import LabError, RiskError, SpatialError, UnknownNameError, UtilityError
from trajlab.report.tradeoffs import loss_by_size
from trajlab.store import Store
from trajlab.utility.curve import fit
from trajlab.utility.tradeoff import Tradeoff

SVG = "{http://www.w3.org/2000/svg}"
KNOWN = ("top:2", "top:3", "points:4", "points:8")


# ---------------------------------------------------------------- the curve


@examples(few=67, many=400)
@given(
    a=st.floats(0.2, 5), b=st.floats(0.1, 8), c=st.floats(0.5, 6), low=st.floats(0.02, 0.5), points=st.integers(5, 14)
)
def test_a_curve_is_found_again(a, b, c, low, points):
    x = np.linspace(low, min(low + 0.5, 0.98), points)
    y = -a * x**b + c
    assume(np.ptp(y) > 1e-3)
    found = fit(x, y)
    assert found.reason is None
    assert found.steps == points
    assert (found.a, found.b, found.c) == pytest.approx((a, b, c), rel=1e-3)
    assert found.r2 == pytest.approx(1)


@examples(few=33, many=200)
@given(width=st.floats(1e-4, 0.1), bend=st.floats(0.5, 5), points=st.integers(5, 14))
def test_a_curve_is_found_where_nearly_everybody_is_at_risk_whatever_is_done(width, bend, points):
    """Risks from 1 - width to 1: the exponent is as large as they are close together."""
    x = np.linspace(1 - width, 1, points)
    found = fit(x, 1.2 - x ** (bend / width))
    assert found.reason is None
    assert (found.a, found.b, found.c) == pytest.approx((1, bend / width, 1.2), rel=1e-3)


@examples(few=33, many=200)
@given(a=st.floats(0.5, 3), b=st.floats(0.3, 4), seed=st.integers(0, 2**32 - 1))
def test_estimates_and_errors_are_those_of_scipy(a, b, seed):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0.02, 0.95, 14))
    y = -a * x**b + a + 0.5 + rng.normal(0, 0.002, 14)
    found = fit(x, y)
    assert found.reason is None
    estimate = (found.a, found.b, found.c)
    best, spread = curve_fit(lambda x, a, b, c: -a * x**b + c, x, y, p0=estimate)
    assert estimate == pytest.approx(best, rel=1e-3)
    errors = np.sqrt(np.diag(spread))
    assert (found.a_error, found.b_error, found.c_error) == pytest.approx(errors, rel=1e-2)
    assert found.r2 == pytest.approx(
        1 - ((y - (best[2] - best[0] * x ** best[1])) ** 2).sum() / ((y - y.mean()) ** 2).sum(), abs=1e-6
    )


def test_p_values_are_students_two_sided():
    from scipy.stats import t

    x, y = np.array([0.1, 0.3, 0.5, 0.6, 0.9]), np.array([0.9, 0.8, 0.5, 0.55, 0.1])
    found = fit(x, y)
    assert found.b_p == pytest.approx(2 * (1 - t.cdf(found.b / found.b_error, 2)))
    assert 0.001 < found.b_p < 0.5


@pytest.mark.parametrize(
    ("risk", "loss", "said"),
    [
        ([0.1, 0.2, 0.3], [0.9, 0.8, 0.7], "fewer than 4 points: there are 3"),
        ([], [], "fewer than 4 points: there are 0"),
        ([0.1, 0.2, 0.3, -0.1], [0.9, 0.8, 0.7, 0.1], "fewer than 4 points: there are 3"),
        ([0.1, 0.2, 0.3, np.nan], [0.9, 0.8, 0.7, 0.1], "fewer than 4 points: there are 3"),
        ([0.1, 0.2, 0.3, 0.4], [0.9, None, 0.7, 0.1], "fewer than 4 points: there are 3"),
        ([0.25] * 5, [0.1, 0.2, 0.3, 0.4, 0.5], "constant risk: it is 0.25 at all 5 points"),
        ([0.1, 0.1, 0.2, 0.2], [0.4, 0.3, 0.2, 0.1], "only two different risks at 4 points: any b fits them"),
        ([0.1, 0.2, 0.3, 0.4], [0.3] * 4, "constant loss: it is 0.3 at all 4 points"),
        ([0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4], "loss does not fall as risk rises: no curve"),
        ([0.1, 0.2, 0.3, 0.4], [-0.1, -0.2, -0.3, -0.42], "c would not be above 0: no curve"),
        ([0.1, 0.2, 0.3, 0.4, 0.5], [1, 1, 1, 1, 0], "no convergence: the larger b is, the better the points fit, 41.3 and beyond"),
        ([0.1, 0.2, 0.3, 0.4, 0.5], [2, 1, 1, 1, 1], "no convergence: the smaller b is, the better the points fit, 0.01 and beyond"),
        ((0.5 + 1e-6 * np.arange(6)).tolist(), (2 - 1e-6 * np.arange(6)).tolist(), "no convergence: other values of a, b and c fit the points as well"),
        ([0.01, 0.2, 0.3, 0.4999, 0.5], [1, 1, 1, 1, 0], "no convergence: the larger b is, the better the points fit, 866 and beyond"),
    ],
)  # fmt: skip
def test_where_there_is_no_curve_it_says_why_and_makes_no_number_up(risk, loss, said):
    found = fit(risk, loss)
    assert found.reason is not None
    assert found.reason.startswith(said)
    assert {found.a, found.b, found.c, found.a_error, found.b_p, found.r2} == {None}


@examples(few=100, many=600)
@given(seed=st.integers(0, 2**32 - 1))
def test_whatever_the_points_there_is_a_curve_or_a_reason(seed):
    rng = np.random.default_rng(seed)
    points = int(rng.integers(3, 15))
    width = 10.0 ** rng.uniform(-12, 0)
    x = np.clip(rng.uniform(width, 1) - width * rng.random(points).round(int(rng.integers(1, 17))), 0, 1)
    y = [rng.random(points), 2 - x, 1 - x ** rng.uniform(0.1, 50), np.sort(rng.random(points))][seed % 4]
    found = fit(x, y)
    numbers = [found.a, found.b, found.c, found.a_error, found.b_error, found.c_error, found.a_p, found.b_p, found.r2]
    if found.reason:
        assert set(numbers) == {None}
    else:
        assert np.isfinite(numbers).all()
        assert min(numbers[:3]) > 0


def test_nobody_at_risk_is_a_point_like_others():
    x = np.array([0, 0.1, 0.3, 0.6, 0.9])
    found = fit(x, 1.2 - x**1.5)
    assert (found.a, found.b, found.c) == pytest.approx((1, 1.5, 1.2), rel=1e-4)


# ---------------------------------------------------------------- a city


@pytest.fixture(scope="module")
def lab() -> tl.Lab:
    lab = tl.open(":memory:")
    options = {"people": 2000, "days": 7, "seed": 1, "mode": "cdr", "stations": 300}
    lab.ingest(tl.simulate(**options), kind="cdr", tz="Europe/Lisbon", stations=tl.simulate_stations(**options))
    lab.release(index="stations", slot="60min", fill="none")
    return lab


@pytest.fixture(scope="module")
def release(lab: tl.Lab) -> str:
    return lab.sql("select release_id from counts.release order by length(index_name), index_name limit 1").item()


@pytest.fixture(scope="module")
def steps() -> list[str]:
    return [f"stations:{side}" for side in range(400, 2801, 400)]


@pytest.fixture(scope="module")
def found(lab: tl.Lab, release: str, steps: list[str]) -> Tradeoff:
    return lab.tradeoff(release, steps, zones=["h3:7", "h3:6"], basis="records")


def test_b_rises_with_what_is_known(found):
    """yin2015: the more an adversary knows, the dearer the first steps of protection."""
    fits = found.fits.filter(flows="raw", measure="all", zones="h3:7")
    assert fits["knowledge"].to_list() == ["top:2", "top:3", "points:4", "points:8"]
    assert fits["reason"].null_count() == 4
    assert fits["b"].to_list() == sorted(fits["b"])
    assert fits["b"][0] < 1 < fits["b"][3]
    assert fits["r2"].min() > 0.9


def test_a_point_is_a_risk_and_a_loss_as_asked_for_by_themselves(lab, release, found):
    """Risk is that of a release with these cells, loss that of lab.utility."""
    points = found.points.filter(pl.col("index_name").str.ends_with(":1600"))
    merged = lab.release(index="stations:1600", slot="60min", fill="none")
    for knowledge in KNOWN:
        name = next(full for full in points["knowledge"].unique() if full.startswith(knowledge))
        risk = lab.risk(merged, knowledge, basis="records")
        some = points.filter(knowledge=name)
        assert set(some["risk"]) == {risk.unique_share}, knowledge
        assert (some["low"][0], some["high"][0], some["people"][0]) == (risk.low, risk.high, risk.people)
    for zones in ("h3:7", "h3:6"):
        utility = lab.utility(release, merged, zones=zones)
        some = points.filter(zones=zones, knowledge=points["knowledge"][0])
        assert_frame_equal(
            some.select("flows", "measure", "loss", "common_part"),
            utility.losses.select("flows", "measure", "loss", "common_part"),
            check_exact=True,
        )


def test_the_release_itself_is_step_0_and_not_part_of_the_fit(lab, release, found, steps):
    start = found.points.filter(step=0)
    assert set(start["loss"]) == {0.0}
    assert set(start["common_part"]) == {1.0}
    assert set(start["size_m"]) == {0.0}
    risk = lab.risk(release, "top:2", basis="records").unique_share
    assert set(start.filter(pl.col("knowledge").str.starts_with("top:2"))["risk"]) == {risk}
    assert set(found.fits["steps"]) == {len(steps)}
    assert found.points.filter(zones="h3:7", flows="raw", measure="all", knowledge="points:4")["size_m"].to_list() == [
        0, 400, 800, 1200, 1600, 2000, 2400, 2800,
    ]  # fmt: skip


def test_every_adversary_measure_and_set_of_zones_has_a_curve(found, steps):
    assert len(found.fits) == 2 * 4 * 10
    assert len(found.points) == 2 * 4 * 10 * (1 + len(steps))
    assert not found.points.select("zones", "knowledge", "flows", "measure", "step").is_duplicated().any()


def test_asking_again_adds_nothing_and_more_adds_what_is_missing(lab, release, found, steps):
    tables = (
        "metrics.generalised_risk",
        "study.od",
        "study.utility",
        "metrics.movement",
        "grid.overlap",
        "study.tradeoff",
    )
    before = {name: lab.table(name) for name in tables}
    again = lab.tradeoff(release, steps, zones=["h3:7", "h3:6"], basis="records")
    assert again.id == found.id
    assert_frame_equal(again.points, found.points, check_exact=True)
    assert_frame_equal(again.fits, found.fits, check_exact=True)
    for name, table in before.items():
        assert_frame_equal(lab.table(name), table)
    more = lab.tradeoff(
        release,
        [*steps, "h3:6", "square:like=h3:6"],
        zones="h3:7",
        knowledge=["top:2", "top:1"],
        flows="raw",
        basis="records",
    )
    asked = lab.table("metrics.generalised_risk").join(
        before["metrics.generalised_risk"], on=["coarse_id", "knowledge"], how="anti"
    )
    assert set(asked.select("knowledge", "coarse_id").unique()["knowledge"]) == {
        "top:1",
        "top:2",
    }
    assert asked.filter(knowledge="top:2")["coarse_id"].n_unique() == 2
    assert lab.table("study.utility").height == before["study.utility"].height + 2
    sizes = more.points.filter(pl.col("step") > len(steps)).unique("step").sort("step")["size_m"]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.01)  # hexagons against squares at equal area


def test_answers_to_other_questions_are_kept_apart(lab, release):
    """One of all settings is different each time; each answer is that of a lab that was asked nothing else."""
    plain = {"index": ["stations:2000"], "zones": "h3:6", "knowledge": "points:2", "measures": "all", "flows": "raw"}
    asked = [{}, {"seed": 1}, {"basis": "slots"}, {"sample": 500}, {"scope": "frequent"}]
    found = [lab.tradeoff(release, **({"basis": "records"} | plain | more)).points for more in asked]
    for more, points in zip(asked, found, strict=True):
        if more.get("basis") == "slots":  # a release with larger cells chooses the cell of a slot among these
            continue
        of = lab.release(index="stations:2000", slot="60min", fill="none")
        how = {"basis": "records"} | {name: value for name, value in more.items() if name != "scope"}
        risk = lab.risk(of, "points:2", **how)
        scope = more.get("scope", "all")
        expected = lab.sql(
            "select estimate from metrics.risk where risk_id = $id and metric = 'unique_share' and scope = $scope",
            id=risk.id,
            scope=scope,
        )
        assert points.filter(step=1)["risk"].to_list() == expected["estimate"].to_list(), more
    assert len({tuple(points["risk"]) for points in found}) == len(asked)


def test_a_finished_trade_off_is_read_from_a_lab_that_may_not_be_written(tmp_path):
    file = tmp_path / "lab.duckdb"
    asked = {"index": ["square:2000", "square:4000"], "knowledge": "top:1"}
    with tiny_lab(file) as lab:
        release = lab.release(index="square:1000", slot="3h", box=TINY_BOX, outside="clamp").id
        made = lab.tradeoff(release, **asked)
    with tl.open(file, read_only=True) as lab:
        assert_frame_equal(lab.tradeoff(release, **asked).points, made.points)


def test_the_same_zones_and_cells_under_several_names_count_once(tmp_path):
    lab = tiny_lab()
    release = lab.release(index="square:1000", slot="3h", box=TINY_BOX, outside="clamp")
    asked = {"knowledge": "top:1", "measures": "all", "flows": "raw"}
    cells = ["square:4000", "square:2000", "square:2e3"]
    found = lab.tradeoff(release, cells, zones=[None, "zones", str(TINY / "zones.geojson"), "h3:7", "h3:07"], **asked)
    assert found.points.select("zones", "step", "index_name").rows() == [
        ("h3:7", 0, "square:1000"), ("h3:7", 1, "square:4000"), ("h3:7", 2, "square:2000"),
        ("zones", 0, "square:1000"), ("zones", 1, "square:4000"), ("zones", 2, "square:2000"),
    ]  # fmt: skip


def test_files_of_one_name_are_numbered_and_folders_not_shown(tmp_path):
    lab = tiny_lab()
    release = lab.release(index="square:1000", slot="3h", box=TINY_BOX, outside="clamp")
    files = []
    for n, text in enumerate((TINY / "zones.geojson").read_text().replace("west", name) for name in ("west", "sunset")):
        (tmp_path / str(n)).mkdir()
        files.append(tmp_path / str(n) / "taz.geojson")
        files[-1].write_text(text)
    found = lab.tradeoff(release, ["square:2000"], zones=[str(files[0]), files[1]], knowledge="top:1")
    assert set(found.points["zones"]) == {"taz.geojson (1)", "taz.geojson (2)"}
    alone = lab.tradeoff(release, ["square:2000"], zones=str(files[0]), knowledge="top:1")
    assert set(alone.points["zones"]) == {"taz.geojson"}
    renamed = files[0].rename(tmp_path / "districts.geojson")
    again = lab.tradeoff(release, ["square:2000"], zones=renamed, knowledge="top:1")
    assert set(again.points["zones"]) == {"districts.geojson"}


def test_only_larger_cells_are_tried_unless_others_are_named():
    lab = tiny_lab()
    asked = {"knowledge": "top:1", "measures": "all", "flows": "raw"}
    some = lab.tradeoff(lab.release(index="square:1000", slot="3h", box=TINY_BOX, outside="clamp"), **asked)
    assert some.points["size_m"].to_list() == [1000, *range(1200, 2801, 200)]
    with pytest.raises(
        UtilityError, match=r"the cells of square:3000 are larger than any of yin2015 \(up to 2,800 m\)"
    ):
        lab.tradeoff(lab.release(index="square:3000", slot="3h", box=TINY_BOX, outside="clamp"), **asked)
    named = lab.tradeoff(
        lab.release(index="square:3000", slot="3h", box=TINY_BOX, outside="clamp"), ["square:1000"], **asked
    )
    assert [note for note in named.notes if note.startswith("square:1000 has smaller cells")]


def test_constrained_flows_may_be_empty_where_only_raw_ones_are_asked_for():
    lab = tiny_lab()
    release = lab.release(index="square:1000", slot="3h", box=TINY_BOX, outside="clamp")
    asked = {"index": ["square:2000"], "knowledge": "top:1", "shortest": 9000, "longest": 9001}
    with pytest.raises(UtilityError, match="so the constrained flow is empty"):
        lab.tradeoff(release, **asked)
    assert lab.tradeoff(release, flows="raw", **asked).points["loss"].max() > 0


def test_cells_that_filling_adds_later_are_generalised_too():
    """Linear filling puts people in cells that no record is in; an earlier study did not know these."""
    lab, fresh = tiny_lab(), tiny_lab()
    same = {"index": "square:500", "slot": "3h", "box": TINY_BOX, "outside": "clamp"}
    asked = {"index": ["square:2000", "square:4000"], "knowledge": ["points:1", "top:1"], "basis": "slots"}
    lab.tradeoff(lab.release(fill="none", **same), **asked)
    known = lab.sql("select count(*) from grid.generalised").item()
    found, expected = (each.tradeoff(each.release(fill="linear", **same), **asked).points for each in (lab, fresh))
    assert lab.sql("select count(*) from grid.generalised").item() > known
    assert_frame_equal(found, expected, check_exact=True)


def test_nothing_stays_of_the_traces_that_were_searched(lab, found):
    assert lab.sql("select count(*) from study.traces where protection <> 'none'").item() == 0
    assert lab.sql("select count(*) from slots.visit anti join study.traces using (traces_id)").item() == 0
    assert lab.sql("select count(*) from metrics.anonymity anti join study.risk using (risk_id)").item() == 0


def test_the_chart_has_every_panel_and_is_a_drawing(found, tmp_path):
    drawing = ElementTree.fromstring(found.chart())
    texts = [text.text for text in drawing.iter(f"{SVG}text")]
    assert texts.count("share singled out") == 10 * 4
    assert texts.count("size of cells") == 1 + 2 * 2
    assert sum("R² = " in str(text) for text in texts) == found.fits["reason"].null_count()
    dots = list(drawing.iter(f"{SVG}circle"))
    assert len(dots) == 4 * 8 + 2 * 2 * 5 * 8 + 80 * 7
    page = found.save(tmp_path / "tradeoff.html").read_text(encoding="utf-8")
    assert "What protection costs, and what it protects" in page
    assert found.save(tmp_path / "tradeoff.svg").read_text(encoding="utf-8") == found.chart()
    assert "var(" not in found.chart()
    assert found.save(tmp_path / "tradeoff.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(LabError, match=r"'tradeoff.pdf' is no .svg, .png or .html: name the file tradeoff.svg"):
        found.save(tmp_path / "tradeoff.pdf")
    with pytest.raises(LabError, match="is a folder: name the file to write"):
        folder = tmp_path / "x.svg"
        folder.mkdir()
        found.save(folder)


def test_a_chart_says_where_loss_falls_with_larger_cells():
    sizes, metres = [0.0, 1600.0, 1800.0, 2000.0], "\N{NO-BREAK SPACE}km"
    points = pl.DataFrame(
        {
            "size_m": 2 * sizes,
            "loss": [0.0, 0.672, 0.556, 0.7, 0.0, 0.3, 0.3, 0.299],
            "measure": ["all"] * 4 + ["pareto"] * 4,
        }
    )
    fell = loss_by_size(points, "zones").note
    assert fell.startswith(f"Loss falls from 1.6{metres} to 1.8{metres}: where the borders of cells lie counts")
    assert loss_by_size(points.filter(measure="pareto"), "zones").note == ""
    assert "Loss falls" in "".join(loss_by_size(points, "zones").parts(472, 250))


def test_squares_and_hexagons_have_lines_of_their_own(lab, release):
    several = lab.tradeoff(
        release, ["h3:7", "square:like=h3:7", "h3:6", "square:like=h3:6"], zones="h3:6", knowledge="top:2", flows="raw"
    )
    texts = [text.text for text in ElementTree.fromstring(several.chart()).iter(f"{SVG}text")]
    for kind in ("hexagons", "squares"):
        assert f"Singled out, by the size of {kind}" in texts
        assert f"Loss by the size of {kind}, raw movements" in texts


def test_the_report_draws_the_trade_off(lab, found, tmp_path):
    page = lab.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "What protection costs" in page
    assert "lost, by the share singled out by 4 points" in page
    assert "people singled out fall from" in page


# ---------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"index": []}, "a trade-off needs at least one generalisation, and none was given"),
        ({"index": 800}, "a generalisation is an index such as 'stations:800', not 800"),
        ({"index": ["square:2000", None]}, "a generalisation is an index such as 'stations:800', not None"),
        ({"knowledge": []}, "needs at least one adversary"),
        ({"knowledge": 4}, "what is known is named by a text such as 'top:2', not 4"),
        ({"zones": []}, "needs at least one set of zones"),
        ({"measures": ["best"]}, "no measure named 'best'; there are: all, backbone, commuters, hotspot, pareto"),
        ({"flows": "slow"}, "no kind of flows named 'slow'; there are: constrained, raw"),
        ({"scope": "some"}, "no scope named 'some'; there are: all, frequent, frequent_of_all"),
        ({"basis": "dreams"}, "no basis named 'dreams'; there are: observed, records, slots"),
        ({"knowledge": "top:0"}, "top takes a number of places"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"gamma": 1}, "no setting of utility named 'gamma'; there are: alpha, longest, pareto, shortest"),
        ({"index": ["square:2000", "square:x"]}, "square:x has no usable side"),
        ({"alpha": 0}, "alpha is a share above 0"),
    ],
)
def test_a_trade_off_that_makes_no_sense_is_refused_and_leaves_the_lab_as_it_was(given, message):
    lab = tiny_lab()
    release = lab.release(index="square:1000", slot="3h", box=TINY_BOX, outside="clamp")
    before = {
        name: len(lab.table(name)) for name in ("grid.index", "grid.cell", "study.od", "study.tradeoff", "slots.visit")
    }
    with pytest.raises((UtilityError, UnknownNameError, RiskError, SpatialError), match=message):
        lab.tradeoff(release, **({"index": ["square:2000"]} | given))
    assert {name: len(lab.table(name)) for name in before} == before


def test_a_scope_without_anybody_is_refused():
    lab = tl.open(":memory:")
    lab.ingest(pl.DataFrame({"uid": ["a", "a", "b"], "ts": ["2024-03-04T08:00:00Z", "2024-03-04T08:30:00Z", "2024-03-09T08:00:00Z"],
                             "lat": [38.72, 38.73, 38.72], "lng": [-9.14, -9.13, -9.15]}), tz="UTC")  # fmt: skip
    release = lab.release(index="square:500", slot="1h", fill="none")
    with pytest.raises(
        UtilityError, match="nobody is in the scope 'frequent': no person has a record a day on average"
    ):
        lab.tradeoff(release, ["square:2000"], zones="square:1000", knowledge="top:1", scope="frequent")
    assert len(lab.tradeoff(release, ["square:2000"], zones="square:1000", knowledge="top:1").points) == 20


def test_a_rehearsal_leaves_nothing_behind():
    store = Store()
    with store.rehearsal("a try"):
        with store.transaction("inside"):
            store.insert(
                "records.person", pl.DataFrame({"person": [1], "uid": ["a"]}, schema_overrides={"person": pl.Int32})
            )
        assert store.rows("select count(*) from records.person") == [(1,)]
    assert store.rows("select count(*) from records.person") == [(0,)]
    with pytest.raises(ZeroDivisionError), store.rehearsal("a try"):
        store.con.execute("insert into records.person values (1, 'a')")
        raise ZeroDivisionError
    with store.transaction("for real"):
        store.con.execute("insert into records.person values (1, 'a')")
    assert store.rows("select count(*) from records.person") == [(1,)]


def test_the_command_draws_it_beside_the_study_of_factors(tmp_path, capsys):
    file, drawing = str(tmp_path / "lab.duckdb"), tmp_path / "tradeoff.svg"
    with tiny_lab(file) as lab:
        lab.release(index="square:1000", slot="3h", box=TINY_BOX, outside="clamp")
    words = ["study", "tradeoff", file, "--index", "square:2000", "square:4000", "--knowledge", "top:1", "--zones"]
    words += [str(TINY / "zones.geojson"), "--measures", "all", "--flows", "raw"]
    assert main([*words, "-o", str(drawing)]) == 0
    said = capsys.readouterr().out
    assert "fewer than 4 points: there are 2" in said
    assert f"wrote {drawing}" in said
    ElementTree.parse(drawing)
    assert main([*words, "-o", "tradeoff.pdf"]) == 2
    assert "is no .svg, .png or .html: name the file tradeoff.svg" in capsys.readouterr().err
    assert main(["study", file, "--index", "square:2000", "square:4000", "--slot", "3h", "--attack", "stay"]) == 0
    assert "accuracy" in capsys.readouterr().out
    with pytest.raises(SystemExit) as left:
        main(["study", "tradeoff", "--help"])
    assert left.value.code == 0
    assert "usage: trajlab study tradeoff" in capsys.readouterr().out
