"""Measure how much evidence a retriever cannot see, as its longest input is cut before it."""

import csv
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adapter import start
from posbias.corpus.segments import POSITIONS
from posbias.errors import DataError, config_place
from posbias.files import stream_jsonl, whole_file, write_json
from posbias.logs import Heartbeat
from posbias.measures.truncation import (
    COLUMNS,
    TruncationTable,
    evidence_span,
    loss_of,
    readable_range,
)
from posbias.models.retriever import longest_input, retriever_tokenizer
from posbias.models.tokenizers import describe

log = logging.getLogger("truncation")

KEPT = ("query_id", "doc_id", "bin", "position", "answer_start", "answer_end")
DOCUMENTS_AT_A_TIME = 64


def queries_by_document(pools: list[Path]) -> dict[str, list[dict]]:
    """Return the queries of all pools under their documents; one in several pools counts once."""
    queries: dict[str, dict] = {}
    for pool in pools:
        for pair in stream_jsonl(pool, ("query_id", "doc_id", "bin", "position")):
            queries.setdefault(pair["query_id"], {name: pair.get(name) for name in KEPT})
    by_document: dict[str, list[dict]] = {}
    for query in queries.values():
        by_document.setdefault(query["doc_id"], []).append(query)
    return by_document


def batches(documents: Path, wanted: dict[str, list[dict]]) -> Iterator[list[tuple[str, str]]]:
    """Yield id and text of the wanted documents, some at a time; raises DataError if one lacks."""
    missing = set(wanted)
    batch = []
    for document in stream_jsonl(documents, ("doc_id", "text")):
        if document["doc_id"] in missing:
            missing.remove(document["doc_id"])
            batch.append((document["doc_id"], document["text"]))
            if len(batch) == DOCUMENTS_AT_A_TIME:
                yield batch
                batch = []
    if batch:
        yield batch
    if missing:
        raise DataError(
            f"{documents}: lacks {len(missing)} documents that training queries belong to, such "
            f"as {min(missing)}; run the corpus and the balancing step again."
        )


def main(
    pairs: list[Path],
    documents: Path,
    tokenizer: list[Path],
    table: Path,
    summary: Path,
    retriever: str,
    entry: dict[str, Any],
    training: dict[str, Any],
) -> None:
    """Measure the evidence that a retriever's longest input cuts off (section 4.2, unstated there).

    Args:
        pairs: the queries of the training settings, JSON lines
        documents: the corpus, JSON lines
        tokenizer: the one folder whose tokenizer the retriever has, of its checkpoint or encoder
        table: counts by length bin and position to write, CSV
        summary: the same over all bins, and what was measured, to write, JSON
        retriever: key of the retriever in the config
        entry: the retriever's block of the config
        training: the training block of the config; only max_tokens is read
    """
    (folder,) = tokenizer
    own = "checkpoint" in entry
    limit = longest_input(entry, training["max_tokens"])
    with config_place(f"retrievers.known.{retriever}"):
        cutter = retriever_tokenizer(
            entry, None if own else folder, training["max_tokens"], folder if own else None
        )
    wanted = queries_by_document(pairs)
    counts = TruncationTable()
    spans = {"answer": 0, "third": 0}
    heartbeat, done = Heartbeat(f"truncation {retriever}", len(wanted)), 0
    for batch in batches(documents, wanted):
        ranges = readable_range(cutter, [text for _, text in batch], limit)
        for (doc_id, text), read in zip(batch, ranges, strict=True):
            for query in wanted[doc_id]:
                loss = loss_of(text, evidence_span(query, text), read)
                counts.add(query["bin"], query["position"], loss)
                spans["third" if query["answer_start"] is None else "answer"] += 1
        done += len(batch)
        heartbeat.beat(done)
    with whole_file(table) as part, part.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(counts.rows(retriever, entry["label"]))
    total = counts.total()
    write_json(
        summary,
        {
            "retriever": retriever,
            "label": entry["label"],
            "max_tokens": limit,
            "special_tokens": describe(cutter),
            "documents": len(wanted),
            "evidence_known_by": spans,
            "by_position": {position: counts.total(position) for position in POSITIONS},
            "all": total,
        },
    )
    log.info(
        "%s: evidence of %d of %d queries is cut off at %d tokens, of %d wholly",
        retriever, total["partly"] + total["wholly"], total["n"], limit, total["wholly"],
    )  # fmt: skip


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
