import numpy as np
import polars as pl
import pytest
import shapely

from trajlab.errors import SpatialError
from trajlab.spatial import StudyArea, build

BOX = (8.0, 50.0, 8.1, 50.1)
CAMPUS = pl.DataFrame(
    {
        "place": ["canteen", "library", "lab 1", "lab 2", "chat room"],
        "lat": [50.02, 50.03, 50.07, 50.07, None],
        "lng": [8.02, 8.05, 8.07, 8.08, None],
        "parent": [None, None, "labs", "labs", None],
    }
)


def index(table=CAMPUS, spec="places"):
    return build(spec, StudyArea(BOX, places=table))


def every_cell(places):
    return places.assign_names(CAMPUS["place"])


def test_names_and_coordinates_lead_to_the_same_cells():
    places = index()
    named = places.assign_names(pl.Series(["library", "lab 1", "library"]))
    assert places.label(named) == ["library", "lab 1", "library"]
    assert np.array_equal(places.assign(np.array([8.051, 8.069]), np.array([50.031, 50.071])), named[:2])


def test_a_place_without_coordinates_has_a_cell_but_no_shape():
    places = index()
    chat = places.assign_names(pl.Series(["chat room"]))
    assert np.isnan(places.anchor(chat)).all()
    assert shapely.is_empty(places.polygon(chat)).all()
    assert np.isnan(places.area_km2(chat)).all()


def test_parents_gather_their_places_and_the_rest_stay_themselves():
    places = index()
    above = places.coarser()
    assert above.label(places.parent(every_cell(places))) == ["canteen", "library", "labs", "labs", "chat room"]
    assert above.name == f"{places.name}:1"
    assert np.array_equal(above.assign_names(CAMPUS["place"]), places.parent(every_cell(places)))
    labs = places.area_km2(places.assign_names(pl.Series(["lab 1", "lab 2"]))).sum()
    assert above.area_km2(above.assign_names(pl.Series(["lab 1"])))[0] == pytest.approx(labs, rel=1e-9)
    root = above.coarser()
    assert set(root.label(every_cell(root))) == {"everything"}
    assert root.coarser() is root


def test_a_chain_of_parents_is_climbed_one_step_at_a_time():
    table = pl.DataFrame({"place": ["desk", "room", "tower"], "parent": ["room", "tower", None]})
    places = index(table)
    cells = places.assign_names(pl.Series(["desk", "room"]))
    once = places.parent(cells)
    assert places.coarser().label(once) == ["room", "tower"]
    assert places.coarser().coarser().label(places.coarser().parent(once)) == ["tower", "tower"]


def test_of_places_at_one_spot_the_first_name_gets_the_coordinates():
    table = pl.DataFrame({"place": ["floor 2", "floor 1", "gate"], "lat": [50.05, 50.05, 50.01], "lng": [8.05] * 3})
    places = index(table)
    here = places.assign(np.array([8.05]), np.array([50.05]))
    assert places.label(here) == ["floor 1"]
    upstairs = places.assign_names(pl.Series(["floor 2"]))
    assert shapely.is_empty(places.polygon(upstairs)).all()
    assert np.array_equal(places.anchor(upstairs), places.anchor(here))


def test_unknown_names_are_refused_with_their_number_and_some_of_them():
    with pytest.raises(SpatialError, match="3 of 4 records name no place of the table: pool, roof; add the places"):
        index().assign_names(pl.Series(["pool", "library", "roof", "pool"]))
    with pytest.raises(SpatialError, match="1 of 2 records name no place of the table; their place is missing;"):
        index().assign_names(pl.Series([None, "library"]))


def test_without_any_coordinates_only_names_can_be_gridded():
    places = index(CAMPUS.select("place"))
    assert len(every_cell(places)) == 5
    assert shapely.is_empty(places.polygon(every_cell(places))).all()
    with pytest.raises(SpatialError, match="none of the 5 places has coordinates: only records that name a place"):
        places.assign(np.array([8.0]), np.array([50.0]))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"place": ["a", "b"], "lat": [1.0, None], "lng": [1.0, 2.0]}, "1 of 2 places have a wrong or half-missing"),
        ({"place": ["a", "a"]}, "2 of 2 places share an id with another row: a;"),
        ({"name": ["a"]}, "the table of places has no column place; it has: name"),
    ],
)
def test_a_wrong_table_is_refused(table, message):
    with pytest.raises(SpatialError, match=message):
        index(pl.DataFrame(table))


def test_parents_in_a_loop_are_refused():
    with pytest.raises(SpatialError, match="the parents of places form a loop"):
        index(pl.DataFrame({"place": ["a", "b"], "parent": ["b", "a"]}))


def test_a_level_that_does_not_exist_is_refused():
    with pytest.raises(SpatialError, match=r"no level '7' of places: give 'places', .* level from 0 to 2"):
        index(spec="places:7")
