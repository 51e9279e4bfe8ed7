"""A causal language model as a listwise scorer: one forward pass, the letters' logits (FIRST).

The prompt is followed by the opening bracket of an answer, and the passages' scores are the logits
of their letters as the next token. They come from the whole vocabulary: interfaces that return
some best tokens only lose letters, which then keep the order of the input.
"""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from posbias.errors import ConfigError, DataError
from posbias.listwise.collection import Collection
from posbias.listwise.letters import answer_ids, find_letters
from posbias.listwise.model_folder import read_causal_lm
from posbias.listwise.prompt import LETTERS, ChatPrompt, check_window, fitted_prompt, prompt_hash
from posbias.listwise.window_rows import checked_orders, checked_windows
from posbias.models.token_batches import padded, token_batches

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

PADDINGS = ("left", "right")
DTYPES = ("float32", "bfloat16")


@dataclass(frozen=True)
class Row:
    """One sequence for the model: a prompt, then the answer's tokens that it may see."""

    prompt: list[int]
    answer: list[int]
    first_wanted: int  # place in the sequence from which on logits are wanted, to its end

    def __len__(self) -> int:
        return len(self.prompt) + len(self.answer)


class CausalLmScorer(torch.nn.Module):
    """Scores the passages of a window by the logits of their letters.

    windows_read, answers_off_letters, windows_shortened: how many windows `scores` has read; in
    how many of them the likeliest next token is none of the window's letters, so that the scores
    say little; and how many prompts had their passages cut below max_words to fit.
    """

    largest_window = len(LETTERS)

    def __init__(
        self,
        model: "PreTrainedModel",
        tokenizer: "PreTrainedTokenizerBase",
        name: str = "the model",
        max_tokens: int = 4096,
        max_words: int = 300,
        batch_tokens: int = 8192,
        padding: str = "left",
    ) -> None:
        """Options.

        max_tokens: of a prompt with its answer; max_words: of a passage; batch_tokens: most
        tokens of one forward pass, padding included, unless a single window is longer; padding:
        the side of it, which changes speed and not results; name: of the model in messages.

        Raises ConfigError for options that cannot work, and for a tokenizer without a chat
        template, without bare letters, or with more tokens than the model has vectors.
        """
        super().__init__()
        check_numbers(max_tokens=max_tokens, max_words=max_words, batch_tokens=batch_tokens)
        if padding not in PADDINGS:
            raise ConfigError(f"padding {padding!r} does not exist; known: {', '.join(PADDINGS)}.")
        positions = getattr(model.config, "max_position_embeddings", None)
        if positions is not None and max_tokens > positions:
            raise ConfigError(
                f"max_tokens is {max_tokens}, but {name} has {positions} positions; lower it."
            )
        self.rows = model.get_input_embeddings().weight.shape[0]
        if len(tokenizer) > self.rows:
            raise ConfigError(
                f"{name}: the tokenizer has {len(tokenizer)} tokens, the model vectors for "
                f"{self.rows}; use the tokenizer that the model was trained with. New tokens are "
                "not added here: their vectors would be noise."
            )
        self.model, self.tokenizer, self.name = model, tokenizer, name
        self.max_tokens, self.max_words, self.batch_tokens = max_tokens, max_words, batch_tokens
        self.padding = padding
        self.chat = ChatPrompt(tokenizer, name)
        self.letters = find_letters(self.chat)
        self.prompt_hash = prompt_hash(self.chat)
        self.windows_read = self.answers_off_letters = self.windows_shortened = 0
        self._accepted = inspect.signature(model.forward).parameters.keys()
        self.register_state_dict_post_hook(_leave_out_twins)
        self.register_load_state_dict_post_hook(_forgive_twins)

    @classmethod
    def load(
        cls,
        folder: Path,
        max_tokens: int = 4096,
        max_words: int = 300,
        batch_tokens: int = 8192,
        padding: str = "left",
        dtype: str = "float32",
    ) -> "CausalLmScorer":
        """Load a model and its tokenizer from a local folder, on a GPU if there is one.

        dtype: float32, or bfloat16 to save memory on a GPU, at the price of tied scores. Raises
        DataError if the folder holds no whole model, ConfigError for options that cannot work.
        """
        if dtype not in DTYPES:
            raise ConfigError(f"dtype {dtype!r} does not exist; known: {', '.join(DTYPES)}.")
        device = "cuda" if torch.cuda.is_available() else "cpu"
        if device == "cpu" and dtype != "float32":
            raise ConfigError(f"dtype {dtype} needs a GPU: on a CPU it is slower; use float32.")
        model, tokenizer = read_causal_lm(folder, getattr(torch, dtype))
        scorer = cls(
            model.to(device), tokenizer, str(folder), max_tokens, max_words, batch_tokens, padding
        )
        return scorer.eval()

    def save(self, folder: Path) -> None:
        """Write model and tokenizer into a folder, as AutoModelForCausalLM.from_pretrained reads.

        Raises ConfigError if the table of token vectors changed its size since it was loaded.
        """
        found = self.model.get_input_embeddings().weight.shape[0]
        if found != self.rows:
            raise ConfigError(
                f"{self.name}: {found} token vectors, {self.rows} when it was loaded; do not "
                "resize the table, the tokenizer stays the same."
            )
        self.model.save_pretrained(str(folder))
        self.tokenizer.save_pretrained(str(folder))

    def scores(
        self, collection: Collection, queries: np.ndarray, passages: np.ndarray
    ) -> torch.Tensor:
        """Return float32 scores (B, k) of windows by slot; higher is better, differentiable.

        queries: (B,) and passages: (B, k) rows of the collection. Raises ConfigError for a window
        of more passages than letters, DataError for one that cannot be put into a prompt.
        """
        queries, passages = checked_windows(collection, queries, passages)
        size = passages.shape[1]
        check_window(size)
        rows = [
            Row(prompt, [self.letters.opening], len(prompt))
            for prompt in self.prompts(collection, queries, passages)
        ]
        scores = {}
        for number, (logits,) in self._logits(rows):
            scores[number] = self._letter_scores(logits, size)
            self.windows_read += 1
            likeliest = int(logits.argmax())
            self.answers_off_letters += likeliest not in self.letters.letters[:size]
        return self._stacked(scores, size)

    def training_scores(
        self,
        collection: Collection,
        queries: np.ndarray,
        passages: np.ndarray,
        orders: np.ndarray,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return scores (B, k) as `scores` does, and the language model's loss (B,), in one pass.

        orders: (B, k) slots in the teacher's order, best first. The loss of a list is the mean
        cross-entropy over the tokens of its answer "[A] > [C] > [B]" and the end of the turn,
        from the opening bracket on; the prompt's tokens do not count. Memory grows with B: the
        graph of all batches is kept for the gradient. Raises as `scores` does, and DataError for
        an order that is no permutation.
        """
        queries, passages = checked_windows(collection, queries, passages)
        size = passages.shape[1]
        check_window(size)
        answers = [
            answer_ids(self.chat, self.letters, order) for order in checked_orders(orders, passages)
        ]
        rows = [
            # The last token is predicted and never read.
            Row(prompt, answer[:-1], len(prompt) - 1)
            for prompt, answer in zip(
                self.prompts(collection, queries, passages), answers, strict=True
            )
        ]
        scores, losses = {}, {}
        for number, logits in self._logits(rows):
            target = torch.tensor(answers[number], device=logits.device)
            scores[number] = self._letter_scores(logits[1], size)
            losses[number] = cross_entropy(logits.float(), target)
        return self._stacked(scores, size), self._stacked(losses)

    def _letter_scores(self, logits: torch.Tensor, size: int) -> torch.Tensor:
        """Return (size,) float32 from the logits (vocabulary,) of one position."""
        return logits[list(self.letters.letters[:size])].float()

    def _stacked(self, parts: dict[int, torch.Tensor], *shape: int) -> torch.Tensor:
        """Return the parts in the order of their numbers, each of the given shape."""
        if not parts:
            return torch.empty(0, *shape, device=self.model.device)
        return torch.stack([parts[number] for number in range(len(parts))])

    def prompts(
        self, collection: Collection, queries: np.ndarray, passages: np.ndarray
    ) -> Iterator[list[int]]:
        """Yield the token ids of each window's prompt, with room for its answer."""
        room = self.max_tokens
        if len(passages):
            room -= len(answer_ids(self.chat, self.letters, range(passages.shape[1])))
        for query, window in zip(queries, passages, strict=True):
            prompt = fitted_prompt(
                self.chat,
                collection.queries[query],
                [collection.passages[passage] for passage in window],
                self.max_words,
                room,
                f"query {collection.query_ids[query]!r}, window that begins with document "
                f"{collection.doc_ids[window[0]]!r}",
            )
            self.windows_shortened += prompt.words < self.max_words
            yield prompt.ids

    def _logits(self, rows: Sequence[Row]) -> Iterator[tuple[int, torch.Tensor]]:
        """Yield each row's number and its wanted logits (positions, vocabulary)."""
        for numbers in token_batches([len(row) for row in rows], self.batch_tokens):
            yield from zip(numbers, self._forward([rows[n] for n in numbers]), strict=True)

    def _forward(self, batch: Sequence[Row]) -> list[torch.Tensor]:
        ids, mask = padded([row.prompt + row.answer for row in batch], self.padding)
        # Where a row begins is read off its mask. Counting pad tokens would go wrong: in many
        # models the pad token also ends the turns of the prompt.
        begins = mask.argmax(dim=1).tolist()
        self._check_reads(ids.tolist(), begins, batch)
        spans = [
            range(begin + row.first_wanted, begin + len(row))
            for begin, row in zip(begins, batch, strict=True)
        ]
        columns = sorted(set().union(*spans))
        inputs = {"input_ids": ids, "attention_mask": mask}
        if "position_ids" in self._accepted:
            inputs["position_ids"] = (mask.cumsum(dim=1) - 1).clamp(min=0)
        if "logits_to_keep" in self._accepted:  # the rest would cost most of the memory
            inputs["logits_to_keep"] = torch.tensor(columns)
        inputs = {name: value.to(self.model.device) for name, value in inputs.items()}
        logits = self.model(**inputs, use_cache=False).logits
        if "logits_to_keep" not in self._accepted:
            logits = logits[:, columns]
        firsts = [columns.index(span[0]) for span in spans]
        return [
            logits[row, first : first + len(span)]
            for row, (first, span) in enumerate(zip(firsts, spans, strict=True))
        ]

    def _check_reads(
        self, sequences: list[list[int]], begins: list[int], batch: Sequence[Row]
    ) -> None:
        """Raise DataError unless the opening bracket is read, and in training a letter follows."""
        for sequence, begin, row in zip(sequences, begins, batch, strict=True):
            read = begin + len(row.prompt)
            seen = sequence[read : read + min(len(row.answer), 2)]
            if seen[:1] != [self.letters.opening] or seen != row.answer[:2]:
                tokens = self.tokenizer.convert_ids_to_tokens(seen)
                raise DataError(
                    f"{self.name}: the position to read holds {tokens}, not the opening bracket "
                    "of the answer and, in training, its first letter; use another tokenizer."
                )


def _twins(module: torch.nn.Module) -> set[str]:
    """Return the further names of weights that have two, as tied token and output vectors do."""
    every = {name for name, _ in module.named_parameters(remove_duplicate=False)}
    return every - {name for name, _ in module.named_parameters()}


def _leave_out_twins(module: torch.nn.Module, state: dict, prefix: str, metadata: dict) -> None:
    # The states that a trainer keeps for resumption are files that refuse shared memory.
    for name in _twins(module):
        del state[prefix + name]


def _forgive_twins(module: torch.nn.Module, report: Any) -> None:
    twins = _twins(module)
    report.missing_keys[:] = [name for name in report.missing_keys if name not in twins]


def check_numbers(**numbers: int) -> None:
    """Raise ConfigError unless each of the named numbers is a whole number above 0."""
    for name, value in numbers.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ConfigError(f"{name} is {value!r}; it must be a whole number above 0.")
