"""Uncertainty of the label model: bounds for each draw of it, combined."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from karat._typing import FloatArray
from karat.bounds.problem import Bound, BoundPair, Limit, Problem
from karat.bounds.solvers._solve import solve
from karat.metrics import MetricBase

__all__ = ["combine_draws"]


def combine_draws(
    problem: Problem, metric: MetricBase, limit: Limit, draws: Sequence[FloatArray], pair: BoundPair
) -> BoundPair:
    """Return the mean bounds over draws of P(Y | pattern), with limits that hold for their mixture.

    ``pair`` are the bounds without draws, whose limits stay where they are infinite. q̂ stays as it
    is: any q̂ gives valid bounds, so only the duals follow the draw.
    """
    per_draw = [solve(replace(problem, p=p), metric, limit) for p in draws]
    quantile = limit.quantile(problem.sample.effective)
    if not np.isfinite(quantile):
        return pair
    lower = _mixture([one.lower for one in per_draw], limit, quantile, -1)
    upper = _mixture([one.upper for one in per_draw], limit, quantile, 1)
    return pair._replace(lower=lower, upper=upper)


def _mixture(bounds: Sequence[Bound], limit: Limit, quantile: float, side: int) -> Bound:
    """Return mean and one-sided quantile of a mixture of normal laws, one per draw."""
    values, limits = np.array([b.value for b in bounds]), np.array([b.limit for b in bounds])
    if quantile == 0:  # a confidence of a half or less shows no errors: the outermost draw holds
        return Bound(float(values.mean()), side * float((side * limits).max()))
    errors = np.maximum(np.abs(limits - values) / quantile, 1e-12)
    normal = NormalDist()
    scale = normal.inv_cdf(limit.confidence) / quantile
    # Eight standard errors on either side hold every quantile that can be asked for.
    low = float((side * values - 8 * errors).min())
    high = float((side * values + 8 * errors).max())
    for _ in range(80):  # bisection down to rounding error
        middle = (low + high) / 2
        # Errors were scaled by Student's quantile; scale back to the normal law of the mixture.
        below = np.mean([normal.cdf(z) for z in scale * (middle - side * values) / errors])
        low, high = (middle, high) if below < limit.confidence else (low, middle)
    return Bound(float(values.mean()), side * (low + high) / 2)
