"""Metrics know their classes, and match labels and groups by name."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from karat.bounds import difference_bounds, performance_bounds
from karat.consensus import ScoreEstimator
from karat.datasets import LogisticLaw
from karat.elicit import BinarySpace, Elicitation, MetricOracle
from karat.exceptions import LabelError, MetricError, PositiveClassError
from karat.metrics import (
    FairMetric,
    LinearMetric,
    accuracy,
    cost_matrix,
    f_beta,
    load_metric,
    recall,
)
from karat.metrics.base import Elicited
from karat.statistics import confusion, pattern_counts

COSTS = cost_matrix([[0, 1], [5, 0]], ["low", "high"])


def test_labels_are_matched_by_name():
    truth, called = ["high", "low", "high", "low"], ["low", "low", "high", "high"]
    by_hand = -(5 + 1) / 4  # one missed high, one false high
    assert COSTS.score(truth, called) == pytest.approx(by_hand)
    assert COSTS(confusion(truth, called)) == pytest.approx(by_hand)
    assert COSTS.estimate(truth, called, rng=0).value == pytest.approx(by_hand)
    swapped = cost_matrix([[0, 5], [1, 0]], ["high", "low"])
    assert swapped.score(truth, called) == pytest.approx(by_hand)
    digits = cost_matrix([[0, 1], [5, 0]], ["0", "1"])
    assert digits.score([1, 0, 1, 0], [0, 0, 1, 1]) == pytest.approx(by_hand)


@pytest.mark.parametrize(
    "labels", [["a", "b"], ["high", "mid", "low"], [0, 1], ["High", "Low"]], ids=str
)
def test_labels_that_it_does_not_know_are_refused_with_both_lists(labels):
    with pytest.raises(LabelError, match="is about") as refused:
        COSTS.score(labels, labels[::-1])
    assert "['low', 'high']" in str(refused.value)
    if labels[0] == "High":
        assert "{'High': 'high', 'Low': 'low'}" in str(refused.value)


def test_a_label_that_does_not_occur_is_no_fault():
    assert COSTS.score(["low"] * 4, ["high"] + ["low"] * 3) == pytest.approx(-0.25)


def test_three_classes_in_the_order_of_their_names():
    weights = np.diag([1.0, 2.0, 3.0])
    metric = LinearMetric(weights, ["low", "mid", "high"])
    truth = ["high", "low", "mid", "high"]
    assert metric.score(truth, truth) == pytest.approx((1 + 2 + 3 + 3) / 4)


def test_files_keep_all_that_is_known():
    rests_on = Elicited(
        status="certified", n_queries=12, agreement=0.97, who="Ada", when="2026-11-18",
        limits=({"name": "a missed high", "value": 5.0, "lower": 3.0, "upper": None},),
        procedure="linear family, strategy active",
    )  # fmt: skip
    metric = COSTS._with(elicited=rests_on)
    text = metric.to_json()
    again = load_metric(text)
    assert again.classes == ("low", "high")
    assert again.elicited.to_dict() == rests_on.to_dict()
    assert json.loads(text)["classes"] == ["low", "high"]
    assert "certified, 12 answers by Ada on 2026-11-18" in repr(again)
    assert "high" in again.describe()


def old(metric):
    kept = json.loads(metric.to_json()) | {"version": 1}
    return json.dumps({k: v for k, v in kept.items() if k not in ("classes", "elicited", "groups")})


@pytest.mark.parametrize("metric", [accuracy, recall, f_beta(2), cost_matrix([[0, 3], [3, 0]])])
def test_old_files_whose_order_cannot_matter_are_read(metric):
    assert load_metric(old(metric)) == metric


def test_old_files_whose_order_matters_are_refused_with_what_to_write(tmp_path):
    path = tmp_path / "costs.json"
    path.write_text(old(COSTS))
    with pytest.raises(
        MetricError, match=r"load_metric\('.*costs.json', classes=\[...\]\).to_json"
    ):
        load_metric(path)
    with pytest.raises(MetricError, match="has version 1 and this karat reads version 2"):
        load_metric(path)
    assert load_metric(path, classes=["low", "high"]) == COSTS
    with pytest.raises(MetricError, match="classes"):
        load_metric(COSTS.to_json(), classes=["high", "low"])


def test_costs_that_are_alike_for_both_classes_have_no_positive_one():
    """The class that sorts last was called positive: 'genuine', of fraud and genuine."""
    labels = ["fraud", "genuine"] * 20
    alike = cost_matrix([[0, 3], [3, 0]]).estimate(labels, labels[::-1], rng=0)
    assert alike.pos_label is None
    assert "positive class" not in alike.summary()
    assert recall.estimate(labels, labels[::-1], rng=0).pos_label == "fraud"
    assert COSTS.estimate(["high", "low"] * 9, ["high", "low"] * 9, rng=0).pos_label == "high"


@pytest.mark.parametrize("status", ["certified", "undecided", "flagged"])
def test_flagged_metrics_are_refused_unless_wanted(status):
    text = COSTS._with(elicited=Elicited(status=status, n_queries=3)).to_json()
    if status == "flagged":
        with pytest.raises(MetricError, match=r"flagged=True"):
            load_metric(text)
    assert load_metric(text, flagged=True).elicited.status == status


def test_a_scorer_goes_by_names_and_never_by_the_alphabet():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 1))
    fraud = rng.random(300) < 1 / (1 + np.exp(2 - 2 * x[:, 0]))
    y = np.where(fraud, "fraud", "genuine")
    model = LogisticRegression().fit(x, y)
    said = model.predict(x)
    by_hand = np.mean(said[fraud] == "fraud")
    for scorer in (recall.as_scorer(), recall.as_scorer(pos_label="fraud")):
        assert scorer(model, x, y) == pytest.approx(by_hand)
    named = cost_matrix([[0, 1], [5, 0]], ["genuine", "fraud"])
    wanted = -np.mean(5 * (fraud & (said == "genuine")) + (~fraud & (said == "fraud")))
    assert named.as_scorer()(model, x, y) == pytest.approx(wanted)
    letters = np.where(fraud, "A", "B")
    with pytest.raises(PositiveClassError, match="labels are 'A' and 'B'"):
        recall.as_scorer()(LogisticRegression().fit(x, letters), x, letters)


# --- groups


def fair(groups):
    return FairMetric([1, 4], [[0.5, 2.0]], 0.3, ["no", "yes"], groups)


def drawn(n=3000):
    rng = np.random.default_rng(1)
    y = np.where(rng.random(n) < 0.4, "yes", "no")
    other = np.where(y == "yes", "no", "yes")
    group = np.where(rng.random(n) < 0.3, "women", "men")
    called = np.where(rng.random(n) < np.where(group == "men", 0.9, 0.7), y, other)
    votes = np.where(rng.random((n, 3)) < 0.8, y[:, None], other[:, None])
    return y, called, group, votes


def test_groups_are_matched_by_name():
    y, called, group, votes = drawn()
    one = FairMetric([1, 4], [[0.5, 2.0]], 0.3, ["no", "yes"], ["men", "women"])
    codes = np.where(group == "men", 0, 1)
    nameless = FairMetric([1, 4], [[0.5, 2.0]], 0.3)
    binary = (y == "yes").astype(int), (called == "yes").astype(int)
    wanted = nameless.score(*binary, groups=codes)
    assert one.score(y, called, groups=group) == pytest.approx(wanted)
    renamed = np.where(group == "men", "z", "a")  # sorted the other way
    two = fair(["z", "a"])
    assert two.score(y, called, groups=renamed) == pytest.approx(wanted)
    with pytest.raises(LabelError, match=r"\['a', 'z'\].*\['men', 'women'\]"):
        one.score(y, called, groups=renamed)
    bounds = performance_bounds(called, votes, metric=one, groups=group, rng=0, method="plugin")
    again = performance_bounds(called, votes, metric=two, groups=renamed, rng=0, method="plugin")
    assert (again.lower, again.upper) == pytest.approx((bounds.lower, bounds.upper), abs=1e-9)
    counts = pattern_counts(called, votes, groups=renamed)
    counted = performance_bounds(counts, metric=two, rng=0, method="plugin")
    assert (counted.lower, counted.upper) == pytest.approx((bounds.lower, bounds.upper), abs=1e-9)


# --- results name the class


def test_bounds_name_the_positive_class():
    y, called, _, votes = drawn()
    found = performance_bounds(called, votes, metric="recall", rng=0)
    assert found.pos_label == "yes"
    assert "(positive class 'yes')" in found.summary()
    apart = difference_bounds(called, y, votes, metric="recall", rng=0)
    assert "(positive class 'yes')" in apart.summary()
    assert performance_bounds(called, votes, metric="accuracy", rng=0).pos_label is None


def test_scores_of_two_labels_that_do_not_tell_are_refused():
    rng = np.random.default_rng(0)
    y = rng.random(60) < 0.5
    scores = {f"judge_{j}": np.clip(y + rng.normal(size=60) / 2, 0, 1) for j in range(3)}
    table = np.column_stack(list(scores.values()))
    told = ScoreEstimator(rng=0).fit(table, y_true=np.where(y, "high", "low"))
    plain = ScoreEstimator(rng=0).fit(table, y_true=y.astype(int))
    assert told.result_.value == pytest.approx(plain.result_.value)
    with pytest.raises(PositiveClassError, match=r"classes=\['B', 'A'\]"):
        ScoreEstimator(rng=0).fit(table, y_true=np.where(y, "A", "B"))


def test_a_simulated_person_is_asked_about_the_classes_of_its_metric():
    law = LogisticLaw.binary(4.0)
    x, y = law.sample(300, rng=0)
    names = np.where(y == 1, "high", "low")
    space = BinarySpace.from_scores(names, law.proba(x)[:, 1])
    person = MetricOracle(cost_matrix([[0, 1], [3, 0]], ["low", "high"]))
    assert Elicitation(space, rng=0, max_queries=4).run(person).metric.classes == ("low", "high")
    other = MetricOracle(cost_matrix([[0, 3], [1, 0]], ["high", "low"]))
    with pytest.raises(LabelError, match=r"\['low', 'high'\].*\['high', 'low'\]"):
        Elicitation(space, rng=0).run(other)
    strange = MetricOracle(cost_matrix([[0, 1], [3, 0]], ["a", "b"]))
    with pytest.raises(LabelError, match=r"\['low', 'high'\].*\['a', 'b'\]"):
        Elicitation(space, rng=0).run(strange)
