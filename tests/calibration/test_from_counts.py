"""The marginal error from counts is that of the rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.calibration import (
    marginal_calibration_error,
)
from karat.exceptions import DataError, ProbabilityError
from karat.statistics import roc_counts


@given(
    n=st.integers(3, 400), digits=st.integers(1, 4), bins=st.integers(1, 20), seed=st.integers(0)
)
@settings(max_examples=60, deadline=None)
def test_the_numbers_are_those_of_the_rows(n, digits, bins, seed):
    rng = np.random.default_rng(seed)
    prob = rng.random(n).round(digits)
    y = (rng.random(n) < prob).astype(int)
    y[:2] = [0, 1]
    parts = [
        roc_counts(y[i], prob[i], classes=[0, 1]) for i in (slice(None, n // 2), slice(n // 2, n))
    ]
    for p in (1, 2):
        rows = marginal_calibration_error(y, prob, bins=bins, p=p)
        found = marginal_calibration_error(sum(parts), bins=bins, p=p)
        assert (found.value, found.debiased) == pytest.approx(
            (rows.value, rows.debiased), abs=1e-12
        )
        assert found.n == rows.n
        for name in ("predicted", "observed", "weight"):
            np.testing.assert_allclose(getattr(found, name)[0], getattr(rows, name)[0], atol=1e-12)


def test_several_labels_and_rounded_probabilities():
    rng = np.random.default_rng(0)
    prob = rng.random((4000, 3))
    y = (rng.random((4000, 3)) < prob**1.2).astype(int)
    rows = marginal_calibration_error(y, prob)
    counts = {f"label {j}": roc_counts(y[:, j], prob[:, j]) for j in range(3)}
    found = marginal_calibration_error(counts)
    assert found.value == pytest.approx(rows.value, abs=1e-12)
    assert found.names == ("label 0", "label 1", "label 2")
    rounded = {name: roc_counts(y[:, j], prob[:, j].round(3)) for j, name in enumerate(counts)}
    near = marginal_calibration_error(rounded)
    assert near.per_label == pytest.approx(rows.per_label, abs=2e-3)


Y, P = [0, 1, 1, 0], [0.1, 0.9, 0.4, 0.4]
WRONG = {
    "no counts": (lambda: [1, 0], DataError, "y_prob is None"),
    "some counts": (lambda: {"a": 3, "b": roc_counts(Y, P)}, DataError, "counts of 'a' is a int"),
    "empty": (dict, DataError, "y_prob is None"),
    "scores": (lambda: roc_counts(Y, [2.0, 1, 0, 0]), ProbabilityError, "scores from 0 to 2"),
    "weights": (lambda: roc_counts(Y, P, sample_weight=[1, 2, 1, 1]), DataError, "sums of weights"),
    "rows": (lambda: {"a": roc_counts(Y, P), "b": roc_counts(Y * 2, P * 2)}, DataError,
             "counted on different rows"),
}  # fmt: skip


@pytest.mark.parametrize(("counts", "error", "said"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_measured(counts, error, said):
    with pytest.raises(error, match=said):
        marginal_calibration_error(counts())
