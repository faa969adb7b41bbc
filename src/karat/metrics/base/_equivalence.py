"""Whether two metrics are the same up to positive scale and shift."""

from collections.abc import Callable

import numpy as np

from karat._typing import FloatArray

__all__ = ["affinely_related"]

_POPULATIONS = 4  # the scale may depend on the prior, so one population is not enough
_POINTS = 40  # confusions on each, more than a named metric has coefficients for a few classes


def affinely_related(
    first: Callable[[FloatArray], FloatArray],
    second: Callable[[FloatArray], FloatArray],
    n_classes: int,
    tol: float,
) -> bool:
    """Whether, on every population, ``second = scale·first + shift`` with a positive scale.

    Decided by evaluation: two rational functions that agree at random points are the same
    function with probability one, so a few dozen confusions on a few populations tell. The points
    are fixed, so the answer is too.
    """
    rng = np.random.default_rng(20240607)
    for _ in range(_POPULATIONS):
        prior = rng.dirichlet(np.full(n_classes, 2.0))
        rates = rng.dirichlet(np.ones(n_classes), size=(_POINTS, n_classes))
        confusions = prior[:, None] * rates
        if not _affine(first(confusions), second(confusions), tol):
            return False
    return True


def _affine(x: FloatArray, y: FloatArray, tol: float) -> bool:
    x, x_constant = _standardised(x)
    y, y_constant = _standardised(y)
    if x_constant or y_constant:
        return x_constant and y_constant  # a constant is like another constant only
    scale = float(x @ y) / float(x @ x)
    # Standardising loses digits where a metric hardly varies against its own size.
    return scale > 0 and float(np.abs(y - scale * x).max()) <= max(tol, 1e-9)


def _standardised(values: FloatArray) -> tuple[FloatArray, bool]:
    """Return values centred and of size 1, and whether they are constant up to rounding."""
    size = float(np.abs(values).max())
    centred = values - values.mean()
    spread = float(np.abs(centred).max())
    if spread <= 1e-13 * size or spread == 0:
        return centred, True
    return centred / spread, False
