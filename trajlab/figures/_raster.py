"""PNG from SVG, by resvg: three megabytes and a millisecond to import, where a browser engine takes hundreds.

Letters are drawn with the font beside this file and with no other, so that a drawing is the same picture, to the
byte, whatever fonts a machine has or lacks. It has Latin, Greek and Cyrillic; other letters come out as boxes.
"""

from __future__ import annotations

from pathlib import Path

from trajlab.errors import FigureError

ZOOM = 2
"""Pixels for each unit of the drawing: sharp in print at the width of a column."""
FONT = "Source Sans Pro"
FONTS = Path(__file__).with_name("fonts")


def png(svg: str) -> bytes:
    try:
        import resvg_py
    except ImportError as error:
        raise FigureError("PNG needs resvg-py: pip install 'trajlab[png]', or write .svg") from error
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            zoom=ZOOM,
            skip_system_fonts=True,
            font_files=sorted(map(str, FONTS.glob("*.otf"))),
            font_family=FONT,
            sans_serif_family=FONT,
            serif_family=FONT,
            monospace_family=FONT,
        )
    )
