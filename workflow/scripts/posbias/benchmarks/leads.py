"""Lead sections of Wikipedia articles, asked for by title and description: a standard benchmark.

Where in a lead section the evidence lies is not known, as in BEIR's collections (section 4.3).
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from posbias.benchmarks.inputs import named, trec_safe
from posbias.benchmarks.loaded import KEYED, Loaded, ordered
from posbias.benchmarks.option_checks import Check, whole_number
from posbias.benchmarks.records import (
    BenchmarkDocument,
    BenchmarkQuery,
    check_documents,
    check_queries,
)
from posbias.corpus.leads import Lead, read_described_leads
from posbias.errors import DataError
from posbias.files import stream_jsonl

OPTIONS: dict[str, Check] = {
    "min_chars": whole_number(1),
    "max_chars": whole_number(1),
    "documents": whole_number(1),
    "queries": whole_number(1),
}


def _query(lead: Lead, doc_id: str) -> BenchmarkQuery:
    title = " ".join(lead.passage.title.split())
    return BenchmarkQuery(
        query_id=f"{doc_id}-described",
        text=f"{title}: {lead.description}",
        doc_id=doc_id,
        positions=(),
        answer_start=None,
        answer_end=None,
    )


def load_leads(
    files: Sequence[Path], seed: int, min_chars: int, max_chars: int, documents: int, queries: int
) -> Loaded:
    """Make a collection of lead sections, each asked for by "title: description".

    files: a JSON object of {title, extract, description} by id, and the documents that retrievers
    are trained on, whose articles are left out. min_chars, max_chars: code points of a section,
    both included; documents, queries: the most that are taken, by keyed hash. A section without
    a description stays in the corpus and has no query. Raises DataError for another layout, or
    where no section has a description.
    """
    if len(files) != 2:
        raise DataError(
            "a collection of lead sections is made of these and the documents of the training, "
            f"found {len(files)} files ({named(files)})."
        )
    source, trained = files
    known = {record["title"] for record in stream_jsonl(trained, required=("title",))}
    dropped: Counter = Counter()
    leads = read_described_leads(source, min_chars, max_chars, documents, seed, dropped, known)
    ids = [trec_safe(lead.passage.doc_id) for lead in leads]
    corpus = [
        BenchmarkDocument(doc_id, lead.passage.text)
        for doc_id, lead in zip(ids, leads, strict=True)
    ]
    check_documents(corpus, source)
    asked = [
        _query(lead, doc_id) for doc_id, lead in zip(ids, leads, strict=True) if lead.description
    ]
    if not asked:
        raise DataError(
            f"{source}: none of {len(leads)} lead sections has a description; raise `documents`."
        )
    check_queries(asked, corpus, source)
    chosen = ordered(asked, seed, KEYED)[:queries]
    counts = {
        "documents_dropped": dict(sorted(dropped.items())),
        "documents_without_description": len(leads) - len(asked),
        "left_out_of_the_sample": len(asked) - len(chosen),
    }
    return Loaded(corpus, chosen, {one.query_id: {one.doc_id: 1} for one in chosen}, counts=counts)
