"""A retriever: a body, its pooling, and the prefix that its queries carry (paper, Table 2)."""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from posbias.errors import ConfigError, DataError
from posbias.files import read_json
from posbias.measures.truncation import readable_range
from posbias.models.bodies import body_config, build_body, check_length, load_tokenizer
from posbias.models.checkpoints import SETTINGS_FILE
from posbias.models.encoder import load_encoder, quiet_libraries
from posbias.models.pretrained import pretrained_tokenizer, pretrained_transformer
from posbias.models.tokenizers import check_room

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Transformer
    from transformers import PreTrainedTokenizerBase

# The paper's names of poolings, and sentence-transformers' own.
POOLINGS = {"cls": "cls", "mean": "mean", "max": "max", "last": "lasttoken"}
AUTOCASTS = ("none", "bf16")
# Keys of a registry entry that say how a checkpoint is read, and their values that say nothing.
OF_CHECKPOINTS = ("tokenizer", "global_attention", "attention")


def build_retriever(
    entry: dict,
    encoder: Path | None,
    token_vectors_std: float,
    max_tokens: int,
    seed: int,
    checkpoint: Path | None = None,
) -> "SentenceTransformer":
    """Build a retriever, not yet trained for retrieval, from its registry entry.

    entry: pooling, positions and query_prefix, with either family and body, for weights from
    scratch, or checkpoint; encoder: the folder whose tokenizer and token vectors weights from
    scratch take; token_vectors_std: their standard deviation; max_tokens: where inputs are cut,
    in tokens, unless the entry says so; checkpoint: the folder of trained weights. Raises
    ConfigError naming what is wrong, DataError for a damaged checkpoint.
    """
    quiet_libraries()
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling

    pooling = entry["pooling"]
    if pooling not in POOLINGS:
        raise ConfigError(f"pooling {pooling!r} does not exist; known: {', '.join(POOLINGS)}.")
    limit = longest_input(entry, max_tokens)
    if starts_from_checkpoint(entry, encoder, checkpoint):
        transformer = pretrained_transformer(entry, checkpoint, limit, seed)
    else:
        transformer = _from_scratch(entry, encoder, token_vectors_std, limit, seed)
    # From scratch: training the token vectors would cost more than all the rest of a step at the
    # mini scale, and rare words of a small corpus would keep the vectors they start with anyway.
    if entry.get("freeze_token_vectors", "checkpoint" not in entry):
        transformer.model.get_input_embeddings().weight.requires_grad_(False)
    width = transformer.get_embedding_dimension()
    return SentenceTransformer(
        modules=[transformer, Pooling(width, POOLINGS[pooling]), Normalize()],
        prompts={"query": entry["query_prefix"], "document": ""},
        device="cpu",
    )


def retriever_tokenizer(
    entry: dict, encoder: Path | None, max_tokens: int, checkpoint: Path | None = None
) -> "PreTrainedTokenizerBase":
    """Return the tokenizer that `build_retriever` gives a retriever, without any weights."""
    limit = longest_input(entry, max_tokens)
    if starts_from_checkpoint(entry, encoder, checkpoint):
        return pretrained_tokenizer(entry, checkpoint, limit)
    tokenizer = load_tokenizer(encoder)
    check_length(body_config(entry["family"], entry["body"], entry["positions"], tokenizer), limit)
    check_room(tokenizer, limit)
    tokenizer.model_max_length = limit
    return tokenizer


def longest_input(entry: Mapping[str, Any], max_tokens: int) -> int:
    """Return where a retriever's inputs are cut: its own max_tokens, or else the training's."""
    own = entry.get("max_tokens")
    return max_tokens if own is None else own


def starts_from_checkpoint(
    entry: Mapping[str, Any], encoder: Path | None, checkpoint: Path | None
) -> bool:
    """Say whether an entry names a checkpoint; raises ConfigError if its parts do not fit."""
    if "checkpoint" in entry:
        if checkpoint is None:
            raise ConfigError(
                f"checkpoint {entry['checkpoint']!r} is named, but its folder is not "
                "given; set checkpoint_folder."
            )
        if "family" in entry or "body" in entry:
            raise ConfigError(
                "an entry names either a checkpoint, or family and body; delete one of them."
            )
        return True
    if encoder is None:
        raise ConfigError(
            f"a {entry['family']} from scratch needs the folder of an encoder for "
            "its tokenizer and token vectors; set encoder."
        )
    surplus = [name for name in OF_CHECKPOINTS if entry.get(name) is not None]
    if surplus:
        raise ConfigError(f"{', '.join(surplus)} can only be set for an entry with a checkpoint.")
    return False


def _from_scratch(
    entry: dict, encoder: Path, token_vectors_std: float, max_tokens: int, seed: int
) -> "Transformer":
    from sentence_transformers.sentence_transformer.modules import Transformer

    tokenizer = load_tokenizer(encoder)
    config = body_config(entry["family"], entry["body"], entry["positions"], tokenizer)
    check_length(config, max_tokens)
    check_room(tokenizer, max_tokens)
    body = build_body(config, Path(encoder) / "model.safetensors", token_vectors_std, seed)
    with TemporaryDirectory() as folder:
        body.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        # The tokenizer's files say so, and must not by a variable of the environment.
        local = {"local_files_only": True}
        trusted = {"trust_remote_code": False}
        return Transformer(
            folder,
            max_seq_length=max_tokens,
            model_kwargs=dict(trusted),
            config_kwargs=dict(trusted),
            processor_kwargs={**trusted, **local},
        )


def bf16_wanted(autocast: str) -> bool:
    """Say whether products are to be computed in bfloat16: asked for, and on a GPU.

    On a CPU it would be slower by far, so that there the setting has no effect. Raises
    ConfigError for an unknown setting.
    """
    import torch

    if autocast not in AUTOCASTS:
        raise ConfigError(f"autocast {autocast!r} does not exist; known: {', '.join(AUTOCASTS)}.")
    return autocast == "bf16" and torch.cuda.is_available()


class Retriever:
    """A trained retriever that turns queries and documents into vectors."""

    def __init__(
        self, encoder: "SentenceTransformer", batch_size: int = 64, autocast: str = "none"
    ) -> None:
        """encoder: on its device; batch_size: texts at a time; autocast: none, or bf16 on a GPU."""
        self.encoder, self.batch_size = encoder, batch_size
        self.bf16 = bf16_wanted(autocast)

    def _encode(self, texts: list[str], prompt: str) -> np.ndarray:
        import torch

        half = torch.autocast("cuda", torch.bfloat16) if self.bf16 else contextlib.nullcontext()
        with half:
            vectors = self.encoder.encode(
                texts,
                prompt=prompt or None,
                batch_size=self.batch_size,
                show_progress_bar=False,
                convert_to_numpy=True,
            )
        return vectors.astype(np.float32, copy=False)

    def encode_queries(self, texts: list[str]) -> np.ndarray:
        """Return (n, width) float32 vectors of queries, the prefix put before each."""
        return self._encode(texts, self.encoder.prompts.get("query", ""))

    def encode_documents(self, texts: list[str]) -> np.ndarray:
        """Return (n, width) float32 vectors of documents."""
        return self._encode(texts, self.encoder.prompts.get("document", ""))

    def truncated(self, texts: list[str], ends: list[int]) -> np.ndarray:
        """Say per text whether the evidence that ends before code point `ends[i]` is cut off.

        A text is cut where its tokens exceed the retriever's maximum. Evidence counts as cut off
        if its last word is. Raises DataError for a tokenizer that does not tell where its tokens
        stand in the text.
        """
        ranges = readable_range(self.encoder.tokenizer, texts, self.encoder.max_seq_length)
        return np.asarray(
            [
                0 < end <= first or bool(text[last:end].strip())
                for text, (first, last), end in zip(texts, ranges, ends, strict=True)
            ],
            dtype=bool,
        )


def load_retriever(path: Path, batch_size: int = 64, autocast: str = "none") -> Retriever:
    """Load a retriever from a folder; raises DataError if it holds none that loads.

    Attention is computed as in its training, which its settings tell.
    """
    path = Path(path)
    settings = read_json(path / SETTINGS_FILE) if (path / SETTINGS_FILE).is_file() else {}
    encoder = load_encoder(path, attention=settings.get("entry", {}).get("attention"))
    if "query" not in encoder.prompts:
        raise DataError(f"{path}: the checkpoint names no query prefix; train it again.")
    return Retriever(encoder, batch_size, autocast)
