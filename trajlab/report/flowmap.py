"""Flows between zones on a map, before and after their cells are generalised: a line each, as wide as its flow.

Both sides show the same pairs of zones in one view and one scale of widths. A line bends to the right of
its way, so that both ways between two zones can be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl
import shapely

from trajlab.report import words
from trajlab.report.contents import Contents
from trajlab.report.drawing import maps
from trajlab.report.drawing.backdrop import Backdrop
from trajlab.report.drawing.extent import Extent
from trajlab.report.drawing.outlines import write_paths
from trajlab.report.evidence import figure
from trajlab.report.markup import Html, join, tag
from trajlab.report.tradeoffs import FLOWS

MOST = 200
"""Pairs of zones that are drawn."""
WIDEST, THINNEST = 10.0, 0.4
_BEND = 0.18

FLOWS_DRAWN = """\
from report.flow_map
where tradeoff_id = $tradeoff_id and zones_name = $zones and flows = $flows
order by greatest(before, after) desc, origin_label, destination_label, origin, destination limit $most"""

Floats = npt.NDArray[np.float64]


def between(contents: Contents, tradeoff_id: str, zones: str, flows: str) -> Html | None:
    """The largest flows before and after the largest cells of a trade-off; None where no two zones have any."""
    answer = contents.load_answer(FLOWS_DRAWN, tradeoff_id=tradeoff_id, zones=zones, flows=flows, most=MOST)
    frame = answer.frame
    if not len(frame):
        return None
    larger = words.lower_first(words.cells(frame["index_name"][0]))
    backdrop = contents.backdrop
    drawing = draw(frame, ("As released", f"With {larger}"), backdrop) if backdrop is not None else None
    if drawing is None:
        return None
    many, every = len(frame), int(frame["pairs"][0])
    which = f"The largest {many:,} of {every:,} flows" if every > many else f"All {words.count(every, 'flow')}"
    return figure(
        f"Flows between zones, before and after: {FLOWS[flows]}",
        drawing,
        answer.select("origin_label", "destination_label", "before", "after", "change"),
        note=f"{which} from one zone to another, on both maps the same and to the same scale; a line bends to the "
        "right of its way. Point at a line for its values. Movements within a zone are not drawn.",
        heads={"origin_label": "Origin", "destination_label": "Destination"},
    )


def draw(frame: pl.DataFrame, names: tuple[str, str], backdrop: Backdrop) -> Html | None:
    """Two maps abreast and what the widths mean; None where a zone has no place."""
    extent = backdrop.extent
    outlines = pl.concat([frame["origin_polygon"], frame["destination_polygon"]]).unique(maintain_order=True)
    if outlines.null_count():
        return None
    shapes = extent.plane.to_metres(shapely.from_wkt(outlines.to_numpy()))
    zones = tag("path", d="".join(write_paths(shapely.transform(shapes, extent.paper))), cls="zone")
    ends = [
        extent.paper_of_degrees(frame[f"{end}_lng"].to_numpy(), frame[f"{end}_lat"].to_numpy())
        for end in ("origin", "destination")
    ]
    arcs = _arcs(*ends)
    most = float(frame.select(pl.max_horizontal("before", "after").max()).item())
    titles = [
        f"{words.short(a)} → {words.short(b)}\nbefore {words.number(before)}, after {words.number(after)}"
        for a, b, before, after in frame.select("origin_label", "destination_label", "before", "after").iter_rows()
    ]
    sides = [
        _side(name, zones, _lines(arcs, frame[column].to_list(), titles, most, n), extent)
        for n, (name, column) in enumerate(zip(names, ("before", "after"), strict=True))
    ]
    return join(_key(most), tag("div", sides, cls="abreast"))


def _arcs(start: Floats, end: Floats) -> list[str]:
    """A bow from each start to its end, bent to the right as seen from the start."""
    way = end - start
    middle = (start + end) / 2 + _BEND * np.column_stack([-way[:, 1], way[:, 0]])
    corners = np.rint(np.column_stack([start, middle, end])).astype(np.int64)
    return [f"M{a} {b}Q{c} {d} {e} {f}" for a, b, c, d, e, f in corners.tolist()]


def _lines(arcs: Sequence[str], flows: Sequence[float], titles: Sequence[str], most: float, n: int) -> list[Html]:
    """The largest first, so that small ones lie on top and can be pointed at."""
    return [
        tag("path", tag("title", title), d=arc, stroke_width=f"{_width(flow, most):.1f}", cls=f"flow s{n}")
        for arc, flow, title in zip(arcs, flows, titles, strict=True)
        if flow > 0
    ]


def _width(flow: float, most: float) -> float:
    return max(THINNEST, WIDEST * flow / most)


def _side(name: str, zones: Html, lines: list[Html], extent: Extent) -> Html:
    svg = tag(
        "svg",
        tag("use", href="#ground"),
        zones,
        tag("use", href="#names"),
        lines,
        viewBox=f"0 0 {extent.size[0]} {extent.size[1]}",
        role="img",
        aria_label=f"Map of {words.count(len(lines), 'flow')} between zones: {name}",
        cls="flows",
        data_scale=f"{extent.scale:.6g}",
    )
    return tag("div", tag("h4", name), maps.sheet(svg, extent))


def _key(most: float) -> Html:
    """Widths of three flows."""
    shown = [
        tag("li", tag("i", cls="chip way", style=f"height:{_width(flow, most):.1f}px"), f"{words.number(flow, 2)}")
        for flow in (most, most / 3, most / 10)
    ]
    return tag("ul", shown, tag("li", "movements"), cls="legend")
