"""A panel member that reads query and segment together: a cross-encoder (appendix B).

`score` returns raw logits. The library would put a sigmoid on them by default, and some models
name another activation in their files: both are switched off, so that the activation of the
config is the only one.
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from posbias.errors import ConfigError, DataError, PosbiasError
from posbias.files import read_json
from posbias.logs import Heartbeat
from posbias.models.bodies import usable_positions
from posbias.models.encoder import quiet_libraries
from posbias.models.own_code import loadable_folder
from posbias.models.token_batches import padded, token_batches
from posbias.models.wholeness import REMEDY, check_numbers, check_vocabulary, check_weights
from posbias.queries.panel import PanelScores

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

log = logging.getLogger(__name__)

DTYPES = ("float32", "float16", "bfloat16")
LOADED_AS = "AutoModelForSequenceClassification"
TASK = "ForSequenceClassification"


class CrossEncoderMember:
    """Scores pairs with sentence-transformers' CrossEncoder, in batches of like length.

    max_tokens: of query and segment with the model's special tokens, longer pairs are cut;
    batch_tokens: tokens at a time, padding included; dtype: of the weights on a GPU, a CPU always
    computes in float32; code: folder of the model's own code if it lies in another repository.
    """

    def __init__(
        self,
        name: str,
        segments: Sequence[tuple[str, ...]],
        model: Path,
        max_tokens: int,
        batch_tokens: int,
        dtype: str = "float32",
        trust_remote_code: bool = False,
        code: Path | None = None,
    ) -> None:
        self.name, self.segments = name, segments
        self.max_tokens, self.batch_tokens = max_tokens, batch_tokens
        self.place = f"verification.panel.{name}"
        for option, tokens in (("max_tokens", max_tokens), ("batch_tokens", batch_tokens)):
            if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 1:
                raise ConfigError(
                    f"{self.place}: {option} must be a whole number of tokens, is {tokens!r}."
                )
        if not isinstance(trust_remote_code, bool):
            raise ConfigError(
                f"{self.place}: trust_remote_code must be true or false, is {trust_remote_code!r}."
            )
        self.model = load_cross_encoder(model, dtype, trust_remote_code, code, self.place)
        positions = usable_positions(self.model.config)
        if positions is not None and max_tokens > positions:
            raise ConfigError(
                f"{self.place}: max_tokens is {max_tokens}, but {model} has {positions} "
                f"positions; set max_tokens to {positions} or less."
            )
        special = self.model.tokenizer.num_special_tokens_to_add(pair=True)
        if max_tokens < special + 2:
            raise ConfigError(
                f"{self.place}: max_tokens is {max_tokens}, which leaves no room for a query and "
                f"a segment beside {special} special tokens; raise it."
            )

    def score(self, queries: Sequence[str], documents: np.ndarray) -> PanelScores:
        """Return logits (n, 3), float32, and how many tokens of each pair were cut."""
        ids, types, cut = self._tokens(queries, documents)
        logits = self._logits(ids, types)
        shape = (len(queries), len(self.segments[0]))
        return PanelScores(logits.reshape(shape), cut.reshape(shape))

    def _tokens(
        self, queries: Sequence[str], documents: np.ndarray
    ) -> tuple[list[list[int]], list[list[int]], np.ndarray]:
        """Return token ids, token types and tokens cut of each pair, query by query.

        A text is in several pairs, so texts are tokenized alone and then joined.
        """
        tokenizer = self.model.tokenizer.backend_tokenizer
        tokenizer.no_padding()
        tokenizer.no_truncation()
        used, rows = np.unique(documents, return_inverse=True)
        parts = len(self.segments[0])
        texts = [text for index in used for text in self.segments[index]]
        asked = tokenizer.encode_batch(list(queries), add_special_tokens=False)
        offered = tokenizer.encode_batch(texts, add_special_tokens=False)
        pairs = [
            (query, offered[parts * row + part])
            for query, row in zip(asked, rows, strict=True)
            for part in range(parts)
        ]
        special = tokenizer.num_special_tokens_to_add(True)
        lengths = [len(query.ids) + len(segment.ids) + special for query, segment in pairs]
        cut = np.maximum(np.array(lengths, dtype=int) - self.max_tokens, 0)
        tokenizer.enable_truncation(
            self.max_tokens,
            strategy="longest_first",
            direction=self.model.tokenizer.truncation_side,
        )
        ids, types = [], []
        for query, segment in pairs:
            pair = tokenizer.post_process(query, segment)
            ids.append(pair.ids)
            types.append(pair.type_ids)
        return ids, types, cut

    def _logits(self, ids: list[list[int]], types: list[list[int]]) -> np.ndarray:
        """Return one logit per pair, (pairs,) float32."""
        import torch

        tokenizer = self.model.tokenizer
        typed = "token_type_ids" in tokenizer.model_input_names
        logits = np.empty(len(ids), dtype=np.float32)
        heartbeat, done = Heartbeat(f"{self.name}, pairs", len(ids)), 0
        for rows in token_batches([len(row) for row in ids], self.batch_tokens):
            tokens, mask = padded([ids[row] for row in rows], "right", tokenizer.pad_token_id or 0)
            features = {"input_ids": tokens, "attention_mask": mask}
            if typed:
                filler = tokenizer.pad_token_type_id
                features["token_type_ids"], _ = padded([types[r] for r in rows], "right", filler)
            features = {key: value.to(self.model.device) for key, value in features.items()}
            with torch.inference_mode():
                # numpy knows no bfloat16.
                scores = self.model(features)["scores"].float().cpu().numpy()
            logits[rows] = scores[:, 0]
            done += len(rows)
            heartbeat.beat(done)
        return logits


def load_cross_encoder(
    folder: Path, dtype: str, trust_remote_code: bool, code: Path | None, place: str
) -> "CrossEncoder":
    """Load a cross-encoder with one label from a local folder, no activation on its logits.

    place: where it stands in the config. Raises ConfigError for a folder that holds another kind
    of model, for own code that may not run and for an unknown dtype; DataError for a folder that
    cannot be loaded.
    """
    if dtype not in DTYPES:
        raise ConfigError(f"{place}: dtype {dtype!r} does not exist; known: {', '.join(DTYPES)}.")
    folder = Path(folder)
    architecture = (read_json(folder / "config.json").get("architectures") or ["none"])[0]
    if not architecture.endswith(TASK):
        # The library would put a head with random weights on any body.
        raise ConfigError(f"{place}: {folder} is no cross-encoder but a {architecture}.")
    quiet_libraries()
    import torch
    from sentence_transformers import CrossEncoder
    from transformers import AutoModelForSequenceClassification

    if not torch.cuda.is_available() and dtype != "float32":
        log.info("%s: no GPU, so it computes in float32 instead of %s", place, dtype)
        dtype = "float32"
    loading = {"local_files_only": True, "trust_remote_code": trust_remote_code}
    with loadable_folder(folder, LOADED_AS, trust_remote_code, code, place) as source:
        try:
            check_vocabulary(folder)
            check_weights(source, AutoModelForSequenceClassification, folder, **loading)
            model = CrossEncoder(
                str(source),
                device=None if torch.cuda.is_available() else "cpu",
                activation_fn=torch.nn.Identity(),
                # Not the checkpoint's own, which the library takes without being asked.
                model_kwargs={"dtype": getattr(torch, dtype)},
                **loading,
            )
        except PosbiasError:
            raise
        except Exception as fault:  # the libraries below raise many kinds for a damaged folder
            raise DataError(
                f"{folder}: cannot be loaded ({type(fault).__name__}: {fault}); {REMEDY}."
            ) from fault
    check_numbers(model, folder)
    if model.num_labels != 1:
        raise ConfigError(
            f"{place}: {folder} gives {model.num_labels} numbers per pair, not one score; "
            "name a model with one label."
        )
    return model.eval()
