"""The listwise study in the small, script after script, on made-up texts in one folder."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import augment_lists
import embed_passages
import estimate_propensity
import evaluate_orders
import evaluate_permutations
import evaluate_slots
import make_listwise_queries
import order_by_teacher
import search_first_stages
import select_passages
import summarise_listwise
import train_reranker
from listwise_settings import (
    CLOZE,
    COLLECTIONS,
    CUTOFF,
    DEPTH,
    ENCODERS,
    EVALUATION,
    IPS,
    KINDS,
    MEMBERS,
    MODELS,
    SCALE,
    SCORER,
    SEED,
    SEEDS,
    STAGES,
    SYSTEMS,
    TESTS,
    TRAINING,
    WINDOW,
    WordEncoder,
    write_texts,
)
from posbias.files import write_jsonl


@dataclass(frozen=True)
class Chain:
    """The folder of a whole run; names of files in it, and the arguments of its scripts."""

    root: Path

    def corpus(self, name: str, file: str) -> Path:
        return self.root / "corpora" / name / file

    def collection(self, name: str, file: str) -> Path:
        return self.root / "collections" / name / file

    def run(self, name: str, stage: str) -> Path:
        return self.collection(name, f"runs/{stage}.txt")

    def files(self, name: str) -> dict[str, Path]:
        corpus = COLLECTIONS[name]
        return {
            "passages": self.corpus(corpus, "passages.jsonl"),
            "queries": self.collection(name, "queries.jsonl"),
            "qrels": self.collection(name, "qrels.txt"),
            "vectors": self.corpus(corpus, "vectors.safetensors"),
            "query_vectors": self.collection(name, "vectors.safetensors"),
        }

    def tests(self, names: list[str]) -> dict[str, list[Path]]:
        files = [self.files(name) for name in names]
        return {key: [of_one[key] for of_one in files] for key in files[0]}

    def checkpoint(self, model: str, seed: int) -> Path:
        return self.root / "models" / model / str(seed)

    def checkpoints(self, model: str) -> list[Path]:
        return [self.checkpoint(model, seed) for seed in SEEDS] if model in MODELS else []

    def evaluated(self, kind: str, system: str, ending: str = "parquet") -> Path:
        return self.root / "evaluation" / kind / f"{system}.{ending}"

    @property
    def lists(self) -> Path:
        return self.root / "training" / "lists.jsonl"

    def shown(self, kind: str) -> Path:
        return self.root / "training" / "shown" / f"{kind}.jsonl"

    def propensity(self, seed: int) -> Path:
        return self.root / "propensity" / f"{seed}.json"

    @property
    def measures(self) -> Path:
        return self.root / "measures.json"

    def select_arguments(self, corpus: str) -> dict[str, Any]:
        options = {"source": "documents", "split": corpus}
        if corpus == "leads":
            options = {"source": "leads", "min_chars": 20, "max_chars": 400, "limit": 14}
        return {"documents": self.root / "documents.jsonl", "corpus": options, "asset": {},
                "passages": self.corpus(corpus, "passages.jsonl"),
                "summary": self.corpus(corpus, "summary.json"), "seed": SEED}  # fmt: skip

    def search_arguments(self, name: str, out: Path | None = None) -> dict[str, Any]:
        out = out or self.collection(name, "")
        return self.files(name) | {
            "encoders": [Path(e) for e in ENCODERS], "query_vectors": out / "vectors.safetensors",
            "runs": [out / "runs" / f"{stage}.txt" for stage in STAGES], "stages": STAGES,
            "depth": DEPTH, "max_tokens": 64, "batch_size": 8, "threads": 1,
        }  # fmt: skip

    def teacher_arguments(self, out: Path | None = None) -> dict[str, Any]:
        out = out or self.root / "training"
        return self.files("train") | {
            "run": self.run("train", "bm25"), "lists": out / "lists.jsonl",
            "summary": out / "teacher.json", "members": MEMBERS, "window": WINDOW,
            "first_stage": "bm25", "cutoff": CUTOFF,
        }  # fmt: skip

    def train_arguments(self, model: str, seed: int, out: Path | None = None) -> dict[str, Any]:
        entry = MODELS[model]
        return self.files("train") | {
            "lists": self.lists, "shown": self.shown(entry["augmentation"]),
            "propensity": [self.propensity(seed)] if entry["ips"] else [], "base": [],
            "checkpoint": out or self.checkpoint(model, seed), "model": model, "entry": entry,
            "scorer": SCORER, "training": TRAINING, "ips": IPS, "seed": seed,
            "resume_dir": (out or self.root).parent / "resume" / f"{model}-{seed}",
            "scale": SCALE,
        }  # fmt: skip

    def propensity_arguments(self, seed: int, out: Path | None = None) -> dict[str, Any]:
        return self.files("train") | {
            "run": self.run("train", "bm25"), "checkpoint": self.checkpoint("first", seed),
            "propensity": out or self.propensity(seed), "model": "first", "model_seed": seed,
            "scorer": SCORER, "window": WINDOW, "n_queries": 20, "shuffles": 4, "seed": SEED,
            "batch_size": 16, "threads": 1,
        }  # fmt: skip

    def _system_arguments(self, kind: str, system: str, out: Path | None) -> dict[str, Any]:
        place = (out / system) if out else self.evaluated(kind, system).with_suffix("")
        return {
            "checkpoints": self.checkpoints(system), "model": system, "seeds": SEEDS,
            "scorer": SCORER, "values": place.with_suffix(".parquet"),
            "summary": place.with_suffix(".json"),
        }  # fmt: skip

    def inferences(self, system: str) -> list[str]:
        calibrate = system in MODELS and MODELS[system]["calibrate"]
        return ["plain", "calibrated"] if calibrate else ["plain"]

    def slots_arguments(self, system: str, out: Path | None = None) -> dict[str, Any]:
        return self.files("wiki") | self._system_arguments("slots", system, out) | {
            "run": self.run("wiki", "one"), "inferences": self.inferences(system),
            "window": WINDOW, "limit": 12, "cutoff": CUTOFF, "batch_size": 16, "threads": 1,
        }  # fmt: skip

    def orders_arguments(self, system: str, out: Path | None = None) -> dict[str, Any]:
        found = self._system_arguments("orders", system, out)
        stability = found["values"].with_suffix(".stability.parquet")
        return self.tests(TESTS) | found | {
            "runs": [self.run(name, stage) for name in TESTS for stage in STAGES],
            "stability": stability, "reranked": found["values"].with_suffix(".runs"),
            "inferences": self.inferences(system),
            "collections": TESTS, "stages": list(STAGES), "main_stage": "one",
            "evaluation": EVALUATION | {"depth": DEPTH, "shuffles": 2, "queries": 12},
            "seed": SEED,
        }  # fmt: skip

    def permutations_arguments(self, system: str, out: Path | None = None) -> dict[str, Any]:
        return self.tests(["wiki"]) | self._system_arguments("permutations", system, out) | {
            "runs": [self.run("wiki", "one")], "collections": ["wiki"],
            "depths": [{"depth": WINDOW, "aggregates": ["borda", "kemeny"]},
                       {"depth": DEPTH, "aggregates": ["borda"]}],
            "evaluation": EVALUATION, "orders": 3, "limit": 10, "seed": SEED,
        }  # fmt: skip

    def summary_arguments(self, out: Path | None = None) -> dict[str, Any]:
        def every(kind: str, systems: list[str], ending: str = "parquet") -> list[Path]:
            return [self.evaluated(kind, system, ending) for system in systems]

        labels = {"wiki": ("Wikipedia", "in"), "titles": ("titles", "out")}
        return {
            "slots": every("slots", SYSTEMS), "slot_summaries": every("slots", SYSTEMS, "json"),
            "orders": every("orders", SYSTEMS), "order_summaries": every("orders", SYSTEMS, "json"),
            "stability": every("orders", SYSTEMS, "stability.parquet"),
            "permutations": every("permutations", ["first", "debiased"]),
            "permutation_summaries": every("permutations", ["first", "debiased"], "json"),
            "propensity": [self.propensity(seed) for seed in SEEDS],
            "teacher": self.root / "training" / "teacher.json",
            "shown": self.root / "training" / "shown.json", "measures": out or self.measures,
            "study": {
                "ips": IPS, "models": MODELS, "references": {"cosine": {"label": "cosine"}},
                "roles": {"baseline": "first", "proposed": "debiased"}, "seeds": SEEDS,
                "main_stage": "one", "window": WINDOW, "depth": DEPTH, "cutoff": CUTOFF,
                "collections": {n: dict(zip(("label", "domain"), v, strict=True))
                                for n, v in labels.items()},
                "first_stages": {name: stage["label"] for name, stage in STAGES.items()},
                "inferences": {"plain": "", "calibrated": " + calibration"},
                "slots_collection": "wiki", "depths": [WINDOW, DEPTH],
            },
            "first_slots": 2, "resamples": 200, "level": 0.9, "seed": SEED,
        }  # fmt: skip


def fake_encoders(patch: pytest.MonkeyPatch) -> None:
    """Let the scripts that encode texts load a WordEncoder instead."""
    for script in (embed_passages, make_listwise_queries, search_first_stages):
        patch.setattr(script, "load_encoder", WordEncoder)


def lose_one_query(path: Path) -> str:
    """Give the first query a text that no passage shares a word with; return its id."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    lines[0]["text"] = "zyzzyva"
    write_jsonl(path, lines)
    return lines[0]["query_id"]


def run_chain(root: Path) -> Chain:
    """Run every script of the study once, in the order of the workflow."""
    chain = Chain(root)
    write_texts(root)
    for corpus in ("train", "heldout", "leads"):
        select_passages.main(**chain.select_arguments(corpus))
        embed_passages.main(
            passages=chain.corpus(corpus, "passages.jsonl"),
            encoders=[Path(name) for name in ENCODERS],
            vectors=chain.corpus(corpus, "vectors.safetensors"),
            placeholder="N/A", max_tokens=64, batch_size=8, threads=1,
        )  # fmt: skip
    for name, corpus in COLLECTIONS.items():
        make_listwise_queries.main(
            passages=chain.corpus(corpus, "passages.jsonl"), encoder=Path("one"),
            queries=chain.collection(name, "queries.jsonl"),
            qrels=chain.collection(name, "qrels.txt"),
            summary=chain.collection(name, "summary.json"),
            kind="titles" if name == "titles" else "cloze", cloze=CLOZE, limit=40, seed=SEED,
            batch_size=8, threads=1,
        )  # fmt: skip
        if name == "wiki":
            lose_one_query(chain.collection(name, "queries.jsonl"))
        search_first_stages.main(**chain.search_arguments(name))
    order_by_teacher.main(**chain.teacher_arguments())
    augment_lists.main(
        lists=chain.lists, shown=[chain.shown(kind) for kind in KINDS],
        coverage=root / "training" / "coverage.csv", summary=root / "training" / "shown.json",
        kinds=KINDS, seed=SEED,
    )  # fmt: skip
    for model in MODELS:
        for seed in SEEDS:
            train_reranker.main(**chain.train_arguments(model, seed))
            if model == "first":
                estimate_propensity.main(**chain.propensity_arguments(seed))
    for system in SYSTEMS:
        evaluate_slots.main(**chain.slots_arguments(system))
        evaluate_orders.main(**chain.orders_arguments(system))
    for system in ("first", "debiased"):
        evaluate_permutations.main(**chain.permutations_arguments(system))
    summarise_listwise.main(**chain.summary_arguments())
    return chain
