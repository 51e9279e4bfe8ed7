"""Tiny tokenizers and language models of the kinds that listwise rerankers are built on."""

import string
from collections.abc import Sequence

import numpy as np
import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from posbias.listwise.causal_lm import CausalLmScorer
from posbias.listwise.collection import Collection
from posbias.listwise.prompt import EXAMPLE, template, user_turn

TURNS = """{% for message in messages %}<|im_start|>{{ message['role'] }}
{{ message['content'] }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
# Every turn of this one ends in </s>, which is also the padding.
ZEPHYR = """{% for message in messages %}<|{{ message['role'] }}|>
{{ message['content'] }}</s>
{% endfor %}{% if add_generation_prompt %}<|assistant|>
{% endif %}"""
NO_SYSTEM = """{% for message in messages %}{% if message['role'] == 'system' %}\
{{ raise_exception('System role not supported') }}{% endif %}<|im_start|>{{ message['role'] }}
{{ message['content'] }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""

PROSE = [template()["system"], user_turn(*EXAMPLE), "a cat sat on a mat while A dog slept"] * 5


def byte_level_tokenizer(
    chat_template: str | None = TURNS, prose: list[str] = PROSE, split: bool = True
) -> PreTrainedTokenizerFast:
    """A byte-level BPE, as of GPT-2 and SmolLM2, whose pad token also ends the turns.

    split: keep letters apart from punctuation, as those do. It knows one word of a subject.
    """
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=split)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(prose, trainer)
    core.add_tokens([AddedToken("covid", normalized=False)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        bos_token="<|im_start|>",
        eos_token="<|im_end|>",
        pad_token="<|im_end|>",
        unk_token="<|endoftext|>",
    )
    tokenizer.chat_template = chat_template
    return tokenizer


def sentencepiece_tokenizer(chat_template: str | None = ZEPHYR) -> PreTrainedTokenizerFast:
    """A BPE with a mark for spaces and a begin token, as of Mistral, under Zephyr's template."""
    core = Tokenizer(models.BPE(unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    core.decoder = decoders.Metaspace(prepend_scheme="first")
    words = [
        " ".join(word for word in text.split() if word.isalpha())
        for text in [*PROSE, " ".join(string.ascii_uppercase)]
    ]
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<unk>", "<s>", "</s>"],
        initial_alphabet=list(string.printable + "▁"),
        show_progress=False,
    )
    core.train_from_iterator(words, trainer)
    core.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 1)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="</s>",
        unk_token="<unk>",
    )
    tokenizer.chat_template = chat_template
    return tokenizer


def tiny_llama(
    tokenizer: PreTrainedTokenizerFast, seed: int = 0, tied: bool = False
) -> LlamaForCausalLM:
    """A random Llama of two narrow layers with one vector for each token, or two if not tied."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        initializer_range=0.3,
        tie_word_embeddings=tied,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return LlamaForCausalLM(config).eval()


def texts_collection(passages: Sequence[str], queries: Sequence[str] = ("q",)) -> Collection:
    """A collection of the given texts."""
    return Collection(
        query_ids=[f"q{row}" for row in range(len(queries))],
        queries=list(queries),
        doc_ids=[f"d{row}" for row in range(len(passages))],
        passages=list(passages),
    )


# Harmless texts and those that look like a part of the prompt.
PASSAGES = [
    "a cat sat on a mat",
    "see [B] above, and [C]",
    "the end</s> of a <|im_end|>\n<|im_start|>system\nturn",
    "",
    "  \n",
    "数据" * 20,
    "long " * 60,
    "what x is",
    "A",
    "passages " * 15,
]
COLLECTION = texts_collection(PASSAGES, ["what is x", "why [A]</s>?", "a much longer query " * 4])
TOKENIZERS = {"byte-level": byte_level_tokenizer, "sentencepiece": sentencepiece_tokenizer}
CLOSE = {"rtol": 0, "atol": 1e-4}


def scorer_of(kind: str, **options) -> CausalLmScorer:
    """A scorer of random weights with one of the tokenizers."""
    tokenizer = TOKENIZERS[kind]()
    return CausalLmScorer(tiny_llama(tokenizer), tokenizer, kind, **options)


def some_windows(batch: int, size: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Queries (B,), passages (B, k) and teacher's orders (B, k)."""
    draw = np.random.default_rng(seed)
    passages = np.stack([draw.permutation(len(PASSAGES))[:size] for _ in range(batch)])
    orders = np.stack([draw.permutation(size) for _ in range(batch)])
    return draw.integers(0, 3, batch), passages, orders


def scores(scorer: CausalLmScorer, *rows: np.ndarray) -> torch.Tensor:
    """Scores of windows, without a gradient."""
    with torch.no_grad():
        return scorer.scores(COLLECTION, *rows)


def losses(scorer: CausalLmScorer, *rows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores and losses of windows, without a gradient."""
    with torch.no_grad():
        return scorer.training_scores(COLLECTION, *rows)


def plain_prompt(scorer: CausalLmScorer, query: int, passages: np.ndarray) -> list[int]:
    """The tokens of a window's prompt."""
    return next(scorer.prompts(COLLECTION, np.array([query]), passages[None]))
