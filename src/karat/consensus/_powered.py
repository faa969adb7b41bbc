"""Prediction-powered error rates: a few gold labels, valid whatever the model.

A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan, T. Zrnic, Prediction-powered inference,
Science 382 (2023), with the weight of A. N. Angelopoulos, J. C. Duchi, T. Zrnic, PPI++ (2023).
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from karat._typing import FloatArray, IntArray

__all__ = ["Powered", "powered_error"]

_FEWEST = 5  # gold votes below which nothing is said


@dataclass(frozen=True, slots=True)
class Powered:
    """An error rate with gold labels, and the intervals from the labels alone beside it."""

    n_gold: int
    estimate: float = np.nan
    lower: float = np.nan
    upper: float = np.nan
    labels_estimate: float = np.nan
    labels_lower: float = np.nan
    labels_upper: float = np.nan
    bernstein_lower: float = np.nan
    bernstein_upper: float = np.nan
    weight: float = np.nan


def powered_error(
    right: FloatArray, predicted: FloatArray, gold: IntArray, *, confidence: float, finite: bool
) -> Powered:
    r"""Return the error rate of one voter.

    ``predicted`` is, for each of its N votes, the consensus probability that the vote is right,
    from a consensus that has not seen the gold labels; ``gold`` are the n votes on labelled items
    and ``right`` says whether those are right. With :math:`\\lambda = Cov(f, m) / Var(m)`,

    .. math:: a = \\lambda\\, \\bar m_N + \\overline{(f - \\lambda m)}_n, \\quad
        Var(a) = \\frac{Var(f)}{n} (1 - \\rho^2 (1 - n/N))

    and for the accuracy on exactly these N items
    :math:`(1/n - 1/N)\\, Var(f) (1 - \\rho^2)`. One success and one failure are added to Var(f), so
    that a voter who is right on all gold labels is not reported as certain.
    """
    n, total = len(gold), len(predicted)
    if n < _FEWEST:
        return Powered(n_gold=n)
    m = predicted[gold]
    spread_m = m.var()
    covariance = float(((right - right.mean()) * (m - m.mean())).mean())
    weight = covariance / spread_m if spread_m > 1e-12 else 0.0
    accuracy = weight * predicted.mean() + float((right - weight * m).mean())
    share = (right.sum() + 1) / (n + 2)
    spread = share * (1 - share) * n / (n - 1)
    raw = right.var()
    rho2 = covariance**2 / (spread_m * raw) if spread_m > 1e-12 and raw > 1e-12 else 0.0
    left = 1 - n / total
    variance = (
        spread * (1 / n - 1 / total) * (1 - rho2) if finite else spread / n * (1 - rho2 * left)
    )
    alone = spread * (1 / n - 1 / total) if finite else spread / n
    t = stats.t.isf((1 - confidence) / 2, n - 1)
    error = 1 - accuracy
    half, wide = t * np.sqrt(variance), t * np.sqrt(alone)
    low, high = _bernstein(right, m, predicted, confidence)
    return Powered(
        estimate=float(np.clip(error, 0, 1)),
        lower=float(np.clip(error - half, 0, 1)),
        upper=float(np.clip(error + half, 0, 1)),
        labels_estimate=float(1 - right.mean()),
        labels_lower=float(np.clip(1 - right.mean() - wide, 0, 1)),
        labels_upper=float(np.clip(1 - right.mean() + wide, 0, 1)),
        bernstein_lower=1 - high,
        bernstein_upper=1 - low,
        weight=float(weight),
        n_gold=n,
    )


def _bernstein(
    right: FloatArray, m: FloatArray, predicted: FloatArray, confidence: float
) -> tuple[float, float]:
    """Return limits of the accuracy that hold for any n: weights 0 and 1, fixed beforehand.

    Each of the two intervals gets half the error, and both hold at once, so their intersection
    does. A bound for the labels and one for the predictions are added by a union bound.
    """
    delta = (1 - confidence) / 2
    labels = _half(right, 1.0, delta)
    power = _half(right - m, 2.0, delta / 2) + _half(predicted, 1.0, delta / 2)
    centre = float(predicted.mean() + (right - m).mean())
    low = max(float(right.mean()) - labels, centre - power, 0.0)
    high = min(float(right.mean()) + labels, centre + power, 1.0)
    return (low, high) if low <= high else (0.0, 1.0)


def _half(values: FloatArray, width: float, delta: float) -> float:
    """Half-width of Maurer and Pontil's (2009) empirical Bernstein bound, two-sided."""
    n = len(values)
    log = np.log(4 / delta)
    return float(np.sqrt(2 * values.var(ddof=1) * log / n) + 7 * width * log / (3 * (n - 1)))
