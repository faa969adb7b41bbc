"""Joint counts of two scores are of the rows that each score was counted on, or are refused."""

import numpy as np
import polars as pl
import pytest

import karat
from karat.consensus import ErrorEstimator
from karat.exceptions import ColumnError, DataError, OptionError
from karat.ranking import compare_rankings
from karat.statistics import roc_counts


def two_scores(**changed):
    table = pl.DataFrame(
        {"y": [0, 1, 0, 1, 0, 1], "a": [1.0, 2, 3, 4, 5, 6], "b": [2.0, 1, 3, 5, 4, 6],
         "w": [1.0, 2, 1, 1, 1, 1]}
    ).with_columns(**{name: pl.Series(values) for name, values in changed.items()})  # fmt: skip
    data = karat.scan(table).roles(label="y", score=["a", "b"])
    return data, {name: data.roc_counts(name) for name in ("a", "b")}


DATA, COUNTS = two_scores()
OTHER = two_scores(a=[1.0, 9, 3, 4, 5, 6])[1]
MIRRORED = {name: DATA.roc_counts(name, pos_label=0) for name in ("a", "b")}
JOINT = DATA.joint_roc_counts(*COUNTS.values(), names=("a", "b"), cells=2)
WEIGHTED = DATA.roles(weight="w")
JOINED = {
    "weights": (lambda: WEIGHTED.joint_roc_counts(*COUNTS.values(), names=("a", "b")),
                ColumnError, "joint counts are of rows; count both scores without weights"),
    "weighted counts": (lambda: DATA.joint_roc_counts(
        WEIGHTED.roc_counts("a"), COUNTS["b"], names=("a", "b")), DataError,
        "the counts of 'a' are no exact counts of rows"),
    "other rows": (lambda: DATA.joint_roc_counts(OTHER["a"], COUNTS["b"], names=("a", "b"),
                                            cells=2), DataError,
                   "are not of the rows that the counts of a are of"),
    "other classes": (lambda: DATA.joint_roc_counts(MIRRORED["a"], COUNTS["b"],
                                               names=("a", "b")), DataError,
                      r"counts of 'a' have the classes \[1, 0\] and those of 'b' \[0, 1\]"),
    "one name": (lambda: DATA.joint_roc_counts(*COUNTS.values(), names="ab"), OptionError,
                 "names is 'ab'; expected the columns of two scores"),
    "a name twice": (lambda: DATA.joint_roc_counts(*COUNTS.values(), names=("a", "a")),
                     OptionError, "expected the columns of two scores"),
    "no list": (lambda: compare_rankings(COUNTS, joint=JOINT), OptionError,
                "joint is .*; expected a list of a source's joint_roc_counts"),
    "no joint counts": (lambda: compare_rankings(COUNTS, joint=[3]), OptionError,
                        "joint is 3; expected a list"),
    "no sequence": (lambda: compare_rankings(COUNTS, joint=7), OptionError, "joint is 7"),
    "joint of other rows": (lambda: compare_rankings(OTHER, joint=[JOINT]), DataError,
                            "joint counts of a and b are not of the rows"),
    "joint of other models": (lambda: compare_rankings(
        {"a": COUNTS["a"], "c": COUNTS["b"]}, joint=[JOINT]), DataError,
        r"joint counts are of \['a', 'b'\], and there are counts of \['a', 'c'\]"),
    "joint and weights": (lambda: compare_rankings(
        {name: WEIGHTED.roc_counts(name) for name in "ab"}, joint=[JOINT]), DataError,
        "count the same rows and classes, without weights"),
    "models of other classes": (lambda: compare_rankings(
        {"a": COUNTS["a"], "b": MIRRORED["b"]}), DataError, "count both with the same pos_label"),
    "weights of one": (lambda: compare_rankings(
        {"a": COUNTS["a"], "b": WEIGHTED.roc_counts("b")}), DataError, "on different rows"),
    "no counts": (lambda: compare_rankings({"a": COUNTS["a"], "b": 3}), DataError,
                  "the counts of 'b' are a int"),
    "more rows": (lambda: compare_rankings({"a": COUNTS["a"], "b": COUNTS["b"] +
                                                   COUNTS["b"]}), DataError, "different rows"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")
@pytest.mark.parametrize(("call", "error", "said"), JOINED.values(), ids=JOINED)
def test_what_is_wrong_with_joint_counts(call, error, said):
    with pytest.raises(error, match=said):
        call()


@pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")
def test_sums_of_weights_may_differ_in_their_last_digits():
    rng = np.random.default_rng(0)
    y, w = rng.integers(0, 2, 3000), 10 ** rng.uniform(-8, 1, 3000)
    counts = {name: roc_counts(y, rng.normal(size=3000), sample_weight=w) for name in "ab"}
    assert counts["a"].totals.tolist() != counts["b"].totals.tolist()
    assert compare_rankings(counts).differences[0].lower < 0


def test_error_rates_from_counts_are_a_frame_of_polars():
    votes = pl.DataFrame(np.random.default_rng(0).integers(0, 2, (60, 3)))
    counts = karat.scan(votes.to_pandas()).roles(judge="column_*").vote_counts()
    fitted = ErrorEstimator(draws=20, dependence="none", rng=0).fit(counts)
    assert isinstance(fitted.error_rates_, pl.DataFrame)
