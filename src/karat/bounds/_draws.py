"""Uncertainty of the label model: bounds for each draw of it, combined."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from karat._typing import FloatArray
from karat.bounds._problem import End, Ends, Limit, Problem
from karat.bounds._solve import solve
from karat.metrics import MetricBase

__all__ = ["combine_draws"]


def combine_draws(
    problem: Problem, metric: MetricBase, limit: Limit, draws: Sequence[FloatArray], ends: Ends
) -> Ends:
    """Return the mean bound over the draws, with limits that hold for their mixture.

    q̂ stays as it is: any q̂ gives valid bounds, so only the duals follow the draw.
    """
    per_draw = [solve(replace(problem, p=p), metric, limit) for p in draws]
    quantile = limit.quantile(problem.sample.effective)
    if not np.isfinite(quantile):
        return ends
    lower = _mixture([e.lower for e in per_draw], limit, quantile, -1)
    upper = _mixture([e.upper for e in per_draw], limit, quantile, 1)
    return ends._replace(lower=lower, upper=upper)


def _mixture(ends: Sequence[End], limit: Limit, quantile: float, side: int) -> End:
    """Return mean and one-sided quantile of a mixture of normal laws, one per draw."""
    values, limits = np.array([e.value for e in ends]), np.array([e.limit for e in ends])
    if quantile == 0:  # a confidence of a half or less shows no errors: the outermost draw holds
        return End(float(values.mean()), side * float((side * limits).max()))
    errors = np.maximum(np.abs(limits - values) / quantile, 1e-12)
    normal = NormalDist()
    scale = normal.inv_cdf(limit.confidence) / quantile
    low = float((side * values - 8 * errors).min())
    high = float((side * values + 8 * errors).max())
    for _ in range(80):
        middle = (low + high) / 2
        # Errors were scaled by Student's quantile; scale back to the normal law of the mixture.
        below = np.mean([normal.cdf(z) for z in scale * (middle - side * values) / errors])
        low, high = (middle, high) if below < limit.confidence else (low, middle)
    return End(float(values.mean()), side * (low + high) / 2)
