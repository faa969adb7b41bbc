"""Labels of every kind that users have, from every kind of container."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from karat._validate import encode_groups, encode_labels
from karat.exceptions import (
    ColumnError,
    DataError,
    EmptyDataError,
    LabelError,
    ShapeError,
)

TEXT = ["spam", "ham", "spam", "eggs"]
CODES = [2, 1, 2, 0]


def encode(values, classes=None):
    (codes,), order = encode_labels({"y_true": values}, classes)
    return codes.tolist(), order.tolist()


@pytest.mark.parametrize(
    "values",
    [
        TEXT,
        tuple(TEXT),
        np.array(TEXT),
        np.array(TEXT, dtype=object),
        np.array(TEXT)[:, None],
        np.array([t.encode() for t in TEXT]),
        pd.Series(TEXT),
        pd.Series(TEXT, index=[9, 9, 3, 1]),
        pd.Series(TEXT, dtype="category"),
        pd.Series(TEXT, dtype=pd.CategoricalDtype(["spam", "ham", "eggs", "unused"], ordered=True)),
        pd.Series(TEXT, dtype="string"),
        pd.Series(TEXT, dtype=object),
        pd.DataFrame({"label": TEXT}),
        pl.Series(TEXT),
        pl.Series(TEXT, dtype=pl.Categorical),
        pl.Series(TEXT, dtype=pl.Enum(["spam", "ham", "eggs"])),
        pl.DataFrame({"label": TEXT}),
        pa.chunked_array([TEXT[:1], TEXT[1:]]),
        pa.chunked_array([pa.array(TEXT).dictionary_encode()]),
        pa.table({"label": TEXT}),
    ],
    ids=lambda v: f"{type(v).__module__.partition('.')[0]}-{type(v).__name__}",
)
def test_text_from_any_container(values):
    assert encode(values) == (CODES, ["eggs", "ham", "spam"])


@pytest.mark.parametrize(
    "values",
    [
        [5, -1, 5, -7],
        np.array([5, -1, 5, -7], dtype=np.int8),
        np.array([5.0, -1.0, 5.0, -7.0]),
        np.array([5.0, -1.0, 5.0, -7.0], dtype=np.float32),
        np.array([5, -1, 5, -7], dtype=object),
        pd.Series([5, -1, 5, -7], dtype="Int64"),
        pd.Series([5, -1, 5, -7], dtype="category"),
        pd.Series([5, -1, 5, -7], dtype="int64[pyarrow]"),
        pl.Series([5, -1, 5, -7]),
        pa.chunked_array([[5, -1, 5, -7]]),
    ],
    ids=lambda v: f"{type(v).__module__.partition('.')[0]}-{getattr(v, 'dtype', type(v).__name__)}",
)
def test_integers_from_any_container(values):
    assert encode(values) == (CODES, [-7, -1, 5])


@pytest.mark.parametrize(
    "values",
    [
        [True, False],
        np.array([True, False]),
        pd.Series([True, False], dtype="boolean"),
        pl.Series([True, False]),
    ],
)
def test_booleans_stay_booleans(values):
    codes, order = encode(values)
    assert codes == [1, 0]
    assert order == [False, True]
    assert all(isinstance(c, bool) for c in order)


def test_wide_and_unsigned_integers():
    assert encode([2**40, 0, -(2**40)]) == ([2, 1, 0], [-(2**40), 0, 2**40])
    assert encode(np.array([3, 200], dtype=np.uint8)) == ([0, 1], [3, 200])


def test_sorted_like_scikit_learn(rng):
    from sklearn.utils.multiclass import unique_labels

    for values in (rng.integers(-5, 300, 500), rng.choice(["b", "a", "ä", "C", "10", "9"], 500)):
        assert encode(values)[1] == unique_labels(values).tolist()


def test_classes_fix_the_order_and_may_be_absent():
    assert encode(TEXT, ["spam", "eggs", "toast", "ham"])[0] == [0, 3, 0, 1]
    assert encode([1, 0], [1, 0, 7]) == ([0, 1], [1, 0, 7])
    assert encode([True, False], [True, False])[0] == [0, 1]
    assert encode([1.0, 0.0], [1, 0])[0] == [0, 1]


@pytest.mark.parametrize(
    "values",
    [
        ["a", None, "b"],
        ["a", float("nan"), "b"],
        [1.0, np.nan, 0.0],
        [1, None, 0],
        np.ma.array([1, 2, 3], mask=[0, 1, 0]),
        pd.Series(["a", None, "b"]),
        pd.Series([1, None, 0], dtype="Int64"),
        pd.Series(["a", pd.NA, "b"], dtype="category"),
        pl.Series([1, None, 0]),
        pl.Series([1.0, float("nan"), 0.0]),
        pa.chunked_array([["a", None, "b"]]),
    ],
    ids=str,
)
def test_a_missing_label_is_named_by_row(values):
    with pytest.raises(LabelError, match=r"y_true row 1 is missing \(1 missing in all\); drop"):
        encode(values)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([], EmptyDataError, "y_true has no rows"),
        (pd.Series([], dtype=int), EmptyDataError, "no rows"),
        ([0, 0.37, 1], LabelError, r"row 1 holds 0.37, which is not a class label; threshold"),
        ([0, np.inf], LabelError, "row 1 holds inf"),
        (["a", 1], LabelError, r"row 0 holds 'a' \(str\) and row 1 holds 1 \(int\)"),
        ([{"a": 1}, {"b": 2}], DataError, "expected integers, booleans, floats or text"),
        (np.array(["2020-01-01"], dtype="M8[D]"), DataError, "dtype datetime64"),
        (np.zeros((3, 2)), ShapeError, r"shape \(3, 2\)"),
        (np.zeros((3, 1, 1)), ShapeError, r"shape \(3, 1, 1\)"),
        ([[1], [2, 3]], ShapeError, "different lengths"),
        ("label", ColumnError, r"frame\['label'\]"),
        (None, ShapeError, "y_true is None"),
        (3, ShapeError, "y_true is 3"),
        (pd.DataFrame({"a": [1], "b": [2]}), ColumnError, r"columns \['a', 'b'\].*frame\['a'\]"),
        (pd.DataFrame(index=[0, 1]), ColumnError, "no columns"),
    ],
    ids=str,
)
def test_bad_labels(values, error, message):
    with pytest.raises(error, match=message):
        encode(values)


def test_unknown_label_names_row_value_and_classes():
    with pytest.raises(LabelError, match=r"y_true row 3 holds 'eggs'.*\['ham', 'spam'\]; add it"):
        encode(TEXT, ["ham", "spam"])
    with pytest.raises(LabelError, match="row 1 holds 9"):
        encode([0, 9], [0, 1])
    with pytest.raises(LabelError, match="row 1 holds 3"):
        encode([0, 3], [0, 5])


def test_bad_classes():
    with pytest.raises(LabelError, match="'a' twice"):
        encode(["a"], ["a", "b", "a"])
    with pytest.raises(LabelError, match="one class only"):
        encode(["a"], ["a"])
    with pytest.raises(LabelError, match=r"holds text.*holds numbers"):
        encode(["a", "b"], [0, 1])


def test_text_against_numbers_is_an_error():
    with pytest.raises(
        LabelError, match=r"y_pred holds text \(first '1'\) and y_true holds numbers"
    ):
        encode_labels({"y_true": [0, 1], "y_pred": ["1", "0"]})


def test_long_values_are_cut_in_messages():
    with pytest.raises(LabelError) as error:
        encode(["x" * 500, "b"], ["a", "b"])
    assert len(str(error.value)) < 250


def test_groups():
    codes, names = encode_groups(["f", "m", "f"])
    assert codes.tolist() == [0, 1, 0]
    assert names.tolist() == ["f", "m"]
    assert encode_groups(None) == (None, None)
