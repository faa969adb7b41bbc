"""What cannot be measured says why, before anything is measured."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from karat.exceptions import (
    ColumnError,
    DataError,
    EmptyDataError,
    LabelError,
    LengthMismatchError,
    OptionError,
    ScoreError,
    ShapeError,
    SmallSampleWarning,
    WeightError,
)
from karat.ranking import (
    FprBand,
    FunctionWeight,
    PiecewiseLinear,
    Power,
    TprBand,
    Uniform,
    compare_rankings,
    roc_at,
    weighted_auc,
)
from karat.statistics import roc_counts

Y, S = [0, 1, 0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8, 0.2, 0.3]
few = pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")


@pytest.mark.parametrize(
    ("y", "score", "options", "error", "message"),
    [
        ([1] * 6, S, {}, LabelError, "y_true holds one class only, 1; .*both classes"),
        (["no"] * 6, S, {}, LabelError, "one class only, 'no'"),
        (np.ones(6, bool), S, {}, LabelError, "one class only, True"),
        ([0, 1, 2, 0, 1, 2], S, {}, LabelError, "3 classes.*one column"),
        ([], [], {}, EmptyDataError, "no rows"),
        ([0, 1, None, 1, 1, 0], S, {}, LabelError, "y_true row 2 is missing"),
        ([0, 1, np.nan, 1, 1, 0], S, {}, LabelError, "row 2"),
        (Y, [0.1, np.nan, *S[2:]], {}, ScoreError, "y_score row 1 is missing or NaN"),
        (Y, [0.1, None, *S[2:]], {}, ScoreError, "y_score row 1 is missing"),
        (Y, [0.1, np.inf, *S[2:]], {}, ScoreError, "row 1 is inf"),
        (Y, [0.1, -np.inf, *S[2:]], {}, ScoreError, "row 1 is -inf"),
        (Y, [np.inf, -np.inf, *S[2:]], {}, ScoreError, "row 0 is inf"),
        (Y, list("abcdef"), {}, ScoreError, "holds text"),
        (Y, S[:-1], {}, LengthMismatchError, "5 rows.*6"),
        (Y, S, {"sample_weight": [1] * 5}, LengthMismatchError, "5 rows.*6"),
        (Y, S, {"groups": [1] * 5}, LengthMismatchError, "5 rows.*6"),
        (Y, S, {"sample_weight": [1, -1, 1, 1, 1, 1]}, WeightError, "row 1"),
        (Y, S, {"sample_weight": [0] * 6}, WeightError, "every row"),
        (Y, S, {"sample_weight": [1, 0, 1, 0, 0, 1]}, LabelError, "all positives have the"),
        (Y, S, {"sample_weight": [0, 1, 0, 1, 1, 0]}, LabelError, "all negatives have the"),
        (
            Y, S, {"sample_weight": [1, 1, 0.5, 1, 1, 1], "weighting": "frequency"}, DataError,
            "sample_weight row 2 is 0.5.*weighting='importance'",
        ),
        (Y, S, {"weighting": "survey"}, OptionError, "weighting is 'survey'"),
        (Y, S, {"pos_label": 2}, OptionError, "pos_label is 2; expected "),
        (Y, S, {"confidence": 0}, OptionError, "confidence is 0"),
        (Y, S, {"confidence": 1.0}, OptionError, "confidence is 1.0"),
        (Y, S, {"confidence": 95}, OptionError, "confidence is 95"),
        (Y, S, {"confidence": -0.1}, OptionError, "confidence is -0.1"),
        (Y, S, {"confidence": np.nan}, OptionError, "confidence is"),
        (Y, S, {"confidence": "high"}, OptionError, "confidence is 'high'"),
        (Y, S, {"limits": "wald"}, OptionError, "limits is 'wald'; expected 'auto', "),
        (Y, S, {"ties": "half"}, OptionError, "ties is 'half'"),
        (Y, S, {"normalize": "sum"}, OptionError, "normalize is 'sum'"),
        (Y, S, {"weight": lambda u: u}, OptionError, "expected FunctionWeight.*declares"),
        (Y, S, {"weight": "partial"}, OptionError, "weight is 'partial'; expected Uniform"),
        (Y, S, {"weight": FprBand}, OptionError, "weight is <class"),
        (Y, S, {"weight": None}, OptionError, "weight is None"),
        (
            Y, S, {"weight": FprBand(0, 0.1) & TprBand(0.5, 1), "ties": "strict"}, OptionError,
            "no two-way form",
        ),
        (
            Y, S, {"weight": FprBand(0, 0.1) & TprBand(0.5, 1), "limits": "hinge"},
            OptionError, "limits is 'hinge'; expected one of 'beta', .* for two-way areas",
        ),
        (
            Y, S, {"weight": FprBand(0.5, 1) & TprBand(0, 0.5), "normalize": "mcclish"},
            OptionError, "no room above the diagonal",
        ),
        (
            Y, S, {"weight": Power(0.5), "limits": "maurer-pontil"}, OptionError,
            "without jumps|rarer class",
        ),
        (Y, S, {"groups": ["a", "a", None, "b", "b", "b"]}, LabelError, "groups row 2"),
        (Y, S, {"classes": [0, 2]}, LabelError, "1.*classes"),
        (Y, S, {"classes": [0, 1, 2]}, LabelError, "3 classes"),
        (Y, S, {"rng": "seed", "limits": "bootstrap"}, OptionError, "rng is 'seed'"),
        (pd.DataFrame({"a": Y, "b": Y}), S, {}, ColumnError, "columns"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_errors_say_what_to_do(y, score, options, error, message):
    if "without jumps" in message:  # the event of Theorem 2 must be seen before it is asked
        y, score = y * 200, score * 200
    with pytest.raises(error, match=message):
        weighted_auc(y, score, **options)


def test_several_classes():
    y, score = [0, 1, 2] * 4, np.random.default_rng(0).normal(size=(12, 3))
    for wrong, options, error, message in (
        (score[:, :2], {}, ShapeError, "2 columns and there are 3 classes"),
        (score, {"classes": [0, 1]}, LabelError, "2.*classes"),
        (score, {"groups": y}, DataError, "groups= is for two classes"),
        (score, {"pos_label": 1}, OptionError, "pos_label is 1; expected None where"),
        (score[:6], {}, LengthMismatchError, "6 rows.*12"),
        (np.where(score > 1, np.nan, score), {}, ScoreError, "y_score column"),
    ):
        with pytest.raises(error, match=message):
            weighted_auc(y, wrong, **options)
    with pytest.raises(LabelError, match="no row of class 3"):
        weighted_auc(y, np.column_stack([score, score[:, 0]]), classes=[0, 1, 2, 3])
    with pytest.raises(LabelError, match="one class only"):
        weighted_auc([1] * 12, score[:, :1])
    with pytest.raises(ColumnError, match="name every column"):
        weighted_auc(y, pd.DataFrame(score, columns=["0", "1", "x"]))
    missing = pl.DataFrame({"0": score[:, 0], "1": score[:, 1], "2": [None, *score[1:, 2]]})
    with pytest.raises(ScoreError, match="'2' row 0 is missing"):
        weighted_auc(y, missing)


def test_models():
    good = {"a": S, "b": S[::-1]}
    for wrong, error, message in (
        ({"a": S}, DataError, "1 model; expected at least two"),
        ({}, DataError, "0 model"),
        ({"a": S, "b": [*S[:5], np.nan]}, ScoreError, r"y_scores\['b'\] row 5"),
        ({"a": S, "b": S[:5]}, LengthMismatchError, "'b'.* has 5 rows and y_true has 6"),
        (pl.DataFrame({"a": S, "b": [None, *S[1:]]}), ScoreError, "'b' row 0 is missing"),
        (pd.DataFrame([[1, 2]] * 6, columns=["a", "a"]), DataError, "."),
        (np.ones((6, 0)), ShapeError, "no columns"),
    ):
        with pytest.raises(error, match=message):
            compare_rankings(Y, wrong)
    for options, message in (
        ({"limits": "bootstrap"}, "expected 'auto', 'hinge', .* 'beta' or 'delong'"),
        ({"limits": "wald"}, "limits is 'wald'"),
        ({"confidence": 2}, "confidence is 2"),
        ({"weight": FprBand(0, 0.5) & TprBand(0, 1), "limits": "kl"}, "two-way"),
    ):
        with pytest.raises(OptionError, match=message):
            compare_rankings(Y, good, **options)
    with pytest.raises(LabelError, match="one class only"):
        compare_rankings([1] * 6, good)


def test_points():
    for at in (-0.1, 1.1, np.nan, "0.1", None):
        with pytest.raises(OptionError, match="fpr is"):
            roc_at(Y, S, fpr=at)
    with pytest.raises(LabelError, match="one class only"):
        roc_at([0] * 6, S, fpr=0.5)
    with pytest.raises(ScoreError, match="row 0"):
        roc_at(Y, [np.nan, *S[1:]], fpr=0.5)


def test_counts():
    counts = roc_counts(Y, S)
    for given, message in (
        (([1, 2],), "y_score is missing and y_true is a list; pass scores"),
        (({},), "y_score is missing and y_true is a dict"),
        ((counts, S), "y_true holds counts, which have the scores; leave out y_score"),
        (({"a": counts, "b": 3},), "counts is a int; expected"),
    ):
        with pytest.raises(DataError, match=message):
            weighted_auc(*given)
    for option in ({"pos_label": 1}, {"groups": Y}, {"ties": "strict"}, {"average": "micro"}):
        with pytest.raises(OptionError, match=f"{next(iter(option))} is .* with counts"):
            weighted_auc(counts, **option)
    with pytest.raises(LabelError, match="one class only"):
        weighted_auc(roc_counts([1, 1], [0.1, 0.2], classes=[0, 1]))


@pytest.mark.parametrize("kind", [FprBand, TprBand])
@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        (0.3, 0.3, "low is 0.3; expected a rate below high"), (0.5, 0.2, "is empty"),
        (-0.1, 0.5, "low is -0.1"), (0, 1.5, "high is 1.5"), (np.nan, 1, "low is nan"),
        (0, "1", "high is '1'"), (0, None, "high is None"), (False, 1, "low is False"),
    ],
)  # fmt: skip
def test_bands(kind, low, high, message):
    with pytest.raises(OptionError, match=message):
        kind(low, high)


def test_bands_meet_bands_only():
    for one, other in ((FprBand(0, 1), FprBand(0, 1)), (TprBand(0, 1), 0.5), (FprBand(0, 1), None)):
        with pytest.raises(TypeError):
            one & other
    for width in (0, -1, np.nan, "wide"):
        with pytest.raises(OptionError, match="width is"):
            FprBand(0, 0.1).sandwich(width)


@pytest.mark.parametrize(
    ("function", "norms", "message"),
    [
        (lambda u: u - 0.5, {"sup": 1}, "function is -0.5 at the false-positive rate 0; .*sup=1"),
        (lambda u: np.where(u > 0.5, np.inf, 1.0), {"sup": 1}, "function is inf at"),
        (lambda u: np.where(u > 0.5, np.nan, 1.0), {"sup": 1}, "function is nan at"),
        (lambda u: 3 * u, {"sup": 2}, "expected a weight between 0 and the declared sup=2"),
        (lambda u: 1.0, {"sup": 1}, r"shape \(\) for \(4097,\)"),
        (lambda u: u[:5], {"sup": 1}, r"shape \(5,\)"),
        (lambda u: "heavy", {"sup": 1}, "function fails on an array of rates"),
        (lambda u: 1 / 0, {"sup": 1}, "function fails on an array of rates: division by zero"),
        (lambda u: 0 * u, {"sup": 1}, "function is 0 everywhere"),
    ],
)
def test_values_of_functions(function, norms, message):
    with pytest.raises(DataError, match=message):
        FunctionWeight(function, **norms)


@pytest.mark.parametrize(
    ("function", "norms", "message"),
    [
        (3, {"sup": 1}, "function is 3"),
        (lambda u: u, {"sup": np.inf}, "sup is inf"),
        (lambda u: u, {"sup": -1}, "sup is -1"),
        (lambda u: u, {"sup": 1, "lipschitz": -1}, "lipschitz is -1"),
        (lambda u: u, {"sup": 1, "lipschitz": np.nan}, "lipschitz is nan"),
        (lambda u: u, {"sup": 1, "variation": -2}, "variation is -2"),
        (lambda u: u, {"sup": 1, "variation": "some"}, "variation is 'some'"),
    ],
)
def test_norms_of_functions(function, norms, message):
    with pytest.raises(OptionError, match=message):
        FunctionWeight(function, **norms)


@pytest.mark.parametrize(
    ("fpr", "values", "message"),
    [
        ([0, 1], [1], "2 knots and values has 1"),
        ([0.5], [1], "at least two"),
        ([0.5, 0.2], [1, 1], "ascending"),
        ([0.5, 0.5], [1, 2], "not all equal"),
        ([-0.1, 1], [1, 1], "between 0 and 1"),
        ([0, 1.1], [1, 1], "between 0 and 1"),
        ([0, 1], [1, -1], "at least 0"),
        ([0, 1], [0, 0], "some above 0"),
        ([0, 0, 1], [1, 0, 0], "some above 0"),
        ([0, np.nan], [1, 1], "fpr row 1"),
        ([0, 1], [1, np.inf], "values row 1"),
    ],
)
def test_knots(fpr, values, message):
    with pytest.raises(DataError, match=message):
        PiecewiseLinear(fpr, values)


def test_exponents():
    for exponent in (-1, np.inf, np.nan, "2", True):
        with pytest.raises(OptionError, match="exponent is"):
            Power(exponent)


def test_theorem_2_does_not_know_other_jumps():
    y, score = np.arange(2000) % 2, np.arange(2000.0)
    for weight in (Power(0.5), FunctionWeight(lambda u: 1.0 * (u < 0.5), sup=1)):
        with pytest.raises(OptionError, match="needs a weight without jumps"):
            weighted_auc(y, score, weight=weight, limits="maurer-pontil")


@few
def test_every_kind_of_column(rows):
    y, score = rows(0, 60, 1)
    expected = weighted_auc(y, score)
    text = np.where(y, "spam", "ham")
    for label, number in (
        (pd.Series(y.astype(int)), pd.Series(score)),
        (pl.Series(y.astype(int)), pl.Series(score)),
        (pd.Series(text, dtype="category"), pl.Series(score)),
        (text.tolist(), score.tolist()),
        (pd.array(y, dtype="boolean"), pd.array(score, dtype="Float64")),
        (np.ma.array(y.astype(int), mask=False), np.ma.array(score, mask=False)),
        (y, np.float32(10 * score).round().astype(int)),
    ):
        r = weighted_auc(label, number)
        assert (r.value, r.lower, r.upper) == pytest.approx(
            (expected.value, expected.lower, expected.upper)
        )
    masked = np.ma.array(score, mask=np.arange(60) == 7)
    for number in (
        masked,
        pd.array(masked.filled(np.nan), dtype="Float64"),
        pl.Series([None, *score[1:]]),
    ):
        with pytest.raises(ScoreError, match="missing"):
            weighted_auc(y, number)
    with pytest.raises(LabelError, match="row 7 is missing"):
        weighted_auc(np.ma.array(y.astype(int), mask=np.arange(60) == 7), score)


def test_one_of_each_is_enough_and_says_little():
    with pytest.warns(SmallSampleWarning, match="1 positives and 1 negatives are too few to limit"):
        r = weighted_auc([0, 1], [0.0, 1.0], limits="dkw")
    assert (r.value, r.lower, r.upper) == (1, 0, 1)
    r = weighted_auc([0, 1], [0.0, 1.0])  # one pair: wrong with the probability 1 − p
    assert (r.value, r.lower, r.upper) == pytest.approx((1, 0.025, 1))


def test_a_warning_points_at_the_caller():
    y, score = [0, 1, 0, 1], [0.0, 1.0, 0.0, 2.0]
    for call in (
        lambda: weighted_auc(y, score, limits="dkw"),
        lambda: weighted_auc(y, score, weight=TprBand(0.5, 1), limits="dkw"),
        lambda: weighted_auc(y, score, groups=["a", "a", "b", "b"], limits="dkw"),
        lambda: weighted_auc(y, score, groups=["a", "b", "b", "b"]),
        lambda: weighted_auc(y, np.column_stack([score, score]), limits="dkw"),
        lambda: weighted_auc(roc_counts(y, score), limits="dkw"),
        lambda: compare_rankings(y, {"a": score, "b": score}, limits="dkw"),
    ):
        with pytest.warns(SmallSampleWarning) as caught:
            call()
        assert {w.filename for w in caught} == {__file__}


def test_huge_scores_do_not_overflow():
    y = np.arange(400) % 2
    score = np.where(y, 1.7e308, -1.7e308) * (1 - 1e-3 * np.arange(400) / 400)
    assert weighted_auc(y, score, weight=Uniform()).value == 1


def test_limits_that_rounding_keeps_from_the_whole_range_exclude_nothing_too():
    """Sums over rows reach 0.09999999999999999 of a band's 0.1, or more than 0 by as little."""
    y = [0, 1] * 5
    for order in ([4, 9, 0, 7, 2, 5, 8, 1, 6, 3], range(10), range(10, 0, -1)):
        for band in (FprBand(0, 0.1), FprBand(0.3, 0.6), TprBand(0.7, 0.8)):
            with pytest.warns(SmallSampleWarning, match="the limits exclude nothing"):
                r = weighted_auc(y, list(order), weight=band, limits="dkw")
            assert (r.lower, r.upper) == pytest.approx((0, band.area), abs=1e-12)
