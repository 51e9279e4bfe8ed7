"""Cut articles into documents in length bins, and documents into segments."""

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

from adapter import start
from posbias.corpus.article_sources import ArticleSource, make_article_source
from posbias.corpus.documents import (
    SPLITS,
    Document,
    cap_per_bin,
    check_bins_filled,
    cut_article,
    split_articles,
)
from posbias.corpus.segments import segments_of
from posbias.corpus.tables import Rows
from posbias.corpus.whole_articles import (
    WholeCut,
    articles_per_split,
    check_cells_filled,
    check_ids_unique,
    choose,
    read_documents,
    scan_rows,
)
from posbias.errors import ConfigError
from posbias.files import whole_file, write_json, write_jsonl
from posbias.logs import Heartbeat

log = logging.getLogger("corpus")


class Corpus(NamedTuple):
    """Documents to write, and their counts: articles by split, documents by split and bin."""

    documents: Iterable[Document]
    articles: Mapping[str, int]
    per_cell: Mapping[tuple[str, str], int]
    dropped: Counter
    files: list[dict] | None = None


def sentences(source: ArticleSource, options: dict[str, Any], seed: int) -> Corpus:
    """Cut articles into runs of whole sentences; all of them are held in memory."""
    if not options["heldout_share"]:
        raise ConfigError(
            "documents.heldout_share: 0 needs documents.cut: whole; a cut into sentences holds at "
            "least one article out."
        )
    dropped: Counter = Counter()
    articles = list(source.articles(dropped))
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
    in_split = Counter(splits.values())
    return Corpus(
        kept, {split: in_split[split] for split in SPLITS}, check_bins_filled(kept, edges), dropped
    )


def whole(source: ArticleSource, options: dict[str, Any], seed: int) -> Corpus:
    """Make one document of each article whose length lies in a bin, in two passes over the rows."""
    edges = tuple(options["bin_edges"])
    cut = WholeCut(options["source"], edges, options["heldout_share"], seed)
    dropped: Counter = Counter()
    n_rows = Counter({path: 0 for path in source.paths})
    scan = scan_rows(counted(source.rows(("id", "text"), dropped), n_rows), cut, dropped)
    check_ids_unique(scan, source.rows(("id",), Counter()), cut)
    kept = choose(scan, options["max_per_bin"], cut, dropped)
    per_cell = check_cells_filled(scan, kept, cut)
    batches = source.rows(("id", "title", "text"), Counter())
    return Corpus(
        told(read_documents(batches, scan, kept, cut), int(np.count_nonzero(kept))),
        articles_per_split(scan, cut),
        per_cell,
        dropped,
        [{"file": str(path), "rows": n} for path, n in n_rows.items()],
    )


def counted(batches: Iterable[Rows], n_rows: Counter) -> Iterator[Rows]:
    """Pass rows on, count them by file and tell how far they are."""
    places = {path: place for place, path in enumerate(n_rows)}
    beat = Heartbeat("articles looked at, files", len(places))
    for rows in batches:
        n_rows[rows.path] += rows.batch.num_rows
        beat.beat(places[rows.path], f"{n_rows.total()} articles")
        yield rows


def told(documents: Iterable[Document], total: int) -> Iterator[Document]:
    """Pass documents on and tell how far they are."""
    beat = Heartbeat("documents written", total)
    for done, document in enumerate(documents, start=1):
        yield document
        beat.beat(done)


def write_corpus(documents: Path, segments: Path, made: Iterable[Document]) -> Counter:
    """Write documents and beside them their segments; return how many documents and characters."""
    sums: Counter = Counter()

    def records(lines: TextIO) -> Iterator[dict]:
        for document in made:
            sums["characters"] += document.n_chars
            for segment in segments_of(document.doc_id, document.text):
                lines.write(json.dumps(segment._asdict(), ensure_ascii=False) + "\n")
            yield vars(document)

    with whole_file(segments) as part, part.open("w", encoding="utf-8", newline="\n") as lines:
        sums["documents"] = write_jsonl(documents, records(lines))
    return sums


CUTS: dict[str, Callable[[ArticleSource, dict, int], Corpus]] = {
    "sentences": sentences,
    "whole": whole,
}


def main(
    documents: Path,
    segments: Path,
    summary: Path,
    files: list[Path],
    article_source: dict[str, Any],
    asset: dict[str, str] | None,
    options: dict[str, Any],
    seed: int,
) -> None:
    """Build the corpus (section 3.1.1).

    Args:
        documents: JSON lines to write
        segments: JSON lines to write, offsets in code points
        summary: counts of what was kept and dropped, and why
        files: folders that a table's files are looked up in; none for a dump
        article_source: the entry of article_sources that documents.articles names
        asset: package, file and sha256 of a dump; none for a table
        options: the documents block of the config
        seed: seed of the keyed hashes
    """
    if options["cut"] not in CUTS:
        raise ConfigError(
            f"documents.cut: {options['cut']!r} does not exist; known: {', '.join(CUTS)}."
        )
    source = make_article_source(article_source, asset, files, options["min_paragraph_chars"])
    corpus = CUTS[options["cut"]](source, options, seed)
    sums = write_corpus(documents, segments, corpus.documents)
    write_json(
        summary,
        {
            "articles": dict(corpus.articles),
            "documents": sums["documents"],
            "characters": sums["characters"],
            "documents_per_cell": {
                f"{split} {name}": n for (split, name), n in sorted(corpus.per_cell.items())
            },
            "dropped": dict(sorted(corpus.dropped.items())),
            **({"files": corpus.files} if corpus.files else {}),
        },
    )
    log.info(
        "wrote %d documents of %d articles to %s",
        sums["documents"], sum(corpus.articles.values()), documents,
    )  # fmt: skip


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
