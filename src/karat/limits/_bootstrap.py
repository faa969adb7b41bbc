"""Limits of any statistic by giving the items random multipliers."""

from collections.abc import Callable

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column, FloatArray
from karat._validate import check_choice, check_count, check_rng, check_weights, refuse_option
from karat.exceptions import DataError
from karat.limits.kernels import bootstrap_draws, percentile_limits
from karat.limits.options import check_request
from karat.limits.result import Limits

__all__ = ["bootstrap"]

_MULTIPLIERS = ("multinomial", "gamma")


@keeps_kind
def bootstrap(
    statistic: Callable[[FloatArray], float],
    counts: Column,
    *,
    multipliers: str = "multinomial",
    n_resamples: int = 1000,
    confidence: float = 0.95,
    side: str = "both",
    rng: int | np.random.Generator | None = None,
) -> Limits:
    r"""Limit a statistic by the quantiles of its values on samples with random multipliers.

    A sample is drawn anew by weighing item i with :math:`M_i/n`, where M is multinomial with n
    draws (Efron 1979), or :math:`M_i = n\,g_i/\sum_j g_j` with gamma variables g (Rubin 1981). The
    limits are the δ and 1 − δ quantiles of the statistic.

    Parameters
    ----------
    statistic : callable
        Takes one weight per cell, summing to 1, and returns a number: ``lambda w: w @ x`` is the
        mean of x.
    counts : column (cells,)
        How many items each cell counts; ``np.ones(n)`` for n items that are cells of their own.
        Equal items may be counted in one cell. Counts that are not whole numbers are the shapes of
        gamma variables, and the sum is rounded for the multinomial.
    multipliers : {"multinomial", "gamma"}
        ``gamma`` leaves no item out, so that a ratio keeps its denominator.
    n_resamples : int, default 1000
        Number of samples.
    confidence : float, default 0.95
        Probability that the limits hold, approximately. It falls short for few items and skewed
        statistics: a cell that was never seen is never drawn.
    side : {"both", "lower", "upper"}
        ``both`` gives either side half of ``1 − confidence``, ``lower`` and ``upper`` give one side
        all of it.
    rng : int or generator, optional
        Source of randomness.

    Returns
    -------
    Limits

    References
    ----------
    B. Efron, Bootstrap methods: another look at the jackknife, Annals of Statistics 7 (1979);
    D. B. Rubin, The Bayesian bootstrap, Annals of Statistics 9 (1981).

    Examples
    --------
    The F1 of 40 true positives, 10 false positives and 20 false negatives:

    >>> f1 = lambda w: 2 * w[0] / (2 * w[0] + w[1] + w[2])
    >>> bootstrap(f1, [40, 10, 20, 130], rng=0)
    <Limits: between 0.6207 and 0.8113 at 95 % confidence (bootstrap limits, approximate); 0.7273
    was seen (n = 200)>
    """
    request = check_request(confidence, side)
    law = check_choice(multipliers, "multipliers", _MULTIPLIERS)
    draws, generator = check_count(n_resamples, "n_resamples"), check_rng(rng)
    cells = check_weights(counts, "counts")
    if cells is None:
        raise DataError("counts is None; expected one count per cell, such as np.ones(n)")
    if not callable(statistic):
        refuse_option(statistic, "statistic", "a function of one weight per cell")
    n = max(1, round(float(cells.sum())))
    values = bootstrap_draws(
        lambda drawn: statistic(drawn / n), [cells], [n], multipliers=law, n_resamples=draws,
        rng=generator,
    )  # fmt: skip
    if not np.isfinite(values).all():
        raise DataError(
            f"statistic is not a finite number on {int((~np.isfinite(values)).sum())} of {draws} "
            "samples; use multipliers='gamma', which leaves no item out, or another statistic"
        )
    return request.limits(
        percentile_limits(values, request.delta),
        estimate=float(statistic(cells / cells.sum())),
        n=float(cells.sum()),
        method="bootstrap",
        guarantee="approximate",
        whole=(-np.inf, np.inf),
    )
