"""The files of a figure: page, numbers, and where they come from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from posbias.files import whole_file
from posbias.report import style
from posbias.report.provenance import footer_text, write_figure_meta


@dataclass(frozen=True)
class About:
    """What is said of a figure: its title, what varies in it, its kind of interval (None: none)."""

    title: str
    varies: str
    interval: Mapping[str, Any] | None
    provenance: Mapping[str, Any]
    inputs: tuple[Path, ...]


def about_listwise(
    title: str,
    varies: str,
    record: Mapping[str, Any],
    provenance: Mapping[str, Any],
    measures: Path,
    intervals: bool = True,
) -> About:
    """Return what is said of a figure of the listwise study, whose seeds its measures name."""
    interval = record["interval"] if intervals else None
    return About(title, varies, interval, {**provenance, "seed": record["seeds"]}, (measures,))


def write_outputs(
    about: About,
    frame: pd.DataFrame,
    draw: Callable[[str], Figure],
    pdf: Path,
    csv: Path,
    meta: Path,
) -> None:
    """Write the numbers as they are, the page that `draw` makes of its footer, and its sources.

    Raises ConfigError, before anything is written, if a field of the provenance is missing.
    """
    footer = footer_text(about.provenance, about.interval, about.varies)
    with style.print_style():
        figure = draw(footer)
        with whole_file(csv) as part:
            frame.to_csv(part, index=False, lineterminator="\n")
        style.save_pdf(figure, pdf, about.title)
    write_figure_meta(
        meta, about.title, about.provenance, about.interval, about.varies, about.inputs
    )
