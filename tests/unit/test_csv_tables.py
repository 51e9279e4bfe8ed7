"""CSVs of measures: what is no table of numbers is named by file, line and column."""

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from posbias.errors import DataError
from posbias.report.csv_tables import read_table
from posbias.report.filter_table import read_filter
from posbias.report.pool_table import read_cells
from posbias.report.truncation import read_truncation

HEADER = "name,n,share\n"


def read(folder, text):
    path = folder / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(path, ("name",), ("n",), ("share",))


def test_rows_are_as_pandas_reads_them(tmp_path):
    text = "beyond,name,n,share\nx,a,3,0.25\ny,b,0,\n"
    found = read(tmp_path, text)
    pd.testing.assert_frame_equal(found, pd.read_csv(tmp_path / "t.csv"))
    found.to_csv(tmp_path / "again.csv", index=False)
    assert (tmp_path / "again.csv").read_text() == text


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", r"t\.csv: not a CSV"),
        ("\n\n", r"t\.csv: not a CSV"),
        (b"\xff\xfe\x00", r"t\.csv: not a CSV"),
        (HEADER, r"t\.csv: holds a header and no row"),
        ("name,n\na,3\n", r"t\.csv: the column\(s\) share are missing"),
        (HEADER + "a,3,0.1,9\n", r"t\.csv: its rows have more columns than its header"),
        (HEADER + "a,3,0.1\nb,many,0.2\n", r"t\.csv, line 3, column n: 'many', expected a whole"),
        (HEADER + "a,3,0.1\nb\n", r"t\.csv, line 3, column n: empty, expected a whole number"),
        (HEADER + "a,3.5,0.1\n", r"t\.csv, line 2, column n: '3\.5', expected a whole number"),
        (HEADER + "a,-1,0.1\n", r"t\.csv, line 2, column n: '-1', expected a whole number"),
        (HEADER + "a,inf,0.1\n", r"t\.csv, line 2, column n: 'inf', expected a whole number"),
        (HEADER + "a,3,a third\n", r"t\.csv, line 2, column share: 'a third', expected a number"),
        (HEADER + "a,3,inf\n", r"t\.csv, line 2, column share: 'inf', expected a number"),
        (HEADER + ",3,0.1\n", r"t\.csv, line 2, column name: empty, expected a text"),
    ],
)
def test_faults_are_named_with_a_remedy(tmp_path, text, fault):
    with pytest.raises(DataError, match=rf"{fault}.*; delete the file and run the step"):
        read(tmp_path, text)


@pytest.mark.parametrize("reader", [read_filter, read_cells, lambda path: read_truncation([path])])
@pytest.mark.parametrize("text", [None, "", "a,b\n", "a,b\n1,2\n", "folder"])
def test_no_reader_of_a_csv_stumbles(tmp_path, reader, text):
    path = tmp_path / "t.csv"
    if text == "folder":
        path.mkdir()
    elif text is not None:
        path.write_text(text)
    with pytest.raises(DataError, match=r"t\.csv: (no such file|not a CSV|the column)"):
        reader(path)


def test_no_table_at_all_is_refused():
    with pytest.raises(DataError, match="at least one file"):
        read_truncation([])


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text("a1,.\n- ", max_size=20))
def test_any_text_is_a_table_or_a_named_fault(tmp_path, text):
    try:
        found = read(tmp_path, HEADER + text)
    except DataError as fault:
        assert "t.csv" in str(fault)
        return
    assert (found["n"] >= 0).all() and found["n"].dtype == "int64" and len(found)
