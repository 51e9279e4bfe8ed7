"""Lead sections of Wikipedia articles: a corpus of another kind than running text."""

from collections import Counter
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path

from posbias.errors import ConfigError, DataError
from posbias.files import read_json
from posbias.keyed import keyed_order

FIELDS = ("title", "extract", "description")


@dataclass(frozen=True)
class Passage:
    """What a reranker is shown; a lead section has the title that asks for it."""

    doc_id: str
    title: str
    text: str

    def record(self) -> dict:
        return asdict(self)


@dataclass(frozen=True)
class Lead:
    """A lead section and what its article is about, in a few words; empty if nothing says so."""

    passage: Passage
    description: str


def read_leads(
    path: Path,
    min_chars: int,
    max_chars: int,
    limit: int,
    seed: int,
    dropped: Counter,
    known_titles: Collection[str] = (),
) -> list[Passage]:
    """Return the passages of `read_described_leads`."""
    leads = read_described_leads(path, min_chars, max_chars, limit, seed, dropped, known_titles)
    return [lead.passage for lead in leads]


def read_described_leads(
    path: Path,
    min_chars: int,
    max_chars: int,
    limit: int,
    seed: int,
    dropped: Counter,
    known_titles: Collection[str] = (),
) -> list[Lead]:
    """Return up to `limit` lead sections of `min_chars` to `max_chars` code points, both included.

    path: a JSON object of {title, extract, description} by id. Which ones are taken depends on
    seed and title only. Articles of `known_titles` are left out: other corpora hold their text.
    `dropped` counts what was left out, by reason. Raises DataError for
    another layout, ConfigError where no section has such a length.
    """
    content = read_json(path)
    if not isinstance(content, dict):
        raise DataError(f"{path}: expected an object of lead sections, found a {type(content)}.")
    found: dict[str, Lead] = {}
    for key, record in content.items():
        if not isinstance(record, dict) or not all(
            isinstance(record.get(field), str) for field in FIELDS
        ):
            raise DataError(
                f"{path}: record {key!r} lacks one of the texts {', '.join(FIELDS)}; "
                "reinstall the package with `make reinstall`."
            )
        text = " ".join(record["extract"].split())
        if not min_chars <= len(text) <= max_chars:
            dropped[f"length outside {min_chars}-{max_chars} characters"] += 1
            continue
        if record["title"] in known_titles:
            dropped["article of another corpus"] += 1
            continue
        doc_id = "lead-" + "_".join(record["title"].split())
        if doc_id in found:
            dropped["title seen before"] += 1
            continue
        description = " ".join(record["description"].split())
        found[doc_id] = Lead(Passage(doc_id, record["title"], text), description)
    if not found:
        raise ConfigError(f"{path}: no lead section of {min_chars} to {max_chars} characters.")
    ordered = keyed_order(found.values(), seed, key=lambda lead: lead.passage.doc_id)
    dropped["above the limit"] += max(0, len(ordered) - limit)
    return sorted(ordered[:limit], key=lambda lead: lead.passage.doc_id)
