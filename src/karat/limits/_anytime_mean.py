"""Limits of a mean that hold however often one looks."""

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column
from karat._validate import check_confidence, check_count, refuse_option
from karat.limits.kernels import anytime_path, mean_steps, value_grid
from karat.limits.options import bounded_values, check_range, path_result
from karat.limits.result import AnytimeLimits

__all__ = ["anytime_mean"]


@keeps_kind
def anytime_mean(
    values: Column,
    *,
    low: float = 0.0,
    high: float = 1.0,
    population: int | None = None,
    confidence: float = 0.95,
) -> AnytimeLimits:
    r"""Limit a mean after every value, so that one may look, and stop, whenever one likes.

    Eight gamblers bet against every mean m, with

    .. math:: \lambda = \pm k \sqrt{\frac{2 \log(2/\alpha)}{n_0\,\hat\sigma^2_{t-1}}}, \quad
        k \in \{.35, .7, 1.4, 2.8\},\; n_0 = 200

    and no bet that could lose more than three quarters. Where their mean capital has ever reached
    1/α, m is ruled out (Ville 1939). Limits widen only to hold the mean of the values so far, with
    a warning: a mean that leaves its limits speaks against values in random order.

    Parameters
    ----------
    values : column (n,)
        One number per item in the order in which they came, drawn at random.
    low, high : float
        The range that no value can leave, known beforehand.
    population : int, optional
        Number of all items, if values are drawn from them without replacement and their mean is
        meant.
    confidence : float, default 0.95
        Probability that the limits hold after every value together.

    Returns
    -------
    AnytimeLimits

    References
    ----------
    I. Waudby-Smith, A. Ramdas, Estimating means of bounded random variables by betting, JRSS B 86
    (2024); J. Ville, Étude critique de la notion de collectif (1939).

    Examples
    --------
    >>> import numpy as np
    >>> r = anytime_mean(np.random.default_rng(0).random(200) < 0.8)
    >>> round(r.lower, 2), round(r.upper, 2)
    (0.63, 0.81)
    """
    level = check_confidence(confidence)
    least, most = check_range(low, high)
    x = bounded_values(np.asarray(values, float) if _is_bool(values) else values, "values",
                       least, most)  # fmt: skip
    n = None
    if population is not None:
        n = check_count(population, "population")
        if n < len(x):
            refuse_option(population, "population", f"at least the {len(x):,} values that came")
    steps, possible = mean_steps(x, (least, most), n)
    ends = anytime_path(steps, value_grid((least, most)), delta=1 - level, possible=possible)
    estimates = np.cumsum(x) / np.arange(1, len(x) + 1)
    return path_result("mean", estimates, ends, (least, most), confidence=level, n_total=n)


def _is_bool(values: Column) -> bool:
    return isinstance(values, np.ndarray) and values.dtype == bool
