"""What a search attains: beside what `maximise` says is attainable, and beside other steps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.decisions import Attainable, maximise
from karat.metrics import FairMetric, FairQuadraticMetric, LinearMetric, f_beta, g_mean
from karat.optimize import FrankWolfeClassifier

METRICS = {
    "fair": FairMetric([1, 2], [[1, 1]], 0.6),
    "fair, quadratic": FairQuadraticMetric([1, 1], 20 * np.eye(2)[None], 0.5),
    "F1": f_beta(1),
    "G-mean": g_mean,
    "linear": LinearMetric([[1.0, -0.3], [-2.0, 1.5]]),
}


def rows_of(n, rng, k=2):
    """Miscalibrated probabilities, labels, and groups with other base rates."""
    groups = rng.integers(0, 2, n)
    logits = 1.5 * rng.normal(size=(n, k))
    logits[:, -1] += np.where(groups == 1, -1.5, 0.5)
    truth = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    proba = np.exp(0.7 * logits) / np.exp(0.7 * logits).sum(axis=1, keepdims=True)
    y = (truth.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return proba, y, groups


@pytest.mark.parametrize("sees", [True, False], ids=["sees groups", "does not"])
@pytest.mark.parametrize("name", METRICS)
def test_two_classes_attain_what_is_attainable(name, sees):
    """With ``step="corrective"``, which is the default for metrics of groups and ratios."""
    metric = METRICS[name]
    for seed in range(3):
        proba, y, groups = rows_of(700, np.random.default_rng(seed))
        compared = groups if metric.n_groups else None
        basis = np.eye(2)[groups] if sees and metric.n_groups else None
        step = None if name in ("fair", "fair, quadratic", "F1") else "corrective"
        clf = FrankWolfeClassifier(metric=metric, step=step)
        clf.fit_from_proba(proba, y, basis=basis, groups_val=compared)
        some = Attainable.from_proba(y, proba, groups=compared, sees_groups=sees)
        most = maximise(metric, some)
        assert most.certified
        assert clf.history_.value == pytest.approx(most.value, abs=1e-6)
        shares = clf.predict_proba_from_proba(proba, basis=basis)
        assert metric.score(y, shares, groups=compared) == pytest.approx(most.value, abs=1e-6)


@settings(max_examples=40)
@given(
    st.sampled_from([FairMetric, FairQuadraticMetric]),
    st.integers(2, 3),
    st.floats(0, 1),
    st.sampled_from(["known", "probed"]),
    st.sampled_from(["constant", "groups", "a hint"]),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_a_line_search_is_never_below_fixed_shares(
    kind, k, tradeoff, gradient, basis, deterministic, seed
):
    rng = np.random.default_rng(seed)
    proba, y, groups = rows_of(160, rng, k)
    y[: 2 * k], groups[: 2 * k] = np.tile(np.arange(k), 2), np.repeat([0, 1], k)
    q = k * k - k
    half = rng.normal(size=(q, q))
    violation = rng.random((1, q)) if kind is FairMetric else (half @ half.T)[None]
    metric = kind(rng.random(q), violation, tradeoff)
    hint = np.where(rng.random(160) < 0.9, groups, 1 - groups)
    functions = {
        "constant": None, "groups": np.eye(2)[groups],
        "a hint": np.column_stack([np.ones(160), hint]),
    }[basis]  # fmt: skip
    values = []
    for step in ("harmonic", "line-search"):
        clf = FrankWolfeClassifier(
            metric=metric, step=step, gradient=gradient, n_iter=6, deterministic=deterministic
        )
        clf.fit_from_proba(proba, y, basis=functions, groups_val=groups)
        values.append(clf.history_.value)
    assert values[1] >= values[0] - 1e-12


def test_a_ridge_is_followed():
    """A largest gap between groups: two thresholds must change together, and they do."""
    rng = np.random.default_rng(5)
    proba, y, groups = rows_of(4000, rng)
    second = proba[:, 1]

    def even(y_true, shares, groups):
        rates = [shares[(groups == g) & (y_true == c), c].mean() for g in (0, 1) for c in (0, 1)]
        right = shares[np.arange(len(y_true)), y_true].mean()
        return right - max(abs(rates[0] - rates[2]), abs(rates[1] - rates[3]))

    clf = FrankWolfeClassifier(metric=even)
    clf.fit_from_proba(proba, y, basis=np.eye(2)[groups], groups_val=groups)
    cuts = np.linspace(0.05, 0.95, 37)
    grid = max(
        even(y, np.eye(2)[(second >= np.where(groups == 0, a, b)).astype(int)], groups)
        for a in cuts
        for b in cuts
    )
    assert clf.history_.value > grid - 0.005
    assert clf.history_.kept == "rule"
    assert clf.history_.n_evaluations[-1] <= 150
