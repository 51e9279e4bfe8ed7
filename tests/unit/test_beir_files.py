"""BEIR's files: which one holds what, and judgements that are no judgements."""

import pytest

from benchmark_files import build, write_json_lines, write_parquet
from posbias.benchmarks.beir import load_beir
from posbias.errors import DataError
from posbias.measures.ndcg import ndcg_per_query

CORPUS = [{"_id": "d1", "title": "Ships", "text": "sails"}, {"_id": "d2", "text": "stones"}]
QUERIES = [{"_id": "q1", "text": "what sails?"}]
HEADER = "query-id\tcorpus-id\tscore\n"
MARK = b"\xef\xbb\xbf"


def judge(folder, content: bytes | str = HEADER + "q1\td1\t1\n", name="qrels/test.tsv"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def lay_out(folder, corpus="corpus.jsonl", queries="queries.jsonl"):
    for name, rows in ((corpus, CORPUS), (queries, QUERIES)):
        write = write_parquet if name.endswith(".parquet") else write_json_lines
        write(folder / name, rows)
    judge(folder)
    return folder


def found(files):
    """Ids of documents and queries, and the judgements."""
    loaded = load_beir(files, 1)
    return [one.doc_id for one in loaded.documents], [q.query_id for q in loaded.queries]


@pytest.mark.parametrize("name", ["data", "corpus", "queries"])
@pytest.mark.parametrize(
    ("corpus", "queries"),
    [
        ("corpus.jsonl", "queries.jsonl"),
        ("corpus.jsonl.gz", "queries.jsonl.gz"),
        ("x-corpus-00000-of-00001.parquet", "x-queries.parquet"),
        ("corpus/part-0.parquet", "queries/part-0.parquet"),
        ("corpus/x-corpus.parquet", "queries/x-queries.parquet"),
        ("queries/corpus.jsonl", "corpus/queries.jsonl"),  # the file's own name decides
    ],
)
def test_a_files_own_name_says_what_it_holds_and_its_folders_only_else(
    tmp_path, name, corpus, queries
):
    folder = lay_out(tmp_path / name, corpus, queries)
    assert found([folder]) == (["d1", "d2"], ["q1"])
    named = [folder / "qrels/test.tsv", folder / queries, folder / corpus]
    assert found(named) == (["d1", "d2"], ["q1"])


@pytest.mark.parametrize("name", ["corpus", "queries"])
def test_judgements_in_a_folder_of_that_name_are_no_table(tmp_path, name):
    lay_out(tmp_path, "corpus/a.jsonl", "queries/b.jsonl")
    (tmp_path / "qrels/test.tsv").rename(tmp_path / name / "test.tsv")
    files = [*(tmp_path / "corpus").iterdir(), *(tmp_path / "queries").iterdir()]
    assert found(files) == found([tmp_path]) == (["d1", "d2"], ["q1"])


def test_a_file_that_would_be_both_is_refused(tmp_path):
    folder = lay_out(tmp_path)
    write_json_lines(folder / "corpus-and-queries.jsonl", CORPUS)
    with pytest.raises(DataError, match=r"corpus-and-queries\.jsonl: its name says both corpus an"):
        load_beir([folder], 1)


def test_the_judgements_of_a_spreadsheet_are_read(tmp_path):
    """With a byte order mark, line ends of Windows, no end of the last line."""
    plain, _ = build(tmp_path / "a", "beir", [lay_out(tmp_path / "in")])
    judge(tmp_path / "in", MARK + (HEADER + "q1\td1\t1").replace("\n", "\r\n").encode())
    marked, _ = build(tmp_path / "b", "beir", [tmp_path / "in"])
    assert plain == marked
    judge(tmp_path / "in", HEADER.encode() + MARK + b"q1\td1\t1\n")  # elsewhere it is a sign
    with pytest.raises(DataError, match=r"line 2: query '\\ufeffq1' is judged but is not among"):
        load_beir([tmp_path / "in"], 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEADER.encode() + b"q1\td1\t1\nq1\tcaf\xe9\t1\n", "line 3: not UTF-8 .*save the file as"),
        ((HEADER + "q1\td1\t1\n").encode("utf-16"), "line 1: not UTF-8"),
        (b"", "line 1: expected the header .*found ''"),
        (MARK, "line 1: expected the header .*found ''"),
        ("q1\td1\t2\n", "line 1: expected the header query-id corpus-id"),
        (HEADER, "holds no judgement"),
        (HEADER + "q1\td1\t1001\n", r"line 2: the score 1001 is above 1000; .* from 0 to 1000"),
        (HEADER + "q1\td1\t1\nq1\td2\t100000000\n", "line 3: the score 100000000 is above 1000"),
        (HEADER + f"q1\td1\t{10**20}\n", f"line 2: the score {10**20} is above 1000"),
        (HEADER + f"q1\td1\t{'9' * 5000}\n", "line 2: the score '9+' is not a whole number"),
        (HEADER + "q1\td1\t1.0\n", "line 2: the score '1.0' is not a whole number"),
        (HEADER + "q1\td1\tnan\n", "line 2: the score 'nan' is not a whole number"),
    ],
)
def test_faults_of_judgements_name_file_and_line(tmp_path, content, message):
    folder = lay_out(tmp_path / "in")
    judge(folder, content)
    with pytest.raises(DataError, match=rf"qrels/test\.tsv(, |: ){message}"):
        build(tmp_path / "out", "beir", [folder])
    assert not (tmp_path / "out").exists()


def test_grades_up_to_the_limit_and_negative_ones_count_as_they_should(tmp_path):
    folder = lay_out(tmp_path)
    judge(folder, HEADER + "q1\td1\t1000\nq1\td2\t-1\n")
    qrels = load_beir([folder], 1).qrels
    assert qrels == {"q1": {"d1": 1000, "d2": -1}}
    ranked = {"q1": {"d2": 2.0, "d1": 1.0}}
    # The grade is the gain, a negative one is none: rank 2 of an ideal rank 1.
    assert ndcg_per_query(qrels, ranked, 10)["q1"] == pytest.approx(0.6309297535714575)


def test_a_repeated_judgement_is_counted(tmp_path):
    folder = lay_out(tmp_path)
    judge(folder, HEADER + "q1\td1\t1\nq1\td1\t1\n")
    assert load_beir([folder], 1).counts["repeated_judgements"] == 1
