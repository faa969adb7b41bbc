"""Power means of the recalls: against SciPy, at their limits, and where a recall is 0."""

import json
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import gmean, hmean, pmean
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from karat.exceptions import MetricError, OptionError, UndefinedMetricWarning
from karat.metrics import (
    LinearMetric,
    PowerMeanMetric,
    balanced_accuracy,
    g_mean,
    load_metric,
    recall,
)

POWERS = st.floats(-30, 30) | st.sampled_from([0.0, 1.0, -1.0, 1e-9, -1e-9, 1e-200])


def draw(seed, k):
    rng = np.random.default_rng(seed)
    return rng, rng.dirichlet(np.full(k * k, 0.5)).reshape(k, k)


def recalls(table):
    return np.diag(table) / table.sum(axis=1)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32), k=st.integers(2, 6), power=POWERS)
def test_values_are_those_of_scipy(seed, k, power):
    rng, table = draw(seed, k)
    weights = rng.random(k)
    found = PowerMeanMetric(weights, power)(table)
    if abs(power) < 1e-3:  # SciPy's own formula loses digits there
        expected = gmean(recalls(table), weights=weights)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-12)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # powers that SciPy overflows at
            expected = pmean(recalls(table), power, weights=weights)
        assume(np.isfinite(expected) and expected > 0)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_means_with_a_name():
    _, table = draw(0, 3)
    r, w = recalls(table), np.array([0.2, 0.5, 0.3])
    assert PowerMeanMetric(w, 1)(table) == pytest.approx(w @ r, rel=1e-14)
    assert PowerMeanMetric(w, 0)(table) == pytest.approx(np.prod(r**w), rel=1e-14)
    assert PowerMeanMetric(w, -1)(table) == pytest.approx(hmean(r, weights=w), rel=1e-14)
    assert PowerMeanMetric(w, -1e6)(table) == pytest.approx(r.min(), rel=1e-5)
    assert PowerMeanMetric(w, -1e300)(table) == pytest.approx(r.min(), rel=1e-12)
    assert PowerMeanMetric(w, 1e300)(table) == pytest.approx(r.max(), rel=1e-12)
    assert PowerMeanMetric([1, 1, 1], 0).equivalent(g_mean)
    assert PowerMeanMetric([1, 1, 1], 1).equivalent(balanced_accuracy)
    assert PowerMeanMetric([0, 2], 1).equivalent(recall)
    assert PowerMeanMetric([0, 2], -3).equivalent(recall)  # a mean of one value is that value
    assert not PowerMeanMetric([1, 1, 1], 0.1).equivalent(g_mean)
    assert not PowerMeanMetric([1, 1, 1], 0, decreasing=True).equivalent(g_mean)
    assert not PowerMeanMetric([1, 2, 1], 0).equivalent(g_mean)


@pytest.mark.parametrize("power", [1e-4, 1e-8, 1e-12, 1e-99, 1e-150, 5e-324])
def test_the_mean_is_continuous_at_power_0(power):
    """``log M_ρ = Σ a_i log r_i + ρ/2 · Var(log r) + O(ρ²)``, without a loss of digits."""
    _, table = draw(1, 4)
    w, logs = np.array([0.1, 0.2, 0.3, 0.4]), np.log(recalls(table))
    spread = w @ logs**2 - (w @ logs) ** 2
    for signed in (power, -power):
        found = np.log(PowerMeanMetric(w, signed)(table))
        expected = w @ logs + 0.5 * signed * spread
        assert found == pytest.approx(expected, rel=1e-13, abs=1e3 * power**2)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), k=st.integers(2, 5), power=POWERS, other=POWERS)
def test_what_every_power_mean_keeps(seed, k, power, other):
    rng, table = draw(seed, k)
    weights = rng.dirichlet(np.ones(k))
    metric, r = PowerMeanMetric(weights, power), recalls(table)
    value = metric(table)
    assert r.min() * (1 - 1e-9) <= value <= r.max() * (1 + 1e-9)
    # A greater power is a greater mean, and more that is found is better.
    if other >= power:
        assert PowerMeanMetric(weights, other)(table) >= value * (1 - 1e-9)
    better, i = table.copy(), int(rng.integers(k))
    better[i] *= 0.5
    better[i, i] += table[i].sum() * 0.5
    assert metric(better) >= value * (1 - 1e-9)
    order = rng.permutation(k)
    swapped = PowerMeanMetric(weights[order], power)
    assert swapped(table[np.ix_(order, order)]) == pytest.approx(value, rel=1e-9)
    assert PowerMeanMetric(weights, power, decreasing=True)(table) == -value
    assert PowerMeanMetric(7 * weights, power)(table) == pytest.approx(value, rel=1e-9)
    if power <= 1:  # concave in the recalls, so in confusions of the same prior
        assert metric.form == ("linear" if power == 1 else "concave")
        half = rng.dirichlet(np.ones(k), size=k) * table.sum(axis=1, keepdims=True)
        assert metric((table + half) / 2) >= (value + metric(half)) / 2 - 1e-9
    else:
        assert metric.form == "smooth"
        assert PowerMeanMetric(weights, power, decreasing=True).form == "concave"


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), k=st.integers(2, 5), power=st.floats(-8, 8))
def test_gradients_are_slopes(seed, k, power):
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.full(k * k, 4.0)).reshape(k, k)
    metric = PowerMeanMetric(rng.dirichlet(np.ones(k)), power, decreasing=bool(rng.integers(2)))
    ahead, step = rng.normal(size=(k, k)) * table, 1e-6
    ahead -= ahead.sum() * table
    rise = (metric(table + step * ahead) - metric(table - step * ahead)) / (2 * step)
    assert np.sum(metric.gradient(table) * ahead) == pytest.approx(rise, rel=1e-4, abs=1e-8)


NEVER = np.array([[0.3, 0.2, 0.0], [0.1, 0.0, 0.1], [0.1, 0.1, 0.1]])  # class 1 is never found


@pytest.mark.parametrize("power", [1.0, 0.5, 0.01, 0.0, -0.01, -1.0, -40.0])
def test_a_class_that_is_never_found(power):
    """The mean is 0 for powers of at most 0, and an ordinary number above; nothing is undefined."""
    metric, ignoring = PowerMeanMetric([1, 1, 2], power), PowerMeanMetric([1, 0, 2], power)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value = metric(NEVER)
        two = ignoring(NEVER)
    r, w = np.array([0.6, 1 / 3]), np.array([1, 2]) / 3
    expected = np.prod(r**w) if power == 0 else (w @ r**power) ** (1 / power)
    assert two == pytest.approx(expected)
    assert np.isfinite(ignoring.gradient(NEVER)).all()
    if power <= 0:
        assert value == 0.0
    else:
        assert value == pytest.approx((np.array([1, 2]) / 4 @ r**power) ** (1 / power), rel=1e-9)
    if power == 1:
        assert np.isfinite(metric.gradient(NEVER)).all()
    else:
        with pytest.raises(MetricError, match=r"no gradient at the confusion.*off the boundary"):
            metric.gradient(NEVER)


def test_all_recalls_of_0():
    nothing = np.array([[0.0, 0.5], [0.5, 0.0]])
    assert [PowerMeanMetric([1, 1], p)(nothing) for p in (1, 0.3, 0, -2)] == [0.0] * 4


def test_a_class_that_does_not_occur_is_left_out_with_a_warning():
    table = np.array([[0.4, 0.2, 0.0], [0.0, 0.0, 0.0], [0.1, 0.2, 0.1]])
    r, w = np.array([2 / 3, 1 / 4]), np.array([2, 1]) / 3
    rest = (w @ r**-0.5) ** -2
    with pytest.warns(UndefinedMetricWarning, match="classes that do not occur are left out"):
        found = PowerMeanMetric([2, 9, 1], -0.5)(table)
    assert found == pytest.approx(rest)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the class has no weight, so nothing is missing
        assert PowerMeanMetric([2, 0, 1], -0.5)(table) == pytest.approx(rest)
    with pytest.warns(UndefinedMetricWarning, match="set to 0"):
        assert PowerMeanMetric([0, 1, 0], -0.5)(table) == 0.0
    slope = PowerMeanMetric([2, 9, 1], -0.5).gradient(table)
    assert np.isfinite(slope).all()
    assert not slope[1].any()


def test_an_empty_group_has_no_value():
    stack = np.zeros((2, 2, 2))
    stack[0] = [[0.4, 0.1], [0.2, 0.3]]
    with pytest.warns(UndefinedMetricWarning, match="group without weight"):
        found = PowerMeanMetric([1, 1], -1)(stack)
    assert np.isnan(found[1])
    assert found[0] == pytest.approx(hmean([0.8, 0.6]))


def test_weights_are_scaled_once_and_kept():
    for weights in ([2, 6], [1e300, 3e300], [1e-320, 3e-320]):
        np.testing.assert_allclose(PowerMeanMetric(weights, 1).weights, [0.25, 0.75], rtol=1e-3)
    metric = PowerMeanMetric(np.random.default_rng(0).random(7), 0.3, name="mine")
    again = load_metric(metric.to_json())
    assert again == metric
    assert again.name == again.title == "mine"
    assert np.array_equal(again.weights, metric.weights)  # to the last digit
    assert PowerMeanMetric(metric.weights, 0.3) == metric
    assert json.loads(metric.to_json())["kind"] == "power-mean"
    assert pickle.loads(pickle.dumps(metric)) == metric
    assert hash(again) == hash(metric)
    assert PowerMeanMetric([1, 1], 0.3) != PowerMeanMetric([1, 1], 0.3, decreasing=True)
    assert PowerMeanMetric([1, 1], 0.3) != PowerMeanMetric([1, 1], 0.31)
    with pytest.raises(ValueError, match="read-only"):
        metric.weights[0] = 1.0
    assert metric.normalized() is metric


@pytest.mark.parametrize(
    ("weights", "power", "error", "message"),
    [
        ([1, -1], 0, MetricError, "weights holds -1; expected weights of at least 0"),
        ([0, 0], 0, MetricError, "all weights are 0"),
        ([1], 0, MetricError, r"weights has shape \(1,\); expected one weight per class"),
        (np.eye(2), 0, MetricError, r"weights has shape \(2, 2\)"),
        ([1, 1], np.inf, OptionError, "power is inf; expected a finite number"),
        ([1, 1], float("nan"), OptionError, "power is nan; expected a finite number"),
        ([1, 1], "geometric", OptionError, "power is 'geometric'; expected a finite number"),
    ],
)
def test_what_is_no_power_mean(weights, power, error, message):
    with pytest.raises(error, match=message):
        PowerMeanMetric(weights, power)


def test_it_is_for_its_own_number_of_classes():
    metric = PowerMeanMetric([1, 2, 3], 0)
    assert metric.n_classes == 3
    assert metric.for_classes(3) is metric
    with pytest.raises(MetricError, match="is for 3 classes and the confusion has 2"):
        metric(np.eye(2) / 2)
    with pytest.raises(MetricError, match="not linear"):
        metric.bayes_classifier()
    assert not metric.equivalent(LinearMetric(np.eye(2)))


@pytest.mark.parametrize(
    ("power", "words"),
    [
        (1.0, ["the arithmetic mean of the share", "at the same rate everywhere"]),
        (0.5, ["between the arithmetic and the geometric one (power 0.5)", "counts 1.41 times"]),
        (0.0, ["the geometric mean", "counts 2 times", "0 as soon as one class is never found"]),
        (-0.3, ["between the geometric and the harmonic one", "2.46 times", "0 as soon as"]),
        (-1.0, ["the harmonic mean", "4 times as much"]),
        (-3.0, ["beyond the harmonic one (power -3)", "16 times"]),
        (-50.0, ["close to the share of the class that is found least"]),
        (2.0, ["beyond the arithmetic one (power 2)", "0.5 times"]),
    ],
)
def test_descriptions_in_plain_words(power, words):
    text = PowerMeanMetric([1, 3, 0], power, name="what we want").describe(["cat", "dog", "owl"])
    assert text.startswith("What we want: ")
    assert "with the weights 0.75 for dog, 0.25 for cat; owl does not count." in text
    for word in words:
        assert word in text
    less = PowerMeanMetric([1, 3], power, decreasing=True).describe()
    assert ": minus " in less
    assert less.endswith("Less of the mean is better.")


def test_many_weights_are_not_all_listed():
    text = PowerMeanMetric(np.arange(1, 10), 0.5).describe()
    assert "and 3 smaller ones" in text


def test_scorer_of_folds_without_a_class():
    """A class that the estimator knows and the fold lacks is left out: no fold is NaN."""
    rng = np.random.default_rng(0)
    y = np.array([0] * 60 + [1] * 60 + [2] * 2)
    X = rng.normal(size=(122, 2)) + y[:, None]
    scorer = PowerMeanMetric([1, 1, 1], 0.5).as_scorer()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fold lacks the rare class
        found = cross_val_score(LogisticRegression(), X, y, cv=3, scoring=scorer)
    assert np.isfinite(found).all()
    assert (found > 0.1).all()
