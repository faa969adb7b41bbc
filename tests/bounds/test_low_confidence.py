"""A confidence of a half or less: limits are the bounds themselves, never inside them."""

import numpy as np
import pytest

from karat.bounds import bounds_curve, difference_bounds, performance_bounds

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 2, 400)
VOTES = np.where(RNG.random((400, 3)) < 0.8, TRUTH[:, None], 1 - TRUTH[:, None])
PRED = np.where(RNG.random(400) < 0.85, TRUTH, 1 - TRUTH)
PROBA = np.column_stack([1 - VOTES.mean(axis=1), VOTES.mean(axis=1)]) * 0.8 + 0.1
OPTIONS = {"classes": [0, 1], "rng": 0}


@pytest.mark.parametrize("confidence", [0.01, 0.4, 0.5])
@pytest.mark.parametrize("metric", ["accuracy", "f1", "mcc"])
def test_limits_are_the_bounds(metric, confidence):
    options = {"metric": metric, "confidence": confidence, **OPTIONS}
    other = 1 - PRED[::-1]
    for b in (
        performance_bounds(PRED, VOTES, PROBA, **options),
        difference_bounds(PRED, other, VOTES, PROBA, **options),
    ):
        assert (b.lower_limit, b.upper_limit) == pytest.approx((b.lower, b.upper), abs=1e-6)
    curve = bounds_curve(PRED + 0.1 * VOTES.sum(axis=1), VOTES, PROBA, **options)
    assert not (curve.lower_limit > curve.lower).any()  # NaN where the metric is not defined
    assert not (curve.upper_limit < curve.upper).any()


def test_limits_grow_from_there():
    found = [
        performance_bounds(PRED, VOTES, PROBA, metric="f1", confidence=c, **OPTIONS)
        for c in (0.3, 0.5, 0.51, 0.7, 0.99)
    ]
    lower, upper = [b.lower_limit for b in found], [b.upper_limit for b in found]
    assert lower == sorted(lower, reverse=True)
    assert upper == sorted(upper)
    assert lower[1] > lower[-1]


@pytest.mark.parametrize("limit", ["normal", "bernstein"])
def test_draws_of_the_label_model_are_allowed_for(limit):
    draws = [PROBA, PROBA * 0.9 + 0.05, np.clip(PROBA * 1.05 - 0.025, 0, 1)]
    options = {"metric": "accuracy", "limit": limit, "label_model_draws": draws, **OPTIONS}
    low, high = (
        performance_bounds(PRED, VOTES, PROBA, confidence=c, **options) for c in (0.4, 0.95)
    )
    assert high.lower_limit <= low.lower_limit <= low.lower
    assert low.upper <= low.upper_limit <= high.upper_limit
