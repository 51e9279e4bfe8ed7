"""SQuAD-PosQ from SQuAD's own formats: what becomes a query, its label, its group, its sample."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_files import build, text_of, write_parquet
from posbias.benchmarks.inputs import trec_safe
from posbias.benchmarks.squad import load_squad
from posbias.errors import DataError
from posbias.measures.groups import groupings

EDGES = [0, 100, 200, 300, 400, 500, 3120]


def passage(name: str, hundreds: int) -> str:
    """A passage that names itself at characters 0, 100, 200, … ."""
    return "".join(f"{name}{i:02d} ".ljust(100, "x") for i in range(hundreds))


def asked(query_id: str, context: str, answer: str, question: str | None = None, **changed) -> dict:
    answers = [{"text": answer, "answer_start": context.index(answer)}] if answer else []
    return {
        "id": query_id,
        "question": question or f"where is {answer or 'nothing'}?",
        "answers": answers,
    } | changed


def squad(*paragraphs: tuple[str, list[dict]]) -> dict:
    inside = [{"context": context, "qas": qas} for context, qas in paragraphs]
    return {"version": "v2.0", "data": [{"title": "Ships", "paragraphs": inside}]}


@pytest.fixture
def write(tmp_path):
    def write_one(value, name="train-v2.0.json"):
        path = tmp_path / name
        path.write_text(json.dumps(value), encoding="utf-8")
        return path

    return write_one


SHIP, STONE, LONELY = passage("ship", 6), passage("stone", 4), passage("lonely", 2)
TRAIN = squad(
    (STONE, [asked("q1", STONE, "stone00"), asked("q2", STONE, "stone01")]),
    (SHIP, [asked("q3", SHIP, "ship05"), asked("q4", SHIP, "", is_impossible=True)]),
)
DEV = squad((LONELY, []), (SHIP, [asked("q5", SHIP, "")]), (SHIP, [asked("q6", SHIP, "ship03")]))


def test_unanswerable_questions_are_no_queries_but_their_passages_stay(write, tmp_path):
    files = [write(TRAIN), write(DEV, "dev-v2.0.json")]
    benchmark, summary = build(tmp_path / "out", "squad", files)
    assert [query.query_id for query in benchmark.queries] == ["q1", "q2", "q3", "q6"]
    assert [one.text for one in benchmark.documents] == sorted({SHIP, STONE, LONELY})
    for query in benchmark.queries:
        (relevant,) = benchmark.qrels[query.query_id]
        text = text_of(benchmark, relevant)
        assert relevant == query.doc_id
        assert text[query.answer_start : query.answer_end] == query.text.split()[2].rstrip("?")
    assert summary["counts"] == {
        "questions": 6,
        "unanswerable": 2,
        "answers_not_at_their_start": 0,
        "answers_outside_their_passage": 0,
        "renamed_ids": 0,
        "left_out_of_the_sample": 0,
        "repeated_question_texts": 0,
        "question_texts_that_end_at_another_document": 0,
    }


def test_a_start_of_exactly_a_hundred_counts_twice(write, tmp_path):
    benchmark, _ = build(tmp_path / "out", "squad", [write(TRAIN), write(DEV, "dev.json")])
    found = groupings(benchmark, {"characters": {"edges": EDGES}, "thirds": {}})
    assert {name: len(ids) for name, ids in found["characters"].groups.items()} == {
        "0-100": 2,  # 0 and 100
        "100-200": 1,
        "200-300": 1,  # 300
        "300-400": 1,
        "400-500": 1,  # 500
        "500-3120": 1,
    }
    assert found["characters"].counted_twice == 3
    assert found["thirds"].groups == {"begin": ["q1", "q2"], "middle": ["q6"], "end": ["q3"]}


def test_the_first_of_several_answers_decides(write):
    answers = [{"text": f"ship{i:02d}", "answer_start": 100 * i} for i in (5, 0, 2)]
    loaded = load_squad([write(squad((SHIP, [asked("q1", SHIP, "ship00", answers=answers)])))], 1)
    assert [(q.answer_start, q.positions) for q in loaded.queries] == [(500, ("end",))]


def test_a_passage_without_questions_is_in_the_corpus(write):
    assert LONELY in [one.text for one in load_squad([write(DEV)], 1).documents]


def hub_rows(*files: dict) -> list[dict]:
    return [
        {
            "id": qa["id"],
            "title": "Ships",
            "context": paragraph["context"],
            "question": qa["question"],
            "answers": {
                "text": [answer["text"] for answer in qa["answers"]],
                "answer_start": [answer["answer_start"] for answer in qa["answers"]],
            },
        }
        for file in files
        for article in file["data"]
        for paragraph in article["paragraphs"]
        for qa in paragraph["qas"]
    ]


def test_the_hubs_parquet_gives_the_same_collection(write, tmp_path):
    folder = tmp_path / "hub"
    # The validation split stands before the training split by name, and after it in the data set.
    # A table has no passage without a question.
    unasked = squad((LONELY, [asked("q5", LONELY, "")]), (SHIP, [asked("q6", SHIP, "ship03")]))
    write_parquet(folder / "squad_v2/validation-00000-of-00001.parquet", hub_rows(unasked))
    write_parquet(folder / "squad_v2/train-00000-of-00001.parquet", hub_rows(TRAIN))
    (folder / "manifest.json").write_text("{}")
    from_hub, counts = build(tmp_path / "a", "squad", [folder])
    from_json, json_counts = build(tmp_path / "b", "squad", [write(TRAIN), write(DEV, "dev.json")])
    assert from_hub == from_json
    assert counts == json_counts


def test_a_folder_of_json_reads_the_training_file_first(write, tmp_path):
    write(DEV, "a-dev.json"), write(TRAIN)
    loaded = load_squad([tmp_path], 1)
    assert [query.query_id for query in loaded.queries] == ["q1", "q2", "q3", "q6"]


TWICE = squad(
    (SHIP, [asked("q1", SHIP, "ship00", "Where?"), asked("q2", SHIP, "ship05", "Where?")]),
    (STONE, [asked("q3", STONE, "stone03", "Where?"), asked("q4", STONE, "stone01", "When?")]),
)


@pytest.mark.parametrize(("duplicates", "of_ship"), [("keep", 0), ("last", 1)])
def test_a_repeated_question_keeps_its_passage_or_takes_the_last(write, duplicates, of_ship):
    loaded = load_squad([write(TWICE)], 1, duplicate_questions=duplicates)
    # The public code's labels: a dictionary from question to passage.
    public = {query.text: query.doc_id for query in loaded.queries}
    for query in loaded.queries:
        expected = query.doc_id if duplicates == "keep" else public[query.text]
        assert loaded.qrels[query.query_id] == {expected: 1}
    moved = [q for q in loaded.queries if q.doc_id not in loaded.qrels[q.query_id]]
    assert len(moved) == 2 * of_ship
    assert loaded.counts["repeated_question_texts"] == 2
    assert loaded.counts["question_texts_that_end_at_another_document"] == 2


def many(n: int) -> dict:
    return squad((SHIP, [asked(f"q{i}", SHIP, "ship02", f"question {i}?") for i in range(n)]))


def test_the_public_sample_is_the_public_codes_shuffle(write):
    whole = load_squad([write(many(40))], 7)
    order = list(whole.queries)
    random.seed(42)
    random.shuffle(order)
    sample = load_squad([write(many(40))], 7, sample={"by": "public", "size": 10})
    assert sample.queries == order[:10]
    assert set(sample.qrels) == {query.query_id for query in order[:10]}
    assert sample.documents == whole.documents
    assert sample.counts["left_out_of_the_sample"] == 30


def test_the_keyed_sample_does_not_reshuffle(write):
    def sample(n, size, seed=7):
        loaded = load_squad([write(many(n))], seed, sample={"by": "keyed", "size": size})
        return {query.query_id for query in loaded.queries}

    assert sample(40, 10) < sample(40, 11)
    assert sample(80, 10) & {f"q{i}" for i in range(40)} <= sample(40, 10)
    assert sample(40, 10) != sample(40, 10, seed=8)
    assert len(sample(40, 99)) == 40


def misplaced(start: int) -> dict:
    qa = asked("q2", SHIP, "ship01")
    qa["answers"][0]["answer_start"] = start
    return squad((SHIP, [asked("q1", SHIP, "ship00"), qa]))


@pytest.mark.parametrize(
    ("start", "span", "outside"),
    [(3, (3, 9), 0), (598, (598, 600), 0), (600, (None, None), 1), (-4, (None, None), 1)],
)
def test_an_answer_that_is_not_at_its_start_is_counted(write, start, span, outside):
    loaded = load_squad([write(misplaced(start))], 1)
    assert (loaded.queries[1].answer_start, loaded.queries[1].answer_end) == span
    assert loaded.queries[1].positions == (() if outside else loaded.queries[1].positions)
    assert loaded.counts["answers_not_at_their_start"] == 1
    assert loaded.counts["answers_outside_their_passage"] == outside


def test_an_answer_that_is_not_at_its_start_is_dropped_or_an_error(write):
    loaded = load_squad([write(misplaced(3))], 1, misplaced_answers="drop")
    assert [query.query_id for query in loaded.queries] == ["q1"]
    assert loaded.counts["answers_not_at_their_start"] == 1
    with pytest.raises(DataError, match=r"json: question 'q2': .*'ship01' at character 3"):
        load_squad([write(misplaced(3))], 1, misplaced_answers="error")


def changed(field, value):
    qa = asked("q2", SHIP, "ship01") | {field: value}
    return squad((SHIP, [asked("q1", SHIP, "ship00"), qa]))


def without(field):
    qa = asked("q2", SHIP, "ship01")
    del qa[field]
    return squad((SHIP, [qa]))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (changed("id", "q1"), "query 'q1' occurs twice"),
        (changed("id", 7), "question 7: the id is not a text"),
        (changed("id", ""), "query 2 has the id ''"),
        (changed("question", " "), "query 'q2' has no text"),
        (changed("question", None), "query 'q2' has no text"),
        (squad((None, [])), "the passage of a paragraph has no text"),
        (squad((" ", [asked("q1", "a", "a")])), "the passage of question 'q1' has no text"),
        (changed("answers", [{"text": "", "answer_start": 0}]), "question 'q2': .*'' at 0"),
        (changed("answers", [{"text": "x", "answer_start": "9"}]), "'x' at '9'"),
        (without("answers"), "article 1, paragraph 1: the field 'answers' is missing; expected"),
        (without("id"), "paragraph 1: the field 'id' is missing"),
        ({"data": [{"title": "x"}]}, "the field 'paragraphs' is missing"),
        ({"rows": []}, "the field 'data' is missing"),
        ([TRAIN], "another shape"),
        ({"data": 3}, "another shape"),
        (squad((SHIP, [asked("q1", SHIP, "")])), "there is no query"),
        ({"data": []}, "the corpus is empty"),
    ],
)
def test_faults_name_file_and_record(write, value, message):
    with pytest.raises(DataError, match=f"train-v2.0.json.*{message}"):
        load_squad([write(value)], 1)


def test_the_same_questions_in_two_files_are_named(write):
    with pytest.raises(DataError, match=r"dev.json.*v1.1.*query 'q1' occurs twice"):
        load_squad([write(TRAIN), write(TRAIN, "dev.json")], 1)


def test_faults_of_a_parquet_name_the_columns(tmp_path):
    path = write_parquet(tmp_path / "train.parquet", [{"id": "q", "context": SHIP, "query": "?"}])
    with pytest.raises(
        DataError,
        match=r"train.parquet: the column\(s\) question, answers are missing; wanted id, context, "
        "question, answers, found id, context, query",
    ):
        load_squad([path], 1)
    rows = hub_rows(TRAIN)
    rows[1]["answers"]["answer_start"] = []
    with pytest.raises(DataError, match="question 'q2': 1 answers at 0 starts"):
        load_squad([write_parquet(path, rows)], 1)
    path.write_bytes(b"PAR1 cut short")
    with pytest.raises(DataError, match=r"train.parquet: cannot be read as Parquet"):
        load_squad([path], 1)


def test_files_that_are_not_there_are_named(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        load_squad([tmp_path / "gone"], 1)
    with pytest.raises(DataError, match="holds no Parquet or JSON file"):
        load_squad([tmp_path], 1)


def test_an_id_with_white_space_is_mapped_and_counted(write, tmp_path):
    value = squad((SHIP, [asked("a b", SHIP, "ship00"), asked("é\u00a0%", SHIP, "ship01")]))
    benchmark, summary = build(tmp_path / "out", "squad", [write(value)])
    assert [query.query_id for query in benchmark.queries] == ["a%20b", "é%C2%A0%25"]
    assert summary["counts"]["renamed_ids"] == 2


@given(st.text(min_size=1), st.text(min_size=1))
def test_ids_for_trec_files_stay_apart_and_hold_no_white_space(one, other):
    assert trec_safe(one).split() == [trec_safe(one)]
    assert (trec_safe(one) == trec_safe(other)) == (one == other)
