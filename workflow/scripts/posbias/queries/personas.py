"""Who asks: the personas nearest to each document (retriever study, section 3.1.2).

The paper takes them from PersonaHub by BGE-M3. Its file, or any of JSON lines with the field
`persona`, and any SentenceTransformer folder do; a short list of our own comes with the package.
"""

from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from posbias.errors import DataError
from posbias.files import read_jsonl, sha256_file, stream_jsonl
from posbias.logs import Heartbeat
from posbias.models.encoder import encode_unit
from posbias.retrieval.dense import search

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

OWN_LIST = Path(__file__).parent / "templates" / "personas.jsonl"
FILE_NAME = "persona.jsonl"  # in a folder that was fetched, such as PersonaHub's
DOCUMENTS_AT_ONCE = 1024  # their vectors, and no others, are held with those of the personas


def persona_file(source: Path | None) -> Path:
    """Return the file of a source: a file, a folder that holds persona.jsonl, or our own list."""
    if source is None:
        return OWN_LIST
    return source / FILE_NAME if source.is_dir() else source


def read_personas(path: Path) -> list[str]:
    """Return the personas of a file in its order, with single spaces.

    Raises DataError naming the line of one that is no text or an empty one, or that there is none.
    """
    personas = []
    for number, record in enumerate(read_jsonl(path, ("persona",)), start=1):
        text = record["persona"]
        if not isinstance(text, str) or not text.strip():
            raise DataError(
                f"{path}, line {number}: persona is {text!r}; it must be a sentence about somebody."
            )
        personas.append(" ".join(text.split()))
    if not personas:
        raise DataError(f"{path}: holds no persona; fetch it again, or use our own list.")
    return personas


def count_lines(path: Path) -> int:
    """Return the lines of a file, 0 where there is none: reading it will say so."""
    if not path.is_file():
        return 0
    with path.open("rb") as lines:
        return sum(1 for _ in lines)


def nearest_personas(
    documents: Iterable[dict],
    personas: list[str],
    encoder: "SentenceTransformer",
    nearest: int,
    batch_size: int,
    total: int,
) -> Iterator[tuple[str, list[int]]]:
    """Yield doc_id and the 0-based numbers of its nearest personas, by falling cosine.

    Equal cosines go by number. nearest: how many, all if there are fewer personas; batch_size:
    texts encoded at a time; total: documents, for the lines of progress. The personas' vectors
    are held, (personas, width) float32, the documents' a block at a time.
    """
    vectors = encode_unit(encoder, personas, batch_size, "personas")
    heartbeat = Heartbeat("documents with personas", total)
    waiting, done = iter(documents), 0
    while block := list(islice(waiting, DOCUMENTS_AT_ONCE)):
        texts = [document["text"] for document in block]
        found, _ = search(encode_unit(encoder, texts, batch_size, "documents"), vectors, nearest)
        for document, row in zip(block, found.tolist(), strict=True):
            yield document["doc_id"], row
        done += len(block)
        heartbeat.beat(done)


class PersonaChoices:
    """The choices of a file, followed in step with the documents they were made for."""

    def __init__(self, choices: Path, source: Path | None = None) -> None:
        """choices: JSON lines of choose_personas; source: as for `persona_file`."""
        self.choices, self.file = choices, persona_file(source)
        self.personas = read_personas(self.file)
        self.sha256 = sha256_file(self.file)

    def follow(self, documents: Iterable[dict]) -> Iterator[tuple[dict, list[str]]]:
        """Yield each document with its personas, the nearest first.

        Raises DataError naming file and line where the choices are not those of these documents
        and personas.
        """
        remedy = "delete it and run the step that chooses personas again"
        choices = stream_jsonl(self.choices, ("doc_id", "personas", "personas_sha256"))
        for number, (document, choice) in enumerate(zip_longest(documents, choices), start=1):
            place = f"{self.choices}, line {number}"
            here, there = (row["doc_id"] if row else None for row in (document, choice))
            if here != there:
                raise DataError(
                    f"{place}: is of document {there}, the corpus is at {here}; {remedy}."
                )
            if choice["personas_sha256"] != self.sha256:
                raise DataError(f"{place}: made from another file than {self.file}; {remedy}.")
            rows = choice["personas"]
            if not rows or not all(row in range(len(self.personas)) for row in rows):
                raise DataError(
                    f"{place}: persona numbers {rows}, of {len(self.personas)}; {remedy}."
                )
            yield document, [self.personas[row] for row in rows]
