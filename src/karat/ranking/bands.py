"""Bands around a distribution function that hold for any law: DKW, and by beta quantiles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from karat._typing import FloatArray, IntArray

# Share of the error of a beta band that its ranks get; the rest pays for the DKW band that it is
# combined with, which is narrower in the middle.
_TO_RANKS = 0.7


class Band(Protocol):
    """Limits of a distribution function where a share of the rows is at or below a score."""

    @property
    def margin(self) -> float: ...

    def low(self, share: FloatArray) -> FloatArray: ...

    def high(self, share: FloatArray) -> FloatArray: ...


def dkw_margin(n: float, delta: float) -> float:
    """Return ε with ``P(sup|F̂ − F| > ε) ≤ delta`` (Dvoretzky–Kiefer–Wolfowitz, Massart)."""
    return math.sqrt(math.log(2 / delta) / (2 * n))


@dataclass(frozen=True)
class DkwBand:
    """The share, less and plus a margin that is the same everywhere."""

    n: float
    delta: float

    @property
    def margin(self) -> float:
        """Half the width."""
        return dkw_margin(self.n, self.delta)

    def low(self, share: FloatArray) -> FloatArray:
        """Return ``(share − ε)₊``."""
        return np.maximum(share - self.margin, 0.0)

    def high(self, share: FloatArray) -> FloatArray:
        """Return ``min(1, share + ε)``."""
        return np.minimum(share + self.margin, 1.0)


@dataclass(frozen=True)
class BetaBand:
    """Quantiles of order statistics, which are narrow at both ends.

    ``F(x_(r))`` is at least, and ``F(x_(r)−)`` at most, a Beta(r, n+1−r) variable, for any law.
    Some ranks are fixed beforehand, ``√t`` apart at t ranks from an end; each gets its share of the
    error (Bonferroni), and F is monotone between them. A DKW band takes part of the error, and
    serves where it is narrower.
    """

    n: float
    delta: float

    @property
    def margin(self) -> float:
        """Half the width of the even band that is part of it."""
        return dkw_margin(self.n, self.delta * (1 - _TO_RANKS))

    @cached_property
    def _quantiles(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Ranks, and the limits of F at them."""
        from scipy.special import betaincinv

        n = round(self.n)
        steps = [0]
        while steps[-1] < n / 2:
            steps.append(steps[-1] + math.ceil(math.sqrt(steps[-1] + 1)))
        away = np.array([t for t in steps if t < n])
        ranks = np.unique(np.concatenate([away + 1, n - away]))
        each = self.delta * _TO_RANKS / (2 * len(ranks))
        shapes = ranks, n + 1 - ranks
        return ranks, betaincinv(*shapes, each), betaincinv(*shapes, 1 - each)

    def low(self, share: FloatArray) -> FloatArray:
        """Return what F is at least: its limit at the last rank that was passed."""
        ranks, low, _ = self._quantiles
        passed = np.searchsorted(ranks, np.rint(share * self.n), side="right")
        return np.asarray(np.maximum(np.append(0.0, low)[passed], share - self.margin))

    def high(self, share: FloatArray) -> FloatArray:
        """Return what F is at most: its limit at the next rank."""
        ranks, _, high = self._quantiles
        following = np.searchsorted(ranks, np.rint(share * self.n) + 1, side="left")
        return np.asarray(np.minimum(np.append(high, 1.0)[following], share + self.margin))


def band_of(method: str, n: float, delta: float) -> Band:
    """Return the band of a method for n rows of a class."""
    return BetaBand(n, delta) if method == "beta" else DkwBand(n, delta)
