"""Clopper–Pearson, Wilson and binomial KL: oracles, edges and what holds for all counts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, hypergeom, norm

from karat.exceptions import DataError, OptionError
from karat.limits import binomial_kl, clopper_pearson, wilson
from karat.limits.proportions import (
    clopper_pearson_limits,
    hypergeometric_limits,
    kl_limits,
    wilson_limits,
)

LIMITS = [clopper_pearson, wilson, binomial_kl]
KERNELS = [clopper_pearson_limits, wilson_limits, kl_limits]
COUNTS = [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (1, 1000), (499, 1000), (37, 12345)]
counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
fractions = st.tuples(st.floats(0, 1), st.floats(0.01, 1e6)).map(lambda p: (p[0] * p[1], p[1]))
levels = st.floats(0.01, 0.999)


def kl(q, p):
    """Return the divergence of two coins, term by term."""
    if p in (0.0, 1.0):
        return 0.0 if q == p else math.inf
    one = q * math.log(q / p) if q > 0 else 0.0
    two = (1 - q) * math.log((1 - q) / (1 - p)) if q < 1 else 0.0
    return one + two


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(("x", "n"), COUNTS)
@pytest.mark.parametrize(
    ("function", "name"), [(clopper_pearson, "exact"), (wilson, "wilson")], ids=["exact", "wilson"]
)
def test_limits_are_those_of_scipy(function, name, x, n, confidence):
    for side, alternative in (("both", "two-sided"), ("lower", "greater"), ("upper", "less")):
        theirs = binomtest(x, n, alternative=alternative).proportion_ci(confidence, method=name)
        ours = function(x, n, confidence=confidence, side=side)
        assert (ours.lower, ours.upper) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@pytest.mark.parametrize(("x", "n"), [(0, 7), (2, 7), (7, 7), (40, 90)])
def test_clopper_pearson_cuts_binomial_tails(x, n):
    found = clopper_pearson(x, n, confidence=0.9)
    chances = [
        math.comb(n, k) * found.lower**k * (1 - found.lower) ** (n - k) for k in range(n + 1)
    ]
    assert sum(chances[x:]) == pytest.approx(0.05 if x else 1.0)
    chances = [
        math.comb(n, k) * found.upper**k * (1 - found.upper) ** (n - k) for k in range(n + 1)
    ]
    assert sum(chances[: x + 1]) == pytest.approx(0.05 if x < n else 1.0)


@pytest.mark.parametrize(("n", "total"), [(5, 12), (12, 12), (11, 12), (1, 12)])
@pytest.mark.parametrize("delta", [0.025, 0.2])
def test_limits_without_replacement_are_what_no_tail_refutes(n, total, delta):
    """Every number of successes among all items is tried."""
    for x in range(n + 1):
        kept = [
            among / total
            for among in range(x, total - (n - x) + 1)
            if hypergeom.sf(x - 1, total, among, n) > delta
            and hypergeom.cdf(x, total, among, n) > delta
        ]
        found = hypergeometric_limits(x, n, total, delta)
        assert found == (pytest.approx(kept[0]), pytest.approx(kept[-1]))


@pytest.mark.parametrize(("x", "n"), [(0, 20), (1, 20), (10, 20), (13.7, 20), (20, 20), (5, 2000)])
def test_kl_limits_are_the_ends_of_a_grid(x, n):
    found = binomial_kl(x, n, confidence=0.9)
    grid = np.linspace(0, 1, 20_001)
    kept = [p for p in grid if n * kl(x / n, p) <= math.log(1 / 0.05)]
    assert found.lower == pytest.approx(min(kept), abs=5.1e-5)
    assert found.upper == pytest.approx(max(kept), abs=5.1e-5)


@pytest.mark.parametrize("n", [1, 12, 5000])
def test_no_success_has_a_closed_form(n):
    delta = 0.05
    assert clopper_pearson(0, n, side="upper").upper == pytest.approx(1 - delta ** (1 / n))
    assert binomial_kl(0, n, side="upper").upper == pytest.approx(1 - delta ** (1 / n))
    z = norm.ppf(0.95)
    assert wilson(0, n, side="upper").upper == pytest.approx(z**2 / (n + z**2))
    for function in LIMITS:
        assert function(0, n).lower == 0.0
        assert function(n, n).upper == 1.0


@pytest.mark.parametrize("function", LIMITS)
def test_without_trials_nothing_is_known(function):
    found = function(0, 0)
    assert (found.lower, found.upper, found.n) == (0.0, 1.0, 0.0)
    assert math.isnan(found.value)
    assert "nothing was seen" in found.summary()


def test_what_the_limits_rest_on():
    assert clopper_pearson(3, 10).guarantee == "exact"
    assert clopper_pearson(3.5, 10).guarantee == "approximate"
    assert clopper_pearson(3, 10.5).guarantee == "approximate"
    assert binomial_kl(3.5, 10).guarantee == "finite-sample"
    assert binomial_kl(3.5, 10.5).guarantee == "approximate"
    assert wilson(3, 10).guarantee == "approximate"


@pytest.mark.parametrize("function", LIMITS)
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"successes": 11, "n": 10}, DataError, "successes is 11 and n is 10.*at most n"),
        ({"successes": -1, "n": 10}, OptionError, "successes is -1"),
        ({"successes": 1, "n": math.inf}, OptionError, "n is inf"),
        ({"successes": math.nan, "n": 10}, OptionError, "successes is nan"),
        ({"successes": "3", "n": 10}, OptionError, "successes is '3'"),
        ({"successes": 3, "n": 10, "side": "two"}, OptionError, "'both', 'lower' or 'upper'"),
        (
            {"successes": 3, "n": 10, "confidence": 95},
            OptionError,
            "confidence is 95.*between 0 and 1",
        ),
    ],
)
def test_wrong_counts_are_refused(function, arguments, error, message):
    with pytest.raises(error, match=message):
        function(**arguments)


@pytest.mark.parametrize("kernel", KERNELS)
def test_arrays_are_done_at_once(kernel):
    x, n = np.array([[0.0, 3.0], [10.0, 0.0]]), np.array([10.0, 10.0])
    low, high = kernel(x, n, 0.1)
    assert low.shape == high.shape == (2, 2)
    for at in np.ndindex(2, 2):
        one = kernel(x[at], 10.0, 0.1)
        assert (low[at], high[at]) == (float(one[0]), float(one[1]))


@given(counts | fractions, levels)
def test_limits_are_ordered_and_within_the_range(count, confidence):
    for function in LIMITS:
        found = function(*count, confidence=confidence)
        assert 0 <= found.lower <= found.upper <= 1
        assert found.lower <= found.value + 1e-12
        assert found.upper >= found.value - 1e-12


@given(counts | fractions, levels)
def test_failures_have_the_mirrored_limits(count, confidence):
    x, n = count
    for function in LIMITS:
        one, two = (function(y, n, confidence=confidence) for y in (x, n - x))
        assert (one.lower, one.upper) == pytest.approx((1 - two.upper, 1 - two.lower), abs=1e-9)


@given(counts | fractions, levels, levels)
def test_more_confidence_is_wider(count, first, second):
    low, high = sorted((first, second))
    for function in LIMITS:
        narrow, wide = (function(*count, confidence=c) for c in (low, high))
        assert wide.lower <= narrow.lower + 1e-9
        assert wide.upper >= narrow.upper - 1e-9


@given(counts, levels)
def test_the_same_share_of_more_trials_is_narrower(count, confidence):
    x, n = count
    for function in (wilson, binomial_kl):
        few, many = (function(t * x, t * n, confidence=confidence) for t in (1, 2))
        assert few.lower <= many.lower + 1e-9
        assert few.upper >= many.upper - 1e-9


@given(counts, levels)
def test_one_side_takes_all_of_the_error(count, confidence):
    for function in LIMITS:
        both = function(*count, confidence=confidence)
        level = (1 + confidence) / 2
        assert function(*count, confidence=level, side="lower").lower == pytest.approx(both.lower)
        assert function(*count, confidence=level, side="upper").upper == pytest.approx(both.upper)
        assert function(*count, confidence=level, side="lower").upper == 1.0


@given(counts, levels)
def test_the_inequality_is_wider_than_the_law(count, confidence):
    exact = clopper_pearson(*count, confidence=confidence)
    chernoff = binomial_kl(*count, confidence=confidence)
    assert chernoff.lower <= exact.lower + 1e-9
    assert chernoff.upper >= exact.upper - 1e-9


@pytest.mark.parametrize("n", [1, 8, 30, 101])
def test_coverage_is_at_least_what_is_said(n):
    """Coverage of all p is a sum over counts: no draw is needed.

    It is least just beyond a limit, where one count more is missed.
    """
    x, said = np.arange(n + 1.0), 0.9
    for kernel, least in ((clopper_pearson_limits, said), (kl_limits, said), (wilson_limits, 0.7)):
        low, high = kernel(x, float(n), (1 - said) / 2)
        ends = np.concatenate([low, high, np.linspace(0, 1, 301)])
        p = np.clip(np.concatenate([ends - 1e-10, ends + 1e-10]), 0, 1)
        inside = (low[:, None] <= p) & (p <= high[:, None])
        covered = (binom.pmf(x[:, None], n, p) * inside).sum(axis=0)
        assert covered.min() >= least - 1e-6
        if kernel is wilson_limits and n > 5:
            assert covered.min() < said, "the documentation says that it falls below"
            assert np.mean(covered[-301:]) == pytest.approx(said, abs=0.03)
