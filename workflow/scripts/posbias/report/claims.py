"""Which of the retriever study's claims hold in our measures, and by how much."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from posbias.report.printed import fraction
from posbias.report.psi_table import psi_reduction
from posbias.report.records import (
    DIRECTION_GROUPING,
    SETTING_LABELS,
    SKEWS,
    by_retriever,
    favours_clearly,
    grouping_of,
    lies_above,
)

HELD, NOT_HELD, NOT_MEASURABLE = "held", "not held", "not measurable"
PAPER = "arXiv 2605.26578"
PAPER_RANGE = (57, 87)  # percent, MU against the worst skew on SQuAD-PosQ (abstract, Table 3)
SLACK = 1e-9  # so that a shortfall of exactly the tolerance is not lost to rounding

DIRECTION = "retrieval favours the position of the training evidence"
KINDS = {
    "direction_begin": ("trained on begin (MB), it favours begin", "Fig. 1, Table 3"),
    "direction_end": ("trained on end (ME), it favours end", "Fig. 1, Table 3"),
    "direction_middle": ("trained on middle (MM), it favours middle", "Fig. 1, Table 3"),
    "psi": ("balanced training (MU) lowers the worst skew's PSI", "abstract, Table 3"),
    "mean": ("balanced training (MU) keeps the mean nDCG@10 of the best skew", "Table 3"),
}
Settings = dict[str, dict[str, Any]]


def _claim(kind: str, retriever: str, **fields: Any) -> dict[str, Any]:
    text, place = KINDS[kind]
    record = {
        "id": f"{kind}.{retriever}",
        "claim": text,
        "source": f"{PAPER}, {place}",
        "retriever": retriever,
        "status": NOT_MEASURABLE,
        "value": None,
        "threshold": None,
        "interval": None,
        "explanation": "",
    }
    return record | fields


def _status(held: bool) -> str:
    return HELD if held else NOT_HELD


def _compared(bounds: dict[str, list[float | None]], separate: bool) -> dict[str, Any] | None:
    """Return the intervals compared and whether they separate; None if a bound is unknown."""
    if any(bound is None for pair in bounds.values() for bound in pair):
        return None
    return {"separate": separate, "compared": bounds}


def _separation(interval: dict[str, Any] | None) -> str:
    if interval is None:
        return "no intervals"
    return "intervals separate" if interval["separate"] else "intervals overlap"


def _direction(retriever: str, settings: Settings, setting: str) -> dict[str, Any]:
    kind = f"direction_{setting}"
    label = SETTING_LABELS[setting]
    if setting not in settings:
        return _claim(kind, retriever, threshold=setting, explanation=f"{label} was not measured")
    thirds = grouping_of(settings[setting], DIRECTION_GROUPING)
    favoured = thirds["favoured"]
    groups = {group["name"]: group for group in thirds["groups"]}
    if favoured is None:
        note = thirds.get("psi_note") or "no third has the highest mean"
        return _claim(kind, retriever, threshold=setting, explanation=f"{label}: {note}")
    bounds = {name: [group["low"], group["high"]] for name, group in groups.items()}
    interval = _compared(bounds, favours_clearly(thirds))
    means = ", ".join(f"{name} {fraction(group['mean'])}" for name, group in groups.items())
    return _claim(
        kind,
        retriever,
        status=_status(favoured == setting),
        value=favoured,
        threshold=setting,
        interval=interval,
        explanation=f"{means}; {_separation(interval)}",
    )


def _missing(settings: Settings) -> str:
    labels = [label for name, label in SETTING_LABELS.items() if name not in settings]
    return f"{', '.join(labels)} not measured" if labels else ""


def _psi(retriever: str, settings: Settings, grouping: str) -> dict[str, Any]:
    if _missing(settings):
        return _claim("psi", retriever, threshold=0.0, explanation=_missing(settings))
    found = {name: grouping_of(settings[name], grouping) for name in SETTING_LABELS}
    psi = {name: values["psi"] for name, values in found.items()}
    unknown = [name for name in SETTING_LABELS if psi[name] is None]
    if unknown:
        why = "; ".join(
            f"{SETTING_LABELS[name]}: {found[name].get('psi_note') or 'no PSI'}" for name in unknown
        )
        return _claim("psi", retriever, threshold=0.0, explanation=why)
    worst = max(SKEWS, key=lambda name: psi[name])
    if psi[worst] == 0:
        return _claim("psi", retriever, threshold=0.0, explanation="no skew shows any bias")
    reduction = psi_reduction(psi)
    low, high = PAPER_RANGE
    inside = "inside" if low <= round(100 * reduction) <= high else "outside"
    label = SETTING_LABELS[worst]
    bounds = {
        "MU": [found["uniform"]["psi_low"], found["uniform"]["psi_high"]],
        label: [found[worst]["psi_low"], found[worst]["psi_high"]],
    }
    interval = _compared(bounds, lies_above(bounds[label], bounds["MU"]))
    return _claim(
        "psi",
        retriever,
        status=_status(reduction > 0),
        value=reduction,
        threshold=0.0,
        interval=interval,
        explanation=(
            f"PSI {fraction(psi['uniform'])} under MU, {fraction(psi[worst])} under {label}: "
            f"{100 * reduction:.1f} % less, {inside} the paper's {low}-{high} % on SQuAD-PosQ; "
            f"{_separation(interval)}"
        ),
    )


def _mean(retriever: str, settings: Settings, grouping: str, tolerance: float) -> dict[str, Any]:
    if _missing(settings):
        return _claim("mean", retriever, threshold=-tolerance, explanation=_missing(settings))
    found = {name: grouping_of(settings[name], grouping) for name in SETTING_LABELS}
    mean = {name: values["macro_mean"] for name, values in found.items()}
    unknown = [SETTING_LABELS[name] for name in SETTING_LABELS if mean[name] is None]
    if unknown:
        why = f"no mean under {', '.join(unknown)}"
        return _claim("mean", retriever, threshold=-tolerance, explanation=why)
    best = max(SKEWS, key=lambda name: mean[name])
    gain = mean["uniform"] - mean[best]
    label = SETTING_LABELS[best]
    bounds = {
        "MU": [found["uniform"]["macro_low"], found["uniform"]["macro_high"]],
        label: [found[best]["macro_low"], found[best]["macro_high"]],
    }
    apart = lies_above(bounds["MU"], bounds[label]) or lies_above(bounds[label], bounds["MU"])
    interval = _compared(bounds, apart)
    return _claim(
        "mean",
        retriever,
        status=_status(gain >= -tolerance - SLACK),
        value=gain,
        threshold=-tolerance,
        interval=interval,
        explanation=(
            f"nDCG@10 {fraction(mean['uniform'])} under MU, {fraction(mean[best])} under {label}: "
            f"{gain:+.3f}, tolerance {tolerance:g}; {_separation(interval)}"
        ),
    )


def _summary(kind: str, text: str, place: str, members: dict[str, list[str]]) -> dict[str, Any]:
    """Return the claim over all retrievers; `members` gives each one's statuses, all to hold."""
    held = [key for key, statuses in members.items() if set(statuses) == {HELD}]
    failed = [key for key, statuses in members.items() if NOT_HELD in statuses]
    open_ = [key for key in members if key not in held and key not in failed]
    status = NOT_MEASURABLE if not held and not failed else _status(len(held) == len(members))
    parts = [f"{len(held)} of {len(members)} retrievers"]
    parts += [f"not held: {', '.join(failed)}"] if failed else []
    parts += [f"not measurable: {', '.join(open_)}"] if open_ else []
    return {
        "id": f"{kind}.all",
        "claim": f"every retriever: {text}",
        "source": f"{PAPER}, {place}",
        "retriever": None,
        "status": status,
        "value": len(held),
        "threshold": len(members),
        "interval": None,
        "explanation": "; ".join(parts),
    }


def judge_claims(
    records: Sequence[dict[str, Any]], mean_tolerance: float, grouping: str = "thirds"
) -> list[dict[str, Any]]:
    """Return one record per claim and retriever, then the summaries (abstract, Table 3, Fig. 1).

    A claim is held by its point estimate alone; `interval.separate` says whether the bootstrap
    intervals support it. PSI and means are over `grouping`, the direction always over thirds.
    `mean_tolerance` is in nDCG@10. Reference rows are passed over.
    """
    claims: list[dict[str, Any]] = []
    statuses: dict[str, dict[str, list[str]]] = {kind: {} for kind in ("direction", *KINDS)}
    for key, settings in by_retriever(records).items():
        judged = {f"direction_{name}": _direction(key, settings, name) for name in SKEWS}
        judged["psi"] = _psi(key, settings, grouping)
        judged["mean"] = _mean(key, settings, grouping, mean_tolerance)
        claims += [judged[kind] for kind in KINDS]
        for kind, claim in judged.items():
            statuses[kind][key] = [claim["status"]]
        statuses["direction"][key] = [
            judged["direction_begin"]["status"],
            judged["direction_end"]["status"],
        ]
    if not claims:
        return []
    texts = {"direction": (f"{DIRECTION} (MB begin and ME end)", "Fig. 1, Table 3")} | KINDS
    return claims + [_summary(kind, *texts[kind], statuses[kind]) for kind in texts]


def claims_text(claims: Sequence[dict[str, Any]]) -> str:
    """Return the verdicts as a plain-text table: counts, summaries, then every retriever."""
    single = [claim for claim in claims if claim["retriever"] is not None]
    overall = [claim for claim in claims if claim["retriever"] is None]
    counts = Counter(claim["status"] for claim in single)
    lines = [
        f"{len(single)} claims on single retrievers: "
        + ", ".join(f"{counts[status]} {status}" for status in (HELD, NOT_HELD, NOT_MEASURABLE))
    ]
    if overall:
        lines += ["", "Over all retrievers"]
        lines += [f"  {c['status']:<15}{c['claim']}: {c['explanation']}" for c in overall]
    width = max((len(claim["retriever"]) for claim in single), default=0) + 2
    for kind, (text, place) in KINDS.items():
        members = [claim for claim in single if claim["id"].startswith(f"{kind}.")]
        if members:
            lines += ["", f"{text[0].upper()}{text[1:]} ({PAPER}, {place})"]
        lines += [
            f"  {c['status']:<15}{c['retriever']:<{width}}{c['explanation']}" for c in members
        ]
    return "\n".join(lines) + "\n"
