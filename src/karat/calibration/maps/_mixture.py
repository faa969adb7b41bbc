"""A convex mixture of maps, weighted by what each is worth on rows that it did not see."""

import numpy as np

from karat._typing import FloatArray
from karat.calibration.maps._parts import PARTS, Map, Rows, fit_parts
from karat.calibration.models import WeightedFit, folds_of

__all__ = ["MixtureMap", "fit_mixture", "mixture_weights"]

_FOLDS = 5
_STEPS = 500
_TOLERANCE = 1e-7


class MixtureMap:
    """``Σ_m weight_m · map_m(h)``: between 0 and 1, and rows sum to 1 where those of the maps do.

    Attributes
    ----------
    weights : array
        Of the maps, in the order of `PARTS`; they sum to 1.
    """

    def __init__(self, maps: list[Map], weights: FloatArray) -> None:
        self.maps, self.weights = maps, weights

    def __call__(self, h: FloatArray) -> FloatArray:
        return np.asarray(sum(w * m(h) for w, m in zip(self.weights, self.maps, strict=True)))


def fit_mixture(rows: Rows, copula: WeightedFit, rng: np.random.Generator) -> MixtureMap:
    """Fit the maps to all rows, with weights from maps of four fifths on the fifth they lack."""
    fold = folds_of(len(rows.y), _FOLDS, rng)
    likely = np.empty((len(PARTS), *rows.y.shape))
    for k in range(_FOLDS):
        here = fold == k
        for m, part in enumerate(fit_parts(rows.taken(~here), copula)):
            likely[m, here] = part(rows.h[here])
    if rows.exclusive:
        right = (likely * rows.y).sum(axis=2)
        weights = mixture_weights(right, rows.weight)
    else:
        right = np.where(rows.y == 1, likely, 1 - likely).reshape(len(PARTS), -1)
        weights = mixture_weights(right, np.repeat(rows.weight, rows.y.shape[1]))
    return MixtureMap(fit_parts(rows, copula), weights)


def mixture_weights(right: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the weights of a mixture with the greatest likelihood, by EM.

    ``right[m, i]`` is the probability that map m gave to what happened. Each map counts one
    observation more than it earned, so that none is given up for good on few rows.
    """
    total = weight.sum() + len(right)
    found = np.full(len(right), 1 / len(right))
    for _ in range(_STEPS):
        mixed = np.maximum(found @ right, 1e-300)
        then = (1 + found * (right @ (weight / mixed))) / total
        moved = float(np.abs(then - found).max())
        found = then / then.sum()
        if moved < _TOLERANCE:
            break
    return found
