"""Choose the personas that may ask about each document."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adapter import start
from posbias.files import sha256_file, stream_jsonl, write_jsonl
from posbias.models.encoder import check_positions, load_encoder
from posbias.queries.personas import count_lines, nearest_personas, persona_file, read_personas

log = logging.getLogger("personas")


def main(
    documents: Path,
    personas: list[Path],
    encoder: list[Path],
    choices: Path,
    options: dict[str, Any],
) -> None:
    """Choose for every document the personas nearest to it (section 3.1.2: 20, by BGE-M3).

    Args:
        documents: the corpus, JSON lines
        personas: one file of JSON lines with the field persona, or a folder that holds it as
            persona.jsonl; none for our own short list
        encoder: one SentenceTransformer folder
        choices: JSON lines to write: doc_id, the numbers of its personas (0-based lines of their
            file), the nearest first, and the file's SHA-256
        options: nearest (personas of a document), batch_size (texts encoded at a time) and
            max_tokens (where texts are cut)
    """
    source = persona_file(personas[0] if personas else None)
    known, digest = read_personas(source), sha256_file(source)
    model = load_encoder(encoder[0])
    check_positions(model, options["max_tokens"], "queries.personas.max_tokens")
    model.max_seq_length = options["max_tokens"]
    used: set[int] = set()

    def rows() -> Iterator[dict]:
        found = nearest_personas(
            stream_jsonl(documents, ("doc_id", "text")),
            known,
            model,
            options["nearest"],
            options["batch_size"],
            count_lines(documents),
        )
        for doc_id, numbers in found:
            used.update(numbers)
            yield {"doc_id": doc_id, "personas": numbers, "personas_sha256": digest}

    written = write_jsonl(choices, rows())
    log.info(
        "wrote the personas of %d documents to %s; %d of %d personas are near to some",
        written,
        choices,
        len(used),
        len(known),
    )


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
