"""Vectors of texts: length 1, in the order of the texts, whatever the batch."""

import numpy as np
import pytest

from posbias.errors import DataError
from posbias.models.encoder import encode_unit, load_encoder

TEXTS = ["a river", "the end of a very long sentence about a cat.", "", "dog", "a river", "x " * 60]


@pytest.fixture(scope="module")
def encoder(tiny_encoder):
    return load_encoder(tiny_encoder)


class Fixed:
    """An encoder that returns given vectors, by text."""

    def __init__(self, table: dict[str, list[float]]) -> None:
        self.table, self.seen = table, []

    def get_embedding_dimension(self) -> int:
        return len(next(iter(self.table.values())))

    def encode(self, texts, batch_size, show_progress_bar):
        self.seen.append(list(texts))
        return np.array([self.table[text] for text in texts], dtype=np.float32)


def test_each_row_is_the_unit_vector_of_its_text(encoder):
    found = encode_unit(encoder, TEXTS, 4, "texts")
    assert found.dtype == np.float32
    assert found.shape == (6, 32)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    for row, text in zip(found, TEXTS, strict=True):
        alone = encoder.encode([text], normalize_embeddings=True, show_progress_bar=False)[0]
        np.testing.assert_allclose(row, alone, atol=1e-5)
    np.testing.assert_array_equal(found[0], found[4])


@pytest.mark.parametrize("batch", [1, 2, 6, 100])
def test_the_batch_does_not_matter(encoder, batch):
    found = encode_unit(encoder, TEXTS, batch, "texts")
    np.testing.assert_allclose(found, encode_unit(encoder, TEXTS, 3, "texts"), atol=1e-5)


def test_long_texts_are_encoded_together():
    fixed = Fixed({"aaaa": [1, 0], "bb": [0, 2], "ccc": [3, 4], "d": [0, -1]})
    found = encode_unit(fixed, ["bb", "aaaa", "d", "ccc"], 2, "texts")
    assert fixed.seen == [["aaaa", "ccc"], ["bb", "d"]]
    np.testing.assert_allclose(found, [[0, 1], [1, 0], [0, -1], [0.6, 0.8]], atol=1e-7)


@pytest.mark.parametrize("bad", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 0.0]])
def test_a_text_without_a_direction_is_named(bad):
    fixed = Fixed({"aaaa": [1, 0], "bb": bad, "ccc": [3, 4]})
    with pytest.raises(DataError, match=r"passages: text 2 \(counted from 0\)"):
        encode_unit(fixed, ["aaaa", "ccc", "bb"], 2, "passages")
