r"""A mean of a few labelled items, helped by predictions for all items.

A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan, T. Zrnic, Prediction-powered inference,
Science 382 (2023); the weight is that of PPI++ (A. N. Angelopoulos, J. C. Duchi, T. Zrnic, 2023).
Values and predictions lie between 0 and 1.
"""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat.limits.kernels._means import bernstein_reach, hoeffding_reach, student_quantile

__all__ = ["FEWEST", "Powered", "powered_bernstein", "powered_estimate"]

FEWEST = 5  # labelled items below which nothing is said


class Powered(NamedTuple):
    """The powered estimate, how far its limits are, and how far those of the labels alone."""

    estimate: float
    reach: float
    labels_reach: float
    weight: float


def powered_estimate(
    f: FloatArray, m: FloatArray, unseen: float, n_others: float, *, delta: float, finite: bool
) -> Powered:
    r"""Return the mean of f, with a normal limit on either side.

    ``f`` and ``m`` are values and predictions of the n labelled items, ``unseen`` the mean
    prediction of the ``n_others`` without a label. With N = n + n_others and
    :math:`\lambda = Cov(f, m) / Var(m)`,

    .. math:: a = \bar f_n + \lambda\, (1 - n/N)\, (\bar m_{N-n} - \bar m_n), \quad
        Var(a) = \frac{Var(f)}{n} (1 - \rho^2 (1 - n/N))

    and, ``finite``, for the mean of exactly these N items
    :math:`(1/n - 1/N)\, Var(f) (1 - \rho^2)`. A value of 0 and one of 1 are added to Var(f), and
    one wrong prediction to the variance that m leaves unexplained, so that n equal values are not
    reported as certain.
    """
    n, total = len(f), len(f) + n_others
    weight, explained = _control(f, m)
    left = 1 - n / total
    estimate = float(f.mean()) + weight * left * (unseen - float(m.mean()))
    centre, wrong = (f.sum() + 1) / (n + 2), 1 / (n + 2)
    spread = ((f @ f + 1) / (n + 2) - centre**2) * n / (n - 1)
    unexplained = max(spread * (1 - explained), wrong * (1 - wrong))
    sampling = 0.0 if finite else spread / total
    t = student_quantile(delta, n - 1)
    reach, alone = (t * np.sqrt(part * left / n + sampling) for part in (unexplained, spread))
    return Powered(estimate, float(reach), float(alone), weight)


def _control(f: FloatArray, m: FloatArray) -> tuple[float, float]:
    """Return λ and the adjusted share of Var(f) that m explains."""
    n = len(f)
    covariance = float(((f - f.mean()) * (m - m.mean())).mean())
    spread, variance = float(m.var()), float(f.var())
    if spread < 1e-12 or variance < 1e-12:
        return 0.0, 0.0
    rho2 = covariance**2 / (spread * variance)
    return covariance / spread, max(0.0, 1 - (1 - rho2) * (n - 1) / (n - 2))


def powered_bernstein(
    f: FloatArray, m: FloatArray, unseen: float, n_others: float, *, delta: float
) -> tuple[float, float]:
    """Return limits of the mean of f that hold for any n: weights 0 and 1, fixed beforehand.

    Each of the two intervals gets half the error, and both hold at once, so their intersection
    does. The predictions of all items get Hoeffding's bound.
    """
    n, off = len(f), f - m
    left = 1 - n / (n + n_others)
    labels = bernstein_reach(float(f.var(ddof=1)), n, 1.0, delta / 2)
    power = bernstein_reach(float(off.var(ddof=1)), n, 2.0, delta / 4)
    power += hoeffding_reach(n + n_others, 1.0, delta / 4)
    centre = left * unseen + (1 - left) * float(m.mean()) + float(off.mean())
    low = max(float(f.mean()) - labels, centre - power, 0.0)
    high = min(float(f.mean()) + labels, centre + power, 1.0)
    return (low, high) if low <= high else (0.0, 1.0)
