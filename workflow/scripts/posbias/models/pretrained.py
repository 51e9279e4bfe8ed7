"""Bodies from trained checkpoints in local folders (retriever study, Tables 2 and 9).

A folder may hold a plain transformers model, a causal language model, of which the body is taken,
or a SentenceTransformer, whose pooling is left aside: the registry entry names its own.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from posbias.downloads.manifest import MANIFEST, checked_artefact
from posbias.errors import ConfigError, DataError
from posbias.files import read_json, sha256_file
from posbias.models.bodies import POSITIONS_AFTER_PAD, check_encoding, check_length
from posbias.models.encoder import quiet_libraries
from posbias.models.global_attention import silence_unused_parts, transformer_arguments
from posbias.models.nope import without_positions
from posbias.models.tokenizers import apply_policy, token_policy

if TYPE_CHECKING:
    from sentence_transformers.sentence_transformer.modules import Transformer
    from transformers import PreTrainedTokenizerBase

ATTENTIONS = ("sdpa", "eager")
VOCABULARIES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt")
WEIGHTS = ("*.safetensors", "*.bin")
_LAYER = re.compile(r"\.\d+\..*\.weight$")


def pretrained_transformer(
    entry: Mapping[str, Any], checkpoint: Path, max_tokens: int, seed: int
) -> "Transformer":
    """Load the body and the tokenizer of a checkpoint, as a registry entry wants them.

    max_tokens: where inputs are cut, in tokens; seed: of weights that the checkpoint lacks and
    that no vector depends on. The weights are float32 whatever the checkpoint's own precision.
    Raises ConfigError for an entry that does not fit the checkpoint, DataError for a checkpoint
    that is not whole.
    """
    quiet_libraries()
    import torch
    from sentence_transformers.sentence_transformer.modules import Transformer
    from transformers import set_seed

    folder = body_folder(checkpoint)
    config = read_config(folder)
    check_encoding(config, entry["positions"])
    arguments = transformer_arguments(entry.get("global_attention") or "none", config)
    changes: dict[str, Any] = {"local_files_only": True}
    if entry["positions"] == "none":
        changes["rope_parameters"] = without_positions(config).rope_parameters
    if getattr(config, "reference_compile", None) is not None:
        changes["reference_compile"] = False  # ModernBERT's; it would compile by surprise
    loading: dict[str, Any] = {"dtype": torch.float32, "local_files_only": True}
    if entry.get("attention") is not None:
        loading["attn_implementation"] = checked_attention(entry["attention"])
    _check_weights(folder, config, loading)
    set_seed(seed)
    try:
        transformer = Transformer(
            str(folder),
            model_kwargs=loading,
            config_kwargs=changes,
            processor_kwargs={"local_files_only": True},
            do_lower_case=_lower_case(folder),
            **arguments,
        )
    except Exception as fault:  # the libraries below raise many kinds for a damaged folder
        raise _not_loaded(checkpoint, fault) from fault
    silence_unused_parts(transformer.model)
    set_up_tokenizer(transformer.tokenizer, entry, config, checkpoint, max_tokens)
    return transformer


def pretrained_tokenizer(
    entry: Mapping[str, Any], checkpoint: Path, max_tokens: int
) -> "PreTrainedTokenizerBase":
    """Load only the tokenizer of a checkpoint, as `pretrained_transformer` does; no weights."""
    quiet_libraries()
    from transformers import AutoTokenizer

    folder = body_folder(checkpoint)
    config = read_config(folder)
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    except Exception as fault:  # as above
        raise _not_loaded(checkpoint, fault) from fault
    set_up_tokenizer(tokenizer, entry, config, checkpoint, max_tokens)
    return tokenizer


def body_folder(checkpoint: Path) -> Path:
    """Return the folder of the transformers model in a checkpoint.

    Raises DataError if there is none, or none with a vocabulary.
    """
    checkpoint = Path(checkpoint)
    folder = checkpoint
    if (checkpoint / "modules.json").is_file():
        folder = checkpoint / read_json(checkpoint / "modules.json")[0].get("path", "")
    if not (folder / "config.json").is_file():
        raise DataError(
            f"{folder}: no model of the transformers library (config.json is missing); name the "
            "folder that holds it, or delete it and run the step that makes it again."
        )
    if not any((folder / name).is_file() for name in VOCABULARIES):
        raise DataError(
            f"{folder}: no tokenizer (none of {', '.join(VOCABULARIES)} is there), and the library "
            "would make one out of nothing; delete the folder and run the step that makes it again."
        )
    return folder


def read_config(folder: Path) -> Any:
    """Return the transformers config of a folder; raises DataError if it is not one."""
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(str(folder), local_files_only=True)
    except Exception as fault:  # unknown families, broken files
        raise _not_loaded(folder, fault) from fault


def checked_attention(name: str) -> str:
    """Return the name of an implementation of attention; raises ConfigError if it is none."""
    if name not in ATTENTIONS:
        raise ConfigError(
            f"retrievers: attention {name!r} does not exist; known: {', '.join(ATTENTIONS)}."
        )
    return name


def set_up_tokenizer(
    tokenizer: "PreTrainedTokenizerBase",
    entry: Mapping[str, Any],
    config: Any,
    checkpoint: Path,
    max_tokens: int,
) -> None:
    """Cut at `max_tokens` and follow the entry's policy; raises ConfigError if that cannot be."""
    check_length(config, max_tokens)
    tokenizer.model_max_length = max_tokens
    apply_policy(tokenizer, token_policy(entry.get("tokenizer")), str(checkpoint))
    if config.model_type in POSITIONS_AFTER_PAD and tokenizer.pad_token_id != config.pad_token_id:
        raise ConfigError(
            f"{checkpoint}: the tokenizer pads with token {tokenizer.pad_token_id}, the body "
            f"tells its positions by the pad token {config.pad_token_id}; use its own tokenizer."
        )
    if len(tokenizer) > config.vocab_size:
        raise ConfigError(
            f"{checkpoint}: the tokenizer has {len(tokenizer)} tokens, the body vectors for "
            f"{config.vocab_size}; use the tokenizer that the body was trained with."
        )


def base_facts(name: str, checkpoint: Path) -> dict[str, Any]:
    """Say which checkpoint a training starts from: repository, revision, precision, hashes.

    Repository, revision and licence are null for a folder that was not downloaded by revision.
    """
    checkpoint = Path(checkpoint)
    folder = body_folder(checkpoint)
    facts: dict[str, Any] = {"name": name, "repo": None, "revision": None, "licence": None}
    if (checkpoint / MANIFEST).is_file():
        manifest = checked_artefact(checkpoint)
        facts |= {field: manifest[field] for field in ("repo", "revision", "licence")}
    written = read_json(folder / "config.json")
    facts["dtype"] = written.get("dtype") or written.get("torch_dtype") or "not stated"
    weights = sorted(path for pattern in WEIGHTS for path in folder.glob(pattern))
    facts["weights_sha256"] = {path.name: sha256_file(path) for path in weights}
    return facts


def _not_loaded(place: Path, fault: Exception) -> Exception:
    if "attention implementation" in str(fault):
        return ConfigError(
            f"retrievers: {place}: its family does not have this implementation of attention "
            f"({str(fault).splitlines()[0]}); use eager."
        )
    return DataError(
        f"{place}: cannot be loaded ({type(fault).__name__}: {fault}); "
        "delete the folder and run the step that makes it again."
    )


def _lower_case(folder: Path) -> bool:
    """Say whether a SentenceTransformer folder wants its texts in lower case."""
    file = folder / "sentence_bert_config.json"
    return bool(read_json(file).get("do_lower_case")) if file.is_file() else False


def _check_weights(folder: Path, config: Any, loading: Mapping[str, Any]) -> None:
    """Raise DataError unless a checkpoint's weights are those that its config describes.

    The library would fill missing weights with random numbers, and leave surplus layers out. Only
    the names and shapes are read here, no values.
    """
    from transformers import AutoModel

    try:
        _, report = AutoModel.from_pretrained(
            str(folder),
            config=config,
            output_loading_info=True,
            device_map={"": "meta"},
            **loading,
        )
    except Exception as fault:  # as above
        raise _not_loaded(folder, fault) from fault
    missing = [name for name in report["missing_keys"] if "pooler." not in name]
    surplus = [name for name in report["unexpected_keys"] if _LAYER.search(f".{name}")]
    if missing or surplus:
        raise DataError(
            f"{folder}: the weights are not those that config.json describes (missing "
            f"{sorted(missing)[:3]}, left over {sorted(surplus)[:3]}); delete the folder and run "
            "the step that makes it again."
        )
