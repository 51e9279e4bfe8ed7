"""The paper's own numbers in the CSVs that our figures leave behind."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "expected" / "paper" / "retriever_tables.json"
NOTES = ROOT / "expected" / "paper" / "inconsistencies.json"
SETTINGS = {"MB": "begin", "MM": "middle", "ME": "end", "MU": "uniform", "Base": "base"}
RETRIEVERS = {
    "BERT-base": "bert",
    "Longformer-base": "longformer",
    "ModernBERT-base": "modernbert_base",
    "ModernBERT-large": "modernbert_large",
    "GPT-2-medium": "gpt2",
    "BLOOM-560M": "bloom",
    "TinyLlama-NoPE": "tinyllama_nope",
    "Qwen3-0.6B": "qwen3",
}
BENCHMARKS = {
    "SQuAD-PosQ": "squad_posq",
    "FineWeb-PosQ": "fineweb_posq",
    "PosIR": "posir",
    "SciFact": "scifact",
    "HotpotQA": "hotpotqa",
    "FEVER": "fever",
    "Climate-FEVER": "climate_fever",
}
COMPARISON = {
    "compare": "values",
    "tolerance": {},
    "retrievers": RETRIEVERS,
    "benchmarks": BENCHMARKS,
}
Rows = list[dict[str, Any]]


def published() -> dict[str, Any]:
    """Return the published tables."""
    return json.loads(PUBLISHED.read_text())


def _of(model: str, setting: str, **more: Any) -> dict[str, Any]:
    return {"retriever": RETRIEVERS[model], "label": model, "setting": SETTINGS[setting], **more}


def _psi(data: dict) -> Rows:
    tables = {**data["table3"], "PosIR": data["table11_PosIR"]}
    return [
        _of(
            model, setting, benchmark=BENCHMARKS[benchmark], grouping="thirds", micro_mean=0.999,
            macro_mean=value, macro_low=value - 0.01, macro_high=value + 0.01,
            psi=values["psi"][setting], psi_low=values["psi"][setting] - 0.02,
            psi_high=values["psi"][setting] + 0.02,
        )
        for benchmark, models in tables.items()
        for model, values in models.items()
        for setting, value in values["ndcg10"].items()
    ]  # fmt: skip


def _curves(data: dict) -> Rows:
    rows = []
    for name, places in data["text_points"].items():
        benchmark, model = name.split(" ", 1)
        grouping = "thirds" if "begin" in places else "characters"
        for setting in ("MB", "ME"):
            ends = [values[setting] for values in places.values()]
            # Ours may have other groups between the first and the last, in any order of lines.
            for at, value in ((1, 0.0), (2, ends[1]), (0, ends[0])):
                rows.append(
                    _of(
                        model, setting, benchmark=BENCHMARKS[benchmark], grouping=grouping,
                        group_index=at, group=f"group {at}", mean=value, low=value - 0.01,
                        high=value + 0.01, n=10,
                    )
                )  # fmt: skip
    return rows


def _standard(data: dict) -> Rows:
    return [
        _of(model, setting, benchmark=BENCHMARKS[benchmark], benchmark_label=benchmark, n=9,
            ndcg=value, low=value, high=value)
        for model, benchmarks in data["table14_BEIR_ndcg10"].items()
        for benchmark, settings in benchmarks.items()
        for setting, value in settings.items()
    ]  # fmt: skip


def _moving(data: dict) -> Rows:
    return [
        _of(model, setting, position=at, mean=value, low=value - 0.01, high=value + 0.01, n=5)
        for model, settings in data["table13_evidence_moving"].items()
        for setting, values in settings.items()
        for at, value in enumerate(values["p1_p10"], start=1)
    ]


def _segments(data: dict) -> Rows:
    return [
        _of(model, setting, segment=at, mean=value, low=value, high=value, n=5)
        for model, settings in data["figure7_doc_segment_cosine"].items()
        for setting, values in settings.items()
        for at, value in enumerate(values, start=1)
    ]


def _reversal(data: dict) -> Rows:
    names = ("orig_front", "rev_front_to_back", "orig_back", "rev_back_to_front", "delta")
    return [
        _of(model, setting, **dict(zip(names, values, strict=True)), n_front=3, n_back=3,
            delta_low=values[-1] - 0.001, delta_high=values[-1] + 0.001)
        for model, settings in data["table12_reversal"].items() if model != "columns"
        for setting, values in settings.items()
    ]  # fmt: skip


def _filters(data: dict) -> Rows:
    table = data["table6_filter"]
    names = ("begin", "middle", "end")
    rows = [
        {"filter": "generated", "kept": table["all_generated"]} | dict.fromkeys(names, 1),
        {"filter": "failed (margin < 0)", "kept": table["failed_top_rank"]}
        | dict.fromkeys(names, 1),
    ]
    for threshold, counts in table["thresholds"].items():
        row = {"filter": f"margin >= {float(threshold):g}", "kept": counts["n"]}
        rows.append(row | {name: counts[name] for name in names})
    return rows


def _audit(data: dict) -> Rows:
    table = data["table7_audit_pct"]
    return [
        {"stratum": stratum, "n": 300}
        | {
            f"{name}{end}": value / 100
            for name, value in zip(
                ("target_yes", "distractor_no", "exclusive"), values, strict=True
            )
            for end in ("", "_low", "_high")
        }
        for stratum, values in table.items()
        if stratum != "columns"
    ]


def _pool(data: dict) -> Rows:
    table = data["table1_8_retained_pool"]
    names = ("begin", "middle", "end")
    rows = []
    for at, name in enumerate(table["bins"]):
        counts = {position: table[position][at] for position in names}
        rows.append({"bin": name, **counts, "total": sum(counts.values()),
                     "concentrated": table["concentrated_per_bin"],
                     "uniform": table["uniform_per_bin_per_position"]})  # fmt: skip
    total = {name: sum(row[name] for row in rows) for name in list(rows[0])[1:]}
    return [*rows, {"bin": "total", **total}]


def _places(data: dict) -> Rows:
    return [
        {"benchmark": BENCHMARKS[name], "label": name, "n": n, "mean": 0.3, "bin_low": low,
         "bin_high": low + 0.5, "count": n // 2}
        for name, n in data["figure9_counts"].items()
        for low in (0.0, 0.5)
    ]  # fmt: skip


MAKERS = {
    "psi": _psi, "curves": _curves, "standard": _standard, "moving": _moving,
    "segments": _segments, "reversal": _reversal, "filters": _filters, "pool": _pool,
    "audit": _audit, "places": _places,
}  # fmt: skip


def write_csvs(folder: Path, data: dict[str, Any]) -> dict[str, list[Path]]:
    """Write the CSVs of all figures from published tables; return them by the script's names."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for name, make in MAKERS.items():
        path = folder / f"{name}.csv"
        pd.DataFrame(make(data)).to_csv(path, index=False)
        files[name] = [path]
    return files
