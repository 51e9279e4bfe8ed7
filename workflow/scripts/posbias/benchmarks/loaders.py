"""The kinds of test collections, the loader of each, and the options that it takes."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from posbias.benchmarks import beir, fineweb, heldout, leads, posir, squad
from posbias.benchmarks import reversed as mirrored
from posbias.benchmarks.loaded import Loaded
from posbias.benchmarks.option_checks import Check, check_values
from posbias.errors import ConfigError
from posbias.options import check_options


class Loader(NamedTuple):
    """A function of files, seed and options, and the check of each option."""

    load: Callable[..., Loaded]
    options: Mapping[str, Check]


LOADERS: dict[str, Loader] = {
    "heldout": Loader(heldout.load_heldout, heldout.OPTIONS),
    "squad": Loader(squad.load_squad, squad.OPTIONS),
    "fineweb": Loader(fineweb.load_fineweb, fineweb.OPTIONS),
    "posir": Loader(posir.load_posir, posir.OPTIONS),
    "beir": Loader(beir.load_beir, beir.OPTIONS),
    "leads": Loader(leads.load_leads, leads.OPTIONS),
    "reversed": Loader(mirrored.load_reversed, mirrored.OPTIONS),
}


def _check(kind: str, options: Mapping[str, Any], of_kind: str, of_options: str) -> None:
    if not isinstance(kind, str) or kind not in LOADERS:
        raise ConfigError(f"{of_kind}: kind {kind!r} is not one of {', '.join(LOADERS)}.")
    check_options(of_options, LOADERS[kind].load, options, given=2)
    check_values(of_options, LOADERS[kind].options, options)


def check_loader(name: str, kind: str, options: Mapping[str, Any]) -> None:
    """Check the block of a benchmark in the config, without a look at its data.

    name: of the benchmark. Raises ConfigError for a kind that LOADERS lacks, for an option that
    its loader does not take or misses, and for a value that the option cannot have.
    """
    where = f"config, benchmarks.known.{name}"
    _check(kind, options, where, f"{where}.options")


def load(kind: str, files: Sequence[Path], options: Mapping[str, Any], seed: int) -> Loaded:
    """Load a test collection of a kind of LOADERS from files and folders.

    options: those of its loader. Raises ConfigError for an unknown kind or option, and for a value
    that an option cannot have; DataError for data that does not hold what its format promises.
    """
    _check(kind, options, "benchmarks", f"benchmarks: options of kind {kind}")
    return LOADERS[kind].load(files, seed, **options)
