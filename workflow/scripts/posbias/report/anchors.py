"""Runs of systems that need no training beside their published values."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from posbias.errors import DataError

EQUAL, NEAR, DIFFERS, NOT_RUN = "equal", "near", "differs", "not run"
MICRO_MEAN, PSI = "micro mean", "PSI"
FIELDS = ("sources", "measure", "tolerance", "collections", "anchors")


def plain(name: str) -> str:
    """Return a name without case and punctuation: SQuAD-PosQ and squad_posq are one."""
    return "".join(sign for sign in name.lower() if sign.isalnum())


def check_anchors(anchors: Any) -> None:
    """Raise DataError where published values lack a field, or name an unknown source or
    collection."""
    missing = [f for f in FIELDS if not isinstance(anchors, Mapping) or f not in anchors]
    if missing:
        raise DataError(f"the published values lack {', '.join(missing)}.")
    for anchor in anchors["anchors"]:
        lacking = [f for f in ("benchmark", "system", "source", "grouping") if f not in anchor]
        if lacking:
            raise DataError(f"the published values {anchor} lack {', '.join(lacking)}.")
        for field, known in (("source", "sources"), ("benchmark", "collections")):
            if anchor[field] not in anchors[known]:
                raise DataError(
                    f"the published values of {anchor['system']}: {field} {anchor[field]!r} is "
                    f"not among {known}."
                )


def _published(anchor: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    yield from anchor.get("groups", {}).items()
    if "micro_mean" in anchor:
        yield MICRO_MEAN, anchor["micro_mean"]
    if "psi" in anchor:
        yield PSI, anchor["psi"]


def _found(record: Mapping[str, Any] | None, grouping: str) -> dict[str, float | None]:
    """Return the values of a run by the names of `_published`."""
    if record is None:
        return {}
    grouped = record["groupings"].get(grouping, {"groups": [], "psi": None})
    means = {group["name"]: group["mean"] for group in grouped["groups"]}
    return {**means, MICRO_MEAN: record["micro_mean"], PSI: grouped["psi"]}


def difference_class(found: float | None, published: float, tolerance: Mapping[str, float]) -> str:
    """Say whether a value is equal, near or differs by the tolerances, or was not run."""
    if found is None:
        return NOT_RUN
    # A value on a tolerance counts as within it, whatever the last bit of the difference.
    difference = round(abs(found - published), 9)
    if difference <= tolerance["equal"]:
        return EQUAL
    return NEAR if difference <= tolerance["near"] else DIFFERS


def _same_collection(record: Mapping[str, Any], collection: Mapping[str, Any]) -> bool | None:
    """Say whether a run is on as many queries and documents as the published one; None if those
    are not published."""
    known = {"queries": "judged", "documents": "documents"}
    pairs = [
        (record["counts"].get(ours), collection[theirs])
        for theirs, ours in known.items()
        if theirs in collection
    ]
    return all(ours == theirs for ours, theirs in pairs) if pairs else None


def _run_of(anchor: Mapping, records: Iterable[Mapping], measure: str) -> Mapping | None:
    """Return the untrained run of an anchor's system on its benchmark, None if there is none."""
    runs = [
        record
        for record in records
        if record["setting"] is None
        and record.get("measure") == measure
        and plain(record.get("benchmark", "")) == plain(anchor["benchmark"])
        and plain(anchor["system"]) in (plain(record["retriever"]), plain(record["label"]))
    ]
    if len(runs) > 1:
        raise DataError(
            f"{anchor['system']} on {anchor['benchmark']}: {len(runs)} runs "
            f"({', '.join(run['retriever'] for run in runs)}); name one of them otherwise."
        )
    return runs[0] if runs else None


def compare_with_anchors(
    anchors: Mapping[str, Any], records: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return one row for each published value, beside ours, and how many are of each class.

    anchors: the published values with tolerances and sources; records: measures records, of which
    those without a training setting are looked at. A run belongs to an anchor if its benchmark,
    and its name or label, equal the anchor's but for case and punctuation. Raises DataError for
    anchors of another form, or two runs of one system.
    """
    check_anchors(anchors)
    rows = []
    for anchor in anchors["anchors"]:
        record = _run_of(anchor, records, anchors["measure"])
        collection = anchors["collections"][anchor["benchmark"]]
        found = _found(record, anchor["grouping"])
        for name, published in _published(anchor):
            ours = found.get(name)
            rows.append(
                {
                    "benchmark": anchor["benchmark"],
                    "system": anchor["system"],
                    "group": name,
                    "published": published,
                    "found": ours,
                    "difference": None if ours is None else ours - published,
                    "class": difference_class(ours, published, anchors["tolerance"]),
                    "same_collection": record and _same_collection(record, collection),
                    "source": anchors["sources"][anchor["source"]],
                }
            )
    counts = Counter(row["class"] for row in rows)
    return {
        "measure": anchors["measure"],
        "tolerance": anchors["tolerance"],
        "collections": anchors["collections"],
        "counts": {name: counts[name] for name in (EQUAL, NEAR, DIFFERS, NOT_RUN)},
        "rows": rows,
    }
