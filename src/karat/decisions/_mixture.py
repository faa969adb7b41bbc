"""Mixtures of rules: for each item one of several rules is drawn and decides."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from karat._frozen import Frozen
from karat._typing import FloatArray, IntArray
from karat.decisions._rule import decide

__all__ = ["Mixture", "drawn", "mixed", "uniforms"]


@dataclass(frozen=True, slots=True, eq=False)
class Mixture(Frozen):
    """Rules that decide by weighted probabilities, and the share with which each decides.

    Attributes
    ----------
    shares : array (T,)
        Share of each rule; with ``start`` they sum to 1.
    weights : array (T, k, k), (T, L, k) or (T, L, k, k)
        The weights of each rule, as `decide` takes them: the last two need ``basis``.
    start : float, default 0
        Share of the classifier that predicts a class with the model's own probability of it.
    seed : int, default 0
        What, with the probabilities of a row, decides which rule decides that row in `draw`.
    """

    shares: FloatArray
    weights: FloatArray
    start: float = 0.0
    seed: int = 0

    def class_shares(self, proba: FloatArray, basis: FloatArray | None = None) -> FloatArray:
        """Return the probability with which each class is predicted, shape (n, k)."""
        codes = (decide(proba, weights, basis) for weights in self.weights)
        return mixed(proba, self.start, zip(self.shares, codes, strict=True))

    def draw(self, proba: FloatArray, basis: FloatArray | None = None) -> IntArray:
        """Return the codes of the predicted classes: the same for the same rows, every time."""
        return drawn(self.class_shares(proba, basis), uniforms(proba, self.seed))


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
