"""Global attention of the first token, for a Longformer (Table 2 does not say; App. D neither).

Inside sentence-transformers a Longformer is given no mask of global attention, so that no token
sees beyond its window. A module of our own that adds the mask could be stored, but since version
6 the library loads foreign modules only with trust_remote_code. The stock way: the family's class
for whole-text classification gives the first token global attention by itself; its last hidden
states are the token vectors, and its classifier is left out of account. So
SentenceTransformer(path) keeps the choice without any code of ours.
"""

from typing import TYPE_CHECKING, Any

from posbias.errors import ConfigError

if TYPE_CHECKING:
    from torch.nn import Module

CHOICES = ("none", "first")
TOKEN_VECTORS = "token_embeddings"  # sentence-transformers' name of what pooling reads


def transformer_arguments(choice: str, config: Any) -> dict[str, Any]:
    """Return how sentence-transformers must call the body: text in, token vectors out.

    The kind of input is fixed to text: a checkpoint with a chat template would otherwise see each
    text as a turn of a conversation. Raises ConfigError for global attention that the family
    does not have.
    """
    if choice not in CHOICES:
        raise ConfigError(
            f"global_attention {choice!r} does not exist; known: {', '.join(CHOICES)}."
        )
    output: str | list = "last_hidden_state"
    task = "feature-extraction"
    if choice == "first":
        if config.model_type != "longformer":
            raise ConfigError(
                f"global_attention first is not possible for the family "
                f"{config.model_type!r}; it works for longformer. Use none."
            )
        output, task = ["hidden_states", -1], "sequence-classification"
    return {
        "transformer_task": task,
        "modality_config": {"text": {"method": "forward", "method_output_name": output}},
        "module_output_name": TOKEN_VECTORS,
    }


def silence_unused_parts(body: "Module") -> None:
    """Fix the weights that no token vector depends on: pooler, and classifier (set to zero)."""
    import torch

    for name in ("pooler", "classifier"):
        part = getattr(body, name, None)
        if part is None:
            continue
        part.requires_grad_(False)
        if name == "classifier":
            with torch.no_grad():
                for weight in part.parameters():
                    weight.zero_()
