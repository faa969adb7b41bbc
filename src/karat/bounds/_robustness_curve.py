"""How wrong the label model may be before a claim falls."""

from dataclasses import replace
from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column, Frame
from karat._validate import check_number, check_rng, check_scores
from karat.bounds.checks import DeferredCheck
from karat.bounds.collection_result import RobustnessCurve
from karat.bounds.inputs import (
    build_problem,
    check_limit,
    check_method,
    check_metric,
    check_robustness,
    read_inputs,
    read_predictions,
)
from karat.bounds.problem import Limit, Problem
from karat.bounds.solvers import solve
from karat.metrics import Metric
from karat.statistics import Patterns

__all__ = ["robustness_curve"]


@keeps_kind
def robustness_curve(
    y_pred: Column | Frame,
    weak_labels: Frame | Patterns,
    label_model: Any = None,
    *,
    metric: str | Metric,
    deltas: Column | None = None,
    claim: float | None = None,
    method: str = "crossfit",
    confidence: float = 0.95,
    limit: str = "skew",
    classes: Column | None = None,
    pos_label: Any = None,
    null: str | None = None,
    rng: int | np.random.Generator | None = None,
) -> RobustnessCurve:
    """Bound the metric for every label model within δ of the given one, over several δ.

    Parameters
    ----------
    y_pred, weak_labels, label_model, metric, method, confidence, limit, classes, pos_label
        As in `performance_bounds`.
    null, rng
        As in `performance_bounds`.
    deltas : column (d,), optional
        Total variations by which P(Y | z) may be off in every pattern; by default 0 to 0.3.
    claim : float, optional
        A value that the metric is claimed to have at least; ``breaks_at`` is the δ at which the
        lower limit falls below it.

    Returns
    -------
    RobustnessCurve

    Examples
    --------
    >>> import numpy as np
    >>> from karat.weak import DawidSkene
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 1000)
    >>> votes = np.where(rng.random((1000, 7)) < 0.9, truth[:, None], 1 - truth[:, None])
    >>> curve = robustness_curve(truth, votes, DawidSkene(rng=0).fit(votes), metric="accuracy",
    ...                          claim=0.8, rng=0)
    >>> curve.breaks_at > 0.05
    True
    """
    chosen = check_metric(metric)
    inputs = read_inputs(
        {"y_pred": y_pred}, weak_labels, label_model, classes=classes, pos_label=pos_label,
        null=null,
    )  # fmt: skip
    predicted = read_predictions(y_pred, inputs)
    rule = check_limit(limit, confidence, weighted=predicted.proba is not None)
    grid = np.linspace(0, 0.3, 13) if deltas is None else np.sort(check_scores(deltas, "deltas"))
    for delta in (grid[0], grid[-1]):
        check_robustness(float(delta), "deltas")
    wanted = None if claim is None else check_number(claim, "claim")
    problem = build_problem(
        inputs, predicted, n_outcomes=len(inputs.classes), method=check_method(method),
        rng=check_rng(rng),
    )  # fmt: skip
    pairs = [solve(replace(problem, slack=float(delta)), chosen, rule) for delta in grid]
    return RobustnessCurve(
        deltas=grid,
        lower=np.array([pair.lower.value for pair in pairs]),
        upper=np.array([pair.upper.value for pair in pairs]),
        lower_limit=np.array([pair.lower.limit for pair in pairs]),
        upper_limit=np.array([pair.upper.limit for pair in pairs]),
        metric=chosen,
        confidence=rule.confidence,
        claim=wanted,
        deferred_check=DeferredCheck.of(inputs, label_model),
        breaks_at=None
        if wanted is None
        else _break(problem, chosen, rule, wanted, float(grid[-1])),
    )


def _break(
    problem: Problem, metric: Metric, limit: Limit, claim: float, most: float
) -> float | None:
    """Return the least δ whose lower limit is below the claim, by bisection."""

    def falls(delta: float) -> bool:
        return solve(replace(problem, slack=delta), metric, limit).lower.limit < claim

    if not falls(most):
        return None
    low, high = 0.0, most
    if falls(low):
        return 0.0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if falls(middle) else (middle, high)
    return high
