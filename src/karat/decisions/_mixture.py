"""Mixtures of rules: for each item one of several rules is drawn and decides."""

from dataclasses import dataclass

import numpy as np

from karat._frozen import Frozen
from karat._typing import FloatArray, IntArray
from karat.decisions.rules import decide, drawn, mixed, uniforms

__all__ = ["Mixture"]


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

    @classmethod
    def of_blocks(
        cls, shares: list[FloatArray], rules: list[FloatArray], seed: int = 0
    ) -> "Mixture":
        """Join the mixtures of several blocks into one, with weights (T, blocks, k, k).

        [0, 1) is cut where the shares of any block's rules end; in each piece every block has one
        rule. Blocks decide separately, so which of their rules come together does not matter.

        Parameters
        ----------
        shares : list of arrays (n,)
            For each block the shares of its rules.
        rules : list of arrays (n, k, k)
            For each block the weights of its rules.
        seed : int, default 0
            The seed of the mixture.
        """
        used = [np.flatnonzero(s > 1e-12) for s in shares]
        ends = [np.cumsum(s[u] / s[u].sum()) for s, u in zip(shares, used, strict=True)]
        cuts = np.unique(np.round(np.concatenate([[0.0], *ends]), 12))
        cuts[-1] = 1.0
        middles = (cuts[1:] + cuts[:-1]) / 2
        weights = [
            rules[b][used[b][np.searchsorted(end, middles).clip(max=len(end) - 1)]]
            for b, end in enumerate(ends)
        ]
        return cls(np.diff(cuts), np.stack(weights, axis=1), seed=seed)
