import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import check_estimator

from karat.exceptions import LabelError, OptionError
from karat.ranking import FprBand, Power, TprBand, Uniform, WeightedAUCClassifier, weighted_auc
from karat.ranking.learning import (
    LOSSES,
    Goal,
    best_threshold,
    fit_linear,
    likelihood_share,
    scales,
    surrogate,
)

BAND = FprBand(0, 0.1)


def two_kinds_of_negatives(rng, n=1500):
    """A law where the best ranking at low false-positive rates is not that of most rows.

    A tenth of the negatives stand far out on the first axis: it helps in general, and hurts at the
    top.
    """
    y = rng.random(n) < 0.4
    x = rng.normal(size=(n, 2)) + y[:, None] * [2.0, 1.0]
    x[~y & (rng.random(n) < 0.1), 0] += 5.0
    return x, y.astype(int)


def partial(model, x, y):
    return weighted_auc(y, model.decision_function(x), weight=BAND, normalize="mean").value


# These checks fit labels 1 and 2, or "one" and "two", which do not tell the positive class.
UNTOLD = (
    "check_classifier_data_not_an_array", "check_classifiers_classes", "check_estimators_dtypes",
    "check_fit2d_1feature", "check_sample_weights_not_an_array",
    "check_sample_weights_not_overwritten", "check_sample_weights_pandas_series",
    "check_sample_weights_shape",
)  # fmt: skip


@pytest.mark.parametrize(
    ("options", "untold"),
    [({}, ()), ({"loss": "logistic", "weight": FprBand(0, 0.2)}, UNTOLD)],
    ids=["default", "band"],
)
def test_is_a_scikit_learn_classifier(options, untold, recwarn):
    found = check_estimator(
        WeightedAUCClassifier(**options),
        on_skip=None,
        expected_failed_checks=dict.fromkeys(untold, "the labels do not tell which is positive"),
    )
    assert len(found) > 50
    status = {check["check_name"]: check["status"] for check in found}
    assert {name for name, how in status.items() if how == "xfail"} == set(untold)
    assert set(status.values()) <= {"passed", "skipped", "xfail"}
    assert not [w for w in recwarn if issubclass(w.category, ConvergenceWarning)]


@pytest.mark.parametrize("likelihood", [0.0, None])
def test_beats_logistic_regression_where_that_is_not_best(likelihood, rng):
    x, y = two_kinds_of_negatives(rng)
    peer = LogisticRegression().fit(x, y)
    ours = WeightedAUCClassifier(BAND, likelihood=likelihood).fit(x, y)
    assert partial(ours, x, y) > partial(peer, x, y) + 0.03
    fresh_x, fresh_y = two_kinds_of_negatives(np.random.default_rng(1), 20_000)
    assert partial(ours, fresh_x, fresh_y) > partial(peer, fresh_x, fresh_y) + 0.03


def test_finds_the_best_direction_of_two(rng):
    """The oracle: every direction of the plane, on a grid."""
    x, y = two_kinds_of_negatives(rng)
    ours = WeightedAUCClassifier(BAND, likelihood=0.0, C=100.0).fit(x, y)
    angles = np.linspace(0, 2 * np.pi, 121)
    scores = x @ [np.cos(angles), np.sin(angles)]
    best = max(weighted_auc(y, s, weight=BAND, normalize="mean").value for s in scores.T)
    assert partial(ours, x, y) > best - 0.02


def test_likelihood_one_is_a_logistic_regression(rng):
    x, y = two_kinds_of_negatives(rng, 400)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    peer = LogisticRegression(C=0.5, tol=1e-10).fit(z, y)
    ours = WeightedAUCClassifier(BAND, likelihood=1.0, C=0.5).fit(z, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_minimum_is_stationary(loss, rng):
    """The objective that is reported is that of the coefficients, and no small step lowers it."""
    x, y = two_kinds_of_negatives(rng, 300)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    ours = WeightedAUCClassifier(loss=loss, likelihood=0.0, margin=1.0, tol=1e-7).fit(z, y)

    def objective(w):
        s = z @ w
        value = surrogate(s[y == 1], s[y == 0], Uniform(), loss=loss).value
        return value + w @ w / (2 * len(y))

    w = ours.coef_[0]
    assert objective(w) == pytest.approx(ours.objective_)
    for step in rng.normal(size=(20, 2)) * 1e-3:
        assert objective(w + step) >= ours.objective_ - 1e-9


@pytest.mark.parametrize("loss", LOSSES)
def test_gradient_of_the_objective(loss, rng):
    """One step of the search from anywhere goes down: value and gradient belong together."""
    x, y = two_kinds_of_negatives(rng, 200)
    goal = Goal(weight=Power(2), loss=loss, margin=0.7, likelihood=0.4, c=1.0)
    mass = rng.random(200) + 0.1
    ends = [
        fit_linear(x, y == 1, mass, np.ones(3), goal, max_iter=k, tol=0.0).objective
        for k in (1, 2, 4, 8)
    ]
    assert (np.diff(ends) <= 1e-12).all()


def test_units_do_not_matter(rng):
    x, y = two_kinds_of_negatives(rng, 300)
    one = WeightedAUCClassifier(BAND).fit(x, y)
    other = WeightedAUCClassifier(BAND).fit(x * [1e6, 1e-6] + [5e6, 3.0], y)
    np.testing.assert_allclose(
        one.decision_function(x),
        other.decision_function(x * [1e6, 1e-6] + [5e6, 3.0]),
        atol=1e-5,
    )


def test_string_labels_and_frames(rng):
    x, y = two_kinds_of_negatives(rng, 300)
    frame = pd.DataFrame(x, columns=["length", "width"])
    model = WeightedAUCClassifier(BAND).fit(frame, np.where(y == 1, "spam", "ham"))
    assert model.classes_.tolist() == ["ham", "spam"]
    assert model.feature_names_in_.tolist() == ["length", "width"]
    assert set(model.predict(frame)) == {"ham", "spam"}
    assert model.coef_.shape == (1, 2)
    assert model.intercept_.shape == (1,)
    numbers = WeightedAUCClassifier(BAND).fit(x, y)
    np.testing.assert_array_equal(model.coef_, numbers.coef_)


def test_weights_are_repetitions(rng):
    x, y = two_kinds_of_negatives(rng, 200)
    times = rng.integers(0, 4, 200)
    weighted = WeightedAUCClassifier(BAND, tol=1e-8).fit(x, y, sample_weight=times)
    repeated = WeightedAUCClassifier(BAND, tol=1e-8).fit(
        np.repeat(x, times, 0), np.repeat(y, times)
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-3)


def test_few_rows_under_the_weight_leave_more_to_the_likelihood():
    positive, mass = np.arange(1000) < 500, np.ones(1000)
    share = [likelihood_share(positive, mass, FprBand(0, b), 10) for b in (1.0, 0.2, 0.1, 0.01)]
    assert share[:2] == [0.75, 0.75]
    assert share[2:] == pytest.approx([1 / (1 + 0.5 / 3), 1 / (1 + 0.05 / 3)])
    rare = likelihood_share(np.arange(1000) < 50, mass, Uniform(), 10)
    assert rare == pytest.approx(1 / (1 + 0.5 / 3))


def test_a_constant_column_gets_no_weight(rng):
    x, y = two_kinds_of_negatives(rng, 200)
    model = WeightedAUCClassifier(BAND).fit(np.column_stack([x, np.full(200, 0.1)]), y)
    assert abs(model.coef_[0, 2]) < 1e-9
    assert (scales(np.full((5, 1), 0.1), np.ones(5))[1] == 1.0).all()


def test_in_pipelines_and_searches(rng):
    x, y = two_kinds_of_negatives(rng, 300)
    pipeline = make_pipeline(PolynomialFeatures(2), WeightedAUCClassifier(BAND))
    assert cross_val_score(pipeline, x, y, cv=3, scoring="roc_auc").mean() > 0.6
    grid = {"likelihood": [0.0, None], "weight": [Uniform(), BAND]}
    search = GridSearchCV(WeightedAUCClassifier(), grid, cv=3, scoring=partial).fit(x, y)
    assert search.best_params_["weight"] in grid["weight"]


def test_copies(rng):
    x, y = two_kinds_of_negatives(rng, 200)
    model = WeightedAUCClassifier(BAND, loss="hinge", C=2.0).fit(x, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(x), model.decision_function(x))
    fresh = clone(model)
    assert fresh.get_params()["C"] == 2.0
    assert not hasattr(fresh, "coef_")


def test_more_classes_by_one_against_the_rest(rng):
    x = rng.normal(size=(300, 2))
    y = np.argmax(x @ [[1, -1, 0], [0, 0, 1]], axis=1)
    model = OneVsRestClassifier(WeightedAUCClassifier()).fit(x, y)
    assert roc_auc_score(y == 2, model.decision_function(x)[:, 2]) > 0.8


def test_the_threshold_is_that_of_the_best_accuracy(rng):
    for _ in range(50):
        scores, y = rng.normal(size=20).round(1), rng.random(20) < 0.5
        mass = rng.integers(1, 4, 20).astype(float)
        cut = best_threshold(scores, y, mass)
        tried = [mass[(scores > t) == y].sum() for t in [-9, 9, *(np.unique(scores) + 1e-6)]]
        assert mass[(scores > cut) == y].sum() == max(tried)


def test_not_converged_is_said(rng):
    x, y = two_kinds_of_negatives(rng, 300)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model = WeightedAUCClassifier(BAND, likelihood=0.0, max_iter=1).fit(x, y)
    assert not model.converged_
    assert model.n_iter_ == 1


X, Y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"loss": "squared"}, "loss is 'squared'; expected 'hinge', "),
        ({"weight": 0.1}, "weight is 0.1; expected a weight on false-positive rates"),
        ({"weight": TprBand(0.8, 1)}, "false-positive rates"),
        ({"C": 0}, "C is 0"),
        ({"margin": -1.0}, "margin is -1"),
        ({"likelihood": 1.5}, "likelihood is 1.5"),
        ({"ramp": 2}, "ramp is 2"),
        ({"max_iter": 0}, "max_iter is 0"),
        ({"max_iter": 2.5}, "max_iter is 2.5; expected a whole number"),
        ({"tol": "small"}, "tol is 'small'"),
    ],
)
def test_bad_options(options, says):
    with pytest.raises(OptionError, match=says):
        WeightedAUCClassifier(**options).fit(X, Y)


def test_bad_data():
    model = WeightedAUCClassifier()
    with pytest.raises(LabelError, match=r"Only binary classification.*3 classes.*OneVsRest"):
        model.fit(X, [0, 1, 2, 0])
    with pytest.raises(LabelError, match="one class only"):
        model.fit(X, [1, 1, 1, 1])
    with pytest.raises(LabelError, match="one class only"):
        model.fit(X, Y, sample_weight=[1, 0, 1, 0])
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        model.fit(X, Y, sample_weight=[1, -1, 1, 1])
    with pytest.raises(ValueError, match="NaN"):
        model.fit([[np.nan]] * 4, Y)
    with pytest.raises(NotFittedError):
        clone(model).decision_function(X)
