import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneOut,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from karat.metrics import LinearMetric, accuracy, cost_matrix, f_beta, macro


def test_cross_val_score_equals_scikit_learn():
    X, y = load_breast_cancer(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    for ours, theirs in ((accuracy, "accuracy"), (f_beta(1), "f1"), (macro(f_beta(1)), "f1_macro")):
        mine = cross_val_score(tree, X, y, scoring=ours.as_scorer())
        np.testing.assert_allclose(mine, cross_val_score(tree, X, y, scoring=theirs), atol=1e-12)


def test_grid_search_finds_the_cost_sensitive_setting():
    X, y = load_breast_cancer(return_X_y=True)
    labels = np.where(y == 0, "malignant", "benign")
    model = make_pipeline(StandardScaler(), LogisticRegression())
    grid = {"logisticregression__class_weight": [None, {"benign": 1, "malignant": 200}]}
    costs = cost_matrix([[0, 1], [200, 0]])
    search = GridSearchCV(model, grid, scoring=costs.as_scorer(), cv=3, n_jobs=2).fit(X, labels)
    assert search.best_params_["logisticregression__class_weight"] is not None
    assert search.best_score_ == pytest.approx(max(search.cv_results_["mean_test_score"]))


def test_positive_label_and_classes_reach_the_metric():
    X, y = load_breast_cancer(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    flipped = cross_val_score(tree, X, y, scoring=f_beta(1).as_scorer(pos_label=0))
    expected = sklearn.metrics.make_scorer(sklearn.metrics.f1_score, pos_label=0)
    np.testing.assert_allclose(flipped, cross_val_score(tree, X, y, scoring=expected), atol=1e-12)


def test_a_fold_that_lacks_a_class():
    X, y = load_iris(return_X_y=True)
    fit = DecisionTreeClassifier().fit(X, y)
    keep = y < 2
    scorer = LinearMetric(np.eye(3)).as_scorer(classes=[0, 1, 2])
    assert scorer(fit, X[keep], y[keep]) == 1.0


def test_leaving_one_out_scores_every_item():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:60, :4], y[:60]
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    mine = cross_val_score(tree, X, y, cv=LeaveOneOut(), scoring=accuracy.as_scorer())
    theirs = cross_val_score(tree, X, y, cv=LeaveOneOut(), scoring="accuracy")
    assert mine.tolist() == theirs.tolist()


def test_folds_that_lack_a_class_need_no_classes():
    X, y = load_iris(return_X_y=True)
    costs = cost_matrix([[0, 1, 2], [3, 0, 4], [5, 6, 0]])
    scores = cross_val_score(DecisionTreeClassifier(), X, y, cv=KFold(6), scoring=costs.as_scorer())
    assert np.isfinite(scores).all()
    assert "minus the expected cost" in repr(costs.as_scorer())


def test_weights_are_routed():
    X, y = load_iris(return_X_y=True)
    w = np.random.default_rng(0).random(len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = accuracy.as_scorer().set_score_request(sample_weight=True)
        model = DecisionTreeClassifier(max_depth=1, random_state=0)
        model.set_fit_request(sample_weight=True)
        weighted = cross_validate(model, X, y, scoring=scorer, params={"sample_weight": w})
        theirs = sklearn.metrics.make_scorer(sklearn.metrics.accuracy_score)
        theirs.set_score_request(sample_weight=True)
        expected = cross_validate(model, X, y, scoring=theirs, params={"sample_weight": w})
    np.testing.assert_allclose(weighted["test_score"], expected["test_score"])
