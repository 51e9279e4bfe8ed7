"""How much of the evidence of training queries lies beyond a retriever's longest input.

A document that is cut at the retriever's maximum loses its end, and a query about that end then
teaches something else (section 4.2 gives no maximum). Tokenizers alone decide it; no weights.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from posbias.corpus.segments import POSITIONS, thirds
from posbias.errors import DataError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

TEXTS_AT_A_TIME = 64  # places of all tokens are in memory
COLUMNS = ("retriever", "label", "bin", "position", "n", "partly", "wholly", "share")


def readable_range(
    tokenizer: "PreTrainedTokenizerBase", texts: Sequence[str], max_tokens: int
) -> list[tuple[int, int]]:
    """Return the half-open range of 0-based code points of each text that a model reads.

    max_tokens: where a text is cut, special tokens included. A text that is not cut is read
    whole. Raises DataError for a tokenizer that does not tell where its tokens stand.
    """
    if not tokenizer.is_fast:
        raise DataError(
            f"{tokenizer.name_or_path}: {type(tokenizer).__name__} does not tell where its tokens "
            "stand in a text, so that cut evidence cannot be counted; use a tokenizer with a "
            "tokenizer.json."
        )
    ranges = []
    for at in range(0, len(texts), TEXTS_AT_A_TIME):
        ranges += _ranges(tokenizer, list(texts[at : at + TEXTS_AT_A_TIME]), max_tokens)
    return ranges


def _ranges(
    tokenizer: "PreTrainedTokenizerBase", texts: list[str], max_tokens: int
) -> list[tuple[int, int]]:
    encoded = tokenizer(
        texts,
        truncation=True,
        max_length=max_tokens,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
        verbose=False,
    )
    # The first row of a text is what a model is given; further rows are what was cut.
    rows: dict[int, list[int]] = {}
    for row, text in enumerate(encoded["overflow_to_sample_mapping"]):
        rows.setdefault(text, []).append(row)
    ranges = []
    for number, text in enumerate(texts):
        first, *cut = rows[number]
        marks = encoded["special_tokens_mask"][first]
        spans = [
            span
            for span, special in zip(encoded["offset_mapping"][first], marks, strict=True)
            if not special
        ]
        if not cut:
            ranges.append((0, len(text)))
        elif tokenizer.truncation_side == "left":
            ranges.append((min((start for start, _ in spans), default=len(text)), len(text)))
        else:
            ranges.append((0, max((end for _, end in spans), default=0)))
    return ranges


def evidence_span(pair: Mapping[str, Any], text: str) -> tuple[int, int]:
    """Return where the evidence of a query lies in its document, in 0-based code points.

    That is the answer's span; where the answer is not known, the third of the document that the
    query was written for. Raises DataError for a span outside the document.
    """
    start, end = pair.get("answer_start"), pair.get("answer_end")
    if start is None or end is None:
        if pair["position"] not in POSITIONS:
            raise DataError(
                f"query {pair['query_id']}: position {pair['position']!r} does not exist; "
                f"known: {', '.join(POSITIONS)}."
            )
        return thirds(len(text))[POSITIONS.index(pair["position"])]
    if not 0 <= start < end <= len(text):
        raise DataError(
            f"query {pair['query_id']}: its answer, characters {start} to {end}, lies outside its "
            f"document {pair['doc_id']} of {len(text)} characters; run the steps before again."
        )
    return start, end


def loss_of(text: str, evidence: tuple[int, int], read: tuple[int, int]) -> str | None:
    """Say whether evidence is lost 'wholly', 'partly' or not (None); blanks do not count."""
    start, end = evidence
    first, last = max(start, read[0]), min(end, read[1])
    if not text[first:last].strip():
        return "wholly"
    lost = text[start:first] + text[last:end]
    return "partly" if lost.strip() else None


class TruncationTable:
    """Counts of lost evidence by length bin and position, filled query by query."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str], dict[str, int]] = {}

    def add(self, bin_name: str, position: str, loss: str | None) -> None:
        """Count one query."""
        cell = self.counts.setdefault((bin_name, position), {"n": 0, "partly": 0, "wholly": 0})
        cell["n"] += 1
        if loss is not None:
            cell[loss] += 1

    def rows(self, retriever: str, label: str) -> list[dict[str, Any]]:
        """Return one row per bin and position, shorter bins first, then by place in the text.

        share: of the queries of a cell whose evidence is cut off partly or wholly.
        """
        order = {position: rank for rank, position in enumerate(POSITIONS)}
        cells = sorted(self.counts, key=lambda cell: (*_edges(cell[0]), order[cell[1]]))
        return [
            {
                "retriever": retriever,
                "label": label,
                "bin": bin_name,
                "position": position,
                **self.counts[bin_name, position],
                "share": share(self.counts[bin_name, position]),
            }
            for bin_name, position in cells
        ]

    def total(self, position: str | None = None) -> dict[str, Any]:
        """Return counts and share over all bins, of one position or of all."""
        return _sum(
            cell for (_, of), cell in self.counts.items() if position is None or of == position
        )


def share(cell: Mapping[str, int]) -> float:
    """Return the share of a cell's queries whose evidence is cut off, in part or wholly."""
    return (cell["partly"] + cell["wholly"]) / cell["n"] if cell["n"] else 0.0


def _sum(cells: Iterable[Mapping[str, int]]) -> dict[str, Any]:
    total = {"n": 0, "partly": 0, "wholly": 0}
    for cell in cells:
        for name in total:
            total[name] += cell[name]
    return {**total, "share": share(total)}


def _edges(bin_name: str) -> tuple[int, str]:
    """Order bins such as 256-512 by their lower edge."""
    lower = bin_name.split("-")[0]
    return (int(lower) if lower.isdigit() else 0, bin_name)
