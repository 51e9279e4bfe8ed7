"""Made-up texts, an encoder of words, and the settings of a small listwise study."""

import zlib
from pathlib import Path

import numpy as np

from listwise_toy import BODY
from posbias.files import write_json, write_jsonl

WINDOW, DEPTH, CUTOFF, SEED = 5, 9, 3, 7
SEEDS = [1, 2]
ENCODERS = ["one", "two"]
WORDS = [
    "river",
    "mountain",
    "castle",
    "engine",
    "painter",
    "island",
    "theorem",
    "orchestra",
    "harbour",
    "glacier",
    "senator",
    "novel",
    "bridge",
    "comet",
    "parish",
    "violin",
    "desert",
    "treaty",
    "factory",
    "museum",
    "valley",
    "pirate",
    "lantern",
    "garden",
]
BM25 = {"backend": "bm25s", "k1": 0.9, "b": 0.4, "stopwords": "en", "stemmer": None}
STAGES = {
    "bm25": {"label": "BM25", "kind": "bm25", "options": BM25},
    "one": {"label": "One", "kind": "dense", "options": {"encoder": "one"}},
    "rrf": {"label": "RRF", "kind": "fusion", "options": {"of": ["bm25", "one"], "k": 60}},
}
MEMBERS = [
    {"name": "bm25", "kind": "bm25", "activation": {"name": "saturate", "half": 2.0},
     "options": BM25},
    {"name": "two", "kind": "cosine", "activation": {"name": "clip"},
     "options": {"encoder": "two"}},
]  # fmt: skip
CLOZE = {
    "swap_share": 0.5,
    "least_texts": 2,
    "options": {"per_segment": 1, "keep_share": 0.8, "min_words": 3, "max_words": 5,
                "min_word_chars": 3},
}  # fmt: skip
SCORER = {
    "kind": "passage_embedding",
    "model": None,
    "encoders": ENCODERS,
    "options": {"largest_window": WINDOW, "slot_scale": 1.0, "scale": 1.0, "prior": 2.0,
                "body": BODY},
}  # fmt: skip
TRAINING = {
    "rank_weight": 1.0, "index": "rank", "reduction": "sum", "batch_size": 8,
    "gradient_accumulation": 1, "epochs": 2, "learning_rate": 5e-3, "warmup_ratio": 0.1,
    "schedule": "linear", "weight_decay": 0.01, "max_grad_norm": 1.0, "save_every": 2,
    "log_every": 1, "threads": 1,
}  # fmt: skip
IPS = {"mode": "relative", "zero_cells": "floor", "floor": 1e-4, "smoothing": 1.0, "cap": 10.0}
KINDS = {"none": 1, "random": 2, "rotation": 5}
MODELS = {
    "first": {"label": "FIRST", "augmentation": "none", "ips": False, "lm": True,
              "calibrate": True},
    "turned": {"label": "Turned", "augmentation": "rotation", "ips": False, "lm": True,
               "calibrate": False},
    "debiased": {"label": "Debiased", "augmentation": "rotation", "ips": True, "lm": True,
                 "calibrate": False},
}  # fmt: skip
SYSTEMS = [*MODELS, "cosine"]
COLLECTIONS = {"train": "train", "wiki": "heldout", "titles": "leads"}
TESTS = ["wiki", "titles"]
EVALUATION = {"window": WINDOW, "stride": 2, "cutoff": CUTOFF, "batch_size": 16, "threads": 1}
SCALE = {"name": "toy", "note": "Made-up texts."}


class WordEncoder:
    """Adds up a random vector for each word; `name` says which."""

    def __init__(self, folder: Path) -> None:
        self.name, self.max_seq_length = folder.name, 512

    def get_embedding_dimension(self) -> int:
        return 12

    def encode(self, texts: list[str], batch_size: int, show_progress_bar: bool) -> np.ndarray:
        vectors = np.full((len(texts), 12), 0.3, dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in text.lower().replace(".", "").split()[: self.max_seq_length]:
                key = zlib.crc32(f"{self.name} {word}".encode())
                row += np.random.default_rng(key).normal(size=12)
        return vectors


def some_text(name: str) -> str:
    """Three sentences of five words."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    sentences = [" ".join(rng.permutation(WORDS)[:5]).capitalize() + "." for _ in range(3)]
    return " ".join(sentences)


def write_texts(root: Path) -> None:
    """Write documents of two splits and a file of lead sections."""
    write_jsonl(
        root / "documents.jsonl",
        (
            {"doc_id": f"{split}-{number}", "title": f"{split} {number}",
             "text": some_text(f"{split} {number}"), "split": split}
            for split, n in (("train", 24), ("heldout", 14))
            for number in range(n)
        ),
    )  # fmt: skip
    leads = {}
    for number in range(16):
        title = " ".join(WORDS[number : number + 2])
        extract = f"A {title} is this. {some_text(title)}"
        leads[str(number)] = {"title": title, "extract": extract, "description": ""}
    write_json(root / "leads.json", leads)
