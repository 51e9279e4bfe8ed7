"""Evidence of SciFact and HotpotQA, on small made-up files in their publishers' formats."""

import json
from pathlib import Path

import pytest

import locate_evidence
from benchmark_files import build, text_of, write_parquet
from evidence_files import CORPUS, locate, write_beir
from posbias.benchmarks.evidence_beir import same_title
from posbias.errors import DataError


def start_of(doc_id: str, sentence: str) -> float:
    text = next(one["text"] for one in CORPUS if one["_id"] == doc_id)
    return text.index(sentence) / len(text)


def sentences(doc_id: str) -> list[str]:
    """Return a document's sentences as a publisher lists them, the joining spaces within."""
    text = next(one["text"] for one in CORPUS if one["_id"] == doc_id)
    parts = text[:-1].split(". ")
    return [("" if number == 0 else " ") + part + "." for number, part in enumerate(parts)]


RATIONALES = {
    "q1": {
        "11": [{"sentences": [1, 3], "label": "SUPPORT"}, {"sentences": [1], "label": "SUPPORT"}]
    },
    "q2": {"14": [{"sentences": [7], "label": "CONTRADICT"}]},
}


@pytest.mark.parametrize("parquet", [False, True])
@pytest.mark.parametrize("how", ["listed", "split"])
def test_scifact_takes_sentence_numbers_of_the_queries_metadata(tmp_path, how, parquet):
    beir = write_beir(tmp_path / "scifact", RATIONALES, parquet)
    more = []
    if parquet:
        (queries,) = write_beir(tmp_path / "scifact_sentences", RATIONALES)
        more = [queries / "queries.jsonl.gz"]
    if how == "listed":
        lists = [
            {"doc_id": int(one["_id"]), "title": one["title"], "abstract": sentences(one["_id"])}
            for one in CORPUS
        ]
        # The name of the hub's folder holds the word corpus; its role does not follow from that.
        path = tmp_path / "abstracts" / "scifact_corpus_source" / "scifact-train.parquet"
        more.append(write_parquet(path, lists).parents[1])
    places = locate(tmp_path, "scifact", beir, more, sentences=how)
    assert places["starts"] == [start_of("11", "She was"), start_of("11", "It sank")]
    assert places["counts"] == {
        "considered": 3,
        "located": 2,
        "dropped": {"sentence_number_beyond_the_document": 1},
        "told": {"found_more_than_once": 0, "found_verbatim": 2, "repeated": 1},
    }


def test_scifact_without_the_lists_or_the_metadata_is_told_what_to_do(tmp_path):
    beir = write_beir(tmp_path / "scifact", RATIONALES)
    with pytest.raises(DataError, match=r"no list of the sentences of 4 documents.*set sentences"):
        locate(tmp_path, "scifact", beir, [])
    parquet = write_beir(tmp_path / "bare", parquet=True)
    with pytest.raises(DataError, match="no queries in JSON lines; those in Parquet lack"):
        locate(tmp_path, "scifact", parquet, [], sentences="split")
    shape = write_beir(tmp_path / "shape", {"q1": {"11": [4]}})
    with pytest.raises(DataError, match=r"queries\.jsonl\.gz, line 1: metadata of another shape"):
        locate(tmp_path, "scifact", shape, [], sentences="split")


FACTS = {
    "q1": [("Ada Wren", 1), ("Ada Wren (film)", 0), ("Ada Wren", 9), ("Humber", 0)],
    "q2": [("Heron-_LRB-boat", 0)],
    "of_the_training": [("Ada Wren", 1)],
}
CONTEXT = {
    "Ada Wren": sentences("11"),
    "Ada Wren (film)": sentences("12"),
    "Humber": ["The Humber is an estuary."],
}


def write_hotpotqa(path: Path) -> Path:
    """Write HotpotQA's own JSON list, or the hub's columns in Parquet."""
    if path.suffix == ".parquet":
        rows = [
            {
                "id": query,
                "supporting_facts": {"title": [t for t, _ in f], "sent_id": [n for _, n in f]},
                "context": {"title": list(CONTEXT), "sentences": list(CONTEXT.values())},
            }
            for query, f in FACTS.items()
        ]
        return write_parquet(path, rows)
    rows = [
        {
            "_id": query,
            "answer": "Hull",
            "supporting_facts": [list(pair) for pair in facts],
            "context": [list(pair) for pair in CONTEXT.items()],
        }
        for query, facts in FACTS.items()
    ]
    path.write_text(json.dumps(rows))
    return path


@pytest.mark.parametrize("name", ["hotpot_dev_distractor_v1.json", "validation-00000.parquet"])
def test_hotpotqa_takes_supporting_facts_and_tells_like_titles_apart(tmp_path, name):
    beir = write_beir(tmp_path / "hotpotqa")
    places = locate(tmp_path, "hotpotqa", beir, [write_hotpotqa(tmp_path / name)])
    assert places["starts"] == [start_of("11", "She was"), 0.0]
    assert places["counts"] == {
        "considered": 5,
        "located": 2,
        "dropped": {
            "no_relevant_document_of_that_title": 1,
            "sentence_number_beyond_the_paragraph": 1,
            "supporting_paragraph_not_in_the_context": 1,
        },
        "told": {
            "found_more_than_once": 0,
            "found_verbatim": 2,
            "of_queries_that_the_benchmark_lacks": 1,
        },
    }


def test_the_title_moves_the_start_only_where_it_counts(tmp_path):
    beir = write_beir(tmp_path / "hotpotqa")
    source = write_hotpotqa(tmp_path / "hotpot.json")
    within = locate(tmp_path, "hotpotqa", beir, [source])["starts"]
    joined = locate(tmp_path, "hotpotqa", beir, [source], count_title=True)["starts"]
    document = "Ada Wren " + CORPUS[0]["text"]
    assert joined[0] == document.index("She was") / len(document) > within[0]
    # The film's title is its document's first words as well: the evidence is not the title.
    film = "Ada Wren (film) " + CORPUS[1]["text"]
    assert joined[1] == len("Ada Wren (film) ") / len(film)


def test_a_question_of_another_shape_is_named(tmp_path):
    beir = write_beir(tmp_path / "hotpotqa")
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps([{"_id": "q1", "supporting_facts": [["Ada Wren", "1"]],
                                "context": []}]))  # fmt: skip
    with pytest.raises(DataError, match=r"bad\.json, question 1: another shape.*no title and num"):
        locate(tmp_path, "hotpotqa", beir, [bad])
    bad.write_text("{}")
    with pytest.raises(DataError, match=r"bad\.json: expected a list of questions"):
        locate(tmp_path, "hotpotqa", beir, [bad])


def test_a_corpus_that_the_benchmark_was_not_built_of_is_refused(tmp_path):
    beir = write_beir(tmp_path / "hotpotqa")
    source = write_hotpotqa(tmp_path / "hotpot.json")
    built = tmp_path / "built"
    benchmark, _ = build(built, "beir", beir)
    assert text_of(benchmark, "14") == CORPUS[3]["text"]
    changed = [one | {"text": one["text"].replace("Hull", "York")} for one in CORPUS]
    others = {
        "does not end in this text": write_beir(tmp_path / "changed", corpus=changed),
        "lacks 1 relevant documents": write_beir(tmp_path / "shorter", corpus=CORPUS[:3]),
        "no corpus of BEIR among the files": [],
    }
    for message, files in others.items():
        with pytest.raises(DataError, match=message):
            locate_evidence.main(
                built / "corpus.jsonl", built / "queries.jsonl", built / "qrels.txt",
                [*files, source], tmp_path / "p.json", "hotpotqa", {}, "b", "B", 1,
            )  # fmt: skip
    assert not (tmp_path / "p.json").exists()


def test_judgements_without_their_document_or_query_are_named(tmp_path):
    beir = write_beir(tmp_path / "beir")
    source = write_hotpotqa(tmp_path / "hotpot.json")
    build(tmp_path / "built", "beir", beir)
    qrels = tmp_path / "built" / "qrels.txt"
    for line, message in {"q1 0 99 1\n": "lacks 1 documents", "q9 0 11 1\n": "query 'q9'"}.items():
        other = tmp_path / "other.txt"
        other.write_text(qrels.read_text() + line)
        with pytest.raises(DataError, match=message):
            locate_evidence.main(
                tmp_path / "built" / "corpus.jsonl", tmp_path / "built" / "queries.jsonl", other,
                [*beir, source], tmp_path / "p.json", "hotpotqa", {}, "b", "B", 1,
            )  # fmt: skip


def test_titles_are_the_same_however_they_are_written():
    spellings = ("Caf\u00e9_-LRB-tea_&amp;_milk-RRB-", "Cafe\u0301 (Tea  & milk)")
    assert same_title(spellings[0]) == same_title(spellings[1])
    assert same_title("Ada Wren") != same_title("Ada Wren (film)")
