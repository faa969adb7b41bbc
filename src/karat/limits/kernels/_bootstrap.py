"""A statistic of samples that give every cell a random multiplier, and its quantiles."""

from collections.abc import Callable, Sequence

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["bootstrap_draws", "percentile_limits"]


def bootstrap_draws(
    statistic: Callable[..., float],
    strata: Sequence[FloatArray],
    sizes: Sequence[int],
    *,
    multipliers: str,
    n_resamples: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the statistic of samples drawn anew within every stratum.

    Parameters
    ----------
    statistic : callable
        Takes one array of multipliers per stratum, each of which sums to the stratum's size.
    strata : sequence of array
        What each cell of a stratum counted in the sample, up to a factor.
    sizes : sequence of int
        Items of each stratum.
    multipliers : {"multinomial", "gamma"}
        How often each cell is drawn when items are drawn with replacement (Efron 1979), or gamma
        variables with these counts as shapes, scaled to the same sum (Rubin 1981).
    n_resamples : int
        Number of samples.
    rng : generator
        Source of randomness.
    """
    draw = _multinomial if multipliers == "multinomial" else _gamma
    values = np.empty(n_resamples)
    for i in range(n_resamples):
        drawn = (draw(rng, n, cells) for n, cells in zip(sizes, strata, strict=True))
        values[i] = statistic(*drawn)
    return values


def percentile_limits(draws: FloatArray, delta: float) -> tuple[float, float]:
    """Return the quantiles of the draws that cut off ``delta`` on either side."""
    lower, upper = np.quantile(draws, [delta, 1 - delta])
    return float(lower), float(upper)


def _multinomial(rng: np.random.Generator, n: int, cells: FloatArray) -> IntArray:
    """Draw how many of n items fall into each cell."""
    if len(cells) > n // 4:  # many small cells: drawing the items is faster than a multinomial
        edges = np.cumsum(cells)
        drawn = np.searchsorted(edges, np.sort(rng.random(n)) * edges[-1], side="right")
        return np.bincount(np.minimum(drawn, len(cells) - 1), minlength=len(cells))
    return rng.multinomial(n, cells / cells.sum())


def _gamma(rng: np.random.Generator, n: int, cells: FloatArray) -> FloatArray:
    """Draw a weight of each cell from the Dirichlet law whose parameters are its counts."""
    drawn = rng.standard_gamma(cells * (n / cells.sum()))
    return np.asarray(drawn * (n / drawn.sum()))
