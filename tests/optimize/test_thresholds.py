"""For two classes nothing is worse, on the validation rows, than the best of all thresholds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    balanced_accuracy_score,
    confusion_matrix,
    f1_score,
    matthews_corrcoef,
    recall_score,
)
from sklearn.naive_bayes import GaussianNB

from karat.decisions.rules import decide
from karat.metrics import FairMetric, as_metric, cost_matrix
from karat.optimize import (
    CoordinateSearchClassifier,
    CostSensitiveClassifier,
    FrankWolfeClassifier,
    PlugInClassifier,
)
from karat.optimize._probes import Sample
from karat.optimize._search import _between, best_threshold

COSTS = cost_matrix([[0, 1], [10, 0]])


def minus_cost(y, d, sample_weight=None):
    table = confusion_matrix(y, d, labels=[0, 1], sample_weight=sample_weight, normalize="all")
    return -float(table[0, 1] + 10 * table[1, 0])


def g_mean(y, d, sample_weight=None):
    rates = recall_score(y, d, labels=[0, 1], average=None, sample_weight=sample_weight)
    return float(np.sqrt(np.prod(rates)))


def f1(y, d, sample_weight=None):
    return f1_score(y, d, sample_weight=sample_weight, zero_division=0)


METRICS = {
    "cost 10:1": (COSTS, minus_cost),
    "MCC": ("mcc", matthews_corrcoef),
    "F1": ("f1", f1),
    "G-mean": ("g_mean", g_mean),
    "balanced accuracy": ("balanced_accuracy", balanced_accuracy_score),
}
# What the log-odds of a calibrated model are multiplied by.
MODELS = {"overconfident": 4.0, "underconfident": 0.3, "reversed": -1.0, "calibrated": 1.0}
WAYS = {
    "Frank-Wolfe": lambda m: FrankWolfeClassifier(metric=m),
    "deterministic": lambda m: FrankWolfeClassifier(metric=m, deterministic=True),
    "line search": lambda m: FrankWolfeClassifier(metric=m, step="line-search"),
    "labels": lambda m: FrankWolfeClassifier(metric=m, matching="labels"),
    "plug-in": lambda m: PlugInClassifier(metric=m),
    "coordinates": lambda m: CoordinateSearchClassifier(metric=m),
    "costs": lambda m: CostSensitiveClassifier(metric=m),
}


def draw(model, seed, n=250):
    """Rows of a logistic population, and the probabilities of a model of it."""
    rng = np.random.default_rng(seed)
    odds = 2 * rng.normal(size=n) - 1
    y = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    p = 1 / (1 + np.exp(-MODELS[model] * odds))
    return p, y


def of_all_thresholds(score, p, y, weight=None):
    """The best value by trying every threshold, one after the other."""
    cuts = [*np.unique(p), np.inf]
    return max(score(y, (p >= t).astype(int), sample_weight=weight) for t in cuts)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("model", MODELS)
def test_no_threshold_is_better(model, name, way):
    metric, score = METRICS[name]
    if way == "costs" and name != "cost 10:1":
        metric, score = as_metric("accuracy"), lambda y, d, sample_weight: float(np.mean(y == d))
    p, y = draw(model, seed=len(name) + len(model))
    proba = np.column_stack([1 - p, p])
    clf = WAYS[way](metric).fit_from_proba(proba, y)
    shares = clf.predict_proba_from_proba(proba)
    ours = as_metric(metric).score(y, shares)
    best = of_all_thresholds(score, p, y)
    assert ours >= best - 1e-9
    assert ours >= score(y, (p >= 0.5).astype(int), sample_weight=None) - 1e-9
    if set(np.unique(shares)) <= {0.0, 1.0}:  # the value is that of the predictions
        assert ours == pytest.approx(score(y, clf.predict_from_proba(proba), sample_weight=None))


@pytest.mark.parametrize(
    "kind", [FrankWolfeClassifier, PlugInClassifier, CoordinateSearchClassifier]
)
@pytest.mark.parametrize("name", METRICS)
def test_labels_that_are_words_and_weights_of_rows(kind, name):
    """The positive class is the smaller word; repeated rows are rows of greater weight."""
    metric, score = METRICS[name]
    p, y = draw("overconfident", seed=5, n=200)
    weight = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    words = np.where(y == 1, "alarm", "quiet")
    proba = np.column_stack([p, 1 - p])  # in the order of the sorted words
    clf = kind(metric=metric, pos_label="alarm")
    clf.fit_from_proba(proba, words, sample_weight=weight)
    predicted = (clf.predict_from_proba(proba) == "alarm").astype(int)
    best = of_all_thresholds(score, p, y, weight)
    value = clf.value_ if kind is CoordinateSearchClassifier else clf.history_.value
    assert value >= best - 1e-9
    if kind is not FrankWolfeClassifier:  # which may draw
        assert score(y, predicted, sample_weight=weight) >= best - 1e-9


@pytest.mark.parametrize(
    ("low", "high"), [(0.25, 4.0), (1.0, 3.0), (0.1, 0.2), (7.0, np.inf), (0.0, 0.5), (0.0, np.inf)]
)
def test_a_threshold_lies_at_the_middle_probability(low, high):
    odds = _between(low, high)
    top = 1.0 if np.isinf(high) else high / (1 + high)
    assert odds / (1 + odds) == pytest.approx((low / (1 + low) + top) / 2)


def test_costs_of_an_overconfident_model():
    """Naive Bayes with copies of its columns; costs of 10 to 1, then the MCC.

    A plug-in rule takes the probabilities at their word: its threshold of 1/11 is far off.
    """
    rng = np.random.default_rng(0)
    y = (rng.random(3000) < 0.3).astype(int)
    signal = rng.normal(size=(3000, 2)) + 0.8 * y[:, None]
    X = np.hstack([signal] * 6)
    model = GaussianNB().fit(X[:1500], y[:1500])
    proba, truth = model.predict_proba(X[1500:]), y[1500:]
    for metric, score in (METRICS["cost 10:1"], METRICS["MCC"]):
        best = of_all_thresholds(score, proba[:, 1], truth)
        for kind in (FrankWolfeClassifier, PlugInClassifier):
            clf = kind(metric=metric).fit_from_proba(proba, truth)
            assert clf.history_.value >= best - 1e-9
            assert clf.history_.kept in ("rule", "mixture")


@pytest.mark.filterwarnings("ignore::karat.exceptions.UndefinedMetricWarning")
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    tied=st.booleans(),
    groups=st.integers(1, 3),
    some_without_basis=st.booleans(),
)
def test_the_sweep_is_what_its_weights_decide(seed, tied, groups, some_without_basis):
    """The value of the sweep is that of the rule, and no rule of a dense grid is better."""
    rng = np.random.default_rng(seed)
    n = 40
    p = rng.integers(0, 5, n) / 4 if tied else rng.beta(0.3, 0.3, n)
    if not tied and seed % 3 == 0:
        p = 1 / (1 + np.exp(-40 * (p - 0.5)))  # sure to many digits
    member = np.concatenate([np.arange(2 * groups) // 2, rng.integers(0, groups, n - 2 * groups)])
    labels = np.concatenate([np.arange(2 * groups) % 2, rng.integers(0, 2, n - 2 * groups)])
    basis = np.ones((n, 1)) if not some_without_basis else rng.integers(0, 2, (n, 2)).astype(float)
    weight = rng.uniform(0.1, 1, n)
    sample = Sample(
        np.column_stack([1 - p, p]), basis, weight / weight.sum(), labels,
        None if groups == 1 else member, groups,
    )  # fmt: skip
    metric = as_metric("mcc").for_classes(2)
    if groups > 1:
        metric = FairMetric([1, 1], np.ones((groups * (groups - 1) // 2, 2)), 0.5)

    def value(weights):
        codes = decide(sample.proba, np.repeat(weights[None], basis.shape[1], axis=0), basis)
        return float(metric._values(_apart(sample.confusion(codes), groups))[0])

    found = best_threshold(sample, metric)
    assert value(found.weights) == pytest.approx(found.value, abs=1e-12)
    cuts = np.concatenate([p[p > 0], [0.01, 0.5, 0.99]])
    odds = np.concatenate([cuts, 1 - cuts[cuts < 1]])
    for t in odds:
        rule = np.array([t, 1 - t])
        for sign in (1, -1):
            assert found.value >= value(sign * rule) - 1e-9


def _apart(confusion, groups):
    return confusion[None] if groups == 1 else confusion.reshape(1, groups, 2, 2)


def test_kinds_of_rows_have_their_own_best_threshold():
    """With indicators of two kinds as basis, a linear metric is as great as both kinds allow."""
    p, y = draw("overconfident", seed=2, n=600)
    kind = np.arange(600) % 2
    p = np.where(kind == 1, p**3, p)
    basis = np.eye(2)[kind]
    clf = PlugInClassifier(metric=COSTS)
    clf.fit_from_proba(np.column_stack([1 - p, p]), y, basis=basis)
    best = sum(0.5 * of_all_thresholds(minus_cost, p[kind == g], y[kind == g]) for g in (0, 1))
    assert clf.history_.value == pytest.approx(best, abs=1e-9)


def test_weights_of_one_over_the_prior_are_tried():
    """With five classes the worst recall, a metric with corners, is no worse than by 1/prior."""
    rng = np.random.default_rng(4)
    prior = np.array([0.6, 0.2, 0.1, 0.06, 0.04])
    y = np.concatenate([np.arange(5), rng.choice(5, 1995, p=prior)])
    X = rng.normal(size=(2000, 5)) + 1.5 * np.eye(5)[y]
    proba = LogisticRegression().fit(X, y).predict_proba(X)
    clf = FrankWolfeClassifier(metric="g_mean", n_iter=1, deterministic=True)
    clf.fit_from_proba(proba, y)
    balanced = (proba / np.bincount(y)).argmax(axis=1)
    assert clf.history_.value >= as_metric("g_mean").score(y, balanced) - 1e-9


def test_rows_the_model_was_fitted_to_choose_no_threshold():
    """A model that is sure of its own rows says nothing of costs there."""
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.4).astype(int)
    X = rng.normal(size=(300, 3)) + y[:, None]
    clf = CostSensitiveClassifier(LogisticRegression(), COSTS).fit(X, y)
    np.testing.assert_array_equal(clf.rule_[0], COSTS.weights)
