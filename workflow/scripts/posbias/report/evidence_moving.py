"""The paper's Tables 5 and 13: cosine of query and document as the evidence moves through it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from posbias.errors import ConfigError, DataError
from posbias.report.objects import AGAIN, INTERVAL, NUMBER, read_object
from posbias.report.printed import Cell, count_range, span
from posbias.report.records import SETTING_LABELS
from posbias.report.signs import MINUS
from posbias.report.tables import Column, Grid, Section

POINT = {"position": int, "mean": NUMBER, "low": NUMBER, "high": NUMBER}
MOVED = {
    "points": [POINT],
    **dict.fromkeys(("peak", "lowest"), int),
    **dict.fromkeys(("range", "range_low", "range_high"), NUMBER),
}
CUT = [{"position": int, "texts": int}]
REQUIRED = {
    "retriever": str,
    "label": str,
    "positions": int,
    "settings": dict.fromkeys(SETTING_LABELS, MOVED),
    "counts": {"pairs": int, "truncated": dict.fromkeys(SETTING_LABELS, CUT)},
    "interval": INTERVAL,
}
TIMES = 1000  # ranges are printed times this, as in the paper
SETTINGS_NOTE = (
    "MB, MM, ME, MU: trained with the evidence in the begin, the middle, the end, and in all "
    "three alike."
)


def cosine_text(value: float) -> str:
    """Print a cosine with four decimals, `.6832`, as Table 13 does."""
    text = f"{abs(value):.4f}"
    sign = MINUS if value < 0 and float(text) else ""
    return sign + (text[1:] if text.startswith("0") else text)


def range_text(value: float) -> str:
    """Print a range of cosines times 1000 with one decimal, `21.5`."""
    return f"{TIMES * value:.1f}"


def read_moving(paths: Iterable[Path], order: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Read the measures of retrievers and put them in `order`; None leaves them as given.

    Raises DataError naming the file at fault, a retriever measured twice, one that `order` does
    not name, a setting or position that is missing, and for numbers of positions, or intervals,
    that differ between retrievers.
    """
    records: dict[str, dict[str, Any]] = {}
    for path in paths:
        record = read_object(path, REQUIRED)
        unknown = [name for name in record["settings"] if name not in SETTING_LABELS]
        if unknown:
            raise DataError(
                f"{path}: {', '.join(unknown)} is an unknown setting of these measures; {AGAIN}."
            )
        if record["counts"]["pairs"] < 1:
            raise DataError(f"{path}: counts.pairs is {record['counts']['pairs']}; {AGAIN}.")
        key = record["retriever"]
        if key in records:
            raise DataError(f"{path}: {key} is measured twice; pass each file once.")
        if order is not None and key not in order:
            raise DataError(f"{path}: the configured retrievers do not name {key}.")
        records[key] = record
    if not records:
        raise DataError("no measures given; the table needs at least one file.")
    first, *others = records.values()
    for other in others:
        for name in ("positions", "interval"):
            if other[name] != first[name]:
                raise DataError(
                    f"{other['retriever']}: {name} {other[name]} is not {first[name]} as for "
                    f"{first['retriever']}; measure all alike."
                )
    for record in records.values():
        _check_points(record)
    return [records[key] for key in (order or records) if key in records]


def _check_points(record: Mapping[str, Any]) -> None:
    """Raise DataError unless every setting is measured at each position, with its peak there."""
    for setting in SETTING_LABELS:
        values = record["settings"][setting]
        places = [point["position"] for point in values["points"]]
        if not {values["peak"], values["lowest"]} <= set(places):
            raise DataError(
                f"{record['retriever']}, setting {setting}: peak {values['peak']} or lowest "
                f"{values['lowest']} is at no position that was measured; {AGAIN}."
            )
        if places != list(range(1, record["positions"] + 1)):
            raise DataError(
                f"{record['retriever']}, setting {setting}: measured at the positions "
                f"{', '.join(map(str, places))}, expected 1 to {record['positions']}; {AGAIN}."
            )


def moving_frame(records: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return one row per retriever, setting and position (Table 13); numbers are not rounded.

    Columns mean, low, high: of the cosine; n: pairs; peak, lowest: the setting's positions of the
    highest and the lowest mean; range, range_low, range_high: between the two.
    """
    rows = []
    for record in records:
        for setting in SETTING_LABELS:
            values = record["settings"][setting]
            rows += [
                {
                    "retriever": record["retriever"],
                    "label": record["label"],
                    "setting": setting,
                    **{name: point[name] for name in ("position", "mean", "low", "high")},
                    "n": record["counts"]["pairs"],
                    **{name: values[name] for name in ("peak", "lowest")},
                    **{name: values[name] for name in ("range", "range_low", "range_high")},
                }
                for point in values["points"]
            ]
    return pd.DataFrame(rows)


def short_frame(frame: pd.DataFrame, short: Sequence[str]) -> pd.DataFrame:
    """Return one row per retriever of `short`, in its order, and setting (Table 5); none: all.

    Columns as of `moving_frame`, and peak_mean, lowest_mean. Raises ConfigError for a retriever
    that was not measured.
    """
    measured = list(dict.fromkeys(frame["retriever"]))
    missing = [key for key in short if key not in measured]
    if missing:
        raise ConfigError(
            f"analyses.evidence_moving.short names {', '.join(missing)}; measured are "
            f"{', '.join(measured)}."
        )
    rows = []
    for key in short or measured:
        for (setting, peak, lowest), points in frame[frame["retriever"] == key].groupby(
            ["setting", "peak", "lowest"], sort=False
        ):
            means = points.set_index("position")["mean"]
            first = points.iloc[0]
            rows.append(
                {
                    **{name: first[name] for name in ("retriever", "label")},
                    "setting": setting,
                    "peak": peak,
                    "peak_mean": means[peak],
                    "lowest": lowest,
                    "lowest_mean": means[lowest],
                    **{name: first[name] for name in ("range", "range_low", "range_high", "n")},
                }
            )
    return pd.DataFrame(rows)


def _range_cell(row: Mapping[str, Any], bold: bool = False) -> Cell:
    bounds = span(row["range_low"], row["range_high"], range_text)
    return Cell(range_text(row["range"]), bold, bounds)


def cut_note(records: Sequence[Mapping[str, Any]]) -> str:
    """Return the sentence on texts longer than a retriever reads: its worst position, or none."""
    worst = []
    for record in records:
        shares = [
            (100 * counts["texts"] / record["counts"]["pairs"], counts["position"])
            for of_setting in record["counts"]["truncated"].values()
            for counts in of_setting
        ]
        share, _ = max(shares, default=(0.0, 0))
        if share >= 0.5:
            worst.append(f"{record['label']} {share:.0f} %")
    return (
        "Documents cut at the longest input, at the position where most are: "
        f"{'; '.join(worst) or 'none'}."
    )


def _common_notes(frame: pd.DataFrame, records: Sequence[Mapping[str, Any]]) -> list[str]:
    return [
        f"n = {count_range(frame['n'].tolist())} pairs of a query and its document; cosine of "
        "their vectors, mean over the pairs.",
        "Range: highest less lowest mean, times 1000, and its interval; noise raises it, so that "
        "its interval lies above 0 even where no position matters.",
        cut_note(records),
        SETTINGS_NOTE,
    ]


def moving_table(frame: pd.DataFrame, records: Sequence[Mapping[str, Any]]) -> Grid:
    """Return Table 13: a section a retriever, a row a setting, a column a position."""
    positions = sorted(frame["position"].unique())
    sections = []
    for _, of_retriever in frame.groupby("retriever", sort=False):
        rows = []
        for setting, points in of_retriever.groupby("setting", sort=False):
            first = points.iloc[0]
            means = points.set_index("position")["mean"]
            cells = [
                Cell(
                    cosine_text(means[position]),
                    bold=position == first["peak"],
                    underlined=position == first["lowest"],
                )
                for position in positions
            ]
            rows.append((Cell(SETTING_LABELS[setting]), *cells, _range_cell(first)))
        sections.append(Section(of_retriever["label"].iloc[0], tuple(rows)))
    columns = [Column("", number=False), *(Column(f"p{position}") for position in positions)]
    last = positions[-1]
    return Grid(
        [*columns, Column("Range\n× 1000")],
        sections,
        [
            f"p1: the evidence stands before the rest of its document, p{last}: behind it, "
            "uniformly spaced between them. Bold: a row's peak; underlined: its lowest.",
            *_common_notes(frame, records),
        ],
    )


def short_table(short: pd.DataFrame, records: Sequence[Mapping[str, Any]]) -> Grid:
    """Return Table 5: a section a retriever, a row a setting; peak, lowest, range."""
    sections = []
    for _, of_retriever in short.groupby("retriever", sort=False):
        least = range_text(of_retriever["range"].min())
        rows = [
            (
                Cell(SETTING_LABELS[row["setting"]]),
                Cell(f"p{row['peak']}"),
                Cell(cosine_text(row["peak_mean"])),
                Cell(f"p{row['lowest']}"),
                Cell(cosine_text(row["lowest_mean"])),
                _range_cell(row, bold=range_text(row["range"]) == least),
            )
            for row in of_retriever.to_dict("records")
        ]
        sections.append(Section(of_retriever["label"].iloc[0], tuple(rows)))
    names = ("Peak", "its cosine", "Lowest", "its cosine", "Range × 1000")
    kept = [record for record in records if record["retriever"] in set(short["retriever"])]
    last = max(record["positions"] for record in kept)
    return Grid(
        [Column("", number=False), *(Column(name) for name in names)],
        sections,
        [
            f"p1: the evidence stands before the rest of its document, p{last}: behind it. Bold: a "
            "retriever's smallest range.",
            *_common_notes(short, kept),
        ],
    )
