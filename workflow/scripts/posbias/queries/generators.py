"""The registry of query generators: a new one is one entry here and one block in the config."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from posbias.errors import ConfigError
from posbias.options import check_options
from posbias.queries.candidates import Candidate
from posbias.queries.cloze import ClozeGenerator


class QueryGenerator(Protocol):
    """Makes candidates from document records (`doc_id`, `text`, `bin`)."""

    name: str

    def generate(self, documents: Iterable[dict], dropped: Counter) -> Iterator[Candidate]: ...


def _cloze(seed: int, options: dict) -> QueryGenerator:
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    own = {"seed": seed, "stopwords": frozenset(STOPWORDS_EN_PLUS), "name": "cloze"}
    check_options("queries.options", ClozeGenerator, options, own=own)
    return ClozeGenerator(**own, **options)


GENERATORS: dict[str, Callable[[int, dict], QueryGenerator]] = {"cloze": _cloze}


def make_generator(name: str, seed: int, options: dict) -> QueryGenerator:
    """Build a generator by name; raises ConfigError listing the known ones."""
    if name not in GENERATORS:
        raise ConfigError(
            f"queries.generator: {name!r} does not exist; known: {', '.join(sorted(GENERATORS))}."
        )
    return GENERATORS[name](seed, options)
