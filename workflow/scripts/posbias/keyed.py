"""Keyed hashing: randomness that depends on what a thing is, never on where it stands."""

import hashlib
from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def keyed_digest(seed: int, *key: object) -> bytes:
    """Return 32 bytes that depend on the seed and the parts of the key only."""
    text = "\x1f".join([str(seed), *map(str, key)])
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).digest()


def keyed_unit(seed: int, *key: object) -> float:
    """Return a number in [0, 1) that depends on the seed and the key only."""
    # 53 bits: a float holds them exactly, so that the largest number does not round up to 1.
    return (int.from_bytes(keyed_digest(seed, *key)[:7], "big") >> 3) / 2**53


def keyed_generator(seed: int, *key: object) -> np.random.Generator:
    """Return a random generator of its own for one record, as `keyed_unit` does for one number."""
    return np.random.default_rng(int.from_bytes(keyed_digest(seed, *key)[:16], "big"))


def keyed_order(items: Iterable[T], seed: int, key: Callable[[T], object]) -> list[T]:
    """Order items by the keyed hash of their identity.

    The first n of the result are a sample that keeps its members when unrelated items are
    added: a new item can push out the last ones, it never reshuffles the rest.
    """
    return sorted(items, key=lambda item: (keyed_digest(seed, key(item)), str(key(item))))
