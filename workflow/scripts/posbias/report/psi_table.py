"""The paper's Table 3 as data: nDCG@10 and PSI of each retriever under each training setting."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from posbias.errors import DataError
from posbias.report.records import (
    DIRECTION_GROUPING,
    SETTING_LABELS,
    SKEWS,
    by_retriever,
    favours_clearly,
    grouping_of,
    identity,
    reference_records,
)

ALONE = "alone"  # stands for the setting in the columns of a reference, which is not trained


def _long_row(record: Mapping[str, Any], grouping: str) -> dict[str, Any]:
    main = grouping_of(record, grouping)
    direction = grouping_of(record, DIRECTION_GROUPING)
    row = {
        **identity(record),
        "n": record["counts"]["judged"],
        "grouping": grouping,
        "macro_mean": main["macro_mean"],
        "macro_low": main["macro_low"],
        "macro_high": main["macro_high"],
        "micro_mean": record["micro_mean"],
        "psi": main["psi"],
        "psi_low": main["psi_low"],
        "psi_high": main["psi_high"],
        "psi_note": main.get("psi_note"),
        "favoured": direction["favoured"],
        "favoured_clearly": favours_clearly(direction),
    }
    for name, values in record["groupings"].items():
        if name != grouping:
            row |= {f"{name}_{field}": values[field] for field in ("psi", "psi_low", "psi_high")}
        for group in values["groups"]:
            row[f"{name}_{group['name']}_mean"] = group["mean"]
            row[f"{name}_{group['name']}_n"] = group["n"]
    return row


def long_frame(
    records: Sequence[dict[str, Any]],
    order: Sequence[str] | None = None,
    grouping: str = "thirds",
) -> pd.DataFrame:
    """Return one row per retriever and setting, then one per reference (Table 3).

    Means and PSI are over `grouping` (the paper's SQuAD-PosQ: characters); `favoured` is always
    a third of the document. Numbers are not rounded. Raises DataError for a repeated pair, a
    retriever that `order` does not name, or a record without the grouping.
    """
    retrievers = by_retriever(records, order)
    rows = [
        _long_row(settings[setting], grouping)
        for settings in retrievers.values()
        for setting in SETTING_LABELS
        if setting in settings
    ]
    missing = [key for key, settings in retrievers.items() if not settings]
    if missing:
        raise DataError(
            f"no measures in any setting for {', '.join(missing)}; "
            "train and evaluate, or remove the retriever from the config."
        )
    rows += [_long_row(record, grouping) for record in reference_records(records)]
    if not rows:
        raise DataError("no measures given; the table needs at least one retriever.")
    frame = pd.DataFrame(rows)
    numbers = ["macro_mean", "macro_low", "macro_high", "micro_mean", "psi", "psi_low", "psi_high"]
    return frame.astype(dict.fromkeys(numbers, "float64"))


def psi_reduction(psi: Mapping[str, float]) -> float:
    """Return 1 - PSI_MU / max(PSI_MB, PSI_MM, PSI_ME) (abstract, Table 3).

    Not-a-number if one of the four is not measurable or no skewed setting shows any bias.
    """
    skewed = [psi[setting] for setting in SKEWS]
    if any(pd.isna(value) for value in [*skewed, psi["uniform"]]) or max(skewed) == 0:
        return float("nan")
    return 1 - psi["uniform"] / max(skewed)


def direction_verdict(favoured: Mapping[str, str | None], clear: Mapping[str, bool]) -> str:
    """Return "yes" if MB favours begin and ME end, else what failed, as "MB favours end".

    A "yes" names in brackets the settings whose favoured group is not `clear` of the others.
    """
    failed, unclear = [], []
    for setting in ("begin", "end"):
        label, group = SETTING_LABELS[setting], favoured[setting]
        if pd.isna(group):
            failed.append(f"{label} not measurable")
        elif group != setting:
            failed.append(f"{label} favours {group}")
        elif not clear[setting]:
            unclear.append(label)
    hint = f" ({', '.join(unclear)} close)" if unclear else ""
    return "; ".join(failed) or f"yes{hint}"


def _wide_values(row: Mapping[str, Any], setting: str) -> dict[str, Any]:
    return {
        f"ndcg_{setting}": row["macro_mean"],
        f"psi_{setting}": row["psi"],
        f"psi_low_{setting}": row["psi_low"],
        f"psi_high_{setting}": row["psi_high"],
    }


def wide_frame(long: pd.DataFrame) -> pd.DataFrame:
    """Return one row per retriever, then per reference, from the long frame (Table 3).

    Columns `ndcg_S`, `psi_S`, `psi_low_S`, `psi_high_S` for each setting S, and S = alone for a
    reference; `reduction` as a share of one, `verdict`. Raises DataError naming the retriever and
    the setting that is missing.
    """
    rows = []
    trained = long[long["setting"].notna()]
    for key, part in trained.groupby("retriever", sort=False):
        found = {row["setting"]: row for row in part.to_dict("records")}
        missing = [setting for setting in SETTING_LABELS if setting not in found]
        if missing:
            raise DataError(
                f"{key}: no measures for the setting(s) {', '.join(missing)}; "
                "train and evaluate them, or remove the retriever from the config."
            )
        row = {"retriever": key, "label": part["label"].iloc[0], "reference": False}
        for setting in SETTING_LABELS:
            row |= _wide_values(found[setting], setting)
        row["reduction"] = psi_reduction({name: found[name]["psi"] for name in found})
        row["verdict"] = direction_verdict(
            {name: found[name]["favoured"] for name in found},
            {name: found[name]["favoured_clearly"] for name in found},
        )
        rows.append(row)
    for row in long[long["setting"].isna()].to_dict("records"):
        named = {"retriever": row["retriever"], "label": row["label"], "reference": True}
        rows.append(named | _wide_values(row, ALONE))
    columns = [
        f"{measure}_{setting}"
        for setting in (*SETTING_LABELS, ALONE)
        for measure in ("ndcg", "psi", "psi_low", "psi_high")
    ]
    return pd.DataFrame(
        rows, columns=["retriever", "label", "reference", *columns, "reduction", "verdict"]
    )
