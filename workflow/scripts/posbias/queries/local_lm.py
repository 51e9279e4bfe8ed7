"""An answerer that needs no network: any causal language model with a chat template.

Each answer depends on its request alone: rows are padded on the left and masked, and sampling
draws from a generator of the request's own key, so that neither the batch nor the order matters
(beyond rounding, which can part two near-equal tokens).
"""

import functools
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from posbias.errors import ConfigError
from posbias.files import sha256_file
from posbias.keyed import keyed_generator
from posbias.listwise.model_folder import read_causal_lm
from posbias.listwise.passage_text import control_pattern
from posbias.models.token_batches import padded, token_batches
from posbias.queries.chat import ChatAnswer, ChatRequest
from posbias.queries.prompts import FORMS, form_of
from posbias.queries.reply_form import FormReply, FreeReply

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


@dataclass
class _Row:
    """One request on its way: the prompt's token ids, the reply so far, and its tokens."""

    request: ChatRequest
    prompt: list[int]
    reply: FreeReply | FormReply
    taken: list[int] = field(default_factory=list)


class LocalLm:
    """Answers chat requests by a model that is held in memory.

    settings: all that shapes an answer besides its request, a JSON value.
    """

    def __init__(
        self,
        model: "PreTrainedModel",
        tokenizer: "PreTrainedTokenizerBase",
        name: str,
        seed: int,
        max_tokens: int = 4096,
        max_new_tokens: int = 256,
        batch_tokens: int = 8192,
        temperature: float = 0.0,
        top_p: float = 1.0,
        fill_form: bool = False,
        template_options: dict[str, Any] | None = None,
    ) -> None:
        """Options.

        max_tokens: of a prompt with its answer, a longer prompt fails; max_new_tokens: of an
        answer, which is cut there; batch_tokens: of a batch, padding and answers included;
        temperature: 0 takes the likeliest token; top_p: least probability mass to sample from;
        fill_form: give the reply's keys and punctuation and let the model write the values, for
        small models that lose their way in JSON; template_options: variables of the chat template,
        such as enable_thinking. Raises ConfigError for what cannot work.
        """
        for option, number in {
            "max_tokens": max_tokens,
            "max_new_tokens": max_new_tokens,
            "batch_tokens": batch_tokens,
        }.items():
            if not isinstance(number, int) or isinstance(number, bool) or number < 1:
                raise ConfigError(f"{name}: {option} must be a whole number, is {number!r}.")
        if temperature < 0 or not 0 < top_p <= 1:
            raise ConfigError(
                f"{name}: temperature must be at least 0 and top_p in (0, 1], found "
                f"{temperature} and {top_p}."
            )
        if not getattr(tokenizer, "chat_template", None):
            raise ConfigError(
                f"{name}: the tokenizer has no chat template; use an instruction-tuned model."
            )
        positions = getattr(model.config, "max_position_embeddings", None)
        if positions is not None and max_tokens > positions:
            raise ConfigError(
                f"{name}: max_tokens is {max_tokens}, but the model has {positions} positions."
            )
        self.model, self.tokenizer, self.name, self.seed = model, tokenizer, name, seed
        self.max_tokens, self.max_new_tokens = max_tokens, max_new_tokens
        self.batch_tokens, self.temperature, self.top_p = batch_tokens, temperature, top_p
        self.fill_form, self.template_options = fill_form, template_options or {}
        self.settings = {
            "model": name,
            "weights": str(model.dtype),
            "seed": seed,
            "max_tokens": max_tokens,
            "max_new_tokens": max_new_tokens,
            "temperature": float(temperature),
            "top_p": float(top_p),
            "form": FORMS if fill_form else None,
            "template_options": self.template_options,
        }
        self.stops = stop_tokens(model, tokenizer)
        added = tokenizer.added_tokens_decoder.values()
        # An added word of letters and digits only is vocabulary of a subject, not a mark.
        marks = [str(token) for token in added if token.special or not str(token).isalnum()]
        self._control = control_pattern(marks)
        first = tokenizer("").input_ids[:1]
        self._begin = first if first == [tokenizer.bos_token_id] else []
        self._accepted = inspect.signature(model.forward).parameters.keys()

    @classmethod
    def load(cls, folder: Path, name: str, seed: int, **options: Any) -> "LocalLm":
        """Load a model from a local folder: float32 on a CPU, bfloat16 on a GPU if there is one.

        Raises DataError if the folder holds no whole model.
        """
        import torch

        on_gpu = torch.cuda.is_available()
        model, tokenizer = read_causal_lm(folder, torch.bfloat16 if on_gpu else torch.float32)
        local = cls(model.to("cuda" if on_gpu else "cpu"), tokenizer, name, seed, **options)
        local.settings["files"] = {
            path.name: sha256_file(path)
            for path in sorted(Path(folder).iterdir())
            if path.is_file()
        }
        return local

    def answers(self, requests: Sequence[ChatRequest]) -> Iterator[ChatAnswer]:
        """Yield one answer a request, batch by batch, requests of like length together.

        A prompt without room for its answer within max_tokens gets an answer of finish "error".
        """
        rows = []
        for request in requests:
            row = self._row(request)
            if len(row.prompt) + self.max_new_tokens > self.max_tokens:
                fault = f"too long: {len(row.prompt)} tokens leave no room within max_tokens"
                yield ChatAnswer(
                    request.key, None, None, "error", len(row.prompt), 0, 0, self.name, fault
                )
            else:
                rows.append(row)
        lengths = [len(row.prompt) + self.max_new_tokens for row in rows]
        for numbers in token_batches(lengths, self.batch_tokens):
            batch = [rows[number] for number in numbers]
            self._complete(batch)
            yield from map(self._answer, batch)

    def _row(self, request: ChatRequest) -> _Row:
        rng = keyed_generator(self.seed, "local_lm", request.key)
        choose = functools.partial(self._choose, rng=rng)
        if self.fill_form:
            form = form_of(request.key)
            reply = FormReply(self.tokenizer, choose, self.stops, form)
        else:
            reply = FreeReply(self.tokenizer, choose, self.stops)
        text = self.tokenizer.apply_chat_template(
            [{"role": "user", "content": self._harmless(request.prompt)}],
            tokenize=False,
            add_generation_prompt=True,
            **self.template_options,
        )
        text += reply.opening
        ids = self.tokenizer(text, add_special_tokens=False, verbose=False).input_ids
        return _Row(request, ids if ids[:1] == self._begin else self._begin + ids, reply)

    def _harmless(self, text: str) -> str:
        """Return a text in which no control token of the tokenizer is left to end its turn."""
        while self._control is not None and self._control.search(text):
            text = self._control.sub(lambda token: token[0][1:], text)
        return text

    def _complete(self, batch: Sequence[_Row]) -> None:
        """Let the rows' replies take their tokens until each has ended or is cut."""
        import torch
        from transformers import DynamicCache

        ids, mask = padded([row.prompt for row in batch], "left")
        alive, cache = list(batch), DynamicCache(config=self.model.config)
        with torch.inference_mode():
            for _ in range(self.max_new_tokens):
                logits = self._step(ids, mask, cache)
                for row, row_logits in zip(alive, logits, strict=True):
                    row.taken.append(row.reply.take(row_logits))
                going = [n for n, row in enumerate(alive) if not row.reply.ended]
                if not going:
                    return
                if len(going) < len(alive):
                    alive, mask = [alive[n] for n in going], mask[going]
                    cache.batch_select_indices(torch.tensor(going, device=self.model.device))
                ids = torch.tensor([[row.taken[-1]] for row in alive])
                mask = torch.cat([mask, mask.new_ones(len(alive), 1)], dim=1)

    def _step(self, ids: "torch.Tensor", mask: "torch.Tensor", cache: Any) -> np.ndarray:
        """Return the logits (rows, vocabulary) of the next token, float32."""
        inputs = {"input_ids": ids, "attention_mask": mask}
        if "position_ids" in self._accepted:
            places = (mask.cumsum(dim=1) - 1).clamp(min=0)
            inputs["position_ids"] = places[:, -ids.shape[1] :]
        inputs = {name: value.to(self.model.device) for name, value in inputs.items()}
        if "logits_to_keep" in self._accepted:  # the others would take most of the memory
            inputs["logits_to_keep"] = 1
        # Newer releases of the library have another name for it.
        inputs["cache" if "cache" in self._accepted else "past_key_values"] = cache
        return self.model(**inputs, use_cache=True).logits[:, -1].float().cpu().numpy()

    def _choose(self, logits: np.ndarray, rng: np.random.Generator) -> int:
        if self.temperature == 0:
            return int(logits.argmax())
        return sampled(logits, self.temperature, self.top_p, rng.random())

    def _answer(self, row: _Row) -> ChatAnswer:
        return ChatAnswer(
            key=row.request.key,
            text=row.reply.text(),
            refusal=None,
            finish="stop" if row.reply.ended else "length",
            input_tokens=len(row.prompt),
            cached_tokens=0,
            output_tokens=len(row.taken),
            model=self.name,
            error=None,
        )


def sampled(logits: np.ndarray, temperature: float, top_p: float, unit: float) -> int:
    """Return the token that a number in [0, 1) falls on.

    logits: (vocabulary,). Tokens are laid out by falling probability, equal ones by number, and
    cut where top_p is reached.
    """
    scaled = logits.astype(np.float64) / temperature
    order = np.argsort(-scaled, kind="stable")
    mass = np.exp(scaled[order] - scaled[order[0]]).cumsum()
    kept = mass[: np.searchsorted(mass, top_p * mass[-1]) + 1]  # up to where top_p is reached
    return int(order[min(np.searchsorted(kept, unit * kept[-1], "right"), len(kept) - 1)])


def stop_tokens(model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase") -> frozenset[int]:
    """Return the tokens that end an answer, by the model's and by the tokenizer's word."""
    settings = getattr(model, "generation_config", None) or model.config
    ends = settings.eos_token_id
    ends = ends if isinstance(ends, list) else [ends]
    return frozenset({*ends, tokenizer.eos_token_id} - {None})
