"""Class shares of a mixture of rules, and predictions drawn from them."""

from collections.abc import Iterable

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["drawn", "mixed", "uniforms"]


def mixed(proba: FloatArray, start: float, rules: Iterable[tuple[float, IntArray]]) -> FloatArray:
    """Return class shares: the probabilities with the share ``start``, and decisions of rules."""
    total = start * proba
    rows = np.arange(len(proba))
    for share, codes in rules:
        total[rows, codes] += share
    return total


def drawn(shares: FloatArray, uniform: FloatArray) -> IntArray:
    """Return the class in whose part of [0, 1) the number of each row falls."""
    upper = np.cumsum(shares[:, :-1], axis=1)
    return np.asarray(np.sum(uniform[:, None] >= upper, axis=1))


def uniforms(proba: FloatArray, seed: int) -> FloatArray:
    """Return a number in [0, 1) for each row that depends on its probabilities and the seed alone.

    A hash and not a stream: a row is predicted alike whatever rows come with it. Probabilities are
    rounded to nine digits first, since libraries differ in the last ones from batch to batch.
    """
    state = np.full(len(proba), np.uint64(seed % 2**64))
    with np.errstate(over="ignore"):
        for column in (np.round(proba, 9) + 0.0).T:  # + 0.0 turns −0 into 0
            state = _scrambled(state ^ np.ascontiguousarray(column).view(np.uint64))
    return np.asarray((state >> np.uint64(11)) * 2.0**-53)


def _scrambled(
    x: "np.ndarray[tuple[int], np.dtype[np.uint64]]",
) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    """Mix the bits (the finaliser of SplitMix64)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
