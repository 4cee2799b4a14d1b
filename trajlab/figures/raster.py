"""PNG from SVG, by resvg: three megabytes and a millisecond to import, where a browser engine takes hundreds."""

from __future__ import annotations

import functools

from trajlab.errors import FigureError

ZOOM = 2
"""Pixels for each unit of the drawing: sharp in print at the width of a column."""


def png(svg: str) -> bytes:
    try:
        import resvg_py
    except ImportError as error:
        raise FigureError("PNG needs resvg-py: pip install 'trajlab[png]', or write .svg") from error
    if not _has_fonts():
        raise FigureError(
            "this machine has no font to draw with: install one (Debian: fonts-dejavu-core), or write .svg"
        )
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=ZOOM))


@functools.cache
def _has_fonts() -> bool:
    """Whether a letter leaves a mark: without fonts, resvg leaves text out and says nothing."""
    import resvg_py

    sheet = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">{}</svg>'
    letter, nothing = ('<text x="2" y="16" font-family="sans-serif" font-size="16">M</text>', "")
    drawn, empty = (bytes(resvg_py.svg_to_bytes(svg_string=sheet.format(inside))) for inside in (letter, nothing))
    return drawn != empty
