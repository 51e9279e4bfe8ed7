"""Choose the passages of one listwise corpus: documents of a split, or lead sections."""

import logging
from collections import Counter
from pathlib import Path
from typing import Any

from adapter import start
from posbias.assets import find_asset
from posbias.corpus.leads import Passage, read_leads
from posbias.errors import ConfigError, DataError
from posbias.files import read_jsonl, write_json, write_jsonl

log = logging.getLogger("passages")


def of_split(documents: Path, split: str) -> list[Passage]:
    """Return the documents of one split of the retriever study's corpus."""
    records = read_jsonl(documents, ("doc_id", "title", "text", "split"))
    passages = [Passage(r["doc_id"], r["title"], r["text"]) for r in records if r["split"] == split]
    if not passages:
        raise DataError(f"{documents}: holds no document of the split {split!r}.")
    return passages


def main(
    documents: Path,
    passages: Path,
    summary: Path,
    corpus: dict[str, Any],
    asset: dict[str, str],
    seed: int,
) -> None:
    """Choose the passages that queries of one corpus are searched in (section 4.1).

    Args:
        documents: the retriever study's corpus, JSON lines
        passages: JSON lines to write: doc_id, title, text
        summary: counts of what was kept and dropped, and why
        corpus: source (documents or leads) and its options, from the config
        asset: package, file and sha256 of the lead sections
        seed: seed of the keyed hash that chooses lead sections
    """
    options = dict(corpus)
    source = options.pop("source")
    dropped: Counter = Counter()
    if source == "documents":
        chosen = of_split(documents, **options)
    elif source == "leads":
        known = {record["title"] for record in read_jsonl(documents, ("title",))}
        chosen = read_leads(
            find_asset(**asset), **options, seed=seed, dropped=dropped, known_titles=known
        )
    else:
        raise ConfigError(f"listwise.corpora: source {source!r} is neither documents nor leads.")
    write_jsonl(passages, (passage.record() for passage in chosen))
    lengths = [len(passage.text) for passage in chosen]
    write_json(
        summary,
        {
            "passages": len(chosen),
            "characters": {"least": min(lengths), "most": max(lengths), "all": sum(lengths)},
            "dropped": dict(sorted(dropped.items())),
        },
    )
    log.info("wrote %d passages to %s", len(chosen), passages)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
