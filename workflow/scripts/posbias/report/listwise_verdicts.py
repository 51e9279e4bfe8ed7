"""How a claim of the listwise study is judged: by a paired interval or test where there is one.

Where the measures hold a paired difference with its interval, or a corrected test, that decides:
a difference in the claim's direction that chance explains is not held. Elsewhere the means
decide, and `interval.separate` says whether their own intervals support them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from posbias.report.claim_records import (
    HELD,
    NOT_HELD,
    NOT_MEASURABLE,
    claim_record,
    compared,
    separation,
    status_of,
)
from posbias.report.listwise_cells import signed
from posbias.report.listwise_records import Record, label_of, role_keys
from posbias.report.printed import fraction
from posbias.report.records import lies_above

PAPER = "arXiv 2604.03642"
LEAST_P = 0.001  # smaller ones are not told apart
# Kind: the claim, and where in the paper it stands.
KINDS = {
    "early_slots": (
        "{baseline} ranks the relevant passage better in the first slots than in the last",
        "RQ1, Fig. 4",
    ),
    "slot_variance": ("{proposed} varies less over the slots than {baseline}", "RQ1, Fig. 4"),
    "first_slots": (
        "{proposed} trails {baseline} where the relevant passage stands in the first slots",
        "RQ1, Fig. 4",
    ),
    "drop": ("shuffling the input costs {proposed} less than {baseline}", "RQ2, Table 1"),
    "shuffled": ("{proposed} is better than {baseline} on shuffled input", "RQ2, Table 1"),
    "stages": ("{proposed} is better than {baseline} on every first stage", "RQ3, Table 2"),
    "bm25_gain": ("the gain of {proposed} over {baseline} is largest on BM25", "RQ3, Table 2"),
    "single_order": (
        "one order of {proposed} is better than {baseline} + PermSC over all orders",
        "RQ4, Fig. 5",
    ),
    "saturation": (
        "PermSC needs fewer orders with {proposed} than with {baseline}",
        "RQ4, Fig. 5",
    ),
    "best_variant": ("the full version, {proposed}, is the best of the ablation", "Table 3"),
    "augmentation": ("augmentation lowers the variance over slots", "Fig. 6(c), Table 3"),
    "ips": ("IPS alone improves the model", "Fig. 6(a, b), Table 3"),
}


@dataclass(frozen=True)
class Thresholds:
    """What the verdicts need beyond the measures.

    first_slots: slots at either end of the input that count as first and as last.
    saturation_tolerance: nDCG@10 by which PermSC may trail its best to count as saturated.
    alpha: level of the tests, after Holm's correction. single_share: share of the single orders
    that must beat PermSC (the paper's least: 17 of 20).
    """

    first_slots: int
    saturation_tolerance: float
    alpha: float
    single_share: float


@dataclass(frozen=True)
class Study:
    """The measures to judge, and by which thresholds."""

    record: Record
    thresholds: Thresholds

    @property
    def keys(self) -> tuple[str, str]:
        """The keys of the baseline and of the proposed model."""
        return role_keys(self.record)

    @property
    def labels(self) -> dict[str, str]:
        """The names of the baseline and of the proposed model, by role."""
        baseline, proposed = (label_of(self.record, key) for key in self.keys)
        return {"baseline": baseline, "proposed": proposed}

    def verdict(self, kind: str, key: str = "", **fields: Any) -> dict[str, Any]:
        """Return the record of one claim; `key` tells the claims of a kind apart."""
        text, place = KINDS[kind]
        identifier = f"listwise.{kind}{f'.{key}' if key else ''}"
        return claim_record(identifier, text.format(**self.labels), f"{PAPER}, {place}", **fields)

    def unmeasured(self, kind: str, why: str, key: str = "") -> dict[str, Any]:
        """Return the record of a claim that these measures cannot answer."""
        return self.verdict(kind, key, threshold=0.0, explanation=why)

    def by_interval(
        self, kind: str, key: str, found: Mapping[str, float | None], words: str
    ) -> dict[str, Any]:
        """Judge a paired difference that is above 0 if the claim is true.

        found: difference, low, high. Without an interval the claim is not measurable.
        """
        low, high = found["low"], found["high"]
        if low is None or high is None:
            why = f"{words}; no interval of the difference"
            return self.verdict(
                kind, key, value=found["difference"], threshold=0.0, explanation=why
            )
        return self.verdict(
            kind,
            key,
            status=status_of(low > 0),
            value=found["difference"],
            threshold=0.0,
            interval={"low": low, "high": high},
            explanation=f"{words}; {zero_text(low, high)}",
        )

    def by_means(
        self,
        kind: str,
        key: str,
        better: tuple[str, Mapping[str, Any]],
        worse: tuple[str, Mapping[str, Any]],
        words: str,
    ) -> dict[str, Any]:
        """Judge two named estimates (mean, low, high), the first above the second if true."""
        bounds = {name: [found.get("low"), found.get("high")] for name, found in (better, worse)}
        interval = compared(bounds, lies_above(bounds[better[0]], bounds[worse[0]]))
        difference = better[1]["mean"] - worse[1]["mean"]
        return self.verdict(
            kind,
            key,
            status=status_of(difference > 0),
            value=difference,
            threshold=0.0,
            interval=interval,
            explanation=f"{words}; {separation(interval)}",
        )

    def by_test(self, kind: str, key: str, found: Mapping[str, Any], words: str) -> dict[str, Any]:
        """Judge a comparison (mean_difference, low, high, p_holm), above 0 if the claim is true."""
        p, alpha = found.get("p_holm"), self.thresholds.alpha
        fields = {"value": found["mean_difference"], "threshold": 0.0}
        if p is None:
            return self.verdict(kind, key, **fields, explanation=f"{words}; no test")
        low, high = found.get("low"), found.get("high")
        return self.verdict(
            kind,
            key,
            **fields,
            status=status_of(found["mean_difference"] > 0 and p < alpha),
            interval=None if low is None or high is None else {"low": low, "high": high},
            explanation=(
                f"{words}; {signed(found['mean_difference'])}, {p_text(p)}, "
                f"{'below' if p < alpha else 'not below'} {alpha:g}"
            ),
        )


def p_text(p: float) -> str:
    """Print a corrected p, three decimals of it."""
    return f"Holm-corrected p {fraction(p)}" if p >= LEAST_P else f"Holm-corrected p < {LEAST_P:g}"


def zero_text(low: float, high: float) -> str:
    """Say where an interval of a difference lies."""
    if low > 0 or high < 0:
        return f"its interval lies {'above' if low > 0 else 'below'} 0"
    return "its interval includes 0"


def summary(
    study: Study, kind: str, what: str, claims: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the claim over all members of a kind; `what` names them, as "collections"."""
    members = {
        status: [claim["id"].split(".", 2)[2] for claim in claims if claim["status"] == status]
        for status in (HELD, NOT_HELD, NOT_MEASURABLE)
    }
    parts = [f"{len(members[HELD])} of {len(claims)} {what}"]
    parts += [
        f"{status}: {', '.join(members[status])}"
        for status in (NOT_HELD, NOT_MEASURABLE)
        if members[status]
    ]
    measured = len(members[NOT_MEASURABLE]) < len(claims)
    return study.verdict(
        kind,
        "all",
        status=status_of(len(members[HELD]) == len(claims)) if measured else NOT_MEASURABLE,
        value=len(members[HELD]),
        threshold=len(claims),
        explanation="; ".join(parts),
    )
