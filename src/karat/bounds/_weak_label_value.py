"""What each weak labeler adds to the bounds."""

from dataclasses import replace
from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column, Frame
from karat._validate import check_rng
from karat.bounds.checks import DeferredCheck
from karat.bounds.collection_result import WeakLabelValue
from karat.bounds.inputs import (
    Inputs,
    build_problem,
    check_limit,
    check_method,
    check_metric,
    check_robustness,
    read_inputs,
    read_predictions,
)
from karat.bounds.result import PerformanceBounds
from karat.bounds.solvers import solved_performance
from karat.exceptions import DataError
from karat.metrics import Metric
from karat.statistics import Patterns
from karat.statistics.kernels import distinct_votes

__all__ = ["weak_label_value"]


@keeps_kind
def weak_label_value(
    y_pred: Column | Frame,
    weak_labels: Frame | Patterns,
    label_model: Any = None,
    *,
    metric: str | Metric,
    method: str = "crossfit",
    confidence: float = 0.95,
    limit: str = "skew",
    classes: Column | None = None,
    pos_label: Any = None,
    robustness: float = 0.0,
    null: str | None = None,
    rng: int | np.random.Generator | None = None,
) -> WeakLabelValue:
    """Bound the metric with all labelers and without each of them.

    Section 4.2 of Maia Polo et al. (2023). Without labeler j, ``P(Y | z₋ⱼ) = E[P(Y | Z) | z₋ⱼ]``:
    the label model is averaged, not fitted again, so it is the same law of (Y, Z), seen through
    fewer votes.

    Parameters
    ----------
    y_pred, weak_labels, label_model, metric, method, confidence, limit, classes, pos_label
        As in `performance_bounds`.
    robustness, null, rng
        As in `performance_bounds`.

    Returns
    -------
    WeakLabelValue
        The labelers, the one that tightens the bounds most first.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.weak import OracleLabelModel
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 4000)
    >>> right = rng.random((4000, 3)) < [0.95, 0.7, 0.5]
    >>> votes = np.where(right, truth[:, None], 1 - truth[:, None])
    >>> model = OracleLabelModel().fit(votes, truth)
    >>> weak_label_value(truth, votes, model, metric="accuracy", rng=0).names[0]
    '0'
    """
    chosen = check_metric(metric)
    inputs = read_inputs(
        {"y_pred": y_pred}, weak_labels, label_model, classes=classes, pos_label=pos_label,
        null=null,
    )  # fmt: skip
    if inputs.votes.patterns.shape[1] < 2:
        raise DataError("weak_labels has one labeler; expected two or more to compare")
    predicted = read_predictions(y_pred, inputs)
    rule = check_limit(limit, confidence, weighted=predicted.proba is not None)
    way, slack = check_method(method), check_robustness(robustness)
    generator = check_rng(rng)

    def bound(some: Inputs) -> PerformanceBounds:
        problem = build_problem(
            some, predicted, n_outcomes=len(some.classes), method=way, rng=generator, slack=slack
        )
        check = DeferredCheck.of(inputs, label_model) if some is inputs else None
        return solved_performance(problem, chosen, rule, method=way, n=inputs.n, check=check)

    full = bound(inputs)
    without = [bound(_without(inputs, j)) for j in range(len(inputs.votes.names))]
    narrowing = np.array([b.width - full.width for b in without])
    order = np.argsort(-narrowing, kind="stable")
    return WeakLabelValue(
        names=tuple(inputs.votes.names[j] for j in order),
        narrowing=narrowing[order],
        full=full,
        without=tuple(without[j] for j in order),
    )


def _without(inputs: Inputs, labeler: int) -> Inputs:
    """Return the same items without the votes of one labeler."""
    votes = inputs.votes
    kept = np.delete(votes.patterns, labeler, axis=1)
    new, first = distinct_votes(kept, len(inputs.classes))
    share = np.bincount(new, weights=votes.counts, minlength=len(first))
    p = np.zeros((len(first), inputs.p.shape[1]))
    np.add.at(p, new, inputs.p * votes.counts[:, None])
    p /= np.maximum(share, 1e-300)[:, None]
    names = votes.names[:labeler] + votes.names[labeler + 1 :]
    fewer = replace(votes, patterns=kept[first], counts=share, ids=new[votes.ids], names=names)
    return replace(inputs, votes=fewer, p=p)
