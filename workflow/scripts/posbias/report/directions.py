"""The directions that the retriever study claims, one by one, as rules over cells."""

from collections.abc import Iterator, Sequence

from posbias.report.comparison_cells import (
    BASE,
    DELTA,
    FIGURE_1,
    FIGURE_7,
    STEPS,
    TABLE_3,
    TABLE_4,
    TABLE_11,
    TABLE_12,
    TABLE_13,
    TABLE_14,
    TRAINED,
    Cell,
    Key,
)
from posbias.report.data_directions import data_claims
from posbias.report.direction_rules import (
    Claim,
    Estimate,
    Rule,
    difference,
    highest,
    lowest,
    magnitude,
    minus,
    slope,
    turned,
    without_interval,
)

# Benchmarks whose evidence stands early in the documents (section 5, Fig. 9).
FRONT_LOADED = ("FEVER", "HotpotQA", "Climate-FEVER")
SPREAD = ("SciFact",)  # and the one whose evidence does not
PSI_OF = "SQuAD-PosQ"  # the benchmark whose PSI Table 3 gives for every retriever
HALF = len(STEPS) // 2
MIDDLE = slice(2, 8)  # p3 to p8
RISE_OF_DELTA = {"MB": 1, "MM": 1, "ME": -1, "MU": 1}  # signs of Table 12
SIGN_TEXT = {1: "above 0", -1: "below 0 (shown with its sign turned)"}
Cells = Sequence[Cell]


def _pairs(paper: Cells, item: str) -> list[tuple[str, str]]:
    """Return benchmark and model of each row of a table, in its order."""
    return list(dict.fromkeys((c.benchmark, c.model) for c in paper if c.item == item))


def _keys(item: str, benchmark: str, model: str, measure: str) -> tuple[Key, ...]:
    """Return the keys of MB, MM, ME and MU."""
    return tuple((item, benchmark, model, setting, measure, "") for setting in TRAINED)


def _below_all(found: Sequence[Estimate]) -> Estimate:
    return minus(lowest(found[:-1]), found[-1])


def _lowered(found: Sequence[Estimate]) -> Estimate:
    return minus(highest(found[:-1]), found[-1])


def _kept(found: Sequence[Estimate]) -> Estimate:
    return minus(found[-1], highest(found[:-1]))


def _mean_text(paper: Cells, tolerance: float) -> str:
    """Say what MU's mean may trail the best skew's by, and by what it does so in the paper."""
    means = {c.key: c.value for c in paper if c.item in (TABLE_3, TABLE_11)}
    rows = [
        [means[key] for key in _keys(item, *about, "nDCG@10") if key in means]
        for item in (TABLE_3, TABLE_11)
        for about in _pairs(paper, item)
    ]
    largest = round(max((max(row) - row[-1] for row in rows if row), default=0.0), 6)
    own = "the paper's own largest shortfall" + ("" if largest == tolerance else f": {largest:g}")
    return f"MU keeps the best skew's mean nDCG@10, but for {tolerance:g} ({own})"


def _balanced(paper: Cells, mean_tolerance: float) -> Iterator[Claim]:
    mean_text = _mean_text(paper, mean_tolerance)
    for item in (TABLE_3, TABLE_11):
        number = item.split()[1]
        for about in _pairs(paper, item):
            yield Claim(
                f"table{number}.psi", item, "MU's PSI is below the worst skew's", about,
                _keys(item, *about, "PSI"), _lowered, ("psi", 3),
            )  # fmt: skip
            yield Claim(
                f"table{number}.least", item, "MU's PSI is below every skew's", about,
                _keys(item, *about, "PSI"), _below_all, ("psi", 3),
            )  # fmt: skip
            yield Claim(
                f"table{number}.mean", item, mean_text, about,
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
            yield Claim(f"figure1.{kind}", FIGURE_1, text, about, needs, difference)


def _reversal(paper: Cells) -> Iterator[Claim]:
    for benchmark, model in _pairs(paper, TABLE_12):
        needs = _keys(TABLE_12, benchmark, model, DELTA)
        for setting, key in zip(TRAINED, needs, strict=True):
            sign = RISE_OF_DELTA[setting]
            yield Claim(
                "table12.sign", TABLE_12,
                f"{setting}: mirrored, Δ (back→front less front→back) is {SIGN_TEXT[sign]}",
                (model, setting), (key,), lambda found, sign=sign: turned(sign, found[0]),
            )  # fmt: skip
        yield Claim(
            "table12.least", TABLE_12, "MU's Δ is the smallest in size", (model,), needs,
            lambda found: minus(
                lowest([magnitude(skew) for skew in found[:-1]]), magnitude(found[-1])
            ),
        )  # fmt: skip


# What a standard benchmark hides: MB's rank and its PSI, each a difference of two cells.
HIDDEN: tuple[tuple[str, Rule], ...] = (
    ("nDCG@10", lambda found: minus(*found[:2])),
    ("PSI", lambda found: minus(*found[2:])),
)


def _hidden(item: str, about: tuple[str, str], mb: Key, mu: Key) -> Claim:
    psi = _keys(TABLE_3, PSI_OF, about[1], "PSI")
    return Claim(
        f"table{item.split()[1]}.hidden", item,
        "a standard benchmark ranks MB above MU though MB's PSI is the higher (both differences; "
        f"PSI on {PSI_OF})",
        about, (mb, mu, psi[0], psi[3]),
        lambda found: lowest([rule(found) for _, rule in HIDDEN]), parts=HIDDEN,
    )  # fmt: skip


def _standard(paper: Cells) -> Iterator[Claim]:
    for item in (TABLE_4, TABLE_14):
        kind = f"table{item.split()[1]}"
        for benchmark, model in _pairs(paper, item):
            mb, _, me, mu = _keys(item, benchmark, model, "nDCG@10")
            about = (benchmark, model) if model else (benchmark,)
            if benchmark in SPREAD:
                yield Claim(
                    f"{kind}.mu_mb", item, "with evidence not in front, MU is above MB", about,
                    (mu, mb), difference,
                )  # fmt: skip
            if benchmark not in FRONT_LOADED:
                continue
            for other, key in (("ME", me), ("MU", mu)):
                yield Claim(
                    f"{kind}.mb_{other.lower()}", item,
                    f"with evidence in front, MB is above {other}", about, (mb, key), difference,
                )  # fmt: skip
            if model:
                yield _hidden(item, (benchmark, model), mb, mu)


def _peak_within(places: slice, found: Sequence[Estimate]) -> Estimate:
    """Return the highest value within some places less the highest without, no interval."""
    within = found[places]
    without = [*found[: places.start or 0], *(found[places.stop :] if places.stop else [])]
    return without_interval(minus(highest(within), highest(without)))


def _moving(paper: Cells) -> Iterator[Claim]:
    for _, model in _pairs(paper, TABLE_13):
        for setting, where, places in (
            ("MB", "in the first half", slice(0, HALF)),
            ("MM", "in the middle places, p3 to p8", MIDDLE),
            ("ME", "in the second half", slice(HALF, None)),
        ):
            yield Claim(
                f"table13.peak_{setting.lower()}", TABLE_13,
                f"{setting}: the highest cosine is with the evidence {where}", (model,),
                tuple((TABLE_13, "", model, setting, "cosine", place) for place in STEPS),
                lambda found, places=places: _peak_within(places, found), ("cosine", 4),
            )  # fmt: skip
        yield Claim(
            "table13.range", TABLE_13, "MU's range is the smallest", (model,),
            tuple((TABLE_13, "", model, setting, "range", "range") for setting in TRAINED),
            _below_all, ("range", 1),
        )  # fmt: skip


def _segments(paper: Cells) -> Iterator[Claim]:
    for _, model in _pairs(paper, FIGURE_7):
        row = {
            setting: tuple((FIGURE_7, "", model, setting, "cosine", place) for place in STEPS)
            for setting in (BASE, "MB", "ME")
        }
        for kind, text, above, below in (
            ("me", "over the segments, MB falls more steeply than ME", "ME", "MB"),
            ("base", "over the segments, MB falls more steeply than the untuned model", BASE, "MB"),
            ("rise", "over the segments, ME rises against the untuned model", "ME", BASE),
        ):
            yield Claim(
                f"figure7.{kind}", FIGURE_7, text, (model,), row[above] + row[below],
                lambda found: minus(slope(found[: len(STEPS)]), slope(found[len(STEPS) :])),
                ("cosine", 4),
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
        *data_claims(paper),
    ]
