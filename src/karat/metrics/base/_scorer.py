"""A metric as a scikit-learn scorer."""

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._typing import AnyArray, Column
from karat._validate import encode_labels, refuse_lazy

if TYPE_CHECKING:
    from karat.metrics.base._metric import Metric

__all__ = ["MetricScorer"]


class MetricScorer:
    """Scores an estimator's predictions with a metric; made by ``metric.as_scorer()``.

    The classes are those the estimator was fitted with, so a fold that lacks some of them is
    scored like any other.
    """

    def __init__(self, metric: "Metric", classes: Column | None, pos_label: Any) -> None:
        self.metric = metric
        self.classes = classes
        self.pos_label = pos_label
        self._weight_request: bool | str | None = None

    def __call__(
        self, estimator: Any, X: Any, y_true: Column, sample_weight: Column | None = None
    ) -> float:
        """Return the metric of ``estimator.predict(X)``; greater is better."""
        refuse_lazy(X=X)  # an estimator may be able to read it, in an order of its own
        predicted = estimator.predict(X)
        value = self.metric.score(
            y_true,
            predicted,
            sample_weight=sample_weight,
            classes=self._order(estimator, y_true, predicted),
            pos_label=self.pos_label,
        )
        return float(value)

    def _order(self, estimator: Any, y_true: Column, predicted: Column) -> AnyArray | Column | None:
        known = getattr(estimator, "classes_", None)
        if self.classes is not None or known is None or len(known) < 2:
            return self.classes
        _, found = encode_labels({"y_true": y_true, "y_pred": predicted})
        extra = [c for c in found.tolist() if c not in set(np.asarray(known).tolist())]
        return np.unique([*np.asarray(known).tolist(), *extra]) if extra else np.asarray(known)

    def __repr__(self) -> str:
        return f"<scorer of {self.metric.title}>"

    def set_score_request(self, *, sample_weight: bool | str | None) -> "MetricScorer":
        """Say whether sample weights are routed to this scorer (scikit-learn's routing)."""
        other = copy(self)
        other._weight_request = sample_weight
        return other

    def get_metadata_routing(self) -> Any:
        """Return what scikit-learn should route to this scorer."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self._weight_request)
        return request
