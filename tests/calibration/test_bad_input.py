"""What cannot be measured says why; what can is read as it was meant."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

from karat.calibration import (
    CopulaCalibrator,
    calibration_certificate,
    canonical_calibration_error,
    marginal_calibration_error,
)
from karat.datasets import MultilabelLaw
from karat.exceptions import (
    ColumnError,
    DataError,
    EmptyDataError,
    LabelError,
    LengthMismatchError,
    OptionError,
    ProbabilityError,
    ShapeError,
)

Y, H, _ = MultilabelLaw("latent", n_labels=3).sample(60, rng=0)
FUNCTIONS = [
    canonical_calibration_error,
    calibration_certificate,
    marginal_calibration_error,
    lambda y, h: CopulaCalibrator().fit(y, h),
]
every = pytest.mark.parametrize(
    "function", FUNCTIONS, ids=["error", "certificate", "marginal", "map"]
)


def changed(table, value, row=4, column=1):
    table = table.astype(object if not isinstance(value, float) else float).copy()
    table[row, column] = value
    return table


def frame(table, names="abc"):
    return pd.DataFrame(table, columns=list(names))


PAIRS = [np.column_stack([1 - H[:, j], H[:, j]]) for j in range(3)]  # as scikit-learn gives them


def pairs(j, value):
    return [value if i == j else each for i, each in enumerate(PAIRS)]


CASES = {
    "a shorter array": (Y, pairs(1, PAIRS[1][:50]), LengthMismatchError, r"\[1\] has 50 rows"),
    "an array of one class": (Y, pairs(2, PAIRS[2][:, :1]), ShapeError, "label 2 had one class"),
    "an array of three": (Y, pairs(0, np.full((60, 3), 1 / 3)), ShapeError, r"\[0\] has shape"),
    "arrays of no 1": (Y, pairs(1, 2 * PAIRS[1]), ProbabilityError, r"y_prob\[1\] row 0 sums to 2"),
    "an array with NaN": (Y, pairs(1, np.nan * PAIRS[1]), ProbabilityError, "column 1, row 0 is"),
    "arrays of text": (Y, [p.astype(str) for p in PAIRS], ProbabilityError, "is the text"),
    "two arrays": (Y, PAIRS[:2], ShapeError, "3 labels and y_prob has 2 columns"),
    "a mixed list": (Y, pairs(1, H[:, 1]), ShapeError, "y_prob"),
    "above 1": (Y, changed(H, 1.2), ProbabilityError, "column 1, row 4 is 1.2; .*sigmoid"),
    "below 0": (Y, changed(H, -0.1), ProbabilityError, "column 1, row 4 is -0.1"),
    "NaN": (Y, changed(H, np.nan), ProbabilityError, "column 1, row 4 is missing or NaN"),
    "infinite": (Y, changed(H, np.inf), ProbabilityError, "row 4 is inf"),
    "None": (Y, changed(H, None), ProbabilityError, "column 1, row 4 is missing"),
    "text": (Y, H.astype(str), ProbabilityError, "column 0, row 0 is the text '0"),
    "some text": (Y, changed(H, "a"), LabelError, "mixes types"),
    "a text": (Y, "prob", ColumnError, r"frame\['prob'\]"),
    "nothing": (Y, None, ShapeError, "y_prob is None"),
    "a dict": (Y, {"a": [0.1]}, ShapeError, "y_prob is a dict"),
    "labels of 2": (changed(Y, 2.0), H, LabelError, "y_true column 1, row 4 is 2.0; expected 0"),
    "labels of halves": (changed(Y, 0.5), H, LabelError, "row 4 is 0.5"),
    "labels of text": (Y.astype(str), H, LabelError, "column 0, row 0 is '.*'; expected 0 and 1"),
    "label NaN": (changed(Y, np.nan), H, LabelError, "column 1, row 4 is missing"),
    "label None": (changed(Y, None), H, LabelError, "column 1, row 4 is missing"),
    "no labels": (None, H, ShapeError, "y_true is None"),
    "fewer labels": (Y[:50], H, LengthMismatchError, "60 rows and y_true has 50"),
    "fewer probabilities": (Y, H[:50], LengthMismatchError, "50 rows and y_true has 60"),
    "fewer columns": (Y, H[:, :2], ShapeError, "3 labels and y_prob has 2 columns"),
    "one column": (Y, H[:, 0], ShapeError, "3 labels and y_prob has 1 columns"),
    "empty": (np.zeros((0, 3)), np.zeros((0, 3)), EmptyDataError, "no rows"),
    "empty lists": ([], [], EmptyDataError, "no rows"),
    "no columns": (np.zeros((60, 0)), np.zeros((60, 0)), ShapeError, "no columns"),
    "three dimensions": (Y[:, :, None], H[:, :, None], ShapeError, "shape"),
    "three classes, one column": (np.arange(60) % 3, H[:, 0], ShapeError, "3 classes and y_prob"),
    "rows that do not sum to 1": (np.arange(60) % 3, H, ProbabilityError, "row 0 sums to"),
    "four classes": (np.arange(60) % 4, np.full((60, 3), 1 / 3), ShapeError, "4 classes"),
    "one class of text": (["ham"] * 60, H[:, 0], LabelError, "one class only, 'ham'.*0 and 1"),
    "other names": (frame(Y), frame(H, "abd"), ColumnError, r"share \['a', 'b'\] and not the"),
    "classes and other names": (
        np.array(list("abe"))[np.arange(60) % 3], frame(np.full((60, 3), 1 / 3)), ColumnError,
        "name every column after its class",
    ),
    "a table": (
        pl.DataFrame({"id": ["x"] * 60, "label": ["y"] * 60}), H, ColumnError, r"\['id', 'label'\]",
    ),
}  # fmt: skip


@every
@pytest.mark.parametrize("case", CASES)
def test_bad_tables(function, case):
    y, h, error, message = CASES[case]
    with pytest.raises(error, match=message):
        function(y, h)


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (canonical_calibration_error, {"p": 0.5}, "p is 0.5; expected a number of at least 1"),
        (canonical_calibration_error, {"p": np.inf}, "p is inf"),
        (canonical_calibration_error, {"p": "2"}, "p is '2'"),
        (
            canonical_calibration_error,
            {"method": "kde"},
            "method is 'kde'; expected 'latent', 'probit'",
        ),
        (canonical_calibration_error, {"confidence": 0}, "confidence is 0"),
        (canonical_calibration_error, {"confidence": 1.0}, "confidence is 1.0"),
        (canonical_calibration_error, {"confidence": 95}, "confidence is 95"),
        (canonical_calibration_error, {"confidence": "a"}, "confidence is 'a'"),
        (canonical_calibration_error, {"rng": -1}, "rng is -1"),
        (
            calibration_certificate,
            {"model": "forest"},
            "model is 'forest'; expected 'copula' or 'trees'",
        ),
        (calibration_certificate, {"split": "half"}, "split is 'half'; expected 'strict'"),
        (calibration_certificate, {"confidence": 1}, "confidence is 1"),
        (calibration_certificate, {"confidence": None}, "confidence is None"),
        (calibration_certificate, {"rng": "a"}, "rng is 'a'"),
        (marginal_calibration_error, {"p": 0}, "p is 0"),
        (marginal_calibration_error, {"bins": 0}, "bins is 0"),
        (marginal_calibration_error, {"bins": 2.5}, "bins is 2.5; expected a whole number"),
    ],
)
def test_bad_options(function, options, message):
    with pytest.raises(OptionError, match=message):
        function(Y, H, **options)


def test_too_few_rows():
    with pytest.raises(DataError, match="29 rows; the canonical error needs at least 30"):
        canonical_calibration_error(Y[:29], H[:29])
    with pytest.raises(DataError, match="9 rows; a certificate needs at least 10"):
        calibration_certificate(Y[:9], H[:9])
    assert np.isfinite(canonical_calibration_error(Y[:30], H[:30], rng=0).debiased)
    assert calibration_certificate(Y[:10], H[:10], rng=0).lower >= 0
    assert marginal_calibration_error(Y[:1], H[:1]).n == 1


def measured(y, h, **options):
    r = canonical_calibration_error(y, h, rng=0, **options)
    assert all(np.isfinite(x) for x in (r.value, r.debiased, r.lower, r.upper, r.p_value))
    assert np.isfinite(r.per_label).all()
    assert np.isfinite(r.pairs).all()
    calibration_certificate(y, h, rng=0)
    marginal_calibration_error(y, h)
    return r


@pytest.mark.parametrize("method", ["latent", "probit", "dequantized"])
@pytest.mark.parametrize("always", [0, 1])
def test_a_label_that_is_always_the_same_is_noted(method, always):
    y = Y.copy()
    y[:, 1] = always
    r = measured(y, H, method=method)
    assert r.notes[0] == "always 0 or always 1, so taken as certain: label 1"
    measured(np.full_like(Y, always), H, method=method)


@pytest.mark.parametrize("method", ["latent", "probit", "dequantized"])
def test_constant_probabilities_are_noted(method):
    h = H.copy()
    h[:, 2] = 0.3
    r = measured(Y, h, method=method)
    assert "constant probabilities" in r.notes[0]
    assert r.notes[0].endswith(": label 2")
    names = measured(Y, np.full_like(H, 0.5), method=method).notes[0]
    assert names.endswith(": label 0, label 1, label 2")
    assert "…" in measured(np.tile(Y, 3), np.full((60, 9), 0.5)).notes[0]


@pytest.mark.parametrize("method", ["latent", "probit", "dequantized"])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_certain_probabilities_can_be_measured(method, value):
    measured(Y, np.full_like(H, value), method=method)
    measured(Y, np.where(H > 0.4, 1.0, 0.0), method=method)
    measured(Y, Y, method=method)


@pytest.mark.parametrize("method", ["latent", "probit"])
def test_more_labels_than_rows(method):
    y, h, _ = MultilabelLaw("latent", n_labels=40).sample(30, rng=0)
    r = measured(y, h, method=method)
    assert r.per_label.shape == (40,)
    measured(np.tile(Y[:30], 11), np.tile(H[:30], 11), method=method)  # every column many times


def test_columns_of_frames_go_by_name():
    plain = canonical_calibration_error(Y, H, rng=0)
    for wrap in (
        lambda t, names: frame(t, "abc")[list(names)],
        lambda t, names: pl.DataFrame(t, schema=list("abc")).select(list(names)),
        lambda t, names: pa.Table.from_pandas(frame(t, "abc")[list(names)]),
    ):
        r = canonical_calibration_error(wrap(Y, "abc"), wrap(H, "cab"), rng=0)
        assert r.names == ("a", "b", "c")
        assert r.value == plain.value
        assert r.debiased == plain.debiased
    numbered = pd.DataFrame(H)[[2, 0, 1]]
    assert canonical_calibration_error(pd.DataFrame(Y), numbered, rng=0).value == plain.value
    renamed = canonical_calibration_error(frame(Y), frame(H, "xyz"), rng=0)
    assert (renamed.value, renamed.names) == (plain.value, ("a", "b", "c"))
    assert canonical_calibration_error(Y, frame(H, "xyz"), rng=0).names == ("x", "y", "z")
    assert plain.names == ("label 0", "label 1", "label 2")


@pytest.mark.parametrize(
    "read",
    [
        lambda y: y.astype(bool),
        lambda y: y.astype(int).tolist(),
        lambda y: frame(y.astype(bool)),
        lambda y: pl.DataFrame(y.astype(bool), schema=list("abc")),
        lambda y: frame(y.astype(bool).astype(object)),
    ],
)
def test_booleans_and_lists_are_labels(read):
    assert marginal_calibration_error(read(Y), H).value == marginal_calibration_error(Y, H).value


@pytest.mark.parametrize("given", [H[:, 0], H[:, :1], H[:, 0].tolist(), pd.Series(H[:, 0])])
def test_one_label(given):
    y, wanted = Y[:, 0], marginal_calibration_error(Y[:, [0]], H[:, [0]]).value
    texts = np.array(["no", "yes"])[y.astype(int)]
    for labels in (y, y.astype(bool), Y[:, :1], y.tolist(), texts, pl.Series(y), 2 * y - 1):
        assert marginal_calibration_error(labels, given).value == wanted
    assert marginal_calibration_error(texts, given).names == ("yes",)


@pytest.mark.parametrize("always", [0, 1, False, True, 0.0])
def test_one_class_that_says_which_it_is(always):
    r = measured(np.full(60, always), H[:, 0])
    assert "always" in r.notes[0]
    rate = marginal_calibration_error(np.full(60, always), H[:, 0]).observed[0]
    assert (rate == float(always)).all()


def test_classes_are_read_one_hot():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet([1, 1, 1], 60)
    codes = rng.integers(0, 3, 60)
    wanted = marginal_calibration_error(np.eye(3)[codes], prob)
    texts = np.array(["a", "b", "c"])[codes]
    named = frame(prob)
    for y, h in (
        (codes, prob), (texts, prob), (texts, named), (texts, named[list("bca")]),
        (codes, prob.astype(np.float32)),
    ):  # fmt: skip
        r = marginal_calibration_error(y, h)
        assert r.value == pytest.approx(wanted.value, abs=1e-6)
        assert len(r.names) == 3
    assert set(marginal_calibration_error(texts, named[list("bca")]).names) == set("abc")


def test_a_class_may_not_occur():
    rng = np.random.default_rng(0)
    prob, codes = rng.dirichlet([1, 1, 1], 60), rng.integers(0, 2, 60)
    r = marginal_calibration_error(codes, prob)
    assert r.names == ("label 0", "label 1", "label 2")
    assert "label 2" in r.notes[0]
    texts = np.array(["a", "c"])[codes]
    assert "b" in marginal_calibration_error(texts, frame(prob)).notes[0]
    with pytest.raises(ShapeError, match="in a frame that names them"):
        marginal_calibration_error(texts, prob)


def test_the_list_of_scikit_learn_is_read_as_its_second_columns():
    x = np.random.default_rng(0).normal(size=(60, 2))
    model = MultiOutputClassifier(LogisticRegression()).fit(x, Y)
    listed = model.predict_proba(x)
    plain = np.column_stack([p[:, 1] for p in listed])
    for measure in (canonical_calibration_error, calibration_certificate):
        assert measure(Y, listed, rng=0) == measure(Y, plain, rng=0)
    assert marginal_calibration_error(frame(Y), tuple(listed)).names == ("a", "b", "c")
    one, other = (CopulaCalibrator(rng=0).fit(Y, p) for p in (listed, plain))
    np.testing.assert_array_equal(one.transform(listed), other.transform(plain))
    assert one.score(Y, listed).after == other.score(Y, plain).after
    single = marginal_calibration_error(Y[:, 0], [listed[0]])
    assert single.value == marginal_calibration_error(Y[:, 0], plain[:, 0]).value


def test_a_map_of_labels_that_never_occur_or_are_few_rows_stays_a_map():
    never = Y.copy()
    never[:, 1] = 0
    better = CopulaCalibrator(rng=0).fit(never, H).transform(H)
    assert better[:, 1].mean() < H[:, 1].mean() / 5
    wide = MultilabelLaw("latent", n_labels=20).sample(15, rng=0)
    found = CopulaCalibrator(rng=0).fit(wide.y_true, wide.y_prob).transform(wide.y_prob)
    assert np.isfinite(found).all()
    certain = CopulaCalibrator(rng=0).fit(Y, Y).transform(Y)
    assert np.abs(certain - Y).max() < 0.2
