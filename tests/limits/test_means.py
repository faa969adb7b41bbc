"""Normal, Bernstein and betting limits of means: formulas, edges and invariants."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm, t, ttest_1samp

from karat.exceptions import DataError, EmptyDataError, OptionError
from karat.limits import bernstein_mean, betting_mean, normal_mean
from karat.limits.means import (
    bernstein_reach,
    betting_lower,
    cluster_moments,
    hoeffding_reach,
    normal_quantile,
    student_quantile,
    weighted_moments,
)

BOUNDED = [bernstein_mean, betting_mean]
shares = arrays(np.float64, st.integers(2, 60), elements=st.floats(0, 1))
levels = st.floats(0.01, 0.999)


def test_quantiles_are_those_of_scipy():
    for delta in (0.4, 0.05, 1e-6):
        assert normal_quantile(delta) == pytest.approx(norm.isf(delta))
        for freedom in (0.7, 1, 5.5, 1e4):
            assert student_quantile(delta, freedom) == pytest.approx(t.isf(delta, freedom))
    assert student_quantile(0.05, 0.3) == np.inf


@pytest.mark.parametrize("confidence", [0.3, 0.9, 0.99])
def test_without_weights_it_is_the_usual_interval(rng, confidence):
    x = rng.exponential(size=25)
    found = normal_mean(x, confidence=confidence)
    theirs = ttest_1samp(x, 0).confidence_interval(confidence)
    assert (found.lower, found.upper) == pytest.approx((theirs.low, theirs.high))
    theirs = ttest_1samp(x, 0, alternative="greater").confidence_interval(confidence)
    one = normal_mean(x, confidence=confidence, side="lower")
    assert (one.lower, one.upper) == (pytest.approx(theirs.low), np.inf)


def test_the_weighted_error_is_its_formula(rng):
    x, w = rng.normal(size=30), rng.random(30)
    mean = sum(w * x) / sum(w)
    n = sum(w) ** 2 / sum(w**2)
    error = math.sqrt(n / (n - 1) * sum(w**2 * (x - mean) ** 2)) / sum(w)
    found = normal_mean(x, sample_weight=w)
    assert found.value == pytest.approx(mean)
    assert found.n == pytest.approx(n)
    assert found.upper - mean == pytest.approx(t.ppf(0.975, n - 1) * error)


def test_cells_are_items_counted(rng):
    cells, counts = rng.normal(size=6), rng.integers(1, 9, 6)
    items = np.repeat(cells, counts)
    one = weighted_moments(cells, counts.astype(float), counts.astype(float))
    two = weighted_moments(items, np.ones(len(items)), np.ones(len(items)))
    assert one == pytest.approx(two)


def test_clusters_of_one_item_are_items_and_copies_add_nothing(rng):
    x = rng.normal(size=12)
    plain, alone = normal_mean(x), normal_mean(x, clusters=np.arange(12))
    assert (alone.lower, alone.upper) == pytest.approx((plain.lower, plain.upper))
    names = [f"item {i}" for i in range(12)] * 5
    copied = normal_mean(np.tile(x, 5), clusters=names)
    assert (copied.lower, copied.upper) == pytest.approx((plain.lower, plain.upper))
    assert copied.n == 12


def test_cluster_errors_are_those_of_cluster_sums(rng):
    x, w, c = rng.normal(size=40), rng.random(40), rng.integers(0, 7, 40)
    found = cluster_moments(x, w, c)
    mean = np.average(x, weights=w)
    sums = [sum(w[i] * (x[i] - mean) for i in range(40) if c[i] == k) for k in range(7)]
    error = math.sqrt(7 / 6 * sum(s**2 for s in sums)) / w.sum()
    assert found == pytest.approx((mean, error))


def test_the_edges_of_normal_limits():
    assert normal_mean([0.3]).upper == np.inf
    assert normal_mean([0.3]).to_dict()["upper"] is None
    assert normal_mean([1, 2, 3], sample_weight=[1, 0, 0]).lower == -np.inf
    assert normal_mean([1, 2, 3], clusters=["a", "a", "a"]).lower == -np.inf
    same = normal_mean([0.3] * 9)
    assert (same.lower, same.upper) == pytest.approx((0.3, 0.3))


def test_bernstein_is_its_formula(rng):
    x = rng.uniform(-2, 3, 400)
    found = bernstein_mean(x, low=-2, high=3, confidence=0.8)
    log = math.log(2 / 0.1)
    variance = sum((x - x.mean()) ** 2) / 399
    reach = math.sqrt(2 * variance * log / 400) + 7 * 5 * log / (3 * 399)
    assert (found.lower, found.upper) == pytest.approx((x.mean() - reach, x.mean() + reach))
    assert bernstein_reach(variance, 400, 5.0, 0.1) == pytest.approx(reach)
    assert hoeffding_reach(400, 5.0, 0.1) == pytest.approx(5 * math.sqrt(math.log(10) / 800))


def bets(x, m, delta):
    """Return the greatest capital of the gambler, one value after the other."""
    capital = most = 1.0
    total, squares, variance = 0.5, 0.25, 0.25
    for s, value in enumerate(x, start=1):
        bet = min(math.sqrt(2 * math.log(1 / delta) / (len(x) * variance)), 0.75 / m)
        capital *= 1 + bet * (value - m)
        most = max(most, capital)
        total += value
        squares += (value - total / (s + 1)) ** 2
        variance = squares / (s + 1)
    return most


@pytest.mark.parametrize("law", ["coin", "beta", "same", "zeros"])
def test_betting_limits_are_the_ends_of_a_grid(rng, law):
    draw = {"coin": rng.random(40) < 0.7, "beta": rng.beta(0.3, 0.6, 40), "same": np.full(40, 0.4),
            "zeros": np.zeros(40)}[law].astype(float)  # fmt: skip
    grid = np.linspace(0, 1, 2001)[1:]
    out = [m for m in grid if bets(draw, m, 0.05) >= 1 / 0.05]
    lower = max(out, default=0.0)
    assert betting_lower(draw, 0.0, 1.0, 0.05) == pytest.approx(lower, abs=5.1e-4)
    out = [m for m in grid if bets(1 - draw, m, 0.05) >= 1 / 0.05]
    found = betting_mean(draw, confidence=0.9)
    assert found.lower == pytest.approx(lower, abs=5.1e-4)
    assert found.upper == pytest.approx(1 - max(out, default=0.0), abs=5.1e-4)


@pytest.mark.parametrize(("law", "most"), [("coin", 0.035), ("rare", 0.008), ("narrow", 0.002)])
def test_betting_limits_are_of_use(rng, law, most):
    mean, draw = {
        "coin": (0.5, lambda: (rng.random(2000) < 0.5).astype(float)),
        "rare": (0.02, lambda: (rng.random(2000) < 0.02).astype(float)),
        "narrow": (0.5, lambda: 0.5 + 0.01 * rng.uniform(-1, 1, 2000)),
    }[law]
    found = [betting_lower(draw(), 0.0, 1.0, 0.05) for _ in range(20)]
    assert mean - np.mean(found) < most


def test_betting_is_narrower_than_bernstein(rng):
    for x in (rng.random(500), (rng.random(500) < 0.05).astype(float), np.full(500, 0.3)):
        assert betting_mean(x).width < 0.8 * bernstein_mean(x).width


@pytest.mark.parametrize("function", BOUNDED)
def test_one_value_and_equal_values(function):
    assert function([0.5]).width > 0.9
    constant = function([0.25] * 200)
    assert constant.lower < 0.25 < constant.upper


def test_one_value_leaves_the_whole_range():
    found = bernstein_mean([0.5])
    assert (found.lower, found.upper) == (0, 1)


@pytest.mark.parametrize("function", BOUNDED)
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"values": [0.2, 1.5]}, DataError, "values row 1 is 1.5.*low=0 and high=1"),
        ({"values": [0.2, 0.5], "low": 0.3}, DataError, "values row 0 is 0.2.*low=0.3"),
        (
            {"values": [0.2], "low": 1, "high": 1},
            OptionError,
            "low is 1; expected a number below high=1",
        ),
        ({"values": [0.2], "high": math.inf}, OptionError, "high is inf"),
        ({"values": [0.2], "confidence": 1}, OptionError, "confidence is 1; expected a number"),
        ({"values": [0.2], "side": None}, OptionError, "side is None"),
    ],
)
def test_wrong_ranges_are_refused(function, arguments, error, message):
    with pytest.raises(error, match=message):
        function(**arguments)


@pytest.mark.parametrize("function", [normal_mean, *BOUNDED])
def test_nothing_to_average(function):
    with pytest.raises(EmptyDataError, match="values has no rows"):
        function([])


@given(shares, levels)
def test_limits_are_around_the_mean_and_within_the_range(x, confidence):
    for function in BOUNDED:
        found = function(x, confidence=confidence)
        assert 0 <= found.lower <= found.value + 1e-12
        assert found.value - 1e-12 <= found.upper <= 1


@given(shares, levels)
def test_mirrored_values_have_mirrored_limits(x, confidence):
    for function in (normal_mean, *BOUNDED):
        one, two = (function(v, confidence=confidence) for v in (x, 1 - x))
        assert (one.lower, one.upper) == pytest.approx((1 - two.upper, 1 - two.lower), abs=1e-7)


@given(shares, levels, levels)
def test_more_confidence_is_wider(x, first, second):
    low, high = sorted((first, second))
    for function in (normal_mean, *BOUNDED):
        narrow, wide = (function(x, confidence=c) for c in (low, high))
        assert wide.lower <= narrow.lower + 1e-9
        assert wide.upper >= narrow.upper - 1e-9


@given(shares, st.floats(0.1, 50), st.floats(-20, 20))
def test_limits_follow_the_scale(x, factor, shift):
    for function in BOUNDED:
        plain = function(x)
        moved = function(
            np.clip(shift + factor * x, shift, shift + factor), low=shift, high=shift + factor
        )
        scaled = (shift + factor * plain.lower, shift + factor * plain.upper)
        assert (moved.lower, moved.upper) == pytest.approx(scaled, abs=1e-7 * (1 + factor))


@given(shares, st.randoms())
def test_order_does_not_matter_without_bets(x, random):
    shuffled = np.array(random.sample(list(x), len(x)))
    for function in (normal_mean, bernstein_mean):
        one, two = function(x), function(shuffled)
        assert (one.lower, one.upper) == pytest.approx((two.lower, two.upper), abs=1e-9)


@given(shares, st.floats(0.01, 100))
def test_equal_weights_weigh_nothing_and_repeats_narrow(x, weight):
    plain = normal_mean(x)
    weighted = normal_mean(x, sample_weight=np.full(len(x), weight))
    assert (weighted.lower, weighted.upper) == pytest.approx((plain.lower, plain.upper), abs=1e-7)
    for function in (normal_mean, bernstein_mean):
        once, twice = function(x), function(np.tile(x, 2))
        assert twice.lower >= once.lower - 1e-9
        assert twice.upper <= once.upper + 1e-9


def test_clusters_count_by_their_weight():
    """Rows of weight 0 change nothing, and one cluster that is nearly everything tells nothing."""
    x, c = np.array([1.0, 2, 3, 4, 5, 6]), np.array([0, 0, 1, 1, 2, 3])
    w = np.array([1.0, 1, 1, 1, 0, 0])
    all_rows = normal_mean(x, sample_weight=w, clusters=c)
    some = normal_mean(x[:4], sample_weight=w[:4], clusters=c[:4])
    assert all_rows.n == some.n == 2
    sizes = np.repeat(np.arange(10), [2000, *[1] * 9])
    assert np.isinf(normal_mean(np.arange(2009.0), clusters=sizes).upper)
