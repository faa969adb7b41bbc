"""The chart of every family."""

import numpy as np
from scipy.special import ndtr, ndtri

from karat._typing import FloatArray
from karat.elicit.families import (
    FairFamily,
    Family,
    LinearFamily,
    PolynomialFamily,
    PowerMeanFamily,
    RatioFamily,
    emphasised,
    unit,
)
from karat.elicit.people._chart import Chart, Part, simplex
from karat.elicit.people._fair_chart import FairChart

__all__ = ["chart_of"]


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
