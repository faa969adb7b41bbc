import numpy as np
import pandas as pd
import polars as pl
import pytest

from karat._validate import check_confusions, check_probabilities, check_scores, check_weights
from karat.exceptions import (
    LengthMismatchError,
    ProbabilityError,
    ScoreError,
    ShapeError,
    WeightError,
)
from karat.statistics import confusion


def test_scores_of_any_kind():
    for values in ([1, 2], np.array([1, 2], dtype=np.float16), pd.Series([1.0, 2.0])):
        assert check_scores(values).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, None])
def test_bad_scores_are_named_by_row(bad):
    with pytest.raises(ScoreError, match="y_score row 1 is"):
        check_scores([0.5, bad, 0.2])


def test_text_scores():
    with pytest.raises(ScoreError, match="text"):
        check_scores(["0.5", "0.7"])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -2, 1], "row 1 is -2.0; expected weights of at least 0"),
        ([1, np.nan, 1], "row 1 is missing or NaN"),
        ([0, 0, 0], "zero in every row"),
        (["a", "b", "c"], "text"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(WeightError, match=message):
        check_weights(weights)


def test_rounding_of_the_type_that_was_passed_is_fine(rng):
    for dtype in (np.float16, np.float32, np.float64):
        proba = rng.dirichlet(np.ones(50), size=200).astype(dtype)
        assert check_probabilities(proba, "y_pred").shape == (200, 50)


@pytest.mark.parametrize(
    ("proba", "error", "message"),
    [
        ([[0.5, 0.5], [0.5, 0.6]], ProbabilityError, "row 1 sums to 1.1; expected 1"),
        ([[0.5, 0.5], [-0.1, 1.1]], ProbabilityError, "row 1, column 0 is -0.1"),
        ([[0.5, 0.5], [np.nan, 1.0]], ProbabilityError, "row 1 is missing or NaN"),
        ([[0.5, 0.25, 0.25]], ShapeError, r"3 columns and there are 2 classes \['a', 'b'\]"),
        ([["x", "y"]], ProbabilityError, "text"),
    ],
)
def test_bad_probabilities(proba, error, message):
    with pytest.raises(error, match=message):
        check_probabilities(proba, "y_pred", classes=np.array(["a", "b"]))


def test_probabilities_from_frames():
    frame = pl.DataFrame({"a": [0.25, 1.0], "b": [0.75, 0.0]})
    assert check_probabilities(frame, "y_pred").tolist() == [[0.25, 0.75], [1.0, 0.0]]


def test_mismatched_lengths_say_both():
    with pytest.raises(LengthMismatchError, match="y_pred has 3 rows and y_true has 2"):
        confusion([0, 1], [0, 1, 1])


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        ([[40, 10], [5, 45]], ProbabilityError, "sums to 100; .* If these are counts, divide"),
        ([[0.5, 0.6], [-0.1, 0.0]], ProbabilityError, "holds -0.1"),
        ([[0.5, np.nan], [0.5, 0.0]], ProbabilityError, "not a finite number"),
        ([0.5, 0.5], ShapeError, r"shape \(2,\)"),
        ([[1.0]], ShapeError, r"shape \(1, 1\)"),
        (np.zeros((0, 2, 2)), ShapeError, "no confusion"),
        ([["a", "b"], ["c", "d"]], ShapeError, "expected k×k"),
        (np.full((2, 2, 2), 0.5), ProbabilityError, "sums to 4"),
    ],
)
def test_bad_confusions(table, error, message):
    with pytest.raises(error, match=message):
        check_confusions(table)


def test_groups_may_sum_to_one_together_or_each():
    table = np.array([[[0.1, 0.1], [0.1, 0.2]], [[0.2, 0.0], [0.0, 0.3]]])
    own = table / table.sum(axis=(1, 2), keepdims=True)
    for given in (table, own):
        stack, single = check_confusions(given)
        np.testing.assert_allclose(stack, own)
        assert not single


def test_an_empty_group_is_nan():
    table = np.array([[[0.5, 0.0], [0.0, 0.5]], np.zeros((2, 2))])
    stack, _ = check_confusions(table)
    assert np.isnan(stack[1]).all()
