"""A test of calibration for labels that are rare, whose sums are far from normal."""

import numpy as np

from karat._typing import FloatArray

__all__ = ["rare_p_values"]

_DRAWS = 1999
_PER_LABEL = 200  # more draws where there are many labels to be best of


def rare_p_values(
    y: FloatArray, h: FloatArray, features: FloatArray, rng: np.random.Generator
) -> FloatArray:
    r"""Return for each label the p-value of ``E[y | h] = h``, exact whatever the number of rows.

    The statistic is ``T = Σ_f S_f²/V_f`` with ``S_f = Σ_i (y_i − h_i) x_if`` and
    ``V_f = Σ_i h_i(1 − h_i) x_if²`` over features x. Rows are independent and a label is 1 with
    probability h_i under the null, whatever it has to do with other labels, so T can be drawn.
    """
    draws = int(np.clip(_PER_LABEL * y.shape[1], _DRAWS, 2 * _DRAWS))
    return np.array([_p_value(y[:, j], h[:, j], features, draws, rng) for j in range(y.shape[1])])


def _p_value(
    y: FloatArray, h: FloatArray, x: FloatArray, draws: int, rng: np.random.Generator
) -> float:
    variance = (h * (1 - h)) @ x**2
    used = variance > 0
    if not used.any():
        # Nothing is left to chance: any other label than the certain one refutes h.
        return 1.0 if np.array_equal(y, h) else 1.0 / (1 + draws)
    x, variance = x[:, used], variance[used]
    seen = float((((y - h) @ x) ** 2 / variance).sum())
    drawn = (_null_sums(h, x, draws, rng) ** 2 / variance).sum(axis=1)
    return float((1 + (drawn >= seen * (1 - 1e-9)).sum()) / (1 + draws))


def _null_sums(h: FloatArray, x: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw ``Σ_i (y_i − h_i) x_i`` under the null, at the cost of the unlikely labels alone.

    A row differs from its likelier label with the probability q = min(h, 1 − h). That is the
    probability of at least one event of a Poisson process of rate −log(1 − q), and the events of
    all rows together are few where a label is rare.
    """
    likely = h > 0.5
    rate = -np.log1p(-np.minimum(h, 1 - h))
    total = np.cumsum(rate)
    counts = rng.poisson(total[-1], draws)
    rows = np.searchsorted(total, rng.random(int(counts.sum())) * total[-1], side="right")
    rows = np.minimum(rows, len(h) - 1)
    event = np.unique(np.repeat(np.arange(draws), counts) * len(h) + rows)  # once a row and draw
    draw, row = np.divmod(event, len(h))
    moved = np.where(likely[row], -1.0, 1.0)[:, None] * x[row]
    sums = np.column_stack([np.bincount(draw, column, minlength=draws) for column in moved.T])
    return np.asarray((likely - h) @ x + sums)
