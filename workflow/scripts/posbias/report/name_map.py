"""Which of our retrievers and benchmarks stand for which of the paper's."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from posbias.errors import ConfigError
from posbias.report.comparison_cells import TABLE_3, TABLE_11, TABLE_14, Cell

COMPARISONS = ("directions", "values")
WITH_BENCHMARK = (TABLE_3, TABLE_11, TABLE_14)


@dataclass(frozen=True)
class NameMap:
    """Our keys by the paper's names: of retrievers and of benchmarks; what is absent was not run.

    values: whether our numbers are of the paper's scale, so that they can be held against its own.
    labels: printed names by kind ("retriever", "benchmark") and our key.
    """

    retrievers: Mapping[str, str]
    benchmarks: Mapping[str, str]
    values: bool
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def retriever(self, name: str) -> str:
        """Return the printed name of our retriever for the paper's; empty if none was run."""
        key = self.retrievers.get(name, "")
        return self.labels.get("retriever", {}).get(key, key)

    def benchmark(self, name: str) -> str:
        """Return the printed name of our benchmark for the paper's; empty if none was run."""
        key = self.benchmarks.get(name, "")
        return self.labels.get("benchmark", {}).get(key, key)

    def models_of(self, key: str) -> list[str]:
        """Return the paper's names of one of our retrievers."""
        return [name for name, ours in self.retrievers.items() if ours == key]

    def benchmarks_of(self, key: str) -> list[str]:
        """Return the paper's names of one of our benchmarks."""
        return [name for name, ours in self.benchmarks.items() if ours == key]


def _named(
    comparison: Mapping[str, Any], place: str, known: list[str], unique: bool
) -> dict[str, str]:
    given = {name: key for name, key in (comparison.get(place) or {}).items() if key is not None}
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ConfigError(
            f"comparison.{place}: {', '.join(unknown)} is not in the published tables; "
            f"they have {', '.join(known)}."
        )
    keys = list(given.values())
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if unique and twice:
        raise ConfigError(
            f"comparison.{place}: {', '.join(twice)} stands for two of the paper's; name one."
        )
    return given


def name_map(
    comparison: Mapping[str, Any],
    paper: list[Cell],
    labels: Mapping[str, Mapping[str, str]] | None = None,
) -> NameMap:
    """Return the names of `comparison` {compare, retrievers, benchmarks}, held against the paper's.

    A name without a key (null) was not run. labels: printed names by kind and our key, as the CSVs
    have them; those of `comparison` {labels}, of benchmarks, go before. Raises ConfigError for a
    name that no published number has, or a retriever that stands for two of the paper's.
    """
    compare = comparison.get("compare")
    if compare not in COMPARISONS:
        raise ConfigError(
            f"comparison.compare: {compare!r} is not one of {', '.join(COMPARISONS)}."
        )
    found = {kind: dict(names) for kind, names in (labels or {}).items()}
    models = list(dict.fromkeys(cell.model for cell in paper if cell.model))
    benchmarks = list(
        dict.fromkeys(cell.benchmark for cell in paper if cell.item in WITH_BENCHMARK)
    )
    return NameMap(
        retrievers=_named(comparison, "retrievers", models, unique=True),
        benchmarks=_named(comparison, "benchmarks", benchmarks, unique=False),
        values=compare == "values",
        labels=found | {"benchmark": found.get("benchmark", {}) | (comparison.get("labels") or {})},
    )
