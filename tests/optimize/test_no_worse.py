"""A classifier is never worse, on the validation rows, than the model that it was made of."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.elicit import MetricOracle
from karat.exceptions import ProbeError
from karat.metrics import FairMetric, f_beta, g_mean
from karat.optimize import FrankWolfeClassifier, PlugInClassifier, Preferences


def rates_of(y, shares, groups):
    """The rate of every class in every group; 0 for a group without the class."""
    k = shares.shape[1]
    cells = [(groups == g) & (y == c) for g in np.unique(groups) for c in range(k)]
    rates = [shares[cell, i % k].mean() if cell.any() else 0.0 for i, cell in enumerate(cells)]
    return np.reshape(rates, (-1, k))


def black_box(kind, coefficients):
    """A function of shares: smooth, with corners, with plateaus, or of gaps between groups."""

    def metric(y, shares, groups):
        rates = rates_of(y, shares, groups)
        right = float(shares[np.arange(len(y)), y].mean())
        gaps = rates.max(axis=0) - rates.min(axis=0)
        if kind == "largest gap":
            return right - coefficients[0] * gaps.max()
        if kind == "squared gaps":
            return right - 2 * coefficients[0] * float((gaps**2).sum())
        if kind == "wave":
            return float(np.sin(9 * coefficients[0] * rates).sum() + coefficients[1] * right)
        if kind == "steps":
            return float(np.round(4 * rates).mean() + coefficients[1] * right)
        return float(np.prod(np.maximum(rates, 0)) ** (1 / rates.size))

    return metric


@settings(max_examples=60)
@given(
    st.sampled_from(["largest gap", "squared gaps", "wave", "steps", "product"]),
    st.tuples(st.floats(0.1, 2), st.floats(-1, 2)),
    st.integers(2, 3),
    st.sampled_from(["constant", "groups", "overlapping", "sometimes none"]),
    st.sampled_from([None, "harmonic", "line-search"]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_no_function_makes_it_worse(kind, numbers, k, basis, step, deterministic, tied, seed):
    rng = np.random.default_rng(seed)
    n = 120
    proba = rng.dirichlet(np.ones(k), n)
    if tied:
        proba = np.round(2 * proba) + 1e-3
        proba /= proba.sum(axis=1, keepdims=True)
    y = np.append(np.arange(k), (proba[k:].cumsum(axis=1) < rng.random((n - k, 1))).sum(axis=1))
    groups = rng.integers(0, 2, n)
    functions = {
        "constant": np.ones((n, 1)),
        "groups": np.eye(2)[groups],
        "overlapping": np.column_stack([np.ones(n), groups, rng.random(n)]),
        "sometimes none": np.column_stack([groups == 1, rng.random(n) * (groups == 1)]),
    }[basis]
    clf = FrankWolfeClassifier(
        metric=black_box(kind, numbers), n_iter=5, step=step, deterministic=deterministic
    )
    try:
        clf.fit_from_proba(proba, y, basis_val=functions.astype(float), groups_val=groups)
    except ProbeError:  # no slope to follow from the start: said, and nothing is returned
        return
    history = clf.history_
    assert history.value >= history.baseline - 1e-12
    # The classifier that is handed over has that value.
    shares = clf.predict_proba_from_proba(proba, basis=functions.astype(float))
    assert clf.metric(y, shares, groups) == pytest.approx(history.value)
    assert (history.kept == "model") <= (history.value == pytest.approx(history.baseline))


@pytest.mark.parametrize("metric", ["g_mean", f_beta(1), "accuracy"])
@pytest.mark.parametrize("kind", [FrankWolfeClassifier, PlugInClassifier])
def test_known_metrics_are_no_worse(metric, kind):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        p = rng.beta(0.5, 0.5, 60)
        y = np.append([0, 1], rng.random(58) < 0.5).astype(int)  # the model is of no use
        clf = kind(metric=metric).fit_from_proba(np.column_stack([1 - p, p]), y)
        assert clf.history_.value >= clf.history_.baseline - 1e-12


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("step", [None, "harmonic", "line-search"])
def test_fair_metrics_are_no_worse(step, deterministic):
    metric = FairMetric([1, 1], [[1, 1]], 0.5)
    rng = np.random.default_rng(3)
    p, groups = rng.beta(1, 2, 500), rng.integers(0, 2, 500)
    y = (rng.random(500) < p ** (1 + groups)).astype(int)
    clf = FrankWolfeClassifier(metric=metric, step=step, deterministic=deterministic)
    clf.fit_from_proba(
        np.column_stack([1 - p, p]), y, basis_val=np.eye(2)[groups], groups_val=groups
    )
    assert clf.history_.value >= clf.history_.baseline - 1e-12


@pytest.mark.parametrize("deterministic", [False, True])
def test_whoever_prefers_the_model_is_given_it(deterministic):
    """There are no values to compare, so the last question is about the model."""
    kept = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        p = rng.beta(0.5, 0.5, 60)
        y = np.append([0, 1], rng.random(58) < 0.5).astype(int)  # the model is of no use
        asked = Preferences(MetricOracle("g_mean"), tol=0.2)
        clf = FrankWolfeClassifier(metric=asked, n_iter=1, deterministic=deterministic)
        proba = np.column_stack([1 - p, p])
        clf.fit_from_proba(proba, y)
        kept.append(clf.history_.kept)
        ours = g_mean.score(y, clf.predict_proba_from_proba(proba))
        own = g_mean.score(y, np.eye(2)[(p >= 0.5).astype(int)])
        assert ours >= own - 1e-12
        if kept[-1] == "model":
            assert "the model's most probable class was preferred" in clf.history_.summary()
    assert set(kept) == {"mixture", "model"}


def test_it_is_said_where_nothing_is_better():
    p = np.linspace(0.01, 0.99, 200)
    y = (p > 0.5).astype(int)

    def accuracy(y_true, shares):
        return shares[np.arange(len(y_true)), y_true].mean()

    clf = FrankWolfeClassifier(metric=accuracy, step="harmonic", n_iter=1)
    clf.fit_from_proba(np.column_stack([1 - p, p]), 1 - y)  # labels that the model has wrong
    assert clf.history_.value >= clf.history_.baseline
    clf.fit_from_proba(np.column_stack([1 - p, p]), y)  # a model that is never wrong
    assert clf.history_.value == clf.history_.baseline == 1
