"""The audit of the verification by a judge, a row a stratum of the consensus margin (Table 7)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from posbias.report.objects import INTERVAL, MAYBE, Each, read_object
from posbias.report.printed import Cell, percent, span
from posbias.report.signs import DASH
from posbias.report.tables import Column, Grid, Section

MEASURES = {
    "target_yes": "TargetYes",
    "distractor_no": "DistractorNo",
    "exclusive": "Exclusive",
}
SHARE = {"mean": MAYBE, "low": MAYBE, "high": MAYBE}
REQUIRED = {
    "judge": str,
    "judged_by": str,
    "per_stratum": int,
    "strata": [{"stratum": str, "n": int, **dict.fromkeys(MEASURES, SHARE)}],
    "counts": {"yes": int, "no": int, "dropped": Each(int), "unreadable": Each(int)},
    "interval": INTERVAL,
}
REMEDY = "delete the file and run the audit again"


def read_audit(path: Path) -> dict[str, Any]:
    """Read the summary of an audit; raises DataError naming what it lacks."""
    return read_object(path, REQUIRED, REMEDY)


def audit_frame(record: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row a stratum: n, and mean, low and high of each measure, as shares of one."""
    rows = []
    for stratum in record["strata"]:
        row: dict[str, Any] = {"stratum": stratum["stratum"], "n": stratum["n"]}
        for name in MEASURES:
            values = stratum[name]
            row |= {name: values["mean"], f"{name}_low": values["low"]}
            row |= {f"{name}_high": values["high"]}
        rows.append(row)
    frame = pd.DataFrame(rows)
    return frame.astype({name: "float64" for name in frame.columns if name not in ("stratum", "n")})


def _printed(stratum: str) -> str:
    """Return a stratum as it is printed: failed (below 0), 0–0.1, 0.3 and above."""
    if stratum == "failed":
        return "failed (below 0)"
    if stratum.startswith(">="):
        return f"{stratum.removeprefix('>=')} and above"
    return stratum.replace("-", DASH)


def _cell(row: Mapping[str, Any], name: str) -> Cell:
    return Cell(percent(row[name]), interval=span(row[f"{name}_low"], row[f"{name}_high"], percent))


def audit_notes(record: Mapping[str, Any]) -> list[str]:
    """Return the sentences under the table: what was drawn, who judged, what was left out."""
    counts = record["counts"]
    notes = [
        "Margin: target segment minus the best other one, the smallest over the panel; a stratum "
        "holds its lower edge and not its upper one.",
        f"{record['per_stratum']:,} queries drawn from each stratum, or all where it holds fewer.",
        "TargetYes: per cent of the queries whose target segment is judged to answer them; "
        "DistractorNo: per cent of the other two segments judged not to; Exclusive: per cent of "
        "the queries of which both hold in full. Beside each its interval.",
        f"Judged by {record['judged_by']}.",
    ]
    for said, other in (("yes", "no"), ("no", "yes")):
        if counts[said] and not counts[other]:
            notes.append(
                f"The judge said {said} to all {counts[said]:,} segments, so that the table tells "
                "nothing of the queries."
            )
    dropped = sum(counts["dropped"].values())
    if dropped:
        reasons = "; ".join(f"{reason}: {n:,}" for reason, n in counts["unreadable"].items())
        notes.append(f"Left out: {dropped:,} queries with an answer that says nothing ({reasons}).")
    cells = [stratum[name] for stratum in record["strata"] for name in MEASURES]
    if any(cell["low"] == cell["high"] and cell["mean"] is not None for cell in cells):
        notes.append(
            "Where all queries of a cell agree, a bootstrap has no width, which is no certainty."
        )
    if not all(stratum["n"] for stratum in record["strata"]):
        notes.append(f"{DASH}: no query.")
    return notes


def audit_table(frame: pd.DataFrame, record: Mapping[str, Any]) -> Grid:
    """Return the table, in per cent, a row a stratum (Table 7)."""
    rows = [
        (
            Cell(_printed(row["stratum"])),
            Cell(f"{row['n']:,}"),
            *(_cell(row, name) for name in MEASURES),
        )
        for row in frame.to_dict("records")
    ]
    columns = [Column("Margin stratum", number=False), Column("n"), *map(Column, MEASURES.values())]
    return Grid(columns, [Section("", tuple(rows))], audit_notes(record))
