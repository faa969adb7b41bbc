import itertools

import numpy as np
import pytest

from karat.exceptions import MetricError, ProbabilityError, ScoreError, ShapeError
from karat.metrics import LinearMetric, accuracy, cost_matrix, weighted_accuracy
from karat.statistics import confusion


def test_proposition_3_1(rng):
    """Predict 1 from m00 / (m11 + m00) on if m11 + m00 is positive, else up to there."""
    eta = rng.random(500)
    for _ in range(50):
        weights = rng.normal(size=(2, 2))
        m00, m11 = weights[0, 0] - weights[0, 1], weights[1, 1] - weights[1, 0]
        classifier = LinearMetric(weights).bayes_classifier()
        cut = m00 / (m11 + m00)
        expected = eta >= cut if m11 + m00 > 0 else eta <= cut
        assert np.array_equal(classifier.predict(eta), expected.astype(int))
        if m11 + m00 > 0:
            assert classifier.threshold == pytest.approx(cut)
        else:
            with pytest.raises(MetricError, match="rewards errors"):
                _ = classifier.threshold


def test_proposition_b_1(rng):
    """For a diagonal metric: argmax of a_i·η_i."""
    proba = rng.dirichlet(np.ones(4), 300)
    a = rng.random(4)
    predicted = weighted_accuracy(a).bayes_classifier().predict(proba)
    assert np.array_equal(predicted, np.argmax(a * proba, axis=1))


def test_no_classifier_of_the_same_items_does_better(rng):
    """Brute force over all assignments of five items."""
    k, n = 3, 5
    proba = rng.dirichlet(np.ones(k), n)
    metric = LinearMetric(rng.normal(size=(k, k)))

    def value(decisions):
        table = np.zeros((k, k))
        for row, decision in zip(proba, decisions, strict=True):
            table[:, decision] += row / n
        return metric(table)

    best = max(itertools.product(range(k), repeat=n), key=value)
    assert metric.bayes_classifier().predict(proba).tolist() == list(best)


def test_labels_ties_and_kinds():
    classifier = cost_matrix([[0, 1], [4, 0]]).bayes_classifier(["healthy", "ill"])
    assert classifier.threshold == 0.2
    assert classifier.predict([0.2, 0.1]).tolist() == ["ill", "healthy"]
    assert classifier([[0.5, 0.5]]).tolist() == ["ill"]
    assert accuracy.bayes_classifier(["a", "b"]).predict([[0.5, 0.5]]).tolist() == ["b"]
    assert accuracy.for_classes(3).bayes_classifier().predict([[0.2, 0.7, 0.1]]).tolist() == [1]
    gain = classifier.expected_gain([0.25])
    assert gain.tolist() == [[-1.0, -0.75]]
    assert classifier == cost_matrix([[0, 1], [4, 0]]).bayes_classifier(["healthy", "ill"])


def test_bad_input():
    three = LinearMetric(np.eye(3)).bayes_classifier()
    with pytest.raises(ShapeError, match="2 columns and there are 3 classes"):
        three.predict([[0.5, 0.5]])
    with pytest.raises(MetricError, match="a threshold is for 2 classes"):
        _ = three.threshold
    with pytest.raises(MetricError, match="names 2 classes and the metric is for 3"):
        LinearMetric(np.eye(3)).bayes_classifier(["a", "b"])
    two = LinearMetric(np.eye(2)).bayes_classifier()
    with pytest.raises(ProbabilityError, match="row 0"):
        two.predict([1.5, 0.2])
    with pytest.raises(ScoreError, match="row 1"):
        two.predict([0.5, np.nan])


def test_the_threshold_maximises_the_expected_metric(rng):
    """Simulation: with the true probabilities no other threshold does better."""
    eta = rng.random(200_000)
    y = (rng.random(200_000) < eta).astype(int)
    metric = cost_matrix([[0, 1], [3, 0]])
    best = metric(confusion(y, metric.bayes_classifier().predict(eta)))
    for other in (0.1, 0.2, 0.3, 0.4, 0.5):
        assert best > metric(confusion(y, (eta >= other).astype(int)))
