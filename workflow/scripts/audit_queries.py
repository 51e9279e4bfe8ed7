"""Ask a judge about each segment of a sample of the scored queries."""

import logging
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from adapter import start
from posbias.corpus.segments import POSITIONS, segment_texts
from posbias.errors import DataError
from posbias.files import stream_jsonl, write_json, write_jsonl
from posbias.queries.audit import Audited, Drawn, Strata, counts_of, draw, measure
from posbias.queries.generators import Surroundings
from posbias.queries.judges import Pair, make_judge

log = logging.getLogger("audit")


def read_texts(
    path: Path, identity: str, fields: tuple[str, ...], wanted: set[str]
) -> dict[str, dict]:
    """Return the wanted records by id, less all but some fields; raises DataError if one lacks."""
    found = {
        record[identity]: {field: record[field] for field in fields}
        for record in stream_jsonl(path, (identity, *fields))
        if record[identity] in wanted
    }
    missing = wanted - found.keys()
    if missing:
        raise DataError(
            f"{path}: lacks {len(missing)} of the {len(wanted)} records that the audit needs, such "
            f"as {min(missing)}; delete the scores and run the scoring again."
        )
    return found


def pairs_of(
    drawn: list[Drawn], queries: dict[str, dict], texts: dict[str, dict]
) -> Iterator[Pair]:
    """Yield each query with each segment of its document, in the order of the document.

    Raises DataError if scores and candidates disagree on a query's target.
    """
    for item in drawn:
        query = queries[item.query_id]
        if query["position"] != item.position:
            raise DataError(
                f"query {item.query_id}: aimed at the {query['position']} of its document, scored "
                f"for the {item.position}; delete the scores and run the scoring again."
            )
        for number, segment in enumerate(segment_texts(texts[query["doc_id"]]["text"]), start=1):
            yield Pair(f"{item.query_id}|segment{number}", query["query"], segment)


def main(
    documents: Path,
    candidates: Path,
    scores: list[Path],
    models: list[Path],
    judgements: Path,
    summary: Path,
    thresholds: list[float],
    judge: str,
    entry: dict[str, Any],
    model_names: list[str],
    per_stratum: int,
    answers: Path,
    evaluation: dict[str, Any],
    seed: int,
) -> None:
    """Judge a sample of the scored queries, segment by segment (appendix B.3, Table 7).

    Args:
        documents: the corpus, JSON lines
        candidates: query candidates, JSON lines
        scores: margins of all shards, JSON lines
        models: model folders
        judgements: what was said of each query's segments, JSON lines to write
        summary: measures of each stratum, and counts of what was asked and dropped
        thresholds: strata of the consensus margin, of the verification block of the config
        judge: name of the judge
        entry: the judge's block of the config, kind and options
        model_names: names of the models in the config, in the same order
        per_stratum: queries drawn from each stratum, or all where there are fewer
        answers: folder of the logs of answers, which outlive a failed run
        evaluation: the evaluation block of the config; resamples and level are read
        seed: seed of the sample, of the intervals and of a local judge
    """
    models_by_name = dict(zip(model_names, models, strict=True))
    asked = make_judge(judge, entry, Surroundings(seed, models_by_name, answers=Path(answers)))
    strata = Strata(thresholds)
    fields = ("query_id", "position", "consensus")
    records = chain.from_iterable(stream_jsonl(path, fields) for path in scores)
    drawn, found = draw(records, strata, per_stratum, seed)
    if not drawn:
        raise DataError(f"{', '.join(map(str, scores))}: no scored query; run the scoring again.")
    wanted = {item.query_id for item in drawn}
    queries = read_texts(candidates, "query_id", ("doc_id", "position", "query"), wanted)
    texts = read_texts(documents, "doc_id", ("text",), {q["doc_id"] for q in queries.values()})
    pairs = list(pairs_of(drawn, queries, texts))
    log.info("%s: %d queries of %d, %d questions", judge, len(drawn), found.total(), len(pairs))
    verdicts = iter(asked.judge(pairs))
    audited = [
        Audited(
            item,
            queries[item.query_id]["doc_id"],
            queries[item.query_id]["query"],
            tuple(next(verdicts) for _ in POSITIONS),
        )
        for item in drawn
    ]
    write_jsonl(judgements, (item.record() for item in audited))
    resamples, level = evaluation["resamples"], evaluation["level"]
    counts = counts_of(audited, found)
    write_json(
        summary,
        {
            "judge": judge,
            "kind": entry["kind"],
            "judged_by": asked.description,
            "per_stratum": per_stratum,
            "strata": measure(audited, strata, resamples, level, seed),
            "counts": counts,
            "judging": asked.summary(),
            "interval": {
                "kind": "bootstrap over queries",
                "resamples": resamples,
                "level": level,
            },
        },
    )
    log.info(
        "%d answers yes, %d no, %d unreadable; %d queries dropped for these",
        counts["yes"], counts["no"], sum(counts["unreadable"].values()),
        sum(counts["dropped"].values()),
    )  # fmt: skip


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
