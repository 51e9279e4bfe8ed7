"""The directions that the retriever study claims of its data: filter, audit and pool."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from posbias.report.comparison_cells import (
    KEPT,
    POSITIONS,
    TABLE_1,
    TABLE_6,
    TABLE_7,
    TOTAL,
    Cell,
)
from posbias.report.direction_rules import Claim, difference, highest, lowest, minus, turned

SHARE, COUNT = ("share", 2), ("count", 0)
# How the shares of Table 6 go with the margin, and how the text says it.
SHARE_SIGNS = {"begin": (1, "raises"), "middle": (-1, "lowers"), "end": (-1, "lowers")}


def _successive(
    item: str, kind: str, text: str, places: Sequence[str], measure: str, sign: int,
    printed: tuple[str, int], bounded: bool = False,
) -> Iterator[Claim]:  # fmt: skip
    """Yield the claims that a measure rises (sign 1) or falls from each place to the next.

    bounded: whether it may stand at its bound in all places, where neither can be seen.
    """
    shares = tuple((item, "", "", "", measure, place) for place in places) if bounded else ()
    for before, after in pairwise(places):
        needs = tuple((item, "", "", "", measure, place) for place in (after, before))
        yield Claim(
            kind, item, text, (f"{before} to {after}",), needs,
            lambda found, sign=sign: turned(sign, difference(found)), printed, shares=shares,
        )  # fmt: skip


def _filter(paper: Sequence[Cell]) -> Iterator[Claim]:
    margins = list(
        dict.fromkeys(c.place for c in paper if c.item == TABLE_6 and c.measure == "begin")
    )
    for name, (sign, does) in SHARE_SIGNS.items():
        turn = "" if sign > 0 else " (shown with its sign turned)"
        yield from _successive(
            TABLE_6, f"table6.{name}", f"a higher margin {does} the share of {name}{turn}", margins,
            f"{name} %", sign, SHARE,
        )  # fmt: skip
    yield from _successive(
        TABLE_6, "table6.kept", "a higher margin keeps fewer (shown with its sign turned)", margins,
        KEPT, -1, COUNT,
    )  # fmt: skip


def _audit(paper: Sequence[Cell]) -> Iterator[Claim]:
    strata = list(dict.fromkeys(c.place for c in paper if c.item == TABLE_7))
    for measure in dict.fromkeys(c.measure for c in paper if c.item == TABLE_7):
        yield from _successive(
            TABLE_7, f"table7.{measure}", f"{measure} rises with the margin", strata, measure, 1,
            ("share", 1), bounded=True,
        )  # fmt: skip


def _pool(paper: Sequence[Cell]) -> Iterator[Claim]:
    rows = dict.fromkeys(c.place for c in paper if c.item == TABLE_1 and c.measure in POSITIONS)
    places = [*(name for name in rows if name != TOTAL), TOTAL]
    for kind, text, rule in (
        ("table1.begin", "the begin has the most queries of a bin",
         lambda found: minus(found[0], highest(found[1:]))),
        ("table1.middle", "the middle has the fewest queries of a bin",
         lambda found: minus(lowest([found[0], found[2]]), found[1])),
    ):  # fmt: skip
        for place in places:
            needs = tuple((TABLE_1, "", "", "", name, place) for name in POSITIONS)
            yield Claim(kind, TABLE_1, text, (place,), needs, rule, COUNT)


def data_claims(paper: Sequence[Cell]) -> list[Claim]:
    """Return the claims on Tables 6, 7, 1 and 8, for every margin, stratum and bin of the paper."""
    return [*_filter(paper), *_audit(paper), *_pool(paper)]
