"""Classes that nobody votes for, names of items among the votes, and P(Y) as users pass it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from karat.consensus import ErrorEstimator
from karat.exceptions import ColumnError, LabelError, NotIdentifiedWarning, ProbabilityError
from karat.weak import (
    DawidSkene,
    DetectorLabelModel,
    MajorityVote,
    OracleLabelModel,
    TripletLabelModel,
)


@pytest.fixture(scope="module")
def votes():
    """Return votes of four labelers that are right in four cases of five, and the truth."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    return np.where(rng.random((300, 4)) < 0.8, y[:, None], 1 - y[:, None]), y


@pytest.fixture(scope="module")
def positive_only():
    """Return votes of four rules that find positives, 40 % of the items, and abstain otherwise."""
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.4
    return np.where(rng.random((3000, 4)) < np.where(y, 0.6, 0.15)[:, None], 1, -1), y.astype(int)


def test_a_class_that_nobody_votes_for_is_warned_of_and_the_implied_shares_are_said(positive_only):
    rules, _ = positive_only
    with pytest.warns(NotIdentifiedWarning, match=r"no labeler ever votes for \[0\].*class_prior="):
        model = DetectorLabelModel().fit(rules, classes=[0, 1])
    shares = 100 * model.predict_proba(rules).mean(axis=0)
    assert shares[1] > 60  # far from the assumed half, so it must be said
    assert f"averages 0 {shares[0]:.3g} %, 1 {shares[1]:.3g} %" in model.assumption_


@pytest.mark.parametrize("model", [MajorityVote, TripletLabelModel, DawidSkene])
def test_every_label_model_warns_of_a_class_that_nobody_votes_for(positive_only, model):
    rules, _ = positive_only
    with pytest.warns(NotIdentifiedWarning, match=r"no labeler ever votes for \[0\].*class_prior="):
        model().fit(rules, classes=[0, 1])


def test_with_labels_or_a_prior_there_is_no_warning(positive_only):
    rules, y = positive_only
    some = np.where(np.arange(3000) < 200, y, -1)
    DetectorLabelModel().fit(rules, classes=[0, 1], class_prior=[0.6, 0.4])
    DetectorLabelModel().fit(rules, classes=[0, 1], y_true=some)


def test_shares_as_assumed_are_not_repeated(votes):
    assert "averages" not in DetectorLabelModel().fit(votes[0]).assumption_


@pytest.mark.parametrize("model", [MajorityVote, DawidSkene, TripletLabelModel, DetectorLabelModel])
def test_a_true_label_that_nobody_votes_for_is_refused_unless_named(model, votes):
    table, y = votes
    gold = np.where(np.arange(300) < 50, y, -1)
    gold[7] = 9
    with pytest.raises(
        LabelError, match=r"y_true row 7 is 9, and no labeler votes for it.*classes="
    ):
        model().fit(table, y_true=gold)
    if model is not TripletLabelModel:
        assert model().fit(table, y_true=gold, classes=[0, 1, 9]).classes_.tolist() == [0, 1, 9]
    assert OracleLabelModel().fit(table, y_true=gold).classes_.tolist() == [0, 1, 9]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("text", [False, True])
def test_names_of_items_are_no_votes(frame, text, votes):
    table = {f"rule_{j}": votes[0][:, j].tolist() for j in range(4)}
    names = [f"case {i}" if text else i + 1000 for i in range(300)]
    if text:
        table = {rule: np.where(column, "yes", "no").tolist() for rule, column in table.items()}
    said = r"column 'code' has a different value in every row; drop it, or name it item"
    with pytest.raises(ColumnError, match=f"weak_labels {said}"):
        DetectorLabelModel().fit(frame({"code": names, **table}))
    with pytest.raises(ColumnError, match=f"votes {said}"):
        ErrorEstimator().fit(frame({"code": names, **table}))
    assert MajorityVote().fit(frame({"id": names, **table})).names_ == tuple(table)


def test_a_column_called_item_is_no_labeler(votes):
    frame = pd.DataFrame(votes[0], columns=list("abcd"))
    model = DetectorLabelModel().fit(frame.assign(item=np.arange(300)))
    assert model.names_ == tuple("abcd")
    with_names = model.predict_proba(frame.assign(item=np.arange(300)))
    assert np.array_equal(with_names, DetectorLabelModel().fit(frame).predict_proba(frame))


def test_names_of_items_in_a_matrix_are_no_votes(votes):
    with pytest.raises(ColumnError, match="column 0 has a different value in every row"):
        MajorityVote().fit(np.column_stack([np.arange(300), votes[0]]))


def test_a_prior_may_be_a_mapping(votes):
    listed = DetectorLabelModel().fit(votes[0], class_prior=[0.7, 0.3])
    mapped = DetectorLabelModel().fit(votes[0], class_prior={1: 0.3, 0: 0.7})
    assert np.array_equal(listed.class_prior_, mapped.class_prior_)
    with pytest.raises(
        ProbabilityError, match=r"class_prior names \[1, 2\] .* classes are \[0, 1\]"
    ):
        DetectorLabelModel().fit(votes[0], class_prior={1: 0.3, 2: 0.7})
    with pytest.raises(ProbabilityError, match=r"class_prior is the number 0\.4; pass one probab"):
        DetectorLabelModel().fit(votes[0], class_prior=0.4)


def test_labels_are_counted_not_weighed(votes):
    table, y = votes
    gold = np.where(np.arange(300) < 50, y, -1)
    model = DetectorLabelModel().fit(table, y_true=gold, sample_weight=np.full(300, 2.2923))
    assert "estimated from 50 true labels" in model.assumption_
