"""Values as they are read and averaged: what is missing is named, nothing pairs by chance."""

import pandas as pd
import pytest

from listwise_frames import order_frame, slot_frame
from posbias.errors import DataError
from posbias.listwise.value_table import (
    by_query,
    check_same_queries,
    check_seeds,
    query_means,
    read_values,
    seed_means,
)


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "query_id": ["b", "b", "a", "a", "b", "b", "a", "a"],
            "seed": [2, 1, 2, 1] * 2,
            "slot": [1] * 4 + [2] * 4,
            "ndcg": [0.1, 0.3, 0.5, 0.7, 0.2, 0.2, 1.0, 0.0],
        }
    )


def test_files_are_read_one_below_the_other(frame, tmp_path):
    paths = [tmp_path / "one.parquet", tmp_path / "two.parquet"]
    frame[:3].to_parquet(paths[0], index=False)
    frame[3:].to_parquet(paths[1], index=False)
    columns = ["query_id", "seed", "slot", "ndcg"]
    pd.testing.assert_frame_equal(read_values(paths, columns), frame)


def test_a_value_that_is_no_number_or_comes_twice_is_refused(frame, tmp_path):
    columns = ["query_id", "seed", "slot", "ndcg"]
    frame.assign(ndcg=float("nan")).to_parquet(tmp_path / "nan.parquet", index=False)
    with pytest.raises(DataError, match=r"nan.parquet: query 'b' has an nDCG that is not a number"):
        read_values([tmp_path / "nan.parquet"], columns)
    twice = pd.concat([frame, frame[:1].assign(ndcg=0.0)])
    twice.to_parquet(tmp_path / "twice.parquet", index=False)
    with pytest.raises(DataError, match=r"twice.parquet: two values for \{'query_id': 'b'"):
        read_values([tmp_path / "twice.parquet"], columns)


def test_a_seed_that_is_missing_is_named():
    frame = pd.DataFrame({"system": ["first", "first", "cosine"], "seed": [1, 2, -1]})
    check_seeds(frame, [2, 1], untrained=-1)
    with pytest.raises(DataError, match=r"first was evaluated with the seeds \[1, 2\]"):
        check_seeds(frame, [1, 2, 3], untrained=-1)


def test_a_missing_column_is_named_with_its_file(frame, tmp_path):
    paths = [tmp_path / "one.parquet", tmp_path / "two.parquet"]
    frame.to_parquet(paths[0], index=False)
    frame.drop(columns=["seed", "slot"]).to_parquet(paths[1], index=False)
    with pytest.raises(DataError, match=r"two.parquet: lacks the columns seed, slot"):
        read_values(paths, ["query_id", "seed", "slot", "ndcg"])


@pytest.mark.parametrize("content", [b"", b"not Parquet", None])
def test_a_file_that_is_no_parquet_is_named(content, tmp_path):
    path = tmp_path / "values.parquet"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=r"values.parquet: cannot be read as Parquet"):
        read_values([path], ["ndcg"])


def test_means_over_seeds_in_the_order_of_the_queries(frame):
    table = by_query(frame, ["slot"])
    assert table.index.tolist() == ["a", "b"]
    assert table.columns.tolist() == [1, 2]
    assert table.to_numpy().ravel().tolist() == pytest.approx([0.6, 0.5, 0.2, 0.2])
    assert by_query(frame)["ndcg"].tolist() == pytest.approx([0.55, 0.2])
    assert query_means(frame).tolist() == pytest.approx([0.55, 0.2])
    assert seed_means(frame) == pytest.approx([(0.3 + 0.7 + 0.2 + 0) / 4, (0.1 + 0.5 + 1.2) / 4])


def test_the_order_of_the_rows_does_not_matter(frame):
    turned = frame[::-1].reset_index(drop=True)
    pd.testing.assert_frame_equal(by_query(turned, ["slot"]), by_query(frame, ["slot"]))
    assert query_means(turned).tolist() == pytest.approx(query_means(frame).tolist())
    assert seed_means(turned) == pytest.approx(seed_means(frame))


def test_a_query_that_lacks_a_value_is_named(frame):
    with pytest.raises(DataError, match="query 'a' lacks a value of nDCG"):
        by_query(frame[:6], ["slot"])
    frame.loc[[4, 5], "ndcg"] = float("nan")
    with pytest.raises(DataError, match="query 'b' lacks a value of nDCG"):
        by_query(frame, ["slot"])


def test_the_same_queries_everywhere_are_no_fault():
    check_same_queries(order_frame({"a": [0.5, 0.4], "b": [0.3, 0.2]}), ["system", "seed", "order"])
    turned = slot_frame({"a": [0.5, 0.4]})[::-1]
    check_same_queries(pd.concat([turned, turned[:7]]), ["system", "seed", "slot"])


@pytest.mark.parametrize("fault", ["less", "other"])
def test_other_queries_are_named_with_who_has_them(fault):
    frame = order_frame({"a": [0.5, 0.4], "b": [0.3, 0.2]})
    place = (frame["system"] == "b") & (frame["seed"] == 2) & (frame["query_id"] == "q007")
    if fault == "less":
        frame = frame[~(place & (frame["order"] == 1))]
    else:
        frame.loc[place & (frame["order"] == 1), "query_id"] = "q999"
    with pytest.raises(DataError, match="system b, seed 2, order 1: evaluated on other queries"):
        check_same_queries(frame, ["system", "seed", "order"])
