"""A Llama body without position encoding (TinyLlama-NoPE of the retriever study, Table 2).

A stock Llama checkpoint runs with rotary positions unless the rotation is taken out. Replacing
the library's rotation function would change every other model of the process, and would be lost
whenever the checkpoint is loaded elsewhere. Instead the rotation angles are divided by a factor
so large that they vanish: cosine 1 and sine 0 in any precision used. The setting is part of the
checkpoint's own config, so `SentenceTransformer(path)` keeps it.
"""

from typing import Any

from posbias.errors import ConfigError

VANISHING = 1e30


def without_positions(config: Any) -> Any:
    """Set a rotary transformers config so that position has no influence; returns the config.

    Raises ConfigError for a family without rotary positions: only those can be switched off.
    """
    if getattr(config, "rope_parameters", None) is None:
        raise ConfigError(
            f"positions: none is not possible for the family {config.model_type!r}; "
            "it works for families with rotary positions, such as llama."
        )
    theta = config.rope_parameters.get("rope_theta", 10_000.0)
    config.rope_parameters = {"rope_type": "linear", "factor": VANISHING, "rope_theta": theta}
    return config
