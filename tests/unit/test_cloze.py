"""Cloze queries: from the target segment alone, answers exactly located, nothing else matters."""

from collections import Counter
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

import generate_queries
from posbias.corpus.segments import POSITIONS, segments_of
from posbias.errors import ConfigError, DataError
from posbias.files import read_json, read_jsonl, write_jsonl
from posbias.queries.candidates import CANDIDATE_FIELDS, Candidate, length_class
from posbias.queries.cloze import ClozeGenerator, content_words, whole_words
from posbias.queries.generators import Surroundings, make_generator

STOPWORDS = frozenset(["the", "and", "was", "with"])
OPTIONS = {
    "per_segment": 3,
    "keep_share": 0.5,
    "min_words": 2,
    "max_words": 4,
    "min_word_chars": 3,
}
WORDS = ["the", "and", "was", "river", "castle", "Emperor's", "semi-arid", "naïve", "of", "Łódź",
         "1848", "revolution", "北京大学", "tiger", "glacier", "with"]  # fmt: skip
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(
    lambda words: " ".join(words).capitalize() + "."
)
TEXTS = st.lists(SENTENCES, min_size=1, max_size=8).map(" ".join).filter(lambda t: len(t) > 2)
DOCUMENTS = st.lists(TEXTS, min_size=1, max_size=4).map(
    lambda texts: [{"doc_id": f"d{n}", "text": t, "bin": "0-999"} for n, t in enumerate(texts)]
)


def generator(**changes) -> ClozeGenerator:
    return ClozeGenerator(**{"seed": 42, "stopwords": STOPWORDS, **OPTIONS, **changes})


def made(documents: list[dict], **changes) -> list[Candidate]:
    return list(generator(**changes).generate(documents, Counter()))


@given(DOCUMENTS)
def test_queries_are_words_of_the_target_segment_only(documents):
    texts = {d["doc_id"]: d["text"] for d in documents}
    for candidate in made(documents):
        text = texts[candidate.doc_id]
        segment = next(
            s for s in segments_of(candidate.doc_id, text) if s.position == candidate.position
        )
        start, end = candidate.answer_start, candidate.answer_end
        assert segment.start <= start < end <= segment.end
        assert text[start:end] == candidate.answer
        words = candidate.query.split()
        assert len(set(words)) == len(words)
        assert set(words) <= set(content_words(candidate.answer, STOPWORDS, 3))
        # The segment's border cuts no word: it would be a word that the document lacks.
        assert start == 0 or not (text[start - 1].isalnum() and text[start].isalnum())
        assert end == len(text) or not (text[end - 1].isalnum() and text[end].isalnum())


@given(DOCUMENTS, st.integers(1, 3), st.integers(0, 3), st.floats(0.01, 1))
def test_queries_keep_to_their_bounds(documents, least, more, share):
    changes = {"min_words": least, "max_words": least + more, "keep_share": share}
    for candidate in made(documents, **changes):
        n = len(candidate.query.split())
        assert least <= n <= least + more
        wanted = share * len(content_words(candidate.answer, STOPWORDS, 3))
        assert abs(n - min(max(wanted, least), least + more)) <= 0.5


@given(DOCUMENTS, TEXTS)
def test_other_documents_change_nothing(documents, other):
    alone = [candidate for d in documents for candidate in made([d])]
    assert made(documents) == alone
    more = [{"doc_id": "other", "text": other, "bin": "0-999"}, *documents]
    assert [c for c in made(more) if c.doc_id != "other"] == alone


@given(DOCUMENTS)
def test_more_queries_per_segment_keep_the_first_ones(documents):
    few = {c.query_id: c for c in made(documents, per_segment=1)}
    many = {c.query_id: c for c in made(documents, per_segment=4)}
    assert few.items() <= many.items()
    assert len(many) == len(made(documents, per_segment=4))


@given(DOCUMENTS)
def test_everything_that_was_not_made_is_counted(documents):
    dropped = Counter()
    candidates = list(generator().generate(documents, dropped))
    without = sum(n for reason, n in dropped.items() if reason.endswith("too few content words"))
    repeated = sum(n for reason, n in dropped.items() if reason.endswith("query: repeated"))
    assert without + repeated == sum(dropped.values())
    assert len(candidates) + repeated == 3 * (3 * len(documents) - without)
    queries = Counter((c.doc_id, c.position, c.query) for c in candidates)
    assert set(queries.values()) <= {1}


def test_another_seed_gives_other_queries():
    text = " ".join(f"Word{n} item{n} thing{n} part{n} piece{n} unit{n}." for n in range(12))
    documents = [{"doc_id": "d", "text": text, "bin": "0-999"}]
    assert made(documents) == made(documents)
    assert [c.query for c in made(documents)] != [c.query for c in made(documents, seed=43)]


def test_a_segment_without_content_is_counted_by_position():
    text = "the and was with the. " + "Glacier river castle tiger emperor. " + "of of of of."
    dropped = Counter()
    documents = [{"doc_id": "d", "text": text, "bin": "0-999"}]
    candidates = list(generator().generate(documents, dropped))
    assert {c.position for c in candidates} == {"middle"}
    assert dropped["begin segment: too few content words"] == 1
    assert dropped["end segment: too few content words"] == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The castle and the Castle", ["castle"]),
        ("a semi-arid land: it's the emperor’s", ["semi-arid", "land", "it's", "emperor’s"]),
        ("snake_case 1848 ab", ["snake", "case", "1848"]),
        ("", []),
    ],
)
def test_content_words(text, words):
    assert content_words(text, STOPWORDS, 3) == words


@pytest.mark.parametrize(
    ("start", "end", "found"), [(0, 13, "river castle"), (1, 12, "castle"), (1, 10, ""), (3, 8, "")]
)
def test_whole_words(start, end, found):
    text = "river castle tiger"
    start, end = whole_words(text, start, end)
    assert text[start:end] == found


@given(TEXTS, st.data())
def test_whole_words_only_shrinks(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    low, high = whole_words(text, start, end)
    assert start <= low <= high <= end
    assert text[low:high] == text[low:high].strip()


def test_the_fields_of_the_contract_are_those_of_the_record():
    assert tuple(field.name for field in fields(Candidate)) == CANDIDATE_FIELDS
    documents = [{"doc_id": "d", "text": "River castle tiger glacier. " * 5, "bin": "0-999"}]
    candidate = made(documents)[0]
    assert tuple(candidate.record()) == CANDIDATE_FIELDS
    assert candidate.record()["query_id"] == "d-begin-0"
    assert candidate.generator == "cloze"


@pytest.mark.parametrize(
    ("words", "name"), [(1, "short"), (9, "short"), (10, "medium"), (20, "medium"), (21, "long")]
)
def test_the_papers_classes_of_length(words, name):
    assert length_class(" ".join(["word"] * words)) == name


@pytest.mark.parametrize(
    "changes",
    [
        {"keep_share": 0},
        {"keep_share": 1.2},
        {"keep_share": "half"},
        {"min_words": 0},
        {"min_words": 5, "max_words": 4},
        {"per_segment": "three"},
        {"per_segment": 1.5},
    ],
)
def test_impossible_options_are_refused(changes):
    with pytest.raises(ConfigError, match=r"queries\."):
        generator(**changes)


def test_an_unknown_kind_is_refused_with_the_known_ones():
    entry = {"kind": "clooze", "options": OPTIONS}
    with pytest.raises(ConfigError, match=r"queries\.generators\.own: kind 'clooze'.*known: cloze"):
        make_generator("own", entry, Surroundings(1))


@pytest.mark.parametrize("options", [{**OPTIONS, "keep_shar": 1}, {"per_segment": 3}])
def test_unknown_or_missing_options_are_refused_as_a_fault_of_the_config(options):
    # The schema leaves them to the generator, so it must say what is wrong with them.
    with pytest.raises(ConfigError, match=r"queries\.generators\.own\.options: .*keep_sha"):
        make_generator("own", {"kind": "cloze", "options": options}, Surroundings(1))


def test_the_registry_builds_the_configured_generator(config):
    entry = config["queries"]["generators"]["cloze"]
    built = make_generator("cloze", entry, Surroundings(7))
    assert (built.name, built.seed) == ("cloze", 7)
    assert built.per_segment == entry["options"]["per_segment"]
    assert {"the", "and", "of"} <= built.stopwords


def run_script(folder, documents, **changes):
    write_jsonl(folder / "documents.jsonl", documents)
    generate_queries.main(
        folder / "documents.jsonl", folder / "candidates.jsonl", folder / "summary.json",
        generator="cloze", entry={"kind": "cloze", "options": OPTIONS}, seed=42,
        answers=folder / "answers", personas=[], models=[], model_names=[], **changes,
    )  # fmt: skip
    return read_jsonl(folder / "candidates.jsonl"), read_json(folder / "summary.json")


def test_the_script_writes_what_its_summary_says(tmp_path):
    text = "The naïve emperor built castles. Rivers carried glacier water. Tigers roamed deserts."
    documents = [{"doc_id": f"d{n}", "text": f"{n} {text}", "bin": "0-999"} for n in range(4)]
    candidates, summary = run_script(tmp_path, documents)
    assert summary["candidates"] == len(candidates) == sum(summary["by_position"].values())
    assert summary["by_position"] == dict(Counter(c["position"] for c in candidates))
    assert set(summary["by_position"]) <= set(POSITIONS)
    assert sum(summary["by_length"].values()) == len(candidates)
    assert summary["documents"] == 4
    assert len({c["query_id"] for c in candidates}) == len(candidates)


def test_the_script_writes_nothing_where_no_query_can_be_made(tmp_path):
    with pytest.raises(DataError, match=r"documents\.jsonl.*made no query"):
        run_script(tmp_path, [{"doc_id": "d", "text": "of of of of", "bin": "0-999"}])
    assert [path.name for path in tmp_path.iterdir()] == ["documents.jsonl"]
