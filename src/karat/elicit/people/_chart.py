"""Coordinates in which people are normal around what they share."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.elicit.families import Family

__all__ = ["LOG_WEIGHTS", "Chart", "Part", "log_ratios", "simplex"]

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
