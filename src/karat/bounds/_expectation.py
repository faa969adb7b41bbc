"""Bounds of the expectation of any function of item and truth."""

from typing import Any

import numpy as np

from karat._result import keeps_kind
from karat._sentences import Argument, Expected
from karat._typing import Column, FloatArray, Frame
from karat._validate import (
    check_choice,
    check_finite_matrix,
    check_number,
    check_rng,
    check_same_length,
    check_weights,
    refuse_option,
)
from karat.bounds._problem import Bound, Limit, Sample
from karat.bounds.inputs import (
    check_limit,
    check_method,
    check_robustness,
    read_inputs,
    warn_if_sparse,
)
from karat.bounds.result import DeferredCheck, ExpectationBounds, bounds_and_limits
from karat.bounds.solvers._multiclass import crossfit_values, exact_values, smoothed_values
from karat.exceptions import ShapeError
from karat.statistics.patterns import Patterns


@keeps_kind
def expectation_bounds(
    g: Frame,
    weak_labels: Frame | Patterns,
    label_model: Any = None,
    *,
    method: str = "exact",
    limit: str = "skew",
    confidence: float = 0.95,
    epsilon: float | None = None,
    classes: Column | None = None,
    sample_weight: Column | None = None,
    robustness: float = 0.0,
    null: str | None = None,
    rng: int | np.random.Generator | None = None,
) -> ExpectationBounds:
    """Bound E[g(X, Y, Z)], such as a log loss or a Brier score, from weak labels.

    Equation 1.1 of Maia Polo et al. (2023); equations 2.5 and 2.7 below are theirs too.

    Parameters
    ----------
    g : array (n, k)
        The value of each item if its class were each of ``classes``.
    weak_labels, label_model, classes, sample_weight, null, rng
        As in `performance_bounds`.
    method : {"exact", "crossfit", "smoothed"}
        ``exact`` solves the transport problem of each pattern; ``smoothed`` is the paper's
        L-BFGS on the smoothed dual (eq. 2.5), widened by its approximation error. Both take the
        observed items of a pattern for its law, and are too narrow where patterns are sparse
        (a warning says so). ``crossfit`` learns the dual on other folds, and stays valid there.
    limit : {"skew", "normal"}
        How far the limits are from the bounds. ``skew`` draws the items anew, with half an item of
        the worst value seen, which holds where few items carry the mean; ``normal`` is the paper's
        (eq. 2.7).
    confidence : float
        Of each one-sided limit.
    epsilon : float, optional
        Smoothing of ``smoothed``, and of the duals that ``crossfit`` learns; by default such that
        ε·log k is 0.01 times the range of g. ``exact`` has none.
    robustness : float
        Total variation by which P(Y | z) may be off in every pattern.

    Returns
    -------
    ExpectationBounds

    Examples
    --------
    >>> import numpy as np
    >>> from karat.weak import DawidSkene
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 1000)
    >>> votes = np.where(rng.random((1000, 5)) < 0.8, truth[:, None], 1 - truth[:, None])
    >>> proba = np.clip(0.5 + 0.3 * (2 * truth - 1) + 0.1 * rng.normal(size=1000), 0.01, 0.99)
    >>> loss = -np.log(np.column_stack([1 - proba, proba]))
    >>> model = DawidSkene(rng=0).fit(votes)
    >>> b = expectation_bounds(loss, votes, model, method="crossfit", rng=0)
    >>> bool(b.lower_limit < loss[np.arange(1000), truth].mean() < b.upper_limit)
    True
    """
    way = check_method(method, ("exact", "crossfit", "smoothed"))
    values = check_finite_matrix(g, "g")
    weight = check_weights(sample_weight)
    inputs = read_inputs({}, weak_labels, label_model, classes=classes, null=null)
    if values.ndim != 2 or values.shape[1] != len(inputs.classes):
        raise ShapeError(
            Argument("g"),
            f" has shape {values.shape} and there are {len(inputs.classes)} classes; expected ",
            Expected("one row per item and one column per class"),
        )
    check_same_length(weak_labels=inputs.votes.ids, g=values, sample_weight=weight)
    check_choice(limit, "limit", ("skew", "normal"))
    rule = check_limit(limit, confidence, weighted=False)
    slack = check_robustness(robustness)
    if way == "smoothed" and slack > 0:
        refuse_option(robustness, "robustness", "0 with method='smoothed'")
    k = len(inputs.classes)
    smooth = _smoothing(epsilon, way, values)
    weight = np.ones(inputs.n) if weight is None else weight
    if way != "crossfit":
        warn_if_sparse(inputs.votes.counts, f"method={way!r}")
    pair, steps, converged = [], 0, True
    generator = check_rng(rng)
    for side in (-1, 1):
        if way == "smoothed":
            own, count, ok = smoothed_values(side * values, inputs, weight, smooth)
            steps, converged = max(steps, count), converged and ok
        elif way == "crossfit":
            own = crossfit_values(side * values, inputs, weight, smooth, slack, generator)
        else:
            own = exact_values(side * values, inputs, weight, slack)
        pair.append(_bound(own, weight, side, rule))
    off = smooth * np.log(k) if way == "smoothed" else 0.0
    return ExpectationBounds(
        **bounds_and_limits(
            pair[0].value - off,
            pair[1].value + off,
            (pair[0].limit - off, pair[1].limit + off),
            rule.confidence,
        ),
        method=way,
        n=inputs.n,
        epsilon=smooth if way == "smoothed" else 0.0,
        approximation=off,
        converged=converged,
        iterations=steps,
        deferred_check=DeferredCheck.of(inputs, label_model),
    )


def _smoothing(epsilon: float | None, method: str, g: FloatArray) -> float:
    if epsilon is None:
        span = float(np.ptp(g)) or 1.0
        return float(0.01 * span / np.log(g.shape[1]))
    if method == "exact":
        refuse_option(epsilon, "epsilon", "None with method='exact', which does not smooth")
    return check_number(epsilon, "epsilon", at_least=1e-9)


def _bound(own: FloatArray, weight: FloatArray, side: int, rule: Limit) -> Bound:
    # Every item is a cell of its own.
    sample = Sample(weight[None, :, None], weight[None, :, None] ** 2)
    # Drawing anew takes values that are close for equal, which is a question of their range.
    scale = float(np.ptp(own)) or 1.0
    values = own[None, :, None] / scale
    mean = sample.mean(values)
    limit = mean + rule.approximate(sample, values, 1)
    return Bound(side * scale * mean, side * scale * limit)
