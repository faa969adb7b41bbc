"""Prediction-powered means: the formula, its limits, and what predictions can and cannot do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from karat.exceptions import DataError, LengthMismatchError, OptionError
from karat.limits import bernstein_mean, powered_mean

seeds = st.integers(0, 2**32 - 1)


def drawn(seed, n=30, others=70, noise=0.5):
    """Return right or wrong of n items, predictions of them and of others."""
    rng = np.random.default_rng(seed)
    f = (rng.random(n) < 0.7).astype(float)
    m = np.clip((1 - noise) * f + noise * rng.random(n), 0, 1)
    return f, m, rng.random(others)


def test_the_estimate_is_that_of_prediction_powered_inference():
    f, m, rest = drawn(0)
    found = powered_mean(f, m, rest)
    lam = np.cov(f, m, bias=True)[0, 1] / m.var()
    everything = np.concatenate([m, rest]).mean()
    assert found.weight == pytest.approx(lam)
    assert found.estimate == pytest.approx(lam * everything + (f - lam * m).mean(), abs=1e-12)


def test_the_estimate_is_a_regression_read_at_the_mean_of_all_predictions():
    f, m, rest = drawn(1)
    slope, start = np.polyfit(m, f, 1)
    at = np.concatenate([m, rest]).mean()
    assert powered_mean(f, m, rest).estimate == pytest.approx(start + slope * at, abs=1e-12)


@pytest.mark.parametrize("finite", [False, True])
def test_the_variance_is_its_formula(finite):
    f, m, rest = drawn(2)
    found = powered_mean(f, m, rest, finite=finite, confidence=0.9)
    n, total = 30, 100
    share = (f.sum() + 1) / (n + 2)
    spread = share * (1 - share) * n / (n - 1)
    rho2 = 1 - (1 - np.corrcoef(f, m)[0, 1] ** 2) * (n - 1) / (n - 2)
    if finite:
        variance = (1 / n - 1 / total) * spread * (1 - rho2)
    else:
        variance = spread / n * (1 - rho2 * (1 - n / total))
    assert found.upper - found.estimate == pytest.approx(t.ppf(0.95, n - 1) * np.sqrt(variance))
    assert found.upper - found.lower < found.labels.width


def test_certain_limits_cut_those_of_labels_and_predictions():
    rng = np.random.default_rng(3)
    f, m, rest = rng.beta(2, 2, 500), np.full(500, 0.5), np.full(10**6, 0.5)
    found = powered_mean(f, m, rest).certain
    assert found.guarantee == "finite-sample"
    # Predictions that say nothing: what remains is Bernstein with half of the error.
    alone = bernstein_mean(f, confidence=0.975)
    assert (found.lower, found.upper) == pytest.approx((alone.lower, alone.upper))
    # Twice the range costs more than a small variance saves, unless the labels vary a lot.
    coin = np.tile([0.0, 1.0], 250)
    known = powered_mean(coin, coin, rest).certain
    assert known.width < 0.7 * bernstein_mean(coin, confidence=0.975).width


def test_values_of_another_range():
    f, m, rest = drawn(4)
    plain = powered_mean(f, m, rest)
    moved = powered_mean(5 * f - 2, 5 * m - 2, 5 * rest - 2, low=-2, high=3)
    for name in ("estimate", "lower", "upper"):
        assert getattr(moved, name) == pytest.approx(5 * getattr(plain, name) - 2)
    assert moved.certain.width == pytest.approx(5 * plain.certain.width)
    assert moved.weight == pytest.approx(plain.weight)


def test_equal_values_are_not_certain():
    found = powered_mean(np.ones(20), np.full(20, 0.9), np.full(100, 0.9), finite=True)
    assert found.estimate == 1
    assert found.lower < 0.98
    assert found.weight == 0


def test_all_items_labelled():
    f, m, _ = drawn(5)
    found = powered_mean(f, m, [], finite=True)
    assert found.lower == found.estimate == found.upper == pytest.approx(f.mean())
    assert found.n_total == 30
    law = powered_mean(f, m, [])
    assert (law.lower, law.upper) == pytest.approx((law.labels.lower, law.labels.upper))


def test_wrong_input_is_refused():
    f, m, rest = drawn(6)
    with pytest.raises(DataError, match="labelled has 4 rows; expected at least 5"):
        powered_mean(f[:4], m[:4], rest)
    with pytest.raises(LengthMismatchError, match=r"(?=.*\b29\b)(?=.*\b30\b)"):
        powered_mean(f, m[:-1], rest)
    with pytest.raises(DataError, match="others row 2 is 3"):
        powered_mean(f, m, [0.1, 0.2, 3])
    with pytest.raises(OptionError, match=r"confidence is 1\.2"):
        powered_mean(f, m, rest, confidence=1.2)


@given(seeds, st.floats(0.05, 0.95), st.booleans())
def test_wrong_and_right_trade_places(seed, noise, finite):
    f, m, rest = drawn(seed, noise=noise)
    one, two = (
        powered_mean(f, m, rest, finite=finite),
        powered_mean(1 - f, 1 - m, 1 - rest, finite=finite),
    )
    for a, b in ((one, two), (one.labels, two.labels), (one.certain, two.certain)):
        assert (a.lower, a.upper) == pytest.approx((1 - b.upper, 1 - b.lower), abs=1e-9)


@given(seeds, st.floats(-5, 5), st.floats(0.1, 0.9))
def test_only_what_predictions_explain_matters(seed, shift, factor):
    """Predictions of another scale have the same line through them."""
    f, m, rest = drawn(seed)
    plain = powered_mean(f, m, rest, low=-10, high=10)
    moved = powered_mean(f, shift + factor * m, shift + factor * rest, low=-10, high=10)
    assert (plain.lower, plain.upper) == pytest.approx((moved.lower, moved.upper), abs=1e-7)


@given(seeds, st.lists(st.floats(0.01, 0.999), min_size=2, max_size=2))
def test_more_confidence_is_wider(seed, levels):
    f, m, rest = drawn(seed)
    narrow, wide = (powered_mean(f, m, rest, confidence=c) for c in sorted(levels))
    for a, b in ((narrow, wide), (narrow.labels, wide.labels)):
        assert b.lower <= a.lower + 1e-9
        assert b.upper >= a.upper - 1e-9
