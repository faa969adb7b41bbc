"""When enough is known: the metric would agree with the person, and what it says is precise."""

from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray
from karat.elicit.asking._effort import Effort
from karat.elicit.families import Family
from karat.elicit.spaces import BinarySpace
from karat.elicit.weights import weighted_limits

__all__ = ["Goal", "is_precise", "told_apart"]

_LEAST_ANSWERS = 8
_WORTH_PER_RATIO = 5.0 / 3.0  # the worth of a gap is harder to find than a ratio of costs
_AS_GOOD_AS_NONE, _ALL_THAT_COUNTS = 0.1, 10.0  # worths beyond these need no finer limits


@dataclass(frozen=True, slots=True)
class Goal:
    """What a search is to reach before it stops, and after how many questions it gives up."""

    agreement: float
    precision: float
    most: int
    compared: int = 0  # weights whose ratios are to be precise
    least: int = _LEAST_ANSWERS
    draws: int = Effort().kept  # metrics that limits are read from
    # of two classes: the angles of trade-offs between which some pair of the pool is valued alike
    reach: tuple[float, float] = (0.0, np.pi / 2)

    def check_is_due(self, number: int) -> bool:
        """Whether question ``number``, from 1, is one whose answer is known or was given before.

        The third shows a coin early; after 25 answers the certificate is what is missing.
        """
        return number == 3 or number % 5 == 0 or (number > 25 and number % 2 == 0)


def is_precise(family: Family, parameters: FloatArray, goal: Goal) -> bool:
    """Whether the upper limits of ratios of weights are at most ``precision`` times the lower ones.

    ``parameters`` (n, size) are metrics of equal share, those that the result would be read from.
    For metrics of groups the worth of a gap takes the place of the ratios.
    """
    shares = np.full(len(parameters), 1.0 / len(parameters))
    worth = family.gap_worth(parameters)
    if worth is not None:
        low, high = weighted_limits(worth[1], shares)
        if high <= _AS_GOOD_AS_NONE or low >= _ALL_THAT_COUNTS:
            return True
        return high <= goal.precision * _WORTH_PER_RATIO * low
    if not goal.compared:
        return True
    weights = np.abs(family.weights(parameters))[:, : goal.compared]
    if isinstance(family.space, BinarySpace):
        return _binary_is_precise(weights, shares, goal)
    top = int(np.argmax(shares @ weights))
    for i in range(goal.compared):
        low, high = weighted_limits(weights[:, i] / (weights[:, top] + 1e-300), shares)
        # a weight that is far below the greatest is small, however much smaller it is
        if high > goal.precision * low and high > 1.0 / goal.precision:
            return False
    return True


def _binary_is_precise(weights: FloatArray, shares: FloatArray, goal: Goal) -> bool:
    """Whether a cost ratio is known; never where its limits are beyond what questions tell."""
    low, high = goal.reach
    least, greatest = weighted_limits(np.arctan2(weights[:, 1], weights[:, 0]), shares)
    inside = least >= low and greatest <= high
    return bool(inside and np.tan(greatest) <= goal.precision * np.tan(least))


def told_apart(points: FloatArray) -> tuple[float, float]:
    """Return the angles between which pairs of classifiers tell trade-offs of two classes apart.

    ``points`` (n, 2) are true positives and true negatives. ``cos θ·TP + sin θ·TN`` values two of
    them alike at ``tan θ = ΔTP/−ΔTN``; beyond the least and the greatest such angle everyone
    answers alike.
    """
    order = np.lexsort((-points[:, 1], points[:, 0]))
    gain, loss = np.diff(points[order], axis=0).T
    some = (gain > 1e-9) & (loss < -1e-9)
    if not some.any():
        return 0.0, np.pi / 2
    angles = np.arctan2(gain[some], -loss[some])
    return float(angles.min()), float(angles.max())
