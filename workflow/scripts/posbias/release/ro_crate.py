"""ro-crate-metadata.json: the release described in RO-Crate 1.1, for archives and machines.

RO-Crate asks for a date of publication. It is there if CITATION.cff has date-released, or the
run's provenance a date; a clock would make each release differ.
"""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from posbias.release.citation import Author, Citation, Work
from posbias.release.manifest import CONFIG, MANIFEST, Packed
from posbias.release.names import MEASURES

RO_CRATE = "ro-crate-metadata.json"
VERSION = "https://w3id.org/ro/crate/1.1"
# The context of version 1.1 has no term for a hash.
CONTEXT = [f"{VERSION}/context", {"sha256": "https://schema.org/sha256"}]
FORMATS = {
    ".json": "application/json",
    ".csv": "text/csv",
    ".yaml": "application/yaml",
    ".md": "text/markdown",
}

Entity = dict[str, Any]


def _given(**values: Any) -> Entity:
    """Return the properties that have a value."""
    return {name: value for name, value in values.items() if value not in (None, "", [], ())}


def _ids(entities: list[Entity]) -> list[Entity]:
    return [{"@id": entity["@id"]} for entity in entities]


def _author(author: Author) -> Entity:
    person = author.family is not None
    return {
        "@id": author.orcid or f"#{quote(author.name)}",
        "@type": "Person" if person else "Organization",
        "name": author.name,
        **_given(affiliation=author.affiliation),
    }


def _work(work: Work) -> Entity:
    return {
        "@id": work.url or f"#{quote(work.title)}",
        "@type": "ScholarlyArticle",
        "name": work.title,
        **_given(
            author=[{"@id": _author(author)["@id"]} for author in work.authors],
            identifier=work.identifier,
            datePublished=None if work.year is None else str(work.year),
        ),
    }


def _file(name: str, packed: Packed | None) -> Entity:
    suffix = name[name.rfind(".") :] if "." in name.rsplit("/", 1)[-1] else ""
    hashed = {} if packed is None else _given(sha256=packed.sha256)
    size = {} if packed is None else {"contentSize": str(packed.bytes)}
    return {
        "@id": quote(name),
        "@type": "File",
        "name": name,
        "encodingFormat": FORMATS.get(suffix, "text/plain"),
        **size,
        **hashed,
    }


def ro_crate(
    title: str,
    description: str,
    citation: Citation,
    files: Mapping[str, Packed],
    date: str | None,
) -> str:
    """Return the metadata of a release as JSON text.

    files: all but manifest and this one, whose hashes would depend on it; date: YYYY-MM-DD.
    """
    authors = [_author(author) for author in citation.authors]
    works = [_work(work) for work in citation.works]
    others = {a.name: _author(a) for work in citation.works for a in work.authors}
    licence = {
        "@id": f"https://spdx.org/licenses/{quote(citation.licence)}",
        "@type": "CreativeWork",
        "name": citation.licence,
    }
    measured = [_file(name, packed) for name, packed in files.items() if name.startswith(MEASURES)]
    rest = [_file(name, packed) for name, packed in files.items() if not name.startswith(MEASURES)]
    rest.append(_file(MANIFEST, None))
    measures = {
        "@id": MEASURES,
        "@type": "Dataset",
        "name": "measures that the figures and tables are made of",
        "hasPart": _ids(measured),
    }
    software = {
        "@id": "#software",
        "@type": "SoftwareApplication",
        "name": citation.made_with,
        "version": citation.version,
        "license": {"@id": licence["@id"]},
        **_given(url=citation.repository),
    }
    run = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": "the run that measured",
        "instrument": {"@id": software["@id"]},
        "object": {"@id": CONFIG},
        "result": {"@id": MEASURES},
    }
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": title,
        "description": description,
        "license": {"@id": licence["@id"]},
        "author": _ids(authors),
        "hasPart": [{"@id": MEASURES}, *_ids(rest)],
        "mentions": {"@id": run["@id"]},
        **_given(
            datePublished=date,
            identifier=citation.doi,
            keywords=", ".join(citation.keywords),
            citation=_ids(works),
        ),
    }
    descriptor = {
        "@id": RO_CRATE,
        "@type": "CreativeWork",
        "conformsTo": {"@id": VERSION},
        "about": {"@id": "./"},
    }
    graph = [descriptor, root, licence, *authors, *works, *others.values(), software, run]
    once = {entity["@id"]: entity for entity in [*graph, measures, *measured, *rest]}
    content = {"@context": CONTEXT, "@graph": list(once.values())}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
