"""A metric that is a function of the validation rows."""

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

import numpy as np

from karat._typing import AnyArray, FloatArray, IntArray
from karat._validate._columns import shown
from karat.exceptions import ProbeError
from karat.optimize._probes import Position, Probes

__all__ = ["BlackBox", "require_slopes"]

_ERROR_OF_A_RATE = 0.5


class BlackBox:
    """A function of labels, shares and groups that gives a number, greater being better."""

    everywhere, needs_rows = False, True

    def __init__(
        self,
        metric: Callable[..., Any],
        labels: AnyArray,
        groups: AnyArray | None,
        epsilon: float,
        names: Callable[[int], str],
        order: IntArray | None = None,
    ) -> None:
        self.metric, self.epsilon, self.n_evaluations = metric, epsilon, 0
        self._given = (labels, groups)
        self._names, self._order = names, order
        self._takes_groups = _takes_groups(metric)

    def value(self, at: Position) -> float:
        assert at.shares is not None
        return self._call(at.shares, "the current classifier")

    def improves(self, at: Position, value: float, new: Position) -> bool:
        # The metric's own error is unknown; this is that of a rate, at most.
        return bool(self.value(new) - value > _ERROR_OF_A_RATE / len(self._given[0]) ** 0.5)

    def slopes(self, at: Position, value: float, probes: Probes, moves: FloatArray) -> FloatArray:
        assert at.shares is not None
        values = [
            self._call(probes.moved_shares(at.shares, p, self.epsilon), self._names(p))
            for p in range(len(moves))
        ]
        return require_slopes((np.array(values) - value) / self.epsilon, self.epsilon)

    def _call(self, shares: FloatArray, what: str) -> float:
        self.n_evaluations += 1
        labels, groups = self._given
        shares = shares if self._order is None else shares[:, self._order]
        try:
            found = (
                self.metric(labels, shares, groups)
                if self._takes_groups
                else self.metric(labels, shares)
            )
        except Exception as error:
            raise ProbeError(
                f"the metric raised {type(error).__name__} ({error}) at {what}; it is called with "
                f"labels {labels.shape}, shares of the classes {shares.shape} and groups, and must "
                "return a number"
            ) from error
        return _checked_value(found, what)


def _takes_groups(metric: Callable[..., Any]) -> bool:
    """Whether a function has a third positional parameter."""
    try:
        parameters = signature(metric).parameters.values()
    except (TypeError, ValueError):
        return True
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in positional for p in parameters) >= 3 or any(
        p.kind is Parameter.VAR_POSITIONAL for p in parameters
    )


def _checked_value(value: Any, what: str) -> float:
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "biuf":
        raise ProbeError(
            f"the metric returned {shown(value)} at {what}; expected one number. If it gives a "
            "value for each class or group, return their mean or another single number"
        )
    number = float(array)
    if not np.isfinite(number):
        raise ProbeError(
            f"the metric returned {number} at {what}; expected a finite number. Return a "
            "convention, such as 0, where a ratio has no denominator"
        )
    return number


def require_slopes(slopes: FloatArray, epsilon: float) -> FloatArray:
    """Refuse slopes that say nothing."""
    if not slopes.any():
        raise ProbeError(
            f"the metric has the same value at all {len(slopes)} probes, {epsilon:g} away from the "
            "current classifier, so there is nothing to follow; pass a larger epsilon if the "
            "metric is rounded, or check that it looks at the shares"
        )
    return slopes
