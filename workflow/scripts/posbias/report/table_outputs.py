"""The files of a table: page, numbers, LaTeX, and where they come from."""

from functools import partial
from pathlib import Path

import pandas as pd

from posbias.files import write_text
from posbias.report.grid import draw_grid
from posbias.report.latex import latex_grid
from posbias.report.outputs import About, write_outputs
from posbias.report.provenance import scale_text
from posbias.report.tables import Grid


def write_table(
    about: About,
    frame: pd.DataFrame,
    grid: Grid,
    pdf: Path,
    csv: Path,
    tex: Path,
    meta: Path,
    label: str,
) -> None:
    """Write a table as `write_outputs`, and as LaTeX with this label."""
    write_outputs(about, frame, partial(draw_grid, grid, about.title), pdf, csv, meta)
    write_text(tex, latex_grid(grid, about.title, [f"{scale_text(about.provenance)}."], label))
