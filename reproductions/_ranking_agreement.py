"""How well one metric ranks classifiers as another does: NDCG and Kendall's τ."""

from collections.abc import Sequence

import numpy as np
from _show import Promise, number, show_table
from numpy.typing import NDArray
from scipy.stats import kendalltau
from sklearn.metrics import ndcg_score

from karat.metrics import GroupMetric
from karat.metrics.base import Metric

__all__ = ["Agreement", "exponential_ndcg", "order_agreement", "show_rankings", "values"]

Array = NDArray[np.float64]
_MEASURES = ("NDCG", "τ")


class Agreement:
    """Collects how well several metrics rank as the oracle's does, oracle after oracle."""

    def __init__(self) -> None:
        self._ndcg: dict[str, list[float]] = {}
        self._tau: dict[str, list[float]] = {}

    def add(self, name: str, found: Array, truth: Array) -> None:
        """Compare the values of a metric with those of the oracle's metric."""
        self._ndcg.setdefault(name, []).append(exponential_ndcg(found, truth))
        self._tau.setdefault(name, []).append(order_agreement(found, truth))

    def ndcg(self, name: str) -> float:
        """Return the mean NDCG of a metric."""
        return float(np.mean(self._ndcg[name]))

    def tau(self, name: str) -> float:
        """Return the mean τ of a metric."""
        return float(np.mean(self._tau[name]))

    def promises(self, where: str, name: str, others: Sequence[str]) -> list[Promise]:
        """Return what is promised of a metric: to rank as the oracle does, and above others."""
        ndcg, tau = self.ndcg(name), self.tau(name)
        return [
            Promise(f"{where}, mean τ", tau, 0.98),
            Promise(f"{where}, mean NDCG", ndcg, 0.99),
            Promise(f"{where}, τ less the best other", tau - max(map(self.tau, others)), 0.0),
            Promise(f"{where}, NDCG less the best other", ndcg - max(map(self.ndcg, others)), 0.0),
        ]


def show_rankings(title: str, found: dict[str, Agreement], names: Sequence[str]) -> None:
    """Print the mean NDCG and τ of metrics on each dataset."""
    short = [name.split(" by ")[0].split("_")[0] for name in found]
    columns = ["metric", *(f"{name} {what}" for name in short for what in _MEASURES)]
    rows = [
        [metric, *(number(value(metric), 3) for a in found.values() for value in (a.ndcg, a.tau))]
        for metric in names
    ]
    show_table(title, columns, rows)


def values(metric: Metric, tables: Array) -> Array:
    """Return the values of classifiers with ``tables[c, g, i, j]`` = P(G=g, Y=i, Ŷ=j)."""
    if isinstance(metric, GroupMetric):
        return metric._values(tables)
    return np.asarray(metric(tables.sum(axis=1)))


def exponential_ndcg(found: Array, truth: Array) -> float:
    """Return the NDCG of a ranking with the gains ``2^v − 1``.

    v are the oracle's values, rescaled to [0, 1] over the pool; the discount of rank i is
    ``1 / log2(i + 1)``, and ranks that a metric leaves open share theirs.
    """
    spread = float(np.ptp(truth))
    gains = np.exp2((truth - truth.min()) / (spread if spread > 0 else 1.0)) - 1.0
    return float(ndcg_score(gains[None], found[None]))


def order_agreement(found: Array, truth: Array) -> float:
    """Return Kendall's τ (τ-b); 0 for a metric that tells nothing apart.

    Values that differ by rounding alone are the same.
    """
    sides = (np.round(side / max(float(np.abs(side).max()), 1e-300), 12) for side in (found, truth))
    tau = float(kendalltau(*sides).statistic)
    return 0.0 if np.isnan(tau) else tau
