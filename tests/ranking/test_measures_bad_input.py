"""What the measures of a ranking cannot measure is said, before anything is measured."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from karat.exceptions import (
    DataError,
    EmptyDataError,
    LabelError,
    LazyFrameError,
    LengthMismatchError,
    OptionError,
    ScoreError,
    ShapeError,
    SmallSampleWarning,
    WeightError,
)
from karat.ranking import (
    average_precision,
    compare_rankings,
    cost_curve,
    lift,
    net_benefit,
    precision_at,
    recall_at,
    weighted_auc,
)

Y, S = [0, 1, 0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8, 0.2, 0.3]
CALLS = {
    "average_precision": lambda y=Y, s=S, **o: average_precision(y, s, **o),
    "precision_at": lambda y=Y, s=S, **o: precision_at(y, s, **({"k": 2} | o)),
    "recall_at": lambda y=Y, s=S, **o: recall_at(y, s, **({"share": 0.5} | o)),
    "lift": lambda y=Y, s=S, **o: lift(y, s, **({"share": 0.5} | o)),
    "net_benefit": lambda y=Y, s=S, **o: net_benefit(y, s, **({"threshold": 0.3} | o)),
    "cost_curve": lambda y=Y, s=S, **o: cost_curve(y, s, **o),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"y": [1] * 6}, LabelError, "y_true holds one class only, 1; a ranking compares two"),
        ({"y": np.ones(6, bool)}, LabelError, "one class only, True"),
        ({"y": [], "s": []}, EmptyDataError, "no rows"),
        ({"s": [0.1, np.nan, *S[2:]]}, ScoreError, "y_score row 1 is missing or NaN"),
        ({"s": [0.1, np.inf, *S[2:]]}, ScoreError, "row 1 is inf"),
        ({"s": list("abcdef")}, ScoreError, "holds text"),
        ({"s": S[:-1]}, LengthMismatchError, "5 rows.*6"),
        ({"s": pl.LazyFrame({"s": S})}, LazyFrameError, "y_score"),
        ({"y": pl.LazyFrame({"y": Y})}, LazyFrameError, "y_true"),
        ({"sample_weight": [1, -1, 1, 1, 1, 1]}, WeightError, "row 1"),
        ({"sample_weight": [0] * 6}, WeightError, "every row"),
        ({"sample_weight": [1, 0, 1, 0, 0, 1], "weighting": "frequency"}, LabelError,
         "all positives have the weight 0"),
        ({"pos_label": 2}, OptionError, "pos_label is 2"),
        ({"confidence": 95}, OptionError, "confidence is 95"),
        ({"weighting": "survey"}, OptionError, "weighting is 'survey'"),
    ],
)  # fmt: skip
def test_errors_say_what_to_do(name, options, error, message):
    with pytest.raises(error, match=message):
        CALLS[name](**options)


@pytest.mark.parametrize("function", [precision_at, recall_at, lift])
def test_cuts(function):
    for options, message in (
        ({}, "takes one of k=, share=.*; got none"),
        ({"k": 1, "share": 0.5}, "got k=1 and share=0.5"),
        ({"k": 0}, "k is 0; expected a whole number of at least 1"),
        ({"k": 2.5}, "k is 2.5"),
        ({"k": True}, "k is True"),
        ({"k": 7}, "k is 7 and there are 6 rows; expected a smaller k"),
        ({"share": 0}, "share is 0; expected a number above 0 and at most 1"),
        ({"share": 1.1}, "share is 1.1"),
        ({"share": np.nan}, "share is nan"),
        ({"k": 2, "sample_weight": [0.5] * 6}, "k is 2 and the weights of rows are no counts"),
    ):
        with pytest.raises(OptionError, match=message):
            function(Y, S, **options)
    assert function(Y, S, k=6).value == {"precision_at": 0.5}.get(function.__name__, 1.0)


def test_thresholds():
    with pytest.raises(OptionError, match=r"no row has a score of at least 2; .*lower threshold"):
        precision_at(Y, S, threshold=2)
    assert recall_at(Y, S, threshold=2).value == 0
    with pytest.raises(OptionError, match="threshold is nan"):
        recall_at(Y, S, threshold=np.nan)
    for threshold in (0, 1, -0.1, 1.5, np.nan, "0.5", None):
        with pytest.raises(OptionError, match="threshold is"):
            net_benefit(Y, S, threshold=threshold)
        with pytest.raises(OptionError, match="at is"):
            cost_curve(Y, S, at=threshold)
    with pytest.raises(ScoreError, match=r"y_score row 3 is 8; net benefit .*probabilities"):
        net_benefit(Y, [*S[:3], 8, *S[4:]], threshold=0.5)


def test_level_rows_at_the_cut_are_said():
    y, score = [1, 0, 1, 0, 1, 0], [3, 2, 2, 2, 1, 0]
    r = precision_at(y, score, k=2)
    assert r.value == pytest.approx((1 + 1 / 3) / 2)
    assert "3 rows are level at the cut, of which 1 fit" in r.note
    assert "0.5000 to 1.0000" in r.note
    assert r.note in r.summary()
    assert precision_at(y, score, k=4).note == ""
    assert precision_at(y, [6, 5, 4, 3, 2, 1], k=2).note == ""


def test_kinds_of_labels_and_scores():
    wanted = average_precision(Y, S).value
    for y, options in (
        (np.array(Y, bool), {}), (["yes" if v else "no" for v in Y], {"pos_label": "yes"}),
        (pd.Series(Y), {}), (pl.Series(Y), {}), (np.array(Y, float), {}),
    ):  # fmt: skip
        assert average_precision(y, S, **options).value == wanted
    both = np.column_stack([1 - np.array(S), S])
    assert average_precision(Y, both).value == wanted
    assert (
        average_precision(Y, both, pos_label=0).value
        == average_precision(Y, both[:, 0], pos_label=0).value
    )
    assert "the positive class" in average_precision(Y, S).summary()
    assert (
        average_precision(Y, -np.array(S)).summary().endswith("does a higher score speak for it?")
    )


def test_groups_without_a_value_are_skipped_and_said():
    y, score = np.array([0, 1] * 20), np.arange(40.0)
    groups = np.repeat(["a", "b"], [37, 3])
    y[37:] = 1
    with pytest.warns(SmallSampleWarning, match="1 of 2 groups have no average precision") as seen:
        r = average_precision(y, score, groups=groups)
    assert seen[0].filename == __file__
    assert r.skipped == {"b": "its 3 rows are all of class 1"}
    y[38] = 0
    with pytest.warns(SmallSampleWarning, match="k is 5 and there are 3 rows"):
        r = precision_at(y, score, groups=groups, k=5)
    assert list(r.groups) == ["a"]


def test_several_columns():
    rng = np.random.default_rng(0)
    labels, score = rng.random((20, 3)) < 0.5, rng.random((20, 3))
    for wrong, error, message in (
        ((labels, score[:, :2]), ShapeError, "3 columns and y_score has 2"),
        ((labels, score[:10]), LengthMismatchError, "10 rows.*20"),
        ((labels * 2, score), LabelError, "y_true column .* row .* is 2; expected 0 or 1"),
        ((np.ones((20, 3)), score), LabelError, "every label of y_true is"),
    ):
        for function in (average_precision, weighted_auc):
            with pytest.raises(error, match=message):
                function(*wrong)
    for options, error, message in (
        ({"pos_label": 1}, OptionError, "pos_label is 1; expected None"),
        ({"groups": [1] * 20}, DataError, "groups= is for two classes"),
        ({"average": "weighted"}, OptionError, "average is 'weighted'"),
    ):
        for function in (average_precision, weighted_auc):
            with pytest.raises(error, match=message):
                function(labels, score, **options)
    with pytest.raises(DataError, match="precision ranks by one"):
        precision_at(labels, score, k=2)
    labels[:, 1] = True
    r = average_precision(labels, score)
    assert r.skipped == {1: "all of 20 rows have it"}
    assert list(r.per_class) == [0, 2]
    named = pl.DataFrame(labels.astype(int), schema=["x", "y", "z"])
    turned = pl.DataFrame(score[:, ::-1], schema=["z", "y", "x"])
    assert average_precision(named, turned).value == pytest.approx(r.value)
    with pytest.raises(OptionError, match="average is 'micro'; expected 'macro'"):
        weighted_auc(labels, score, ties="strict", average="micro")


def test_models():
    models = {"a": S, "b": S[::-1]}
    for options, error, message in (
        ({"measure": "area"}, OptionError, "measure is 'area'; expected 'auc'"),
        ({"measure": "lift"}, OptionError, "takes one of k=, share="),
        ({"measure": "lift", "threshold": 0.5}, OptionError, "threshold is 0.5; expected None"),
        ({"k": 3}, OptionError, "k is 3; expected None with measure='auc'"),
        ({"measure": "average_precision", "k": 3}, OptionError, "None with measure='average_pre"),
        ({"measure": "lift", "share": 0.5, "limits": "dkw"}, OptionError, "limits is 'dkw'; exp"),
        ({"measure": "lift", "share": 0.5, "normalize": "mean"}, OptionError, "normalize is 'mean"),
        ({"joint": [1]}, OptionError, "counts of each model with it"),
        ({"measure": "net_benefit"}, OptionError, "net_benefit takes threshold="),
        ({"measure": "net_benefit", "threshold": 1}, OptionError, "threshold is 1"),
        ({"measure": "precision_at", "k": 9}, OptionError, "k is 9 and there are 6 rows"),
    ):
        with pytest.raises(error, match=message):
            compare_rankings(Y, models, **options)
    with pytest.raises(DataError, match="1 model; expected at least two"):
        compare_rankings(Y, {"a": S}, measure="average_precision")
    with pytest.raises(ScoreError, match=r"y_scores\['b'\] row 5"):
        compare_rankings(Y, {"a": S, "b": [*S[:5], np.nan]})
