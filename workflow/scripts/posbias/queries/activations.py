"""Named activations that bring a panel member's raw scores to [0, 1] (retriever study, App. B).

The paper does not state the scale of its margins, so the activation is part of the configuration
and the raw scores are kept: a margin can be computed again for any other choice.
"""

from collections.abc import Callable

import numpy as np

from posbias.errors import ConfigError
from posbias.options import check_options

Activation = Callable[[np.ndarray], np.ndarray]


def clip(scores: np.ndarray) -> np.ndarray:
    """Cut scores to [0, 1]: leaves probabilities and non-negative cosines as they are."""
    return np.clip(scores, 0.0, 1.0)


def saturate(scores: np.ndarray, half: float) -> np.ndarray:
    """Map scores >= 0 without an upper bound to score / (score + half); `half` in raw units."""
    if half <= 0:
        raise ConfigError(f"the activation 'saturate' needs half above 0, found {half}.")
    if scores.size and scores.min() < 0:
        raise ConfigError(
            f"the activation 'saturate' needs scores of at least 0, found {scores.min():.3f}; "
            "use 'logistic'."
        )
    return scores / (scores + half)


def logistic(scores: np.ndarray, center: float = 0.0, width: float = 1.0) -> np.ndarray:
    """Map scores to 1 / (1 + exp(-(score - center) / width)); width is in raw-score units."""
    from scipy.special import expit

    if width <= 0:
        raise ConfigError(f"the activation 'logistic' needs a width above 0, found {width}.")
    return expit((scores - center) / width)


ACTIVATIONS: dict[str, Callable[..., np.ndarray]] = {
    "clip": clip,
    "logistic": logistic,
    "saturate": saturate,
}


def make_activation(spec: dict, place: str = "verification.panel") -> Activation:
    """Build an activation from `{"name": …, options}`; raises ConfigError if it is unknown.

    place: where it stands in the config, for the message.
    """
    options = dict(spec)
    name = options.pop("name", None)
    if name not in ACTIVATIONS:
        raise ConfigError(
            f"{place}: activation {name!r} does not exist; known: {', '.join(sorted(ACTIVATIONS))}."
        )
    check_options(f"{place}: activation {name!r}", ACTIVATIONS[name], options, given=1)
    return lambda scores: ACTIVATIONS[name](scores, **options)
