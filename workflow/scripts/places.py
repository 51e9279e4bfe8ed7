"""Where models and data of a config lie: packaged, downloaded once, or in the user's folder."""

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from posbias.errors import ConfigError
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
# Kinds of benchmarks and of evidence pairs whose files name a benchmark.
OF_BENCHMARK = ("reversed", "benchmark")
# Kinds of generators that ask in the name of a persona.
WITH_PERSONA = ("openai", "local_lm")


def place_of(where: str, name: str, downloads: Mapping[str, dict]) -> str:
    """Return the folder or file that a name of the config stands for.

    A name with a slash is a path. where: place of the name in the config. Raises ConfigError for
    a name that is neither a path, nor packaged, nor a download.
    """
    if "/" in name:
        return name
    if name not in PACKAGED and name not in downloads and Path(name).exists():
        raise ConfigError(f"config, {where}: {name!r} is a path; write it as './{name}'.")
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


def data_files(entry: Mapping) -> list[str]:
    """Return the downloads and paths that an entry with kind and files reads.

    Those of kinds OF_BENCHMARK read a benchmark of the run instead.
    """
    return [] if entry["kind"] in OF_BENCHMARK else entry["files"]


def files_below(name: str) -> list[str]:
    """Return the files below a folder of the user's, sorted; none for what is no such folder.

    Names without a slash, and what a rule makes, are left to the rule that makes them.
    """
    made = ("<", f"{DOWNLOADS}/")
    if "/" not in name or name.startswith(made) or not Path(name).is_dir():
        return []
    return sorted(str(path) for path in Path(name).rglob("*") if path.is_file())


def results_folder(config: Mapping) -> str:
    """Return the folder of a scale's results; what is unpacked from a release stands apart."""
    above = "results/released" if config["metrics_from"] == "released" else "results"
    return f"{above}/{config['scale']}"


def size_below(folder: str | Path) -> int:
    """Return the bytes of all files below a folder, 0 if there is none."""
    total = 0
    for path in Path(folder).rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # a run is at work there
            total += path.lstat().st_size if path.is_file() else 0
    return total
