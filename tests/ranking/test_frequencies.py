"""A row of weight 3 is three rows: values and limits agree for every measure of a ranking."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.exceptions import SmallSampleWarning
from karat.ranking import (
    FprBand,
    TprBand,
    average_precision,
    compare_rankings,
    cost_curve,
    lift,
    net_benefit,
    precision_at,
    recall_at,
    roc_at,
    weighted_auc,
)

BOX = FprBand(0, 0.4) & TprBand(0.5, 1)
ONE = [
    (average_precision, {}), (precision_at, {"k": 2}), (precision_at, {"share": 0.3}),
    (precision_at, {"threshold": 0.0}), (recall_at, {"k": 2}), (recall_at, {"share": 0.3}),
    (recall_at, {"threshold": 0.6}), (lift, {"k": 2}), (lift, {"share": 0.3}),
    (net_benefit, {"threshold": 0.4}), (cost_curve, {"at": 0.3}), (roc_at, {"fpr": 0.2}),
    *((weighted_auc, {"limits": name}) for name in ("auto", "kl", "dkw", "beta", "smoothed",
                                                         "approximate", "delong")),
    *((weighted_auc, {"limits": name, "weight": weight})
      for name in ("auto", "dkw", "beta", "approximate", "smoothed", "delong")
      for weight in (FprBand(0, 0.2), FprBand(0.1, 0.3), TprBand(0.6, 1), BOX)),
]  # fmt: skip
PAIRED = [
    *((compare_rankings, {"measure": name} | cut) for name, cut in (
        ("average_precision", {}), ("precision_at", {"k": 2}), ("recall_at", {"share": 0.3}),
        ("lift", {"k": 2}), ("net_benefit", {"threshold": 0.4}), ("cost_curve", {"at": 0.3}))),
    *((compare_rankings, {"limits": name, "weight": weight}) for name in ("auto", "delong")
      for weight in (FprBand(0, 1), FprBand(0, 0.2), TprBand(0.6, 1))),
]  # fmt: skip


def numbers(r):
    return [r.value, r.lower, r.upper]


def check_one(y, score, times):
    """Compare every measure of weighted rows with that of repeated rows."""
    again = np.repeat(y, times), np.repeat(score, times)
    for function, options in ONE:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SmallSampleWarning)
            a = function(y, score, sample_weight=times, weighting="frequency", **options)
            b = function(*again, **options)
        assert numbers(a) == pytest.approx(numbers(b), abs=1e-12), (function, options)


def check_pairs(y, scores, times):
    """Compare every difference of weighted rows with that of repeated rows."""
    again = np.repeat(y, times), {name: np.repeat(s, times) for name, s in scores.items()}
    for function, options in PAIRED:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SmallSampleWarning)
            a = function(y, scores, sample_weight=times, weighting="frequency", **options)
            b = function(*again, **options)
        (a,), (b,) = a.differences, b.differences
        sign = 1 if a.first == b.first else -1  # equal models may come in either order
        ends = sorted([sign * b.lower, sign * b.upper])
        assert numbers(a) == pytest.approx([sign * b.value, *ends], abs=1e-12), (function, options)


@st.composite
def rows(draw, most=20):
    n = draw(st.integers(3, most))
    y = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    y[:2] = [True, False]
    score = st.lists(st.integers(0, 5), min_size=n, max_size=n)
    first, second = (np.array(draw(score)) / 5 for _ in range(2))
    times = np.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    times[:2] = [1, 2]
    return y, first, second, times


@given(rows=rows())
@settings(max_examples=40, deadline=None)
def test_weights_that_count_rows_are_repeated_rows(rows):
    y, first, second, times = rows
    check_one(y, first, times)
    check_pairs(y, {"a": first, "b": second}, times)


@pytest.mark.parametrize("seed", range(10))
def test_average_precision_of_tied_scores_and_counts(seed):
    # One positive above all others, in about 3 % of these: its rows must count as exactly 1.
    rng = np.random.default_rng(seed)
    for _ in range(60):
        n = int(rng.integers(4, 25))
        y, score = rng.integers(0, 2, n), rng.integers(0, 6, n) / 5
        y[:2] = [0, 1]
        times = rng.integers(1, 5, n)
        a = average_precision(y, score, sample_weight=times, weighting="frequency")
        b = average_precision(np.repeat(y, times), np.repeat(score, times))
        assert numbers(a) == pytest.approx(numbers(b), abs=1e-12)
