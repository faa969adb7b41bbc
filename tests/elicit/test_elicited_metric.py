"""What comes out of an elicitation is a metric like any other."""

import json
import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

from karat.bounds import performance_bounds
from karat.datasets import LogisticLaw
from karat.elicit import BinarySpace, ConfusionSpace, Elicitation, MetricOracle
from karat.exceptions import NotIdentifiedWarning
from karat.metrics import LinearFractionalMetric, LinearMetric, cost_matrix, f_beta, load_metric
from karat.statistics import confusion

DOCTOR = cost_matrix([[0, 1], [4, 0]])


@pytest.fixture(scope="module")
def results(binary, diagonal, errors):
    """One result of each kind of metric."""
    three = cost_matrix([[0, 1, 2], [1, 0, 1], [6, 3, 0]])
    return {
        "active": Elicitation(binary, rng=0).run(MetricOracle(DOCTOR)),
        "bisection": Elicitation(binary, strategy="bisection").run(MetricOracle(DOCTOR)),
        "ratio": Elicitation(binary, "ratio", strategy="bisection").run(MetricOracle(f_beta(2))),
        "diagonal": Elicitation(diagonal, rng=0, max_queries=8).run(MetricOracle("accuracy")),
        "costs": Elicitation(errors, strategy="bisection").run(MetricOracle(three)),
        "ratio of errors": Elicitation(errors, "ratio", rng=0, max_queries=5).run(
            MetricOracle(three)
        ),
    }


KINDS = ["active", "bisection", "ratio", "diagonal", "costs", "ratio of errors"]


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_saved_and_read_back(kind, results):
    metric = results[kind].metric
    assert isinstance(metric, LinearFractionalMetric if "ratio" in kind else LinearMetric)
    assert load_metric(metric.to_json()) == metric
    assert pickle.loads(pickle.dumps(metric)) == metric


@pytest.mark.parametrize("kind", KINDS)
def test_it_scores_predictions(kind, results, rng):
    metric = results[kind].metric
    k = metric.n_classes
    y, guess = rng.integers(0, k, (2, 200))
    perfect, poor = metric.score(y, y), metric.score(y, guess)
    assert perfect > poor
    assert poor == pytest.approx(metric(confusion(y, guess)))
    text = np.array(["a", "b", "c"])
    named = metric.with_classes(text[:k].tolist())
    assert named.score(text[y], text[guess]) == pytest.approx(poor)


@pytest.mark.parametrize("kind", ["active", "ratio"])
def test_it_chooses_a_model(kind, results):
    X, y = make_classification(
        400, n_features=4, weights=[0.7], class_sep=0.5, flip_y=0.1, random_state=0
    )
    scorer = results[kind].metric.as_scorer()
    weighed = [{0: 4, 1: 1}, {0: 1, 1: 4}]
    search = GridSearchCV(
        LogisticRegression(), {"class_weight": weighed}, scoring=scorer, cv=3
    ).fit(X, y)
    # Misses cost four times as much, or recall weighs twice: positives are to be weighed up.
    assert search.best_params_ == {"class_weight": {0: 1, 1: 4}}
    backwards = GridSearchCV(
        LogisticRegression(), {"class_weight": weighed}, cv=3,
        scoring=cost_matrix([[0, 4], [1, 0]]).as_scorer(),
    ).fit(X, y)  # fmt: skip
    assert backwards.best_params_ == {"class_weight": {0: 4, 1: 1}}
    scores = cross_val_score(LogisticRegression(), X, y, scoring=scorer)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("kind", ["active", "ratio"])
def test_it_is_bounded_without_labels(kind, results, rng):
    metric = results[kind].metric
    y = rng.integers(0, 2, 400)
    votes = np.where(rng.random((400, 3)) < 0.85, y[:, None], 1 - y[:, None])
    y_pred = np.where(rng.random(400) < 0.8, y, 1 - y)
    label_model = np.where(votes.sum(axis=1) > 1, 0.93, 0.07)
    bounds = performance_bounds(
        y_pred, votes, np.column_stack([1 - label_model, label_model]), metric=metric, rng=0
    )
    assert bounds.metric == metric
    assert bounds.lower <= bounds.upper
    assert bounds.lower_limit <= metric.score(y, y_pred) <= bounds.upper_limit


def test_its_bayes_classifier_is_the_best_one(results, binary):
    """The threshold of a doctor to whom a miss is worth four false alarms: one in five."""
    metric = results["bisection"].metric
    assert metric.bayes_classifier().threshold == pytest.approx(0.2, abs=0.01)
    best = binary.boundary([metric.weights[1, 1], metric.weights[0, 0]])
    assert DOCTOR(best) == pytest.approx(DOCTOR(binary.boundary([4, 1])), abs=1e-3)
    assert metric(best) >= metric(binary.sample(500, rng=0)).max() - 1e-12


def test_a_ratio_says_what_is_worth_what(results):
    (ratio,) = results["bisection"].ratios
    assert ratio.lower <= 4 <= ratio.upper
    assert ratio.value == pytest.approx(4, rel=0.1)
    assert str(ratio).startswith("a missed 1 against a false 1: ")


def test_a_ratio_has_one_pair_of_limits(binary):
    """Someone whose costs lie beyond what questions show: draws there are the prior's.

    Quantiles of these draws would be limits that no answer supports, so nothing hands them out.
    """
    person = MetricOracle(cost_matrix([[0, 1], [500, 0]]))
    with pytest.warns(NotIdentifiedWarning, match="gives the same answers"):
        result = Elicitation(binary, rng=0, max_queries=15).run(person)
    (ratio,) = result.ratios
    assert ratio.upper == np.inf
    assert ratio.lower <= 500
    assert str(ratio) in result.summary()
    assert not hasattr(result, "ratio")
    frame = result.to_frame()
    row = list(frame["kind"]).index("ratio")
    assert (frame["lower"][row], frame["upper"][row]) == (ratio.lower, ratio.upper)


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_values(kind, results):
    result = results[kind]
    again = pickle.loads(pickle.dumps(result))
    assert again.to_dict() == result.to_dict()
    json.dumps(result.to_dict())
    assert result.summary().endswith(".")
    assert f"{result.n_queries} answers:" in result.summary()
    assert result.finished
    assert result.questions.first.shape == (result.n_queries, result.questions.boundary.shape[1])
    assert f"{result.n_queries} questions" in result.questions.summary()
    assert f"After {result.n_queries} answers" in result.progress.summary()


@pytest.mark.parametrize("kind", KINDS)
def test_results_equal_themselves(kind, results):
    result = results[kind]
    assert result == pickle.loads(pickle.dumps(result))
    assert hash(result) == hash(pickle.loads(pickle.dumps(result)))
    assert result != results["costs" if kind != "costs" else "active"]


def test_limits_hold_what_they_say(results):
    """Brackets of a bisection: the draws fill them, the truth is inside."""
    result = results["bisection"]
    angle = np.arctan2(*result.draws.T[::-1])
    assert np.ptp(angle) <= 0.02
    assert (result.draws >= 0).all()
    assert np.allclose(np.linalg.norm(result.draws, axis=1), 1)
    assert result.agreement > 0.99
    active = results["active"]
    for weight, column in zip(active.weights, active.draws.T, strict=True):
        inside = (column >= weight.lower) & (column <= weight.upper)
        assert 0.93 < inside.mean() <= 0.97 or weight.lower == weight.value
    assert 0 < active.acceptance < 1
    assert 0 < active.effective_particles < 1500.001


def test_before_anything_is_said_everything_is_possible(binary):
    active, bisection = (Elicitation(binary, strategy=s, rng=0).result
                         for s in ("active", "bisection"))  # fmt: skip
    for result in (active, bisection):
        assert result.n_queries == 0
        assert result.ratios[0].lower < 0.06
        assert result.ratios[0].upper > 15
        assert result.questions.summary() == "Nothing has been asked yet."
        assert result.questions.first.shape == (0, 2)


def test_the_classifier_of_a_question_can_be_deployed():
    """Both sides of a query of a calibrated law, as randomised classifiers of new items."""
    law = LogisticLaw([-4, 1, 5])
    space = ConfusionSpace.from_density(law.proba, n_points=501)
    query = Elicitation(space, strategy="bisection").ask()
    x, y = law.sample(60_000, rng=0)
    for side in (query.first, query.second):
        classifier = space.classifier(side)
        assert classifier.missing == 0
        decided = classifier.predict(law.proba(x), rng=1)
        assert np.allclose(confusion(y, decided), side, atol=0.01)


def test_a_sample_s_metric_is_that_of_its_law():
    """From 2,000 labelled items, smoothed: the doctor's trade-off within a tenth."""
    law = LogisticLaw.binary(5.0)
    x, y = law.sample(2000, rng=3)
    rough = BinarySpace.from_scores(y, law.proba(x)[:, 1])
    for space in (rough, rough.smoothed()):
        result = Elicitation(space, strategy="bisection").run(MetricOracle(DOCTOR))
        assert result.ratios[0].value == pytest.approx(4, rel=0.1)
