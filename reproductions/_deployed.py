"""Someone who meets the two classifiers of a query in the population, as in an A/B test."""

import numpy as np
from numpy.typing import NDArray

from karat.elicit import MetricOracle, Query
from karat.elicit.spaces import Space
from karat.metrics.base import MetricBase

__all__ = ["Deployed"]

Array = NDArray[np.float64]


class Deployed:
    """Answers by the confusions that the classifiers of a query have in the population.

    Parameters
    ----------
    metric : Metric
        What the answers go by.
    space : Space
        Where the queries are from; it gives the classifier of a confusion.
    proba : array (n, k)
        Class probabilities of items that are equally likely: the population.

    Attributes
    ----------
    apart : float
        The greatest difference so far of a value in the population from the value shown.
    """

    def __init__(self, metric: MetricBase, space: Space, proba: Array) -> None:
        self.space, self.proba, self.apart = space, proba, 0.0
        self._oracle = MetricOracle(metric)

    def __call__(self, query: Query) -> str:
        """Answer a query."""
        return self._oracle(Query(self._there(query.first), self._there(query.second)))

    def _there(self, shown: Array) -> Array:
        """Return the confusion in the population of the classifier that a sample's is shown of."""
        chosen = self.space.classifier(shown).predict_proba(self.proba)
        table = self.proba.T @ chosen / len(self.proba)
        metric = self._oracle.metric
        self.apart = max(self.apart, abs(float(metric(table)) - float(metric(shown))))
        return np.asarray(table)
