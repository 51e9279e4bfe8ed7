"""Transformer bodies built from a config entry, by the families of the transformers library."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from posbias.errors import ConfigError
from posbias.models.nope import without_positions
from posbias.models.own_code import refuse_own_code
from posbias.models.wholeness import check_vocabulary

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

# What the registry may declare, and how it shows in a family's own configuration.
POSITIONS = ("absolute", "rope", "alibi", "none")
# Families whose first position is the pad token's id plus one.
POSITIONS_AFTER_PAD = ("longformer", "roberta", "xlm-roberta", "camembert", "mpnet")


def body_config(family: str, body: dict, positions: str, tokenizer: Any) -> Any:
    """Return the transformers config of a body; `body` holds that family's own options.

    Raises ConfigError for an unknown family, option or position encoding.
    """
    from transformers import CONFIG_MAPPING

    if family not in CONFIG_MAPPING:
        raise ConfigError(
            f"family {family!r} does not exist in the transformers library; "
            "examples: bert, longformer, modernbert, gpt2, bloom, llama, qwen3."
        )
    config_class = CONFIG_MAPPING[family]
    defaults = config_class()
    unknown = [name for name in body if not hasattr(defaults, name)]
    if unknown:
        raise ConfigError(
            f"the family {family!r} has no option {', '.join(unknown)}; "
            "see its configuration class in the transformers library."
        )
    specials = {
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.cls_token_id,
        "eos_token_id": tokenizer.sep_token_id,
        "cls_token_id": tokenizer.cls_token_id,
        "sep_token_id": tokenizer.sep_token_id,
    }
    specials = {name: value for name, value in specials.items() if hasattr(defaults, name)}
    try:
        config = config_class(vocab_size=len(tokenizer), **specials, **body)
    except Exception as fault:  # each family checks its own options in its own way
        raise ConfigError(f"body of the family {family!r}: {fault}") from fault
    check_encoding(config, positions)
    return without_positions(config) if positions == "none" else config


def check_encoding(config: Any, positions: str) -> None:
    """Raise ConfigError unless the config has the declared position encoding, or can lose it."""
    found = "none" if positions == "none" else position_encoding(config)
    if positions not in POSITIONS or found != positions:
        raise ConfigError(
            f"positions {positions!r} declared for the family "
            f"{config.model_type!r}, which has {position_encoding(config)!r}; "
            f"known: {', '.join(POSITIONS)}."
        )
    rotary = getattr(config, "rope_parameters", None) or {}
    if positions == "none" and any(isinstance(value, dict) for value in rotary.values()):
        raise ConfigError(
            f"positions none is not possible for the family {config.model_type!r}, "
            "whose layers turn by angles of several kinds; it works for llama and qwen3."
        )


def check_length(config: Any, max_tokens: int) -> None:
    """Raise ConfigError if inputs may be longer than the positions that a body knows."""
    limit = usable_positions(config)
    if limit is not None and max_tokens > limit:
        raise ConfigError(
            f"max_tokens is {max_tokens}, but a body of the family {config.model_type!r} has "
            f"{limit} positions; lower max_tokens of the retriever or of the training block."
        )


def usable_positions(config: Any) -> int | None:
    """Return the longest input in tokens that a transformers config allows, None for any."""
    limit = getattr(config, "max_position_embeddings", None)
    if limit is None or position_encoding(config) == "alibi":
        return None
    # Families of RoBERTa's kind count positions from behind the pad token's id.
    return limit - config.pad_token_id - 1 if config.model_type in POSITIONS_AFTER_PAD else limit


def position_encoding(config: Any) -> str:
    """Name the position encoding that a transformers config stands for."""
    if getattr(config, "rope_parameters", None) is not None:
        return "rope"
    return "alibi" if config.model_type == "bloom" else "absolute"


def build_body(config: Any, token_vectors: Path, std: float, seed: int) -> "PreTrainedModel":
    """Build a body with random weights and the token vectors of a trained encoder.

    Raises ConfigError if the body's table has another shape than the vectors.
    """
    import torch
    from transformers import AutoModel, set_seed

    from posbias.models.token_vectors import principal_token_vectors

    set_seed(seed)
    try:
        body = AutoModel.from_config(config, dtype=torch.float32)
    except Exception as fault:  # such as heads that do not divide the width
        raise ConfigError(f"body of {config.model_type!r}: {fault}") from fault
    table = body.get_input_embeddings().weight
    vectors = principal_token_vectors(token_vectors, table.shape[1], std)
    if vectors.shape != table.shape:
        raise ConfigError(
            f"the token vectors {tuple(vectors.shape)} do not fit the body's table "
            f"{tuple(table.shape)}; use the tokenizer they belong to."
        )
    with torch.no_grad():
        table.copy_(vectors)
    return body


def load_tokenizer(path: Path) -> "PreTrainedTokenizerBase":
    """Load a tokenizer from a local folder, padding on the right.

    Raises DataError for a folder without one, ConfigError for one that needs code of its own.
    """
    from transformers import AutoTokenizer

    check_vocabulary(path)
    refuse_own_code(path, "AutoTokenizer", str(path))
    return AutoTokenizer.from_pretrained(
        str(path), local_files_only=True, trust_remote_code=False, padding_side="right"
    )
