import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from karat.elicit import MetricOracle
from karat.exceptions import (
    AnswerError,
    ColumnError,
    DataError,
    EmptyDataError,
    LabelError,
    LengthMismatchError,
    MetricError,
    OptionError,
    ProbabilityError,
    ProbeError,
    ShapeError,
    WeightError,
)
from karat.metrics import LinearMetric
from karat.optimize import (
    Clusters,
    ColumnBasis,
    CoordinateSearchClassifier,
    CostSensitiveClassifier,
    FrankWolfeClassifier,
    ImportanceWeightedClassifier,
    PlugInClassifier,
    Preferences,
    RadialBasis,
)

N = 200


@pytest.fixture(scope="module")
def saved():
    rng = np.random.default_rng(0)
    p = rng.beta(1, 3, N)
    y = (rng.random(N) < p).astype(int)
    y[:20] = np.arange(20) % 2
    return np.column_stack([1 - p, p]), y


@pytest.fixture(scope="module")
def data(saved):
    proba, y = saved
    rng = np.random.default_rng(1)
    X = np.column_stack([np.log(proba[:, 1]), rng.normal(size=N), rng.integers(0, 3, N)])
    return LogisticRegression().fit(X, y), X, y


def fit_saved(saved, metric="g_mean", **options):
    return FrankWolfeClassifier(metric=metric, **options).fit_from_proba(*saved)


@pytest.mark.parametrize(
    ("metric", "says"),
    [
        (lambda y, s: 1 / 0, r"raised ZeroDivisionError \(division by zero\) at the current class"),
        (lambda y, s: np.nan, "returned nan at the current classifier; expected a finite number"),
        (lambda y, s: s.mean(axis=0), r"returned array\(.*expected one number.*their mean"),
        (lambda y, s: "good", "returned 'good' at the current classifier; expected one number"),
        (lambda y, s: None, "returned None at the current classifier; expected one number"),
        (lambda y, s: 0.7, "same value at all 2 probes, 0.001 away.*pass a larger epsilon"),
        (lambda y: 0.7, r"raised TypeError .*it is called with labels \(200,\), shares"),
    ],
)
def test_functions_that_fail(saved, metric, says):
    with pytest.raises(ProbeError, match=says):
        fit_saved(saved, metric)


@pytest.mark.parametrize(
    ("bad", "says"),
    [(np.nan, "returned nan"), ("low", "returned 'low'"), (ValueError, "raised ValueError")],
)
def test_a_function_that_fails_at_a_probe(saved, bad, says):
    """The message names the probe: the class and the basis function."""
    calls = []

    def metric(y_true, shares):
        calls.append(1)
        if len(calls) == 4:  # after the model, the start and the probe of class 0
            if bad is ValueError:
                raise ValueError("too low")
            return bad
        return shares[y_true == 1, 1].mean() * shares[y_true == 0, 0].mean()

    with pytest.raises(
        ProbeError, match=f"{says}.*at the probe of class 1 with the basis .*'constant'"
    ):
        fit_saved(saved, metric)


@pytest.mark.parametrize("gradient", ["known", "probed"])
@pytest.mark.parametrize("gains", [np.ones((2, 2)), np.zeros((2, 2)), [[1, 1], [3, 3]]])
def test_a_metric_that_no_prediction_changes(saved, gradient, gains):
    with pytest.raises(ProbeError, match="no slope to follow"):
        fit_saved(saved, LinearMetric(gains), gradient=gradient)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"step": "long"}, "step is 'long'; expected 'harmonic', 'line-search', 'corrective' or "),
        ({"gradient": "own"}, "gradient is 'own'; expected 'known', 'probed' or None"),
        ({"entries": "some"}, "entries is 'some'; expected 'diagonal', 'all' or None"),
        ({"probes": "few"}, "probes is 'few'; expected 'fixed' or 'separated'"),
        ({"matching": "x"}, "matching is 'x'; expected 'probabilities' or 'labels'"),
        ({"n_iter": 0}, "n_iter is 0; expected a whole number of at least 1"),
        ({"n_iter": 1.5}, "n_iter is 1.5; expected a whole number"),
        ({"epsilon": 0}, "epsilon is 0; expected a number above 0 and at most 1"),
        ({"epsilon": 2}, "epsilon is 2; expected a number"),
        ({"ridge": -1}, "ridge is -1; expected a number of at least 0"),
        ({"rng": "dice"}, "rng is 'dice'; expected a whole number"),
        ({"n_folds": 1}, "n_folds is 1; expected a whole number of at least 2"),
        ({"n_folds": 5000}, r"n_folds is 5000; expected at most \d+, .* of the rarest class"),
        ({"n_folds": 2.5}, "n_folds is 2.5; expected a whole number"),
        ({"metric": len, "gradient": "known"}, "gradient is 'known'; expected None or 'probed'"),
        ({"metric": len, "step": "corrective"}, "step is 'corrective'; expected None or an"),
        ({"deterministic": "yes"}, "deterministic is 'yes'; expected True or False"),
    ],
)
def test_options(saved, options, says):
    with pytest.raises(OptionError, match=says):
        fit_saved(saved, **options)


@pytest.mark.parametrize(
    ("metric", "says"),
    [
        (3, "metric is 3; expected a metric of karat.metrics or one of the names"),
        ("best", "metric is 'best'; expected"),
        (LinearMetric(np.eye(3)), "is for 3 classes and the confusion has 2"),
    ],
)
def test_metrics(saved, metric, says):
    with pytest.raises((MetricError, OptionError), match=says):
        fit_saved(saved, metric)


def test_the_positive_class(saved):
    with pytest.raises(OptionError, match="pos_label is 7; expected 0 or 1"):
        fit_saved(saved, pos_label=7)
    proba = np.full((9, 3), 1 / 3)
    with pytest.raises(OptionError, match="pos_label is 1; expected None where there are 3"):
        FrankWolfeClassifier(pos_label=1).fit_from_proba(proba, np.arange(9) % 3)


def test_preferences_have_no_values(saved):
    asked = Preferences(MetricOracle("g_mean"))
    with pytest.raises(OptionError, match=r"n_folds is 3; expected None .* with Preferences"):
        fit_saved(saved, asked, n_folds=3)
    with pytest.raises(OptionError, match=r"step is 'line-search'; expected .* with Preferences"):
        fit_saved(saved, asked, step="line-search")
    with pytest.raises(OptionError, match="gradient is 'known'"):
        fit_saved(saved, asked, gradient="known")
    with pytest.raises(ProbeError, match=r"all 2 probes were called a tie.*larger epsilon"):
        fit_saved(saved, Preferences(lambda query: "tie"))
    with pytest.raises(AnswerError, match="the answer is 'left'; expected 'first'"):
        fit_saved(saved, Preferences(lambda query: "left"))
    with pytest.raises(OptionError, match="oracle is 3; expected a function"):
        Preferences(3)
    with pytest.raises(OptionError, match="tol is 0"):
        Preferences(len, tol=0)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (lambda p: np.column_stack([p, 0 * p[:, 0]]), ShapeError, "3 columns and there are 2 cl"),
        (lambda p: 0.9 * p, ProbabilityError, "row 0 sums to 0.9; expected 1"),
        (lambda p: np.where(p == p[7], np.nan, p), ProbabilityError, "row 7 is missing or NaN"),
        (lambda p: p + np.array([1, -1]), ProbabilityError, "row 0, column 0 is .*between 0 and 1"),
        (lambda p: p[:50], LengthMismatchError, "200 rows and proba_val has 50"),
    ],
)
def test_probabilities(saved, change, error, says):
    proba, y = saved
    with pytest.raises(error, match=says):
        FrankWolfeClassifier().fit_from_proba(change(proba), y)


class Odd(ClassifierMixin, BaseEstimator):
    """A model whose probabilities are not right."""

    def __init__(self, change=None):
        self.change = change
        self.classes_ = np.array([0, 1])

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return self.change(np.full((len(X), 2), 0.5))


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (lambda p: p[:, :1], DataError, r"Odd.predict_proba returned shape \(200, 1\) and its cl"),
        (lambda p: 0.8 * p, ProbabilityError, r"Odd.predict_proba\(X\) row 0 sums to 0.8"),
        (lambda p: np.nan * p, ProbabilityError, r"Odd.predict_proba\(X\) column 0 row 0 is miss"),
    ],
)
def test_models_whose_probabilities_are_not_right(data, change, error, says):
    _, X, y = data
    with pytest.raises(error, match=says):
        FrankWolfeClassifier(Odd(change)).fit(X, y, X_val=X, y_val=y)


@pytest.mark.parametrize(
    "kind",
    [
        FrankWolfeClassifier,
        PlugInClassifier,
        CoordinateSearchClassifier,
        CostSensitiveClassifier,
        ImportanceWeightedClassifier,
    ],
)
def test_estimators(kind, data):
    _, X, y = data
    with pytest.raises(OptionError, match=r"estimator is None; expected .* use fit_from_proba"):
        kind().fit(X, y)
    with pytest.raises(OptionError, match=r"estimator is LinearSVC\(\); .*CalibratedClassifierCV"):
        kind(LinearSVC()).fit(X, y)
    with pytest.raises(NotFittedError):
        kind(LogisticRegression()).predict(X)


def test_validation_rows(data):
    model, X, y = data
    clf = FrankWolfeClassifier(model)
    with pytest.raises(DataError, match="X_val and y_val belong together; pass both or none"):
        clf.fit(X, y, X_val=X)
    with pytest.raises(DataError, match="X_val and y_val belong together"):
        clf.fit(X, y, y_val=y)
    with pytest.raises(DataError, match="sample_weight_val belongs to X_val and y_val"):
        clf.fit(X, y, sample_weight_val=np.ones(N))
    with pytest.raises(LabelError, match=r"no validation row has the class 1.*add rows of it"):
        clf.fit(X, y, X_val=X[y == 0], y_val=y[y == 0])
    with pytest.raises(LengthMismatchError, match="y_val has 150 rows and X_val has 200"):
        clf.fit(X, y, X_val=X, y_val=y[:150])
    with pytest.raises(LengthMismatchError, match="y_val has 150 rows and X_val has 200"):
        FrankWolfeClassifier(model, basis=[RadialBasis()]).fit(X, y, X_val=X, y_val=y[:150])
    with pytest.raises(LabelError, match=r"y_val row \d+ holds 3, which is not among the classes"):
        clf.fit(X, y, X_val=X, y_val=3 * y)
    with pytest.raises(EmptyDataError, match="y_val has no rows"):
        clf.fit(X, y, X_val=X[:0], y_val=y[:0])
    with pytest.raises(LengthMismatchError, match="groups_val has 3 rows and y_val has 200"):
        clf.fit(X, y, X_val=X, y_val=y, groups_val=[1, 2, 3])
    with pytest.raises(LengthMismatchError, match="groups_val has 3 rows and y_val has 200"):
        clf.fit(X, y, X_val=X, y_val=y, groups_val=np.ones((3, 2)))
    with pytest.raises(DataError, match="groups_val row 0 is missing; give such rows a group"):
        clf.fit(X, y, X_val=X, y_val=y, groups_val=[None, *["a"] * (N - 1)])
    with pytest.raises(WeightError, match="row 0 is -1"):
        clf.fit(X, y, X_val=X, y_val=y, sample_weight_val=[-1, *[1] * (N - 1)])


def test_saved_validation_rows(saved):
    proba, y = saved
    clf = FrankWolfeClassifier(matching="labels")
    with pytest.raises(DataError, match="proba_val and y_val belong together"):
        clf.fit_from_proba(proba, y, proba_val=proba)
    with pytest.raises(DataError, match="sample_weight_val belongs to proba_val and y_val"):
        clf.fit_from_proba(proba, y, sample_weight_val=np.ones(N))
    ones = np.ones((N, 1))
    with pytest.raises(DataError, match="basis_val belongs to proba_val"):
        clf.fit_from_proba(proba, y, basis=ones, basis_val=ones)
    with pytest.raises(DataError, match="basis and basis_val belong together"):
        clf.fit_from_proba(proba, y, proba_val=proba, y_val=y, basis_val=np.ones((N, 1)))
    one, other = pd.DataFrame({"a": np.ones(N)}), pd.DataFrame({"b": np.ones(N)})
    with pytest.raises(DataError, match=r"basis has the columns \['a'\] and basis_val \['b'\]"):
        clf.fit_from_proba(proba, y, proba_val=proba, y_val=y, basis=one, basis_val=other)
    with pytest.raises(LabelError, match="one class only, 0; expected at least two"):
        clf.fit_from_proba(proba, np.zeros(N))
    with pytest.raises(EmptyDataError, match="y has no rows"):
        clf.fit_from_proba(np.empty((0, 2)), [])
    with pytest.raises(LabelError, match="no validation row has the class 'b'"):
        clf.fit_from_proba(proba, ["a"] * N, classes=["a", "b"])
    with pytest.raises(LabelError, match="no validation row has the class 1"):
        clf.fit_from_proba(proba, y, sample_weight=1 - y)
    with pytest.raises(
        DataError, match=r"a function that would not see them.*sample_weight, or rep"
    ):
        FrankWolfeClassifier(metric=lambda y, s: s[0, 0]).fit_from_proba(
            proba, y, sample_weight=np.arange(N) + 1
        )


def test_basis_values(saved):
    proba, y = saved
    ones = np.ones(N)

    def fit(basis):
        return FrankWolfeClassifier().fit_from_proba(proba, y, basis=basis)

    with pytest.raises(DataError, match=r"'1' is 0 in every validation row.*drop it, or add rows"):
        fit(np.column_stack([ones, 0 * ones]))
    with pytest.raises(DataError, match=r"basis holds 2; expected numbers between 0 and 1. Re"):
        fit(np.column_stack([ones, 2 * ones]))
    with pytest.raises(DataError, match="basis holds -1; expected numbers between 0 and 1"):
        fit(np.column_stack([ones, -ones]))
    with pytest.raises(DataError, match=r"basis has shape \(50, 2\); expected \(200, num"):
        fit(np.ones((50, 2)))
    fit(np.column_stack([ones, 0.5 * ones, ones]))  # combinations of others are left out
    clf = fit(np.column_stack([ones, np.arange(N) % 2]))
    with pytest.raises(
        DataError, match="basis has 1 functions and the classifier was fitted with 2"
    ):
        clf.predict_from_proba(proba)


def test_a_singular_system_says_where(saved):
    _, y = saved
    with pytest.raises(
        ProbeError, match=r"singular: the weight of class \d with the basis function 'c"
    ):
        FrankWolfeClassifier().fit_from_proba(np.full((N, 2), 0.5), y)
    night = np.arange(N) % 2 == 0
    sure = np.where(night[:, None], [[1.0, 0.0]], saved[0])
    basis = pd.DataFrame({"day": 1.0 * ~night, "night": 1.0 * night})
    with pytest.raises(
        ProbeError, match="class 1 with the basis function 'night' is not determined"
    ):
        FrankWolfeClassifier().fit_from_proba(sure, y, basis=basis)


@pytest.mark.parametrize(
    ("basis", "error", "says"),
    [
        ([], OptionError, r"basis is \[\]; expected at least one"),
        ([["constant"], []], OptionError, r"basis is \[\]"),
        ([3.5], OptionError, "a basis function is 3.5; expected 'constant', the name or"),
        (["constant", ["constant"]], OptionError, "basis is .*; expected a list of functions, or"),
        ([0], DataError, "basis column 0 has 200 distinct values; expected at most 50. Bin it"),
        (["place"], ColumnError, r"column 'place' and X is an array of shape \(200, 3\)"),
        ([5], ColumnError, r"column 5 and X is an array of shape \(200, 3\)"),
        (5, ColumnError, "names the column 5 and X is an array"),
        ([lambda X: X[:, 1]], DataError, "basis function's value holds -.*between 0 and 1"),
        ([lambda X: np.ones(3)], ShapeError, r"value has shape \(3, 1\); expected \(200, num"),
        ([Clusters(0)], OptionError, "n_clusters is 0; expected a whole number of at least 1"),
        ([Clusters(2, rng="dice")], OptionError, "rng is 'dice'"),
        ([Clusters(201)], OptionError, "n_clusters is 201; expected a whole .* at most 200"),
        ([RadialBasis("rows")], OptionError, "centers is 'rows'; expected 'classes', a number"),
        ([RadialBasis(2, width=0)], OptionError, "width is 0; expected a number above 0"),
        ([RadialBasis(2.5)], OptionError, "centers is 2.5; expected a whole number"),
        ([RadialBasis([[1, 2]])], ShapeError, "centers has 2 columns and X has 3"),
    ],
)
def test_bases(data, basis, error, says):
    model, X, y = data
    with pytest.raises(error, match=says):
        FrankWolfeClassifier(model, basis=basis).fit(X, y, X_val=X, y_val=y)


def test_columns_of_frames():
    frame = pd.DataFrame({"age": [1.0, 2.0, np.nan], "place": ["a", None, "b"]})
    y = np.array([0, 1, 0])
    with pytest.raises(ColumnError, match=r"names the column 'town' and X has \['age', 'place'\]"):
        ColumnBasis("town").fitted(frame, y)
    for at in (2, -3):
        with pytest.raises(ColumnError, match=f"names the column {at} and X has"):
            ColumnBasis(at).fitted(frame, y)
    with pytest.raises(DataError, match=r"'place' is missing in row 1 .1 such rows.; fill it in"):
        ColumnBasis("place").fitted(frame, y)
    with pytest.raises(DataError, match="'age' is missing in row 2"):
        ColumnBasis("age").fitted(frame, y)
    with pytest.raises(
        DataError, match="clusters and radial functions need rows of finite numbers"
    ):
        Clusters(2).fitted(frame, y)


def test_predicting_without_a_model(saved):
    proba, _ = saved
    clf = fit_saved(saved)
    for method in (clf.predict, clf.predict_proba):
        with pytest.raises(
            NotFittedError, match=r"fitted from probabilities.*use predict_from_proba"
        ):
            method(np.ones((3, 2)))
    with pytest.raises(NotFittedError):
        FrankWolfeClassifier().predict_from_proba(proba)
    with pytest.raises(ShapeError, match="3 columns and there are 2 classes"):
        clf.predict_from_proba(np.full((3, 3), 1 / 3))


def test_decision_regions_are_of_two_classes(law, rng):
    clf = FrankWolfeClassifier(n_iter=1).fit_from_proba(*law(3).sample(100, rng))
    with pytest.raises(DataError, match="drawn for two classes and there are 3"):
        clf.decision_regions()
    with pytest.raises(NotFittedError):
        FrankWolfeClassifier().decision_regions()


def test_baselines(saved, data):
    model, X, y = data
    with pytest.raises(MetricError, match=r"F1 is not a linear metric.*use FrankWolfeClassifier"):
        CostSensitiveClassifier(metric="f1").fit_from_proba(*saved)
    for spacing in (0, 0.6, "fine"):
        with pytest.raises(OptionError, match=f"spacing is {spacing!r}"):
            CoordinateSearchClassifier(spacing=spacing).fit_from_proba(*saved)
    with pytest.raises(OptionError, match="n_cycles is 0"):
        CoordinateSearchClassifier(n_cycles=0).fit_from_proba(*saved)
    weighted = ImportanceWeightedClassifier(LogisticRegression(), clip=0.5)
    with pytest.raises(OptionError, match=r"clip is 0.5"):
        weighted.fit(X, y)
    with pytest.raises(OptionError, match=r"estimator is FrozenEstimator.*retrains it"):
        ImportanceWeightedClassifier(FrozenEstimator(model)).fit(X, y, X_val=X, y_val=y)
    with pytest.raises(LengthMismatchError, match="y_val has 9 rows and X_val has 10"):
        weighted.set_params(clip=10).fit(X, y, X_val=X[:10], y_val=y[:9])


def test_a_basis_that_cannot_be_computed_from_probabilities():
    proba, y = np.full((9, 2), 0.5), np.arange(9) % 2
    with pytest.raises(OptionError, match="basis is 'nonsense'; expected None without X; pass"):
        FrankWolfeClassifier(basis="nonsense").fit_from_proba(proba, y)
