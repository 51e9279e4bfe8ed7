"""A listwise scorer that reads one vector per passage and trains in seconds on a CPU.

A small causal decoder sees query, passages in slot order, query; the score of a passage is the
scaled cosine of the last hidden state with the hidden state of its slot. This is the idea of
PE-Rank (Liu et al., 2024), with a fixed sentence encoder in front. It stands in for the language
model of the paper where no GPU is at hand: like that one it reads a window at once and from left
to right, so that it can learn to prefer slots. And like that one it starts with a notion of
relevance: the cosine of query and passage is part of the score, with a weight that is trained.
"""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from posbias.errors import ConfigError, DataError
from posbias.files import read_json, write_json
from posbias.listwise.collection import Collection
from posbias.listwise.losses import plackett_luce_loss, ranks_of
from posbias.listwise.window_rows import checked_windows

if TYPE_CHECKING:
    from transformers import LlamaConfig

WEIGHTS, SETTINGS = "model.safetensors", "scorer.json"
CONTENT_SCALE = 10.0  # unit vectors times this: what the decoder's norms expect to see


def decoder_config(body: dict[str, Any], largest_window: int) -> "LlamaConfig":
    """Return the decoder's configuration; raises ConfigError for values that it refuses."""
    from transformers import LlamaConfig

    place = "listwise.scorer.options.body"
    if not isinstance(body, dict) or body.get("num_hidden_layers", 1) < 1:
        raise ConfigError(f"{place}: give the options of a decoder of 1 layer or more, not {body}.")
    known = LlamaConfig()
    unknown = [name for name in body if not hasattr(known, name)]
    if unknown:  # the library would keep it and build the default
        raise ConfigError(f"{place}: a Llama decoder has no option {', '.join(unknown)}.")
    try:
        # Passages, and the query before and after them.
        return LlamaConfig(
            vocab_size=2,
            bos_token_id=None,
            eos_token_id=None,
            max_position_embeddings=largest_window + 2,
            **body,
        )
    except Exception as fault:  # the library has a kind of its own for values that do not fit
        raise ConfigError(f"{place}: {fault}") from fault


class PassageEmbeddingScorer(nn.Module):
    """Query and passage vectors in, one score per slot out.

    width: of the vectors; slot_scale: size of the slot embeddings against the content (as large
    as the content the model learns nothing); scale, prior: what the learnt part and the cosine of
    the vectors weigh at the start; body: options of transformers' LlamaConfig.
    """

    def __init__(
        self,
        width: int,
        largest_window: int,
        slot_scale: float,
        scale: float,
        prior: float,
        body: dict[str, Any],
    ) -> None:
        super().__init__()
        for name, value in (("slot_scale", slot_scale), ("scale", scale), ("prior", prior)):
            if not isinstance(value, int | float) or not math.isfinite(value):
                raise ConfigError(f"listwise.scorer.options.{name} must be a number, is {value!r}.")
        if scale <= 0:
            raise ConfigError(f"listwise.scorer.options.scale must be above 0, is {scale!r}.")
        from transformers import LlamaModel

        self.largest_window = largest_window
        self.options = {
            "width": width,
            "largest_window": largest_window,
            "slot_scale": slot_scale,
            "scale": scale,
            "prior": prior,
            "body": body,
        }
        config = decoder_config(body, largest_window)
        hidden = config.hidden_size
        self.project = nn.Linear(width, hidden, bias=False)
        nn.init.orthogonal_(self.project.weight)
        self.prior = nn.Parameter(torch.tensor(float(prior)))
        self.slots = nn.Embedding(largest_window, hidden)
        nn.init.normal_(self.slots.weight, std=1.0)
        self.slot_scale = slot_scale
        self.decoder = LlamaModel(config)
        # Nothing is looked up by token, so the table of tokens would be dead weight.
        self.decoder.embed_tokens = None
        self.head = nn.Linear(hidden, hidden)
        self.log_scale = nn.Parameter(torch.tensor(math.log(scale)))

    @torch.no_grad()
    def project_on_principal(self, vectors: np.ndarray) -> None:
        """Let the projection start as the vectors' principal directions: it keeps most of them.

        vectors: (n, width). With fewer directions than the decoder is wide, the rest stay random.
        """
        _, _, directions = torch.linalg.svd(torch.from_numpy(vectors), full_matrices=False)
        directions = directions[: self.project.out_features]
        self.project.weight[: len(directions)] = directions

    def _vectors(self, table: np.ndarray | None, rows: np.ndarray, what: str) -> torch.Tensor:
        if table is None:
            raise DataError(f"the collection has no {what} vectors; embed it first.")
        return torch.from_numpy(table[rows]).to(self.log_scale.device)

    def scores(
        self, collection: Collection, queries: np.ndarray, passages: np.ndarray
    ) -> torch.Tensor:
        """Return (B, k) scores in slot order; queries (B,) and passages (B, k) are rows.

        Raises ConfigError for a window of more passages than the scorer has slots, DataError for
        rows that the collection does not have.
        """
        queries, passages = checked_windows(collection, queries, passages)
        k = passages.shape[1]
        if k > self.largest_window:
            raise ConfigError(f"a window of {k} passages: this scorer has {self.largest_window}.")
        asked = self._vectors(collection.query_vectors, queries, "query")
        offered = self._vectors(collection.passage_vectors, passages, "passage")
        query = self.project(asked)[:, None] * CONTENT_SCALE
        shown = self.project(offered) * CONTENT_SCALE + self.slots.weight[:k] * self.slot_scale
        states = self.decoder(
            inputs_embeds=torch.cat([query, shown, query], dim=1), use_cache=False
        ).last_hidden_state
        wanted = functional.normalize(self.head(states[:, -1]), dim=-1)
        found = functional.normalize(states[:, 1 : k + 1], dim=-1)
        learnt = torch.einsum("bh,bkh->bk", wanted, found) * self.log_scale.exp()
        return learnt + torch.einsum("bw,bkw->bk", asked, offered) * self.prior

    def training_scores(
        self,
        collection: Collection,
        queries: np.ndarray,
        passages: np.ndarray,
        orders: np.ndarray,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return scores (B, k) and the loss (B,) of the teacher's orders as generated answers.

        It has no token to generate, so the likelihood of an order is Plackett and Luce's: the
        probability of choosing passage after passage by these scores.
        """
        scores = self.scores(collection, queries, passages)
        return scores, plackett_luce_loss(
            scores, ranks_of(torch.as_tensor(orders, device=scores.device))
        )

    def save(self, folder: Path) -> None:
        """Write weights and options into an existing folder."""
        from safetensors.torch import save_file

        save_file(self.state_dict(), str(Path(folder) / WEIGHTS))
        write_json(Path(folder) / SETTINGS, self.options)

    @classmethod
    def load(cls, folder: Path) -> "PassageEmbeddingScorer":
        """Read a scorer that `save` wrote; raises DataError naming the folder."""
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        options = read_json(Path(folder) / SETTINGS)
        try:
            scorer = cls(**options)
            scorer.load_state_dict(load_file(str(Path(folder) / WEIGHTS)))
        except (OSError, SafetensorError, RuntimeError, TypeError, KeyError) as fault:
            raise DataError(
                f"{folder}: holds no passage-embedding scorer ({fault}); "
                "delete the folder and run the training again."
            ) from fault
        return scorer.eval()
