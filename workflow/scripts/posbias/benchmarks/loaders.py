"""The kinds of test collections, and the loader of each."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from posbias.benchmarks.beir import load_beir
from posbias.benchmarks.fineweb import load_fineweb
from posbias.benchmarks.heldout import load_heldout
from posbias.benchmarks.loaded import Loaded
from posbias.benchmarks.posir import load_posir
from posbias.benchmarks.squad import load_squad
from posbias.errors import ConfigError
from posbias.options import check_options

LOADERS: dict[str, Callable[..., Loaded]] = {
    "heldout": load_heldout,
    "squad": load_squad,
    "fineweb": load_fineweb,
    "posir": load_posir,
    "beir": load_beir,
}


def load(kind: str, files: Sequence[Path], options: Mapping[str, Any], seed: int) -> Loaded:
    """Load a test collection of a kind of LOADERS from files and folders.

    options: those of its loader. Raises ConfigError for an unknown kind or option, DataError for
    data that does not hold what its format promises.
    """
    if kind not in LOADERS:
        raise ConfigError(f"benchmarks: kind {kind!r} is not one of {', '.join(LOADERS)}.")
    check_options(f"benchmarks: options of kind {kind}", LOADERS[kind], options, given=2)
    return LOADERS[kind](files, seed, **options)
