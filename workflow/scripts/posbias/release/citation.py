"""What CITATION.cff says of the project, for the descriptions that travel with a release."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from posbias.errors import DataError

REQUIRED = ("title", "version", "license", "authors")


@dataclass(frozen=True)
class Author:
    """A person or a group; orcid is the whole address of one, None if it is not given."""

    name: str
    family: str | None
    given: str | None
    orcid: str | None
    affiliation: str | None

    @property
    def sorted_name(self) -> str:
        """The name as lists of authors sort it, family name first."""
        parts = [part for part in (self.family, self.given) if part]
        return ", ".join(parts) if parts else self.name


@dataclass(frozen=True)
class Work:
    """A work that the project refers to."""

    title: str
    authors: tuple[Author, ...]
    year: int | None
    url: str | None
    identifier: str | None


@dataclass(frozen=True)
class Citation:
    """The project: `licence` is an SPDX name, `date` of the form YYYY-MM-DD or None."""

    title: str
    version: str
    licence: str
    abstract: str
    keywords: tuple[str, ...]
    authors: tuple[Author, ...]
    works: tuple[Work, ...]
    repository: str | None
    doi: str | None
    date: str | None

    @property
    def made_with(self) -> str:
        """Name and version of the software; the name ends where the title explains it."""
        return f"{self.title.split(':')[0].strip()} {self.version}"


def _author(entry: Mapping[str, Any]) -> Author:
    given, family = entry.get("given-names"), entry.get("family-names")
    parts = [str(part) for part in (given, entry.get("name-particle"), family) if part]
    name = entry.get("name") or entry.get("alias") or " ".join(parts)
    return Author(str(name), family, given, entry.get("orcid"), entry.get("affiliation"))


def _work(entry: Mapping[str, Any]) -> Work:
    identifiers = [str(one["value"]) for one in entry.get("identifiers", ()) if "value" in one]
    return Work(
        str(entry["title"]),
        tuple(_author(author) for author in entry.get("authors", ())),
        entry.get("year"),
        entry.get("url"),
        entry.get("doi") or next(iter(identifiers), None),
    )


def read_citation(path: Path) -> Citation:
    """Read CITATION.cff; raises DataError naming it and what is missing."""
    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as fault:
        raise DataError(f"{path}: not a readable citation file: {fault}") from fault
    found = content if isinstance(content, dict) else {}
    missing = [name for name in REQUIRED if not found.get(name)]
    if missing:
        raise DataError(f"{path}: without {', '.join(missing)}; add them and run again.")
    licence, date = found["license"], found.get("date-released")
    return Citation(
        title=str(found["title"]),
        version=str(found["version"]),
        licence=licence if isinstance(licence, str) else " OR ".join(licence),
        abstract=" ".join(str(found.get("abstract", "")).split()),
        keywords=tuple(found.get("keywords", ())),
        authors=tuple(_author(author) for author in found["authors"]),
        works=tuple(_work(work) for work in found.get("references", ()) if "title" in work),
        repository=found.get("repository-code"),
        doi=found.get("doi"),
        date=None if date is None else str(date),
    )
