"""Which entries of the confusion a metric looks at."""

import numpy as np

from karat.metrics import MetricBase

__all__ = ["is_diagonal"]


def is_diagonal(metric: MetricBase, k: int) -> bool:
    """Whether, with given class priors, only the diagonal of the confusion matters.

    Then the gradient is the same in all off-diagonal entries of a row; looked up at some confusions
    of different priors.
    """
    if metric.n_groups is not None:
        return False  # it may weigh every kind of error
    rng = np.random.default_rng(0)
    confusions = rng.dirichlet(np.ones(k * k), size=5).reshape(5, k, k)
    slopes = metric._gradients(confusions)
    off = ~np.eye(k, dtype=bool)
    rows = slopes[:, off].reshape(5, k, k - 1)
    scale = np.abs(slopes).max()
    return bool(np.ptp(rows, axis=2).max() <= 1e-9 * max(scale, 1e-300))
