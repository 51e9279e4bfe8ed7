"""Evidence by its text: a marked sentence found again in the document that holds it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from posbias.benchmarks.evidence_records import Judged, Places
from posbias.benchmarks.inputs import find_tables, table_rows, trec_safe
from posbias.benchmarks.option_checks import Check, or_null
from posbias.corpus.sentences import sentence_spans
from posbias.errors import ConfigError, DataError

# Tokenised text writes brackets and quotation marks as the Penn Treebank does.
TREEBANK = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "-COLON-": ":",
    "``": '"',
    "''": '"',
}
_TYPEWRITTEN = TREEBANK | {"“": '"', "”": '"', "’": "'", "‘": "'"}
_SIGN = re.compile("|".join(map(re.escape, TREEBANK)) + r"|\S")
_WORD = re.compile(r"\w+")


class Evidence(NamedTuple):
    """A piece of evidence; fault: why it cannot have a place, `text` then only tells it apart."""

    query_id: str
    doc_id: str | None
    text: str
    fault: str | None = None


class Found(NamedTuple):
    """Where evidence starts in a text, and whether there are doubts about it."""

    start: int
    verbatim: bool
    times: int = 1


def share(place: str, value: object) -> None:
    """Raise ConfigError unless an option is a share above 0, at most 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise ConfigError(f"{place} must be a number above 0, at most 1, is {value!r}.")


def bare_signs(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text without white space, quotes and brackets typewritten, and each sign's range."""
    matches = list(_SIGN.finditer(text))
    signs = "".join(_TYPEWRITTEN.get(match.group(), match.group()) for match in matches)
    return signs, [match.span() for match in matches]


def _cuts_a_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def find_verbatim(evidence: str, text: str) -> Found | None:
    """Find evidence in a text, white space and the shape of quotes aside; None if it lacks.

    The place is the first of several. It never begins or ends within a word.
    """
    wanted, _ = bare_signs(evidence)
    signs, ranges = bare_signs(text)
    starts = []
    at = signs.find(wanted) if wanted else -1
    while at >= 0:
        start, end = ranges[at][0], ranges[at + len(wanted) - 1][1]
        if not _cuts_a_word(text, start) and not _cuts_a_word(text, end):
            starts.append(start)
        at = signs.find(wanted, at + 1)
    return Found(starts[0], True, len(starts)) if starts else None


def _words(text: str) -> set[str]:
    for treebank, sign in TREEBANK.items():
        text = text.replace(treebank, sign)
    return {match.group().lower() for match in _WORD.finditer(text)}


def find_nearest(evidence: str, text: str, least_overlap: float) -> Found | None:
    """Find the sentence of a text that has most words in common with evidence.

    least_overlap: of the words of either, the share that both must have. `times` is the number of
    sentences that are equally near. None if no sentence is near enough.
    """
    wanted = _words(evidence)
    near: list[tuple[float, int]] = []
    for start, end in sentence_spans(text):
        words = _words(text[start:end])
        overlap = len(words & wanted) / max(len(words | wanted), 1)
        if overlap >= least_overlap:
            near.append((overlap, start))
    if not near:
        return None
    most = max(overlap for overlap, _ in near)
    starts = [start for overlap, start in near if overlap == most]
    return Found(starts[0], False, len(starts))


def _find(evidence: str, text: str, least_overlap: float | None) -> Found | None:
    found = find_verbatim(evidence, text)
    if found is None and least_overlap is not None:
        return find_nearest(evidence, text, least_overlap)
    return found


def _place(
    evidence: Evidence, judged: Judged, body: str, least_overlap: float | None
) -> tuple[Found | None, str | None]:
    """Return where evidence is found in the text of its document, or None and why it is not."""
    if evidence.fault is not None:
        return None, evidence.fault
    if evidence.doc_id not in judged.relevant[evidence.query_id]:
        return None, "document_not_relevant"
    found = _find(evidence.text, body, least_overlap)
    if found is None:
        return None, "not_found_in_its_document"
    if not found.verbatim and found.times > 1:
        return None, "several_sentences_equally_near"
    return found, None


def place_evidence(
    evidence: Iterable[Evidence],
    judged: Judged,
    body_starts: Mapping[str, int],
    count_title: bool,
    least_overlap: float | None,
) -> Places:
    """Find pieces of evidence in the relevant documents that they belong to, each place once.

    A piece or a place that comes again for the same query is told and not considered.
    body_starts: where a document's text begins after its title, 0 if not named; evidence is looked
    for from there. count_title: whether the title counts as part of the document.
    """
    places = Places()
    seen: set[tuple] = set()
    for one in evidence:
        if one.query_id not in judged.relevant:
            places.told["of_queries_that_the_benchmark_lacks"] += 1
            continue
        document = judged.texts.get(one.doc_id, "")
        body_start = body_starts.get(one.doc_id, 0)
        if one in seen:
            places.told["repeated"] += 1
            continue
        seen.add(one)
        found, reason = _place(one, judged, document[body_start:], least_overlap)
        if found is None:
            places.dropped[reason] += 1
            continue
        place = (one.query_id, one.doc_id, found.start)
        if place in seen:
            places.told["repeated"] += 1
            continue
        seen.add(place)
        how = "found_verbatim" if found.verbatim else "found_by_the_nearest_sentence"
        places.told[how] += 1
        places.told["found_more_than_once"] += found.times > 1
        before = body_start if count_title else 0
        places.add(before + found.start, len(document) - body_start + before)
    return places


OPTIONS: Mapping[str, Check] = {"least_overlap": or_null(share)}
COLUMNS = ("query_id", "doc_id", "evidence")


def _rows(files: Sequence[Path]) -> Iterator[Evidence]:
    for file in find_tables(files, "evidence texts"):
        for number, row in table_rows(file, COLUMNS):
            if not all(isinstance(row[name], str) for name in COLUMNS):
                raise DataError(f"{file}, row {number}: {', '.join(COLUMNS)} must be texts.")
            yield Evidence(trec_safe(row["query_id"]), trec_safe(row["doc_id"]), row["evidence"])


def locate_texts(
    judged: Judged, files: Sequence[Path], least_overlap: float | None = None
) -> Places:
    """Place evidence given as rows of query_id, doc_id and evidence, a text (Fig. 9).

    least_overlap: see `find_nearest`; None takes verbatim evidence only.
    """
    return place_evidence(_rows(files), judged, {}, True, least_overlap)
