"""Metrics that trade errors against gaps between groups: what all of them have in common.

The predictive cost and the violation have norm 1 each and any direction without negative entries;
the trade-off λ is uniform between 0 and 1: it is ``erf(x/√2)`` of a half-normal x.
"""

from abc import ABC, abstractmethod

import numpy as np
from scipy.special import erf, erfinv

from karat._typing import BoolArray, FloatArray
from karat.elicit.families._family import unit
from karat.elicit.families._polynomial_family import emphasised, flattened
from karat.elicit.spaces import JointRates
from karat.elicit.weights import WeightTable
from karat.metrics import GroupMetric

__all__ = ["FairFamily"]

_VERY_MANY = 1000  # parameters from which on values are computed in single precision
_ALMOST_ALL = 1.0 - 1e-12  # λ = 1 has no finite x


class FairFamily(ABC):
    """``−(1−λ)⟨a, r⟩ − λ v(gaps)``, with the parts that are known left out of the parameters.

    Parameters are a, then the violation of each pair (or one for all of them), then x.
    """

    def __init__(
        self,
        space: JointRates,
        *,
        cost: FloatArray | None = None,
        violation: FloatArray | None = None,
        same_pairs: bool = False,
        sparse: bool = False,
    ) -> None:
        self.space = space
        self.sparse = sparse
        self.cost = None if cost is None else unit(cost)
        self.n_pairs = 1 if same_pairs else len(space.pairs)
        self.violation = None if violation is None else self.normalized(violation[None])[0]

    # --- what gaps cost

    per_pair: int  # parameters of the violation of one pair

    @abstractmethod
    def features(self, gaps: FloatArray) -> FloatArray:
        """Return what the violation weighs, (p, pairs, f), of gaps (p, pairs, q)."""

    @abstractmethod
    def violation_of(self, parameters: FloatArray) -> FloatArray:
        """Return the weights (n, pairs, f) of parameters (n, pairs, per_pair)."""

    @abstractmethod
    def parameters_of_violation(self, violation: FloatArray) -> FloatArray:
        """Return parameters (n, pairs, per_pair) of weights (n, pairs, f)."""

    def nearest_violation(self, violation: FloatArray) -> FloatArray:
        """Return the admissible violations that are nearest to weights of any sign."""
        return self.violation_of(self.parameters_of_violation(violation))

    @abstractmethod
    def _norm(self, violation: FloatArray) -> FloatArray:
        """Return the norm (n,) of weights (n, pairs, f)."""

    @abstractmethod
    def fair_metric(self, cost: FloatArray, violation: FloatArray, tradeoff: float) -> GroupMetric:
        """Return the metric."""

    @property
    @abstractmethod
    def signed_violation(self) -> bool:
        """Whether the parameters of the violation may be negative."""

    @property
    @abstractmethod
    def violation_names(self) -> tuple[str, ...]:
        """What each weight of one pair is."""

    @abstractmethod
    def points_per_gap(self, violation: FloatArray) -> tuple[FloatArray, str]:
        """Return what a gap in every rate costs, in rates, for violations (n, pairs, f)."""

    # --- parameters

    @property
    def _sizes(self) -> tuple[int, int]:
        q = 0 if self.cost is not None else self.space.q
        return q, 0 if self.violation is not None else self.n_pairs * self.per_pair

    @property
    def size(self) -> int:
        return sum(self._sizes) + 1

    @property
    def signed(self) -> BoolArray:
        q, gaps = self._sizes
        return np.repeat([False, self.signed_violation, False], [q, gaps, 1])

    def normalized(self, violation: FloatArray) -> FloatArray:
        """Return weights (n, pairs, f) of norm 1; weights that are all 0 stay 0."""
        return np.asarray(violation / (self._norm(violation)[:, None, None] + 1e-300))

    def read(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the costs (n, q), violations (n, pairs, f) and trade-offs (n,) of parameters."""
        n, (q, gaps) = len(parameters), self._sizes
        weights = emphasised(parameters, self.sparse)
        cost = np.tile(self.cost, (n, 1)) if self.cost is not None else unit(weights[:, :q])
        if self.violation is not None:
            violation = np.tile(self.violation, (n, 1, 1))
        else:
            found = self.violation_of(
                weights[:, q : q + gaps].reshape(n, self.n_pairs, self.per_pair)
            )
            violation = self.normalized(self._of_every_pair(found))
        return cost, violation, _tradeoff(parameters)

    def _of_every_pair(self, violation: FloatArray) -> FloatArray:
        """Return weights (n, pairs, f) of weights that pairs may have together."""
        repeats = len(self.space.pairs) // self.n_pairs
        return violation if repeats == 1 else np.repeat(violation, repeats, axis=1)

    def write(self, cost: FloatArray, violation: FloatArray, tradeoff: FloatArray) -> FloatArray:
        """Return the parameters (n, size) of costs, violations and trade-offs."""
        n = len(tradeoff)
        parts = []
        if self.cost is None:
            parts.append(flattened(cost, self.sparse))
        if self.violation is None:
            gaps = self.parameters_of_violation(violation[:, : self.n_pairs])
            parts.append(flattened(gaps.reshape(n, -1), self.sparse))
        x = np.sqrt(2.0) * erfinv(np.clip(tradeoff, 0.0, _ALMOST_ALL))
        return np.hstack([*parts, x[:, None]])

    def parameters_of(self, cost: FloatArray, violation: FloatArray) -> FloatArray:
        """Return parameters of costs (n, q) and violations of the same scale: λ = S/(1+S)."""
        size = np.linalg.norm(cost, axis=1)
        gaps = self._norm(violation)
        tradeoff = gaps / (size + gaps + 1e-300)
        even = np.ones_like(cost[0]) / np.sqrt(self.space.q)
        cost = np.where(size[:, None] > 0, cost / (size[:, None] + 1e-300), even)
        return self.write(cost, self.normalized(violation), tradeoff)

    # --- as a family

    @property
    def names(self) -> tuple[str, ...]:
        rates = self.space.space.names
        pairs = self.space.pair_names if self.n_pairs > 1 else ("any two groups",)
        if len(self.space.pairs) == 1:
            pairs = self.space.pair_names
        gaps = [f"gap between {pair}: {name}" for pair in pairs for name in self.violation_names]
        return (*(f"cost: {name}" for name in rates), *gaps, "trade-off")

    def values(self, parameters: FloatArray, points: FloatArray) -> FloatArray:
        if parameters.shape[1] >= _VERY_MANY:  # particles are kept in single precision anyway
            parameters = parameters.astype(np.float32)
        weights, (q, end) = emphasised(parameters, self.sparse), self._sizes
        share = _tradeoff(parameters)
        overall, gaps = self.space.parts_of(points)
        if self.cost is None:
            values = ((share - 1.0)[:, None] * unit(weights[:, :q])) @ overall.T
        else:
            values = np.outer(share - 1.0, overall @ self.cost)
        if self.violation is not None:
            unfair = self.features(gaps).reshape(len(points), -1) @ self.violation.ravel()
            values -= np.outer(share, unfair)
            return np.asarray(values)
        found = weights[:, q : q + end].reshape(len(weights), self.n_pairs, self.per_pair)
        violation, norm = self._condensed(found)
        features = self._condensed_features(gaps).astype(weights.dtype, copy=False)
        if self.n_pairs < features.shape[1]:  # the same weights for all pairs
            norm, features = norm * features.shape[1], features.sum(axis=1)
        # The table of metrics and points is larger than all else: it is changed in place.
        unfair = violation.reshape(len(weights), -1) @ features.reshape(len(points), -1).T
        unfair *= (share / (norm + 1e-300))[:, None]
        values -= unfair
        return np.asarray(values)

    def _condensed(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the weights (n, pairs, c) of parameters, each once, and their norm (n,)."""
        violation = self.violation_of(parameters)
        return violation, self._norm(violation)

    def _condensed_features(self, gaps: FloatArray) -> FloatArray:
        """Return what condensed weights weigh, (p, pairs, c), of gaps (p, pairs, q)."""
        return self.features(gaps)

    def weights(self, parameters: FloatArray) -> FloatArray:
        cost, violation, tradeoff = self.read(parameters)
        reported = self._reported(violation[:, : self.n_pairs])
        return np.hstack([cost, reported.reshape(len(cost), -1), tradeoff[:, None]])

    def _reported(self, violation: FloatArray) -> FloatArray:
        """Return the weights (n, pairs, w) that are reported, each once."""
        return violation

    def mean(self, parameters: FloatArray, shares: FloatArray) -> FloatArray:
        cost, violation, tradeoff = self.read(parameters)
        middle = np.einsum("n,nq->q", shares * (1.0 - tradeoff), cost)
        gaps = np.einsum("n,npf->pf", shares * tradeoff, violation)
        return np.asarray(self.parameters_of(middle[None], gaps[None])[0])

    def metric(self, parameters: FloatArray) -> GroupMetric:
        cost, violation, tradeoff = self.read(parameters[None])
        return self.fair_metric(cost[0], violation[0], float(tradeoff[0]))

    def table(self, parameters: FloatArray) -> WeightTable:
        """Return what errors and gaps cost in the same unit."""
        cost, violation, tradeoff = self.read(parameters[None])
        q, share = self.space.q, float(tradeoff[0])
        gaps = share * violation[0].reshape(len(self.space.pairs), -1, q)
        rows = [
            f"gap between {pair}" + (f": with {name}" if gaps.shape[1] > 1 else "")
            for pair in self.space.pair_names
            for name in self.space.space.names[: gaps.shape[1]]
        ]
        return WeightTable(
            rows=("errors of all", *rows),
            columns=self.space.space.names,
            values=np.vstack([(1.0 - share) * cost, gaps.reshape(-1, q)]),
        )

    def gap_worth(self, parameters: FloatArray) -> tuple[str, FloatArray]:
        """Return in words what a gap between groups is worth, and how much for each metric."""
        cost, violation, tradeoff = self.read(parameters)
        gap, words = self.points_per_gap(violation)
        error = (1.0 - tradeoff) * cost.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return words, np.nan_to_num(tradeoff * gap / error, nan=0.0, posinf=np.inf)


def _tradeoff(parameters: FloatArray) -> FloatArray:
    """Return λ (n,) of parameters, whose last is x."""
    return np.asarray(erf(parameters[:, -1] / np.sqrt(2.0)))
