import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_estimator,
)

from karat.exceptions import DataError, SmallSampleWarning
from karat.metrics import cost_matrix, f_beta, g_mean
from karat.optimize import (
    CoordinateSearchClassifier,
    CostSensitiveClassifier,
    FrankWolfeClassifier,
    ImportanceWeightedClassifier,
    PlugInClassifier,
    RadialBasis,
)

same_rows = pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")
ALL = [
    FrankWolfeClassifier,
    PlugInClassifier,
    CoordinateSearchClassifier,
    CostSensitiveClassifier,
    ImportanceWeightedClassifier,
]


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        900, 5, n_informative=4, n_redundant=0, weights=[0.8], flip_y=0.1, random_state=0
    )
    return X[:450], y[:450], X[450:], y[450:]


@same_rows
@pytest.mark.parametrize(
    "classifier",
    [
        FrankWolfeClassifier(LogisticRegression(), deterministic=True, n_iter=3),
        PlugInClassifier(LogisticRegression()),
        CoordinateSearchClassifier(LogisticRegression(), "accuracy", spacing=0.01),
        CostSensitiveClassifier(LogisticRegression()),
        ImportanceWeightedClassifier(LogisticRegression()),
    ],
    ids=lambda c: type(c).__name__,
)
def test_is_a_scikit_learn_classifier(classifier):
    found = check_estimator(classifier, on_skip=None)
    assert len(found) > 40
    assert {check["status"] for check in found} <= {"passed", "skipped"}


@same_rows
@pytest.mark.parametrize("kind", ALL)
def test_names_of_columns(kind, data):
    X, y, X_val, y_val = data
    check_dataframe_column_names_consistency(kind.__name__, kind(LogisticRegression()))
    frame = pd.DataFrame(X, columns=list("vwxyz"))
    named = kind(LogisticRegression()).fit(frame, y, X_val=frame[:0:-1], y_val=y[:0:-1])
    assert list(named.feature_names_in_) == list("vwxyz")
    assert not hasattr(kind(LogisticRegression()), "feature_names_in_")  # not fitted
    assert not hasattr(kind(LogisticRegression()).fit(X, y), "feature_names_in_")  # no names
    if kind is not ImportanceWeightedClassifier:  # it retrains, so it needs rows
        named.fit_from_proba(LogisticRegression().fit(X, y).predict_proba(X_val), y_val)
        assert not hasattr(named, "feature_names_in_")  # those of another fit are gone


@same_rows
def test_the_randomised_classifier_is_one_but_for_the_argmax():
    reason = "labels are drawn from predict_proba, so they are not always its argmax"
    found = check_estimator(
        FrankWolfeClassifier(LogisticRegression(), n_iter=3),
        expected_failed_checks={"check_classifiers_train": reason},
        on_skip=None,
    )
    assert {check["status"] for check in found} <= {"passed", "skipped", "xfail"}


@pytest.mark.parametrize("kind", ALL[:3])
def test_without_validation_rows_there_is_a_warning(kind, data):
    X, y, _, _ = data
    with pytest.warns(SmallSampleWarning, match="pass X_val and y_val") as caught:
        kind(LogisticRegression()).fit(X, y)
    assert {w.filename for w in caught} == {__file__}


@pytest.mark.parametrize("kind", ALL[3:])
def test_who_measures_nothing_does_not_warn(kind, data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = kind(LogisticRegression()).fit(*data[:2])
    assert set(clf.predict(data[0])) <= set(clf.classes_)


def test_fitted_frozen_and_fresh_estimators(data):
    X, y, X_val, y_val = data
    fitted = LogisticRegression(C=0.01).fit(X, y)
    values = []
    for estimator in (fitted, FrozenEstimator(fitted), LogisticRegression(C=0.01)):
        clf = FrankWolfeClassifier(estimator, n_iter=4).fit(X, y, X_val=X_val, y_val=y_val)
        values.append(clf.predict_proba(X_val))
    np.testing.assert_array_equal(values[0], values[1])
    np.testing.assert_allclose(values[0], values[2])
    # A fitted one is not fitted again, whatever the training rows are.
    clf = FrankWolfeClassifier(fitted, n_iter=4)
    clf.fit(X[::-1], 1 - y, X_val=X_val, y_val=y_val)
    assert clf.estimator_ is fitted
    np.testing.assert_array_equal(clf.predict_proba(X_val), values[0])


def test_an_unfitted_estimator_stays_unfitted(data):
    X, y, X_val, y_val = data
    mine = LogisticRegression()
    clf = FrankWolfeClassifier(mine, n_iter=2).fit(X, y, X_val=X_val, y_val=y_val)
    assert not hasattr(mine, "coef_")
    assert clf.estimator_ is not mine
    assert clf.n_features_in_ == 5


@pytest.mark.parametrize("kind", ALL)
def test_clones_and_pickles(kind, data):
    X, y, X_val, y_val = data
    model = kind(LogisticRegression(C=0.5)).fit(X, y, X_val=X_val, y_val=y_val)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    fresh = clone(model)
    assert fresh.get_params()["estimator__C"] == 0.5
    assert not hasattr(fresh, "classes_")
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    assert fresh.set_params(estimator__C=2.0).estimator.C == 2.0


def test_clones_keep_bases(data):
    X, y, X_val, y_val = data
    bases = [["constant"], ["constant", RadialBasis(2)]]
    clf = FrankWolfeClassifier(LogisticRegression(), basis=bases, n_iter=2)
    copy = clone(clf)
    assert copy.basis == bases
    one, other = (c.fit(X, y, X_val=X_val, y_val=y_val) for c in (clf, copy))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@same_rows
def test_in_pipelines_and_searches(data):
    X, y, X_val, y_val = data
    pipeline = make_pipeline(StandardScaler(), FrankWolfeClassifier(GaussianNB(), n_iter=3))
    ours, plain = (
        cross_val_score(m, X, y, cv=3, scoring=g_mean.as_scorer()).mean()
        for m in (pipeline, GaussianNB())
    )
    assert ours > plain
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    clf = FrankWolfeClassifier(inner, n_iter=3).fit(X, y, X_val=X_val, y_val=y_val)
    assert clf.predict(X_val).shape == y_val.shape
    search = GridSearchCV(
        PlugInClassifier(LogisticRegression()),
        {"metric": ["accuracy", "balanced_accuracy"], "estimator__C": [0.1, 1.0]},
        scoring=g_mean.as_scorer(),
        cv=3,
    ).fit(X, y)
    assert search.best_params_["metric"] == "balanced_accuracy"


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames(frame, data):
    X, y, X_val, y_val = data
    train, valid = (frame({f"c{j}": rows[:, j] for j in range(5)}) for rows in (X, X_val))
    kind = np.where(X_val[:, 0] > 0, "high", "low")
    arrays = PlugInClassifier(LogisticRegression(), "balanced_accuracy")
    arrays.fit(X, y, X_val=X_val, y_val=y_val)
    frames = clone(arrays).fit(train, y, X_val=valid, y_val=list(y_val))
    np.testing.assert_array_equal(arrays.predict(X_val), frames.predict(valid))
    # Saved: columns by name, in any order.
    proba = frames.estimator_.predict_proba(valid)
    saved = FrankWolfeClassifier(n_iter=3).fit_from_proba(
        frame({"1": proba[:, 1], "0": proba[:, 0]}),
        y_val,
        basis=frame({"high": 1.0 * (kind == "high"), "low": 1.0 * (kind == "low")}),
    )
    assert saved.history_.basis_functions == ("high", "low")
    plain = FrankWolfeClassifier(n_iter=3).fit_from_proba(
        proba, y_val, basis=np.column_stack([kind == "high", kind == "low"]).astype(float)
    )
    assert saved.history_.value == pytest.approx(plain.history_.value)


def test_from_saved_probabilities_as_from_the_model(data):
    X, y, X_val, y_val = data
    model = LogisticRegression().fit(X, y)
    proba, proba_val = model.predict_proba(X), model.predict_proba(X_val)
    for matching in ("probabilities", "labels"):
        clf = FrankWolfeClassifier(model, n_iter=4, matching=matching)
        one = clone(clf).set_params(estimator=FrozenEstimator(model))
        one.fit(X, y, X_val=X_val, y_val=y_val)
        other = clone(clf).fit_from_proba(proba, y, proba_val=proba_val, y_val=y_val)
        np.testing.assert_array_equal(one.predict(X), other.predict_from_proba(proba))
        np.testing.assert_array_equal(one.predict_from_proba(proba), one.predict(X))


def test_costs_decide_as_the_bayes_classifier(data):
    X, y, _, _ = data
    metric = cost_matrix([[0, 1], [7, 0]])
    clf = CostSensitiveClassifier(LogisticRegression(), metric).fit(X, y)
    best = metric.bayes_classifier().predict(clf.estimator_.predict_proba(X))
    np.testing.assert_array_equal(clf.predict(X), best)
    # With the other class positive the costs are read the other way round.
    turned = CostSensitiveClassifier(LogisticRegression(), metric, pos_label=0).fit(X, y)
    back = metric.bayes_classifier().predict(clf.estimator_.predict_proba(X)[:, ::-1])
    np.testing.assert_array_equal(turned.predict(X), 1 - back)


def test_importance_weights_undo_a_shift(rng):
    """Training rows are too often of x < 0, where the label is x2 > 0 and elsewhere x2 < 0."""

    def draw(n, share):
        low = rng.random(n) < share
        x = np.column_stack([np.where(low, -1.0, 1.0), rng.normal(size=n)])
        return x, ((x[:, 1] > 0) == low).astype(int)

    X, y = draw(4000, 0.9)
    X_val, y_val = draw(2000, 0.1)
    plain = LogisticRegression().fit(X, y)
    clf = ImportanceWeightedClassifier(LogisticRegression(), clip=1000).fit(
        X, y, X_val=X_val, y_val=y_val
    )
    assert clf.score(X_val, y_val) > plain.score(X_val, y_val) + 0.3
    with pytest.raises(DataError, match="use fit with the rows"):
        clf.fit_from_proba(np.eye(2), [0, 1])


def test_the_positive_class_may_be_the_smaller_label(data):
    X, y, X_val, y_val = data
    model = LogisticRegression().fit(X, y)
    metric = f_beta(1)
    clf = FrankWolfeClassifier(model, metric, pos_label=0, n_iter=5)
    clf.fit(X, y, X_val=X_val, y_val=y_val)
    turned = FrankWolfeClassifier(metric=metric, n_iter=5).fit_from_proba(
        model.predict_proba(X_val)[:, ::-1], 1 - y_val
    )
    assert clf.history_.value == pytest.approx(turned.history_.value)
    np.testing.assert_allclose(
        clf.predict_proba(X_val),
        turned.predict_proba_from_proba(model.predict_proba(X_val)[:, ::-1])[:, ::-1],
    )
    assert clf.decision_regions().classes.tolist() == [1, 0]
    assert clf.classes_.tolist() == [0, 1]
