"""Every public function is tried with every kind of bad input that fits its parameters.

Functions are found by looking: one that takes any of the parameters below joins by itself.
"""

import importlib
import inspect
import warnings
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest

import karat
from karat.calibration import CopulaCalibrator
from karat.consensus import ErrorEstimator
from karat.elicit import BinarySpace, ConfusionSpace, DiagonalSpace, RateSpace
from karat.exceptions import (
    ColumnError,
    DataError,
    EmptyDataError,
    KaratError,
    LabelError,
    LengthMismatchError,
    OptionError,
    ProbabilityError,
    ScoreError,
    ShapeError,
    WeightError,
)
from karat.metrics import f_beta, macro
from karat.metrics.base import Metric

# Without PyTorch there is no karat.torch to look at; tests/torch skips with a reason then.
NEEDS = {"torch": "torch", "studio": "fastapi"}  # left out where their extra is not installed
PACKAGES = [name for name in karat.__all__[1:] if find_spec(NEEDS.get(name, "karat"))]
GOOD = {
    "y_true": ["ham", "spam", "ham", "spam"],
    "y_pred": ["ham", "spam", "ham", "spam"],
    "y_score": [0.1, 0.4, 0.3, 0.8],
    "values": [0.1, 0.4, 0.3, 0.8],
    "y_prob": [0.1, 0.4, 0.3, 0.8],
    "weak_labels": [["ham", None], ["spam", "spam"], [None, "ham"], ["spam", "ham"]],
    "sample_weight": [1.0, 2.0, 0.5, 1.0],
    "groups": ["f", "f", "m", "m"],
}
GOOD["votes"] = [[*row, "ham"] for row in GOOD["weak_labels"]]
GOOD["y_pred_a"] = GOOD["y_pred_b"] = GOOD["y_pred"]
GOOD["label_model"] = GOOD["g"] = GOOD["proba"] = [[0.7, 0.3], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]]


def _fitted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # four items are few
        return ErrorEstimator(draws=20, dependence="none", rng=0).fit(GOOD["votes"])


# What a function needs besides data; never changed.
FIXED = {
    "metric": "accuracy",
    "predictions": {"one": GOOD["y_pred"], "two": ["ham", "ham", "spam", "spam"]},
    "y_scores": {"one": GOOD["y_score"], "two": [0.4, 0.1, 0.8, 0.3]},
    "fpr": 0.1,
    "verdicts": GOOD["votes"],
    "swapped": [row[::-1] for row in GOOD["votes"]],
    "judges": _fitted(),
    "first": ["x", "y", "x", "z"],
    "second": ["y", "z", "z", "x"],
    "labelled": [0.0, 1.0, 1.0, 0.0],
    "numerator": [0.0, 1.0, 1.0, 0.0],
    "denominator": [1.0, 1.0, 1.0, 0.0],
    "predicted": [0.1, 0.4, 0.3, 0.8],
    "others": [0.5],
    "at_least": 0.0,
}
# Cuts, of which a function takes one, what counts may take the place of, and weights of a kind.
CUTS = {
    "performance_bounds": {"weak_labels": GOOD["weak_labels"]},
    "difference_bounds": {
        "y_pred_b": ["ham", "ham", "spam", "spam"],
        "weak_labels": GOOD["weak_labels"],
    },
    "precision_at": {"share": 0.5},
    "recall_at": {"share": 0.5},
    "lift": {"share": 0.5},
    "net_benefit": {"threshold": 0.5},
    "best_of_many": {"sample_weight": [1, 2, 1, 1], "weighting": "frequency"},
}
TWO_COLUMNS = pd.DataFrame({"id": [1, 2, 3, 4], "label": GOOD["y_true"]})
ONE_CLASS = {
    "y_true": ["ham"] * 4,
    "y_pred": ["ham"] * 4,
    "weak_labels": [["ham", None]] * 4,
}
ROWS_OFF = [[0.5, 0.5], [0.5, 0.6], [0.5, 0.5], [1.0, 0.0]]
PROBABILITIES_NAN = [[0.5, 0.5], [0.5, 0.5], [np.nan, 0.5], [1.0, 0.0]]

# name: (a parameter the function must have, what to change, the error, what the message says)
CASES = {
    "empty": ("y_true", {name: [] for name in GOOD}, EmptyDataError, "no rows"),
    "empty votes": ("weak_labels", {"weak_labels": np.zeros((0, 2))}, EmptyDataError, "no rows"),
    "empty prediction": ("y_pred", {"y_pred": []}, EmptyDataError, "y_pred has no rows"),
    "one class": ("y_true", ONE_CLASS, LabelError, "one class only.*classes="),
    "one class predicted": ("y_pred", ONE_CLASS, LabelError, "one class only.*classes="),
    "missing truth": ("y_true", {"y_true": ["ham", None, "ham", "spam"]}, LabelError, "row 1"),
    "missing prediction": ("y_pred", {"y_pred": ["ham", None, "ham", "spam"]}, LabelError, "row 1"),
    "missing group": ("groups", {"groups": ["f", "f", None, "m"]}, LabelError, "groups row 2"),
    "NaN score": ("y_score", {"y_score": [0.1, np.nan, 0.3, 0.8]}, ScoreError, "row 1"),
    "infinite score": ("y_score", {"y_score": [0.1, 0.2, np.inf, 0.8]}, ScoreError, "row 2"),
    "text score": ("y_score", {"y_score": list("abcd")}, ScoreError, "text"),
    "NaN as y_prob": ("y_prob", {"y_prob": [0.1, 0.2, np.nan, 0.8]}, ProbabilityError, "row 2"),
    "y_prob above 1": ("y_prob", {"y_prob": [0.1, 0.2, 0.3, 1.8]}, ProbabilityError, "row 3"),
    "text as y_prob": ("y_prob", {"y_prob": list("abcd")}, ProbabilityError, "text"),
    "name as y_prob": ("y_prob", {"y_prob": "prob"}, ColumnError, r"frame\['prob'\]"),
    "truth as scores": (
        "y_true",
        {"y_true": [0.1, 0.2, 0.5, 1.0]},
        LabelError,
        "not a class label",
    ),
    "truth of another type": (
        "y_true",
        {"y_true": [0, 1, 0, 1], "y_pred": list("abab")},
        LabelError,
        "text",
    ),
    "unknown truth": ("y_true", {"classes": ["ham", "eggs"]}, LabelError, "'spam'.*classes"),
    "unknown prediction": ("y_pred", {"classes": ["ham", "eggs"]}, LabelError, "'spam'.*classes"),
    "unknown vote": ("weak_labels", {"classes": ["ham", "eggs"]}, LabelError, "'spam'.*classes"),
    "classes twice": ("classes", {"classes": ["ham", "spam", "ham"]}, LabelError, "twice"),
    "negative weight": ("sample_weight", {"sample_weight": [1, -1, 1, 1]}, WeightError, "row 1"),
    "NaN weight": ("sample_weight", {"sample_weight": [1, 1, 1, np.nan]}, WeightError, "row 3"),
    "zero weights": ("sample_weight", {"sample_weight": [0, 0, 0, 0]}, WeightError, "every row"),
    "probabilities": ("y_pred", {"y_pred": ROWS_OFF}, ProbabilityError, "row 1 sums to 1.1"),
    "probability NaN": ("y_pred", {"y_pred": PROBABILITIES_NAN}, ProbabilityError, "row 2"),
    "frame as truth": ("y_true", {"y_true": TWO_COLUMNS}, ColumnError, r"\['id', 'label'\]"),
    "frame as score": ("y_score", {"y_score": TWO_COLUMNS}, ColumnError, r"\['id', 'label'\]"),
    "name as truth": ("y_true", {"y_true": "label"}, ColumnError, r"frame\['label'\]"),
    "empty table of votes": ("votes", {"votes": np.zeros((0, 3))}, EmptyDataError, "no rows"),
    "one voter": ("votes", {"votes": [["ham"], ["spam"]] * 2}, ShapeError, "one voter only"),
    "a voter without votes": (
        "votes",
        {"votes": [["ham", "ham", None], ["spam", "ham", None]] * 2},
        DataError,
        r"\['2'\] casts no vote",
    ),
    "votes of one class": ("votes", {"votes": [["ham", "ham"]] * 4}, LabelError, "one class only"),
    "votes outside the classes": (
        "votes",
        {"classes": ["ham", "eggs"]},
        LabelError,
        "'spam'.*classes",
    ),
    "probabilities as votes": (
        "votes",
        {"votes": [[0.2, 0.7, 0.4]] * 4},
        ColumnError,
        "threshold=",
    ),
    "wrong vote column": (
        "weak_labels",
        {"weak_labels": pl.DataFrame({"a": ["ham"] * 4, "length": [0.5, 1.5, 2.5, 3.5]})},
        ColumnError,
        "'length' row 0 holds 0.5",
    ),
    "confidence in percent": (
        "confidence",
        {"confidence": 95},
        OptionError,
        "^confidence is 95; expected a number between 0 and 1, such as 0.95$",
    ),
    "unknown positive": (
        "pos_label",
        {"pos_label": "eggs"},
        OptionError,
        "^pos_label is 'eggs'; expected 'ham' or 'spam'$",
    ),
}


# An area compares rows of two classes: to name the other class does not help.
AREAS = {
    "weighted_auc", "compare_rankings", "roc_at", "average_precision", "precision_at", "recall_at",
    "lift", "net_benefit", "cost_curve", "roc_auc",
}  # fmt: skip
PARTIAL_TRUTH = {"missing truth", "one class", "truth of another type"}


def functions():
    for package in PACKAGES:
        module = importlib.import_module(f"karat.{package}")
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing) and set(inspect.signature(thing).parameters) & set(GOOD):
                yield pytest.param(thing, id=f"{package}.{name}")
            elif isinstance(thing, Metric):
                yield pytest.param(thing.score, id=f"{package}.{name}.score")
    for build in (
        BinarySpace.from_scores, DiagonalSpace.from_proba, ConfusionSpace.from_proba,
        RateSpace.from_proba, BinarySpace.from_calibrated,
    ):  # fmt: skip
        yield pytest.param(build, id=f"elicit.{build.__qualname__}")
    yield pytest.param(CopulaCalibrator(rng=0).fit, id="calibration.CopulaCalibrator.fit")
    yield pytest.param(f_beta(2).score, id="metrics.f_beta.score")
    yield pytest.param(macro(f_beta(1)).score, id="metrics.macro.score")


def arguments(function):
    known = GOOD | FIXED | CUTS.get(function.__name__, {})
    return {name: known[name] for name in inspect.signature(function).parameters if name in known}


FUNCTIONS = list(functions())


def test_the_functions_are_found():
    assert {f.id for f in FUNCTIONS} >= {
        "statistics.confusion", "statistics.rates", "statistics.patterns",
        "statistics.pattern_counts", "statistics.roc_counts", "metrics.mcc.score",
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*patterns seen fewer than")  # four items are few
@pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_good_input_passes(function):
    good = arguments(function)
    if "y_prob" in good:  # calibration is measured on folds, which four rows do not fill
        good = {name: value * 10 if name in GOOD else value for name, value in good.items()}
    function(**good)


@pytest.mark.filterwarnings("ignore:.*patterns seen fewer than")
@pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_confidence_between_0_and_1_is_taken(function):
    if "confidence" not in inspect.signature(function).parameters:
        return
    good = arguments(function)
    if "y_prob" in good:
        good = {name: value * 10 if name in GOOD else value for name, value in good.items()}
    for confidence in (0.01, 0.4, 0.5, 0.999):
        function(**good, confidence=confidence)


def applies(function, case):
    """Whether this kind of bad input can be passed to a function, and is bad for it."""
    parameter, changes, _, _ = CASES[case]
    accepted = inspect.signature(function).parameters
    if parameter not in accepted or not set(changes) & set(accepted):
        return False
    partial = accepted.get("y_true") is not None and accepted["y_true"].default is None
    other = "verdicts" in accepted or (case == "one class" and "predictions" in accepted)
    if parameter == "y_true" and case in PARTIAL_TRUTH and (partial or other):
        return False  # some true labels, for a test: the rest may be missing, one class is enough
    return case != "truth of another type" or "y_pred" in accepted


TRIED = [
    pytest.param(*found.values, case, id=f"{found.id}-{case}")
    for case in CASES
    for found in FUNCTIONS
    if applies(*found.values, case)
]


def test_every_case_is_tried():
    assert {param.values[1] for param in TRIED} == set(CASES)
    assert len(TRIED) >= 300


@pytest.mark.parametrize(("function", "case"), TRIED)
def test_bad_input(function, case):
    _, changes, error, message = CASES[case]
    accepted = inspect.signature(function).parameters
    given = {name: value for name, value in changes.items() if name in accepted}
    if case == "one class" and function.__name__ in AREAS:
        message = "one class only.*both classes"
    if case == "one class" and "y_prob" in accepted:
        message = "one class only.*0 and 1"  # which of the two y_prob is of cannot be told
    with pytest.raises(error, match=message) as caught:
        function(**(arguments(function) | given))
    assert isinstance(caught.value, KaratError)
    assert isinstance(caught.value, ValueError), "so that code written for scikit-learn catches it"
    assert caught.value.argument, "which argument it is"
    assert caught.value.expected or caught.value.remedy, "what was expected, or how to fix it"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_mismatched_lengths_say_both(function):
    good = arguments(function)
    lists = [name for name in good if name in GOOD]
    for name in lists if len(lists) > 1 else ():
        short = good | {name: good[name][:-1]}
        with pytest.raises(LengthMismatchError, match=r"(?=.*\b3\b)(?=.*\b4\b)"):
            function(**short)
