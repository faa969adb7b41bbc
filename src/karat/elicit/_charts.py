"""Charts of the weights of each family: free coordinates in which people are compared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import erfinv, ndtr, ndtri

from karat._typing import FloatArray, IntArray
from karat.elicit.families import (
    FairFamily,
    Family,
    LinearFamily,
    PolynomialFamily,
    PowerMeanFamily,
    RatioFamily,
    SquaredGaps,
    emphasised,
    flattened,
    unit,
)


def chart_of(family: Family) -> Chart:
    """Return the chart of a family."""
    if isinstance(family, LinearFamily):
        return _Weights(family, (Part("", family.size - 1),))
    if isinstance(family, RatioFamily):
        half = family.size // 2 - 1
        above, below = ("above", "below") if family.space.sign > 0 else ("error", "avoided")
        return _Ratios(family, (Part(above, half), Part(below, half)))
    if isinstance(family, PowerMeanFamily):
        power = Part(
            "power of the mean", 1, "distance", 1.0, seen=lambda z: family.powers(_half_normal(z))
        )
        return _PowerMeans(family, (Part("weights", family.size - 2), power))
    if isinstance(family, PolynomialFamily):
        return _Directions(family, (Part("weights", family.size, "angle", 1.0),))
    assert isinstance(family, FairFamily)  # there is no other
    return FairChart(family)


class Chart(ABC):
    """Coordinates z without limits of the metrics of a family, in parts."""

    def __init__(self, family: Family, parts: tuple[Part, ...]) -> None:
        self.family = family
        self.parts = tuple(part for part in parts if part.size)

    @abstractmethod
    def parameters(self, z: FloatArray) -> FloatArray:
        """Return parameters (n, size) of the family for coordinates (n, dim)."""

    def features(self, points: FloatArray) -> FloatArray | None:
        """Return what metrics of the family weigh at points (p, q): (p, f); None if it bends."""
        return None

    def feature_weights(self, parameters: FloatArray) -> FloatArray:
        """Return the weights (n, f) of the features, whose product is the utility."""
        raise NotImplementedError  # never called where there are no features

    def fractions(self, points: FloatArray) -> tuple[FloatArray, FloatArray | None] | None:
        """Return what weights weigh above and below a fraction at points (p, q): each (p, f).

        Nothing below where metrics are linear; None where they are neither.
        """
        features = self.features(points)
        return None if features is None else (features, None)

    # Numbers of log-ratios of the blocks of weights that compiled loops read from z; () where
    # weights are the direction of z, None where loops cannot read them.
    blocks: tuple[int, ...] | None = None
    sparse = False  # whether weights are cubes of coordinates

    @property
    def dim(self) -> int:
        return sum(part.size for part in self.parts)

    @cached_property
    def of(self) -> IntArray:
        """The part (dim,) that each coordinate belongs to."""
        return np.repeat(np.arange(len(self.parts)), [part.size for part in self.parts])

    @cached_property
    def center_scale(self) -> FloatArray:
        """Prior standard deviation of each shared coordinate (dim,)."""
        return np.array([part.center for part in self.parts])[self.of]

    @cached_property
    def spread_scale(self) -> FloatArray:
        """Scale of the half-normal prior of each part's τ."""
        return np.array([part.spread for part in self.parts])

    def spreads(self, center: FloatArray, spread: FloatArray) -> FloatArray:
        """Return the reported spreads (n, parts) of draws of μ (n, dim) and τ (n, parts)."""
        return np.stack(
            [
                part.reported(center[:, self.of == i], spread[:, i])
                for i, part in enumerate(self.parts)
            ],
            axis=1,
        )


class _Weights(Chart):
    """Weights of any scale, by their log-ratios."""

    family: LinearFamily

    @property
    def blocks(self) -> tuple[int, ...]:  # type: ignore[override]
        return (self.dim,)

    def parameters(self, z: FloatArray) -> FloatArray:
        return simplex(z)

    def features(self, points: FloatArray) -> FloatArray:
        return self.family.space.sign * points

    def feature_weights(self, parameters: FloatArray) -> FloatArray:
        return unit(parameters)


class _Ratios(Chart):
    """The weights above and below, each by their log-ratios."""

    family: RatioFamily

    @property
    def blocks(self) -> tuple[int, ...]:  # type: ignore[override]
        return (self.dim // 2, self.dim // 2)

    def parameters(self, z: FloatArray) -> FloatArray:
        half = z.shape[1] // 2
        return np.hstack([simplex(z[:, :half]), simplex(z[:, half:])])

    def fractions(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        space = self.family.space
        above = np.hstack([space.sign * points, np.zeros_like(points)])
        return above, np.hstack([points, space.top - points])


class _PowerMeans(Chart):
    """The weights of classes by their log-ratios, and a normal number that the power is read from.

    A standard normal number becomes the half-normal one that the family reads its power from.
    """

    def parameters(self, z: FloatArray) -> FloatArray:
        return np.hstack([simplex(z[:, :-1]), _half_normal(z[:, -1:])])


class _Directions(Chart):
    """Weights of any sign, of which only the direction counts: normal, as a priori."""

    family: PolynomialFamily
    blocks = ()

    @property
    def sparse(self) -> bool:  # type: ignore[override]
        return self.family.sparse

    def parameters(self, z: FloatArray) -> FloatArray:
        return z

    def features(self, points: FloatArray) -> FloatArray:
        return self.family.monomials.values(points)

    def feature_weights(self, parameters: FloatArray) -> FloatArray:
        return unit(emphasised(parameters, self.family.sparse))


def _half_normal(z: FloatArray) -> FloatArray:
    """Return the half-normal number with the same probability above as the normal number z."""
    return np.asarray(-ndtri(np.maximum(ndtr(-z), 1e-300) / 2.0))


# --- The chart of metrics that trade errors against gaps between groups.

_LOG_WORTH = 2.0  # prior standard deviation of the shared log-worth of gaps
_ALMOST_ALL = 1.0 - 1e-12  # λ = 1 has no finite parameter
_SPARSE = 3.0  # cubes of normals spread over three times as many orders of magnitude


class FairChart(Chart):
    """Log-ratios of costs, log-ratios of what gaps cost, and the log of what gaps are worth.

    A violation that is quadratic has ``B = D^½ R D^½``: log-ratios of D, and numbers from which
    the correlations R are read.
    """

    family: FairFamily

    def __init__(self, family: FairFamily) -> None:
        q = family.space.q
        # All gaps of all pairs together have one scale, which the worth fixes.
        gaps = 0 if family.violation is not None else family.n_pairs * q - 1
        joint = family.n_pairs * q * (q - 1) // 2 if gaps and _has_correlations(family) else 0
        scale = _SPARSE if family.sparse else 1.0
        center = scale * LOG_WEIGHTS
        parts = (
            Part(
                "cost of errors", 0 if family.cost is not None else q - 1, "factor", center, scale
            ),
            Part("one gap against another", gaps, "factor", center, scale),
            Part("gaps that come together", joint, "distance", 1.0, seen=_correlation),
            Part("worth of gaps", 1, "factor", _LOG_WORTH),
        )
        super().__init__(family, parts)
        self._ends = np.cumsum([part.size for part in parts])

    def parameters(self, z: FloatArray) -> FloatArray:
        n, family = len(z), self.family
        cost, gaps, joint, worth = np.split(z, self._ends[:-1], axis=1)
        columns = []
        if cost.shape[1]:
            columns.append(flattened(simplex(cost), family.sparse))
        if gaps.shape[1]:
            found = self._violation(simplex(gaps), joint).reshape(n, -1)
            columns.append(flattened(found, family.sparse))
        parameters = np.hstack([*columns, np.ones((n, 1))])
        weights, violation, _ = family.read(parameters)
        odds = np.exp(np.clip(worth[:, 0], -300.0, 300.0)) * weights.sum(axis=1)
        odds /= self._gap(violation)
        share = np.minimum(odds / (1.0 + odds), _ALMOST_ALL)
        parameters[:, -1] = np.sqrt(2.0) * erfinv(share)
        return parameters

    def features(self, points: FloatArray) -> FloatArray:
        overall, gaps = self.family.space.parts_of(points)
        return np.hstack([overall, self.family.features(gaps).reshape(len(points), -1)])

    def feature_weights(self, parameters: FloatArray) -> FloatArray:
        cost, violation, share = self.family.read(parameters)
        gaps = share[:, None] * violation.reshape(len(share), -1)
        return -np.hstack([(1.0 - share)[:, None] * cost, gaps])

    def _violation(self, weights: FloatArray, joint: FloatArray) -> FloatArray:
        """Return parameters of the violation whose weights (n, pairs · q) have sum 1."""
        family = self.family
        if not isinstance(family, SquaredGaps):
            return weights
        roots = np.sqrt(weights)
        if family.diagonal:
            return roots
        n, q = len(weights), family.space.q
        rows = np.tile(np.eye(q), (n, family.n_pairs, 1, 1))
        below = np.tril_indices(q, -1)
        rows[..., below[0], below[1]] = joint.reshape(n, family.n_pairs, -1)
        rows /= np.linalg.norm(rows, axis=3, keepdims=True)  # now R = rows rowsᵀ
        return np.asarray(roots.reshape(n, family.n_pairs, q, 1) * rows)

    def _gap(self, violation: FloatArray) -> FloatArray:
        """Return what a gap in one rate after the other costs, for violations (n, pairs, f).

        With B that is not diagonal, gaps in all rates at once may cost nothing.
        """
        q = self.family.space.q
        if isinstance(self.family, SquaredGaps):
            alone = np.zeros_like(violation)
            alone[..., :: q + 1] = violation[..., :: q + 1]
            violation = alone
        return self.family.points_per_gap(violation)[0]


def _has_correlations(family: FairFamily) -> bool:
    return isinstance(family, SquaredGaps) and not family.diagonal


def _correlation(z: FloatArray) -> FloatArray:
    return np.asarray(z / np.sqrt(1.0 + z**2))


# --- Coordinates in which people are normal around what they share.

# Standard deviation of shared log-ratios: with the spread between people, each person's are about
# as wide as those of weights whose direction is uniform, which is the prior of one person alone.
LOG_WEIGHTS = 1.0


@dataclass(frozen=True, slots=True)
class Part:
    """Coordinates in which people differ by the same standard deviation τ.

    ``kind`` says how τ is reported: as the ``factor`` exp(τ) of weights, as the ``angle`` between
    directions in degrees, or as a ``distance`` of what ``seen`` reads from a coordinate.
    """

    name: str
    size: int
    kind: str = "factor"
    center: float = LOG_WEIGHTS  # prior standard deviation of what is shared
    spread: float = 1.0  # scale of the half-normal prior of τ
    seen: Callable[[FloatArray], FloatArray] | None = None

    @property
    def words(self) -> str:
        """What the reported spread is."""
        what = {"factor": "factor", "angle": "angle in degrees", "distance": "distance"}[self.kind]
        return f"{self.name}: {what} between people" if self.name else f"{what} between people"

    def reported(self, center: FloatArray, spread: FloatArray) -> FloatArray:
        """Return how far people typically are from what is shared, for draws (n, size) and (n,)."""
        if self.kind == "factor":
            return np.exp(spread)
        if self.kind == "angle":
            across = spread * np.sqrt(self.size - 1)
            return np.asarray(np.degrees(np.arctan2(across, np.linalg.norm(center, axis=1))))
        assert self.seen is not None
        above, below = (self.seen(center + side * spread[:, None]) for side in (1.0, -1.0))
        return np.asarray(np.abs(above - below).mean(axis=1) / 2)


def simplex(z: FloatArray) -> FloatArray:
    """Return positive weights (n, k + 1) of sum 1 with the orthonormal log-ratios z (n, k).

    Weights ``exp(y)`` with independent normal y of variance τ² have such log-ratios, independent
    and of variance τ² too; the common scale of the weights, which changes no preference, is gone.
    """
    y = z @ log_ratios(z.shape[1] + 1)
    weights = np.exp(y - y.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def log_ratios(k: int) -> FloatArray:
    """Return the orthonormal basis (k - 1, k) of the log-ratios of k weights."""
    rows = np.arange(1, k)[:, None]
    basis = np.where(np.arange(k) < rows, 1.0, np.where(np.arange(k) == rows, -rows, 0.0))
    return np.asarray(basis / np.linalg.norm(basis, axis=1, keepdims=True))
