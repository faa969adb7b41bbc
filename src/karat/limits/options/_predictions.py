"""Labelled values and the predictions that help them."""

from typing import Any, NamedTuple

import numpy as np

from karat._typing import Column, FloatArray, Frame
from karat._validate import check_same_length, check_score_columns, check_weights, is_matrix
from karat.exceptions import ShapeError
from karat.limits.kernels import Powered
from karat.limits.options._data import bounded_values
from karat.limits.options._request import LimitRequest
from karat.limits.result import Limits, PoweredLimits

__all__ = ["LabelledPredictions", "powered_result", "read_labelled"]


class LabelledPredictions(NamedTuple):
    """Predictions of the labels (n, s), of the other items, and the weights of the labels."""

    x: FloatArray
    others: FloatArray
    weight: FloatArray | None

    @property
    def n_total(self) -> int:
        """Number of all items."""
        return len(self.x) + len(self.others)

    @property
    def shift(self) -> FloatArray:
        """Mean of each prediction over all items minus the mean over the labels."""
        n, w = len(self.x), self.weight
        own = self.x.mean(axis=0) if w is None else w @ self.x / w.sum()
        total = (self.x.sum(axis=0) + self.others.sum(axis=0)) / self.n_total
        return np.asarray(total - own) if n else np.zeros(self.x.shape[1])


def read_labelled(
    labels: dict[str, FloatArray],
    predicted: Column | Frame,
    others: Column | Frame,
    sample_weight: Column | None,
    low: float,
    high: float,
) -> LabelledPredictions:
    """Check predictions, in one column or several, against the labelled values."""
    x = _columns(predicted, "predicted", low, high)
    rest = np.zeros((0, x.shape[1])) if _is_empty(others) else _columns(others, "others", low, high)
    if rest.shape[1] != x.shape[1]:
        raise ShapeError(
            f"predicted has {x.shape[1]} columns and others has {rest.shape[1]}; pass one column "
            "per source, the same ones in both"
        )
    weight = check_weights(sample_weight)
    check_same_length(**labels, predicted=x, sample_weight=weight)
    return LabelledPredictions(x, rest, weight)


def _columns(values: Any, name: str, low: float, high: float) -> FloatArray:
    if is_matrix(values):
        found = check_score_columns(values, name, each="source of predictions")
        columns = [bounded_values(column, name, low, high) for column in found.values()]
    else:
        columns = [bounded_values(values, name, low, high)]
    return (np.stack(columns, axis=1) - low) / (high - low)


def _is_empty(column: Any) -> bool:
    return hasattr(column, "__len__") and len(column) == 0


def powered_result(
    found: Powered,
    request: LimitRequest,
    *,
    of: str,
    n: int,
    n_total: int,
    finite: bool,
    certain: Limits | None = None,
    low: float = 0.0,
    high: float = 1.0,
    method: str | None = None,
) -> PoweredLimits:
    """Wrap what a kernel found, moved back to the range of the values.

    ``method`` is that of the labels' own limits, if it is not the usual one.
    """

    def back(value: float) -> float:
        return low + (high - low) * value

    usual = "clopper-pearson" if found.exact else "wilson"
    labels = request.limits(
        (back(found.labels_lower), back(found.labels_upper)),
        estimate=back(found.labels),
        n=n,
        method=usual if method is None else method,
        guarantee="approximate",
    )
    return PoweredLimits(
        of=of,
        estimate=back(found.estimate),
        lower=back(found.lower),
        upper=back(found.upper),
        confidence=request.confidence,
        used=found.left < 1,
        left=found.left,
        weight=found.weight,
        labels=labels,
        certain=certain,
        n=n,
        n_total=n_total,
        finite=finite,
    )
