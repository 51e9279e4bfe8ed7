"""Bodies from trained checkpoints in local folders (retriever study, Tables 2 and 9).

A folder may hold a plain transformers model, a causal language model, of which the body is taken,
or a SentenceTransformer, whose pooling is left aside: the registry entry names its own.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from posbias.downloads.manifest import MANIFEST, read_manifest
from posbias.errors import ConfigError, DataError, PosbiasError
from posbias.files import read_json
from posbias.models.bodies import POSITIONS_AFTER_PAD, check_encoding, check_length
from posbias.models.encoder import quiet_libraries
from posbias.models.global_attention import silence_unused_parts, transformer_arguments
from posbias.models.nope import without_positions
from posbias.models.own_code import refuse_own_code
from posbias.models.pinned_files import SETTINGS, WEIGHTS, checked_hashes, files_of
from posbias.models.tokenizers import apply_policy, check_room, token_policy
from posbias.models.wholeness import REMEDY, check_numbers, check_vocabulary, check_weights

if TYPE_CHECKING:
    from sentence_transformers.sentence_transformer.modules import Transformer
    from transformers import PreTrainedTokenizerBase

ATTENTIONS = ("sdpa", "eager")
LOCAL = {"local_files_only": True, "trust_remote_code": False}


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
    from transformers import AutoModel, set_seed

    folder = body_folder(checkpoint)
    config = read_config(folder)
    check_encoding(config, entry["positions"])
    arguments = transformer_arguments(entry.get("global_attention") or "none", config)
    changes: dict[str, Any] = dict(LOCAL)
    if entry["positions"] == "none":
        changes["rope_parameters"] = without_positions(config).rope_parameters
    if getattr(config, "reference_compile", None) is not None:
        changes["reference_compile"] = False  # ModernBERT's; it would compile by surprise
    loading: dict[str, Any] = {"dtype": torch.float32, **LOCAL}
    if entry.get("attention") is not None:
        loading["attn_implementation"] = checked_attention(entry["attention"])
    try:
        check_weights(folder, AutoModel, folder, unused="pooler.", config=config, **loading)
        set_seed(seed)
        transformer = Transformer(
            str(folder),
            model_kwargs=loading,
            config_kwargs=changes,
            processor_kwargs=dict(LOCAL),
            do_lower_case=_lower_case(folder),
            **arguments,
        )
    except PosbiasError:
        raise
    except Exception as fault:  # the libraries below raise many kinds for a damaged folder
        raise _not_loaded(checkpoint, fault) from fault
    check_numbers(transformer.model, checkpoint)
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
        tokenizer = AutoTokenizer.from_pretrained(str(folder), **LOCAL)
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
    check_vocabulary(folder)
    return folder


def read_config(folder: Path) -> Any:
    """Return the transformers config of a folder.

    Raises DataError if it is not one, ConfigError for a model that needs code of its own.
    """
    from transformers import AutoConfig

    refuse_own_code(folder, "AutoModel", str(folder))
    try:
        return AutoConfig.from_pretrained(str(folder), **LOCAL)
    except Exception as fault:  # unknown families, broken files
        raise _not_loaded(folder, fault) from fault


def checked_attention(name: str) -> str:
    """Return the name of an implementation of attention; raises ConfigError if it is none."""
    if name not in ATTENTIONS:
        raise ConfigError(f"attention {name!r} does not exist; known: {', '.join(ATTENTIONS)}.")
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
    check_room(tokenizer, max_tokens)
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
    Raises DataError naming a file of a download that is not as it came.
    """
    checkpoint = Path(checkpoint)
    folder = body_folder(checkpoint)
    facts: dict[str, Any] = {"name": name, "repo": None, "revision": None, "licence": None}
    if (checkpoint / MANIFEST).is_file():
        manifest = read_manifest(checkpoint)
        facts |= {field: manifest[field] for field in ("repo", "revision", "licence")}
    written = read_json(folder / "config.json")
    facts["dtype"] = written.get("dtype") or written.get("torch_dtype") or "not stated"
    settings = {*files_of(folder, SETTINGS), *files_of(checkpoint, ("modules.json",))}
    facts["files_sha256"] = checked_hashes(checkpoint, sorted(settings))
    weights = checked_hashes(checkpoint, files_of(folder, WEIGHTS))
    facts["weights_sha256"] = {Path(name).name: digest for name, digest in weights.items()}
    return facts


def _not_loaded(place: Path, fault: Exception) -> Exception:
    if "attention implementation" in str(fault):
        return ConfigError(
            f"{place}: its family does not have this implementation of attention "
            f"({str(fault).splitlines()[0]}); use eager."
        )
    return DataError(f"{place}: cannot be loaded ({type(fault).__name__}: {fault}); {REMEDY}.")


def _lower_case(folder: Path) -> bool:
    """Say whether a SentenceTransformer folder wants its texts in lower case."""
    file = folder / "sentence_bert_config.json"
    return bool(read_json(file).get("do_lower_case")) if file.is_file() else False
