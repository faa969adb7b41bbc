"""Smoothing a boundary of a sample: Figure 8.1 of Hiranandani 2021, beside karat's own fit."""

from typing import NamedTuple

import numpy as np
from _elicit_common import Array
from _elicit_data import Half, binary_set, model_half
from _show import Promise, number, say, show_table
from scipy.optimize import least_squares
from scipy.special import expit

from karat.elicit import BinarySpace

__all__ = ["Fitted", "fit_boundary", "law_confusions", "run_smoothing", "threshold_confusions"]

_NAMES = {"original": "original (683 rows)", "diagnostic": "diagnostic (569 rows)"}
_STARTS = ((2.0, 0.0), (8.0, 0.0), (30.0, 0.0), (30.0, 5.0), (100.0, 20.0))
_TURNS = np.linspace(0.0, np.pi / 2, 501)
_WAYS = np.column_stack([np.cos(_TURNS), np.sin(_TURNS)])
_THIN = 50  # of the thresholds, those at which a fit of labels is looked up
_CUTS = np.linspace(0.0, 1.0, 10_001)  # the thresholds of section 8.1.1


class Fitted(NamedTuple):
    """A half of the data, and the law η(x) = 1/(1 + e^(ax+b)) that fits its boundary best."""

    half: Half
    slope: float
    shift: float

    @property
    def least_squares(self) -> BinarySpace:
        """The boundary of that law, as in Figure 8.1."""
        return BinarySpace.from_density(lambda x: expit(-(self.slope * x + self.shift)))

    @property
    def logistic(self) -> BinarySpace:
        """The boundary of karat's `BinarySpace.smoothed`."""
        return self.half.space.smoothed()


def fit_boundary(half: Half) -> Fitted:
    """Fit a law of one uniform feature to the confusions of all thresholds, by least squares."""
    counted = threshold_confusions(half)

    def off(parameters: Array, step: int) -> Array:
        law = law_confusions(np.exp(parameters[0]), parameters[1], _CUTS[::step])
        return np.asarray((law - counted[::step]).ravel())

    tries = [least_squares(off, (np.log(a), b), args=(100,)) for a, b in _STARTS]
    best = min(tries, key=lambda tried: float(tried.cost))
    found = least_squares(off, best.x, args=(1,)).x
    return Fitted(half, float(np.exp(found[0])), float(found[1]))


def threshold_confusions(half: Half) -> Array:
    """Return true positives and true negatives (10001, 2) of the thresholds 0, 0.0001, ..., 1."""
    score, positive = half.proba[:, 1], half.y == 1
    taken = [np.sort(score[positive]), np.sort(score[~positive])]
    below = [np.searchsorted(part, _CUTS, side="left") for part in taken]
    return np.column_stack([len(taken[0]) - below[0], below[1]]) / len(score)


def law_confusions(slope: float, shift: float, cuts: Array = _CUTS) -> Array:
    """Return true positives and true negatives of thresholds under the law, in closed form."""
    with np.errstate(divide="ignore"):
        at = np.clip((np.log1p(-cuts) - np.log(cuts) - shift) / slope, -1.0, 1.0)

    def negative(x: Array | float) -> Array:  # an antiderivative of 1 − η
        return np.asarray(np.logaddexp(0.0, slope * np.asarray(x) + shift) / slope)

    positives = (at + 1.0) - (negative(at) - negative(-1.0))
    return np.asarray(np.column_stack([positives, negative(1.0) - negative(at)]) / 2)


def run_smoothing(*, quick: bool) -> list[Promise]:
    """Print how far both fits are from the counted boundary and from each other."""
    say(
        "Smoothing the boundary of breast cancer. The thesis fits a and b of a law of one uniform "
        "feature to the confusions of 10,001 thresholds by least squares; the prior is then the "
        "law's and not the data's. karat refits the labels to the log-odds of the score and keeps "
        "the scores as they are spread, so that the ends stay at (ζ, 0) and (0, 1 − ζ). Distances "
        "are those of convex sets, the greatest difference of their support functions; 'beyond' is "
        "how far a fit reaches beyond what is counted, though the thesis takes it to lie inside.\n"
    )
    rows, between, nearer = [], [], []
    seeds = 2 if quick else 20
    for name, title in list(_NAMES.items())[1 if quick else 0 :]:
        halves = [model_half(binary_set(name), 1.0, seed) for seed in range(seeds)]
        table = np.array([_distances(fit_boundary(half)) for half in halves])
        between.append(float(table[:, 2].max()))
        means = table.mean(axis=0)
        nearer.append(float(means[0] - means[1]))
        shown = [number(float(value), 4) for value in (*means[:3], between[-1], *means[3:])]
        rows.append([title, str(seeds), *shown])
    columns = [
        "breast cancer", "halves", "squares", "logistic", "between", "greatest", "squares beyond",
        "logistic beyond", "squares r.m.s.", "logistic r.m.s.", "ζ off",
    ]  # fmt: skip
    title = "Figure 8.1: distances of smoothed boundaries from the counted one, means over halves"
    show_table(title, columns, rows)
    return [
        Promise("Figure 8.1, greatest distance between both fits", max(between), 0.03, True),
        Promise("Figure 8.1, by how much the logistic fit is nearer", min(nearer), 0.0),
    ]


def _distances(fitted: Fitted) -> list[float]:
    """Return the distances of a half, as the columns of the table have them."""
    logistic, sample = fitted.logistic, fitted.half.space
    counted, smooth = _support(sample), _support(logistic)
    cuts = _WAYS[:, 1] / _WAYS.sum(axis=1)  # the best threshold of each direction
    square = (law_confusions(fitted.slope, fitted.shift, cuts) * _WAYS).sum(axis=1)
    target = threshold_confusions(fitted.half)
    some = np.stack([_at(logistic, cut) for cut in _CUTS[::_THIN]])
    law = law_confusions(fitted.slope, fitted.shift)
    return [
        float(np.abs(square - counted).max()),
        float(np.abs(smooth - counted).max()),
        float(np.abs(square - smooth).max()),
        float((square - counted).max()),
        float((smooth - counted).max()),
        _root_mean_square(law - target),
        _root_mean_square(some - target[::_THIN]),
        abs(float(law[0, 0] - sample.prior[1])),
    ]


def _support(space: BinarySpace) -> Array:
    """Return how far a space reaches in each direction between 0 and 90 degrees."""
    return np.asarray((space.extreme_points(_WAYS) * _WAYS).sum(axis=1))


def _at(space: BinarySpace, cut: float) -> Array:
    """Return true positives and true negatives of a threshold on the probability."""
    return space.coordinates(space.at_angle(float(np.arctan2(cut, 1.0 - cut))))


def _root_mean_square(apart: Array) -> float:
    return float(np.sqrt((apart**2).sum(axis=1).mean()))
