"""Small local checkpoints of the eight families of Table 2, made offline.

Each has the class, the precision, the files and the kind of tokenizer that the family's published
checkpoint has; only sizes and weights differ. The tokenizers are trained on made-up sentences.
"""

import itertools
import json
from functools import cache
from pathlib import Path

import torch
import transformers
from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE, WordPiece
from tokenizers.trainers import BpeTrainer, WordPieceTrainer

SIZE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
WIDE = {**SIZE, "intermediate_size": 64}
# Weights of the usual size would give all texts nearly the same vector at this width.
SPREAD = {"initializer_range": 0.2}
VOCABULARY = 360

_SUBJECTS = ("The aardvark", "An alchemist", "Her abacus", "One asteroid", "Every acid", "Algae")
_VERBS = ("digs near", "follows", "outlives", "measures", "dissolves", "never reached")
_OBJECTS = ("the old city", "Africa", "a second moon", "glass", "its own kind", "seven rivers")
_ENDS = (".", ", as Ångström wrote in 1862.", " (see below)!", "; nobody knows why.")


@cache
def sentences() -> tuple[str, ...]:
    """A few hundred sentences, with capitals, digits, punctuation and a letter beyond ASCII."""
    parts = itertools.product(_SUBJECTS, _VERBS, _OBJECTS, _ENDS)
    return tuple(f"{a} {b} {c}{d}" for a, b, c, d in itertools.islice(parts, 0, None, 3))


# Short, long, longer than every maximum used here, and with blanks at its end.
TEXTS = (
    "Aardvarks dig.",
    sentences()[7],
    "glass",
    " ".join(sentences()[40:44]),
    sentences()[200] + "  \n",
    " ".join(sentences()[100:160]),
)


def _byte_level(specials: list[str], pre_tokenizer, normalizer=None, last: list[str] = ()):
    """Byte-level BPE; specials stand first in the vocabulary, or last."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.train_from_iterator(
        sentences(),
        BpeTrainer(
            vocab_size=VOCABULARY,
            special_tokens=specials,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer.add_special_tokens(list(last))
    return tokenizer


def _frame(tokenizer: Tokenizer, before: str, after: str | None) -> None:
    names = [name for name in (before, after) if name]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=" ".join([before, "$A", *([after] if after else [])]),
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in names],
    )


@cache
def _bert() -> Tokenizer:
    tokenizer = Tokenizer(WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(
        sentences(),
        WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=specials, show_progress=False),
    )
    _frame(tokenizer, "[CLS]", "[SEP]")
    return tokenizer


@cache
def _longformer() -> Tokenizer:
    specials = ["<s>", "<pad>", "</s>", "<unk>"]
    blanks = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer = _byte_level(specials, blanks, last=["<mask>"])
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False
    )
    return tokenizer


@cache
def _modernbert() -> Tokenizer:
    blanks = pre_tokenizers.ByteLevel(add_prefix_space=False)
    named = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
    tokenizer = _byte_level([], blanks, normalizers.NFC(), last=named)
    _frame(tokenizer, "[CLS]", "[SEP]")
    return tokenizer


@cache
def _gpt2() -> Tokenizer:
    blanks = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return _byte_level([], blanks, last=["<|endoftext|>"])


@cache
def _bloom() -> Tokenizer:
    words = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r" ?[^(\s|[.,!?…。，、।۔،])]+"), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return _byte_level(["<unk>", "<s>", "</s>", "<pad>"], words)


@cache
def _llama() -> Tokenizer:
    tokenizer = Tokenizer(BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    # Words are kept apart while it learns, as a pair of words must not become one token.
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="never")
    every_byte = [f"<0x{number:02X}>" for number in range(256)]
    tokenizer.train_from_iterator(
        sentences(),
        BpeTrainer(
            vocab_size=VOCABULARY + 300,
            special_tokens=["<unk>", "<s>", "</s>", *every_byte],
            show_progress=False,
        ),
    )
    described = json.loads(tokenizer.to_str())
    named = {"<unk>", "<s>", "</s>"}
    described["added_tokens"] = [t for t in described["added_tokens"] if t["content"] in named]
    described["pre_tokenizer"] = None
    tokenizer = Tokenizer.from_str(json.dumps(described))
    _frame(tokenizer, "<s>", None)
    return tokenizer


@cache
def _qwen3() -> Tokenizer:
    words = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(
                Regex(r"""[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+"""),
                behavior="isolated",
            ),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    named = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    return _byte_level([], words, normalizers.NFC(), last=named)


CHAT = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}"
)

# Class and config of the published checkpoint, precision, tokenizer, its tokenizer_config.json.
FAMILIES = {
    "bert": {
        "class": "BertForPreTraining",
        "config": {**WIDE, **SPREAD, "max_position_embeddings": 64},
        "tokenizer": _bert,
        "settings": {"do_lower_case": True, "model_max_length": 64},
    },
    "longformer": {
        "class": "LongformerModel",
        "config": {
            **WIDE,
            **SPREAD,
            "max_position_embeddings": 258,
            "attention_window": [8, 8],
            "pad_token_id": 1,
            "bos_token_id": 0,
            "eos_token_id": 2,
        },
        "tokenizer": _longformer,
        "settings": {"model_max_length": 256},
    },
    "modernbert_base": {
        "class": "ModernBertForMaskedLM",
        "config": {**WIDE, **SPREAD, "max_position_embeddings": 256, "local_attention": 16},
        "extra": {"reference_compile": True},
        "tokenizer": _modernbert,
        "settings": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_input_names": ["input_ids", "attention_mask"],
            "model_max_length": 256,
            **{f"{n}_token": f"[{n.upper()}]" for n in ("unk", "cls", "sep", "pad", "mask")},
        },
    },
    "modernbert_large": {
        "class": "ModernBertForMaskedLM",
        "config": {
            **WIDE,
            **SPREAD,
            "hidden_size": 48,
            "num_hidden_layers": 3,
            "max_position_embeddings": 256,
            "local_attention": 16,
        },
        "tokenizer": _modernbert,
        "settings": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_input_names": ["input_ids", "attention_mask"],
            "model_max_length": 256,
            **{f"{n}_token": f"[{n.upper()}]" for n in ("unk", "cls", "sep", "pad", "mask")},
        },
    },
    "gpt2": {
        "class": "GPT2LMHeadModel",
        "config": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 128, **SPREAD},
        "tokenizer": _gpt2,
        "settings": {"model_max_length": 128},
    },
    "bloom": {
        "class": "BloomForCausalLM",
        "config": {"hidden_size": 32, "n_layer": 2, "n_head": 4, **SPREAD, "pad_token_id": 3},
        "tokenizer": _bloom,
        "settings": {
            "tokenizer_class": "BloomTokenizerFast",
            "padding_side": "left",
            "unk_token": "<unk>",
            "bos_token": "<s>",
            "eos_token": "</s>",
            "pad_token": "<pad>",
        },
    },
    "tinyllama_nope": {
        "class": "LlamaForCausalLM",
        "config": {**WIDE, **SPREAD, "num_key_value_heads": 2, "max_position_embeddings": 128},
        "dtype": torch.bfloat16,
        "tokenizer": _llama,
        "settings": {
            "tokenizer_class": "LlamaTokenizer",
            "add_bos_token": True,
            "add_eos_token": False,
            "legacy": False,
            "padding_side": "right",
            "unk_token": "<unk>",
            "bos_token": "<s>",
            "eos_token": "</s>",
            "pad_token": None,
            "model_max_length": 128,
        },
    },
    "qwen3": {
        "class": "Qwen3ForCausalLM",
        "config": {
            **WIDE,
            **SPREAD,
            "num_key_value_heads": 2,
            "head_dim": 8,
            "max_position_embeddings": 256,
            "tie_word_embeddings": True,
        },
        "dtype": torch.bfloat16,
        "tokenizer": _qwen3,
        "settings": {
            "tokenizer_class": "Qwen2Tokenizer",
            "add_bos_token": False,
            "bos_token": None,
            "eos_token": "<|im_end|>",
            "pad_token": "<|endoftext|>",
            "chat_template": CHAT,
            "model_max_length": 256,
        },
    },
}


def _entry(family: str, positions: str, pooling: str, **changes) -> dict:
    decoder = pooling == "last"
    return {
        "label": family,
        "checkpoint": family,
        "positions": positions,
        "pooling": pooling,
        "query_prefix": "Retrieve a relevant passage: " if decoder else "query: ",
        "learning_rate": 1e-3,
        "max_tokens": None,
        "tokenizer": {"pad_token": None, "append_end": None, "truncation_side": "right"},
        "global_attention": "none",
        "attention": "sdpa",
        "freeze_token_vectors": False,
        **changes,
    }


# As in Table 2; two families have no sdpa in the library.
ENTRIES = {
    "bert": _entry("bert", "absolute", "cls"),
    "longformer": _entry("longformer", "absolute", "mean", attention="eager"),
    "modernbert_base": _entry("modernbert_base", "rope", "cls"),
    "modernbert_large": _entry("modernbert_large", "rope", "cls"),
    "gpt2": _entry("gpt2", "absolute", "last"),
    "bloom": _entry("bloom", "alibi", "last", attention="eager"),
    "tinyllama_nope": _entry("tinyllama_nope", "none", "last"),
    "qwen3": _entry("qwen3", "rope", "last"),
}


def write_checkpoint(name: str, folder: Path, **config) -> Path:
    """Write a family's checkpoint with random weights; `config` changes its options."""
    parts = FAMILIES[name]
    tokenizer = parts["tokenizer"]()
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(parts["settings"]))
    model_class = getattr(transformers, parts["class"])
    ids = {f"{n}_token_id": tokenizer.token_to_id(f"[{n.upper()}]") for n in ("pad", "cls", "sep")}
    ids = {key: number for key, number in ids.items() if number is not None}
    options = {"vocab_size": tokenizer.get_vocab_size(), **ids, **parts["config"], **config}
    torch.manual_seed(len(name))
    model = model_class(model_class.config_class(**options))
    model.to(parts.get("dtype", torch.float32)).save_pretrained(folder)
    if "extra" in parts:
        stored = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**stored, **parts["extra"]}))
    return folder
