"""How often limits of means hold: simulations of laws whose means are known.

2,000 samples notice a coverage of .925 where .95 is promised, and 400 one of .90.
"""

import numpy as np
import pytest

from karat.limits import (
    bernstein_mean,
    betting_mean,
    bootstrap,
    normal_mean,
    prediction_powered_mean,
)
from karat.limits.proportions import clopper_pearson_limits, kl_limits, wilson_limits

pytestmark = pytest.mark.slow

LAWS = {
    "coin": (0.5, lambda rng, n: rng.random(n) < 0.5),
    "rare": (0.02, lambda rng, n: rng.random(n) < 0.02),
    "skewed": (0.1, lambda rng, n: rng.beta(0.1, 0.9, n)),
    "narrow": (0.5, lambda rng, n: 0.5 + 0.01 * rng.uniform(-1, 1, n)),
    "even": (0.5, lambda rng, n: rng.random(n)),
}


def hits(function, law, n, runs, **options):
    mean, draw = LAWS[law]
    rng = np.random.default_rng(n)
    found = (function(np.asarray(draw(rng, n), float), **options) for _ in range(runs))
    return sum(r.lower <= mean <= r.upper for r in found)


@pytest.mark.parametrize("side", ["both", "lower", "upper"])
@pytest.mark.parametrize("n", [5, 60, 400])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("function", [bernstein_mean, betting_mean])
def test_limits_for_any_number_of_items_hold(function, law, n, side, fails):
    runs = 160
    assert not fails(hits(function, law, n, runs, confidence=0.8, side=side), runs, 0.8)


def test_a_third_of_the_width_would_not_do(fails):
    rng, runs, narrow = np.random.default_rng(1), 300, 0
    for _ in range(runs):
        found = betting_mean((rng.random(200) < 0.5).astype(float), side="lower")
        narrow += found.value - (found.value - found.lower) / 3 <= 0.5
    assert fails(narrow, runs, 0.95)


@pytest.mark.parametrize(("law", "n"), [("coin", 100), ("even", 10), ("narrow", 10)])
def test_normal_limits_hold_where_values_are_not_skewed(law, n, fails):
    runs = 2000
    seen = hits(normal_mean, law, n, runs)
    assert not fails(seen, runs, 0.945)
    assert fails(hits(normal_mean, "rare", 20, runs), runs, 0.9), "few rare values are not normal"


@pytest.mark.parametrize("n", [20, 200])
def test_limits_of_proportions_hold(n, fails):
    rng, runs = np.random.default_rng(n), 20_000
    for p in (0.03, 0.3, 0.9):
        x = rng.binomial(n, p, runs).astype(float)
        for kernel in (clopper_pearson_limits, kl_limits):
            low, high = kernel(x, float(n), 0.025)
            assert not fails(np.sum((low <= p) & (p <= high)), runs, 0.95)
    low, high = wilson_limits(rng.binomial(n, 0.4, runs).astype(float), float(n), 0.025)
    assert not fails(np.sum((low <= 0.4) & (high >= 0.4)), runs, 0.925)


def test_a_sum_of_values_is_as_good_as_a_count(fails):
    """Chernoff's limits for values that are not 0 and 1."""
    rng, runs, n = np.random.default_rng(0), 20_000, 30
    for a, b in ((0.2, 0.2), (1, 9), (0.1, 0.02)):
        low, high = kl_limits(rng.beta(a, b, (runs, n)).sum(axis=1), float(n), 0.1)
        mean = a / (a + b)
        assert not fails(np.sum((low <= mean) & (mean <= high)), runs, 0.8)


def test_weights_and_clusters_are_allowed_for(fails):
    rng, runs, n = np.random.default_rng(1), 2000, 120
    weighted = clustered = ignored = 0
    for _ in range(runs):
        group = rng.random(n) < 0.3  # drawn three times as often as it should be
        x = rng.normal(size=n) + 2 * group
        found = normal_mean(x, sample_weight=np.where(group, 1 / 3, 1.0))
        weighted += found.lower <= 2 * 0.1 / (0.1 + 0.7) <= found.upper
        c = rng.integers(0, 40, n)
        y = rng.normal(size=40)[c] + rng.normal(size=n)
        found = normal_mean(y, clusters=c)
        clustered += found.lower <= 0 <= found.upper
        found = normal_mean(y)
        ignored += found.lower <= 0 <= found.upper
    assert not fails(weighted, runs, 0.935)
    assert not fails(clustered, runs, 0.925)
    assert fails(ignored, runs, 0.9)


@pytest.mark.parametrize("multipliers", ["multinomial", "gamma"])
def test_bootstrap_limits_of_a_ratio_hold_in_large_samples(multipliers, fails):
    rng, runs = np.random.default_rng(2), 400
    law = np.array([0.3, 0.1, 0.15, 0.45])  # TP, FP, FN, TN
    f1 = lambda w: 2 * w[0] / (2 * w[0] + w[1] + w[2])  # noqa: E731
    seen = 0
    for _ in range(runs):
        r = bootstrap(f1, rng.multinomial(300, law), multipliers=multipliers, rng=rng)
        seen += r.lower <= f1(law) <= r.upper
    assert not fails(seen, runs, 0.94)


@pytest.mark.parametrize("finite", [False, True])
@pytest.mark.parametrize("kind", ["right", "useless", "misleading"])
def test_prediction_powered_limits_hold_whatever_the_predictions(kind, finite, fails):
    rng, runs, n, total = np.random.default_rng(3), 1200, 60, 600
    seen = certain = labels = 0
    width = alone = 0.0
    for _ in range(runs):
        p = rng.beta(0.5, 0.3, total)
        f = (rng.random(total) < p).astype(float)
        m = {"right": p, "useless": rng.random(total), "misleading": 1 - p}[kind]
        r = prediction_powered_mean(f[:n], m[:n], m[n:], finite=finite)
        mean = f.mean() if finite else 0.5 / 0.8
        seen += r.lower <= mean <= r.upper
        labels += r.labels.lower <= mean <= r.labels.upper
        certain += r.certain.lower <= mean <= r.certain.upper
        width, alone = width + r.width, alone + r.labels.width
    assert not fails(seen, runs, 0.935)
    assert not fails(labels, runs, 0.94)
    assert not fails(certain, runs, 0.95)
    assert width < (1.01 if kind == "useless" else 0.8) * alone


@pytest.mark.parametrize("n", [20, 50, 200])
@pytest.mark.parametrize("right", [0.6, 0.9])
def test_prediction_powered_limits_of_few_labels_hold_and_beat_wilsons(n, right, fails):
    """600 samples notice .93 against .87: one useful source, and five of which one is useful."""
    rng, runs, total = np.random.default_rng(4), 600, 1000
    seen, width, alone = np.zeros(2), np.zeros(2), 0.0
    for _ in range(runs):
        p = rng.beta(2 * right, 2 * (1 - right), total)
        f = (rng.random(total) < p).astype(float)
        m = np.column_stack([p, rng.random((total, 4))])
        for at, x in enumerate((m[:, 0], m)):
            r = prediction_powered_mean(f[:n], x[:n], x[n:])
            seen[at] += r.lower <= right <= r.upper
            width[at] += r.width
        alone += r.labels.width
    print(f"{n} labels of {right}: covered {seen / runs}, width {width / alone} of Wilson's")
    assert not any(fails(s, runs, 0.93) for s in seen)
    assert (width < 1.02 * alone).all()


def test_weighted_labels_cover(fails):
    """Items are labelled with probabilities that go with the answer; the weights undo it."""
    rng, runs, total = np.random.default_rng(5), 2000, 2000
    seen = 0
    for _ in range(runs):
        p = rng.beta(1, 1, total)
        f = (rng.random(total) < p).astype(float)
        chance = 0.02 + 0.06 * p
        taken = rng.random(total) < chance
        r = prediction_powered_mean(f[taken], p[taken], p[~taken], sample_weight=1 / chance[taken])
        seen += r.lower <= 0.5 <= r.upper
    assert not fails(seen, runs, 0.935)
