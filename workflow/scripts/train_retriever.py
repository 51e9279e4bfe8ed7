"""Train one retriever on one setting; the checkpoint loads with SentenceTransformer(path)."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.errors import DataError
from posbias.files import (
    content_hash,
    read_jsonl,
    sha256_file,
    whole_directory,
    write_text,
)
from posbias.models.checkpoints import seal_checkpoint
from posbias.models.encoder import set_threads
from posbias.models.retriever import Retriever, build_retriever
from posbias.training.card import model_card
from posbias.training.contrastive import make_trainer
from posbias.training.resumption import check_finite, forget_states, last_state, train_from

log = logging.getLogger("train")

EVIDENCE = {
    "begin": "evidence at the beginning",
    "middle": "evidence in the middle",
    "end": "evidence at the end",
    "uniform": "evidence in all positions alike",
}


def read_pairs(pairs: Path, documents: Path) -> list[dict]:
    """Join the queries of a setting with their documents' texts."""
    texts = {d["doc_id"]: d["text"] for d in read_jsonl(documents, ("doc_id", "text"))}
    joined = []
    for pair in read_jsonl(pairs, ("query_id", "doc_id", "bin", "query")):
        if pair["doc_id"] not in texts:
            raise DataError(
                f"{pairs}: query {pair['query_id']} belongs to the document {pair['doc_id']}, "
                f"which {documents} lacks; run the corpus and the balancing step again."
            )
        joined.append({**pair, "text": texts[pair["doc_id"]]})
    return joined


def main(
    pairs: Path,
    documents: Path,
    encoder: Path,
    checkpoint: Path,
    retriever: str,
    setting: str,
    entry: dict[str, Any],
    token_vectors_std: float,
    training: dict[str, Any],
    seed: int,
    resume_dir: Path,
    scale: dict[str, str],
) -> None:
    """Train one retriever on one setting (section 4.2).

    Args:
        pairs: the setting's queries, JSON lines
        documents: the corpus, JSON lines
        encoder: folder of the encoder that gives tokenizer and token vectors
        checkpoint: folder to write
        retriever: key of the retriever in the config
        setting: begin, middle, end or uniform
        entry: the retriever's block of the config
        token_vectors_std: standard deviation of the token vectors
        training: the training block of the config
        seed: seed of weights, batches and dropout
        resume_dir: folder for states to resume from; removed after success
        scale: name and note of the scale, for the model card
    """
    set_threads(training["threads"])
    joined = read_pairs(pairs, documents)
    settings = {
        "retriever": retriever,
        "setting": setting,
        "seed": seed,
        "entry": entry,
        "token_vectors_std": token_vectors_std,
        "training": training,
        "pairs": len(joined),
        "data_sha256": sha256_file(pairs),
    }
    name = f"train {retriever}/{setting}"
    states = Path(resume_dir) / content_hash(settings)
    model = build_retriever(entry, encoder, token_vectors_std, training["max_tokens"], seed)
    state = last_state(states)
    log.info("%s: %d pairs, seed %d%s", name, len(joined), seed,
             f", resuming from {state}" if state else "")  # fmt: skip
    trainer = make_trainer(model, joined, training, entry["learning_rate"], seed, states, name)
    train_from(trainer, state, states)
    check_finite(model, name, entry["learning_rate"])
    ends = [pair["answer_end"] or 0 for pair in joined]
    cut = Retriever(model).truncated([pair["text"] for pair in joined], ends)
    parameters = list(model.parameters())
    settings |= {
        "steps": trainer.state.global_step,
        "parameters": sum(p.numel() for p in parameters),
        "trained_parameters": sum(p.numel() for p in parameters if p.requires_grad),
        "evidence_truncated": int(cut.sum()),
    }
    facts = {
        **entry, **training, **settings,
        "evidence": EVIDENCE[setting],
        "scale": scale["name"],
        "note": scale["note"],
        "scale_factor": training["scale"],
    }  # fmt: skip
    with whole_directory(checkpoint) as part:
        model.save(str(part), create_model_card=False, safe_serialization=True)
        write_text(part / "README.md", model_card(facts))
        seal_checkpoint(part, settings)
    forget_states(resume_dir)
    log.info("%s: wrote %s after %d steps", name, checkpoint, settings["steps"])


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
