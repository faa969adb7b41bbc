"""Nulls, odd dtypes and odd objects, from every container."""

import decimal

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from karat.exceptions import ColumnError, DataError, LabelError, ProbabilityError, ShapeError
from karat.statistics import confusion, pattern_counts, patterns

VOTES = {"a": ["x", None, "y"], "b": ["x", "x", "y"]}
FRAMES = {
    "pandas": pd.DataFrame(VOTES),
    "pandas category": pd.DataFrame(VOTES).astype("category"),
    "pandas object": pd.DataFrame(VOTES, dtype=object),
    "polars": pl.DataFrame(VOTES),
    "polars lazy": pl.DataFrame(VOTES).lazy(),
    "polars category": pl.DataFrame(VOTES).cast(pl.Categorical),
    "polars enum": pl.DataFrame(VOTES).cast(pl.Enum(["y", "x"])),
    "arrow": pa.table(VOTES),
    "arrow dictionary": pa.table({k: pa.array(v).dictionary_encode() for k, v in VOTES.items()}),
    "narwhals": nw.from_native(pl.DataFrame(VOTES)),
    "narwhals lazy": nw.from_native(pl.DataFrame(VOTES).lazy()),
}


@pytest.mark.parametrize("name", FRAMES)
def test_null_is_not_asked_in_every_frame(name):
    found = patterns(FRAMES[name])
    assert found.classes.tolist() == ["x", "y"]
    assert found.patterns[found.ids].tolist() == [[0, 0], [-2, 0], [1, 1]]
    found = patterns(FRAMES[name], null="abstain")
    assert found.patterns[found.ids].tolist() == [[0, 0], [-1, 0], [1, 1]]


@pytest.mark.parametrize("name", [n for n in FRAMES if "lazy" not in n])
def test_a_null_label_is_an_error_in_every_series(name):
    column = FRAMES[name]["a"]
    with pytest.raises(LabelError, match="y_true row 1 is missing"):
        confusion(column, ["x", "x", "y"])


def test_integers_stay_integers():
    dictionary = pa.chunked_array([pa.array([5, None, 7, 5]).dictionary_encode()])
    table = pa.table({"a": dictionary, "b": [5, 5, 7, 7]})
    assert patterns(table).classes.tolist() == [5, 7]
    assert confusion([0, 1], pa.chunked_array([pa.array([0, 1]).dictionary_encode()])).n == 2
    with duckdb.connect() as database:
        found = patterns(database.sql("select * from (values (0, null), (1, 1)) t(a, b)"))
    assert found.patterns.tolist() == [[0, -2], [1, 1]]


def test_probabilities_follow_the_names_of_their_columns():
    frame = pl.DataFrame({"spam": [0.1, 0.9], "ham": [0.9, 0.1]})
    expected = [[0.9, 0.1], [0.1, 0.9]]
    assert confusion(["ham", "spam"], frame).counts.tolist() == expected
    unnamed = frame.rename({"spam": "p_spam", "ham": "p_ham"}).select("p_ham", "p_spam")
    assert confusion(["ham", "spam"], unnamed).counts.tolist() == expected
    with pytest.raises(ColumnError, match="name every column after its class, or none"):
        confusion(["ham", "spam"], frame.rename({"ham": "eggs"}))


def test_probabilities_may_be_off_by_rounding():
    eps = np.finfo(float).eps
    assert confusion([0, 1], [[1 + eps, 0.0], [-1e-17, 1.0]]).counts.tolist() == [[1, 0], [0, 1]]
    with pytest.raises(ProbabilityError, match="between 0 and 1"):
        confusion([0, 1], [[1.01, -0.01], [0.0, 1.0]])
    halves = np.array([[decimal.Decimal("0.5")] * 2] * 2, dtype=object)
    assert confusion([0, 1], halves).counts.tolist() == [[0.5, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (pd.DataFrame([[0, 1]], columns=["a", "a"]), ColumnError, "two columns of the same name"),
        ({0, 1}, ShapeError, "y_true is a set; pass a list"),
        ({0: 1}, ShapeError, "y_true is a dict"),
        ((i for i in range(3)), ShapeError, "y_true is a generator"),
        (object(), ShapeError, "y_true is a object"),
        ([2**64, 1], LabelError, "beyond 2"),
        (np.array([2**63 + 1, 1], dtype=np.uint64), LabelError, "row 0 .* beyond 2.63"),
        ([1e300, 0.0], LabelError, "row 0 holds 1e"),
    ],
    ids=lambda v: type(v).__name__,
)
def test_odd_columns(values, error, message):
    with pytest.raises(error, match=message):
        confusion(values, [0, 1])


def test_a_tensor_that_cannot_be_read_says_how_to_convert_it():
    class Tensor:
        def __array__(self, *_, **__):
            raise RuntimeError("it is on another device")

    with pytest.raises(ShapeError, match=r"another device.*cpu"):
        confusion(Tensor(), [0, 1])


def test_other_text_and_masks():
    strings = np.array(["a", "bb"], dtype=np.dtypes.StringDType())
    assert confusion(strings, [b"a", b"bb"]).counts.tolist() == [[1, 0], [0, 1]]
    masked = np.ma.array([[1.0], [1.0]], mask=[[0], [1]])
    with pytest.raises(DataError, match="sample_weight row 1 is missing"):
        confusion([0, 1], [0, 1], masked)


def test_unsigned_votes_and_the_text_minus_one():
    assert patterns(np.array([[0, 1], [1, 1]], dtype=np.uint64)).patterns.tolist() == [
        [0, 1],
        [1, 1],
    ]
    with pytest.raises(LabelError, match="classes holds the label -1"):
        patterns([["-1", "1"], ["1", "-1"]], classes=["-1", "1"])
    with pytest.raises(LabelError, match="y_pred holds the label -1"):
        pattern_counts([-1, 1], [[0, 1], [1, 1]])


def test_a_view_of_something_that_changes_is_copied():
    from karat.metrics import LinearMetric

    frame = pd.DataFrame([[0.0, -1.0], [-5.0, 0.0]])
    metric = LinearMetric(frame)
    frame.iloc[0, 1] = -100.0
    assert metric.weights.tolist() == [[0, -1], [-5, 0]]
    base = np.eye(2)
    view = base.view()
    view.flags.writeable = False
    metric = LinearMetric(view)
    base[0, 0] = 9
    assert metric.weights[0, 0] == 1


def test_plots_of_odd_names_and_many_classes():
    import matplotlib.pyplot as plt

    many = np.arange(600)
    figure = confusion(many, many).plot().figure
    figure.canvas.draw()
    assert max(figure.get_size_inches()) < 15
    confusion(["$_$", "_b"], ["$_$", "_b"]).plot().figure.canvas.draw()
    plt.close("all")
    # Too large a picture is left out; how large this one is, is up to matplotlib.
    assert len(confusion(many, many)._repr_html_()) < 501_000
