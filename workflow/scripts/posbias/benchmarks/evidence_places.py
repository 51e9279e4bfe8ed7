"""The ways to find where in a standard benchmark's documents the evidence starts (Fig. 9)."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from posbias.benchmarks import (
    evidence_fever,
    evidence_hotpotqa,
    evidence_scifact,
    evidence_texts,
    evidence_words,
)
from posbias.benchmarks.evidence_records import Judged, Places
from posbias.benchmarks.option_checks import Check, check_values
from posbias.errors import ConfigError, DataError
from posbias.options import check_options


class Locator(NamedTuple):
    """A function of collection, files and options, the check of each option, and what it places."""

    locate: Callable[..., Places]
    options: Mapping[str, Check]
    unit: str


LOCATORS: dict[str, Locator] = {
    "words": Locator(
        evidence_words.locate_words,
        evidence_words.OPTIONS,
        "sentence with most words of the query",
    ),
    "texts": Locator(evidence_texts.locate_texts, evidence_texts.OPTIONS, "evidence text"),
    "scifact": Locator(
        evidence_scifact.locate_scifact, evidence_scifact.OPTIONS, "rationale sentence"
    ),
    "hotpotqa": Locator(
        evidence_hotpotqa.locate_hotpotqa, evidence_hotpotqa.OPTIONS, "supporting fact"
    ),
    "fever": Locator(
        evidence_fever.locate_fever, evidence_fever.FEVER_OPTIONS, "evidence sentence"
    ),
    "climate_fever": Locator(
        evidence_fever.locate_climate_fever, evidence_fever.CLIMATE_OPTIONS, "evidence sentence"
    ),
}


def check_places(place: str, kind: str, options: Mapping[str, Any]) -> None:
    """Check kind and options of a benchmark's evidence, without a look at its data.

    place: where they stand in the config. Raises ConfigError for a kind that LOCATORS lacks, an
    option that it does not take, and a value that the option cannot have.
    """
    if not isinstance(kind, str) or kind not in LOCATORS:
        raise ConfigError(f"{place}: kind {kind!r} is not one of {', '.join(LOCATORS)}.")
    check_options(f"{place}.options", LOCATORS[kind].locate, options, given=2)
    check_values(f"{place}.options", LOCATORS[kind].options, options)


def locate(kind: str, judged: Judged, files: Sequence[Path], options: Mapping[str, Any]) -> Places:
    """Find where evidence starts in the relevant documents, by a kind of LOCATORS (Fig. 9).

    Raises ConfigError as `check_places` does; DataError for files of another format, and where
    no evidence at all was found.
    """
    check_places("evidence_places", kind, options)
    places = LOCATORS[kind].locate(judged, files, **options)
    if not places.starts:
        raise DataError(
            f"evidence_places: kind {kind} found none of {places.considered} pieces of evidence "
            f"({places.counts()['dropped'] or 'none is of the benchmark'}); check files and kind."
        )
    return places
