"""No limit depends on the unit of weights: importances count by their ratios alone."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import karat
from karat.bounds import performance_bounds
from karat.consensus import ErrorEstimator, position_bias
from karat.exceptions import DataError, WeightError
from karat.metrics import accuracy
from karat.ranking import roc_at, weighted_auc
from karat.statistics import VoteCounts, pattern_counts, patterns, roc_counts

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # a few rows are few
# Halves become whole numbers when they are multiplied: they are importances all the same.
HALVES = st.integers(0, 9).map(lambda w: w / 2)


@st.composite
def rows(draw):
    n = draw(st.integers(8, 60))
    y, score = np.arange(n) % 2, draw(arrays(float, n, elements=st.integers(0, 12).map(float)))
    w = draw(arrays(float, n, elements=HALVES))
    w[:2] = [1.5, 1.0]  # some weight in either class
    return y, score, w


def limits(r):
    return r.value, r.lower, r.upper


@given(rows=rows(), times=st.sampled_from([1000.0, 2.0, 1e-3]))
@settings(max_examples=40, deadline=None)
def test_areas_points_and_metrics(rows, times):
    y, score, w = rows
    pred = (score > 6).astype(int)

    def measured(weight):
        counts = roc_counts(y, score, sample_weight=weight)
        area = limits(weighted_auc(counts))
        # Rows and counts are two ways to one number.
        assert area == pytest.approx(limits(weighted_auc(y, score, sample_weight=weight)))
        return [
            *area, *limits(roc_at(y, score, fpr=0.2, sample_weight=weight)),
            *limits(accuracy.estimate(y, pred, sample_weight=weight, rng=0)),
        ]  # fmt: skip

    assert measured(w * times) == pytest.approx(measured(w), abs=1e-9)


@given(rows=rows())
@settings(max_examples=15, deadline=None)
def test_counts_of_a_table_and_their_sums(rows):
    y, score, w = rows

    def area(weight):
        table = pl.DataFrame({"y": y, "s": score, "w": weight})
        parts = [
            karat.scan(part).roles(label="y", score="s", weight="w").roc_counts(classes=[0, 1])
            for part in (table[:4], table[4:])
            if part["w"].sum()
        ]
        return limits(weighted_auc(sum(parts)))

    assert area(w * 1000) == pytest.approx(area(w), abs=1e-9)
    assert area(w) == pytest.approx(limits(weighted_auc(y, score, sample_weight=w)), abs=1e-9)


def drawn(n=300):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, n)
    votes = np.where(rng.random((n, 4)) < 0.8, y[:, None], 1 - y[:, None])
    return y, votes, rng.integers(1, 7, n) / 2


def rates(votes, **options):
    fitted = ErrorEstimator(draws=60, chains=2, dependence="none", rng=0).fit(votes, **options)
    return np.array([fitted.result_.value, fitted.result_.lower, fitted.result_.upper])


def counted(votes, weight, domain=None):
    table = pl.DataFrame(votes).with_columns(pl.Series("w", weight))
    roles = {"judge": "column_*", "weight": "w"}
    if domain is not None:
        table, roles["group"] = table.with_columns(pl.Series("d", domain)), "d"
    return karat.scan(table).roles(**roles).vote_counts()


def test_error_rates_from_rows_patterns_and_counts():
    _, votes, w = drawn()
    base = rates(votes, sample_weight=w)
    np.testing.assert_allclose(rates(votes, sample_weight=1000 * w), base, atol=1e-9)
    for scale in (1, 1000):
        np.testing.assert_allclose(rates(counted(votes, scale * w)), base, atol=1e-9)
        seen = patterns(votes, sample_weight=scale * w)
        np.testing.assert_allclose(rates(seen), base, atol=1e-9)
    # As many items as weights would be far narrower, and that is what frequencies say.
    many = rates(votes, sample_weight=2000 * w, weighting="frequency")
    assert (many[2] - many[1]).mean() < 0.5 * (base[2] - base[1]).mean()
    domain = np.arange(len(w)) % 2
    apart = rates(votes, domains=domain, sample_weight=w)
    np.testing.assert_allclose(rates(counted(votes, 1000 * w, domain)), apart, atol=1e-9)


def test_votes_with_and_without_weights_add_up():
    _, votes, w = drawn(100)
    plain = karat.scan(pl.DataFrame(votes)).roles(judge="column_*").vote_counts()
    both = plain + counted(votes, w)
    assert isinstance(both, VoteCounts)
    assert both.squares.sum() == pytest.approx(100 + (w**2).sum())
    seen = patterns(votes) + patterns(votes, sample_weight=w)
    assert seen.squares.sum() == pytest.approx(100 + (w**2).sum())
    assert (plain + plain).squares is None


def test_bounds_from_rows_and_their_refusal_from_counts():
    y, votes, w = drawn()

    def bound(weight):
        b = performance_bounds(y, votes, metric="f1", sample_weight=weight, rng=0)
        return b.lower_limit, b.lower, b.upper, b.upper_limit

    assert bound(1000 * w) == pytest.approx(bound(w), abs=1e-9)
    for weight in (w, 1000 * w):
        counts = pattern_counts(y, votes, sample_weight=weight)
        with pytest.raises(DataError, match="sums of weights, from which limits cannot"):
            performance_bounds(counts, metric="accuracy")
    often = pattern_counts(y, votes, sample_weight=2 * w, weighting="frequency")
    copied = np.repeat(np.arange(len(y)), (2 * w).astype(int))
    b = performance_bounds(often, metric="accuracy", rng=0)
    whole = performance_bounds(y[copied], votes[copied], metric="accuracy", rng=0)
    assert (b.n, b.lower, b.upper) == pytest.approx((whole.n, whole.lower, whole.upper))


def test_pairs():
    first = np.array([["A", "A"], ["A", "B"], ["A", "A"], ["B", "B"]])
    second = np.array([["B", "A"], ["B", "B"], ["A", "A"], ["B", "B"]])
    a, b = (position_bias(first, second, sample_weight=np.array([1, 2, 1, 0.5]) * s)
            for s in (1, 1000))  # fmt: skip
    np.testing.assert_allclose([a.value, a.lower, a.upper], [b.value, b.lower, b.upper], atol=1e-9)


def test_frequencies_are_said_and_are_whole():
    table = pl.DataFrame({"y": [0, 1, 1, 0], "s": [0.1, 0.9, 0.4, 0.3], "w": [2.0, 1.0, 3.0, 1.0]})
    data = karat.scan(table).roles(label="y", score="s", weight="w", weighting="frequency")
    found = data.roc_counts()
    assert (found.squares, found.positives.tolist()) == (None, [0, 0, 3, 1])
    odd = karat.scan(table.with_columns(pl.col("w") / 2))
    with pytest.raises(WeightError, match="fractions in 3 rows and weighting='frequency'"):
        odd.roles(label="y", score="s", weight="w", weighting="frequency").roc_counts()
    with pytest.raises(WeightError, match=r"sample_weight row 0 is 0.5 and weighting='frequency'"):
        roc_counts([0, 1], [0.1, 0.2], sample_weight=[0.5, 1], weighting="frequency")
    zero = karat.scan(table.with_columns(w=pl.lit(0.0))).roles(label="y", score="s", weight="w")
    with pytest.raises(WeightError, match="zero in every row"):
        zero.roc_counts()
