"""A retriever: a body, its pooling, and the prefix that its queries carry (paper, Table 2)."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from posbias.errors import ConfigError, DataError
from posbias.models.bodies import body_config, build_body, check_length, load_tokenizer
from posbias.models.encoder import load_encoder, quiet_libraries

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

# The paper's names of poolings, and sentence-transformers' own.
POOLINGS = {"cls": "cls", "mean": "mean", "max": "max", "last": "lasttoken"}


def build_retriever(
    entry: dict, encoder: Path, token_vectors_std: float, max_tokens: int, seed: int
) -> "SentenceTransformer":
    """Build an untrained retriever from its registry entry.

    entry: family, pooling, positions, query_prefix and body of the config; encoder: the folder
    whose tokenizer and token vectors it takes; token_vectors_std: their standard deviation;
    max_tokens: where inputs are cut, in tokens. Raises ConfigError naming what is wrong.
    """
    quiet_libraries()
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    pooling = entry["pooling"]
    if pooling not in POOLINGS:
        raise ConfigError(
            f"retrievers: pooling {pooling!r} does not exist; known: {', '.join(POOLINGS)}."
        )
    tokenizer = load_tokenizer(encoder)
    config = body_config(entry["family"], entry["body"], entry["positions"], tokenizer)
    check_length(config, max_tokens)
    body = build_body(config, Path(encoder) / "model.safetensors", token_vectors_std, seed)
    with TemporaryDirectory() as folder:
        body.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        transformer = Transformer(folder, max_seq_length=max_tokens)
    # Training the token vectors would cost more than all the rest of a step at the mini scale,
    # and rare words of a small corpus would keep the vectors they start with anyway.
    transformer.model.get_input_embeddings().weight.requires_grad_(False)
    width = transformer.get_embedding_dimension()
    return SentenceTransformer(
        modules=[transformer, Pooling(width, POOLINGS[pooling]), Normalize()],
        prompts={"query": entry["query_prefix"], "document": ""},
        device="cpu",
    )


class Retriever:
    """A trained retriever that turns queries and documents into vectors."""

    def __init__(self, encoder: "SentenceTransformer", batch_size: int = 64) -> None:
        self.encoder, self.batch_size = encoder, batch_size

    def _encode(self, texts: list[str], prompt: str) -> np.ndarray:
        return self.encoder.encode(
            texts,
            prompt=prompt or None,
            batch_size=self.batch_size,
            show_progress_bar=False,
            convert_to_numpy=True,
        )

    def encode_queries(self, texts: list[str]) -> np.ndarray:
        """Return (n, width) float32 vectors of queries, the prefix put before each."""
        return self._encode(texts, self.encoder.prompts.get("query", ""))

    def encode_documents(self, texts: list[str]) -> np.ndarray:
        """Return (n, width) float32 vectors of documents."""
        return self._encode(texts, self.encoder.prompts.get("document", ""))

    def truncated(self, texts: list[str], ends: list[int]) -> np.ndarray:
        """Say per text whether the evidence that ends before code point `ends[i]` is cut off.

        A text is cut where its tokens exceed the retriever's maximum.
        """
        tokenizer, limit = self.encoder.tokenizer, self.encoder.max_seq_length
        encoded = tokenizer(
            texts, truncation=True, max_length=limit, return_offsets_mapping=True, verbose=False
        )
        reached = [max(end for _, end in offsets) for offsets in encoded["offset_mapping"]]
        return np.asarray(reached) < np.asarray(ends)


def load_retriever(path: Path, batch_size: int = 64) -> Retriever:
    """Load a retriever from a folder; raises DataError if it holds none that loads."""
    path = Path(path)
    encoder = load_encoder(path)
    if "query" not in encoder.prompts:
        raise DataError(f"{path}: the checkpoint names no query prefix; train it again.")
    return Retriever(encoder, batch_size)
