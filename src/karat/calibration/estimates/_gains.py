"""What a map of the probabilities gains on rows that it was not fitted to."""

from collections.abc import Callable

import numpy as np

from karat._typing import FloatArray
from karat.calibration.inputs import LabelTable
from karat.calibration.models import Fit, fit_shrunk, folds_of
from karat.limits.kernels import betting_lower, normal_quantile

__all__ = ["cross_fitted_gain", "split_rng", "strict_gain"]

_FOLDS = 5
LowerLimit = Callable[[FloatArray, float, float, float], float]


def split_rng(rng: np.random.Generator) -> np.random.Generator:
    """Return the generator of a certificate's split, drawn first.

    The error and the certificate of one seed then prove the same.
    """
    return np.random.default_rng(int(rng.integers(2**63)))


def strict_gain(
    table: LabelTable,
    fit: Fit,
    delta: float,
    rng: np.random.Generator,
    *,
    limit: LowerLimit = betting_lower,
) -> tuple[FloatArray, float]:
    """Return the gains on a half that the model did not see, and a lower limit for any law.

    ``limit`` bounds the mean of values from a known range from below; it is given the values, the
    ends of the range and ``delta``.
    """
    fold = folds_of(len(table.y), 2, rng)
    y, h = table.y, table.h
    model = fit_shrunk(y[fold == 0], h[fold == 0], fit, rng, radius=True)
    gains = _gains(y[fold == 1], h[fold == 1], model(h[fold == 1]))
    if model.share == 0:
        return gains, 0.0
    # |(y−h)² − (y−g)²| = |g−h|·|2y−h−g| is at most twice the move, and moves have a radius.
    reach = 2 * model.radius
    return gains, limit(gains.sum(axis=1), -reach, reach, delta)


def cross_fitted_gain(
    table: LabelTable, fit: Fit, delta: float, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    fold = folds_of(len(table.y), _FOLDS, rng)
    gains = np.empty(table.y.shape)
    for k in range(_FOLDS):
        here = fold == k
        model = fit_shrunk(table.y[~here], table.h[~here], fit, rng)
        gains[here] = _gains(table.y[here], table.h[here], model(table.h[here]))
    total = gains.sum(axis=1)
    error = float(total.std(ddof=1)) / np.sqrt(len(total))
    return gains, float(total.mean() - normal_quantile(delta) * error)


def _gains(y: FloatArray, h: FloatArray, g: FloatArray) -> FloatArray:
    return np.asarray((y - h) ** 2 - (y - g) ** 2)
