"""A metric that is a function of the validation rows."""

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, NamedTuple

import numpy as np

from karat._typing import AnyArray, FloatArray, IntArray
from karat._validate import shown
from karat.exceptions import DataError, ProbeError
from karat.optimize.feedback._differences import no_difference, slopes_of
from karat.optimize.probes import Position, Probes

__all__ = ["BlackBox", "ValidationRows"]


class ValidationRows(NamedTuple):
    """What a function of the validation rows is given besides the shares."""

    labels: AnyArray
    groups: AnyArray | None
    weight: FloatArray | None  # None if all rows count alike
    order: IntArray  # the columns of the shares, in the order of `classes_`

    def take(self, rows: IntArray) -> "ValidationRows":
        """Return some of the rows."""
        groups = None if self.groups is None else self.groups[rows]
        weight = None if self.weight is None else self.weight[rows]
        return ValidationRows(self.labels[rows], groups, weight, self.order)


class BlackBox:
    """A function of labels, shares and groups that gives a number, greater being better."""

    everywhere, needs_rows = False, True

    def __init__(
        self,
        metric: Callable[..., Any],
        rows: ValidationRows,
        epsilon: float,
        names: Callable[[int], str],
    ) -> None:
        self.metric, self.epsilon, self.n_evaluations = metric, epsilon, 0
        self._rows, self._names, self._size = rows, names, 0.0
        self._takes_groups, takes_weight = _takes(metric)
        if rows.weight is not None and not takes_weight:
            raise DataError(
                "the validation rows have sample weights and the metric is a function that would "
                "not see them; give it a parameter sample_weight, or repeat rows instead"
            )
        weight = np.ones(len(rows.labels)) if rows.weight is None else rows.weight
        self._options = {"sample_weight": weight} if takes_weight else {}

    def value(self, at: Position) -> float:
        assert at.shares is not None
        return self._call(at.shares, "the current classifier")

    @property
    def error(self) -> float:
        """A guess at the standard error of the metric: its greatest slope stands for its scale."""
        return self._size / float(np.sqrt(len(self._rows.labels)))

    def improves(self, at: Position, value: float, new: Position) -> bool:
        return bool(self.value(new) - value > self.error)

    def slopes(self, at: Position, value: float, probes: Probes, moves: FloatArray) -> FloatArray:
        assert at.shares is not None
        values = [
            self._call(probes.moved_shares(at.shares, p, self.epsilon), self._names(p))
            for p in range(len(moves))
        ]
        slopes = slopes_of(np.array(values), value, self.epsilon)
        self._size = float(np.abs(slopes).max())
        return slopes

    def flat(self, n_probes: int) -> str:
        return no_difference(n_probes, self.epsilon)

    def _call(self, shares: FloatArray, what: str) -> float:
        self.n_evaluations += 1
        labels, groups, _, order = self._rows
        shares = shares[:, order]
        given = (labels, shares, groups) if self._takes_groups else (labels, shares)
        try:
            found = self.metric(*given, **self._options)
        except Exception as error:
            raise ProbeError(
                f"the metric raised {type(error).__name__} ({error}) at {what}; it is called with "
                f"labels {labels.shape}, shares of the classes {shares.shape} and groups, and must "
                "return a number"
            ) from error
        return _checked_value(found, what)


def _takes(metric: Callable[..., Any]) -> tuple[bool, bool]:
    """Return whether a function takes groups as its third parameter, and whether sample_weight.

    A parameter of another name with a default, such as ``scale=scale``, is not passed.
    """
    try:
        parameters = signature(metric).parameters
    except (TypeError, ValueError):
        return True, False
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    others = [
        p
        for name, p in parameters.items()
        if name != "sample_weight" and (p.default is Parameter.empty or name == "groups")
    ]
    groups = sum(p.kind in positional for p in others) >= 3 or any(
        p.kind is Parameter.VAR_POSITIONAL for p in others
    )
    return groups, "sample_weight" in parameters


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
