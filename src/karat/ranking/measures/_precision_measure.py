"""Average precision as a measure."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from karat._typing import FloatArray
from karat.ranking.measures._average_precision import (
    average_precision_effects,
    average_precision_limits,
    average_precision_of,
)
from karat.ranking.measures._measure import Curve, Measure, Row
from karat.ranking.measures._pivots import limit_above, limit_below
from karat.ranking.orderings import Ordering

__all__ = ["AveragePrecision"]

_POINTS = 400


@dataclass(frozen=True, slots=True)
class AveragePrecision(Measure):
    """The mean over positives of the precision at their score."""

    @property
    def name(self) -> str:
        return "average precision"

    def value(self, ordered: Ordering) -> float:
        return average_precision_of(ordered)

    def limits(self, ordered: Ordering, delta: float) -> tuple[float, float]:
        return average_precision_limits(ordered, delta)

    def chance(self, ordered: Ordering) -> float:
        return ordered.prevalence

    def curve(self, ordered: Ordering, delta: float) -> Curve:
        positives, rows = ordered.taken, ordered.rows
        last = len(positives) - 1
        even = np.linspace(0, last, _POINTS // 2)
        few = np.geomspace(1, last + 1, _POINTS // 2) - 1  # precision moves most at the top
        chosen = np.unique(np.rint(np.concatenate([even, few])).astype(int))
        positives, rows = positives[chosen], rows[chosen]
        z = np.asarray(-ndtri(delta / 2))
        found = (
            positives / ordered.n_positive, positives / rows,
            limit_below(positives, rows, z), limit_above(positives, rows, z),
        )  # fmt: skip
        recall, *others = (np.append(values[:1], values) for values in found)
        recall[0] = 0.0  # up to the first positive's recall, its precision holds
        return Curve(recall, *others)

    def effects(self, rows: Row) -> FloatArray:
        ones, zeros = average_precision_effects(rows.ordered)
        steps = np.searchsorted(rows.ordered.score[::-1], rows.score, side="right")
        at = len(ones) - steps  # of a positive: its own step, counted from the highest
        return np.where(rows.positive, ones[np.minimum(at, len(ones) - 1)], zeros[steps])

    def unit(self, ordered: Ordering) -> tuple[float, float]:
        return 1.0 / ordered.n_positive, ordered.n_positive
