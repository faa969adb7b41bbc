"""What `fit` reports is what `predict` does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from karat.metrics import as_metric
from karat.optimize import FrankWolfeClassifier, PlugInClassifier

FEW = settings(max_examples=25, deadline=None)


def draw(seed, k, n=80):
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(k, 0.7), n)
    y = (rng.random((n, 1)) > proba.cumsum(axis=1)).sum(axis=1).clip(max=k - 1)
    y[: 2 * k] = np.tile(np.arange(k), 2)
    basis = np.column_stack([np.ones(n), rng.random(n) < 0.5])
    return proba, y, basis


def score(metric, y, shares, **options):
    return as_metric(metric).score(y, shares, **options)


@FEW
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(2, 3),
    metric=st.sampled_from(["g_mean", "balanced_accuracy", "accuracy"]),
    gradient=st.sampled_from(["known", "probed"]),
    step=st.sampled_from(["harmonic", "line-search"]),
    weighted=st.booleans(),
)
@pytest.mark.filterwarnings("ignore::karat.exceptions.UndefinedMetricWarning")
def test_history_is_of_the_mixture_that_predicts(seed, k, metric, gradient, step, weighted):
    proba, y, basis = draw(seed, k)
    weight = np.random.default_rng(seed).uniform(0.1, 2, len(y)) if weighted else None
    clf = FrankWolfeClassifier(metric=metric, gradient=gradient, step=step, n_iter=6)
    clf.fit_from_proba(proba, y, basis=basis, sample_weight=weight)
    shares = clf.predict_proba_from_proba(proba, basis=basis)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    assert shares.min() >= 0
    found = score(metric, y, shares, sample_weight=weight)
    assert clf.history_.value == pytest.approx(found, abs=1e-9)
    mixture = clf.mixture_
    assert mixture.start + mixture.shares.sum() == pytest.approx(1)
    sure = FrankWolfeClassifier(
        metric=metric, gradient=gradient, step=step, n_iter=6, deterministic=True
    ).fit_from_proba(proba, y, basis=basis, sample_weight=weight)
    predicted = sure.predict_from_proba(proba, basis=basis)
    np.testing.assert_array_equal(predicted, np.argmax(shares, axis=1))
    assert sure.history_.deterministic == pytest.approx(
        score(metric, y, predicted, sample_weight=weight), abs=1e-9
    )
    np.testing.assert_array_equal(
        sure.predict_proba_from_proba(proba, basis=basis), np.eye(k)[predicted]
    )
    baseline = score(metric, y, np.argmax(proba, axis=1), sample_weight=weight, classes=range(k))
    assert clf.history_.baseline == pytest.approx(baseline, abs=1e-9)


@FEW
@given(seed=st.integers(0, 10**6), k=st.integers(2, 3))
def test_a_row_is_predicted_alike_whatever_comes_with_it(seed, k):
    proba, y, basis = draw(seed, k)
    clf = FrankWolfeClassifier(n_iter=5, rng=seed).fit_from_proba(proba, y, basis=basis)
    all_rows = clf.predict_from_proba(proba, basis=basis)
    np.testing.assert_array_equal(all_rows, clf.predict_from_proba(proba, basis=basis))
    some = np.random.default_rng(seed).permutation(len(y))[:30]
    np.testing.assert_array_equal(
        all_rows[some], clf.predict_from_proba(proba[some], basis=basis[some])
    )
    # A library may differ in the last digits from batch to batch.
    close = proba + np.linspace(-1e-13, 1e-13, k)
    assert (clf.mixture_.draw(close, basis) == clf.mixture_.draw(proba, basis)).mean() > 0.9


@pytest.fixture(scope="module")
def mixed():
    """A classifier that randomises in most rows."""
    proba, y, _ = draw(0, 3, 4000)
    clf = FrankWolfeClassifier(metric="g_mean", n_iter=3, rng=5).fit_from_proba(proba, y)
    return clf, proba, y


def test_draws_have_the_frequencies_of_the_shares(mixed):
    clf, _, _ = mixed
    fresh = np.random.default_rng(1).dirichlet(np.full(3, 0.7), 200_000)
    shares, codes = clf.predict_proba_from_proba(fresh), clf.predict_from_proba(fresh)
    kinds, where = np.unique(shares.round(12), axis=0, return_inverse=True)
    assert len(kinds) > 3
    for at, kind in enumerate(kinds):
        rows = codes[where.reshape(-1) == at]
        for j in range(3):
            low, high = binom.interval(1 - 1e-6, len(rows), kind[j])
            assert low <= (rows == j).sum() <= high


def test_the_seed_changes_draws_and_nothing_else(mixed):
    clf, proba, y = mixed
    other = FrankWolfeClassifier(metric="g_mean", n_iter=3, rng=6).fit_from_proba(proba, y)
    np.testing.assert_array_equal(
        clf.predict_proba_from_proba(proba), other.predict_proba_from_proba(proba)
    )
    drawn = clf.predict_from_proba(proba) != other.predict_from_proba(proba)
    random = clf.predict_proba_from_proba(proba).max(axis=1) < 1
    assert random.any()
    assert drawn[random].any()
    assert not drawn[~random].any()
    again = FrankWolfeClassifier(metric="g_mean", n_iter=3, rng=5).fit_from_proba(proba, y)
    np.testing.assert_array_equal(clf.predict_from_proba(proba), again.predict_from_proba(proba))


def test_a_generator_is_a_seed_that_is_drawn_once(mixed):
    _, proba, y = mixed
    clf = FrankWolfeClassifier(n_iter=3, rng=np.random.default_rng(1)).fit_from_proba(proba, y)
    np.testing.assert_array_equal(clf.predict_from_proba(proba), clf.predict_from_proba(proba))


def test_without_chance_the_history_speaks_of_what_is_predicted(mixed):
    _, proba, y = mixed
    clf = FrankWolfeClassifier(metric="g_mean", deterministic=True).fit_from_proba(proba, y)
    found = as_metric("g_mean").score(y, clf.predict_from_proba(proba))
    assert clf.history_.value == pytest.approx(found, abs=1e-12)
    assert f"{found:.4f}" in clf.history_.summary()


def test_one_rule_decides_alone(mixed):
    _, proba, y = mixed
    clf = PlugInClassifier(metric="balanced_accuracy").fit_from_proba(proba, y)
    assert clf.mixture_.start == 0
    assert clf.mixture_.shares.tolist() == [1.0]
    assert clf.history_.value == pytest.approx(clf.history_.deterministic)
    assert np.isin(clf.predict_proba_from_proba(proba), [0, 1]).all()


def test_evaluations_are_counted(mixed):
    _, proba, y = mixed
    calls = []

    def metric(y_true, shares):
        calls.append(len(shares))
        return float(np.prod([shares[y_true == i, i].mean() for i in range(3)]))

    clf = FrankWolfeClassifier(metric=metric, n_iter=4).fit_from_proba(proba, y)
    # Two more are for the report: the most probable class, and the deterministic variant.
    assert len(calls) == clf.history_.n_evaluations[-1] + 2
    assert (np.diff(clf.history_.n_evaluations) > 0).all()


def test_a_plateau_ends_the_search(mixed):
    """A metric that is content with a recall of 0.9."""
    _, proba, y = mixed

    def metric(y_true, shares):
        return min(0.9, shares[y_true == 2, 2].mean())

    clf = FrankWolfeClassifier(metric=metric).fit_from_proba(proba, y)
    assert clf.history_.value == 0.9
    assert clf.n_iter_ < 20


def test_a_metric_that_writes_to_the_shares_does_no_harm(mixed, as_function):
    _, proba, y = mixed
    honest = as_function(as_metric("g_mean"))

    def rude(y_true, shares):
        value = honest(y_true, shares)
        shares[:] = 0.0
        return value

    one, other = (
        FrankWolfeClassifier(metric=m, n_iter=4).fit_from_proba(proba, y) for m in (honest, rude)
    )
    np.testing.assert_array_equal(one.history_.values, other.history_.values)


def test_each_rule_joins_with_the_share_of_its_turn(mixed):
    """2/(t+2), t counted from the last rule that replaced all others."""
    _, proba, y = mixed
    clf = FrankWolfeClassifier(metric="g_mean", n_iter=12).fit_from_proba(proba, y)
    steps, turn = clf.history_.shares, 0
    assert steps[0] == 1
    for share in steps:
        turn = 0 if share == 1 else turn + 1
        assert share == pytest.approx(2 / (turn + 2))
    values = clf.history_.values
    best = int(np.argmax(values)) if values[-1] < clf.history_.baseline else len(values) - 1
    assert clf.history_.value == values[best]
    steps = steps[: best + 1]
    last = np.flatnonzero(steps == 1)[-1]
    kept = [g * np.prod(1 - steps[t + 1 :]) for t, g in enumerate(steps)][last:]
    np.testing.assert_allclose(clf.mixture_.shares, kept)
    assert clf.mixture_.start == 0
