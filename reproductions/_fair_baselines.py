"""The metrics of Table 5.2 of Hiranandani 2021, by which classifiers are often ranked."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from karat.metrics import FairMetric

__all__ = ["BASELINES", "equal_weights", "in_true_order", "make_baselines"]

Array = NDArray[np.float64]
# Elicits what is not given: (cost, violation) to the whole metric.
Elicit = Callable[[Array | None, Array | None], FairMetric]
BASELINES = ("φφ'λ_a", "φφ'λ_w", "φφ'_a", "φφ'_w", "φ_a", "φ_w", "o_p", "o_f")


def make_baselines(
    truth: FairMetric, elicit: Elicit, rng: np.random.Generator
) -> dict[str, FairMetric]:
    """Return the metrics of Table 5.2 for an oracle.

    φ are the costs of errors, φ' those of differences between groups. ``a`` gives all errors the
    same weight, ``w`` weights drawn at random in the oracle's order; what is not named is elicited.
    """
    cost, violation = equal_weights(truth)
    cost_w, violation_w = (in_true_order(part, rng) for part in (truth.cost, truth.violation))
    half = rng.uniform(0.0, 0.5)
    tradeoff_w = half if truth.tradeoff < 0.5 else 1.0 - half
    made = (
        FairMetric(cost, violation, 0.5).normalized(),
        FairMetric(cost_w, violation_w, tradeoff_w),
        elicit(cost, violation),
        elicit(cost_w, violation_w),
        elicit(cost, None),
        elicit(cost_w, None),
        FairMetric(truth.cost, truth.violation, 0.0),
        FairMetric(truth.cost, truth.violation, 1.0),
    )
    return dict(zip(BASELINES, made, strict=True))


def equal_weights(truth: FairMetric) -> tuple[Array, Array]:
    """Return equal costs of errors, and of differences, on the scales of Definition 5.1."""
    q, pairs = len(truth.cost), len(truth.violation)
    return np.full(q, q**-0.5), np.full((pairs, q), q**-0.5 / pairs)


def in_true_order(weights: Array, rng: np.random.Generator) -> Array:
    """Draw |normal| weights in the order of the true ones, on the scale of Definition 5.1."""
    drawn = np.sort(np.abs(rng.normal(size=weights.size)))
    ranks = np.argsort(np.argsort(weights.ravel()))
    table = drawn[ranks].reshape(weights.shape)
    return np.asarray(table / np.linalg.norm(np.atleast_2d(table), axis=1).sum())
