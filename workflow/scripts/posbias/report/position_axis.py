"""The axis of evidence positions under a panel: characters, thirds, or shares of the document."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from posbias.report import style
from posbias.report.records import SKEWS

AXES = {
    "characters": "evidence position (characters)",
    "thirds": "evidence position (third of the document)",
    "bins": "evidence position (share of the document)",
}
# Inches from the panel down to the middle of its axis' name.
NAME_BELOW = {"characters": 0.64, "thirds": 0.32, "bins": 0.32}
SHADED = ("thirds", "bins")  # axes on which the thirds of a training can be shown
SHARES = 5  # marked parts of the document under bins, however many there are


def _shade(panel: Axes, setting: str, groups: int) -> None:
    """Shade the third that a setting trains on, or all three."""
    width = groups / len(SKEWS)
    for index, name in enumerate(SKEWS):
        if name == setting or setting not in SKEWS:
            left = index * width - 0.5
            panel.axvspan(left, left + width, color=style.SHADE, linewidth=0, zorder=0)


def position_axis(panel: Axes, grouping: str, names: Sequence[str], setting: str) -> None:
    """Mark the groups 0, 1, … of a grouping of AXES, and shade what the setting trains on.

    Bins, which are equal shares of the document, are marked at edges: there may be many.
    """
    places = range(len(names))
    if grouping in SHADED:
        _shade(panel, setting, len(names))
    if grouping == "bins":
        shares = [part / SHARES for part in range(SHARES + 1)]
        panel.set_xticks([s * len(names) - 0.5 for s in shares], [f"{s:g}" for s in shares])
        panel.set_xticks([place - 0.5 for place in (*places, len(names))], minor=True)
        panel.set_xlim(-0.5, len(names) - 0.5)
        return
    if grouping == "characters":
        panel.set_xticks(places, names, rotation=45, ha="right", rotation_mode="anchor")
    else:
        panel.set_xticks(places, names)
    panel.set_xlim(-0.45, len(names) - 0.55)
