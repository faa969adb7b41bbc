"""Prediction-powered ratios: precision, recall and F1 from a few labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.exceptions import DataError, LengthMismatchError, OptionError
from karat.limits import clopper_pearson, prediction_powered_mean, prediction_powered_ratio, wilson

COUNTS = {  # numerator and denominator of each, and what a success adds
    "precision": (lambda h, y: (h * y, h), (1, 1)),
    "recall": (lambda h, y: (h * y, y), (1, 1)),
    "f1": (lambda h, y: (2 * h * y, h + y), (2, 2)),
}


def law(seed, n, share=0.3):
    """Return calls, truth and the chance of truth of n items."""
    rng = np.random.default_rng(seed)
    p = rng.beta(share, 1 - share, n)
    return (p > 0.4).astype(float), (rng.random(n) < p).astype(float), p


def limits_of(name, h, y, p, n, **options):
    of, success = COUNTS[name]
    top, bottom = of(h[:n], y[:n])
    known = np.stack([h * p, p, h], axis=1)
    return prediction_powered_ratio(top, bottom, known[:n], known[n:], success=success, **options)


def test_a_ratio_over_all_items_is_a_mean():
    h, y, p = law(0, 400)
    right = (h == y).astype(float)
    ratio = prediction_powered_ratio(right[:50], np.ones(50), p[:50], p[50:])
    mean = prediction_powered_mean(right[:50], p[:50], p[50:])
    assert ratio.value == pytest.approx(mean.value, abs=1e-9)
    assert (ratio.lower, ratio.upper) == pytest.approx((mean.lower, mean.upper), abs=0.02)


@pytest.mark.parametrize("name", COUNTS)
def test_without_help_the_limits_are_those_of_the_labels_that_count(name):
    h, y, _ = law(1, 150)
    of, success = COUNTS[name]
    top, bottom = of(h, y)
    found = prediction_powered_ratio(top, bottom, np.zeros(150), np.zeros(200), success=success)
    alone = wilson((top > 0).sum(), (bottom > 0).sum())
    carried = [success[0] * v / (success[1] * v + 1 - v) for v in (alone.lower, alone.upper)]
    assert (found.lower, found.upper) == pytest.approx(carried)
    assert found.value == pytest.approx(top.sum() / bottom.sum())


def test_few_labels_count_alone_and_exactly():
    h, y, p = law(2, 100)
    found = limits_of("recall", h, y, p, 12)
    exact = clopper_pearson((h * y)[:12].sum(), y[:12].sum())
    assert (found.lower, found.upper) == pytest.approx((exact.lower, exact.upper))


def test_few_failures_count_alone_and_exactly():
    """Of 100 labels only those that count matter: 30 successes and 4 failures are few."""
    top, bottom = np.repeat([1.0, 0.0, 0.0], [30, 4, 66]), np.repeat([1.0, 0.0], [34, 66])
    x = np.stack([0.9 * top + 0.05, bottom], axis=1)
    found, exact = prediction_powered_ratio(top, bottom, x, x), clopper_pearson(30, 34)
    assert not found.used
    assert (found.lower, found.upper) == pytest.approx((exact.lower, exact.upper))
    assert found.labels.method == "clopper-pearson"


def test_no_label_that_counts_leaves_everything_open():
    found = prediction_powered_ratio(np.zeros(30), np.zeros(30), np.linspace(0, 1, 30), [0.5])
    assert np.isnan(found.value)
    assert (found.lower, found.upper) == (0, 1)


def test_a_large_sample_finds_the_ratio():
    h, y, p = law(3, 60_000)
    for name, (of, _) in COUNTS.items():
        top, bottom = of(h, y)
        found = limits_of(name, h, y, p, 20_000, finite=True)
        assert found.lower < top.sum() / bottom.sum() < found.upper
        assert found.width < 0.03


def test_wrong_input_is_refused():
    h, y, p = law(4, 50)
    with pytest.raises(DataError, match=r"row 0 adds \(2, 2\)"):
        prediction_powered_ratio([2.0] * 30, [2.0] * 30, p[:30], p[30:])
    with pytest.raises(LengthMismatchError):
        prediction_powered_ratio((h * y)[:30], h[:29], p[:30], p[30:])
    with pytest.raises(OptionError, match="success"):
        prediction_powered_ratio((h * y)[:30], h[:30], p[:30], p[30:], success=(1, 0))
    with pytest.raises(OptionError, match="two numbers"):
        prediction_powered_ratio((h * y)[:30], h[:30], p[:30], p[30:], success=1)


@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(COUNTS)), st.booleans())
def test_limits_lie_around_the_estimate_and_widen(seed, name, finite):
    h, y, p = law(seed, 300)
    found = limits_of(name, h, y, p, 40, finite=finite)
    wider = limits_of(name, h, y, p, 40, finite=finite, confidence=0.99)
    assert 0 <= found.lower <= found.upper <= 1
    assert wider.lower <= found.lower
    assert wider.upper >= found.upper
    if not np.isnan(found.value):
        assert found.lower - 1e-9 <= found.value <= found.upper + 1e-9


@given(st.integers(0, 2**32 - 1), st.randoms(use_true_random=False))
def test_the_order_of_the_labels_does_not_matter(seed, shuffle):
    h, y, p = law(seed, 200)
    rows = list(range(40))
    shuffle.shuffle(rows)
    rows += range(40, 200)
    one = limits_of("f1", h, y, p, 40)
    two = limits_of("f1", h[rows], y[rows], p[rows], 40)
    assert (one.lower, one.upper) == pytest.approx((two.lower, two.upper), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 300])
def test_limits_of_ratios_hold_and_are_narrower(n, fails):
    """800 samples notice .93 against .88; widths are against Wilson's limits."""
    runs = 800
    h, y, p = law(11, 400_000)
    truth = {name: np.divide(*(v.mean() for v in of(h, y))) for name, (of, _) in COUNTS.items()}
    rng = np.random.default_rng(12)
    for name in COUNTS:
        seen, width, alone = 0, 0.0, 0.0
        for _ in range(runs):
            at = rng.integers(0, len(h), 2000)
            found = limits_of(name, h[at], y[at], p[at], n)
            seen += found.lower <= truth[name] <= found.upper
            width, alone = width + found.width, alone + found.labels.width
        print(f"{name}, {n} labels: covered {seen / runs:.3f}, width {width / alone:.2f} of Wilson")
        assert not fails(seen, runs, 0.93), name
        assert width < alone, name


@pytest.mark.parametrize("name", COUNTS)
def test_a_prediction_that_only_varies_beyond_the_labels_carries_nothing_away(name):
    """Its coefficient would be that of noise, and its shift hundreds of times its spread."""
    h, y, p = law(3, 600)
    of, success = COUNTS[name]
    top, bottom = of(h[:100], y[:100])
    rng = np.random.default_rng(0)
    odd = np.where(np.arange(600) < 100, 1e-5 * rng.random(600), rng.random(600) < 0.01)
    known = np.stack([h * p, p, h], axis=1)
    with_it = np.column_stack([known, odd])
    plain = prediction_powered_ratio(top, bottom, known[:100], known[100:], success=success)
    found = prediction_powered_ratio(top, bottom, with_it[:100], with_it[100:], success=success)
    assert found.value == pytest.approx(plain.value, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTS)
def test_limits_of_ratios_hold_where_positives_are_rare(name, fails):
    """About five of 100 labels are positive; 600 samples notice .93 against .89."""
    runs, seen = 600, 0
    h, y, p = law(13, 400_000, share=0.05)
    of, _ = COUNTS[name]
    truth = np.divide(*(v.mean() for v in of(h, y)))
    rng = np.random.default_rng(14)
    for _ in range(runs):
        at = rng.integers(0, len(h), 2000)
        found = limits_of(name, h[at], y[at], p[at], 100)
        seen += found.lower <= truth <= found.upper
    assert not fails(seen, runs, 0.93)
