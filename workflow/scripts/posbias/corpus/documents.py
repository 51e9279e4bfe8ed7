"""Sentence-aligned documents of wanted lengths, no sentence in two of them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from posbias.corpus.bins import LengthBin, bin_of, length_bins
from posbias.corpus.sentences import split_sentences
from posbias.corpus.wikipedia import Article
from posbias.errors import DataError
from posbias.keyed import keyed_order, keyed_unit

SPLITS = ("train", "heldout")


@dataclass(frozen=True)
class Document:
    """A passage of one article; lengths in code points."""

    doc_id: str
    title: str
    text: str
    n_chars: int
    bin: str
    split: str
    source: str

    def record(self) -> dict:
        return asdict(self)


def unique_sentences(article: Article, seen: set[str], dropped: Counter) -> list[str]:
    """Return an article's sentences, less those that an earlier document already holds."""
    kept = []
    for paragraph in article.paragraphs:
        for sentence in split_sentences(paragraph):
            key = " ".join(sentence.lower().split())
            if key in seen:
                dropped["sentence: repeated"] += 1
                continue
            seen.add(key)
            kept.append(sentence)
    return kept


def pack_sentences(
    sentences: list[str], wanted: LengthBin, edges: list[int]
) -> tuple[int, str | None]:
    """Take sentences from the front until the text lies in the wanted bin.

    Returns how many sentences were taken and the text. Where no number of sentences hits the
    wanted bin, the longest text below it that lies in another bin is taken, else the shortest
    above it; where none lies in any bin, one sentence is given up and the text is None.
    """
    text, fallback = "", None
    for count, sentence in enumerate(sentences, start=1):
        text = f"{text} {sentence}" if text else sentence
        if len(text) >= edges[-1]:
            break
        if wanted.low <= len(text) < wanted.high:
            return count, text
        if bin_of(len(text), edges):
            if len(text) < wanted.low or fallback is None:
                fallback = (count, text)
            if len(text) >= wanted.high:
                break
    return fallback or (1, None)


def cut_article(
    article: Article,
    edges: list[int],
    split: str,
    source: str,
    seed: int,
    seen: set[str],
    dropped: Counter,
) -> list[Document]:
    """Cut one article into consecutive documents, the wanted bin of each drawn by keyed hash.

    Sentences that fit into no bin are counted in `dropped`.
    """
    sentences = unique_sentences(article, seen, dropped)
    bins = length_bins(edges)
    documents: list[Document] = []
    at = 0
    while at < len(sentences):
        wanted = bins[int(keyed_unit(seed, "bin", article.title, at) * len(bins))]
        taken, text = pack_sentences(sentences[at:], wanted, edges)
        at += taken
        if text is None:
            dropped["sentence: fits into no bin"] += 1
            continue
        documents.append(
            Document(
                doc_id=f"{source}-{article.title.replace(' ', '_')}-{len(documents):04d}",
                title=article.title,
                text=text,
                n_chars=len(text),
                bin=bin_of(len(text), edges),
                split=split,
                source=source,
            )
        )
    return documents


def split_articles(titles: Iterable[str], heldout_share: float, seed: int) -> dict[str, str]:
    """Assign each article to train or held-out; at least one article goes to each."""
    ordered = keyed_order(titles, seed, key=lambda title: title)
    if len(ordered) < 2:
        raise DataError(f"{len(ordered)} article(s) cannot be split into train and held-out.")
    n_heldout = min(len(ordered) - 1, max(1, round(heldout_share * len(ordered))))
    return {
        title: ("heldout" if rank < n_heldout else "train") for rank, title in enumerate(ordered)
    }


def cap_per_bin(
    documents: Iterable[Document], limits: dict[str, int], seed: int, dropped: Counter
) -> list[Document]:
    """Keep at most `limits[split]` documents per split and bin, chosen by keyed hash.

    Raises DataError naming split and bin where none is left.
    """
    documents = list(documents)
    rank: Counter = Counter()
    kept = set()
    for document in keyed_order(documents, seed, key=lambda d: d.doc_id):
        cell = (document.split, document.bin)
        if rank[cell] < limits[document.split]:
            kept.add(document.doc_id)
        else:
            dropped["document: above the limit of its bin"] += 1
        rank[cell] += 1
    return [document for document in documents if document.doc_id in kept]


def check_bins_filled(documents: Iterable[Document], edges: list[int]) -> Counter:
    """Count documents per (split, bin); raises DataError naming the first empty cell."""
    counts = Counter((document.split, document.bin) for document in documents)
    for split in SPLITS:
        for length_bin in length_bins(edges):
            if not counts[(split, length_bin.name)]:
                raise DataError(
                    f"no {split} document of {length_bin.low} to {length_bin.high - 1} characters: "
                    f"bin {length_bin.name} is empty. Change documents.bin_edges, or give more "
                    "articles by assets.wikipedia or documents.heldout_share."
                )
    return counts
