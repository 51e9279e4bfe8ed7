"""The lines of nDCG@10 by position: each looks its own, in grey as well (Figures 1, 2, 8)."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from posbias.report import style

# In turn; chosen so that of the first eight lines, two of like grey differ in two or more of
# dashes, width and filling, and in their mark.
WIDTHS = (1.0, 0.7, 1.0, 1.9)  # points
HOLLOW = (False, True, False, False, True, False, False, True)
MARK, CROSS = 4.2, 5.4  # points: a mark; one of the shapes of CROSSES, which have less area
CROSSES = ("P", "X")
APART = 0.14  # of the step from one group to the next, over which the lines are spread
REFERENCE = {"color": "#8c8c8c", "linewidth": 1.1, "zorder": 1}
REFERENCE_DASHES = ((0, (1, 1.5)), (0, (6, 1.5, 1, 1.5)), (0, (3, 1)), (0, (1, 0.6)))


def line_look(index: int) -> dict[str, Any]:
    """Return how the line `index` looks: colour, mark, dashes, width, and marks full or hollow.

    Lines whose colours are one grey in print differ in the other four; no two of the first 360
    agree. The look depends on the index alone, so that a retriever keeps its own in every panel.
    """
    look = style.line_style(index)
    hollow = HOLLOW[index % len(HOLLOW)]
    return look | {
        "linewidth": WIDTHS[index % len(WIDTHS)],
        "markersize": CROSS if look["marker"] in CROSSES else MARK,
        "markerfacecolor": "white" if hollow else look["color"],
        "markeredgecolor": look["color"] if hollow else "white",
        "markeredgewidth": 0.8 if hollow else 0.3,
    }


def draw_retriever(panel: Axes, points: pd.DataFrame, index: int, count: int) -> None:
    """Draw a retriever, `index` of `count`: means over groups 0, 1, … and their intervals."""
    shift = APART * ((index + 0.5) / count - 0.5)
    panel.errorbar(
        points["group_index"] + shift,
        points["mean"],
        yerr=[points["mean"] - points["low"], points["high"] - points["mean"]],
        label=points["label"].iloc[0],
        elinewidth=0.5,
        **line_look(index),
    )


def draw_reference(panel: Axes, points: pd.DataFrame, index: int) -> None:
    """Draw a system not trained here: a grey line of means without marks or intervals."""
    panel.plot(
        points["group_index"],
        points["mean"],
        label=points["label"].iloc[0],
        linestyle=REFERENCE_DASHES[index % len(REFERENCE_DASHES)],
        **REFERENCE,
    )
