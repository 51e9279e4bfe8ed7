"""SciFact's evidence: BEIR's queries name documents and the numbers of their sentences.

In queries.jsonl of BEIR, metadata holds {document: [{sentences: [numbers], label}]}; the numbers
count, from 0, the sentences of the abstract as SciFact's own corpus lists them.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from posbias.benchmarks.evidence_beir import OTHER, QUERIES, files_of, read_titles
from posbias.benchmarks.evidence_records import Judged, Places
from posbias.benchmarks.evidence_texts import Evidence, place_evidence, share
from posbias.benchmarks.inputs import json_lines, named, table_rows, trec_safe
from posbias.benchmarks.option_checks import Check, one_of, or_null, yes_or_no
from posbias.corpus.sentences import split_sentences
from posbias.errors import DataError

LISTED, SPLIT = "listed", "split"
OPTIONS: Mapping[str, Check] = {
    "sentences": one_of(LISTED, SPLIT),
    "count_title": yes_or_no,
    "least_overlap": or_null(share),
}
SHAPE = "expected {document: [{sentences: [numbers], label}]}"
JSON = (".jsonl", ".gz")
BEYOND = "sentence_number_beyond_the_document"


def _listed(files: Sequence[Path], judged: Judged) -> dict[str, list[str]]:
    """Return the sentences of the relevant documents from SciFact's own corpus."""
    found = files_of(files, OTHER)
    lists = {}
    for file in found:
        for number, record in table_rows(file, ("doc_id", "abstract")):
            doc_id = trec_safe(str(record["doc_id"]))
            sentences = record["abstract"]
            if not isinstance(sentences, list) or not all(isinstance(s, str) for s in sentences):
                raise DataError(f"{file}, row {number}: abstract is no list of sentences.")
            if doc_id in judged.texts:
                lists[doc_id] = sentences
    missing = judged.texts.keys() - lists.keys()
    if missing:
        raise DataError(
            f"{named(found or files)}: no list of the sentences of {len(missing)} documents, such "
            f"as {min(missing)!r}; name SciFact's own corpus, or set sentences to {SPLIT}."
        )
    return lists


def _numbers(metadata: Any, where: str) -> Iterator[tuple[str, int]]:
    """Yield document and number of each sentence that a query's metadata names."""
    try:
        for doc_id, rationales in metadata.items():
            for rationale in rationales:
                for number in rationale["sentences"]:
                    if type(number) is not int or number < 0:
                        raise TypeError(f"sentence {number!r}")
                    yield trec_safe(doc_id), number
    except (AttributeError, KeyError, TypeError) as fault:
        raise DataError(f"{where}: metadata of another shape ({fault}); {SHAPE}.") from fault


def _evidence(files: Sequence[Path], sentences: Mapping[str, list[str]]) -> Iterator[Evidence]:
    queries = [
        file for file in files_of(files, QUERIES, "*.jsonl", "*.jsonl.gz") if file.suffix in JSON
    ]
    if not queries:
        raise DataError(
            f"{named(files)}: no queries in JSON lines; those in Parquet lack the metadata."
        )
    for file in queries:
        for line, record in json_lines(file, ("_id", "metadata")):
            query_id = trec_safe(str(record["_id"]))
            for doc_id, number in _numbers(record["metadata"], f"{file}, line {line}"):
                known = sentences.get(doc_id)
                if known is None:
                    yield Evidence(query_id, doc_id, f"sentence {number}")
                elif number >= len(known):
                    yield Evidence(query_id, doc_id, f"sentence {number}", BEYOND)
                else:
                    yield Evidence(query_id, doc_id, known[number])


def locate_scifact(
    judged: Judged,
    files: Sequence[Path],
    sentences: str = LISTED,
    count_title: bool = False,
    least_overlap: float | None = 0.8,
) -> Places:
    """Place SciFact's rationale sentences in the abstracts that BEIR made documents of (Fig. 9).

    files: BEIR's corpus, its queries in JSON lines, and for sentences "listed" SciFact's corpus
    with doc_id and abstract, a list; "split" takes our own splitter in its place, whose numbers
    can differ. count_title: whether the title counts as part of the document (our choice: it does
    not, as it is no evidence). least_overlap: see `find_nearest`. Raises DataError naming file
    and record.
    """
    titles = read_titles(files, judged)
    if sentences == LISTED:
        known = _listed(files, judged)
    else:
        known = {
            doc_id: split_sentences(text[titles.body_starts[doc_id] :])
            for doc_id, text in judged.texts.items()
        }
    evidence = _evidence(files, known)
    return place_evidence(evidence, judged, titles.body_starts, count_title, least_overlap)
