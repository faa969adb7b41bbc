"""Vote matrices: -1 abstained, null was not asked."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from karat._validate import encode_weak_labels
from karat.exceptions import (
    ColumnError,
    EmptyDataError,
    LabelError,
    OptionError,
    ShapeError,
)

VOTES = [[0, 1], [-1, 1], [2, -1]]


@pytest.mark.parametrize(
    "votes",
    [
        VOTES,
        np.array(VOTES),
        np.array(VOTES, dtype=np.int8),
        np.array(VOTES, dtype=float),
        np.array([[0, 1], [np.nan, 1], [2, np.nan]]),
        np.ma.array([[0, 1], [-999, 1], [2, 77]], mask=[[0, 0], [1, 0], [0, 1]]),
        [[0, 1], [None, 1], [2, None]],
        pd.DataFrame(VOTES),
        pd.DataFrame({"a": [0, None, 2], "b": [1, 1, -1]}, dtype="Int64"),
        pl.DataFrame({"a": [0, None, 2], "b": [1, 1, None]}),
        pa.table({"a": [0, None, 2], "b": [1, 1, -1]}),
    ],
    ids=lambda v: f"{type(v).__module__.partition('.')[0]}-{type(v).__name__}",
)
def test_integer_votes(votes):
    encoded = encode_weak_labels(votes, null="abstain")
    assert encoded.codes.tolist() == VOTES
    assert encoded.classes.tolist() == [0, 1, 2]
    assert encoded.complete
    asked = encode_weak_labels(votes)
    assert np.maximum(asked.codes, -1).tolist() == VOTES
    assert asked.complete == (asked.codes > -2).all()


@pytest.mark.parametrize(
    "votes",
    [
        [["ham", "spam"], [None, "spam"]],
        [["ham", "spam"], [-1, "spam"]],
        np.array([["ham", "spam"], ["-1", "spam"]]),
        pd.DataFrame({"a": ["ham", None], "b": ["spam", "spam"]}),
        pl.DataFrame({"a": ["ham", None], "b": ["spam", "spam"]}),
        pl.DataFrame({"a": ["ham", None], "b": ["spam", "spam"]}).cast(pl.Categorical),
    ],
    ids=lambda v: f"{type(v).__module__.partition('.')[0]}-{type(v).__name__}",
)
def test_text_votes(votes):
    encoded = encode_weak_labels(votes, null="abstain")
    assert encoded.codes.tolist() == [[0, 1], [-1, 1]]
    assert encoded.classes.tolist() == ["ham", "spam"]


def test_names_are_the_columns():
    assert encode_weak_labels(pd.DataFrame(VOTES, columns=["lf_a", "lf_b"])).names == [
        "lf_a",
        "lf_b",
    ]
    assert encode_weak_labels(VOTES).names == ["0", "1"]


def test_classes_fix_the_codes():
    assert encode_weak_labels(VOTES, [2, 1, 0]).codes.tolist() == [[2, 1], [-1, 1], [0, -1]]
    assert encode_weak_labels([[-1, -1]], [0, 1]).codes.tolist() == [[-1, -1]]
    assert encode_weak_labels([[3, 7]]).codes.tolist() == [[0, 1]]


def test_labels_of_predictions_count_as_classes():
    assert encode_weak_labels([[0, -1]], also={"y_pred": np.array([4])}).classes.tolist() == [0, 4]


def test_an_integer_matrix_of_codes_is_not_copied():
    votes = np.array(VOTES, dtype=np.int8)
    assert encode_weak_labels(votes).codes is votes


def test_boolean_votes():
    encoded = encode_weak_labels([[True, False]])
    assert encoded.codes.tolist() == [[1, 0]]
    assert encoded.classes.tolist() == [False, True]


@pytest.mark.parametrize(
    ("votes", "error", "message"),
    [
        ([0, 1], ShapeError, r"shape \(2,\).*one column per labeler"),
        (np.zeros((0, 3)), EmptyDataError, "no rows"),
        (np.zeros((3, 0)), ShapeError, "no columns"),
        (pd.DataFrame(index=[0]), ShapeError, "no columns"),
        ([[0, -2]], LabelError, "column '1' row 0 holds -2; expected a class, or -1"),
        ([[-1, -1]], LabelError, "every vote in weak_labels abstains"),
        (
            pd.DataFrame({"lf": [0, 1], "length": [0.5, 1.5]}),
            ColumnError,
            "column 'length' row 0 holds 0.5.*pass the vote columns only",
        ),
    ],
    ids=str,
)
def test_bad_votes(votes, error, message):
    with pytest.raises(error, match=message):
        encode_weak_labels(votes)


def test_a_text_column_among_numbers_is_named():
    frame = pd.DataFrame({"lf": [0, 1], "comment": ["a", "b"]})
    with pytest.raises(LabelError, match="column 'comment' holds text"):
        encode_weak_labels(frame)
    with pytest.raises(ColumnError, match=r"column 'comment' row 0 holds 'a'.*vote columns only"):
        encode_weak_labels(frame, [0, 1])


def test_a_vote_that_is_not_a_class_is_named():
    with pytest.raises(LabelError, match="column '1' row 2 holds 5"):
        encode_weak_labels([[0, 1], [1, -1], [-1, 5]], [0, 1])
    with pytest.raises(LabelError, match="the label -1, which in weak_labels means"):
        encode_weak_labels([[0, 1]], [-1, 0, 1])


def test_a_null_was_not_asked_unless_said_otherwise():
    votes = [[0, None], [1, -1], [None, 1]]
    assert encode_weak_labels(votes).codes.tolist() == [[0, -2], [1, -1], [-2, 1]]
    assert not encode_weak_labels(votes).complete
    with pytest.raises(OptionError, match=r"null is 'skip'; expected 'not asked'.*or 'abstain'"):
        encode_weak_labels(votes, null="skip")
