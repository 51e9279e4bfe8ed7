"""The directions that the retriever study claims, one by one, as rules over cells."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from posbias.report.comparison_cells import (
    BASE,
    FIGURE_1,
    FIGURE_7,
    KEPT,
    POSITIONS,
    STEPS,
    TABLE_1,
    TABLE_3,
    TABLE_4,
    TABLE_6,
    TABLE_7,
    TABLE_11,
    TABLE_12,
    TABLE_13,
    TABLE_14,
    TOTAL,
    TRAINED,
    Cell,
    Key,
)
from posbias.report.direction_rules import (
    Claim,
    Estimate,
    highest,
    lowest,
    magnitude,
    minus,
    slope,
    without_interval,
)

# Benchmarks whose evidence stands early in the documents (section 5, Fig. 9).
FRONT_LOADED = ("FEVER", "HotpotQA", "Climate-FEVER")
PSI_OF = "SQuAD-PosQ"  # the benchmark whose PSI Table 3 gives for every retriever
HALF = len(STEPS) // 2
RISE_OF_DELTA = {"MB": 1, "MM": 1, "ME": -1, "MU": 1}  # signs of Table 12
SIGN_TEXT = {1: "above 0", -1: "below 0 (shown with its sign turned)"}
Cells = Sequence[Cell]


def _pairs(paper: Cells, item: str) -> list[tuple[str, str]]:
    """Return benchmark and model of each row of a table, in its order."""
    return list(dict.fromkeys((c.benchmark, c.model) for c in paper if c.item == item))


def _keys(item: str, benchmark: str, model: str, measure: str) -> tuple[Key, ...]:
    """Return the keys of MB, MM, ME and MU."""
    return tuple((item, benchmark, model, setting, measure, "") for setting in TRAINED)


def _difference(found: Sequence[Estimate]) -> Estimate:
    return minus(found[0], found[1])


def _lowered(found: Sequence[Estimate]) -> Estimate:
    return minus(highest(found[:-1]), found[-1])


def _kept(found: Sequence[Estimate]) -> Estimate:
    return minus(found[-1], highest(found[:-1]))


def _balanced(paper: Cells, mean_tolerance: float) -> Iterator[Claim]:
    for item in (TABLE_3, TABLE_11):
        number = item.split()[1]
        for about in _pairs(paper, item):
            yield Claim(
                f"table{number}.psi", item, "MU's PSI is below the worst skew's", about,
                _keys(item, *about, "PSI"), _lowered, ("psi", 3),
            )  # fmt: skip
            yield Claim(
                f"table{number}.mean", item,
                f"MU keeps the best skew's mean nDCG@10, but for {mean_tolerance:g}", about,
                _keys(item, *about, "nDCG@10"), _kept, threshold=-mean_tolerance - 1e-9,
            )  # fmt: skip


def _points(paper: Cells) -> Iterator[Claim]:
    for about in _pairs(paper, FIGURE_1):
        places = dict.fromkeys(
            c.place for c in paper if c.item == FIGURE_1 and (c.benchmark, c.model) == about
        )
        first, last = places
        at = {
            (setting, place): (FIGURE_1, *about, setting, "nDCG@10", place)
            for setting in ("MB", "ME")
            for place in places
        }
        for kind, text, high, low in (
            ("mb", "MB is better at the first group than at the last",
             ("MB", first), ("MB", last)),
            ("me", "ME is better at the last group than at the first",
             ("ME", last), ("ME", first)),
            ("first", "at the first group MB is better than ME", ("MB", first), ("ME", first)),
            ("last", "at the last group ME is better than MB", ("ME", last), ("MB", last)),
        ):  # fmt: skip
            needs = (at[high], at[low])
            yield Claim(f"figure1.{kind}", FIGURE_1, text, about, needs, _difference)


def _times(sign: int, estimate: Estimate) -> Estimate:
    return estimate if sign > 0 else minus(Estimate(0.0, 0.0, 0.0), estimate)


def _reversal(paper: Cells) -> Iterator[Claim]:
    for benchmark, model in _pairs(paper, TABLE_12):
        needs = _keys(TABLE_12, benchmark, model, "Δ")
        for setting, key in zip(TRAINED, needs, strict=True):
            sign = RISE_OF_DELTA[setting]
            yield Claim(
                "table12.sign", TABLE_12,
                f"{setting}: mirrored, Δ (back→front less front→back) is {SIGN_TEXT[sign]}",
                (model, setting), (key,), lambda found, sign=sign: _times(sign, found[0]),
            )  # fmt: skip
        yield Claim(
            "table12.least", TABLE_12, "MU's Δ is the smallest in size", (model,), needs,
            lambda found: minus(
                lowest([magnitude(skew) for skew in found[:-1]]), magnitude(found[-1])
            ),
        )  # fmt: skip


def _standard(paper: Cells) -> Iterator[Claim]:
    for item in (TABLE_4, TABLE_14):
        kind = f"table{item.split()[1]}"
        for benchmark, model in _pairs(paper, item):
            if benchmark not in FRONT_LOADED:
                continue
            mb, _, me, mu = _keys(item, benchmark, model, "nDCG@10")
            about = (benchmark, model) if model else (benchmark,)
            for other, key in (("ME", me), ("MU", mu)):
                yield Claim(
                    f"{kind}.mb_{other.lower()}", item,
                    f"with evidence in front, MB is above {other}", about, (mb, key), _difference,
                )  # fmt: skip
            if model:
                psi = _keys(TABLE_3, PSI_OF, model, "PSI")
                yield Claim(
                    f"{kind}.hidden", item,
                    "a standard benchmark ranks MB above MU though MB's PSI is the higher "
                    f"(the smaller of the two differences; PSI on {PSI_OF})",
                    about, (mb, mu, psi[0], psi[3]),
                    lambda found: lowest([minus(*found[:2]), minus(*found[2:])]),
                )  # fmt: skip


def _moving(paper: Cells) -> Iterator[Claim]:
    for _, model in _pairs(paper, TABLE_13):
        for setting, text, sign in (
            ("MB", "MB: the highest cosine is with the evidence in the first half", 1),
            ("ME", "ME: the highest cosine is with the evidence in the second half", -1),
        ):
            yield Claim(
                f"table13.peak_{setting.lower()}", TABLE_13, text, (model,),
                tuple((TABLE_13, "", model, setting, "cosine", place) for place in STEPS),
                lambda found, sign=sign: _times(sign, without_interval(
                    minus(highest(found[:HALF]), highest(found[HALF:])))),
                ("cosine", 4),
            )  # fmt: skip
        yield Claim(
            "table13.range", TABLE_13, "MU's range is the smallest", (model,),
            tuple((TABLE_13, "", model, setting, "range", "range") for setting in TRAINED),
            lambda found: minus(lowest(found[:-1]), found[-1]), ("range", 1),
        )  # fmt: skip


def _segments(paper: Cells) -> Iterator[Claim]:
    for _, model in _pairs(paper, FIGURE_7):
        row = {
            setting: tuple((FIGURE_7, "", model, setting, "cosine", place) for place in STEPS)
            for setting in (BASE, "MB", "ME")
        }
        for other, text in (
            ("ME", "over the segments, MB falls more steeply than ME"),
            (BASE, "over the segments, MB falls more steeply than the untuned model"),
        ):
            yield Claim(
                f"figure7.{other.lower()}", FIGURE_7, text, (model,), row[other] + row["MB"],
                lambda found: minus(slope(found[: len(STEPS)]), slope(found[len(STEPS) :])),
                ("cosine", 4),
            )  # fmt: skip


def _successive(
    item: str, kind: str, text: str, places: Sequence[str], measure: str, sign: int,
    printed: tuple[str, int],
) -> Iterator[Claim]:  # fmt: skip
    """Yield the claims that a measure rises (sign 1) or falls from each place to the next."""
    for before, after in pairwise(places):
        needs = tuple((item, "", "", "", measure, place) for place in (after, before))
        yield Claim(
            kind, item, text, (f"{before} to {after}",), needs,
            lambda found, sign=sign: _times(sign, _difference(found)), printed,
        )  # fmt: skip


def _data(paper: Cells) -> Iterator[Claim]:
    margins = list(
        dict.fromkeys(c.place for c in paper if c.item == TABLE_6 and c.measure == "begin")
    )
    share, count = ("share", 2), ("count", 0)
    yield from _successive(
        TABLE_6, "table6.begin", "a higher margin raises the share of begin", margins, "begin %",
        1, share,
    )  # fmt: skip
    yield from _successive(
        TABLE_6, "table6.kept", "a higher margin keeps fewer", margins, KEPT, -1, count
    )
    strata = list(dict.fromkeys(c.place for c in paper if c.item == TABLE_7))
    for measure in dict.fromkeys(c.measure for c in paper if c.item == TABLE_7):
        yield from _successive(
            TABLE_7, f"table7.{measure}", f"{measure} rises with the margin", strata, measure, 1,
            ("share", 1),
        )  # fmt: skip
    rows = dict.fromkeys(c.place for c in paper if c.item == TABLE_1 and c.measure in POSITIONS)
    for place in [*(name for name in rows if name != TOTAL), TOTAL]:
        yield Claim(
            "table1.middle", TABLE_1, "the middle has the fewest queries of a bin", (place,),
            tuple((TABLE_1, "", "", "", name, place) for name in ("begin", "end", "middle")),
            lambda found: minus(lowest(found[:2]), found[2]), count,
        )  # fmt: skip


def direction_claims(paper: Cells, mean_tolerance: float) -> list[Claim]:
    """Return the claims on every benchmark, model and setting that the paper has numbers of.

    mean_tolerance: nDCG@10 that balanced training may trail the best skew by.
    """
    return [
        *_balanced(paper, mean_tolerance),
        *_points(paper),
        *_reversal(paper),
        *_standard(paper),
        *_moving(paper),
        *_segments(paper),
        *_data(paper),
    ]
