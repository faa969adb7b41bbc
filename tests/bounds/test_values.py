"""Results of bounds as every result has them: value, lower and upper, of counts as of rows."""

import math

import numpy as np
import polars as pl
import pytest

from karat.bounds import (
    bounds_curve,
    difference_bounds,
    expectation_bounds,
    performance_bounds,
    rank_models,
    robustness_curve,
    weak_label_value,
)
from karat.exceptions import DataError
from karat.statistics import pattern_counts
from karat.weak import MajorityVote

RNG = np.random.default_rng(7)
TRUTH = RNG.integers(0, 2, 400)
VOTES = np.where(RNG.random((400, 4)) < 0.85, TRUTH[:, None], 1 - TRUTH[:, None])
FIRST, SECOND = (np.where(RNG.random(400) < right, TRUTH, 1 - TRUTH) for right in (0.9, 0.7))
MODEL = MajorityVote().fit(VOTES)
GOLD = np.where(np.arange(400) % 8 == 0, TRUTH, -1)
SAID = {"metric": "accuracy", "rng": 0}

ALONE = {
    "performance": lambda **o: performance_bounds(FIRST, VOTES, MODEL, **SAID, **o),
    "difference": lambda **o: difference_bounds(FIRST, SECOND, VOTES, MODEL, **SAID, **o),
    "expectation": lambda: expectation_bounds(np.eye(2)[FIRST], VOTES, MODEL, method="crossfit"),
}
SEVERAL = {
    "curve": lambda: bounds_curve(FIRST + RNG.normal(size=400), VOTES, MODEL, **SAID),
    "ranking": lambda: rank_models({"a": FIRST, "b": SECOND}, VOTES, MODEL, **SAID),
    "robustness": lambda: robustness_curve(FIRST, VOTES, MODEL, **SAID),
    "labelers": lambda: weak_label_value(FIRST, VOTES, MODEL, **SAID),
}


@pytest.mark.parametrize("name", ALONE)
def test_bounds_without_labels_have_no_value(name):
    b = ALONE[name]()
    assert math.isnan(b.value)
    assert b.basis == b.bounds_limits.basis == "unknown"
    assert (b.lower_limit, b.upper_limit) == (b.bounds_limits.lower, b.bounds_limits.upper)
    with pytest.raises(DataError, match=r"there is no value .* read \.lower and \.upper"):
        float(b)
    table = b.to_frame()
    assert table.columns[:3] == ["value", "lower", "upper"]
    assert table.select("lower", "upper", "lower_limit", "upper_limit").row(0) == (
        b.lower, b.upper, b.lower_limit, b.upper_limit,
    )  # fmt: skip
    data = b.to_dict()
    assert data["value"] is None
    assert (data["lower"], data["upper_limit"]) == (b.lower, b.upper_limit)


@pytest.mark.parametrize("name", ["performance", "difference"])
def test_with_labels_the_value_is_theirs(name):
    b, without = ALONE[name](y_true=GOLD), ALONE[name]()
    assert float(b) == b.value == b.gold.value
    assert b.basis == "likely"
    assert (b.lower_limit, b.upper_limit) == (b.gold.lower, b.gold.upper)
    assert (b.lower, b.upper) == (without.lower, without.upper)
    assert b.bounds_limits == without.bounds_limits
    row = b.to_frame().row(0, named=True)
    assert (row["value"], row["lower_limit"]) == (b.value, b.gold.lower)


@pytest.mark.parametrize("name", SEVERAL)
def test_several_bounds_are_columns(name):
    found = SEVERAL[name]()
    table = found.to_frame()
    assert isinstance(table, pl.DataFrame)
    for column in ("value", "lower", "upper"):
        assert np.array_equal(getattr(found, column), table[column], equal_nan=True)
    assert np.isnan(found.value).all()
    with pytest.raises(DataError, match="no single value; read"):
        float(found)


def test_a_curve_with_all_labels_has_their_values():
    score = FIRST + RNG.normal(size=400)
    curve = bounds_curve(score, VOTES, MODEL, **SAID, y_true=TRUTH, thresholds=[0.5])
    assert curve.value[0] == pytest.approx(np.mean((score >= 0.5) == TRUTH))


def test_counts_go_by_the_same_name():
    counts = pattern_counts(FIRST, VOTES)
    plain = {"metric": "f1", "method": "plugin"}
    with pytest.warns(UserWarning, match="fewer than 10"):
        rows = performance_bounds(FIRST, VOTES, MODEL, **plain)
    with pytest.warns(UserWarning, match="fewer than 10"):
        found = performance_bounds(counts, label_model=MODEL, **plain)
    assert (found.lower, found.upper) == pytest.approx((rows.lower, rows.upper), abs=1e-12)
    with pytest.raises(DataError, match="weak_labels is missing; pass one row of votes"):
        performance_bounds(FIRST, metric="f1")


@pytest.mark.parametrize("name", ["weak_labels", "y_true", "groups", "sample_weight", "null"])
def test_what_needs_rows_does_not_go_with_counts(name):
    counts = pattern_counts(FIRST, VOTES)
    given = {"null": "abstain", "weak_labels": VOTES}.get(name, TRUTH)
    with pytest.raises(DataError, match=f"{name} does not go with counts"):
        performance_bounds(counts, metric="accuracy", **{name: given})
    with pytest.raises(DataError, match="label_model="):
        performance_bounds(counts, MODEL, metric="accuracy")
