"""Evidence moved through its document: places, whole words, no character lost, means and range."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from posbias.errors import ConfigError, DataError
from posbias.representation.evidence_cut import cut_evidence, find_evidence
from posbias.representation.evidence_moving import (
    SNAPS,
    insertion_offsets,
    move_evidence,
    moving_record,
    place,
    place_apart,
)

texts = st.text("ab.( \n\u2003é😀", max_size=40)
blanks = st.sampled_from([" ", "\n", "  ", " \n"])


@st.composite
def documents(draw) -> tuple[list[str], str, int, int]:
    """Words, a text of them with blanks of several kinds between, and a run of whole words."""
    of_text = draw(st.lists(st.text("abc.(é", min_size=1, max_size=6), min_size=2, max_size=12))
    between = [draw(blanks) for _ in of_text[1:]] + [""]
    text = "".join(word + blank for word, blank in zip(of_text, between, strict=True))
    first = draw(st.integers(0, len(of_text) - 1))
    last = draw(st.integers(first, len(of_text) - 1))
    assume(last - first + 1 < len(of_text))
    start = sum(len(word + blank) for word, blank in zip(of_text[:first], between, strict=False))
    inside = zip(of_text[first:last], between[first:last], strict=True)
    end = start + sum(len(word + blank) for word, blank in inside) + len(of_text[last])
    return of_text, text, start, end


@settings(max_examples=300, deadline=None)
@given(texts, texts.filter(str.strip), st.integers(2, 12), st.sampled_from(SNAPS), st.data())
def test_nothing_but_blanks_is_added_and_the_rest_stays_in_order(rest, passage, count, snap, data):
    home = data.draw(st.integers(0, len(rest)))
    for moved in move_evidence(rest, passage, home, count, snap):
        added = Counter(moved.text)
        added.subtract(Counter(rest + passage))
        assert set(added.elements()) <= {" "} and min(added.values()) >= 0
        assert added.total() <= (2 if snap == "words" else 0)
        assert moved.text[moved.start : moved.end] == passage.strip()
        around = moved.text[: moved.start] + moved.text[moved.end :]
        assert "".join(around.split()) == "".join(rest.split())


@settings(max_examples=300, deadline=None)
@given(texts, st.integers(2, 12))
def test_characters_are_uniformly_spaced_to_half_a_character(rest, count):
    offsets = insertion_offsets(rest, count, "characters")
    assert (offsets[0], offsets[-1], len(offsets)) == (0, len(rest), count)
    for step, offset in enumerate(offsets):
        off = Fraction(step * len(rest), count - 1) - offset
        assert -Fraction(1, 2) < off <= Fraction(1, 2)  # of two equally near, the left one


@settings(max_examples=300, deadline=None)
@given(texts, st.integers(2, 12))
def test_words_are_the_nearest_places_where_a_word_begins(rest, count):
    begins = [
        at for at in range(1, len(rest))
        if rest[at - 1].isspace() and not rest[at].isspace()
    ]  # fmt: skip
    allowed = sorted({0, *begins, len(rest)})
    for step, offset in enumerate(insertion_offsets(rest, count, "words")):
        target = Fraction(step * len(rest), count - 1)
        assert offset == min(allowed, key=lambda at: (abs(at - target), at))


@settings(max_examples=300, deadline=None)
@given(documents(), st.integers(2, 12))
def test_whole_words_move_as_one_and_no_other_word_changes(document, count):
    of_text, text, start, end = document
    rest, passage, home = cut_evidence(text, start, end)
    evidence = text[start:end].split()
    assert Counter(rest + passage) == Counter(text)
    others = rest.split()
    assert Counter(others + evidence) == Counter(of_text)
    seen = set()
    for moved in move_evidence(rest, passage, home, count, "words"):
        before = moved.text[: moved.start].split()
        assert moved.text.split() == others[: len(before)] + evidence + others[len(before) :]
        assert Counter(moved.text.split()) == Counter(text.split())
        # Blanks stood beside the evidence: those are enough.
        assert Counter(moved.text) == Counter(text)
        seen.add(len(before))
    assert {0, len(others)} <= seen


def glued(text: str, at: int) -> bool:
    """Say whether a word goes on at a place of a text, in code points."""
    return 0 < at < len(text) and not text[at - 1].isspace() and not text[at].isspace()


@settings(max_examples=500, deadline=None)
@given(texts, texts.filter(str.strip), texts, st.integers(2, 12))
def test_no_words_grow_together_wherever_the_document_is_cut(before, evidence, after, count):
    if not (before + after).strip():
        after += "b"
    text = before + evidence + after
    rest, passage, home = cut_evidence(text, len(before), len(before + evidence))
    evidence = evidence.strip()
    # What stood before the evidence, the evidence, and what stood after it never share a word.
    apart = Counter([*rest[:home].split(), *evidence.split(), *rest[home:].split()])
    at_home = place_apart(rest, passage, home, home)
    assert at_home.text == text
    assert text[at_home.start : at_home.end] == evidence
    offsets = insertion_offsets(rest, count, "words")
    for offset, moved in zip(
        offsets, move_evidence(rest, passage, home, count, "words"), strict=True
    ):
        if offset == home:
            assert moved == at_home
        else:
            assert Counter(moved.text.split()) == apart
            assert not glued(moved.text, moved.start) and not glued(moved.text, moved.end)
    if not glued(text, at_home.start) and not glued(text, at_home.end):
        assert apart == Counter(text.split())


@pytest.mark.parametrize(
    ("text", "evidence", "wanted"),
    [
        # The evidence ends the document, and no blank stands before it.
        ("Acting prizes. body of work.(A b)", "(A b)", [
            "(A b) Acting prizes. body of work.", "Acting prizes. (A b) body of work.",
            "Acting prizes. body of work.(A b)"]),
        # It begins the document, and no blank stands after it.
        ("the re-entry was calm", "the re-", [
            "the re-entry was calm", "entry the re- was calm", "entry was calm the re-"]),
        # One blank beside it, which goes with it: the rest must not read "thes.".
        ("In the 1990s. Yes", "1990", [
            "1990 In the s. Yes", "In 1990 the s. Yes", "In the s. Yes 1990"]),
        # None at either side.
        ("a b.C d.E f", "C d.", ["C d. a b. E f", "a C d. b. E f", "a b. E f C d."]),
    ],
)  # fmt: skip
def test_one_blank_sets_apart_what_would_grow_together(text, evidence, wanted):
    start = text.index(evidence)
    parts = cut_evidence(text, start, start + len(evidence))
    assert [moved.text for moved in move_evidence(*parts, 3, "words")] == wanted
    cut = move_evidence(*parts, 3, "characters")
    assert all(Counter(moved.text) == Counter(text) for moved in cut)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_document_can_be_put_together_again(data):
    text = data.draw(texts).strip()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    parts = cut_evidence(text, start, end)
    outside = text[:start] + text[end:]
    if parts is None:
        assert not text[start:end].strip() or not outside.strip()
        return
    rest, passage, home = parts
    assert passage.strip() == text[start:end].strip()
    assert place(rest, passage, home).text == text


@pytest.mark.parametrize(
    ("text", "evidence", "rest", "passage"),
    [
        ("One. Two. Three.", "Two.", "One. Three.", "Two. "),
        ("One. Two.", "Two.", "One.", " Two."),
        ("One. Two.", "One.", "Two.", "One. "),
        ("One.\nTwo.\n\nThree.", "Two.", "One.\nThree.", "Two.\n\n"),
        ("One. Two. Three.", " Two. ", "One. Three.", "Two. "),
        ("In the 1990s.", "1990", "In thes.", " 1990"),
        ("(Two)", "Two", "()", "Two"),
    ],
)
def test_where_a_document_is_cut(text, evidence, rest, passage):
    start = text.index(evidence)
    parts = cut_evidence(text, start, start + len(evidence))
    assert (parts.rest, parts.passage) == (rest, passage)
    assert parts.rest[: parts.home] + passage + parts.rest[parts.home :] == text


def test_a_document_of_evidence_alone_and_evidence_of_blanks_are_no_pair():
    assert cut_evidence("One. ", 0, 4) is None
    assert cut_evidence("One. Two.", 4, 5) is None
    assert cut_evidence("One.", 2, 2) is None
    with pytest.raises(DataError, match=r"\[2, 9\) is not a range of a text of 4"):
        cut_evidence("One.", 2, 9)


def test_five_places_of_a_short_document_by_hand():
    moved = move_evidence("aa bb cc dd", "X Y ", 0, 5, "words")
    assert [document.text for document in moved] == [
        "X Y aa bb cc dd",
        "aa X Y bb cc dd",
        "aa bb X Y cc dd",
        "aa bb cc X Y dd",
        "aa bb cc dd X Y",
    ]
    cut = move_evidence("aa bb cc dd", "X Y ", 0, 3, "characters")
    assert [document.text for document in cut] == [
        "X Y aa bb cc dd",
        "aa bb X Y cc dd",
        "aa bb cc dd X Y",
    ]
    # Two starts of words equally near: the left one.
    assert insertion_offsets("aa bbbb", 3, "words") == [0, 3, 7]
    assert insertion_offsets("a bbbb c", 3, "words") == [0, 2, 8]
    assert insertion_offsets("unbroken", 4, "words") == [0, 0, 8, 8]


def test_evidence_is_found_where_only_blanks_differ():
    document = "One.\r\n  Two\tthree.  Four."
    assert find_evidence(document, " Two\tthree. ") == (document, 8, 18)
    found, start, end = find_evidence(document, "Two three.")
    assert (found, found[start:end]) == ("One. Two three. Four.", "Two three.")
    assert find_evidence(document, "Two  Three.") is None
    assert find_evidence(document, "Twothree.") is None
    assert find_evidence(document, " \n") is None
    assert find_evidence("One. One.", "One.")[1:] == (0, 4)


def test_wrong_options_are_named():
    with pytest.raises(ConfigError, match="'sentences' is not one of words, characters"):
        insertion_offsets("a b", 3, "sentences")
    for positions in (1, True, 2.0):
        with pytest.raises(ConfigError, match=f"at least 2, is {positions}"):
            insertion_offsets("a b", positions, "words")


# Means and range.


def test_record_of_equal_pairs_has_no_width():
    cosines = np.tile([0.1, 0.5, 0.5, 0.2], (7, 1))
    record = moving_record(cosines, 200, 0.95, np.random.default_rng(1))
    assert [point["position"] for point in record["points"]] == [1, 2, 3, 4]
    for point, value in zip(record["points"], (0.1, 0.5, 0.5, 0.2), strict=True):
        for name in ("mean", "low", "high"):
            assert point[name] == pytest.approx(value)
    assert (record["peak"], record["lowest"]) == (2, 1)
    for name in ("range", "range_low", "range_high"):
        assert record[name] == pytest.approx(0.4)


def test_pairs_are_resampled_whole():
    """Pairs differ much from each other and not at all in shape: only whole rows keep the range."""
    rng = np.random.default_rng(3)
    cosines = rng.normal(0, 0.3, (50, 1)) + np.array([0.0, 0.05, 0.02])
    record = moving_record(cosines, 500, 0.95, np.random.default_rng(1))
    assert record["range_low"] == pytest.approx(0.05) == record["range_high"]
    assert record["points"][0]["high"] - record["points"][0]["low"] > 0.1


def test_intervals_are_those_of_theory_and_their_range_is_biased_upwards():
    rng = np.random.default_rng(5)
    cosines = rng.normal(0.4, 0.1, (400, 10))
    record = moving_record(cosines, 2000, 0.95, np.random.default_rng(1))
    for point, column in zip(record["points"], cosines.T, strict=True):
        half = 1.96 * column.std() / np.sqrt(len(column))
        assert point["high"] - point["mean"] == pytest.approx(half, rel=0.15)
        assert point["mean"] - point["low"] == pytest.approx(half, rel=0.15)
    assert record["range_low"] > 0
    means = cosines.mean(axis=0)
    assert record["range"] == pytest.approx(means.max() - means.min())
    narrower = moving_record(cosines, 2000, 0.5, np.random.default_rng(1))
    assert narrower["range_high"] < record["range_high"]


def test_a_seed_repeats_and_another_does_not():
    cosines = np.random.default_rng(5).normal(0.4, 0.1, (30, 4))
    one, same, other = (
        moving_record(cosines, 300, 0.9, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert one == same
    assert one["range"] == other["range"] and one["range_low"] != other["range_low"]


def test_words_of_one_letter_are_a_step_apart():
    rest = " ".join("abcdefghij")
    offsets = insertion_offsets(rest, 10, "words")
    assert offsets == [0, 2, 4, 6, 8, 10, 12, 14, 16, 19]
