"""Prediction-powered means: the formula, its limits, and what predictions can and cannot do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.exceptions import DataError, LengthMismatchError, OptionError, ShapeError
from karat.limits import bernstein_mean, clopper_pearson, prediction_powered_mean, wilson

seeds = st.integers(0, 2**32 - 1)


def drawn(seed, n=30, others=70, noise=0.5):
    """Return right or wrong of n items, predictions of them and of others."""
    rng = np.random.default_rng(seed)
    f = (rng.random(n) < 0.7).astype(float)
    m = np.clip((1 - noise) * f + noise * rng.random(n), 0, 1)
    return f, m, rng.random(others)


def left_out(f, m):
    """Predict each label from the others by the same ridge, one at a time; weight 10 at 0."""
    n = len(f)
    penalty = 10 * m.var()
    off, alone = np.empty(n), np.empty(n)
    for i in range(n):
        rest = np.arange(n) != i
        x, y = m[rest], f[rest]
        b = ((x - x.mean()) @ (y - y.mean())) / (((x - x.mean()) ** 2).sum() + penalty)
        off[i] = f[i] - y.mean() - b * (m[i] - x.mean())
        alone[i] = f[i] - y.mean()
    return off, alone


def test_the_estimate_is_a_ridge_regression_read_at_the_mean_of_all_predictions():
    f, m, rest = drawn(0)
    found = prediction_powered_mean(f, m, rest)
    n = len(f)
    b = np.cov(f, m, bias=True)[0, 1] / m.var() * n / (n + 10)
    everything = np.concatenate([m, rest]).mean()
    assert found.used
    assert found.weight == pytest.approx(b)
    assert found.value == pytest.approx(b * everything + (f - b * m).mean(), abs=1e-9)


@pytest.mark.parametrize("finite", [False, True])
def test_the_limits_are_those_of_wilson_at_an_effective_number(finite):
    f, m, rest = drawn(2)
    found = prediction_powered_mean(f, m, rest, finite=finite, confidence=0.9)
    n, total = 30, 100
    off, alone = left_out(f, m)
    left = max((off @ off + n / (n + 2)) / (alone @ alone + n / (n + 2)), 0.25)
    assert found.left == pytest.approx(left, rel=1e-6)
    variance = left * (1 - n / total) / n + (0 if finite else 1 / total)
    by_hand = wilson(found.value / variance, 1 / variance, confidence=0.9)
    half = 0.5 / total if finite else 0
    assert (found.lower, found.upper) == pytest.approx((by_hand.lower - half, by_hand.upper + half))
    assert found.width < found.labels.width


def test_labels_alone_are_wilsons_limits_where_predictions_say_nothing():
    f, _, rest = drawn(3)
    found = prediction_powered_mean(f, np.full(30, 0.4), rest)
    alone = wilson(f.sum(), 30)
    assert not found.used
    assert found.left == 1
    assert (found.lower, found.upper) == pytest.approx((alone.lower, alone.upper))
    assert "predictions do not help" in found.summary()


@pytest.mark.parametrize("n", [1, 4, 19])
def test_below_twenty_labels_the_labels_count_alone(n):
    f, m, rest = drawn(7, n=n)
    found, exact = prediction_powered_mean(f, m, rest), clopper_pearson(f.sum(), n)
    assert (found.lower, found.upper) == pytest.approx((exact.lower, exact.upper))
    assert found.labels.method == "clopper-pearson"


def test_no_error_among_22_is_not_a_proof():
    found = prediction_powered_mean(np.ones(22), np.linspace(0.5, 1, 22), np.linspace(0.5, 1, 200))
    assert found.lower == pytest.approx(wilson(22, 22).lower)
    assert found.lower == pytest.approx(0.851, abs=0.001)


def test_several_sources_are_pooled():
    rng = np.random.default_rng(8)
    p = rng.random(1000)
    f = (rng.random(1000) < p).astype(float)
    noisy = np.clip(p[:, None] + 0.3 * rng.standard_normal((1000, 5)), 0, 1)
    one = prediction_powered_mean(f[:100], noisy[:100, 0], noisy[100:, 0])
    all_of_them = prediction_powered_mean(f[:100], noisy[:100], noisy[100:])
    mean = prediction_powered_mean(f[:100], noisy[:100].mean(axis=1), noisy[100:].mean(axis=1))
    assert all_of_them.left < one.left
    assert all_of_them.left < mean.left + 0.05


def test_weights_make_up_for_unequal_chances_to_be_labelled():
    rng = np.random.default_rng(9)
    f = (rng.random(20_000) < 0.5).astype(float)
    chance = np.where(f > 0, 0.04, 0.01)
    taken = rng.random(20_000) < chance
    m = np.clip(0.6 * f + 0.4 * rng.random(20_000), 0, 1)
    found = prediction_powered_mean(f[taken], m[taken], m[~taken], sample_weight=1 / chance[taken])
    ignored = prediction_powered_mean(f[taken], m[taken], m[~taken])
    assert found.lower < 0.5 < found.upper
    assert ignored.labels.lower > 0.6
    assert found.certain is None


def test_equal_weights_change_nothing():
    f, m, rest = drawn(10)
    plain, weighted = (
        prediction_powered_mean(f, m, rest),
        prediction_powered_mean(f, m, rest, sample_weight=[3.0] * 30),
    )
    assert (plain.lower, plain.upper) == pytest.approx((weighted.lower, weighted.upper))


def test_certain_limits_cut_those_of_labels_and_predictions():
    rng = np.random.default_rng(3)
    f, m, rest = rng.beta(2, 2, 500), np.full(500, 0.5), np.full(10**6, 0.5)
    found = prediction_powered_mean(f, m, rest).certain
    assert found.guarantee == "finite-sample"
    # Predictions that say nothing: what remains is Bernstein with half of the error.
    alone = bernstein_mean(f, confidence=0.975)
    assert (found.lower, found.upper) == pytest.approx((alone.lower, alone.upper))
    # Twice the range costs more than a small variance saves, unless the labels vary a lot.
    coin = np.tile([0.0, 1.0], 250)
    known = prediction_powered_mean(coin, coin, rest).certain
    assert known.width < 0.7 * bernstein_mean(coin, confidence=0.975).width


def test_values_of_another_range():
    f, m, rest = drawn(4)
    plain = prediction_powered_mean(f, m, rest)
    moved = prediction_powered_mean(5 * f - 2, 5 * m - 2, 5 * rest - 2, low=-2, high=3)
    for name in ("value", "lower", "upper"):
        assert getattr(moved, name) == pytest.approx(5 * getattr(plain, name) - 2)
    assert moved.certain.width == pytest.approx(5 * plain.certain.width)
    assert moved.weight == pytest.approx(plain.weight)


def test_all_items_labelled():
    f, m, _ = drawn(5)
    found = prediction_powered_mean(f, m, [], finite=True)
    assert found.lower == found.value == found.upper == pytest.approx(f.mean())
    assert found.n_total == 30
    law = prediction_powered_mean(f, m, [])
    assert (law.lower, law.upper) == pytest.approx((law.labels.lower, law.labels.upper))


def test_wrong_input_is_refused():
    f, m, rest = drawn(6)
    with pytest.raises(LengthMismatchError, match=r"(?=.*\b29\b)(?=.*\b30\b)"):
        prediction_powered_mean(f, m[:-1], rest)
    with pytest.raises(DataError, match="others row 2 is 3"):
        prediction_powered_mean(f, m, [0.1, 0.2, 3])
    with pytest.raises(ShapeError, match="predicted has 2 columns and others has 1"):
        prediction_powered_mean(f, np.stack([m, m], axis=1), rest)
    with pytest.raises(OptionError, match=r"confidence is 1\.2"):
        prediction_powered_mean(f, m, rest, confidence=1.2)


@given(seeds, st.floats(0.05, 0.95), st.booleans())
def test_wrong_and_right_trade_places(seed, noise, finite):
    f, m, rest = drawn(seed, noise=noise)
    one, two = (
        prediction_powered_mean(f, m, rest, finite=finite),
        prediction_powered_mean(1 - f, 1 - m, 1 - rest, finite=finite),
    )
    for a, b in ((one, two), (one.labels, two.labels), (one.certain, two.certain)):
        assert (a.lower, a.upper) == pytest.approx((1 - b.upper, 1 - b.lower), abs=1e-9)


@given(seeds, st.floats(-5, 5), st.floats(0.1, 0.9))
def test_only_what_predictions_explain_matters(seed, shift, factor):
    """Predictions of another scale have the same line through them."""
    f, m, rest = drawn(seed)
    plain = prediction_powered_mean(f, m, rest, low=-10, high=10)
    moved = prediction_powered_mean(f, shift + factor * m, shift + factor * rest, low=-10, high=10)
    assert (plain.lower, plain.upper) == pytest.approx((moved.lower, moved.upper), abs=1e-6)


@given(seeds, st.randoms(use_true_random=False))
def test_the_order_of_labels_and_sources_does_not_matter(seed, shuffle):
    f, m, rest = drawn(seed)
    x, y = np.stack([m, m**2, 1 - m], axis=1), np.stack([rest, rest**2, 1 - rest], axis=1)
    rows, columns = list(range(30)), [0, 1, 2]
    shuffle.shuffle(rows)
    shuffle.shuffle(columns)
    one, two = (
        prediction_powered_mean(f, x, y),
        prediction_powered_mean(f[rows], x[np.ix_(rows, columns)], y[:, columns]),
    )
    assert (one.lower, one.upper) == pytest.approx((two.lower, two.upper), abs=1e-8)


@given(seeds, st.lists(st.floats(0.01, 0.999), min_size=2, max_size=2))
def test_more_confidence_is_wider(seed, levels):
    f, m, rest = drawn(seed)
    narrow, wide = (prediction_powered_mean(f, m, rest, confidence=c) for c in sorted(levels))
    for a, b in ((narrow, wide), (narrow.labels, wide.labels)):
        assert b.lower <= a.lower + 1e-9
        assert b.upper >= a.upper - 1e-9


@given(seeds, st.integers(20, 60), st.floats(0, 1))
def test_limits_lie_in_the_range_and_around_the_estimate(seed, n, noise):
    f, m, rest = drawn(seed, n=n, noise=noise)
    found = prediction_powered_mean(f, m, rest)
    assert 0 <= found.lower <= found.value + 1e-12
    assert found.value - 1e-12 <= found.upper <= 1
    assert 0.25 <= found.left <= 1


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 100])
@pytest.mark.parametrize("helpful", [False, True])
def test_limits_hold_where_the_chance_of_a_label_depends_on_its_value(n, helpful, fails):
    """Right items are five times as likely to be labelled; 600 samples notice .93 against .89."""
    rng = np.random.default_rng(n)
    runs, seen, total = 600, 0, 4000
    for _ in range(runs):
        f = (rng.random(total) < 0.5).astype(float)
        m = 0.5 * f * helpful + 0.5 * rng.random(total)
        chance = np.where(f > 0, 5.0, 1.0)
        chance *= n / chance.sum()
        at = rng.random(total) < chance
        found = prediction_powered_mean(f[at], m[at], m[~at], sample_weight=1 / chance[at])
        seen += found.lower <= 0.5 <= found.upper
    assert not fails(seen, runs, 0.93)


def test_large_weights_on_large_errors_leave_fewer_labels_than_kish():
    f = np.repeat([1.0, 0.0], [45, 5])
    w = np.repeat([1.0, 5.0], [45, 5])
    found = prediction_powered_mean(f, np.zeros(50), np.zeros(500), sample_weight=w).labels
    kish = w.sum() ** 2 / (w @ w)
    mean = w @ f / w.sum()
    assert found.width > 1.2 * wilson(mean * kish, kish).width
    # No narrower than the standard error by Taylor's series, which Kish's number ignores.
    error = np.sqrt(w**2 @ (f - mean) ** 2) / w.sum()
    assert found.width > 0.95 * 2 * 1.96 * error
