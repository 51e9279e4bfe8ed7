"""When one of our numbers equals the paper's, is near it, or differs: by kind of number."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from posbias.errors import ConfigError
from posbias.report.anchors import DIFFERS, EQUAL, NEAR, NOT_RUN
from posbias.report.comparison_cells import UNITS, Cell

OTHER_SCALE = "other scale"
CLASSES = (EQUAL, NEAR, DIFFERS, OTHER_SCALE, NOT_RUN)
RELATIVE = ("count",)  # kinds whose tolerances are shares of the paper's number
BOUNDS = ("equal", "near")
CONFIGURED = "as the config has it"  # the reason of bounds that come without one


@dataclass(frozen=True)
class Tolerance:
    """The largest differences that count as equal and as near, and why; in the kind's unit."""

    equal: float
    near: float
    reason: str


DEFAULTS = {
    "ndcg": Tolerance(
        0.001, 0.02, "equal: one unit of the last printed decimal; near: what another training "
        "seed moves a mean by, of which the paper has one",
    ),
    "psi": Tolerance(
        0.001, 0.05, "equal: one unit of the last printed decimal; near: PSI is a ratio of two "
        "group means and moves more than twice as far as they",
    ),
    "cosine": Tolerance(
        0.001, 0.02, "equal: one unit of the third decimal; near: other documents, whose number "
        "the paper does not state",
    ),
    "range": Tolerance(
        0.1, 3.0, "equal: one unit of the last printed decimal; near: the error of the highest "
        "less the lowest of ten means",
    ),
    "share": Tolerance(
        0.1, 2.0, "equal: the coarser of the printed decimals, in percentage points; near: "
        "sampled replies of the generator and the judge",
    ),
    "count": Tolerance(
        0.0, 0.05, "equal: counts are exact; near: one in twenty of the paper's count, for "
        "another snapshot and sampled replies",
    ),
}  # fmt: skip


def tolerances(given: Mapping[str, Any] | None) -> dict[str, Tolerance]:
    """Return the tolerance of each kind of number: DEFAULTS, with what `given` puts in their place.

    given: {kind: {equal, near, and a reason if there is one}}; the bounds of DEFAULTS keep their
    reason. Raises ConfigError for an unknown kind or field, a bound that is missing or below 0, or
    a `near` below `equal`.
    """
    found = dict(DEFAULTS)
    for kind, fields in (given or {}).items():
        place = f"comparison.tolerance.{kind}"
        if kind not in DEFAULTS:
            raise ConfigError(f"{place}: no such kind of number; one of {', '.join(DEFAULTS)}.")
        missing = [name for name in BOUNDS if name not in fields]
        unknown = [name for name in fields if name not in (*BOUNDS, "reason")]
        if missing or unknown:
            raise ConfigError(
                f"{place}: lacks {', '.join(missing) or 'nothing'}, has unknown "
                f"{', '.join(unknown) or 'nothing'}; give {' and '.join(BOUNDS)}, and a reason."
            )
        if not 0 <= fields["equal"] <= fields["near"]:
            raise ConfigError(f"{place}: equal and near must rise from 0; mend the bounds.")
        usual = DEFAULTS[kind]
        same = (fields["equal"], fields["near"]) == (usual.equal, usual.near)
        reason = str(fields.get("reason") or (usual.reason if same else CONFIGURED))
        found[kind] = Tolerance(fields["equal"], fields["near"], reason)
    return found


def cell_class(
    paper: Cell, ours: Cell | None, bounds: Mapping[str, Tolerance], same_scale: bool
) -> str:
    """Return which of CLASSES our number is of; of another scale, numbers are not held together.

    A difference on a bound is within it, whatever the last bit of it.
    """
    if ours is None:
        return NOT_RUN
    if not same_scale:
        return OTHER_SCALE
    tolerance = bounds[paper.kind]
    unit = abs(paper.value) if paper.kind in RELATIVE else 1.0
    difference = round(abs(ours.value - paper.value), 9)
    if difference <= round(tolerance.equal * unit, 9):
        return EQUAL
    return NEAR if difference <= round(tolerance.near * unit, 9) else DIFFERS


def tolerance_lines(bounds: Mapping[str, Tolerance]) -> list[str]:
    """Return a sentence on each kind's tolerances and their reason."""
    lines = []
    for kind, tolerance in bounds.items():
        unit = " of the paper's" if kind in RELATIVE else f" {UNITS[kind]}"
        lines.append(
            f"{UNITS[kind] if kind != 'range' else 'range of cosine'}: equal within "
            f"{tolerance.equal:g}, near within {tolerance.near:g}{unit} ({tolerance.reason})."
        )
    return lines
