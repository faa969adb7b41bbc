"""Whole numbers beyond 2^53 are ranked as they are: as floats, neighbours would be tied."""

import numpy as np
import polars as pl
import pytest

import karat
from karat.exceptions import DataError
from karat.ranking import (
    average_precision,
    compare_rankings,
    precision_at,
    roc_at,
    weighted_auc,
)
from karat.statistics import roc_counts

RNG = np.random.default_rng(0)
N = 300
Y = RNG.integers(0, 2, N)
RANKS = RNG.permutation(N) + 60 * Y
LARGE = 2**60 + RANKS  # floats of this size are 256 apart
OTHER = 2**60 + RNG.permutation(N) + 20 * Y


def numbers(result):
    return [result.value, result.lower, result.upper]


def table():
    return pl.DataFrame({"y": Y, "s": LARGE, "g": np.where(Y, "a", "b"), "w": np.ones(N)})


def test_floats_of_this_size_tie():
    assert len(np.unique(LARGE.astype(float))) < 5 < len(np.unique(LARGE))


@pytest.mark.parametrize("measure", [
    weighted_auc, average_precision,
    lambda y, s: precision_at(y, s, k=40), lambda y, s: roc_at(y, s, fpr=0.2),
], ids=["area", "average precision", "precision", "point"])  # fmt: skip
def test_measures_are_those_of_ranks(measure):
    found, wanted = measure(Y, LARGE), measure(Y, RANKS)
    assert found.to_dict().keys() == wanted.to_dict().keys()
    for name in ("value", "lower", "upper", "tpr", "tpr_lower"):
        if hasattr(wanted, name):
            np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-12)


def test_two_models_are_compared_by_ranks():
    found = compare_rankings(Y, {"a": LARGE, "b": OTHER}, limits="delong")
    wanted = compare_rankings(Y, {"a": RANKS, "b": OTHER - 2**60}, limits="delong")
    assert str(found.to_frame().rows()) == str(wanted.to_frame().rows())  # NaN is no NaN


@pytest.mark.parametrize("roles", [{}, {"weight": "w"}])
def test_counts_of_a_table_keep_them_apart(roles, tmp_path):
    counts = karat.scan(table()).roles(label="y", score="s", **roles).roc_counts()
    assert counts.scores.tolist() == np.unique(LARGE).tolist()
    wanted = weighted_auc(roc_counts(Y, RANKS))
    assert weighted_auc(counts).value == pytest.approx(wanted.value, rel=1e-12)
    doubled = counts + counts
    assert doubled.scores.tolist() == counts.scores.tolist()
    with pytest.raises(DataError, match=r"beyond 2\^53"):
        counts + roc_counts(Y, RANKS / N)
    if not roles:
        with pytest.raises(DataError, match=r"beyond 2\^53.*cells"):
            karat.scan(table()).roles(label="y", score="s").counts().save(tmp_path / "c.parquet")


def test_small_whole_numbers_are_floats_as_before():
    assert roc_counts(Y, RANKS).scores.dtype == np.float64


def test_unsigned_numbers_beyond_are_named(tmp_path):
    large = table().with_columns(s=pl.lit(2**63 + 5, pl.UInt64))
    with pytest.raises(DataError, match=r"beyond 2\^63"):
        karat.scan(large).roles(label="y", score="s").roc_counts()
