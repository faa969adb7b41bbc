"""What must not matter does not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.metrics import g_mean
from karat.optimize import FrankWolfeClassifier, PlugInClassifier

FEW = settings(max_examples=15, deadline=None)
WAYS = st.sampled_from(
    [
        {"gradient": "known"},
        {"gradient": "probed"},
        {"matching": "labels", "gradient": "probed"},
        {"entries": "all"},
    ]
)


def draw(seed, k=3, n=300):
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(k, 0.8), n)
    y = (rng.random((n, 1)) > proba.cumsum(axis=1)).sum(axis=1).clip(max=k - 1)
    y[: 3 * k] = np.tile(np.arange(k), 3)
    return proba, y


def fitted(proba, y, way, metric="g_mean", **options):
    clf = FrankWolfeClassifier(metric=metric, n_iter=4, **way)
    return clf.fit_from_proba(proba, y, **options)


def shares_of(*args, on, **options):
    return fitted(*args, **options).predict_proba_from_proba(on)


@FEW
@given(seed=st.integers(0, 10**6), way=WAYS)
def test_names_of_classes(seed, way):
    proba, y = draw(seed)
    names = np.array(["ape", "bee", "cat"])
    numbers = fitted(proba, y, way)
    words = fitted(proba, names[y], way)
    np.testing.assert_array_equal(
        names[numbers.predict_from_proba(proba)], words.predict_from_proba(proba)
    )
    assert words.classes_.tolist() == names.tolist()


@FEW
@given(seed=st.integers(0, 10**6), way=WAYS)
def test_order_of_classes(seed, way):
    """The G-mean treats classes alike; probabilities are continuous, so there are no ties."""
    proba, y = draw(seed)
    order = np.random.default_rng(seed).permutation(3)
    expected = shares_of(proba, y, way, on=proba)
    found = shares_of(proba[:, order], np.argsort(order)[y], way, on=proba[:, order])
    # A row whose scores nearly tie may turn by rounding; one in 300 moves a share by 1/300.
    assert (np.abs(found - expected[:, order]).max(axis=1) > 1e-9).mean() < 0.02


@FEW
@given(seed=st.integers(0, 10**6), way=WAYS)
def test_order_of_rows(seed, way):
    proba, y = draw(seed)
    order = np.random.default_rng(seed).permutation(len(y))
    expected = shares_of(proba, y, way, on=proba)
    found = shares_of(proba[order], y[order], way, on=proba)
    assert (np.abs(found - expected).max(axis=1) > 1e-9).mean() < 0.02


@FEW
@given(seed=st.integers(0, 10**6), way=WAYS)
def test_weights_are_repetitions_and_no_weight_is_no_row(seed, way):
    """But for restarts: by how much a rule must be better depends on how many rows there are."""
    proba, y = draw(seed)
    times = np.random.default_rng(seed).integers(0, 3, len(y))
    times[:9] = 1
    way = {**way, "step": "line-search"}
    weighted = fitted(proba, y, way, sample_weight=times)
    repeated = fitted(np.repeat(proba, times, 0), np.repeat(y, times), way)
    assert weighted.history_.n_rows == (times > 0).sum()
    assert weighted.history_.value == pytest.approx(repeated.history_.value, abs=1e-9)
    one, other = (c.predict_proba_from_proba(proba) for c in (weighted, repeated))
    assert (np.abs(one - other).max(axis=1) > 1e-9).mean() < 0.02


@pytest.mark.parametrize("n_folds", [None, 3])
def test_a_row_without_weight_is_as_if_absent(n_folds, as_function):
    proba, y = draw(0)
    weight = np.ones(300)
    weight[100:150] = 0
    kept = weight > 0
    for metric in ("g_mean", as_function(g_mean)):
        clf = FrankWolfeClassifier(metric=metric, n_iter=4, n_folds=n_folds)
        one = clf.fit_from_proba(proba, y, sample_weight=weight).history_
        other = clf.fit_from_proba(proba[kept], y[kept]).history_
        np.testing.assert_allclose(one.values, other.values)
        np.testing.assert_allclose(one.held_out.value, other.held_out.value)


@pytest.mark.parametrize("scale", [1e-3, 100.0])
def test_the_scale_of_a_function(scale, as_function):
    """A rate and its percents are the same metric, restarts included."""
    for seed in range(10):
        proba, y = draw(seed)
        plain = as_function(g_mean)
        one = fitted(proba, y, {}, plain)
        other = fitted(proba, y, {}, lambda t, s, plain=plain: scale * plain(t, s))
        np.testing.assert_allclose(one.history_.shares, other.history_.shares)
        np.testing.assert_allclose(scale * one.history_.values, other.history_.values)
        np.testing.assert_allclose(one.weights_.weights, other.weights_.weights, rtol=1e-5)


def test_functions_see_labels_and_shares_in_the_order_of_the_classes():
    proba, y = draw(0, k=2)
    seen = []

    def metric(y_true, shares, groups):
        seen.append((y_true, shares.copy(), groups))
        return shares[y_true == "no", list(classes).index("no")].mean() * (
            shares[y_true == "yes", list(classes).index("yes")].mean()
        )

    names, groups, values = np.array(["yes", "no"])[y], np.arange(300) % 4, []
    for options, classes in (
        ({"classes": ["yes", "no"]}, ["yes", "no"]),
        ({"classes": ["no", "yes"]}, ["no", "yes"]),
    ):
        table = proba if classes[0] == "yes" else proba[:, ::-1]
        for pos_label in (None, "yes", "no"):
            seen.clear()
            clf = FrankWolfeClassifier(metric=metric, n_iter=3, pos_label=pos_label)
            clf.fit_from_proba(table, names, groups_val=groups, **options)
            assert clf.classes_.tolist() == classes
            assert seen[0][0].tolist() == names.tolist()
            assert (seen[0][1].argmax(axis=1) == table.argmax(axis=1)).all()  # the model decides
            np.testing.assert_allclose(seen[1][1], table)  # and gives shares
            assert seen[0][2].tolist() == groups.tolist()
            values.append(clf.history_.value)
    np.testing.assert_allclose(values, values[0], atol=0.01)


def test_a_function_with_weights(as_function):
    proba, y = draw(1)
    weight = np.random.default_rng(0).uniform(0.5, 2, 300)

    def metric(y_true, shares, sample_weight):
        rows = [(y_true == i) for i in range(3)]
        rates = [
            sample_weight[r] @ shares[r, i] / sample_weight[r].sum() for i, r in enumerate(rows)
        ]
        return float(np.prod(rates) ** (1 / 3))

    one = fitted(proba, y, {"step": "line-search"}, metric, sample_weight=weight)
    other = fitted(
        proba, y, {"step": "line-search", "gradient": "probed"}, "g_mean", sample_weight=weight
    )
    np.testing.assert_allclose(one.history_.values, other.history_.values, atol=1e-9)
    even = fitted(proba, y, {}, metric, sample_weight=np.full(300, 2.0))
    plain = fitted(proba, y, {}, as_function(g_mean))
    np.testing.assert_allclose(even.history_.values, plain.history_.values, atol=1e-9)


def test_a_third_parameter_with_a_default_is_not_for_groups():
    proba, y = draw(0, k=2)
    seen = []

    def metric(y_true, shares, floor=0.1):
        seen.append(floor)
        return max(floor, shares[y_true == 1, 1].mean() * shares[y_true == 0, 0].mean())

    def of_groups(y_true, shares, groups=None):
        seen.append(groups)
        return metric(y_true, shares)

    groups = np.arange(300) % 2
    clf = FrankWolfeClassifier(metric=metric, n_iter=1)
    clf.fit_from_proba(proba, y, groups_val=groups)
    assert set(seen) == {0.1}
    seen.clear()
    clf.set_params(metric=of_groups).fit_from_proba(proba, y, groups_val=groups)
    assert seen[0].tolist() == groups.tolist()


def test_groups_may_be_a_table():
    proba, y = draw(0, k=2)
    table = np.column_stack([np.arange(300) % 2, np.arange(300) % 3])
    seen = []

    def metric(y_true, shares, groups):
        seen.append(groups.shape)
        return shares[y_true == 1, 1].mean() * shares[y_true == 0, 0].mean()

    FrankWolfeClassifier(metric=metric, n_iter=1).fit_from_proba(proba, y, groups_val=table)
    assert set(seen) == {(300, 2)}


def test_a_wide_step_is_right_for_a_linear_metric():
    """Whatever epsilon, the weights of a linear metric are the same."""
    proba, y = draw(3)
    rules = [
        PlugInClassifier(metric="accuracy", gradient="probed", epsilon=e).fit_from_proba(proba, y)
        for e in (1.0, 0.1, 1e-3)
    ]
    for other in rules[1:]:
        np.testing.assert_allclose(rules[0].weights_.weights, other.weights_.weights, rtol=1e-6)
