"""Sentence boundaries: they cover the text, never overlap, and respect abbreviations."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.corpus.sentences import sentence_spans, split_sentences

TEXTS = st.text(st.sampled_from("aAbB1.!?\"'”“() \n\té"), max_size=60) | st.text(max_size=40)


@given(TEXTS)
def test_spans_are_disjoint_and_leave_out_only_space(text):
    spans = sentence_spans(text)
    assert all(start < end for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    marks = [0, *(mark for span in spans for mark in span), len(text)]
    outside = "".join(text[a:b] for a, b in zip(marks[::2], marks[1::2], strict=True))
    assert outside == "" or outside.isspace()


@given(TEXTS)
def test_sentences_of_clean_text_join_to_it(text):
    clean = " ".join(text.split())
    assert " ".join(split_sentences(clean)) == clean


@given(TEXTS)
def test_sentences_have_no_space_around_them(text):
    clean = " ".join(text.split())
    assert all(s == s.strip() and s for s in split_sentences(clean))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("He met Dr. Smith. She left.", ["He met Dr. Smith.", "She left."]),
        ("J. R. R. Tolkien wrote it. It sold.", ["J. R. R. Tolkien wrote it.", "It sold."]),
        ("See p. 12 of Vol. 3. It is long.", ["See p. 12 of Vol. 3.", "It is long."]),
        ("In the U.S. Army he served. He died.", ["In the U.S. Army he served.", "He died."]),
        ('He said "Go." They went.', ['He said "Go."', "They went."]),
        ("It ended. (So it seemed.) It had not.",
         ["It ended.", "(So it seemed.)", "It had not."]),
        ("It costs 3.5 million. So what", ["It costs 3.5 million.", "So what"]),
        ("born in c. 1900 e.g. Here", ["born in c. 1900 e.g. Here"]),
        ("Lower follows. then not a sentence.", ["Lower follows. then not a sentence."]),
        ("", []),
        ("  ", []),
        ("No end", ["No end"]),
    ],
)  # fmt: skip
def test_examples(text, sentences):
    assert split_sentences(text) == sentences
