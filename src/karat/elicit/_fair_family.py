"""Metrics that trade errors against gaps between groups, as a prior.

The predictive cost and the violation have norm 1 each and any direction without negative entries;
the trade-off λ is uniform between 0 and 1: it is ``erf(x/√2)`` of a half-normal x.
"""

from abc import ABC, abstractmethod

import numpy as np
from scipy.special import erf, erfinv

from karat._typing import BoolArray, FloatArray, IntArray
from karat.elicit._families import NAME, unit
from karat.elicit._joint_rates import JointRates
from karat.elicit._polynomial_family import emphasised, flattened
from karat.elicit.result import WeightTable
from karat.metrics import FairMetric, FairQuadraticMetric, GroupMetric

__all__ = ["FairFamily", "LinearGaps", "SquaredGaps"]

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
        self.violation = None if violation is None else self._normalized(violation[None])[0]

    # --- what gaps cost

    per_pair: int  # parameters of the violation of one pair

    @abstractmethod
    def features(self, gaps: FloatArray) -> FloatArray:
        """Return what the violation weighs, (p, pairs, f), of gaps (p, pairs, q)."""

    @abstractmethod
    def _formed(self, parameters: FloatArray) -> FloatArray:
        """Return the weights (n, pairs, f) of parameters (n, pairs, per_pair)."""

    @abstractmethod
    def _unformed(self, violation: FloatArray) -> FloatArray:
        """Return parameters (n, pairs, per_pair) of weights (n, pairs, f)."""

    @abstractmethod
    def _norm(self, violation: FloatArray) -> FloatArray:
        """Return the norm (n,) of weights (n, pairs, f)."""

    @abstractmethod
    def _fair_metric(self, cost: FloatArray, violation: FloatArray, tradeoff: float) -> GroupMetric:
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

    def _normalized(self, violation: FloatArray) -> FloatArray:
        return np.asarray(violation / (self._norm(violation)[:, None, None] + 1e-300))

    def read(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the costs (n, q), violations (n, pairs, f) and trade-offs (n,) of parameters."""
        n, (q, gaps) = len(parameters), self._sizes
        weights = emphasised(parameters, self.sparse)
        cost = np.tile(self.cost, (n, 1)) if self.cost is not None else unit(weights[:, :q])
        if self.violation is not None:
            violation = np.tile(self.violation, (n, 1, 1))
        else:
            found = self._formed(weights[:, q : q + gaps].reshape(n, self.n_pairs, self.per_pair))
            repeats = len(self.space.pairs) // self.n_pairs
            violation = self._normalized(np.repeat(found, repeats, axis=1))
        return cost, violation, np.asarray(erf(parameters[:, -1] / np.sqrt(2.0)))

    def write(self, cost: FloatArray, violation: FloatArray, tradeoff: FloatArray) -> FloatArray:
        """Return the parameters (n, size) of costs, violations and trade-offs."""
        n = len(tradeoff)
        parts = []
        if self.cost is None:
            parts.append(flattened(cost, self.sparse))
        if self.violation is None:
            formed = self._unformed(violation[:, : self.n_pairs])
            parts.append(flattened(formed.reshape(n, -1), self.sparse))
        x = np.sqrt(2.0) * erfinv(np.clip(tradeoff, 0.0, _ALMOST_ALL))
        return np.hstack([*parts, x[:, None]])

    def parameters_of(self, cost: FloatArray, violation: FloatArray) -> FloatArray:
        """Return parameters of costs (n, q) and violations of the same scale: λ = S/(1+S)."""
        size = np.linalg.norm(cost, axis=1)
        gaps = self._norm(violation)
        tradeoff = gaps / (size + gaps + 1e-300)
        even = np.ones_like(cost[0]) / np.sqrt(self.space.q)
        cost = np.where(size[:, None] > 0, cost / (size[:, None] + 1e-300), even)
        return self.write(cost, self._normalized(violation), tradeoff)

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
        cost, violation, tradeoff = self.read(parameters)
        overall, gaps = self.space.parts_of(points)
        features = self.features(gaps).reshape(len(points), -1)
        unfair = violation.reshape(len(violation), -1) @ features.T
        share = tradeoff[:, None]
        return np.asarray(-((1.0 - share) * (cost @ overall.T) + share * unfair))

    def weights(self, parameters: FloatArray) -> FloatArray:
        cost, violation, tradeoff = self.read(parameters)
        shown = self._shown(violation[:, : self.n_pairs])
        return np.hstack([cost, shown.reshape(len(cost), -1), tradeoff[:, None]])

    def _shown(self, violation: FloatArray) -> FloatArray:
        return violation

    def mean(self, parameters: FloatArray, shares: FloatArray) -> FloatArray:
        cost, violation, tradeoff = self.read(parameters)
        middle = np.einsum("n,nq->q", shares * (1.0 - tradeoff), cost)
        gaps = np.einsum("n,npf->pf", shares * tradeoff, violation)
        return np.asarray(self.parameters_of(middle[None], gaps[None])[0])

    def metric(self, parameters: FloatArray) -> GroupMetric:
        cost, violation, tradeoff = self.read(parameters[None])
        return self._fair_metric(cost[0], violation[0], float(tradeoff[0]))

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

    def trade_offs(self, parameters: FloatArray) -> tuple[str, FloatArray]:
        """Return in words what a gap between groups is worth, and how much for each metric."""
        cost, violation, tradeoff = self.read(parameters)
        gap, words = self.points_per_gap(violation)
        error = (1.0 - tradeoff) * cost.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return words, np.nan_to_num(tradeoff * gap / error, nan=0.0, posinf=np.inf)


class LinearGaps(FairFamily):
    """``v = Σ_{u<v} ⟨b^{uv}, |r^u − r^v|⟩`` with ``Σ ‖b^{uv}‖₂ = 1`` (Definition 5.1)."""

    @property
    def per_pair(self) -> int:  # type: ignore[override]
        return self.space.q

    @property
    def signed_violation(self) -> bool:
        return False

    @property
    def violation_names(self) -> tuple[str, ...]:
        return self.space.space.names

    def features(self, gaps: FloatArray) -> FloatArray:
        return np.abs(gaps)

    def _formed(self, parameters: FloatArray) -> FloatArray:
        return parameters

    def _unformed(self, violation: FloatArray) -> FloatArray:
        return np.maximum(violation, 0.0)

    def _norm(self, violation: FloatArray) -> FloatArray:
        return np.asarray(np.linalg.norm(violation, axis=2).sum(axis=1))

    def _fair_metric(self, cost: FloatArray, violation: FloatArray, tradeoff: float) -> GroupMetric:
        return FairMetric(cost, violation, tradeoff, name=NAME)

    def points_per_gap(self, violation: FloatArray) -> tuple[FloatArray, str]:
        return (
            violation.sum(axis=(1, 2)),
            "one point of error-rate gap between groups",
        )


class SquaredGaps(FairFamily):
    """``v = ½ Σ_{u<v} dᵀB^{uv}d``, ``d = r^u − r^v``, B positive semi-definite (Definition 6.4).

    Parameters are a square root F of each ``B = FFᵀ``, or its diagonal.
    """

    def __init__(self, space: JointRates, *, diagonal: bool = False, **options: object) -> None:
        self.diagonal = diagonal
        super().__init__(space, **options)  # type: ignore[arg-type]

    @property
    def per_pair(self) -> int:  # type: ignore[override]
        return self.space.q if self.diagonal else self.space.q**2

    @property
    def signed_violation(self) -> bool:
        return not self.diagonal

    @property
    def violation_names(self) -> tuple[str, ...]:
        names = self.space.space.names
        rows, columns = self._triangle
        return tuple(f"{names[i]} × {names[j]}" for i, j in zip(rows, columns, strict=True))

    @property
    def _triangle(self) -> tuple[IntArray, IntArray]:
        q = self.space.q
        return (np.arange(q), np.arange(q)) if self.diagonal else np.triu_indices(q)

    def features(self, gaps: FloatArray) -> FloatArray:
        outer = 0.5 * gaps[..., :, None] * gaps[..., None, :]
        return outer.reshape(*gaps.shape[:-1], -1)

    def _formed(self, parameters: FloatArray) -> FloatArray:
        q = self.space.q
        if self.diagonal:
            whole = parameters[..., :, None] ** 2 * np.eye(q)
        else:
            root = parameters.reshape(*parameters.shape[:-1], q, q)
            whole = root @ root.swapaxes(-1, -2)
        return np.asarray(whole.reshape(*parameters.shape[:-1], q * q))

    def _unformed(self, violation: FloatArray) -> FloatArray:
        q = self.space.q
        whole = violation.reshape(*violation.shape[:-1], q, q)
        if self.diagonal:
            return np.asarray(np.sqrt(np.maximum(np.einsum("...ii->...i", whole), 0.0)))
        values, vectors = np.linalg.eigh((whole + whole.swapaxes(-1, -2)) / 2)
        root = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
        return np.asarray(root.reshape(violation.shape))

    def _norm(self, violation: FloatArray) -> FloatArray:
        return np.asarray(0.5 * np.linalg.norm(violation, axis=2).sum(axis=1))

    def _shown(self, violation: FloatArray) -> FloatArray:
        q = self.space.q
        rows, columns = self._triangle
        return np.asarray(violation.reshape(*violation.shape[:-1], q, q)[..., rows, columns])

    def _fair_metric(self, cost: FloatArray, violation: FloatArray, tradeoff: float) -> GroupMetric:
        q = self.space.q
        return FairQuadraticMetric(cost, violation.reshape(-1, q, q), tradeoff, name=NAME)

    def points_per_gap(self, violation: FloatArray) -> tuple[FloatArray, str]:
        # ½ dᵀBd with every gap 0.1, in points of 0.01
        return (
            0.5 * 0.1**2 * violation.sum(axis=(1, 2)) / 0.01,
            "a gap of ten points of error rate between groups",
        )
