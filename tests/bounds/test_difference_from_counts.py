"""Bounds of a difference from counts are those of the rows."""

import numpy as np
import polars as pl
import pytest

import karat
from karat.bounds import difference_bounds
from karat.exceptions import DataError
from karat.statistics import pattern_counts

FIELDS = ("lower", "upper", "lower_limit", "upper_limit", "estimate", "agree", "silent", "n")


def drawn(k, n=1500, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    votes = np.where(rng.random((n, 4)) < 0.75, y[:, None], rng.integers(0, k, (n, 4)))
    votes[rng.random((n, 4)) < 0.4] = -1
    a, b = (np.where(rng.random(n) < p, y, rng.integers(0, k, n)) for p in (0.9, 0.6))
    return a, b, votes


@pytest.mark.parametrize("method", ["plugin", "crossfit"])
@pytest.mark.parametrize(
    ("k", "metric"), [(2, "accuracy"), (2, "f1"), (3, "accuracy"), (3, "macro_f1")]
)
def test_the_numbers_are_those_of_the_rows(k, metric, method):
    a, b, votes = drawn(k)
    options = {"metric": metric, "method": method, "rng": 0}
    rows = difference_bounds(a, b, votes, **options)
    found = difference_bounds(pattern_counts(a, votes, b), **options)
    for name in FIELDS:
        assert getattr(found, name) == pytest.approx(getattr(rows, name), abs=1e-12)
    assert (found.sharp, found.metric, found.truth) == (rows.sharp, rows.metric, None)
    assert found.check.status == rows.check.status


def test_names_order_and_positive_class():
    a, b, votes = drawn(2)
    names = np.array(["spam", "ham"], dtype=object)
    words = np.where(votes < 0, -1, names[votes.clip(0)])
    options = {"metric": "f1", "pos_label": "ham", "rng": 0, "method": "plugin"}
    rows = difference_bounds(names[a], names[b], words, **options)
    counts = pattern_counts(names[a], words, names[b])
    found = difference_bounds(counts, **options)
    assert (found.lower, found.upper) == pytest.approx((rows.lower, rows.upper), abs=1e-12)
    swapped = difference_bounds(pattern_counts(names[b], words, names[a]), **options)
    assert (swapped.lower, swapped.upper) == pytest.approx((-rows.upper, -rows.lower), abs=1e-9)
    same = difference_bounds(pattern_counts(names[a], words, names[a]), **options)
    assert (same.lower, same.upper, same.agree) == (0.0, 0.0, 1.0)


def test_a_table_with_folds_by_its_identifiers():
    a, b, votes = drawn(2, 4000)
    table = pl.DataFrame({"id": np.arange(4000), "a": a, "b": b} | {f"lf_{j}": votes[:, j]
                         for j in range(4)})  # fmt: skip
    data = karat.scan(table).roles(pred="a", group="b", weak="lf_*", id="id")
    found = difference_bounds(data.pattern_counts(), metric="accuracy")
    again = difference_bounds(data.pattern_counts(), metric="accuracy", rng=7)
    assert found.lower_limit == again.lower_limit  # the folds are those of the identifiers
    rows = difference_bounds(a, b, votes, metric="accuracy", rng=0)
    assert (found.lower, found.upper) == pytest.approx((rows.lower, rows.upper), abs=0.01)


def test_what_is_no_pair_of_predictions():
    a, b, votes = drawn(2)
    with pytest.raises(DataError, match="counts without groups; expected"):
        difference_bounds(pattern_counts(a, votes), metric="accuracy")
    with pytest.raises(DataError, match="y_pred_b is missing; pass"):
        difference_bounds(3, metric="accuracy")
    with pytest.raises(DataError, match="weak_labels is missing; pass"):
        difference_bounds(a, b, metric="accuracy")
    with pytest.raises(DataError, match="y_pred_b does not go with counts"):
        difference_bounds(pattern_counts(a, votes, b), b, metric="accuracy")
    sex = np.where(np.arange(len(a)) % 2, "f", "m")
    with pytest.raises(DataError, match=r"the groups hold .*f.*not among the classes"):
        difference_bounds(pattern_counts(a, votes, sex), metric="accuracy")
    weighted = pattern_counts(a, votes, b, sample_weight=np.full(len(a), 0.5))
    with pytest.raises(DataError, match="sums of weights"):
        difference_bounds(weighted, metric="accuracy")
