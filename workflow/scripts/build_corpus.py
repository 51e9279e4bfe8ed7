"""Cut the Wikipedia dump into documents in length bins, and documents into segments."""

import logging
from collections import Counter
from pathlib import Path
from typing import Any

from adapter import start
from posbias.assets import find_asset
from posbias.corpus.documents import cap_per_bin, check_bins_filled, cut_article, split_articles
from posbias.corpus.segments import segments_of
from posbias.corpus.wikipedia import read_dump
from posbias.files import write_json, write_jsonl

log = logging.getLogger("corpus")


def main(
    documents: Path,
    segments: Path,
    summary: Path,
    asset: dict[str, str],
    options: dict[str, Any],
    seed: int,
) -> None:
    """Build the corpus (section 3.1.1).

    Args:
        documents: JSON lines to write
        segments: JSON lines to write, offsets in code points
        summary: counts of what was kept and dropped, and why
        asset: package, file and sha256 of the dump
        options: the documents block of the config
        seed: seed of the keyed hashes
    """
    dropped: Counter = Counter()
    articles = list(read_dump(find_asset(**asset), options["min_paragraph_chars"], dropped))
    splits = split_articles((a.title for a in articles), options["heldout_share"], seed)
    seen: set[str] = set()
    edges = options["bin_edges"]
    cut = [
        document
        for article in articles
        for document in cut_article(
            article, edges, splits[article.title], options["source"], seed, seen, dropped
        )
    ]
    kept = cap_per_bin(cut, options["max_per_bin"], seed, dropped)
    counts = check_bins_filled(kept, edges)
    write_jsonl(documents, (document.record() for document in kept))
    write_jsonl(
        segments,
        (segment._asdict() for d in kept for segment in segments_of(d.doc_id, d.text)),
    )
    write_json(
        summary,
        {
            "articles": {
                split: sum(s == split for s in splits.values()) for split in ("train", "heldout")
            },
            "documents": len(kept),
            "characters": sum(document.n_chars for document in kept),
            "documents_per_cell": {
                f"{split} {name}": n for (split, name), n in sorted(counts.items())
            },
            "dropped": dict(sorted(dropped.items())),
        },
    )
    log.info("wrote %d documents of %d articles to %s", len(kept), len(articles), documents)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
