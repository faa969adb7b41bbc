"""The search along one weight, against deciding and counting at each grid point."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.decisions.rules import decide
from karat.metrics import as_metric, f_beta, g_mean
from karat.optimize import CoordinateSearchClassifier
from karat.optimize._classifiers import confusions_along
from karat.optimize._probes import Sample


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 4), ties=st.booleans())
def test_all_confusions_at_once(seed, k, ties):
    """With ties everything is a multiple of a power of 2, so that scores tie exactly."""
    rng = np.random.default_rng(seed)
    n = 50
    proba = rng.multinomial(8, np.full(k, 1 / k), n) / 8 if ties else rng.dirichlet(np.ones(k), n)
    weight = rng.uniform(0.1, 1, n)
    sample = Sample(proba, np.ones((n, 1)), weight / weight.sum(), rng.integers(0, k, n))
    weights = 2.0 ** rng.integers(-2, 3, k) if ties else rng.uniform(0.2, 3, k)
    grid = 2.0 ** np.arange(-4, 5) if ties else np.sort(rng.uniform(0.01, 5, 30))
    j = int(rng.integers(k))
    found = confusions_along(sample, weights, j, grid)
    for value, table in zip(grid, found, strict=True):
        moved = weights.copy()
        moved[j] = value
        codes = decide(proba, moved[None], np.ones((n, 1)))
        np.testing.assert_allclose(table, sample.confusion(codes), atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(2, 3),
    metric=st.sampled_from(["g_mean", "accuracy"]),
)
def test_the_value_is_that_of_the_predictions(seed, k, metric):
    """Votes of ten neighbours tie with points of the grid; rounding must not decide there."""
    rng = np.random.default_rng(seed)
    proba = rng.multinomial(10, np.full(k, 1 / k), 60) / 10
    y = np.append(np.arange(k), rng.integers(0, k, 60 - k))
    clf = CoordinateSearchClassifier(metric=metric, spacing=0.01).fit_from_proba(proba, y)
    predicted = clf.predict_from_proba(proba)
    assert clf.value_ == pytest.approx(as_metric(metric).score(y, predicted, classes=range(k)))


@pytest.mark.parametrize("metric", [g_mean, f_beta(1)], ids=["G-mean", "F1"])
def test_two_classes_get_the_best_threshold(law, metric, rng):
    proba, y = law(2).sample(300, rng)
    clf = CoordinateSearchClassifier(metric=metric).fit_from_proba(proba, y)
    cuts = [metric.score(y, (proba[:, 1] >= t).astype(int)) for t in np.sort(proba[:, 1])[1:]]
    assert clf.value_ == pytest.approx(max(cuts), abs=1e-9)


def test_a_function_is_searched_like_the_metric(law, as_function, rng):
    proba, y = law(3).sample(400, rng)
    one, other = (
        CoordinateSearchClassifier(metric=m, spacing=0.05).fit_from_proba(proba, y)
        for m in (g_mean, as_function(g_mean))
    )
    np.testing.assert_allclose(one.rule_, other.rule_)
    assert one.value_ == pytest.approx(other.value_)
    assert one.n_evaluations_ == other.n_evaluations_ == 2 * 3 * 19


def test_three_classes_come_near_the_best(law, rng):
    where = law(3)
    clf = CoordinateSearchClassifier(metric="g_mean", spacing=1e-3)
    clf.fit_from_proba(*where.sample(20_000, rng))
    assert where.value(g_mean, clf) > where.best_weights(g_mean) - 1e-3


@pytest.mark.parametrize(("spacing", "points"), [(0.5, 1), (0.4, 2), (0.1, 9), (1e-3, 999)])
def test_the_grid_fills_the_interval(law, as_function, spacing, points, rng):
    """For a function: of a metric whose form is known every threshold is tried."""
    clf = CoordinateSearchClassifier(metric=as_function(g_mean), spacing=spacing)
    clf.fit_from_proba(*law(2).sample(50, rng))
    assert clf.n_evaluations_ == points
