"""The figures of the papers, drawn from a lab's own tables with the published numbers marked on them.

Each module here has `FIGURES`, found by file name: a figure is a relation of the lab (`sql/9_figures`) and how to
draw it (`_figure`). The drawing is an SVG that needs nothing around it, or a PNG made from it (`_raster`).

    trajlab figure --list
    trajlab figure lab.duckdb xu2017-fig8a -o fig8a.svg
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from trajlab import plugins
from trajlab.errors import FigureError, LabError, UnknownNameError
from trajlab.figures._figure import Drawn, Figure
from trajlab.report.listing import RELEASES, lines

if TYPE_CHECKING:
    from trajlab.lab import Lab

__all__ = ["Drawn", "Figure", "draw", "known", "listing", "save"]

FORMS = (".svg", ".png")


@functools.cache
def known() -> dict[str, Figure]:
    """Every figure by its name, paper by paper."""
    every = [figure for plugin in plugins.load_all(__name__).values() for figure in plugin.FIGURES]
    return {figure.name: figure for figure in every}


def listing() -> str:
    """One line for each figure: its name, what it shows, and what a lab needs for it."""
    width = max(map(len, known()))
    return "\n".join(f"{name:<{width}}  {figure.title}; needs {figure.needs}" for name, figure in known().items())


def draw(lab: Lab, name: str, *, release: str | None = None) -> Drawn:
    """The figure of that name from the tables of a lab, for one release: the only one that has what it takes."""
    if name not in known():
        raise UnknownNameError("figure", name, known())
    figure = known()[name]
    of_one = {} if release is None else {"release_id": release}
    rows = lab.table(figure.relation, **figure.rows, **of_one)
    answers = {str(part["release_id"][0]): part for part in rows.partition_by("release_id", maintain_order=True)}
    if not answers:
        where = f"release {release}" if release is not None else "no release of this lab"
        lacks = "lacks" if release is not None else "has"
        raise FigureError(f"{name}: {where} {lacks} what it is drawn from; it needs {figure.needs}")
    if len(answers) > 1 and not figure.across:
        there = "; ".join(lines([row for row in lab.sql(RELEASES).to_dicts() if row["release_id"] in answers]))
        raise FigureError(f"{name} can be drawn for {len(answers)} releases: say which; there are: {there}")
    fullest = max(answers, key=lambda release_id: len(answers[release_id]))
    people = lab.sql("select people from study.release where release_id = $id", id=fullest).item()
    return Drawn.of(figure, fullest, answers[fullest], people)


def save(drawn: Drawn, path: Path) -> Path:
    """Write .svg or .png, all or nothing."""
    from trajlab.figures._raster import png
    from trajlab.report import write_file

    form = path.suffix.lower()
    if form not in FORMS:
        raise LabError(f"{path.name!r} is neither .svg nor .png: name the file {drawn.figure.name}.svg")
    return write_file(path, drawn.svg() if form == ".svg" else png(drawn.svg()))
