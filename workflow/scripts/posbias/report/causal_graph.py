"""Where position bias comes from: the causal graph of the listwise study (Fig. 1)."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, FancyArrowPatch

from posbias.report import style
from posbias.report.panels import Words, new_page

BIAS, CONTENT = "bias by position", "content"
NODES = {
    "X": ("X", "passages in their\ninput order", (0.95, 1.75)),
    "M": ("LLM", "the listwise reranker", (0.95, 0.45)),
    "P": ("P", "position of each\npassage in the input", (3.6, 1.1)),
    "pi": ("π", "ranking", (6.15, 1.1)),
}
# source, target, kind, whether the paper's figure has it, what acts on it, curvature of the arrow
EDGES = (
    ("X", "P", BIAS, True, "Pos-Aug shows every passage in many slots", 0.0),
    ("M", "P", BIAS, True, "", 0.0),
    ("P", "pi", BIAS, True, "IPS weighs pairs by 1/ω", 0.0),
    ("X", "pi", CONTENT, False, "", -0.22),
    ("M", "pi", CONTENT, False, "", 0.22),
)
REMEDIES = (
    ("Pos-Aug shows every\npassage in many slots", (2.3, 1.47), "left", "bottom"),
    ("IPS weighs\npairs by 1/ω", (4.9, 1.04), "center", "top"),
)
NOTES = (
    "Solid: the paths by which the input order bears on the ranking (the paper's graph: X and LLM "
    "act on P, P on π).",
    "Dashed: the paths by content alone that a fair ranking takes (our addition).",
    "In italics: where the two remedies act; ω is the share of passages that go from a slot to a "
    "rank.",
)
WIDTH, HEIGHT = 1.5, 0.62  # inches: of a node
PANEL_HEIGHT = 2.0  # inches


def edge_frame() -> pd.DataFrame:
    """Return the edges: source, target, kind, in_paper, remedy (empty if none acts on it)."""
    names = {key: name for key, (name, _, _) in NODES.items()}
    rows = [
        {
            "source": names[source],
            "target": names[target],
            "kind": kind,
            "in_paper": in_paper,
            "remedy": remedy,
        }
        for source, target, kind, in_paper, remedy, _ in EDGES
    ]
    return pd.DataFrame(rows)


def _draw_node(panel: Axes, name: str, meaning: str, centre: tuple[float, float]) -> Ellipse:
    node = Ellipse(centre, WIDTH, HEIGHT, facecolor="white", edgecolor="black", linewidth=0.9)
    panel.add_patch(node)
    x, y = centre
    lines = meaning.count("\n") + 1
    panel.text(x, y + 0.075 * lines, name, ha="center", va="center", fontweight="bold")
    panel.text(x, y - 0.075, meaning, ha="center", va="center", linespacing=1.1)
    return node


def draw_causal_graph(title: str, footer: str) -> Figure:
    """Return the graph of passages, reranker, positions and ranking (Fig. 1).

    Call within `style.print_style()`.
    """
    page = new_page(Words(title, NOTES, footer), 1, 1, PANEL_HEIGHT, left=0.0, right=0.0)
    panel = page.panels[0, 0]
    panel.set(xlim=(0, style.PAGE_WIDTH), ylim=(0.1, PANEL_HEIGHT + 0.1))
    panel.axis("off")
    nodes = {key: _draw_node(panel, *node) for key, node in NODES.items()}
    for source, target, kind, _, _, curvature in EDGES:
        arrow = FancyArrowPatch(
            NODES[source][2],
            NODES[target][2],
            arrowstyle="-|>",
            mutation_scale=9,
            connectionstyle=f"arc3,rad={curvature}",
            patchA=nodes[source],
            patchB=nodes[target],
            shrinkA=0,
            shrinkB=0,
            color="black" if kind == BIAS else style.GREY,
            linestyle="-" if kind == BIAS else (0, (4, 2.5)),
            linewidth=1.2 if kind == BIAS else 0.9,
        )
        panel.add_patch(arrow)
    for text, (x, y), across, up in REMEDIES:
        panel.text(x, y, text, ha=across, va=up, fontstyle="italic", linespacing=1.1)
    return page.figure
