"""Classes are never put in the order of the alphabet, nor told apart by how they are typed."""

import numpy as np
import polars as pl
import pytest

from karat.bounds import performance_bounds
from karat.evaluation import evaluate
from karat.exceptions import (
    LabelError,
    LabelsMatchedWarning,
    OptionError,
    PositiveClassError,
    ProbabilityError,
)
from karat.metrics import cost_matrix
from karat.ranking import FprBand, WeightedAUCClassifier
from karat.weak import DawidSkene

RNG = np.random.default_rng(11)
Y = np.where(RNG.random(300) < 0.3, "fraud", "genuine")
OTHER = {"fraud": "genuine", "genuine": "fraud"}
VOTES = np.array([[y if RNG.random() < 0.8 else OTHER[y] for y in Y] for _ in range(3)]).T


@pytest.mark.parametrize("prior", [[0.3, 0.7], np.array([0.3, 0.7])])
def test_a_class_prior_without_names_is_refused_for_text(prior):
    """Which share is whose would be the alphabet's choice."""
    with pytest.raises(ProbabilityError, match=r"pass a mapping such as \{'fraud': 0.3"):
        DawidSkene().fit(VOTES, class_prior=prior)
    with pytest.raises(ProbabilityError, match="mapping"):
        performance_bounds(Y, VOTES, class_prior=prior, metric="accuracy")


def test_a_class_prior_is_heeded_by_name_and_in_the_order_of_classes():
    shares = {"genuine": 0.7, "fraud": 0.3}
    named = performance_bounds(Y, VOTES, class_prior=shares, metric="recall")
    ordered = performance_bounds(
        Y, VOTES, class_prior=[0.7, 0.3], classes=["genuine", "fraud"], metric="recall"
    )
    assert (named.lower, named.upper) == (ordered.lower, ordered.upper)


def features(n=400):
    rng = np.random.default_rng(5)
    y = rng.random(n) < 0.4
    return y[:, None] * [1.0, 0.4] + rng.normal(size=(n, 2)), y


def test_a_ranking_is_learnt_for_the_positive_class_whatever_it_is_called():
    x, y = features()
    plain = WeightedAUCClassifier(weight=FprBand(0, 0.2)).fit(x, y.astype(int))
    for names, pos in ((("genuine", "fraud"), None), (("b", "a"), "a"), (("a", "b"), "b")):
        told = np.where(y, names[1], names[0])
        model = WeightedAUCClassifier(weight=FprBand(0, 0.2), pos_label=pos).fit(x, told)
        sign = 1 if model.classes_[1] == names[1] else -1
        np.testing.assert_allclose(sign * model.coef_, plain.coef_)
    with pytest.raises(PositiveClassError):
        WeightedAUCClassifier(weight=FprBand(0, 0.2)).fit(x, np.where(y, "a", "b"))


def test_the_whole_area_needs_no_positive_class():
    x, y = features()
    one = WeightedAUCClassifier().fit(x, np.where(y, "a", "b"))
    other = WeightedAUCClassifier(pos_label="a").fit(x, np.where(y, "a", "b"))
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-4)


def rows(**columns):
    called = np.where(RNG.random(300) < 0.85, Y, "genuine")
    return pl.DataFrame({"y": Y, "pred": called} | columns)


def test_predictions_of_other_classes_are_refused():
    frame = rows(pred=np.where(Y == "fraud", "north", "south"))
    with pytest.raises(LabelError, match="no class in common"):
        evaluate(frame, label="y", pred=["pred"])


def test_a_positive_class_beside_a_metric_that_has_another_is_refused():
    metric = cost_matrix([[0, 1], [5, 0]]).with_classes(["genuine", "fraud"])
    with pytest.raises(OptionError, match="the positive class of the metric"):
        evaluate(rows(), label="y", pred=["pred"], metric=metric, pos_label="genuine")


def test_empty_cells_are_missing_and_said_to_be():
    frame = rows().with_columns(
        y=pl.when(pl.int_range(pl.len()) < 40).then(pl.lit("  ")).otherwise(pl.col("y"))
    )
    with pytest.warns(LabelsMatchedWarning, match="empty cells were read as missing"):
        found = evaluate(frame, label="y", pred=["pred"])
    missing = frame.with_columns(y=pl.col("y").replace({"  ": None}))
    assert found.verdicts == evaluate(missing, label="y", pred=["pred"]).verdicts
