"""Keyed hashing: order and samples depend on seed and identity, on nothing else."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias import keyed
from posbias.keyed import keyed_digest, keyed_generator, keyed_order, keyed_unit

NAMES = st.lists(st.text(st.characters(exclude_categories=["Cs"])), unique=True, max_size=30)


def itself(item: object) -> object:
    return item


@given(NAMES, st.integers(0, 2**32), st.randoms())
def test_the_order_of_the_rows_does_not_matter(names, seed, random):
    shuffled = list(names)
    random.shuffle(shuffled)
    ordered = keyed_order(shuffled, seed, itself)
    assert ordered == keyed_order(names, seed, itself)
    assert sorted(ordered) == sorted(names)


@given(NAMES, NAMES, st.integers(0, 9), st.integers(0, 30))
def test_added_rows_only_push_out_the_last_of_a_sample(names, more, seed, size):
    more = [name for name in more if name not in names]
    before = keyed_order(names, seed, itself)[:size]
    after = keyed_order(names + more, seed, itself)[:size]
    stayed = [name for name in after if name not in more]
    assert stayed == before[: len(stayed)]
    assert len(after) == min(size, len(names) + len(more))


@given(NAMES, st.integers(0, 9), st.integers(0, 30), st.integers(0, 30))
def test_a_smaller_sample_lies_in_a_larger_one(names, seed, small, more):
    ordered = keyed_order(names, seed, itself)
    assert ordered[:small] == ordered[: small + more][:small]
    assert keyed_order(ordered[: small + more], seed, itself)[:small] == ordered[:small]


def test_the_key_orders_and_not_the_item():
    items = [{"id": n, "noise": noise} for n, noise in enumerate("edcba")]
    other = [{"id": n, "noise": "x"} for n in range(5)]
    ids = [item["id"] for item in keyed_order(items, 1, lambda item: item["id"])]
    assert ids == [item["id"] for item in keyed_order(other, 1, lambda item: item["id"])]


def test_another_seed_and_another_name_give_another_order():
    names = [f"d{n}" for n in range(20)]
    orders = {tuple(keyed_order(names, seed, itself)) for seed in range(10)}
    assert len(orders) == 10
    assert keyed_unit(1, "bin", "a") != keyed_unit(1, "shard", "a")


def test_parts_of_a_key_do_not_run_together():
    assert keyed_digest(1, "ab", "c") != keyed_digest(1, "a", "bc")
    assert keyed_digest(1, "a", "") != keyed_digest(1, "a")
    assert keyed_digest(11, "a") != keyed_digest(1, "1a")


def test_the_numbers_are_uniform_and_uncorrelated():
    units = np.array([[keyed_unit(seed, "u", n) for n in range(4000)] for seed in (1, 2)])
    counts = np.histogram(units[0], bins=20, range=(0, 1))[0]
    # Chi-squared with 19 degrees of freedom: above 43.8 with probability 0.001.
    assert ((counts - 200) ** 2 / 200).sum() < 43.8
    assert abs(np.corrcoef(units)[0, 1]) < 0.06
    assert abs(np.corrcoef(units[0, :-1], units[0, 1:])[0, 1]) < 0.06


def test_every_row_has_the_same_chance_to_be_drawn():
    names = [f"query-{n}" for n in range(10)]
    drawn = np.zeros(10)
    for seed in range(2000):
        for name in keyed_order(names, seed, itself)[:3]:
            drawn[names.index(name)] += 1
    assert drawn.sum() == 6000
    assert np.abs(drawn - 600).max() < 4.5 * np.sqrt(2000 * 0.3 * 0.7)


@pytest.mark.parametrize("digest", [bytes(32), b"\xff" * 32], ids=["least", "greatest"])
def test_the_unit_interval_is_half_open(monkeypatch, digest):
    monkeypatch.setattr(keyed, "keyed_digest", lambda seed, *key: digest)
    assert 0 <= keyed_unit(1, "a") < 1


def test_generators_repeat_and_differ():
    first = keyed_generator(7, "cloze", "d1", 0).integers(1 << 30, size=8)
    again = keyed_generator(7, "cloze", "d1", 0).integers(1 << 30, size=8)
    other = keyed_generator(7, "cloze", "d1", 1).integers(1 << 30, size=8)
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


def test_pythons_own_hash_seed_does_not_matter(scripts):
    code = (
        "from posbias.keyed import *\n"
        "names = {'a', 'b', 'c', 'd', 'e', 'ä'}\n"
        "print(keyed_order(names, 3, lambda n: n), keyed_unit(3, 'x', 2))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=scripts,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(said) == 1


def test_the_values_never_change():
    # A changed hash would silently change every sample of every published number.
    # The digest is that of `printf '42\\x1fa\\x1f1' | b2sum -l 256`.
    assert keyed_digest(42, "a", 1).hex().startswith("ac7c8b4a86f8b40cf2cb66bb200b1a95")
    assert keyed_unit(42, "a", 1) == pytest.approx(0xAC7C8B4A / 2**32, abs=2**-32)
    assert keyed_order(["a", "b", "c", "d"], 42, itself) == ["a", "b", "d", "c"]
