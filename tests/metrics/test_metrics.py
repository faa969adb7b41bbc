import json
import pickle

import numpy as np
import pytest

from karat.exceptions import (
    DataError,
    KaratError,
    LabelError,
    MetricError,
    OptionError,
    ShapeError,
    UndefinedMetricWarning,
)
from karat.metrics import (
    LinearFractionalMetric,
    LinearMetric,
    PowerMeanMetric,
    accuracy,
    as_metric,
    balanced_accuracy,
    cohen_kappa,
    cost_matrix,
    f1,
    f_beta,
    g_mean,
    jaccard,
    load_metric,
    macro,
    mcc,
    micro,
    precision,
    recall,
    specificity,
    weighted_accuracy,
)
from karat.statistics import confusion

C = np.array([[0.5, 0.2], [0.1, 0.2]])
METRICS = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "g_mean": g_mean,
    "mcc": mcc,
    "cohen_kappa": cohen_kappa,
    "specificity": specificity,
    "f1": f1,
    "precision": precision,
    "recall": recall,
    "jaccard": jaccard,
    "f2": f_beta(2),
    "cost": cost_matrix([[0, 1], [5, 0]]),
    "weighted": weighted_accuracy([1, 3]),
    "linear": LinearMetric([[1, -0.5], [0.25, 2]]),
    "fractional": LinearFractionalMetric([[1, 2], [3, 4]], [[2, 1], [1, 5]], 0.5),
    "weighted recall": PowerMeanMetric([1, 3], 1),
    "root mean": PowerMeanMetric([1, 3], 0.5),
    "weighted g-mean": PowerMeanMetric([1, 3], 0),
    "power mean": PowerMeanMetric([2, 1], -1.7),
    "square mean": PowerMeanMetric([2, 1], 2, decreasing=True),
    "macro f1": macro(f_beta(1)),
    "micro jaccard": micro(jaccard),
    "macro mcc": macro(mcc),
    "linear3": LinearMetric(np.arange(9).reshape(3, 3)),
    "power mean3": PowerMeanMetric([3, 1, 0.5], -0.4),
    "fractional3": LinearFractionalMetric(np.eye(3), 1 + np.arange(9).reshape(3, 3)),
}


def sizes(metric):
    return [metric.n_classes] if metric.n_classes else [2, 3, 5]


@pytest.mark.parametrize("name", METRICS)
def test_gradient_equals_finite_differences(rng, name):
    metric = METRICS[name]
    for k in sizes(metric):
        for _ in range(3):
            table = rng.dirichlet(np.ones(k * k) * 3).reshape(k, k)
            step = 1e-6
            expected = np.zeros((k, k))
            for i, j in np.ndindex(k, k):
                unit = np.zeros((k, k))
                unit[i, j] = step
                expected[i, j] = (metric(table + unit) - metric(table - unit)) / (2 * step)
            np.testing.assert_allclose(metric.gradient(table), expected, rtol=2e-6, atol=2e-8)


@pytest.mark.parametrize("name", METRICS)
def test_a_stack_is_its_parts(rng, name):
    metric = METRICS[name]
    for k in sizes(metric):
        stack = rng.dirichlet(np.ones(k * k), size=4).reshape(4, k, k)
        np.testing.assert_allclose(metric(stack), [metric(table) for table in stack])
        np.testing.assert_allclose(metric.gradient(stack), [metric.gradient(t) for t in stack])
        joint = stack * rng.dirichlet(np.ones(4))[:, None, None]
        np.testing.assert_allclose(metric(joint), metric(stack))


@pytest.mark.parametrize("name", METRICS)
def test_json_round_trip(tmp_path, name):
    metric = METRICS[name]
    again = load_metric(metric.to_json())
    assert again == metric
    assert hash(again) == hash(metric)
    assert type(again) is type(metric)
    assert again.describe() == metric.describe()
    file = tmp_path / "metric.json"
    file.write_text(metric.to_json())
    assert load_metric(file) == load_metric(str(file)) == metric
    assert json.loads(metric.to_json())["version"] == 2
    assert pickle.loads(pickle.dumps(metric)) == metric


def test_json_keeps_every_bit():
    weights = np.random.default_rng(1).normal(size=(4, 4)) / 3
    assert np.array_equal(load_metric(LinearMetric(weights).to_json()).weights, weights)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ('{"a": 1}', 'expected an object with "schema": "karat.metric"'),
        ('{"schema": "karat.metric", "version": 99, "kind": "mcc"}', "version 99.*reads version 2"),
        ('{"schema": "karat.metric", "version": 1, "kind": "no"}', "kind 'no'; expected one of"),
        ('{"schema": "karat.metric", "version": 1, "kind": "linear"}', "cannot be built.*weights"),
        ('{"schema": "karat.metric", "version": 1, "kind": "macro"}', "cannot be built"),
        ('{"schema": "karat.metric", "version": 1, "kind": "mcc", "x": 1}', "cannot be built"),
        ("no/such/file.json", "neither the JSON of a metric nor a readable file"),
    ],
)
def test_unreadable_metrics(text, message):
    with pytest.raises(MetricError, match=message):
        load_metric(text)


def test_equality_is_exact_and_ignores_the_name():
    assert precision == LinearFractionalMetric([[0, 0], [0, 1]], [[0, 1], [0, 1]], name="other")
    assert cost_matrix([[0, 1], [1, 0]]) == LinearMetric([[0, -1], [-1, 0]])
    assert LinearMetric(np.eye(2)) != LinearMetric(2 * np.eye(2))
    assert LinearMetric(np.eye(2)) != accuracy
    assert macro(precision) != micro(precision)
    assert macro(precision) == macro(precision) != macro(recall)
    assert LinearMetric([[0.0, 1], [1, 0]]) == LinearMetric([[-0.0, 1], [1, -0.0]])
    assert len({LinearMetric([[0.0, 1], [1, 0]]), LinearMetric([[-0.0, 1], [1, -0.0]])}) == 1
    assert f_beta(1) == f_beta(1.0)
    assert precision != "precision"


def test_equivalence():
    w = np.array([[1.0, -2], [0.5, 3]])
    assert LinearMetric(w).equivalent(LinearMetric(3 * w + 7))
    assert LinearMetric(w).equivalent(LinearMetric(w + np.array([[5], [-2]])))
    assert not LinearMetric(w).equivalent(LinearMetric(-w))
    assert not LinearMetric(w).equivalent(LinearMetric(w + np.array([[0, 0.01], [0, 0]])))
    assert accuracy.equivalent(LinearMetric(np.eye(3)))
    assert accuracy.equivalent(accuracy.for_classes(4))
    assert micro(precision).equivalent(accuracy)
    assert not accuracy.equivalent(balanced_accuracy)
    assert not LinearMetric(np.eye(2)).equivalent(LinearMetric(np.eye(3)))
    assert f_beta(1).equivalent(
        LinearFractionalMetric([[0, 1], [1, 4]], [[0, 1], [1, 2]])  # 2·TP/d + d/d
    )
    assert not f_beta(1).equivalent(f_beta(2))
    assert not f_beta(1).equivalent(jaccard)  # they rank alike, but by a curve
    assert precision.equivalent(LinearFractionalMetric([[0, -1], [0, 0]], [[0, 1], [0, 1]]))
    assert LinearMetric(np.ones((2, 2))).equivalent(LinearMetric(np.zeros((2, 2))))
    assert not LinearMetric(np.ones((2, 2))).equivalent(accuracy)


def test_normalized(rng):
    for k in (2, 4):
        metric = LinearMetric(rng.normal(size=(k, k)))
        canonical = metric.normalized()
        assert np.linalg.norm(canonical.weights) == pytest.approx(1)
        assert np.diag(canonical.weights).tolist() == [0] * k
        assert metric.equivalent(canonical)
        other = LinearMetric(2.5 * metric.weights + rng.normal(size=(k, 1)))
        np.testing.assert_allclose(other.normalized().weights, canonical.weights)
    assert not LinearMetric(np.ones((2, 2))).normalized().weights.any()
    ratio = LinearFractionalMetric([[1, 2], [3, 4]], [[-2, -1], [-1, -5]], -0.5)
    canonical = ratio.normalized()
    assert canonical.constant == 0
    assert canonical.denominator.sum() > 0
    assert canonical(C) == pytest.approx(ratio(C))
    assert mcc.normalized() is mcc


def test_attributes_are_as_constructed_and_frozen():
    weights = np.array([[2.0, -4.0], [0.0, 8.0]])
    metric = LinearMetric(weights)
    weights[0, 0] = 99
    assert metric.weights.tolist() == [[2, -4], [0, 8]]
    with pytest.raises(ValueError, match="read-only"):
        metric.weights[0, 0] = 1
    with pytest.raises(AttributeError):
        metric.weights = weights


def test_takes_confusion_objects_and_groups():
    y, p, g = [0, 0, 1, 1, 1, 0], [0, 1, 1, 1, 0, 0], list("aaabbb")
    assert accuracy(confusion(y, p)) == accuracy.score(y, p)
    per_group = accuracy.score(y, p, groups=g)
    np.testing.assert_allclose(per_group, accuracy(confusion(y, p, groups=g)))
    np.testing.assert_allclose(per_group, [2 / 3, 2 / 3])


def test_score_of_a_randomised_classifier():
    proba = [[0.75, 0.25], [0.5, 0.5]]
    assert accuracy.score([0, 1], proba) == pytest.approx((0.75 + 0.5) / 2)
    with pytest.raises(MetricError, match="ambiguous"):
        precision.score([0, 1], proba, pos_label=0)


@pytest.mark.parametrize("metric", [precision, recall, jaccard, f_beta(1)])
def test_binary_on_multiclass_names_the_way_out(metric):
    with pytest.raises(MetricError, match=r"macro\(.*\) or micro\(.*\)"):
        metric.score([0, 1, 2], [0, 1, 2])


def test_wrong_number_of_classes():
    with pytest.raises(MetricError, match="is for 3 classes and the confusion has 2"):
        LinearMetric(np.eye(3))(C)


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: LinearMetric([1, 2]), MetricError, r"weights has shape \(2,\); expected k×k"),
        (lambda: LinearMetric([[1]]), MetricError, "k at least 2"),
        (lambda: LinearMetric([[1, np.nan], [0, 1]]), DataError, r"nan at \(0, 1\)"),
        (lambda: LinearMetric("abc"), ShapeError, "expected a matrix of numbers"),
        (lambda: LinearFractionalMetric(np.eye(2), np.eye(3)), MetricError, "expected the same"),
        (lambda: LinearFractionalMetric(np.eye(2), np.zeros((2, 2))), MetricError, "denominator"),
        (lambda: LinearFractionalMetric(np.eye(2), np.eye(2), "x"), OptionError, "constant is 'x'"),
        (lambda: f_beta(-1), OptionError, "beta is -1; expected a number of at least 0"),
        (lambda: f_beta("1"), OptionError, "beta is '1'"),
        (lambda: cost_matrix([[0, 1]]), MetricError, "costs has shape"),
        (lambda: weighted_accuracy([1]), MetricError, "one weight per class"),
        (lambda: macro("f1"), MetricError, r"macro was given 'f1'"),
        (lambda: micro(LinearMetric(np.eye(3))), MetricError, "a metric for 3 classes"),
        (lambda: mcc.bayes_classifier(), MetricError, "is not linear"),
        (lambda: accuracy.bayes_classifier(), MetricError, "pass classes="),
        (lambda: precision.gradient([[1.0, 0], [0, 0]]), MetricError, "has no gradient"),
        (lambda: g_mean.gradient([[0.0, 0.5], [0, 0.5]]), MetricError, "has no gradient"),
        (lambda: accuracy.score([0, 1], [0, 1], classes=[0, 1, 2], pos_label=1), LabelError, "3"),
        (
            lambda: LinearMetric(np.eye(3)).score([0, 1, 2], [0, 1, 2], pos_label=1),
            OptionError,
            "pos_label is 1; expected None: linear metric is for 3 classes",
        ),
        (lambda: accuracy.for_classes(1), OptionError, "n_classes is 1; expected a whole number"),
        (lambda: as_metric("f"), OptionError, "metric is 'f'; expected a metric of karat.metrics"),
        (lambda: accuracy.equivalent(accuracy, tol=-1), OptionError, "tol is -1; expected a num"),
    ],
)
def test_bad_metrics(build, error, message):
    with pytest.raises(error, match=message):
        build()


def test_descriptions_say_what_matters():
    text = cost_matrix([[0, 1], [5, 0]]).describe(["healthy", "ill"])
    assert "predicting healthy when the truth is ill costs 5" in text
    assert "A missed ill weighs 5 false alarms" in text
    assert "from a probability of 0.1667 on" in text
    assert "P(truth class 1, predicted class 1)" in precision.describe()
    assert "P(truth ill, predicted ill)" in precision.describe(["healthy", "ill"])
    assert "no prediction changes" in LinearMetric(np.ones((3, 3))).describe()
    many = LinearMetric(-np.arange(25).reshape(5, 5)).describe()
    assert "; and 14 smaller ones." in many
    with pytest.raises(MetricError, match="names 3 classes"):
        precision.describe(["a", "b", "c"])


@pytest.mark.parametrize("classes", [None, [0, 1], np.array([0, 1])])
def test_a_class_is_never_taken_for_a_count(classes):
    """A number alone ("a missed 1 weighs 5") would be."""
    text = cost_matrix([[0, 1], [5, 0]]).describe(classes)
    assert "A missed class 1 weighs 5 false alarms" in text
    assert "predicting class 0 when the truth is class 1" in text


def test_averages_over_classes_have_no_names():
    text = macro(cost_matrix([[0, 1], [5, 0]])).describe(["cat", "dog", "fox"])
    assert "A missed class weighs 5 false alarms" in text


def test_an_empty_group_is_nan():
    table = np.array([C, np.zeros((2, 2))])
    for metric in METRICS.values():
        if metric.n_classes in (None, 2):
            with pytest.warns(UndefinedMetricWarning, match="a group without weight"):
                assert np.isnan(metric(table)[1])


@pytest.mark.parametrize("unit", [1e-12, 1e-3, 1e10])
def test_equivalence_does_not_depend_on_the_unit(unit):
    w = np.array([[0.0, -1], [-5, 0]])
    metric = LinearMetric(unit * w)
    assert metric.equivalent(metric.normalized())
    assert metric.equivalent(LinearMetric(w))
    assert not metric.equivalent(LinearMetric(-w))
    assert LinearMetric(w + 1e4).equivalent(LinearMetric(w))


def test_equivalence_of_many_classes_is_quick():
    assert LinearMetric(np.eye(300)).equivalent(accuracy)


def test_mcc_keeps_its_digits_where_a_class_is_rare():
    n = 10**7
    table = np.array([[n - 4, 1], [1, 2]]) / n
    exact = ((n - 4) * 2 - 1) / np.sqrt((n - 3.0) * 3 * (n - 3.0) * 3)
    assert mcc(table) == pytest.approx(exact, abs=1e-15)
    rng = np.random.default_rng(0)
    for k in (3, 100, 300):
        column = np.zeros((k, k))
        column[:, 1] = rng.dirichlet(np.ones(k))
        with pytest.warns(UndefinedMetricWarning):
            assert mcc(column) == 0.0


def test_warnings_point_at_the_line_of_the_caller():
    for call in (
        lambda: precision([[0.5, 0.0], [0.5, 0.0]]),
        lambda: macro(precision).score([0, 1], [0, 0]),
    ):
        with pytest.warns(UndefinedMetricWarning) as caught:
            call()
        assert caught[0].filename == __file__


def test_normalized_is_the_same_for_the_same_ratio():
    q = np.diag([1.0, -1.0])
    p = np.array([[1.0, 2.0], [3.0, 4.0]])
    a, b = LinearFractionalMetric(p, q), LinearFractionalMetric(-p, -q)
    assert a.normalized() == b.normalized()
    with pytest.raises(MetricError, match="0 together"):
        LinearFractionalMetric(p, -np.ones((2, 2)), 1.0)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: LinearMetric([[1j, 0], [0, 1]]), "matrix of numbers"),
        (lambda: LinearMetric([[10**400, 0], [0, 1]]), "matrix of numbers"),
        (lambda: f_beta(1e200), "at most 1e"),
        (lambda: accuracy.equivalent(3), "not to 3"),
        (lambda: precision.score([0, 1], [0, 1], pos_label=np.array([0, 1])), "pos_label"),
        (lambda: load_metric("\0"), "neither the JSON"),
        (lambda: load_metric('{"schema": "karat.metric", "version": 1, "kind": []}'), "kind"),
    ],
)
def test_odd_arguments_get_a_karat_error(use, message):
    with pytest.raises(KaratError, match=message):
        use()
