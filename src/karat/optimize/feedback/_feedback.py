"""The protocol of feedback, and the feedback of a metric of confusions."""

import warnings
from typing import Protocol

import numpy as np

from karat._typing import FloatArray
from karat.exceptions import MetricError, UndefinedMetricWarning
from karat.metrics import MetricBase
from karat.optimize.feedback._differences import no_difference, slopes_of
from karat.optimize.feedback._metric_on_rows import gradients_at, values_at
from karat.optimize.probes import Position, Probes

__all__ = ["Feedback", "KnownMetric", "ProbedMetric"]

# Where the gradient is infinite (a class that is never predicted rightly), it is taken at a mixture
# with this share of a classifier that predicts every class.
_INSIDE = 0.01
# Corners of absolute differences between groups are rounded to this width: a slope is needed there.
_ROUNDED = 0.01
# Relative to the gradient; a smaller slope is rounding.
_ROUNDING = 1e-12


class Feedback(Protocol):
    """What a search asks of a metric."""

    everywhere: bool  # whether the slopes at one classifier hold at every other
    needs_rows: bool  # whether positions need the shares of the validation rows
    n_evaluations: int

    def value(self, at: Position) -> float:
        """Return the metric at a classifier, NaN if only preferences are known."""

    def improves(self, at: Position, value: float, new: Position) -> bool:
        """Whether the classifier ``new`` is better than one of a known value, beyond chance."""

    def slopes(self, at: Position, value: float, probes: Probes, moves: FloatArray) -> FloatArray:
        """Return the slope along each probe at a classifier of a known value.

        ``moves`` are those of the validation confusion. All are 0 where there is nothing to follow.
        """

    def flat(self, n_probes: int) -> str:
        """Return the error message where the slopes of all ``n_probes`` probes are 0."""


class ProbedMetric:
    """A metric whose form is not used: only its values at the probes."""

    everywhere, needs_rows = False, False

    def __init__(
        self, metric: MetricBase, epsilon: float, n_rows: float, inside: FloatArray
    ) -> None:
        self.metric, self.epsilon, self.n_evaluations = metric, epsilon, 0
        self._n_rows = n_rows
        self._inside = inside  # a confusion in which every class is predicted rightly somewhere

    def value(self, at: Position) -> float:
        self.n_evaluations += 1
        return float(self.values(at.confusion[None])[0])

    def improves(self, at: Position, value: float, new: Position) -> bool:
        # Beyond chance: by more than the standard error of the new value (delta method).
        slope = self.gradient(new.confusion)
        spread = np.sum(new.confusion * slope**2) - np.sum(new.confusion * slope) ** 2
        error = (max(float(spread), 0.0) / self._n_rows) ** 0.5
        return bool(self.value(new) - value > max(error, 1e-12))

    def slopes(self, at: Position, value: float, probes: Probes, moves: FloatArray) -> FloatArray:
        values = self.values(at.confusion + self.epsilon * moves)
        self.n_evaluations += len(moves)
        return slopes_of(values, value, self.epsilon)

    def flat(self, n_probes: int) -> str:
        return no_difference(n_probes, self.epsilon)

    def gradient(self, confusion: FloatArray) -> FloatArray:
        """Return the gradient; where it is infinite, that of a point a little inside."""
        for share in (0.0, _INSIDE, 0.5, 1.0):
            point = (1.0 - share) * confusion + share * self._inside
            slope = gradients_at(self.metric, point[None], _ROUNDED)[0]
            if np.isfinite(slope).all():
                return np.asarray(slope)
        return self.metric.gradient(confusion)  # raises an error that says why there is none

    def values(self, stack: FloatArray) -> FloatArray:
        """Return values of confusions; conventions at the edge need no warning in a search."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            values = values_at(self.metric, stack)
        if values.shape != (len(stack),) or not np.isfinite(values).all():
            raise MetricError(f"{self.metric.title} has no value on the validation rows")
        return values


class KnownMetric(ProbedMetric):
    """A metric with a gradient: linear near each classifier, whichever probes are used."""

    everywhere = True

    def slopes(self, at: Position, value: float, probes: Probes, moves: FloatArray) -> FloatArray:
        gradient = self.gradient(at.confusion)
        slopes = np.einsum("pij,ij->p", moves, gradient)
        return np.where(np.abs(slopes) > _ROUNDING * np.abs(gradient).max(), slopes, 0.0)

    def flat(self, n_probes: int) -> str:
        return (
            f"{self.metric.title} is the same for all classifiers near the model's own, so there "
            "is no slope to follow; pass a metric that depends on the predictions"
        )
