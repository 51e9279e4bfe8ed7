"""Encode the passages of one listwise corpus by both packaged encoders."""

import logging
from pathlib import Path

from adapter import start
from posbias.files import read_jsonl, whole_file
from posbias.listwise.reranking import PLACEHOLDER
from posbias.models.encoder import encode_unit, load_encoder, set_threads

log = logging.getLogger("embed")


def main(
    passages: Path,
    encoders: list[Path],
    vectors: Path,
    placeholder: str,
    max_tokens: int,
    batch_size: int,
    threads: int,
) -> None:
    """Encode passages once, for dense search and for the passage-embedding scorer.

    Args:
        passages: JSON lines with doc_id and text
        encoders: SentenceTransformer folders; the folder's name names its vectors
        vectors: safetensors file to write: per encoder (passages, width), and the placeholder's
        placeholder: text of the passage without content that calibration shows
        max_tokens: where a passage is cut, in tokens
        batch_size: texts encoded at a time
        threads: CPU threads
    """
    from safetensors.numpy import save_file

    set_threads(threads)
    texts = [record["text"] for record in read_jsonl(passages, ("doc_id", "text"))]
    found = {}
    for folder in encoders:
        encoder = load_encoder(folder)
        encoder.max_seq_length = max_tokens
        name = folder.name
        found[name] = encode_unit(encoder, texts, batch_size, f"embed {name}")
        found[f"{PLACEHOLDER}_{name}"] = encode_unit(encoder, [placeholder], batch_size, name)
    with whole_file(vectors) as part:
        save_file(found, str(part), metadata={PLACEHOLDER: placeholder})
    log.info("wrote %d vectors per encoder to %s", len(texts), vectors)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
