"""Train one retriever on one setting; the checkpoint loads with SentenceTransformer(path)."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.errors import DataError, config_place
from posbias.files import (
    content_hash,
    read_jsonl,
    sha256_file,
    stream_jsonl,
    whole_directory,
    write_text,
)
from posbias.measures.truncation import evidence_span
from posbias.models.checkpoints import seal_checkpoint
from posbias.models.encoder import set_threads
from posbias.models.pretrained import base_facts
from posbias.models.retriever import Retriever, build_retriever, longest_input
from posbias.models.tokenizers import describe
from posbias.training.card import model_card
from posbias.training.contrastive import make_trainer, pairs_left_out
from posbias.training.resumption import check_finite, forget_states, last_state, train_from

log = logging.getLogger("train")

EVIDENCE = {
    "begin": "evidence at the beginning",
    "middle": "evidence in the middle",
    "end": "evidence at the end",
    "uniform": "evidence in all positions alike",
}


def read_pairs(pairs: Path, documents: Path) -> list[dict]:
    """Join the queries of a setting with their documents' texts; other documents are not kept."""
    queries = read_jsonl(pairs, ("query_id", "doc_id", "bin", "position", "query"))
    wanted = {query["doc_id"] for query in queries}
    texts = {
        document["doc_id"]: document["text"]
        for document in stream_jsonl(documents, ("doc_id", "text"))
        if document["doc_id"] in wanted
    }
    for query in queries:
        if query["doc_id"] not in texts:
            raise DataError(
                f"{pairs}: query {query['query_id']} belongs to the document {query['doc_id']}, "
                f"which {documents} lacks; run the corpus and the balancing step again."
            )
    return [{**query, "text": texts[query["doc_id"]]} for query in queries]


def main(
    pairs: Path,
    documents: Path,
    encoder: list[Path],
    checkpoint_folder: list[Path],
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
        encoder: folder of the encoder that gives tokenizer and token vectors; none for a retriever
            that starts from a checkpoint
        checkpoint_folder: folder of the checkpoint that the retriever starts from; none for one
            from scratch
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
    starts = "checkpoint" in entry and checkpoint_folder
    base = base_facts(entry["checkpoint"], *checkpoint_folder) if starts else None
    settings = {
        "retriever": retriever,
        "setting": setting,
        "seed": seed,
        "entry": entry,
        "token_vectors_std": token_vectors_std,
        "training": training,
        "pairs": len(joined),
        "data_sha256": sha256_file(pairs),
        **({"base": base} if base else {}),
    }
    name = f"train {retriever}/{setting}"
    states = Path(resume_dir) / content_hash(settings)
    with config_place(f"retrievers.known.{retriever}"):
        model = build_retriever(
            entry,
            next(iter(encoder), None),
            token_vectors_std,
            training["max_tokens"],
            seed,
            next(iter(checkpoint_folder), None),
        )
    state = last_state(states)
    log.info("%s: %d pairs, seed %d%s", name, len(joined), seed,
             f", resuming from {state}" if state else "")  # fmt: skip
    trainer = make_trainer(model, joined, training, entry["learning_rate"], seed, states, name)
    train_from(trainer, state, states)
    check_finite(model, name, entry["learning_rate"])
    # A stored tokenizer tells how it was last called: the call that cuts at the limit comes last.
    tokens = describe(model.tokenizer)
    ends = [evidence_span(pair, pair["text"])[1] for pair in joined]
    cut = Retriever(model).truncated([pair["text"] for pair in joined], ends)
    parameters = list(model.parameters())
    settings |= {
        "steps": trainer.state.global_step,
        "parameters": sum(p.numel() for p in parameters),
        "trained_parameters": sum(p.numel() for p in parameters if p.requires_grad),
        "evidence_truncated": int(cut.sum()),
        "pairs_left_out": pairs_left_out(trainer),
    }
    facts = {
        **training, **entry, **settings,
        "max_tokens": longest_input(entry, training["max_tokens"]),
        "family": model[0].model.config.model_type,
        "base": base,
        "tokens": tokens,
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
