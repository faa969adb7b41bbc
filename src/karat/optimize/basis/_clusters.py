"""Clusters of rows as basis functions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat._typing import AnyArray, FloatArray
from karat._validate import check_count, check_seed, refuse_option
from karat.optimize.basis._basis import Basis
from karat.optimize.basis._rows import Scale, indicators

__all__ = ["Clusters", "k_means"]


class Clusters(Basis):
    """Hard clusters found by k-means, after each column of X is scaled to deviation 1.

    Parameters
    ----------
    n_clusters : int, default 3
        Number of clusters.
    rng : int or generator, default 0
        Seed of k-means.
    """

    def __init__(self, n_clusters: int = 3, rng: Any = 0) -> None:
        self.n_clusters, self.rng = n_clusters, rng

    def _learn(self, X: Any, y: AnyArray) -> Sequence[str]:
        self.scale_ = Scale.of(X)
        self.model_ = k_means(self.scale_(X), self.n_clusters, "n_clusters", self.rng)
        return [f"cluster {i}" for i in range(self.model_.n_clusters)]

    def values(self, X: Any) -> FloatArray:
        """Return one indicator for each cluster."""
        return indicators(self.model_.predict(self.scale_(X)), np.arange(len(self.names_)))


def k_means(rows: FloatArray, n: Any, name: str, rng: Any) -> Any:
    """Return k-means fitted to rows; ``name`` is the option that says how many centers."""
    from sklearn.cluster import KMeans

    count = check_count(n, name)
    if count > len(rows):
        refuse_option(
            n, name, f"a whole number of at most {len(rows)}, the number of validation rows"
        )
    seed = check_seed(rng) % 2**32  # scikit-learn takes no larger seeds
    return KMeans(count, n_init=5, random_state=seed).fit(rows)
