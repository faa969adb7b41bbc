"""The limits hold on simulated votes, and votes that do identify the rates are not suspected."""

import warnings

import numpy as np
import pytest

from karat.consensus import ErrorEstimator

pytestmark = pytest.mark.slow
RUNS = 16


def fit(votes, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ErrorEstimator(draws=200, rng=0, **options).fit(votes)


def independent(rng, n, voters, worst):
    rates = rng.uniform(0.05, worst, voters)
    y = rng.random(n) < 0.4
    return rates, np.where(rng.random((n, voters)) < rates, ~y[:, None], y[:, None]).astype(int)


@pytest.mark.parametrize(("voters", "n"), [(3, 1000), (5, 300), (20, 300)])
def test_independent_voters_are_identified_and_covered(voters, n):
    rng = np.random.default_rng(voters * n)
    inside, known = [], []
    for _ in range(RUNS):
        rates, votes = independent(rng, n, voters, 0.3)
        est = fit(votes)
        r = est.result_
        inside.append(((r.lower <= rates) & (rates <= r.upper)).mean())
        known.append(est.identified_["all"])
    assert np.mean(inside) > 0.92
    assert np.mean(known) > 0.9


def test_limits_that_assume_independence_fail_where_items_are_hard_and_ours_do_not():
    rng = np.random.default_rng(3)
    ours, naive = [], []
    for _ in range(RUNS // 2):
        voters, n = 8, 800
        hard = rng.random(n) < 0.3
        easy_rate, hard_rate = rng.uniform(0.02, 0.1, voters), rng.uniform(0.3, 0.5, voters)
        y = rng.integers(0, 2, n)
        wrong = rng.random((n, voters)) < np.where(hard[:, None], hard_rate, easy_rate)
        votes = np.where(wrong, 1 - y[:, None], y[:, None])
        rates = 0.3 * hard_rate + 0.7 * easy_rate
        for made, options in ((ours, {}), (naive, {"dependence": "none"})):
            # As the models have them: without slack for shared errors, or other accounts.
            low, high = fit(votes, **options)._fits[0].span_limits(0.95)
            made.append(((low <= rates) & (rates <= high)).mean())
    assert np.mean(ours) > 0.95
    assert np.mean(naive) < np.mean(ours) - 0.05


def test_copying_voters_do_not_fool_the_limits():
    rng = np.random.default_rng(4)
    ours, naive = [], []
    for _ in range(RUNS // 2):
        n = 2000
        rates, votes = independent(rng, n, 7, 0.35)
        copies = rng.random(n) < 0.8
        votes[:, 6] = np.where(copies, votes[:, 5], votes[:, 6])
        rates[6] = 0.8 * rates[5] + 0.2 * rates[6]
        for made, options in ((ours, {}), (naive, {"dependence": "none"})):
            # As the models have them: without slack for shared errors, or other accounts.
            low, high = fit(votes, **options)._fits[0].span_limits(0.95)
            made.append(((low <= rates) & (rates <= high)).mean())
    assert np.mean(ours) >= 0.93
    assert np.mean(naive) < 0.8
