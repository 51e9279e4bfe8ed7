"""The legend under the panels of a figure."""

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.figure import Figure

from posbias.report import style

HANDLE, SPACING = 3.2, 1.4  # ems: a line sample in the legend, the gap between its columns


def legend_columns(names: Sequence[str]) -> int:
    """Return how many legend columns, at most four, fit the page; they fill one after another."""
    em = style.BODY / 72
    for columns in range(min(4, len(names)), 1, -1):
        rows, longer = divmod(len(names), columns)
        widths, first = [], 0
        for column in range(columns):
            last = first + rows + (column < longer)
            widths.append(max(style.text_width(name, style.BODY) for name in names[first:last]))
            first = last
        gaps = columns * (HANDLE + 0.8) * em + (columns - 1) * SPACING * em
        if sum(widths) + gaps <= style.PAGE_WIDTH - 2 * style.MARGIN:
            return columns
    return 1


def draw_legend(
    figure: Figure, samples: Sequence[Artist], names: Sequence[str], columns: int, bottom: float
) -> None:
    """Draw a legend in the middle of the page, its foot `bottom` inches above the lower edge."""
    figure.legend(
        samples,
        names,
        loc="lower center",
        bbox_to_anchor=(0.5, bottom / figure.get_size_inches()[1]),
        ncols=columns,
        frameon=False,
        handlelength=HANDLE,
        handletextpad=0.8,
        columnspacing=SPACING,
        borderaxespad=0,
        borderpad=0.2,
    )
