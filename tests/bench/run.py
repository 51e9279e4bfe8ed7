"""Speed as ratios measured in one run: what the package does, against the plain way.

Each pair does the same work on the same data, alternating, best of several turns; absolute
seconds depend on the machine, ratios much less. Run with `make bench`.
"""

import json
import logging
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import yaml

import build_corpus
from posbias.assets import find_asset
from posbias.corpus.bins import bin_of
from posbias.corpus.segments import segments_of
from posbias.files import read_jsonl, write_jsonl
from posbias.listwise.aggregation import kemeny, preference_counts
from posbias.listwise.collection import Collection
from posbias.listwise.linear_ordering import least_cost_order
from posbias.listwise.reranking import window_score
from posbias.listwise.scorers import build_scorer
from posbias.measures.intervals import resampled_means
from posbias.models.encoder import set_threads
from posbias.models.retriever import build_retriever
from posbias.retrieval.ranking import top_k
from posbias.training.contrastive import contrastive_loss, make_trainer

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
WORDS = ["the", "of", "and", "alchemy", "algae", "anarchism", "autism", "abacus", "apollo"]


def text(rng: np.random.Generator, n_words: int) -> str:
    """Return some words."""
    return " ".join(rng.choice(WORDS, n_words))


def ratio(ours: Callable[[], object], plain: Callable[[], object], turns: int = 3) -> dict:
    """Time both in turns and return the best seconds of each and plain / ours."""
    times: dict[str, list[float]] = {"ours": [], "plain": []}
    for _ in range(turns):
        for name, work in (("ours", ours), ("plain", plain)):
            begin = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - begin)
    best = {name: min(values) for name, values in times.items()}
    return {**{k: round(v, 4) for k, v in best.items()}, "ratio": best["plain"] / best["ours"]}


def bootstrap() -> dict:
    """10,000 resamples of a mean over 20,000 queries: by counts of values, or row by row."""
    rng = np.random.default_rng(0)
    values = rng.choice([0.0, *(1 / np.log2(np.arange(2, 12)))], 20_000)

    def rows() -> np.ndarray:
        # A tenth of the resamples, and the time is for these: multiplied below.
        return np.array([rng.choice(values, len(values)).mean() for _ in range(1000)])

    found = ratio(lambda: resampled_means(values, 10_000, rng), rows, turns=2)
    return {"ours": found["ours"], "plain": 10 * found["plain"], "ratio": 10 * found["ratio"]}


def bins() -> dict:
    """A training epoch with batches from one length bin, or from all bins mixed."""
    rng = np.random.default_rng(0)
    encoder = find_asset(**CONFIG["assets"]["minilm_l6"]).parent
    entry = CONFIG["retrievers"]["known"]["bert"]
    std = CONFIG["retrievers"]["token_vectors_std"]
    options = {**CONFIG["training"], "epochs": 1, "save_every": 10_000}
    pairs = [
        {"bin": name, "query": f"query {i} {name}", "text": f"{i} {text(rng, words)}"}
        for name, words in (("a", 20), ("b", 40), ("c", 80), ("d", 160))
        for i in range(96)
    ]
    mixed = [{**pair, "bin": "all"} for pair in pairs]

    def train(data: list[dict]) -> None:
        with TemporaryDirectory() as folder:
            model = build_retriever(entry, encoder, std, 192, seed=1)
            make_trainer(model, data, options, 1e-3, 1, Path(folder), "bench").train()

    return ratio(lambda: train(pairs), lambda: train(mixed), turns=2)


def losses() -> dict:
    """One step of 64 pairs with the plain loss, or with cached gradients in parts of 16."""
    import torch

    rng = np.random.default_rng(0)
    encoder = find_asset(**CONFIG["assets"]["minilm_l6"]).parent
    known = CONFIG["retrievers"]
    model = build_retriever(known["known"]["bert"], encoder, known["token_vectors_std"], 192, 1)
    features = [model.preprocess([text(rng, n) for _ in range(64)]) for n in (8, 60)]

    def step(name: str) -> None:
        options = {**CONFIG["training"], "loss": name, "mini_batch_size": 16}
        copies = [dict(feature) for feature in features]
        contrastive_loss(model, options)(copies, torch.zeros(64)).backward()

    return ratio(lambda: step("plain"), lambda: step("cached"))


def exact_search() -> dict:
    """Top 100 of 20,000 vectors for 200 queries: partition, or a full sort."""
    rng = np.random.default_rng(0)
    documents = rng.standard_normal((20_000, 64)).astype(np.float32)
    queries = rng.standard_normal((200, 64)).astype(np.float32)
    scores = queries @ documents.T
    order = np.arange(scores.shape[1])

    def sort() -> list[np.ndarray]:
        return [np.lexsort((order, -row))[:100] for row in scores]

    right = np.array_equal(top_k(scores, 100)[0], np.array(sort()))
    found = ratio(lambda: top_k(scores, 100), sort)
    return {**found, "same_result": bool(right)}


def windows() -> dict:
    """300 windows of 20 passages by the passage-embedding scorer: together, or one by one."""
    import torch

    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((500, 64)).astype(np.float32)
    collection = Collection(["q"], ["q"], [str(i) for i in range(500)], [""] * 500,
                            vectors[:1], vectors)  # fmt: skip
    options = CONFIG["listwise"]["scorer"]["options"]
    torch.manual_seed(0)
    scorer = build_scorer("passage_embedding", collection, options, seed=0).eval()
    asked = np.zeros(300, dtype=np.int64)
    shown = np.stack([rng.permutation(500)[:20] for _ in range(300)])
    together = window_score(scorer, collection, CONFIG["listwise"]["batch_size"])
    single = window_score(scorer, collection, 1)
    return ratio(lambda: together(asked, shown), lambda: single(asked, shown))


def kemeny_orders() -> dict:
    """Exact Kemeny of 20 noisy orders of 20 items: circles only, or one whole integer program."""
    rng = np.random.default_rng(0)
    cases = [np.argsort(np.arange(20) + rng.normal(0, 6, (20, 20)), axis=1) for _ in range(20)]

    def whole() -> list[np.ndarray]:
        return [least_cost_order(preference_counts(orders).T, 60) for orders in cases]

    return ratio(lambda: [kemeny(orders) for orders in cases], whole, turns=2)


def made_up_articles(path: Path, megabytes: float) -> None:
    """Write Parquet of the columns of Wikipedia's, of log-normal lengths, with multi-byte text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    words = [*WORDS, "naïve", "Zürich", "—", "北京", "🙂"]
    source = " ".join(rng.choice(words, 300_000, p=[*[0.105] * 9, *[0.011] * 5]))
    texts: list[str] = []
    n_bytes = 0
    while n_bytes < 1e6 * megabytes:
        n_chars = min(int(rng.lognormal(7.5, 1.1)), len(source) // 2)
        at = int(rng.integers(len(source) - n_chars))
        texts.append(source[at : at + n_chars])
        n_bytes += len(texts[-1].encode())
    ids = [str(n) for n in range(len(texts))]
    table = pa.table({"id": ids, "url": ids, "title": ids, "text": texts})
    pq.write_table(table, path, compression="zstd", row_group_size=1000)


def whole_articles() -> dict:
    """Articles of 50 MB of text in Parquet to documents and segments: in batches, or row by row."""
    from datasets import Dataset, disable_progress_bars

    disable_progress_bars()
    logging.getLogger("corpus").setLevel(logging.WARNING)
    edges, megabytes = [256, 512, 1024, 2048, 4096, 8192], 50
    limits = {"train": 10**6, "heldout": 10**6}
    options = {"cut": "whole", "source": "w", "min_paragraph_chars": 1, "bin_edges": edges,
               "heldout_share": 0, "max_per_bin": limits}  # fmt: skip
    with TemporaryDirectory() as name:
        folder = Path(name)
        made_up_articles(folder / "articles.parquet", megabytes)
        entry = {"kind": "table", "files": ["articles.parquet"],
                 "columns": {"id": "id", "title": "title", "text": "text"}}  # fmt: skip

        def batches() -> None:
            outputs = [folder / f"ours_{n}" for n in ("documents", "segments", "summary")]
            build_corpus.main(*outputs, [folder], entry, None, options, seed=1)

        def document(row: dict) -> dict:
            n_chars = len(row["text"])
            return {"doc_id": f"w-{row['id']}", "title": row["title"], "text": row["text"],
                    "n_chars": n_chars, "bin": bin_of(n_chars, edges), "split": "train",
                    "source": "w"}  # fmt: skip

        def row_by_row() -> None:
            with TemporaryDirectory() as cache:  # the first reading is what is timed
                articles = Dataset.from_parquet(str(folder / "articles.parquet"), cache_dir=cache)
                made = articles.map(document, remove_columns=["id", "url"])
                made = made.filter(lambda row: row["bin"] is not None)
                write_jsonl(folder / "plain_documents", made)
                write_jsonl(
                    folder / "plain_segments",
                    (s._asdict() for row in made for s in segments_of(row["doc_id"], row["text"])),
                )

        found = ratio(batches, row_by_row, turns=2)
        same = all(
            read_jsonl(folder / f"ours_{n}") == read_jsonl(folder / f"plain_{n}")
            for n in ("documents", "segments")
        )
    speed = round(megabytes / found["ours"], 1)
    return {**found, "megabytes_per_second": speed, "same_result": same}


def main() -> None:
    set_threads(1)
    for work in (
        bootstrap, exact_search, losses, bins, windows, kemeny_orders, whole_articles,
    ):  # fmt: skip
        result = {"benchmark": work.__name__, "what": work.__doc__.strip(), **work()}
        result["ratio"] = round(result["ratio"], 2)
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
