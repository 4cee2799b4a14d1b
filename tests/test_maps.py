"""Maps one can read: one extent, land and names behind the cells, hours, and a file of one's own."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import h3
import numpy as np
import polars as pl
import pytest
import shapely

import trajlab as tl
from trajlab.errors import LabError
from trajlab.report import ground, render
from trajlab.report.drawing import backdrop, maps
from trajlab.report.drawing.backdrop import Backdrop
from trajlab.report.drawing.extent import Extent
from trajlab.report.ground import geojson
from trajlab.report.page import MAP_SCRIPT
from trajlab.spatial._projection import LocalMetres

LISBON = (-9.5, 38.55, -8.9, 38.9)
FIJI = (176.5, -19.5, 181.5, -15.5)
HOSTILE = ["<script>alert(1)</script>", "\"><img src=x onerror='alert(1)'>", "</text></svg><b>&amp;"]


def hexagons(lng: float, lat: float, resolution: int = 8, rings: int = 6) -> np.ndarray:
    cells = sorted(h3.grid_disk(h3.latlng_to_cell(lat, lng, resolution), rings))
    return np.array([shapely.Polygon([(x, y) for y, x in h3.cell_to_boundary(cell)]) for cell in cells], dtype=object)


def extent(lng: float, lat: float, **how: int) -> Extent:
    shapes = hexagons(lng, lat, **how)
    found = Extent.around(shapes, np.ones(len(shapes)), LocalMetres(lng, lat))
    assert found is not None
    return found


def covers(layer: np.ndarray, lng: float, lat: float) -> bool:
    return bool(shapely.intersects(layer, shapely.Point(lng, lat)).any())


@pytest.fixture(scope="module")
def lab() -> tl.Lab:
    lab = tl.open(":memory:")
    lab.ingest(tl.simulate(people=30, days=2, seed=1), tz="Europe/Lisbon")
    lab.release("h3:8", "1h")
    lab.release("square:2000", "2h")
    return lab


def test_land_is_land_and_sea_is_sea() -> None:
    land = ground.load_world(LISBON).layers["land"]
    assert covers(land, -9.14, 38.75)  # Lisbon
    assert not covers(land, -9.45, 38.6)  # the Atlantic
    west, south, east, north = shapely.total_bounds(land)
    assert west >= LISBON[0]
    assert south >= LISBON[1]
    assert east <= LISBON[2]
    assert north <= LISBON[3]


def test_a_large_lake_is_water_and_a_border_is_where_two_countries_meet() -> None:
    lakes = ground.load_world((-88.5, 41, -86, 44)).layers["lake"]
    assert covers(lakes, -87.2, 42.8)  # Lake Michigan
    borders = ground.load_world((6, 45, 11, 48)).layers["border"]
    assert shapely.distance(borders, shapely.Point(7.59, 47.58)).min() < 0.05  # Basel
    assert shapely.distance(borders, shapely.Point(7.45, 46.95)).min() > 0.3  # Bern


def test_a_box_across_the_antimeridian_has_both_sides_of_it_in_one_piece() -> None:
    world = ground.load_world(FIJI)
    land = world.layers["land"]
    assert covers(land, 178.0, -17.8)  # Viti Levu
    assert covers(land, 180.0, -16.8)  # Taveuni, through which it runs
    assert shapely.total_bounds(land)[2] > 180
    assert {"Suva", "Labasa"} <= set(world.places["name"])
    turned = ground.load_world((FIJI[0] - 360, FIJI[1], FIJI[2] - 360, FIJI[3]))
    assert shapely.area(turned.layers["land"]).sum() == pytest.approx(shapely.area(land).sum())


def test_the_middle_of_an_ocean_has_nothing() -> None:
    nothing = ground.load_world((-140, -40, -139, -39))
    assert not any(map(len, nothing.layers.values()))
    assert not len(nothing.places)


@pytest.mark.parametrize(("lng", "lat"), [(0.0, 0.1), (116.4, 39.9), (179.99, -17.5), (-149.0, 70.2), (24.9, -69.0)])
def test_a_hexagon_is_as_wide_as_it_is_at_any_latitude(lng: float, lat: float) -> None:
    """Corners of a hexagon lie on a circle, within what H3 itself bends them."""
    shapes, page = hexagons(lng, lat), extent(lng, lat)
    flat = shapely.transform(page.plane.to_metres(shapes), page.paper)
    middles = shapely.get_coordinates(shapely.centroid(flat))
    for shape, middle in zip(flat, middles, strict=True):
        reach = np.hypot(*(shapely.get_coordinates(shape) - middle).T)
        assert reach.max() / reach.min() < 1.25
    bounds = shapely.bounds(flat)
    assert (bounds >= 0).all(), "nothing is clipped"
    assert (bounds[:, 2:] <= page.size).all(), "nothing is clipped"


def test_the_box_of_an_extent_holds_it_and_goes_beyond_180_across_the_antimeridian() -> None:
    page = extent(179.99, -17.5)
    west, south, east, north = page.box
    assert west < 179.95 < 180.05 < east
    assert south < -17.5 < north
    assert east - west < 1
    west, south, east, north = extent(10.0, 89.99, resolution=5).box
    assert east - west == 360
    assert north == 90


def test_an_extent_is_neither_narrow_nor_flat_and_holds_a_single_point() -> None:
    for shape in (shapely.Point(5, 50), shapely.box(5, 50, 5.001, 51), shapely.box(5, 50, 7, 50.001)):
        page = Extent.around(np.array([shape], dtype=object), np.ones(1), LocalMetres(5, 50))
        assert page is not None
        assert 1.2 <= page.size[0] / page.size[1] <= 2.3
        assert page.east - page.west >= 200
    assert Extent.around(np.array([None, shapely.Polygon()], dtype=object), np.ones(2), LocalMetres(5, 50)) is None


def test_names_that_are_shown_do_not_cover_each_other_and_the_largest_is_shown() -> None:
    page = Backdrop.of(extent(-9.14, 38.73, rings=20))
    texts = re.findall(r'<text x="(\d+)" y="(\d+)"( class="more")?>(.*?)</text>', page.drawing)
    shown = [(int(x), int(y), name) for x, y, more, name in texts if not more]
    assert "Lisbon" in [name for _, _, name in shown]
    assert len(shown) < len(texts)
    for n, (x, y, name) in enumerate(shown):
        for other_x, other_y, other in shown[:n]:
            apart = abs(x - other_x) >= backdrop._LETTER * backdrop._TEXT_SIZE * (len(name) + len(other)) / 2
            assert apart or abs(y - other_y) >= 1.5 * backdrop._TEXT_SIZE, (name, other)


def test_a_cell_is_named_by_the_place_it_lies_near() -> None:
    page = Backdrop.of(extent(-122.42, 37.77, rings=12))
    mission, ocean, none = shapely.Point(-122.419, 37.76), shapely.Point(-123.4, 37.6), None
    assert page.near(np.array([mission, ocean, none], dtype=object)) == ["Mission District", None, None]
    assert maps.name_cell("8928308280fffff", "Noe Valley") == "8928308280fffff, near Noe Valley"
    assert maps.name_cell("Noe Valley West", "Noe Valley") == "Noe Valley West"


def test_places_of_the_lab_name_cells_too() -> None:
    own = pl.DataFrame([("Library", -9.1400, 38.7300, 0)], schema=ground.NAMES, orient="row")
    page = Backdrop.of(extent(-9.14, 38.73), own_places=own)
    assert page.near(np.array([shapely.Point(-9.1401, 38.7301)], dtype=object)) == ["Library"]


def test_all_maps_of_a_page_have_one_extent_one_ground_and_hours(lab: tl.Lab) -> None:
    page = render(lab)
    drawn = re.findall(r'<svg viewBox="(.*?)"[^>]*class="map[^>]*data-scale="(.*?)"[^>]*>', page)
    assert len(drawn) == 2
    assert len(set(drawn)) == 1
    assert page.count('id="ground"') == page.count('id="names"') == 1
    assert len(page) < 6_000_000
    assert "near " in page
    assert "Natural Earth" in page
    assert "GeoNames (CC BY 4.0)" in page
    hours = re.findall(r'data-hours="(.*?)"', page)
    assert [len(each.split()) for each in hours] == [24, 12]
    release = lab.sql("select release_id from counts.release where index_name = 'h3:8'").item()
    (atlas,) = re.findall(r'<section id="atlas">.*?</section>', page, re.DOTALL)
    first = atlas.partition('class="map')[2].partition("</svg>")[0]
    told = sorted(map(float, " ".join(re.findall(r'data-h="(.*?)"', first)).split()))
    true = lab.sql(
        "select sum(people) / 2 as mean from counts.occupancy join slots.slot using (release_id, slot) "
        "where release_id = $id group by cell, hour(starts)",
        id=release,
    )["mean"].to_list()
    assert [value for value in told if value] == pytest.approx(sorted(true), rel=0.01)


def test_the_only_script_is_the_one_the_policy_names(lab: tl.Lab) -> None:
    page = render(lab)
    (script,) = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    assert script == MAP_SCRIPT.read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', page)
    assert f"script-src &#x27;sha256-{digest}&#x27;" in policy
    assert "unsafe-eval" not in policy
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|eval\(|fetch\(|XMLHttp|://", script)


def test_what_is_shipped_is_small_and_says_whose_it_is() -> None:
    folder = Path(ground.__file__).parent
    assert sum(file.stat().st_size for file in folder.glob("*.parquet")) <= 1_500_000
    told = (folder / "LICENSE.md").read_text(encoding="utf-8")
    assert all(name in told for name in ("Natural Earth", "public domain", "GeoNames", "CC BY 4.0", "1:10m", "1:50m"))


def collection(*features: object) -> dict[str, object]:
    return {"type": "FeatureCollection", "features": list(features)}


def feature(kind: str, coordinates: object, **properties: object) -> dict[str, object]:
    return {"type": "Feature", "properties": properties, "geometry": {"type": kind, "coordinates": coordinates}}


SQUARE = [[[-9.2, 38.7], [-9.1, 38.7], [-9.1, 38.8], [-9.2, 38.8], [-9.2, 38.7]]]
FILE = collection(
    feature("Polygon", SQUARE, name="park"),
    feature("LineString", [[-9.2, 38.72], [-9.1, 38.73]]),
    feature("Point", [-9.14, 38.73], name=HOSTILE[0]),
    feature("Point", [-9.15, 38.74, 12.0], name=HOSTILE[2]),
    {"type": "Feature", "properties": None, "geometry": None},
)


def written(folder: Path, content: object) -> Path:
    file = folder / "city.geojson"
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


def test_a_file_of_ones_own_is_drawn_in_place_of_land_and_its_names_are_escaped(tmp_path: Path, lab: tl.Lab) -> None:
    page = lab.report(tmp_path / "report.html", backdrop=written(tmp_path, FILE)).read_text(encoding="utf-8")
    (defs,) = re.findall(r'<svg[^>]*class="ground">.*?</svg>', page, re.DOTALL)
    assert 'class="area"' in defs
    assert 'class="line"' in defs
    assert 'class="land"' not in defs
    assert "<script" not in defs
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in defs
    assert "Backdrop: city.geojson." in page
    assert "Natural Earth" not in page


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "city.geojson is no JSON: line 1, column 2"),
        ("[1, 2]", "city.geojson: the geometry is not FeatureCollection, Feature or a geometry of GeoJSON"),
        ({"type": "Topology"}, "is TopoJSON: convert it to GeoJSON"),
        (collection({"type": "Thing"}), 'feature 1 has no "type": "Feature"'),
        (collection(feature("Circle", [1, 2])), "feature 1 is not a geometry of GeoJSON (its type is 'Circle')"),
        (
            collection(feature("Polygon", SQUARE), feature("Point", ["a", 1])),
            "feature 2 has a position that is no pair",
        ),
        (collection(feature("LineString", [[1, float("nan")], [1, 2]])), "feature 1 has a position that is no pair"),
        (collection(feature("Polygon", None)), "feature 1 has no coordinates"),
        (collection(feature("Polygon", [[[487000, 4287000]] * 4])), "GeoJSON is in degrees, longitude first"),
        (collection(feature("LineString", [[1.0, 2.0]])), "feature 1 is no LineString"),
        (collection(), "has no outline, line or named point to draw"),
        (collection(feature("Polygon", [[[x + 100, y] for x, y in SQUARE[0]]])), "lies where the cells are"),
    ],
)
def test_a_broken_backdrop_is_refused_with_what_and_where(
    tmp_path: Path, lab: tl.Lab, content: object, why: str
) -> None:
    with pytest.raises(LabError, match=re.escape(why)):
        lab.report(tmp_path / "report.html", backdrop=written(tmp_path, content))
    assert not (tmp_path / "report.html").exists()


def test_a_backdrop_that_is_missing_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="cannot read the backdrop 'gone.geojson'"):
        geojson.load_file(tmp_path / "gone.geojson")
    (tmp_path / "city.geojson").write_bytes(b"PK\x03\x04\xff\xfe")
    with pytest.raises(LabError, match="no text in UTF-8"):
        geojson.load_file(tmp_path / "city.geojson")
    with pytest.raises(LabError, match="lie too deep in each other"):
        geojson.load_file(written(tmp_path, "[" * 100_000))


def test_a_large_backdrop_loses_corners_before_it_fills_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backdrop, "MOST_TEXT", 20_000)
    chance, along = np.random.default_rng(0), np.linspace(-9.2, -9.1, 20_000)
    wave = shapely.LineString(np.column_stack([along, 38.73 + chance.normal(0, 4e-4, len(along))]))  # a few pixels
    page = Backdrop(
        extent(-9.14, 38.73), ground.Ground({"line": np.array([wave], dtype=object)}), ground.Ground().places
    )
    assert 1_000 < len(page.drawing) < 21_000


def test_the_style_of_the_ground_leaves_lines_of_charts_alone() -> None:
    """Charts have lines and areas too: what is said of those of the ground is said inside it."""
    sheet = MAP_SCRIPT.parents[1].joinpath("style.css").read_text(encoding="utf-8")
    kinds = re.findall(r"([^,{}\s][^,{}]*\.(?:sea|land|lake|shore|border|area|line)\b)(?=[^{}]*\{)", sheet)
    loose = [kind for kind in kinds if not kind.strip().startswith(("#ground", "#names", ".narrow"))]
    assert len(kinds) >= 8
    assert loose == []
