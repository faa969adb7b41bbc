"""Families of metrics: what an unknown metric may be, and which classifiers it prefers.

A `Family` reads metrics from vectors of normal parameters, so that it is a prior for the search:
linear metrics, ratios, power means of recalls, polynomials of error rates, and metrics that trade
errors against gaps between groups (`LinearGaps`, `SquaredGaps`). ``fairness_frontier`` traces what
classifiers attain between the two terms of a metric of groups; `BestForMeans` draws classifiers
that are best for power means.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import Protocol

import numpy as np
from scipy.special import erf, erfinv, ndtri

from karat._typing import BoolArray, FloatArray, IntArray
from karat._validate import check_rng
from karat.decisions import Attainable, maximise
from karat.elicit._rate_space import JointRates, RateSpace
from karat.elicit.result import FairnessFrontier, NamedEstimate, WeightTable
from karat.elicit.spaces import AnyClassifier, QuestionSpace, Space
from karat.metrics import (
    FairMetric,
    FairQuadraticMetric,
    GroupMetric,
    LinearMetric,
    PolynomialMetric,
    PowerMeanMetric,
    QuadraticMetric,
)
from karat.metrics.base import MetricBase
from karat.metrics.families import class_name, power_mean, power_mean_slopes

# --- What every family of metrics offers: a prior over metrics, and what its metrics prefer.
#
# Parameters are vectors in which each entry is half-normal (or normal, where it may be negative),
# independently; a family reads a metric from them. Directions are then uniform over the sphere, or
# its positive orthant.

NAME = "elicited metric"
TINY = 1e-100  # added to what may be 0 before `unit`: its square is still above 0


class Family(Protocol):
    """A family of metrics over the coordinates of a space."""

    @property
    def space(self) -> QuestionSpace:
        """The space whose coordinates its metrics weigh."""

    @property
    def size(self) -> int:
        """Number of parameters."""

    @property
    def signed(self) -> BoolArray:
        """Which parameters may be negative; they are normal, the others half-normal."""

    def values(self, parameters: FloatArray, points: FloatArray) -> FloatArray:
        """Return the utility of each point for each metric: (n, points)."""

    def weights(self, parameters: FloatArray) -> FloatArray:
        """Return the weights that are reported: (n, w)."""

    @property
    def names(self) -> tuple[str, ...]:
        """What each weight is, in words."""

    def mean(self, parameters: FloatArray, shares: FloatArray) -> FloatArray:
        """Return the parameters of the mean of metrics with given shares."""

    def metric(self, parameters: FloatArray) -> MetricBase:
        """Return the metric of one vector of parameters."""

    def table(self, parameters: FloatArray) -> WeightTable | None:
        """Return the weights of one metric as a table; None where there are few."""

    def gap_worth(self, parameters: FloatArray) -> tuple[str, FloatArray] | None:
        """Return in words what a gap between groups is worth, and how much; None without groups."""


def unit(vectors: FloatArray) -> FloatArray:
    """Scale vectors (..., q) to length 1."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def mean_direction(directions: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the mean (q,) of the directions of vectors (n, q), with length 1."""
    return unit(shares @ unit(directions))


# --- Classifiers that are best for power means of the recalls.

_VERTICES = 1000  # extreme classifiers that the others are mixtures of
_STEPS = 60  # Frank–Wolfe steps to the best mixture
_LEAST_RECALL = 1e-4  # of the slope: a class that is not found yet has a finite one


class BestForMeans(AnyClassifier):
    """Classifiers that are best for random linear metrics, and for random means of the recalls.

    The former may never find some class, and to whoever wants every class to be found they are all
    alike: nothing can be learned from them. The latter are mixtures that find every class.
    """

    def sample(self, n: int, *, rng: int | np.random.Generator | None = None) -> FloatArray:
        """Draw confusions (n, k, k), of either kind by turns."""
        generator = check_rng(rng)
        tables = self.space.sample(n, rng=generator)
        tables[1::2] = self._best(n // 2, generator)
        return tables

    @cached_property
    def _vertices(self) -> FloatArray:
        return self.space.sample(_VERTICES, rng=np.random.default_rng(0))

    def _best(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return the best mixtures of extreme classifiers for n random means, by Frank–Wolfe."""
        weights = np.abs(rng.normal(size=(n, self.dim)))
        weights /= weights.sum(axis=1, keepdims=True)
        powers = 1.0 - np.abs(rng.normal(scale=1.5, size=(n, 1)))
        recalls = self.coordinates(self._vertices) / self.space.top
        tables = np.repeat(self.guess[None], n, axis=0)
        points = np.full((n, self.dim), 1.0 / self.space.n_classes)
        for step in range(_STEPS):
            slopes = weights * np.maximum(points, _LEAST_RECALL) ** (powers - 1.0)
            best, share = np.argmax(slopes @ recalls.T, axis=1), 2.0 / (step + 3.0)
            points += share * (recalls[best] - points)
            tables += share * (self._vertices[best] - tables)
        return tables


# --- The classifiers between few errors and small gaps between groups.
#
# For each λ the metric is concave in the rates of all groups, and each group attains its own: the
# best classifier is the one that `karat.decisions.maximise` finds.

_CLOSE, _CLOSEST = 1e-5, 1e-8  # gaps of a point of the curve, and of the best place
_SAMPLED = 400


def fairness_frontier(
    family: FairFamily, estimate: FloatArray, tradeoff: NamedEstimate, n: int, seed: int
) -> FairnessFrontier:
    """Return the frontier of the cost and the violation of one metric of the family."""
    cost, violation, _ = (part[0] for part in family.read(estimate[None]))
    shares = np.linspace(0.0, 1.0, n) ** 2  # gaps cost little at first
    # With no weight on errors any equal rates are best, with none on gaps any gaps are.
    shares = np.clip(shares, 1e-6, 0.995)
    curve = [family.fair_metric(cost, violation, float(share)) for share in shares]
    rates, gap = _best(family, [*curve, family.metric(estimate)])
    errors, gaps = _terms(family, cost, violation, rates)
    order = np.argsort(errors[:-1], kind="stable")
    falling = np.append(np.inf, np.minimum.accumulate(gaps[:-1][order])[:-1])
    kept = np.flatnonzero(gaps[:-1][order] < falling - 1e-9)  # else more errors for nothing
    sampled = family.space.coordinates(family.space.sample(_SAMPLED, rng=seed))
    seen = _terms(family, cost, violation, sampled)
    return FairnessFrontier(
        cost=errors[:-1][order][kept],
        violation=gaps[:-1][order][kept],
        best=(float(errors[-1]), float(gaps[-1])),
        gap=gap,
        sampled_cost=seen[0],
        sampled_violation=seen[1],
        tradeoff=tradeoff,
    )


def _terms(
    family: FairFamily, cost: FloatArray, violation: FloatArray, rates: FloatArray
) -> tuple[FloatArray, FloatArray]:
    overall, gaps = family.space.parts_of(rates)
    unfair = family.features(gaps).reshape(len(rates), -1) @ violation.ravel()
    return overall @ cost, np.where(unfair < 1e-12, 0.0, unfair)


def _best(family: FairFamily, metrics: list[GroupMetric]) -> tuple[FloatArray, float]:
    """Return the rates (n, m·q) of the best classifier for each metric, and the gap of the last.

    The last one is found first, by itself; the rules found for one metric serve the next one too.
    """
    attainable = family.space.space.attainable
    columns = attainable.columns()
    last = len(metrics) - 1
    found = {
        at: maximise(
            metrics[at], attainable, tol=_CLOSEST if at == last else _CLOSE, columns=columns
        )
        for at in (last, *range(last))
    }
    tables = np.stack([found[at].confusion for at in range(len(metrics))])
    return family.space.coordinates(tables), found[last].gap


# --- Metrics without groups: linear ones, power means of recalls, and ratios.


class UnsignedFamily(ABC):
    """A family of metrics without groups in which no parameter is negative."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of parameters."""

    @property
    def signed(self) -> BoolArray:
        return np.zeros(self.size, dtype=bool)

    def table(self, parameters: FloatArray) -> WeightTable | None:
        return None

    def gap_worth(self, parameters: FloatArray) -> tuple[str, FloatArray] | None:
        return None


class LinearFamily(UnsignedFamily):
    """``±⟨a, c⟩``: every coordinate has a gain (or a cost), of any size but of the known sign.

    ``flipped`` changes the sign of what is reported (Hiranandani 2021, Appendix A.4): the answers
    are then swapped before they reach the family, so that nothing else changes.
    """

    def __init__(self, space: Space, *, norm: int = 2, flipped: bool = False) -> None:
        self.space = space
        self.norm = norm
        self.turn = -1.0 if flipped else 1.0

    @property
    def size(self) -> int:
        return self.space.dim

    @property
    def names(self) -> tuple[str, ...]:
        return self.space.names

    def values(self, parameters: FloatArray, points: FloatArray) -> FloatArray:
        return np.asarray(self.space.sign * (unit(parameters) @ points.T))

    def weights(self, parameters: FloatArray) -> FloatArray:
        scale = np.linalg.norm(parameters, ord=self.norm, axis=-1, keepdims=True)
        return np.asarray(self.turn * parameters / scale)

    def mean(self, parameters: FloatArray, shares: FloatArray) -> FloatArray:
        return mean_direction(parameters, shares)

    def metric(self, parameters: FloatArray) -> MetricBase:
        return self.space.linear_metric(self.weights(parameters), NAME)


# ρ by a half-normal number: 1 for a fifth of all people and 0 for a quarter, the means that have a
# name; a fifth in between, and the others below 0.
_PLACES = np.append(ndtri(0.5 + np.array([0.2, 0.4, 0.65]) / 2), 10.0)
_POWERS = np.array([1.0, 0.0, 0.0, -1.5 * (10.0 - _PLACES[2])])
_LEAST_MEAN_RECALL = 1e-9  # a class that is never recognised at the optimum has a finite slope
_TOL = 1e-6  # the gap to which the optimum is found


class PowerMeanFamily(UnsignedFamily):
    """Weighted power means of the recalls: ``(Σ a_i r_i^ρ)^(1/ρ)``, monotone and quasiconcave.

    ρ = 1 is a weighted mean, ρ = 0 a weighted geometric mean, ρ → −∞ the worst class. A priori the
    direction of the weights is uniform, and a fifth of all people have ρ = 1, a quarter ρ = 0.
    """

    def __init__(self, space: Space, *, flipped: bool = False) -> None:
        self.space = space
        self.turn = -1.0 if flipped else 1.0

    @property
    def size(self) -> int:
        return self.space.dim + 1

    @property
    def names(self) -> tuple[str, ...]:
        found = (f"finding {class_name(c)}" for c in self.space.classes.tolist())
        return (*found, "power of the mean (1 arithmetic, 0 geometric, −1 harmonic)")

    def _parts(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        dim = self.space.dim
        weight = parameters[..., :dim] / parameters[..., :dim].sum(axis=-1, keepdims=True)
        return weight, self.powers(parameters[..., dim])

    def powers(self, numbers: FloatArray) -> FloatArray:
        """Return the powers ρ that half-normal numbers stand for."""
        return np.asarray(np.interp(numbers, _PLACES, _POWERS))

    def values(self, parameters: FloatArray, points: FloatArray) -> FloatArray:
        weight, power = self._parts(parameters)
        recall = np.clip(points / self.space.top, 0.0, 1.0)
        return power_mean(recall[None], weight[:, None], power[:, None])

    def weights(self, parameters: FloatArray) -> FloatArray:
        weight, power = self._parts(parameters)
        return np.concatenate([self.turn * weight, power[..., None]], axis=-1)

    def mean(self, parameters: FloatArray, shares: FloatArray) -> FloatArray:
        dim = self.space.dim
        return np.append(mean_direction(parameters[:, :dim], shares), shares @ parameters[:, dim])

    def metric(self, parameters: FloatArray) -> PowerMeanMetric:
        weight, power = self._parts(parameters)
        return PowerMeanMetric(weight, float(power), decreasing=self.turn < 0, name=NAME)

    def tangent(self, parameters: FloatArray) -> LinearMetric:
        """Return the linear metric with the slope of a power mean at its best classifier."""
        weight, power = self._parts(parameters)
        upward = PowerMeanMetric(weight, float(power))
        best = maximise(upward, Attainable([self.space.population]), tol=_TOL).confusion
        recall = np.clip(self.space.coordinates(best) / self.space.top, _LEAST_MEAN_RECALL, 1.0)
        slope = power_mean_slopes(recall, weight, float(power)) / self.space.top
        return self.space.linear_metric(self.turn * slope / slope.sum(), NAME)


class RatioFamily(UnsignedFamily):
    """``N / (N + M)`` with ``N = ⟨p, c⟩`` and ``M = ⟨u, top − c⟩``, p and u at least 0.

    With ``q = p − u`` these are the linear-fractional metrics of Hiranandani 2021, Assumptions 3.2,
    4.3 and 4.4, but for the scale of u against p, which changes no preference.
    """

    def __init__(self, space: Space, *, flipped: bool = False) -> None:
        self.space = space
        self.turn = -1.0 if flipped else 1.0

    @property
    def size(self) -> int:
        return 2 * self.space.dim

    @property
    def names(self) -> tuple[str, ...]:
        parts = ("above", "below") if self.space.sign > 0 else ("error", "avoided")
        return tuple(f"{name} ({part})" for part in parts for name in self.space.names)

    def _parts(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        dim = self.space.dim
        return unit(parameters[..., :dim]), unit(parameters[..., dim:])

    def values(self, parameters: FloatArray, points: FloatArray) -> FloatArray:
        good, bad = self._parts(parameters)
        above = good @ points.T
        below = bad @ (self.space.top - points).T
        # 1e-300 makes 0 of 0 / 0, at the corner where both sums vanish
        return np.asarray(self.space.sign * above / (above + below + 1e-300))

    def weights(self, parameters: FloatArray) -> FloatArray:
        good, bad = self._parts(parameters)
        total = good.sum(axis=-1, keepdims=True)
        below = bad / bad.sum(axis=-1, keepdims=True)
        return np.concatenate([good / total, below], axis=-1)

    def mean(self, parameters: FloatArray, shares: FloatArray) -> FloatArray:
        good, bad = self._parts(parameters)
        return np.concatenate([unit(shares @ good), unit(shares @ bad)])

    def metric(self, parameters: FloatArray) -> MetricBase:
        good, bad = self._parts(parameters)
        return self.space.ratio_metric(good, bad, NAME, turned=self.turn < 0)


# --- Metrics that trade errors against gaps between groups: what all of them have in common.
#
# The predictive cost and the violation have norm 1 each and any direction without negative entries;
# the trade-off λ is uniform between 0 and 1: it is ``erf(x/√2)`` of a half-normal x.

_VERY_MANY = 1000  # parameters from which on values are computed in single precision
_ALMOST_ALL = 1.0 - 1e-12  # λ = 1 has no finite x


def _tradeoff(parameters: FloatArray) -> FloatArray:
    """Return λ (n,) of parameters, whose last is x."""
    return np.asarray(erf(parameters[:, -1] / np.sqrt(2.0)))


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


class LinearGaps(FairFamily):
    """``v = Σ_{u<v} ⟨b^{uv}, |r^u − r^v|⟩`` with ``Σ ‖b^{uv}‖₂ = 1`` (Hiranandani 2021, 5.1)."""

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

    def violation_of(self, parameters: FloatArray) -> FloatArray:
        return parameters

    def parameters_of_violation(self, violation: FloatArray) -> FloatArray:
        return np.maximum(violation, 0.0)

    def _norm(self, violation: FloatArray) -> FloatArray:
        return np.asarray(np.linalg.norm(violation, axis=2).sum(axis=1))

    def fair_metric(self, cost: FloatArray, violation: FloatArray, tradeoff: float) -> GroupMetric:
        return FairMetric(cost, violation, tradeoff, name=NAME)

    def points_per_gap(self, violation: FloatArray) -> tuple[FloatArray, str]:
        return (
            violation.sum(axis=(1, 2)),
            "one point of error-rate gap between groups",
        )


class SquaredGaps(FairFamily):
    """``v = ½ Σ_{u<v} dᵀB^{uv}d``, ``d = r^u − r^v``, with B positive semi-definite.

    Hiranandani 2021, Definition 6.4. Parameters are a square root F of each ``B = FFᵀ``, or its
    diagonal.
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

    @cached_property
    def _triangle(self) -> tuple[IntArray, IntArray]:
        q = self.space.q
        return (np.arange(q), np.arange(q)) if self.diagonal else np.triu_indices(q)

    def features(self, gaps: FloatArray) -> FloatArray:
        outer = 0.5 * gaps[..., :, None] * gaps[..., None, :]
        return outer.reshape(*gaps.shape[:-1], -1)

    def violation_of(self, parameters: FloatArray) -> FloatArray:
        q = self.space.q
        if self.diagonal:
            whole = parameters[..., :, None] ** 2 * np.eye(q)
        else:
            root = parameters.reshape(*parameters.shape[:-1], q, q)
            whole = root @ root.swapaxes(-1, -2)
        return np.asarray(whole.reshape(*parameters.shape[:-1], q * q))

    def _condensed(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the upper triangles of B, or their diagonals."""
        if self.diagonal:
            weights = parameters**2
            return weights, 0.5 * np.linalg.norm(weights, axis=2).sum(axis=1)
        whole = self.violation_of(parameters)
        rows, columns = self._triangle
        squares = np.einsum("npf,npf->np", whole, whole)
        norm = 0.5 * np.sqrt(squares).sum(axis=1)
        return np.take(whole, rows * self.space.q + columns, axis=2), norm

    def _condensed_features(self, gaps: FloatArray) -> FloatArray:
        rows, columns = self._triangle
        half = np.where(rows == columns, 0.5, 1.0)  # B has what is off its diagonal twice
        return np.asarray(half * gaps[..., rows] * gaps[..., columns])

    def parameters_of_violation(self, violation: FloatArray) -> FloatArray:
        q = self.space.q
        whole = violation.reshape(*violation.shape[:-1], q, q)
        if self.diagonal:
            return np.asarray(np.sqrt(np.maximum(np.einsum("...ii->...i", whole), 0.0)))
        values, vectors = np.linalg.eigh((whole + whole.swapaxes(-1, -2)) / 2)
        root = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
        return np.asarray(root.reshape(violation.shape))

    def nearest_violation(self, violation: FloatArray) -> FloatArray:
        if self.diagonal:
            return super().nearest_violation(violation)
        q = self.space.q
        whole = violation.reshape(*violation.shape[:-1], q, q)
        values, vectors = np.linalg.eigh((whole + whole.swapaxes(-1, -2)) / 2)
        kept = (vectors * np.maximum(values, 0.0)[..., None, :]) @ vectors.swapaxes(-1, -2)
        return np.asarray(kept.reshape(violation.shape))

    def _norm(self, violation: FloatArray) -> FloatArray:
        return np.asarray(0.5 * np.linalg.norm(violation, axis=2).sum(axis=1))

    def _reported(self, violation: FloatArray) -> FloatArray:
        q = self.space.q
        rows, columns = self._triangle
        return np.asarray(violation.reshape(*violation.shape[:-1], q, q)[..., rows, columns])

    def fair_metric(self, cost: FloatArray, violation: FloatArray, tradeoff: float) -> GroupMetric:
        q = self.space.q
        return FairQuadraticMetric(cost, violation.reshape(-1, q, q), tradeoff, name=NAME)

    def points_per_gap(self, violation: FloatArray) -> tuple[FloatArray, str]:
        # ½ dᵀBd with every gap 0.1, in points of 0.01
        return (
            0.5 * 0.1**2 * violation.sum(axis=(1, 2)) / 0.01,
            "a gap of ten points of error rate between groups",
        )


# --- Polynomials of error rates: any weight of any sign.


def emphasised(parameters: FloatArray, sparse: bool) -> FloatArray:
    """Return weights of parameters: with ``sparse`` cubes of normals, of which many are near 0."""
    return np.asarray(parameters * parameters**2 if sparse else parameters)


def flattened(weights: FloatArray, sparse: bool) -> FloatArray:
    """Return the parameters of weights: the inverse of `emphasised`."""
    return np.asarray(np.cbrt(weights) if sparse else weights)


class PolynomialFamily:
    """``Σ_n ⟨A_n, r^⊗n⟩ / n!`` of the error rates r, with weights of norm 1 together."""

    def __init__(self, space: RateSpace, monomials: Monomials, *, sparse: bool = False) -> None:
        self.space = space
        self.monomials = monomials
        self.sparse = sparse

    @property
    def size(self) -> int:
        return self.monomials.size

    @property
    def signed(self) -> BoolArray:
        return np.ones(self.size, dtype=bool)

    @property
    def names(self) -> tuple[str, ...]:
        return self.monomials.names(self.space.names)

    def _weights(self, parameters: FloatArray) -> FloatArray:
        return unit(emphasised(parameters, self.sparse))

    def values(self, parameters: FloatArray, points: FloatArray) -> FloatArray:
        return np.asarray(self._weights(parameters) @ self.monomials.values(points).T)

    def weights(self, parameters: FloatArray) -> FloatArray:
        return self.monomials.entries(self._weights(parameters))

    def mean(self, parameters: FloatArray, shares: FloatArray) -> FloatArray:
        return flattened(unit(shares @ self._weights(parameters)), self.sparse)

    def table(self, parameters: FloatArray) -> WeightTable | None:
        """Return the linear weights and the quadratic ones below them; None for higher orders."""
        if self.monomials.order != 2:
            return None
        linear, bend = self.monomials.tensors(self._weights(parameters))
        names = self.space.names
        return WeightTable(
            rows=("alone", *(f"with {name}" for name in names)),
            columns=names,
            values=np.vstack([linear, bend]),
        )

    def gap_worth(self, parameters: FloatArray) -> tuple[str, FloatArray] | None:
        return None

    def metric(self, parameters: FloatArray) -> MetricBase:
        tensors = self.monomials.tensors(self._weights(parameters))
        if self.monomials.order == 2:
            return QuadraticMetric(tensors[0], tensors[1], name=NAME)
        return PolynomialMetric(tensors, name=NAME)


# --- Polynomials of rates as weights of monomials: values and gradients, linear in the weights.


class Monomials:
    """The monomials of degree 1 to ``order`` in q rates.

    A symmetric tensor of degree n counts an entry ``c = n! / Π multiplicities!`` times, so the
    weight of its monomial is scaled by ``√c / n!``: weights then have the norm of all tensors
    together, ``Σ_n ‖A_n‖²``, and ``⟨A_n, r^⊗n⟩ / n!`` is linear in them.
    """

    def __init__(self, q: int, order: int, *, diagonal: bool = False) -> None:
        self.q, self.order = q, order
        self.exponents: list[tuple[int, ...]] = [
            which
            for n in range(1, order + 1)
            for which in combinations_with_replacement(range(q), n)
            if not diagonal or len(set(which)) == 1
        ]

    @property
    def size(self) -> int:
        """Number of monomials."""
        return len(self.exponents)

    @cached_property
    def tensor_roots(self) -> FloatArray:
        """The square root of how often each monomial's entry stands in its tensor."""
        counts = [
            factorial(len(which)) / prod(factorial(which.count(i)) for i in set(which))
            for which in self.exponents
        ]
        return np.sqrt(counts)

    @cached_property
    def _scales(self) -> FloatArray:
        degrees = [factorial(len(which)) for which in self.exponents]
        return np.asarray(self.tensor_roots / np.array(degrees))

    def values(self, points: FloatArray) -> FloatArray:
        """Return the monomials (p, size) of points (p, q)."""
        columns = [np.prod(points[:, which], axis=1) for which in map(list, self.exponents)]
        return np.asarray(np.stack(columns, axis=1) * self._scales)

    def gradient(self, point: FloatArray) -> FloatArray:
        """Return the matrix (q, size) whose product with the weights is the gradient at a point."""
        matrix = np.zeros((self.q, self.size))
        for column, which in enumerate(self.exponents):
            for i in set(which):
                rest = list(which)
                rest.remove(i)
                matrix[i, column] = which.count(i) * np.prod(point[rest])
        return np.asarray(matrix * self._scales)

    def entries(self, weights: FloatArray) -> FloatArray:
        """Return the entries of the tensors (n, size), each once."""
        return np.asarray(weights / self.tensor_roots)

    def tensors(self, weights: FloatArray) -> list[FloatArray]:
        """Return the symmetric tensors of one vector of weights."""
        found = [np.zeros((self.q,) * n) for n in range(1, self.order + 1)]
        for which, entry in zip(self.exponents, self.entries(weights), strict=True):
            for position in set(_orders(which)):
                found[len(which) - 1][position] = entry
        return found

    def names(self, names: Sequence[str]) -> tuple[str, ...]:
        """Say what each entry weighs."""
        return tuple(" × ".join(names[i] for i in which) for which in self.exponents)


def _orders(which: tuple[int, ...]) -> list[tuple[int, ...]]:
    if len(which) <= 1:
        return [which]
    return [
        (which[i], *rest) for i in range(len(which)) for rest in _orders(which[:i] + which[i + 1 :])
    ]
