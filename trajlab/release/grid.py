"""From records to cells: which cell of an index each record falls in.

Records stream out of the engine in blocks, get their cells from the index in numpy,
and stream back, so that memory does not grow with their number. Points outside the
study box are left out, or moved to its edge first (dsilva2024, section IV-C), whatever the
index. Records that all name a station or place stay there: they are placed once per place.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from trajlab import spatial
from trajlab.errors import ReleaseError, SpatialError
from trajlab.release.box import EVERYWHERE, Box, box_text, default_box, inhabited_box
from trajlab.spatial._globe import beside, wrapped
from trajlab.spatial._projection import LocalMetres

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trajlab.progress import Progress
    from trajlab.spatial import SpatialIndex, StudyArea
    from trajlab.store import Store

_IN_THE_BOX = "(lng between $west and $east or lng + 360 between $west and $east) and lat between $south and $north"
_BLOCK = 500_000


def grid(store: Store, spec: str, *, box: Box | None, outside: str, progress: Progress) -> tuple[int, SpatialIndex]:
    """Make sure that every record has its cell in `grid.fix`; returns the index and its id.

    Must run inside a transaction. Does nothing when the same records were gridded with
    the same index before. Cells of earlier records stay: releases were made of them.
    """
    area, index = _build_index(store, spec, box)
    fingerprint = records_fingerprint(store)
    settings = json.dumps({**index.settings, "box": area.box, "outside": outside}, sort_keys=True)
    identity = json.dumps([index.name, settings, fingerprint])
    index_id = int(hashlib.sha256(identity.encode()).hexdigest()[:12], 16)  # a number: 50 million rows carry it
    if store.rows("select 1 from grid.index where index_id = $id", id=index_id):
        return index_id, index
    beyond = _records_beyond(store, area.box)
    _refuse_records_without_place(store, index)
    with progress.step(f"grid {index.name}"):
        named = _every_record_names_a_place(store)
        write = partial(_write_fixes, index=index, index_id=index_id, box=area.box, outside=outside, named=named)
        store.by_person("grid.fix", write, progress, index_id=index_id)
    centre = LocalMetres.amid(area.box)
    store.insert(
        "grid.index",
        pl.DataFrame(
            {
                "index_id": [index_id],
                "name": [index.name],
                "settings": [settings],
                "lon0": [centre.lon0],
                "lat0": [centre.lat0],
            }
        ),
    )
    gridding = {"index_id": [index_id], "fingerprint": [fingerprint], "beyond": [beyond]}
    store.insert("study.gridding", pl.DataFrame(gridding))
    found = store.totals("select distinct cell from grid.fix where index_id = $id order by cell", "", id=index_id)
    add_cells(store, index, index_id, np.array(found, dtype=np.uint64).ravel())
    return index_id, index


def refuse_index(store: Store, spec: str, box: Box | None) -> None:
    """Raise as `grid` would where the records cannot have such cells; nothing is written."""
    _, index = _build_index(store, spec, box)
    _refuse_records_without_place(store, index)


def _build_index(store: Store, spec: str, box: Box | None) -> tuple[StudyArea, SpatialIndex]:
    area = study_area(store, box)
    if area.box == EVERYWHERE and box is None and not spec.startswith("places"):
        raise SpatialError(f"no record has coordinates, so index {spec} cannot place them: use index='places'")
    return area, spatial.build(spec, area)


def records_fingerprint(store: Store) -> str:
    """A digest of everything that was ingested and of what was kept of it."""
    sources = store.rows("select fingerprint, settings, rows from records.source order by fingerprint, settings")
    kept = store.totals("select count(*) as records from records.fix", "sum(records)")[0][0]
    return hashlib.sha256(json.dumps([sources, kept]).encode()).hexdigest()[:16]


def is_coarser(store: Store, box: Box | None, fine: str, coarse: str) -> bool:
    """Whether the cells of one index are larger than those of another, where the lab has records."""
    area = study_area(store, box)
    spots = pl.DataFrame(
        store.totals(
            "select distinct lng, lat from records.fix where lat is not null order by hash(lng, lat) limit 1000",
            "order by hash(lng, lat) limit 1000",
        ),
        schema={"lng": pl.Float64, "lat": pl.Float64},
        orient="row",
    )
    sizes = []
    for spec in (fine, coarse):
        index = spatial.build(spec, area)
        cells = np.unique(index.assign(spots["lng"].to_numpy(), spots["lat"].to_numpy()))
        sizes.append(float(np.nanmedian(index.area_km2(cells))) if len(cells) else np.nan)
    return bool(sizes[1] > 1.001 * sizes[0])


def study_area(store: Store, box: Box | None = None) -> StudyArea:
    """What an index may know: the study box, given or found, and the reference tables of the lab."""
    return spatial.StudyArea(
        box=box or default_box(store, records_fingerprint(store)),
        stations=_reference(store, "select station, lat, lng from records.station order by station"),
        places=_reference(store, "select place, lat, lng, parent from records.place order by place"),
        zones=_reference(store, "select name as zone, parent, outline as polygon from records.zone order by name"),
    )


def add_cells(store: Store, index: SpatialIndex, index_id: int, cells: np.ndarray[Any, Any]) -> None:
    """Describe in `grid.cell` those of the cells that it lacks."""
    import shapely

    known = store.frame("select cell from grid.cell where index_id = $id", id=index_id)["cell"].to_numpy()
    cells = np.setdiff1d(cells, known)
    if not len(cells):
        return
    lon, lat = index.anchor(cells)
    lon0, lat0 = store.rows("select lon0, lat0 from grid.index where index_id = $id", id=index_id)[0]
    x, y = LocalMetres(lon0, lat0).forward(lon, lat)
    frame = pl.DataFrame(
        {
            "index_id": [index_id] * len(cells),
            "cell": cells,
            "label": index.label(cells),
            "lng": lon,
            "lat": lat,
            "x": x,
            "y": y,
            "area_km2": index.area_km2(cells),
            "parent_cell": index.parent(cells),
            "polygon": shapely.to_wkt(index.polygon(cells), rounding_precision=7).tolist(),
        }
    )
    store.insert("grid.cell", frame.with_columns(pl.col(pl.Float64).fill_nan(None)))


def _every_record_names_a_place(store: Store) -> bool:
    unnamed = "select count(*) as records from records.fix where place is null"
    return bool(store.totals(unnamed, "sum(records)")[0][0] == 0)


def _write_fixes(
    store: Store, progress: Progress, *, index: SpatialIndex, index_id: int, box: Box, outside: str, named: bool
) -> None:
    inside, bounds = "true", {}
    if outside == "drop":
        inside = f"{_IN_THE_BOX} or lng is null"
        bounds = dict(zip(("west", "south", "east", "north"), box, strict=True))
    if named:
        _place_by_place(store, index, index_id, inside, bounds)
    else:
        _record_by_record(store, index, index_id, box, inside, bounds, progress)


def _place_by_place(store: Store, index: SpatialIndex, index_id: int, inside: str, bounds: dict[str, float]) -> None:
    spots = store.frame(
        f"select distinct place, lng, lat from records.fix where {inside} order by all",  # noqa: S608
        **bounds,
    )
    if names := getattr(index, "assign_names", None):
        cells = names(spots["place"])
    else:
        cells = index.assign(spots["lng"].to_numpy(), spots["lat"].to_numpy())
    with store.engine.frames(spot_cell=spots.with_columns(cell=pl.Series(cells, dtype=pl.UInt64))):
        store.execute(
            "insert into grid.fix by name select $id::ubigint as index_id, fix.person, fix.ts, spot_cell.cell "
            "from records.fix as fix join spot_cell on fix.place = spot_cell.place "
            "and fix.lng is not distinct from spot_cell.lng and fix.lat is not distinct from spot_cell.lat",
            id=index_id,
        )


def _record_by_record(
    store: Store,
    index: SpatialIndex,
    index_id: int,
    box: Box,
    inside: str,
    bounds: dict[str, float],
    progress: Progress,
) -> None:
    import pyarrow as pa

    west, south, east, north = box

    total = store.rows("select count(*) from records.fix")[0][0]
    reading = f"select person, ts, lng, lat from records.fix where {inside}"  # noqa: S608
    with store.engine.blocks(reading, bounds, rows=_BLOCK) as reader:
        schema = pa.schema([*(reader.schema.field(name) for name in ("person", "ts")), ("cell", pa.uint64())])

        def placed(block: Any) -> Any:
            lon, lat = block.column("lng").to_numpy(), block.column("lat").to_numpy()
            cells = index.assign(wrapped(beside(lon, box).clip(west, east)), lat.clip(south, north))
            return pa.record_batch([block.column("person"), block.column("ts"), pa.array(cells)], schema=schema)

        def in_order() -> Iterator[Any]:
            done = 0
            waiting: deque[Any] = deque()
            with ThreadPoolExecutor(2) as pool:
                for block in reader:
                    waiting.append(pool.submit(placed, block))
                    done += block.num_rows
                    progress.show(done, total)
                    if len(waiting) > 3:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()

        with store.engine.frames(placed_fix=pa.RecordBatchReader.from_batches(schema, in_order())):
            store.execute(
                "insert into grid.fix by name select $id::ubigint as index_id, person, ts, cell from placed_fix",
                id=index_id,
            )


def _refuse_records_without_place(store: Store, index: SpatialIndex) -> None:
    by_name = hasattr(index, "assign_names")
    total, unnamed, nowhere = store.totals(
        "select count(*) as records, count(*) filter (place is null) as unnamed, "
        "count(*) filter (lat is null) as nowhere from records.fix",
        "sum(records), sum(unnamed), sum(nowhere)",
    )[0]
    if by_name and unnamed and unnamed < total and nowhere:
        raise SpatialError(
            f"{unnamed} of {total} records name no place and others have no coordinates: "
            f"index {index.name} cannot grid both at once"
        )
    if not by_name and nowhere:
        raise SpatialError(
            f"{nowhere} of {total} records have no coordinates, so index {index.name} cannot place them: "
            "use index='places', or give the places coordinates"
        )


def _records_beyond(store: Store, box: Box) -> int:
    """Records outside the study box; refused where that is all of them."""
    west, south, east, north = box
    placed, inside = store.totals(
        f"select count(lat) as placed, count(*) filter ({_IN_THE_BOX}) as inside from records.fix",  # noqa: S608
        "sum(placed), sum(inside)",
        west=west, south=south, east=east, north=north,
    )[0]  # fmt: skip
    if placed and not inside:
        raise ReleaseError(
            f"no record lies in the box {box_text(box)}: the records are about {box_text(inhabited_box(store))}; "
            "give west, south, east, north in degrees"
        )
    return int(placed - inside)


def _reference(store: Store, sql: str) -> pl.DataFrame | None:
    frame = store.frame(sql)
    return frame if len(frame) else None
