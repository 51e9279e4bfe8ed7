"""nDCG@10 on standard benchmarks, averaged over the retrievers (paper, Table 4)."""

import pandas as pd

from posbias.errors import DataError
from posbias.report.printed import Cell, fraction
from posbias.report.records import SETTING_LABELS
from posbias.report.standard_table import ALONE_NOTE, SETTINGS_NOTE, ranked_cells
from posbias.report.tables import Column, Grid, Section

AVERAGE = "average"
COLUMNS = (
    "retriever", "label", "setting", "benchmark", "benchmark_label", "retrievers", "ndcg",
)  # fmt: skip


def shared_retrievers(frame: pd.DataFrame) -> list[str]:
    """Return the retrievers that every benchmark has; raises DataError if there are none."""
    trained = frame[frame["setting"].notna()]
    benchmarks = frame["benchmark"].nunique()
    counts = trained.groupby("retriever", sort=False)["benchmark"].nunique()
    shared = counts.index[counts == benchmarks].tolist()
    if not shared:
        raise DataError(
            f"no retriever was measured on all of {', '.join(frame['benchmark'].unique())}; "
            "evaluate one on all of them, or show fewer standard benchmarks."
        )
    return shared


def _with_average(rows: list[dict], benchmarks: int) -> list[dict]:
    """Add the mean over the benchmarks of rows that differ in nothing else."""
    if len(rows) < benchmarks:
        return rows
    mean = sum(row["ndcg"] for row in rows) / benchmarks
    return [*rows, {**rows[0], "benchmark": AVERAGE, "benchmark_label": "Average", "ndcg": mean}]


def mean_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the mean over retrievers per setting and benchmark, then the references (Table 4).

    frame: that of `standard_frame`. Only the retrievers that all benchmarks have count;
    `retrievers` says how many. The rows of the benchmark `average` are means over the benchmarks,
    each weighing the same; a reference that lacks one has none.
    """
    shared = shared_retrievers(frame)
    names = frame.drop_duplicates("benchmark").set_index("benchmark")["benchmark_label"]
    trained = frame[frame["retriever"].isin(shared) & frame["setting"].notna()]
    rows: list[dict] = []
    for setting, label in SETTING_LABELS.items():
        found = trained[trained["setting"] == setting]
        means = found.groupby("benchmark", sort=False)["ndcg"].mean()
        own = {"retriever": None, "label": label, "setting": setting, "retrievers": len(shared)}
        each = [
            {**own, "benchmark": name, "benchmark_label": names[name], "ndcg": means[name]}
            for name in names.index
        ]
        rows += _with_average(each, len(names))
    for _, found in frame[frame["setting"].isna()].groupby("retriever", sort=False):
        each = [{**row, "retrievers": None} for row in found.to_dict("records")]
        rows += _with_average(each, len(names))
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"retrievers": "Int64"})


def _columns(means: pd.DataFrame) -> list[str]:
    """Return the benchmarks that have a column: one alone needs no average."""
    names = means["benchmark"].unique().tolist()
    return names if len(names) > 2 else [name for name in names if name != AVERAGE]


def mean_table(means: pd.DataFrame, frame: pd.DataFrame) -> Grid:
    """Return the table: a row a setting, a column a benchmark, references below (Table 4)."""
    names = _columns(means)
    labels = means.drop_duplicates("benchmark").set_index("benchmark")["benchmark_label"]
    trained = means[means["setting"].notna()].pivot(
        index="setting", columns="benchmark", values="ndcg"
    )
    columns = [
        ranked_cells(trained.loc[list(SETTING_LABELS), name].tolist(), [(None, None)] * 4)
        for name in names
    ]
    rows = zip(map(Cell, SETTING_LABELS.values()), *columns, strict=True)
    sections = [Section("", tuple(rows))]
    references = []
    for _, found in means[means["setting"].isna()].groupby("retriever", sort=False):
        values = found.set_index("benchmark")["ndcg"]
        cells = (Cell(fraction(values.get(name))) for name in names)
        references.append((Cell(found["label"].iloc[0]), *cells))
    if references:
        sections.append(Section("Not trained here", tuple(references)))
    return Grid(
        [Column("Training", number=False), *(Column(labels[name]) for name in names)],
        sections,
        _notes(means, frame, bool(references)),
    )


def _notes(means: pd.DataFrame, frame: pd.DataFrame, references: bool) -> list[str]:
    count = int(means["retrievers"].max())
    notes = [
        f"nDCG@10, mean over queries, then over {count} retrievers"
        + (", then over the benchmarks (average)." if frame["benchmark"].nunique() > 1 else "."),
        SETTINGS_NOTE,
        "Bold: the column's highest among MB, MM, ME, MU; underlined: its second highest.",
    ]
    shared = shared_retrievers(frame)
    trained = frame[frame["setting"].notna()].drop_duplicates("retriever")
    left = trained.loc[~trained["retriever"].isin(shared), "label"].tolist()
    if left:
        notes.append(f"Left out, as not measured on all benchmarks: {', '.join(left)}.")
    return [*notes, ALONE_NOTE] if references else notes
