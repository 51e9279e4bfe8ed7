"""Evidence of FEVER and Climate-FEVER: sentences with the page or article they come from.

BEIR's queries of both hold no evidence. For FEVER, the CopeNLU group's file of gold evidence has a
row for each set of evidence: original_id, the claim's, and evidence, a list of [page, number,
sentence]. Climate-FEVER has a row for each claim: claim_id, and evidences, each with article,
evidence, a sentence, and evidence_label.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from posbias.benchmarks.evidence_beir import OTHER, Titles, files_of, read_titles
from posbias.benchmarks.evidence_records import Judged, Places
from posbias.benchmarks.evidence_texts import Evidence, place_evidence, share
from posbias.benchmarks.inputs import named, table_rows, trec_safe
from posbias.benchmarks.option_checks import ALL, Check, names_or_all, or_null, yes_or_no
from posbias.errors import DataError

FEVER_OPTIONS: Mapping[str, Check] = {"count_title": yes_or_no, "least_overlap": or_null(share)}
CLIMATE_OPTIONS: Mapping[str, Check] = {**FEVER_OPTIONS, "labels": names_or_all}
# The order in which the hub's Parquet numbers them.
LABELS = ("SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO")
FEVER_FIELDS = ("original_id", "evidence")
CLIMATE_FIELDS = ("claim_id", "evidences")

# Of a row: the query, and page and sentence of each piece of evidence.
Reading = Callable[[Mapping[str, Any]], tuple[str, list[tuple[str, str]]]]


def _fever_row(row: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    return str(row["original_id"]), [(page, text) for page, _, text in row["evidence"]]


def _label(value: Any) -> str:
    return LABELS[value] if type(value) is int else value


def _climate_row(labels: Sequence[str] | str) -> Reading:
    def read(row: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
        chosen = [
            (one["article"], one["evidence"])
            for one in row["evidences"]
            if labels == ALL or _label(one["evidence_label"]) in labels
        ]
        return str(row["claim_id"]), chosen

    return read


def _evidence(
    files: Sequence[Path], fields: tuple[str, ...], read: Reading, judged: Judged, titles: Titles
) -> Iterator[Evidence]:
    found = files_of(files, OTHER)
    if not found:
        raise DataError(f"{named(files)}: no file with {' and '.join(fields)} of the evidence.")
    for file in found:
        for number, row in table_rows(file, fields):
            try:
                query_id, sentences = read(row)
                if not all(isinstance(part, str) for pair in sentences for part in pair):
                    raise TypeError("a page or a sentence is no text")
            except (AttributeError, IndexError, KeyError, TypeError, ValueError) as fault:
                raise DataError(
                    f"{file}, row {number}: {fields[1]} has another shape ({fault!r}); use the "
                    "file that the configuration names."
                ) from fault
            for page, text in sentences:
                query_id = trec_safe(query_id)
                doc_id, fault = titles.document(judged, query_id, page)
                yield Evidence(query_id, doc_id, f"{page}: {text}" if fault else text, fault)


def locate_fever(
    judged: Judged,
    files: Sequence[Path],
    count_title: bool = False,
    least_overlap: float | None = 0.8,
) -> Places:
    """Place FEVER's evidence sentences in the introductions that are BEIR's documents (Fig. 9).

    files: BEIR's corpus, and rows of original_id and evidence. count_title, least_overlap: as for
    `posbias.benchmarks.evidence_scifact.locate_scifact`. Raises DataError naming file and record.
    """
    titles = read_titles(files, judged)
    evidence = _evidence(files, FEVER_FIELDS, _fever_row, judged, titles)
    return place_evidence(evidence, judged, titles.body_starts, count_title, least_overlap)


def locate_climate_fever(
    judged: Judged,
    files: Sequence[Path],
    labels: Sequence[str] | str = LABELS[:2],
    count_title: bool = False,
    least_overlap: float | None = 0.8,
) -> Places:
    """Place Climate-FEVER's evidence sentences in BEIR's documents (Fig. 9).

    The sentences come from whole articles of a later Wikipedia, the documents are introductions of
    an earlier one, so that many are not found. files: BEIR's corpus, and rows of claim_id and
    evidences. labels: of the evidence that counts, or all (our choice: what supports or refutes).
    count_title, least_overlap: as for
    `posbias.benchmarks.evidence_scifact.locate_scifact`. Raises DataError naming file and record.
    """
    titles = read_titles(files, judged)
    evidence = _evidence(files, CLIMATE_FIELDS, _climate_row(labels), judged, titles)
    return place_evidence(evidence, judged, titles.body_starts, count_title, least_overlap)
