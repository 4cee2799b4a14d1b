"""Cells that nest in the zones: flows between zones then lose nothing by them, whatever else they lose.

Squares of 500 m lie wholly in squares of 1,000 m, hexagons in neither. A comparison between such zones favours the
cells that nest, and says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trajlab.query import step

if TYPE_CHECKING:
    from trajlab.store import Store

MOSTLY = 0.95
"""Share of cells wholly in one zone from which an index counts as nesting in the zones."""


def nesting_note(store: Store, index_id: int, index_name: str, zones_id: int, zones_name: str) -> str | None:
    """What to say where the cells of an index nest in the zones; None where they do not."""
    ((cells, nested),) = store.rows(step("2_grid/_nested_cells"), index_id=index_id, zones_id=zones_id)
    if not cells or nested < MOSTLY * cells:
        return None
    return (
        f"{nested:,} of {cells:,} cells of {index_name} lie wholly in one zone of {zones_name}: flows between these "
        "zones lose nothing by such cells, which favours them over others"
    )
