"""What of ours stands for what of the paper's, in words: benchmarks, groups, bins, retrievers."""

from collections.abc import Mapping, Sequence

from posbias.report.comparison_cells import (
    FIGURE_1,
    TABLE_1,
    TABLE_3,
    TABLE_11,
    Cell,
)
from posbias.report.direction_rules import NOT_RUN
from posbias.report.name_map import WITH_BENCHMARK, NameMap

# Position groups of the paper's PSI, as far as it states them.
PAPER_GROUPS = {
    "SQuAD-PosQ": "six buckets of characters",
    "FineWeb-PosQ": "thirds (begin, middle, end)",
    "PosIR": "not stated",
}
SIX_BUCKETS = "over characters"  # our note where the groups are those of SQuAD-PosQ


class OurNames:
    """Our printed names for what the published cells are of, from the map and our cells."""

    def __init__(self, names: NameMap, paper: Sequence[Cell], ours: Sequence[Cell]) -> None:
        """Gather what our cells say of their groups and places."""
        self.names = names
        self.benchmarks = list(
            dict.fromkeys(cell.benchmark for cell in paper if cell.item in WITH_BENCHMARK)
        )
        self.models = list(dict.fromkeys(cell.model for cell in paper if cell.model))
        self._groups: dict[tuple[str, str], list[str]] = {}
        self._places: dict[tuple[str, str, str], str] = {}
        for cell in ours:
            groups = self._groups.setdefault((cell.item, cell.benchmark), [])
            if cell.note and cell.note not in groups:
                groups.append(cell.note)
            if cell.our_place:
                self._places[cell.item, cell.benchmark, cell.place] = cell.our_place

    def benchmark(self, name: str) -> str:
        """Return our benchmark for one of the paper's, or that none was run."""
        return (self.names.benchmark(name) or NOT_RUN) if name in self.benchmarks else ""

    def groups(self, item: str, benchmark: str) -> str:
        """Return what our numbers of an item on a benchmark are over; empty if it is not said."""
        return ", ".join(self._groups.get((item, benchmark), []))

    def place(self, item: str, benchmark: str, name: str) -> str:
        """Return a place of the paper's with ours, `256-512 (ours 192-240)`."""
        ours = self._places.get((item, benchmark, name), "")
        return name if ours in ("", name) else f"{name} (ours {ours})"

    def about(self, item: str, words: Sequence[str]) -> str:
        """Return what a claim is about, with our benchmark or place beside the paper's."""
        texts = []
        for word in words:
            ours = self.benchmark(word)
            texts.append(f"{word} (ours: {ours})" if ours else self.place(item, "", word))
        return ", ".join(texts).replace(f"(ours: {NOT_RUN})", f"({NOT_RUN})")

    def heading(self, item: str, benchmarks: Sequence[str]) -> str:
        """Return what follows the heading of a table on these benchmarks; empty if on none."""
        known = [name for name in dict.fromkeys(benchmarks) if name in self.benchmarks]
        if not known:
            return ""
        run = [name for name in known if self.names.benchmark(name)]
        if not run:
            return f" ({NOT_RUN})"
        texts = []
        for name in run:
            groups = self.groups(item, name)
            ours = self.benchmark(name) + (f", {groups}" if groups else "")
            texts.append(ours if len(known) == 1 else f"{name} is {ours}")
        others = f"; others {NOT_RUN}" if len(run) < len(known) else ""
        return f" (ours: {'; '.join(texts)}{others})"

    def benchmark_rows(self) -> list[tuple[str, str, str, str]]:
        """Return the paper's benchmark, its position groups, ours, and our position groups."""
        rows = []
        for name in self.benchmarks:
            groups = [self.groups(item, name) for item in (TABLE_3, TABLE_11)]
            points = [
                f"{place} is {ours}"
                for (item, benchmark, place), ours in self._places.items()
                if (item, benchmark) == (FIGURE_1, name) and ours != place
            ]
            mine = [text for text in groups if text]
            mine += [f"{FIGURE_1}: {', '.join(points)}"] if points else []
            rows.append((name, PAPER_GROUPS.get(name, ""), self.benchmark(name), "; ".join(mine)))
        return rows

    def retriever_rows(self) -> list[tuple[str, str]]:
        """Return the paper's retriever and ours."""
        return [(name, self.names.retriever(name) or NOT_RUN) for name in self.models]

    def sentences(self) -> list[str]:
        """Return what else stands for something of the paper's, or differs from it in kind."""
        found = []
        bins = [f"{place}: ours {ours}" for (item, _, place), ours in self._places.items()
                if item == TABLE_1 and ours != place]  # fmt: skip
        if bins:
            found.append(
                f"Bins of {TABLE_1}, characters, matched by their order: {'; '.join(bins)}."
            )
        squad = next(iter(PAPER_GROUPS))
        groups = self.groups(TABLE_3, squad)
        if groups and groups != SIX_BUCKETS:
            found.append(
                f"{TABLE_3}: the paper's PSI on {squad} is over {PAPER_GROUPS[squad]}, "
                f"ours {groups}."
            )
        return found


def judge_sentences(comparison: Mapping[str, object]) -> list[str]:
    """Return what the audit's judge shares with the panel, if `comparison` {judge, panel} says so.

    judge: the judge's kind; panel: the kinds of the panel's members.
    """
    if comparison.get("judge") == "words" and "bm25" in (comparison.get("panel") or ()):
        return [
            "Table 7: our judge and our panel's BM25 both look at words, so that the audit is not "
            "independent of the filter."
        ]
    return []
