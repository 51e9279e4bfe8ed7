"""Which of the retriever study's claims hold in our measures, and by how much."""

from collections.abc import Sequence
from typing import Any

from posbias.report.claim_records import (
    HELD,
    NOT_HELD,
    NOT_MEASURABLE,
    claim_record,
    compared,
    counts_text,
    separation,
    status_of,
)
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
    identifier, source = f"{kind}.{retriever}", f"{PAPER}, {place}"
    return claim_record(identifier, text, source, retriever=retriever, **fields)


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
    interval = compared(bounds, favours_clearly(thirds))
    means = ", ".join(f"{name} {fraction(group['mean'])}" for name, group in groups.items())
    return _claim(
        kind,
        retriever,
        status=status_of(favoured == setting),
        value=favoured,
        threshold=setting,
        interval=interval,
        explanation=f"{means}; {separation(interval)}",
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
    interval = compared(bounds, lies_above(bounds[label], bounds["MU"]))
    return _claim(
        "psi",
        retriever,
        status=status_of(reduction > 0),
        value=reduction,
        threshold=0.0,
        interval=interval,
        explanation=(
            f"PSI {fraction(psi['uniform'])} under MU, {fraction(psi[worst])} under {label}: "
            f"{100 * reduction:.1f} % less, {inside} the paper's {low}-{high} % on SQuAD-PosQ; "
            f"{separation(interval)}"
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
    interval = compared(bounds, apart)
    return _claim(
        "mean",
        retriever,
        status=status_of(gain >= -tolerance - SLACK),
        value=gain,
        threshold=-tolerance,
        interval=interval,
        explanation=(
            f"nDCG@10 {fraction(mean['uniform'])} under MU, {fraction(mean[best])} under {label}: "
            f"{gain:+.3f}, tolerance {tolerance:g}; {separation(interval)}"
        ),
    )


def _summary(kind: str, text: str, place: str, members: dict[str, list[str]]) -> dict[str, Any]:
    """Return the claim over all retrievers; `members` gives each one's statuses, all to hold."""
    held = [key for key, statuses in members.items() if set(statuses) == {HELD}]
    failed = [key for key, statuses in members.items() if NOT_HELD in statuses]
    open_ = [key for key in members if key not in held and key not in failed]
    status = NOT_MEASURABLE if not held and not failed else status_of(len(held) == len(members))
    parts = [f"{len(held)} of {len(members)} retrievers"]
    parts += [f"not held: {', '.join(failed)}"] if failed else []
    parts += [f"not measurable: {', '.join(open_)}"] if open_ else []
    return claim_record(
        f"{kind}.all",
        f"every retriever: {text}",
        f"{PAPER}, {place}",
        status=status,
        value=len(held),
        threshold=len(members),
        explanation="; ".join(parts),
    )


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
    lines = [f"{len(single)} claims on single retrievers: {counts_text(single)}"]
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
