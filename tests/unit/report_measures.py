"""Made-up measures records for the report's tests: invented curves, and the paper's Table 3."""

from typing import Any

SETTINGS = ("begin", "middle", "end", "uniform")
THIRDS = ("begin", "middle", "end")
BUCKETS = ("0-100", "100-200", "200-300", "300-400", "400-500", "500-672")
LABELS = {
    "bert": "BERT",
    "longformer": "Longformer",
    "modernbert_base": "ModernBERT-base",
    "modernbert_large": "ModernBERT-large",
    "gpt2": "GPT-2",
    "bloom": "BLOOM",
    "tinyllama_nope": "TinyLlama-NoPE",
    "qwen3": "Qwen3",
}
# nDCG@10 and PSI under MB, MM, ME, MU on SQuAD-PosQ, as printed in Table 3.
TABLE_3 = {
    "bert": ((0.438, 0.432, 0.408, 0.487), (0.281, 0.371, 0.533, 0.136)),
    "longformer": ((0.481, 0.539, 0.489, 0.543), (0.304, 0.236, 0.331, 0.143)),
    "modernbert_base": ((0.466, 0.520, 0.463, 0.516), (0.433, 0.286, 0.341, 0.088)),
    "modernbert_large": ((0.490, 0.564, 0.499, 0.557), (0.348, 0.166, 0.335, 0.082)),
    "gpt2": ((0.231, 0.287, 0.244, 0.283), (0.592, 0.233, 0.431, 0.080)),
    "bloom": ((0.359, 0.447, 0.361, 0.465), (0.536, 0.290, 0.431, 0.080)),
    "tinyllama_nope": ((0.362, 0.455, 0.418, 0.462), (0.561, 0.271, 0.389, 0.132)),
    "qwen3": ((0.546, 0.626, 0.556, 0.655), (0.395, 0.283, 0.409, 0.068)),
}
PROVENANCE = {
    "scale": "mini",
    "note": "mini scale: not the paper's models",
    "config_hash": "0f3a9c5d1e2b",
    "seed": 42,
    "retrievers": list(LABELS),
    "commit": "abc1234",
}


def grouping(names: tuple[str, ...], means: list[float], each: int) -> dict[str, Any]:
    """Return one grouping whose macro mean and PSI follow from its group means."""
    psi = 1 - min(means) / max(means)
    macro = sum(means) / len(means)
    return {
        "groups": [
            {"name": name, "mean": mean, "low": mean - 0.018, "high": mean + 0.018, "n": each}
            for name, mean in zip(names, means, strict=True)
        ],
        "macro_mean": macro,
        "macro_low": macro - 0.011,
        "macro_high": macro + 0.011,
        "psi": psi,
        "psi_low": max(0.0, psi - 0.03),
        "psi_high": psi + 0.03,
        "psi_note": None,
        "favoured": names[means.index(max(means))],
    }


def record(key: str, setting: str | None, means: list[float], label: str = "") -> dict[str, Any]:
    """Return a record from three means; the six buckets lie on the line through them."""
    begin, middle, end = means
    steps = (0.0, 0.4, 0.8, 1.2, 1.6, 2.0)
    buckets = [
        begin + (middle - begin) * at if at <= 1 else middle + (end - middle) * (at - 1)
        for at in steps
    ]
    return {
        "retriever": key,
        "label": label or LABELS.get(key, key),
        "setting": setting,
        "benchmark": "wiki_heldout",
        "measure": "nDCG@10",
        "seed": 42,
        "micro_mean": sum(means) / 3,
        "groupings": {
            "thirds": grouping(THIRDS, means, 1700),
            "characters": grouping(BUCKETS, buckets, 850),
        },
        "counts": {"judged": 5100, "ranked": 5100, "documents": 1700, "dropped": {}},
        "interval": {"kind": "bootstrap over queries", "resamples": 10000, "level": 0.95},
    }


def made_up() -> list[dict[str, Any]]:
    """Return eight retrievers under four settings, BLOOM always for the end, and two references."""
    curves = {
        "bert": ([0.647, 0.443, 0.367], [0.452, 0.560, 0.441], [0.348, 0.454, 0.601]),
        "longformer": ([0.806, 0.781, 0.771], [0.790, 0.802, 0.781], [0.777, 0.784, 0.803]),
        "modernbert_base": ([0.815, 0.796, 0.729], [0.790, 0.812, 0.788], [0.784, 0.798, 0.808]),
        "modernbert_large": ([0.832, 0.760, 0.690], [0.755, 0.825, 0.770], [0.701, 0.782, 0.840]),
        "gpt2": ([0.448, 0.219, 0.121], [0.280, 0.392, 0.251], [0.243, 0.298, 0.347]),
        "bloom": ([0.230, 0.315, 0.387], [0.212, 0.348, 0.502], [0.180, 0.309, 0.630]),
        "tinyllama_nope": ([0.682, 0.441, 0.268], [0.641, 0.633, 0.422], [0.598, 0.602, 0.546]),
        "qwen3": ([0.674, 0.409, 0.253], [0.399, 0.655, 0.418], [0.260, 0.430, 0.712]),
    }
    uniform = {
        "bert": [0.543, 0.538, 0.464],
        "longformer": [0.800, 0.798, 0.792],
        "modernbert_base": [0.808, 0.806, 0.797],
        "modernbert_large": [0.822, 0.817, 0.806],
        "gpt2": [0.342, 0.294, 0.230],
        "bloom": [0.235, 0.324, 0.506],
        "tinyllama_nope": [0.672, 0.575, 0.502],
        "qwen3": [0.611, 0.588, 0.574],
    }
    records = [
        record(key, setting, means)
        for key in LABELS
        for setting, means in zip(SETTINGS, (*curves[key], uniform[key]), strict=True)
    ]
    records.append(record("bm25", None, [0.846, 0.851, 0.858], "BM25"))
    records.append(record("minilm_l6", None, [0.771, 0.702, 0.668], "all-MiniLM-L6-v2"))
    return records


def paper_records() -> list[dict[str, Any]]:
    """Return records with the means and PSIs of Table 3, every skew favouring its own third."""
    records = []
    for key, (ndcg, psi) in TABLE_3.items():
        for setting, mean, value in zip(SETTINGS, ndcg, psi, strict=True):
            shape = {"begin": [3, 2, 1], "middle": [1, 3, 2], "end": [1, 2, 3]}
            one = record(key, setting, [0.1 * part for part in shape.get(setting, [3, 3, 3])])
            for values in one["groupings"].values():
                values |= {
                    "macro_mean": mean,
                    "macro_low": mean - 0.01,
                    "macro_high": mean + 0.01,
                    "psi": value,
                    "psi_low": value - 0.02,
                    "psi_high": value + 0.02,
                }
            records.append(one)
    return records
