"""Evidence pairs from MS MARCO, whose queries are judged on documents and on passages.

Coelho et al. 2024, section 4.2: the queries whose relevant document holds, word by word, the
passage that the passage collection judges relevant for them; they find 1,130. The retriever study
says "MS MARCO query-document pairs" and no more (section 6, Tables 5 and 13).
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from posbias.benchmarks.option_checks import Check, a_text, or_null
from posbias.representation.evidence_cut import (
    EvidencePair,
    Parts,
    cut_evidence,
    find_evidence,
)
from posbias.representation.msmarco_files import files_of, read_judged, read_texts

OPTIONS: dict[str, Check] = {
    "documents": a_text,
    "queries": a_text,
    "document_qrels": a_text,
    "passages": a_text,
    "passage_qrels": a_text,
    "title_separator": or_null(a_text),
}
DOCUMENT_COLUMNS = ("id", "url", "title", "text")
TEXT_COLUMNS = ("id", "text")
DROPPED = (
    "no_document_judged",
    "no_passage_judged",
    "passage_missing",
    "document_missing",
    "not_found",
    "whole_document",
)


def _judged(files: Sequence[Path], queries: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the relevant documents, or passages, of the queries, in the order of the files."""
    of_query: dict[str, list[str]] = defaultdict(list)
    for query_id, doc_id in read_judged(files):
        if query_id in queries and doc_id not in of_query[query_id]:
            of_query[query_id].append(doc_id)
    return of_query


def _passages(
    files: Sequence[Path], judged: Mapping[str, list[str]], counts: Counter
) -> dict[str, list[str]]:
    """Return the texts of the judged passages of each query that has one."""
    wanted = {passage_id for of_query in judged.values() for passage_id in of_query}
    texts = {name: text for name, text in read_texts(files, TEXT_COLUMNS) if name in wanted}
    found = {}
    for query_id, of_query in judged.items():
        found[query_id] = [texts[name] for name in of_query if name in texts]
        if not found[query_id]:
            counts["passage_missing"] += 1
            del found[query_id]
    return found


def _parts(text: str, passages: Sequence[str]) -> tuple[Parts | None, str]:
    """Return the parts of a text for the first passage that it holds, or why there are none."""
    reason = "not_found"
    for passage in passages:
        found = find_evidence(text, passage)
        parts = cut_evidence(*found) if found else None
        if parts is not None:
            return parts, ""
        reason = "whole_document" if found else reason
    return None, reason


def msmarco_pairs(
    files: Sequence[Path],
    counts: Counter,
    documents: str = "msmarco-docs.tsv*",
    queries: str = "msmarco-docdev-queries.tsv*",
    document_qrels: str = "msmarco-docdev-qrels.tsv*",
    passages: str = "collection.tsv*",
    passage_qrels: str = "qrels.dev.tsv*",
    title_separator: str | None = None,
) -> Iterator[EvidencePair]:
    """Yield a pair for each query with a relevant document that holds its relevant passage.

    files: files and folders; the options name those of each role by the end of their path, and
    the defaults are the official names of the development set. title_separator: what stands
    between a document's title and its text; None leaves the titles out. Documents, 22 GB, go past
    as a stream. counts: takes up how many queries were read, and how many dropped and why; a
    query counts as a pair once, for the first relevant document of the collection that fits.
    Raises DataError naming file and line.
    """
    roles = {
        "documents": documents,
        "queries": queries,
        "document_qrels": document_qrels,
        "passages": passages,
        "passage_qrels": passage_qrels,
    }
    found = {role: files_of(files, role, pattern) for role, pattern in roles.items()}
    counts.update(dict.fromkeys(("read", *DROPPED), 0))
    asked = dict(read_texts(found["queries"], TEXT_COLUMNS))
    counts["read"] = len(asked)
    of_documents = _judged(found["document_qrels"], asked)
    of_passages = _judged(found["passage_qrels"], asked)
    counts["no_document_judged"] = len(asked.keys() - of_documents.keys())
    both = {name: of_passages[name] for name in of_documents if name in of_passages}
    counts["no_passage_judged"] = len(of_documents) - len(both)
    evidence = _passages(found["passages"], both, counts)
    wanted: dict[str, list[str]] = defaultdict(list)
    for query_id in evidence:
        for doc_id in of_documents[query_id]:
            wanted[doc_id].append(query_id)
    reasons = dict.fromkeys(evidence, "document_missing")
    for doc_id, text in read_texts(found["documents"], DOCUMENT_COLUMNS, title_separator):
        for query_id in wanted.get(doc_id, ()):
            if query_id not in reasons:
                continue
            parts, reasons[query_id] = _parts(text, evidence[query_id])
            if parts is not None:
                del reasons[query_id]
                yield EvidencePair(query_id, asked[query_id], doc_id, *parts)
    counts.update(reasons.values())
