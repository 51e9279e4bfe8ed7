"""The listwise study's Figure 3(a): where the relevant passage stands in training lists."""

import pandas as pd
from matplotlib.figure import Figure

from posbias.report import style
from posbias.report.listwise_records import Record, part, stage_label
from posbias.report.panels import Words, level_grid, new_page, slot_axis

KINDS = {
    "none": "as retrieved (no augmentation)",
    "random": "random orders",
    "rotation": "rotated groups (Pos-Aug)",
}
EVEN = "#8c8c8c"
PANEL_HEIGHT = 2.3  # inches


def training_frame(record: Record) -> pd.DataFrame:
    """Return one row for each kind of augmentation and slot: count and its share of the kind.

    A kind without any list has no share. Raises DataError if nothing was counted.
    """
    rows = []
    for kind, counts in part(part(record, "training"), "source_slots").items():
        total = sum(counts)
        rows += [
            {
                "augmentation": kind,
                "label": KINDS.get(kind, kind),
                "slot": slot,
                "count": count,
                "share": count / total if total else None,
            }
            for slot, count in enumerate(counts, start=1)
        ]
    return pd.DataFrame(rows).astype({"share": "float64"})


def _lists_note(record: Record) -> str:
    training = record["training"]
    name = stage_label(record, training.get("first_stage"))
    count = training.get("lists")
    lists = "Training lists" if count is None else f"{count:,} training lists"
    return f"{lists}{f' of {name}' if name else ''}, each shown once or in several orders."


def draw_training_positions(record: Record, frame: pd.DataFrame, title: str, footer: str) -> Figure:
    """Return the share of the relevant passages at each slot, a line a kind (Fig. 3(a)).

    Call within `style.print_style()`.
    """
    slots = int(frame["slot"].max())
    lines = [group for _, group in frame.groupby("augmentation", sort=False)]
    names = [group["label"].iloc[0] for group in lines]
    notes = [
        _lists_note(record),
        "The relevant passage of a list is the one that its query was made from.",
        "Grey: an even share.",
    ]
    page = new_page(Words(title, notes, footer, [*names, "even share"]), 1, 1, PANEL_HEIGHT)
    panel = page.panels[0, 0]
    samples = []
    for index, group in enumerate(lines):
        (line,) = panel.plot(
            group["slot"],
            100 * group["share"],
            linewidth=1.1,
            markersize=3.6,
            **style.line_style(index),
        )
        samples.append(line)
    samples.append(panel.axhline(100 / slots, color=EVEN, linewidth=0.9, zorder=1))
    slot_axis(panel, slots, "Slot of the relevant passage")
    panel.set_ylabel("Lists, %")
    panel.set_ylim(bottom=0)
    level_grid(panel)
    page.draw_legend(samples)
    return page.figure
