"""Limits of the mean true-positive rate up to a false-positive rate b, for any law.

M(u), the mean true-positive rate over [0, u], grows with u, and is the AUC of all positives against
the top u of the negatives. The false-positive rate at the k-th largest of n₀ negatives is a
Beta(k, n₀ + 1 − k) variable, and the k − 1 negatives above it are independent rows of that top. So
a rank whose rate is almost surely below b gives the lower limit of M(b), and one whose rate is
almost surely above b the upper one, both as limits of an AUC on pairs. Ties are broken at random.
"""

from collections.abc import Callable

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat._validate import refuse_option
from karat.ranking.certificates._pairs import mean_limits
from karat.ranking.certificates._value import AreaLimits
from karat.ranking.placements import Placements
from karat.ranking.weights import FprBand, Weight

__all__ = ["nested_limits", "starts_at_zero"]

# Shares of the error of a side: that the rank is on the wrong side of b, and that its AUC is not
# within its limits.
_TO_RANK, _TO_PAIRS = 0.25, 0.75


def starts_at_zero(weight: object) -> bool:
    """Return whether a weight is a band of false-positive rates from 0 on."""
    return isinstance(weight, FprBand) and weight.low == 0 and weight.high < 1


def nested_limits(placed: Placements, weight: Weight, delta: float, ties: str) -> AreaLimits:
    """Return limits of a partial area from 0 to b, each wrong with half of ``delta``."""
    if not starts_at_zero(weight):
        refuse_option(
            "nested", "certificate", f"'auto', 'dkw' or 'beta' for {weight.title}: 'nested' is for "
            "FprBand(0, b)",
        )  # fmt: skip
    if ties == "strict":
        refuse_option("nested", "certificate", "'dkw' with ties='strict', or ties='interpolate'")
    if not placed.counts_rows:
        refuse_option(
            "nested",
            "certificate",
            "'dkw' (approximate), since 'nested' counts rows and sample_weight holds importances",
        )
    n1, n0 = (round(n) for n in (placed.n_positive, placed.n_negative))
    b, side = weight.area, delta / 2
    below = _last_rank_below(n0, b, _TO_RANK * side)
    above = _first_rank_above(n0, b, _TO_RANK * side)
    lower, upper = 0.0, 1.0
    if below > 1:
        seen = _auc_of_top(placed, below - 1)
        lower = mean_limits("hinge", seen, n1, below - 1, _TO_PAIRS * side)[0]
    seen = _auc_of_top(placed, above - 1)
    upper = mean_limits("hinge", seen, n1, above - 1, _TO_PAIRS * side)[1]
    return AreaLimits(lower * b, upper * b)


def _last_rank_below(n: int, b: float, error: float) -> int:
    """Return the largest rank whose rate exceeds b with at most ``error``; 0 if none."""
    from scipy.special import betaincc

    return _last(n, lambda k: bool(betaincc(k, n + 1 - k, b) <= error))


def _first_rank_above(n: int, b: float, error: float) -> int:
    """Return the smallest rank whose rate is below b with probability ``error`` at most.

    Where there is none it is n + 1: all negatives are above the rate 1.
    """
    from scipy.special import betainc

    return 1 + _last(n, lambda k: bool(betainc(k, n + 1 - k, b) > error))


def _last(n: int, holds: Callable[[int], bool]) -> int:
    """Return the largest k of 1 … n for which something holds that holds up to it; 0 if none."""
    low, high = 0, n
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _auc_of_top(placed: Placements, kept: int) -> float:
    """Return the AUC of the positives against the ``kept`` largest negatives.

    A tie counts ½, but the tied negatives of which some are kept and some are not are put into an
    order with their positives at random: what the limit rests on is a rank.
    """
    n0 = round(placed.n_negative)
    below, upto = (np.rint(rate * n0).astype(np.int64) for rate in (placed.below(), placed.upto()))
    first = n0 - kept
    won = (np.maximum(below - first, 0) + np.maximum(upto - first, 0)) / 2.0
    cut = (below < first) & (upto > first)
    if cut.any():
        won[cut] = _drawn(placed, cut, int(upto[cut][0] - below[cut][0]), int(upto[cut][0]) - first)
    mass = np.full(len(placed), 1.0 / len(placed)) if placed.mass is None else placed.mass
    return float(won @ mass) / kept


def _drawn(placed: Placements, cut: BoolArray, tied: int, kept: int) -> FloatArray:
    """Return how many of the largest ``kept`` of the tied negatives are below each tied positive.

    The stream of random numbers is fixed, so that the same rows have the same limits.
    """
    rng = np.random.default_rng(0)
    mass = np.full(len(placed), 1.0 / len(placed)) if placed.mass is None else placed.mass
    rows: IntArray = np.rint(mass[cut] * placed.n_positive).astype(np.int64)
    negatives = np.sort(rng.random(tied))
    ranks = np.searchsorted(negatives, rng.random(int(rows.sum())))
    won = np.maximum(ranks - (tied - kept), 0).astype(float)
    starts = np.concatenate([[0], np.cumsum(rows)[:-1]])
    return np.asarray(np.add.reduceat(won, starts) / rows)
