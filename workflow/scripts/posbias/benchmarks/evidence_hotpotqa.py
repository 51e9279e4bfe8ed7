"""HotpotQA's evidence: supporting facts are titles of paragraphs and numbers of their sentences.

The data set's own file is a JSON list of {_id, supporting_facts: [[title, number]], context:
[[title, [sentences]]]}; the hub's Parquet has id, and both as columns {title, sent_id} and
{title, sentences}. The distractor setting has each supporting paragraph in the context.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from posbias.benchmarks.evidence_beir import OTHER, Titles, files_of, read_titles
from posbias.benchmarks.evidence_records import Judged, Places
from posbias.benchmarks.evidence_texts import Evidence, place_evidence, share
from posbias.benchmarks.inputs import json_lines, named, parquet_rows, trec_safe
from posbias.benchmarks.option_checks import Check, or_null, yes_or_no
from posbias.errors import DataError
from posbias.files import read_json

OPTIONS: Mapping[str, Check] = {"count_title": yes_or_no, "least_overlap": or_null(share)}
COLUMNS = ("id", "supporting_facts", "context")
SHAPE = "expected supporting_facts of titles and numbers, and context of titles and sentences"
NO_PARAGRAPH = "supporting_paragraph_not_in_the_context"
BEYOND = "sentence_number_beyond_the_paragraph"


def _rows(file: Path) -> Iterator[tuple[str, dict]]:
    """Yield each question with its place, of Parquet, JSON lines or one JSON list."""
    if file.suffix == ".parquet":
        yield from ((f"{file}, row {n}", row) for n, row in parquet_rows(file, COLUMNS))
    elif file.suffix == ".json":
        questions = read_json(file)
        if not isinstance(questions, list):
            raise DataError(f"{file}: expected a list of questions, found {type(questions)}.")
        yield from ((f"{file}, question {n}", one) for n, one in enumerate(questions, start=1))
    else:
        yield from ((f"{file}, line {n}", row) for n, row in json_lines(file))


def _pairs(value: Any, second: str) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return list(zip(value["title"], value[second], strict=True))
    return [(title, other) for title, other in value]


def _question(row: Mapping) -> tuple[str, list[tuple[str, int]], dict[str, list[str]]]:
    """Return id, supporting facts and sentences by title; raises what a wrong shape raises."""
    facts = _pairs(row["supporting_facts"], "sent_id")
    context = dict(_pairs(row["context"], "sentences"))
    if not all(isinstance(title, str) and type(number) is int for title, number in facts):
        raise TypeError("a supporting fact is no title and number")
    if not all(isinstance(s, str) for sentences in context.values() for s in sentences):
        raise TypeError("a sentence of the context is no text")
    return trec_safe(str(row["_id"] if "_id" in row else row["id"])), facts, context


def _evidence(files: Sequence[Path], judged: Judged, titles: Titles) -> Iterator[Evidence]:
    found = files_of(files, OTHER, "*.parquet", "*.jsonl", "*.jsonl.gz", "*.json")
    if not found:
        raise DataError(f"{named(files)}: no file of HotpotQA's own, which has the evidence.")
    for file in found:
        for where, row in _rows(file):
            try:
                query_id, facts, context = _question(row)
            except (AttributeError, KeyError, TypeError, ValueError) as fault:
                raise DataError(f"{where}: another shape ({fault!r}); {SHAPE}.") from fault
            for title, number in facts:
                doc_id, fault = titles.document(judged, query_id, title)
                sentences = context.get(title)
                if fault is None and sentences is None:
                    fault = NO_PARAGRAPH
                elif fault is None and not 0 <= number < len(sentences):
                    fault = BEYOND
                text = f"sentence {number} of {title}" if fault else sentences[number]
                yield Evidence(query_id, doc_id, text, fault)


def locate_hotpotqa(
    judged: Judged,
    files: Sequence[Path],
    count_title: bool = False,
    least_overlap: float | None = 0.8,
) -> Places:
    """Place HotpotQA's supporting facts in the paragraphs that are BEIR's documents (Fig. 9).

    files: BEIR's corpus, and HotpotQA's own questions with context. count_title, least_overlap:
    as for `posbias.benchmarks.evidence_scifact.locate_scifact`. Raises DataError naming file
    and record.
    """
    titles = read_titles(files, judged)
    evidence = _evidence(files, judged, titles)
    return place_evidence(evidence, judged, titles.body_starts, count_title, least_overlap)
