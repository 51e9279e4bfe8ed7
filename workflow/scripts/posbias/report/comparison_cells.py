"""One number of the retriever study's tables and figures, the paper's or ours, under one key."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from posbias.errors import DataError
from posbias.report.signs import DASH, MINUS

TABLE_1, TABLE_3, TABLE_4 = "Tables 1, 8", "Table 3", "Table 4"
TABLE_6, TABLE_7, TABLE_11, TABLE_12 = "Table 6", "Table 7", "Table 11", "Table 12"
TABLE_13, TABLE_14 = "Tables 5, 13", "Table 14"
FIGURE_1, FIGURE_7, FIGURE_9 = "Fig. 1", "Figs. 3, 7", "Fig. 9"
# Items in the order they are printed, and what each shows.
ITEMS = {
    TABLE_3: "nDCG@10 and PSI",
    FIGURE_1: "position curves, the points that the text quotes",
    TABLE_11: "nDCG@10 and PSI on PosIR",
    TABLE_12: "mirrored documents",
    TABLE_4: "standard benchmarks, mean over the retrievers",
    TABLE_14: "standard benchmarks",
    TABLE_13: "cosine by the place of the evidence",
    FIGURE_7: "cosine of document and segment",
    TABLE_6: "filter by margin",
    TABLE_7: "audit of the filter",
    TABLE_1: "pool by length and position",
    FIGURE_9: "located evidence",
}
UNITS = {
    "ndcg": "nDCG@10",
    "psi": "PSI",
    "cosine": "cosine",
    "range": "thousandths of cosine",
    "share": "%",
    "count": "count",
}
TRAINED = ("MB", "MM", "ME", "MU")
BASE = "Base"
POSITIONS = ("begin", "middle", "end")
STEPS = tuple(f"p{step}" for step in range(1, 11))
GENERATED, FAILED, TOTAL, EACH_BIN = "generated", "failed", "total", "each bin"
KEPT, OF_GENERATED = "kept", "% of generated"
DELTA = "Δ"

# item, benchmark, model, setting, measure, place: the paper's names; empty where one has no sense.
Key = tuple[str, str, str, str, str, str]


@dataclass(frozen=True)
class Cell:
    """A number under its key, with its kind (of UNITS), printed decimals and interval if known.

    note: what it is over; our_place: what stands for the key's place, where ours has other ones.
    """

    item: str
    benchmark: str
    model: str
    setting: str
    measure: str
    place: str
    kind: str
    digits: int
    value: float
    low: float | None = None
    high: float | None = None
    note: str = ""
    our_place: str = ""

    @property
    def key(self) -> Key:
        """What the number is of, without the number."""
        return (
            self.item, self.benchmark, self.model, self.setting, self.measure, self.place,
        )  # fmt: skip

    @property
    def unit(self) -> str:
        """The unit as printed."""
        return UNITS[self.kind]


def by_key(cells: Iterable[Cell]) -> dict[Key, Cell]:
    """Return the cells by their keys; raises DataError where one number is there twice."""
    found: dict[Key, Cell] = {}
    for cell in cells:
        if cell.key in found:
            raise DataError(
                f"{' / '.join(filter(None, cell.key))}: two numbers of one cell; "
                "give each file once."
            )
        found[cell.key] = cell
    return found


def number_text(value: float | None, kind: str, digits: int, signed: bool = False) -> str:
    """Print a number as the paper does, `.438`, `11.9`, `8,189`; a dash if there is none."""
    if value is None:
        return DASH
    text = f"{abs(value):,.{digits}f}"
    if kind in ("ndcg", "psi", "cosine") and text.startswith("0."):
        text = text[1:]
    zero = not text.strip("0.,")
    sign = MINUS if value < 0 and not zero else "+" if signed and not zero else ""
    return sign + text


def cell_text(cell: Cell | None) -> str:
    """Print a cell's number; a dash if there is none. A difference keeps its sign."""
    if cell is None:
        return DASH
    return number_text(cell.value, cell.kind, cell.digits, signed=cell.measure == DELTA)


def filter_name(threshold: float) -> str:
    """Return the name of the row of Table 6 with this least margin."""
    return f"margin ≥ {threshold:g}"


def filter_cells(rows: Mapping[str, Mapping[str, int]]) -> list[Cell]:
    """Return Table 6 from its counts: {filter: {kept, begin, middle, end}}, any of them.

    Shares follow from the counts: of all generated, and of the row for the positions, in %.
    """
    cells = []
    generated = rows.get(GENERATED, {}).get(KEPT)
    for place, counts in rows.items():
        shares: dict[str, float] = {}
        if generated and place != GENERATED and KEPT in counts:
            shares[OF_GENERATED] = 100 * counts[KEPT] / generated
        if counts.get(KEPT):
            shares |= {
                f"{name} %": 100 * counts[name] / counts[KEPT]
                for name in POSITIONS
                if name in counts
            }
        cells += [Cell(TABLE_6, "", "", "", name, place, "count", 0, n)
                  for name, n in counts.items()]  # fmt: skip
        cells += [Cell(TABLE_6, "", "", "", name, place, "share", 2, share)
                  for name, share in shares.items()]  # fmt: skip
    return cells


def pool_cells(
    bins: Sequence[str], rows: Sequence[Mapping[str, int]], ours: Sequence[str] = ()
) -> list[Cell]:
    """Return the counts of Tables 1 and 8 by bin and position; `ours` are our names of the bins."""
    ours = ours or [""] * len(bins)
    return [
        Cell(TABLE_1, "", "", "", name, place, "count", 0, row[name], our_place=mine)
        for place, row, mine in zip(bins, rows, ours, strict=True)
        for name in POSITIONS
    ]


def pool_totals(values: Mapping[tuple[str, str], float]) -> list[Cell]:
    """Return the cells of Tables 1 and 8 beside those of the bins, by (measure, row)."""
    return [
        Cell(TABLE_1, "", "", "", measure, place, "count", 0, value)
        for (measure, place), value in values.items()
    ]
