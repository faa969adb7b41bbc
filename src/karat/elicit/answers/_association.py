"""Whether two things that were measured together go together: permutations and a logistic slope."""

import numpy as np

from karat._typing import FloatArray

__all__ = ["centred_ranks", "logistic_slope", "permutation_p_value", "rank_correlation"]

_MOST_AT_ONCE = 2_000_000  # numbers of a block of permutations


def rank_correlation(x: FloatArray, y: FloatArray) -> float:
    """Return Spearman's correlation; NaN where either is the same throughout."""
    one, other = centred_ranks(x), centred_ranks(y)
    size = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / size if size > 0 else float("nan")


def centred_ranks(values: FloatArray) -> FloatArray:
    """Return ranks, averaged over ties, less their mean."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(values) - (len(values) + 1) / 2)


def permutation_p_value(x: FloatArray, y: FloatArray, n: int, rng: np.random.Generator) -> float:
    """Return the one-sided p-value of ``Σ x·y`` being as great as it is where nothing links both.

    With the permutation that was seen counted among n others, the p-value is at most α with a
    probability of at most α, for any n.
    """
    seen = float(x @ y)
    least = seen - 1e-9 * float(np.abs(x) @ np.abs(y))  # sums of the same terms in another order
    as_great = 1
    block = max(1, _MOST_AT_ONCE // len(y))
    for start in range(0, n, block):
        drawn = np.tile(y, (min(block, n - start), 1))
        as_great += int(np.sum(rng.permuted(drawn, axis=1) @ x >= least))
    return as_great / (n + 1)


def logistic_slope(x: FloatArray, happened: FloatArray) -> float:
    """Return the slope of the log-odds of what happened (0 or 1) along x, by maximum likelihood.

    Infinite where some x separates what happened from what did not, and NaN where all or nothing
    happened or x is the same throughout.
    """
    with_it, without = x[happened > 0.5], x[happened < 0.5]
    if not len(with_it) or not len(without) or np.ptp(x) == 0:
        return float("nan")
    if with_it.min() >= without.max():
        return float("inf")
    if with_it.max() <= without.min():
        return float("-inf")
    scale = float(np.std(x))
    design = np.column_stack([np.ones(len(x)), (x - x.mean()) / scale])
    found = np.zeros(2)
    for _ in range(100):  # halved steps of Newton's method climb a concave function
        chance = 1.0 / (1.0 + np.exp(-np.clip(design @ found, -30.0, 30.0)))
        slope = design.T @ (happened - chance)
        bend = (design * (chance * (1.0 - chance))[:, None]).T @ design
        step = np.linalg.solve(bend + 1e-12 * np.eye(2), slope)
        found = found + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-10:
            break
    return float(found[1]) / scale
