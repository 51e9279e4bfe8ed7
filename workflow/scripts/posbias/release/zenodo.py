""".zenodo.json: the release described as a deposit, so that it can be given a DOI."""

import json
from typing import Any

from posbias.release.citation import Author, Citation, Work

ZENODO = ".zenodo.json"


def _creator(author: Author) -> dict[str, Any]:
    creator = {"name": author.sorted_name}
    if author.affiliation:
        creator["affiliation"] = author.affiliation
    if author.orcid:
        creator["orcid"] = author.orcid.rstrip("/").rsplit("/", 1)[-1]
    return creator


def _related(work: Work) -> dict[str, str]:
    return {
        "identifier": str(work.identifier or work.url),
        "relation": "references",
        "resource_type": "publication-article",
    }


def zenodo_metadata(title: str, description: str, citation: Citation, date: str | None) -> str:
    """Return the metadata of a deposit as JSON text; date: YYYY-MM-DD, None to leave it open."""
    content = {
        "title": title,
        "upload_type": "dataset",
        "description": description,
        "creators": [_creator(author) for author in citation.authors],
        "access_right": "open",
        "license": citation.licence.lower(),
        "version": citation.version,
        "keywords": list(citation.keywords),
        "related_identifiers": [
            _related(work) for work in citation.works if work.identifier or work.url
        ],
    }
    if date is not None:
        content["publication_date"] = date
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
