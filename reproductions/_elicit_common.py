"""What the parts of the metric-elicitation reproduction share: asking, scoring, and laws."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from karat.elicit import DiagonalSpace, Elicitation, MetricOracle, Query
from karat.elicit._problems import Problem
from karat.elicit.families import Family
from karat.elicit.posterior import Brackets
from karat.elicit.search import Steps
from karat.elicit.spaces import Space
from karat.exceptions import KaratWarning
from karat.metrics import LinearMetric
from karat.metrics.base import MetricBase

__all__ = [
    "Array",
    "Found",
    "ask_all",
    "diagonal_metric",
    "gaussian_law",
    "inner_confusions",
    "largest",
    "order_agreement",
    "search_all",
    "vector",
]

Array = NDArray[np.float64]
_INNER = 2000  # confusions on which two orders are compared


class Found(NamedTuple):
    """What was found: weights, the metric, and the number of questions."""

    weights: Array
    metric: MetricBase
    n_queries: int


def _found(family: Family, estimate: Array, n_queries: int) -> Found:
    weights = np.asarray(family.weights(estimate[None])[0])
    return Found(weights, family.metric(estimate), n_queries)


def ask_all(elicitation: Elicitation, oracle: MetricBase | Callable[[Query], str]) -> Found:
    """Answer every question, by a metric or by a person, and return what is found."""
    answer = MetricOracle(oracle) if isinstance(oracle, MetricBase) else oracle
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)
        while (query := elicitation.ask()) is not None:
            elicitation.tell(answer(query))
    # `result` also draws the metrics that are still possible, which takes longer than asking.
    draws = elicitation._posterior_draws()
    return _found(draws.family, draws.estimate, len(elicitation.answers))


def search_all(problem: Problem, steps: Steps, brackets: Brackets, truth: MetricBase) -> Found:
    """Answer every question of a search of one's own by a metric, and return what is found."""
    oracle = MetricOracle(truth)
    try:
        query = next(steps)
        while True:
            query = steps.send(oracle(query))
    except StopIteration:
        return _found(problem.family(), problem.estimate(brackets), oracle.n_answers)


def inner_confusions(space: Space) -> Array:
    """Draw confusions inside the feasible set: mixtures of three extreme classifiers each."""
    rng = np.random.default_rng(0)
    extreme = space.boundary(rng.normal(size=(_INNER, space.dim)))
    shares = rng.dirichlet(np.ones(3), size=_INNER)
    chosen = extreme[rng.integers(0, _INNER, (_INNER, 3))]
    return np.asarray(np.einsum("nj,njab->nab", shares, chosen))


def order_agreement(found: MetricBase, truth: MetricBase, confusions: Array) -> float:
    """Return Kendall's τ of two metrics on confusions."""
    return float(kendalltau(found(confusions), truth(confusions)).statistic)


def gaussian_law(k: int, *, weight: float = 8.0, n: int = 20_000) -> DiagonalSpace:
    """Return the space of a softmax law of k Gaussian features, one for each class.

    Every ratio of two probabilities occurs, however large, as Assumption 4.1 of the thesis wants.
    """
    power = weight * np.random.default_rng(0).normal(size=(n, k))
    proba = np.exp(power - power.max(axis=1, keepdims=True))
    return DiagonalSpace.from_calibrated(proba / proba.sum(axis=1, keepdims=True))


def diagonal_metric(weights: Sequence[float]) -> LinearMetric:
    """Return the metric that gives each class a weight; the weights are made to sum to 1."""
    array = np.asarray(weights, dtype=float)
    return LinearMetric(np.diag(array / array.sum()))


def vector(values: Iterable[float], digits: int = 2) -> str:
    """Return numbers as text, without the zeros before the points."""
    return " ".join(f"{value + 0.0:.{digits}f}".replace("0.", ".", 1) for value in values)


def largest(first: Any, second: Any) -> float:
    """Return the largest difference of two vectors."""
    return float(np.abs(np.asarray(first) - np.asarray(second)).max())
