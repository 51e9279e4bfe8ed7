"""Titles and texts of BEIR's documents, apart again, and whom a title in an annotation means."""

import html
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from posbias.benchmarks.evidence_records import Judged
from posbias.benchmarks.evidence_texts import TREEBANK
from posbias.benchmarks.inputs import (
    TABLES,
    check_one_format,
    find_files,
    named,
    table_rows,
    trec_safe,
)
from posbias.errors import DataError

CORPUS, QUERIES, OTHER = "corpus", "queries", "other"
NO_DOCUMENT = "no_relevant_document_of_that_title"
SEVERAL = "several_relevant_documents_of_that_title"


def role_of(file: Path) -> str:
    """Return what a file holds by its name, or else by its folder's: corpus, queries or other."""
    for role in (CORPUS, QUERIES):
        if role in file.name or file.parent.name == role:
            return role
    return OTHER


def files_of(files: Sequence[Path], role: str, *patterns: str) -> list[Path]:
    """Return the data files of a role among given files and those in given folders."""
    found = find_files(files, *(patterns or TABLES))
    return [file for file in found if role_of(file) == role and file.suffix != ".tsv"]


def same_title(title: str) -> str:
    """Return a title as it is compared: brackets, spaces and & as such, one case, one Unicode."""
    title = html.unescape(title)
    for treebank, sign in TREEBANK.items():
        title = title.replace(treebank, sign)
    return " ".join(unicodedata.normalize("NFC", title).replace("_", " ").split()).casefold()


@dataclass(frozen=True)
class Titles:
    """Relevant documents: their titles, and where in a document its text begins.

    titles: as `same_title` returns them.
    """

    titles: Mapping[str, str]
    body_starts: Mapping[str, int]

    def document(self, judged: Judged, query_id: str, title: str) -> tuple[str | None, str | None]:
        """Return the query's relevant document of a title, or None and the fault."""
        wanted = same_title(title)
        found = [
            doc_id
            for doc_id in judged.relevant.get(query_id, ())
            if wanted in (self.titles[doc_id], same_title(doc_id))
        ]
        if len(found) == 1:
            return found[0], None
        return None, SEVERAL if found else NO_DOCUMENT


def read_titles(files: Sequence[Path], judged: Judged) -> Titles:
    """Read the titles of the relevant documents from the corpus that the benchmark was built of.

    Raises DataError naming the files where there is no corpus among them, where it lacks a
    relevant document, and where that has another text than the benchmark.
    """
    corpus = files_of(files, CORPUS)
    if not corpus:
        raise DataError(
            f"{named(files) or 'evidence_places'}: no corpus of BEIR among the files, which tells "
            "titles from texts; name the benchmark's own download, too."
        )
    check_one_format(corpus, "corpus")
    titles, body_starts = {}, {}
    for file in corpus:
        for number, record in table_rows(file, ("_id", "text"), ("title",)):
            doc_id = trec_safe(str(record["_id"]))
            if doc_id not in judged.texts:
                continue
            body, document = record["text"] or "", judged.texts[doc_id]
            body = body if body.strip() else ""
            if not document.endswith(body):
                raise DataError(
                    f"{file}, row {number}: document {doc_id!r} does not end in this text; the "
                    "benchmark was built of another corpus, build it again."
                )
            titles[doc_id] = same_title(record.get("title") or "")
            body_starts[doc_id] = len(document) - len(body)
    missing = judged.texts.keys() - titles.keys()
    if missing:
        raise DataError(
            f"{named(corpus)}: lacks {len(missing)} relevant documents of the benchmark, such as "
            f"{min(missing)!r}; name the corpus that it was built of."
        )
    return Titles(titles, body_starts)
