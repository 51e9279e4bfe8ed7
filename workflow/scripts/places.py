"""Where models and data of a config lie: packaged, downloaded once, or in the user's folder."""

from collections.abc import Iterable, Mapping

from selection import check_known

DOWNLOADS = "downloads"  # shared by all scales
# Models that are unpacked from installed packages, and the folder that each is unpacked to.
PACKAGED = {
    "minilm_l6": "<results>/encoders/minilm_l6",
    "minilm_l3": "<results>/encoders/minilm_l3",
    "smollm2": "<results>/language_models/smollm2",
}
# Kinds of panel members, generators and references whose options name a model.
WITH_MODEL = ("cosine", "cross_encoder", "local_lm", "sentence_transformer")
# Kinds of generators that ask in the name of a persona.
WITH_PERSONA = ("openai", "local_lm")


def place_of(where: str, name: str, downloads: Mapping[str, dict]) -> str:
    """Return the folder or file that a name of the config stands for.

    A name with a slash is a path. where: place of the name in the config. Raises ConfigError for
    a name that is neither a path, nor packaged, nor a download.
    """
    if "/" in name:
        return name
    check_known(f"config, {where}", [name], [*PACKAGED, *downloads])
    return PACKAGED.get(name, f"{DOWNLOADS}/{name}")


def models_of(entries: Iterable[Mapping]) -> list[str]:
    """Return what entries with kind and options name, each once, in their order.

    That is an entry's model, and its code where that lies apart from the weights.
    """
    named = [
        entry["options"].get(name)
        for entry in entries
        if entry["kind"] in WITH_MODEL
        for name in ("model", "code")
    ]
    return list(dict.fromkeys(name for name in named if name))
