"""Tables 1, 6 and 8: what is printed is what the files hold, and files of two runs do not mix."""

import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import make_filter_table
import make_pool_table
from page_checks import check_page
from posbias.errors import DataError
from posbias.files import write_json
from posbias.queries.balance import position_counts
from posbias.queries.filter_statistics import filter_statistics, pool_table
from posbias.report.filter_table import filter_table, read_filter
from posbias.report.grid import draw_grid
from posbias.report.pool_table import pool_frame, read_budget, read_cells
from posbias.report.pool_table import pool_table as printed_pool
from report_measures import PROVENANCE

POSITIONS = ("begin", "middle", "end")
SKEWS = {name: {name: 1.0} for name in POSITIONS}
UNIFORM = {name: 1 / 3 for name in POSITIONS}
# Table 8 of the paper.
PAPER = {
    "256-512": (105652, 13934, 21405),
    "512-1024": (86495, 16660, 21427),
    "1024-2048": (60357, 13594, 16691),
    "2048-4096": (43946, 10527, 13363),
    "4096-8192": (39200, 8189, 9796),
}


def budget_of(pool: dict, size: int, uniform: dict = UNIFORM) -> dict:
    """Return what the balancing step writes of a pool."""
    counts = {
        name: position_counts(shares, size)
        for name, shares in {**SKEWS, "uniform": uniform}.items()
    }
    return {
        "budget_per_bin": size,
        "smallest_cell": min(min(row) for row in pool.values()),
        "pool_per_cell": {
            f"{name} {p}": n
            for name, row in pool.items()
            for p, n in zip(POSITIONS, row, strict=True)
        },
        "settings": {
            name: {"per_bin": per, "total": len(pool) * sum(per.values())}
            for name, per in counts.items()
        },
    }


def cells_of(pool: dict) -> pd.DataFrame:
    rows = [(name, *row, sum(row)) for name, row in pool.items()]
    sums = [sum(column) for column in zip(*(row[1:] for row in rows), strict=True)]
    return pd.DataFrame([*rows, ("total", *sums)], columns=["bin", *POSITIONS, "total"])


def files_of(folder: Path, pool: dict, **more) -> tuple[Path, Path]:
    cells, budget = folder / "cells.csv", folder / "budget.json"
    cells_of(pool).to_csv(cells, index=False)
    size = min(min(row) for row in pool.values())
    write_json(budget, budget_of(pool, size) | more)
    return cells, budget


def texts(grid) -> list[list[str]]:
    return [[cell.text for cell in row] for section in grid.sections for row in section.rows]


def test_the_papers_pool_gives_the_papers_budget(tmp_path) -> None:
    cells, budget = files_of(tmp_path, PAPER)
    names = {name: tmp_path / f"pool.{name}" for name in ("pdf", "csv", "tex", "meta")}
    make_pool_table.main(cells, budget, **names, provenance=PROVENANCE)
    table = pd.read_csv(names["csv"]).set_index("bin")
    assert list(table) == [*POSITIONS, "total", "concentrated", "uniform"]
    assert table.loc["total"].tolist() == [335650, 62904, 82682, 481236, 40945, 5 * 2729]
    assert set(table["concentrated"].iloc[:-1]) == {8189}
    assert set(table["uniform"].iloc[:-1]) == {2729}
    tex = names["tex"].read_text()
    assert r"4096--8192 & 39,200 & \textbf{8,189} & 9,796 & 57,185 & 8,189 & 2,729 \\" in tex
    assert tex.count(r"\textbf") == 1
    assert "MB 40,945, MM 40,945, ME 40,945, MU 40,935" in tex
    first = names["pdf"].read_bytes()
    make_pool_table.main(cells, budget, **names, provenance=PROVENANCE)
    assert names["pdf"].read_bytes() == first


@given(
    st.lists(st.tuples(*[st.integers(3, 10**6)] * 3), min_size=1, max_size=7),
    st.integers(3, 10**6),
)
def test_any_pool_adds_up_and_marks_its_smallest_cells(rows, most) -> None:
    pool = {f"{index}-{index + 1}": row for index, row in enumerate(rows)}
    least = min(map(min, rows))
    size = min(least, most)
    budget = budget_of(pool, size)
    frame = pool_frame(cells_of(pool), budget)
    inner, total = frame.iloc[:-1], frame.iloc[-1]
    for name in (*POSITIONS, "total", "concentrated", "uniform"):
        assert inner[name].sum() == total[name]
    assert 3 * total["uniform"] == budget["settings"]["uniform"]["total"]
    grid = printed_pool(frame, budget)
    bold = [
        cell.text for section in grid.sections for row in section.rows for cell in row if cell.bold
    ]
    assert bold == [f"{least:,}"] * sum(row.count(least) for row in rows)
    assert ("below the smallest cell" in " ".join(grid.notes)) == (most < least)


def test_a_uniform_setting_of_unequal_shares_tells_each() -> None:
    pool = {"0-1": (20, 30, 40), "1-2": (20, 20, 20)}
    shares = {"begin": 0.5, "middle": 0.3, "end": 0.2}
    budget = budget_of(pool, 20, shares)
    frame = pool_frame(cells_of(pool), budget)
    assert frame["uniform"].tolist() == ["10/6/4", "10/6/4", "20/12/8"]
    assert texts(printed_pool(frame, budget))[-1][-1] == "20/12/8"


def test_files_that_do_not_fit_are_refused(tmp_path) -> None:
    cells, budget = files_of(tmp_path, PAPER)
    other = {**PAPER, "256-512": (105652, 13935, 21405)}
    cells_of(other).to_csv(cells, index=False)
    with pytest.raises(DataError, match="drawn from another pool"):
        pool_frame(read_cells(cells), read_budget(budget))
    table = cells_of(PAPER)
    table.loc[0, "total"] += 1
    table.to_csv(cells, index=False)
    with pytest.raises(DataError, match=r"cells\.csv: the totals are not the sums"):
        read_cells(cells)
    cells_of(PAPER).iloc[:-1].to_csv(cells, index=False)
    with pytest.raises(DataError, match=r"cells\.csv: the last row is not the total"):
        read_cells(cells)
    cells_of(PAPER).drop(columns="end").to_csv(cells, index=False)
    with pytest.raises(DataError, match=r"cells\.csv: the column\(s\) end are missing"):
        read_cells(cells)
    lacking = json.loads(budget.read_text())
    del lacking["settings"]["uniform"]
    write_json(budget, lacking)
    with pytest.raises(DataError, match=r"budget\.json: .*settings\.uniform are missing"):
        read_budget(budget)
    for settings, message in [({}, "is an empty object"), (None, "is null")]:
        write_json(budget, lacking | {"settings": settings})
        with pytest.raises(DataError, match=rf"budget\.json: settings {message}"):
            read_budget(budget)
    cells.write_text("bin,begin,middle,end,total\ntotal,0,0,0,0\n")
    with pytest.raises(DataError, match=r"cells\.csv: no row but the total"):
        read_cells(cells)
    cells.write_text("bin,begin,middle,end,total\n0-1,1,x,0,1\ntotal,1,0,0,1\n")
    with pytest.raises(DataError, match=r"cells\.csv, line 2, column middle: 'x', expected a who"):
        read_cells(cells)


def statistics(folder: Path, margins: list[float], thresholds=(0.0, 0.1, 0.3)) -> Path:
    import numpy as np

    path = folder / "filter.csv"
    positions = [POSITIONS[index % 3] for index in range(len(margins))]
    filter_statistics(np.array(margins), positions, thresholds).round(2).to_csv(path, index=False)
    return path


def test_the_filter_table_prints_every_count_and_bolds_what_is_kept(tmp_path) -> None:
    margins = [-0.2, 0.05, 0.2, 0.3, 0.9, -0.01, 0.31, 0.0]
    path = statistics(tmp_path, margins)
    names = {name: tmp_path / f"out.{name}" for name in ("pdf", "csv", "tex", "meta")}
    make_filter_table.main(path, **names, provenance=PROVENANCE, delta=0.3)
    assert names["csv"].read_bytes() == path.read_bytes()
    rows = texts(filter_table(read_filter(path), 0.3))
    assert [row[:2] for row in rows] == [
        ["All generated", "8"],
        ["Failed: margin < 0", "2"],
        ["Margin ≥ 0", "6"],
        ["Margin ≥ 0.1", "4"],
        ["Margin ≥ 0.3", "3"],
    ]
    assert rows[-1][2:] == ["37.50", "2", "66.67", "1", "33.33", "0", "0.00"]
    (line,) = [one for one in names["tex"].read_text().splitlines() if r"\geq$ 0.3 &" in one]
    assert line.count(r"\textbf") == 8
    assert names["tex"].read_text().count(r"\textbf") == 8
    check_page(lambda: draw_grid(filter_table(read_filter(path), 0.3), "Title", "footer"))


def test_a_stratum_without_queries_has_no_shares_of_positions(tmp_path) -> None:
    rows = texts(filter_table(read_filter(statistics(tmp_path, [-0.5, -0.1])), 0.3))
    assert rows[-1] == ["Margin ≥ 0.3", "0", "0.00", "0", "–", "0", "–", "0", "–"]


def test_positions_that_do_not_add_up_are_refused(tmp_path) -> None:
    path = statistics(tmp_path, [0.2, 0.4, 0.1])
    table = pd.read_csv(path)
    table.loc[2, "middle"] += 1
    table.to_csv(path, index=False)
    with pytest.raises(DataError, match=r"filter\.csv, row 'margin >= 0': .* add up to its 3"):
        read_filter(path)
    table.drop(columns=["end_share"]).to_csv(path, index=False)
    with pytest.raises(DataError, match="end_share are missing"):
        read_filter(path)


def test_the_pool_page_is_legible_at_the_papers_counts() -> None:
    budget = budget_of(PAPER, 8189)
    check_page(
        lambda: draw_grid(printed_pool(pool_frame(cells_of(PAPER), budget), budget), "T", "footer")
    )


def test_what_the_verification_counts_is_what_the_table_reads(tmp_path) -> None:
    bins = ["a", "b", "a", "a", "b", "b", "b"]
    positions = ["begin", "end", "middle", "end", "end", "begin", "middle"]
    path = tmp_path / "cells.csv"
    pool_table(bins, positions, ["a", "b"]).to_csv(path, index=False)
    assert read_cells(path).set_index("bin").loc["total"].tolist() == [2, 2, 3, 7]
