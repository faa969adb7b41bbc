"""Systems ranked by judged pairs: closed forms, a peer, gold, limits that hold at once."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import binomtest
from sklearn.exceptions import NotFittedError

from karat.consensus import ErrorEstimator, PairEstimator, rank_systems
from karat.consensus._pairs import (
    _power,
    judged_strengths,
    powered_strengths,
    rank_limits,
    simultaneous_quantile,
    tiers_of,
)
from karat.exceptions import DataError, LabelError, LengthMismatchError, SmallSampleWarning

SKILL = np.array([1.2, 0.6, 0.0, -0.6, -1.2])
WRONG = np.array([0.1, 0.2, 0.25, 0.3, 0.15])


def drawn(n, rng, favour=0.0):
    """Pairs of systems, which answer is better, and votes; judges may all favour system 4."""
    a = rng.integers(0, 5, n)
    b = (a + rng.integers(1, 5, n)) % 5
    y = (rng.random(n) > 1 / (1 + np.exp(-(SKILL[a] - SKILL[b])))).astype(int)
    worse = np.where(y == 0, b, a)
    wrong = WRONG + favour * (worse == 4)[:, None]
    return a, b, y, np.where(rng.random((n, 5)) < wrong, 1 - y[:, None], y[:, None])


A, B, Y, VOTES = drawn(300, np.random.default_rng(0))
FITTED = ErrorEstimator(dependence="none", chains=2, draws=100, rng=0).fit(VOTES)


def test_certain_verdicts_are_bradley_and_terrys():
    """With verdicts that cannot err the likelihood is the textbook's; scipy maximises it."""

    def loss(theta):
        d = theta[A] - theta[B]
        return np.logaddexp(0, np.where(Y == 0, -d, d)).sum() + theta @ theta / 18

    peer = minimize(loss, np.zeros(5), tol=1e-10).x
    ratio = np.where(Y == 0, 40.0, -40.0)
    assert judged_strengths(A, B, ratio, 5).value == pytest.approx(peer, abs=1e-4)
    gold = 1.0 - Y
    assert powered_strengths(A, B, gold, gold, 5).value == pytest.approx(peer, abs=1e-4)


def test_uncertain_verdicts_by_direct_maximisation():
    ratio = np.random.default_rng(1).normal(0, 2, 300)

    def loss(theta):
        p = 1 / (1 + np.exp(-(theta[A] - theta[B])))
        return -np.log(p * np.exp(ratio) + 1 - p).sum() + theta @ theta / 18

    peer = minimize(loss, np.zeros(5), tol=1e-10).x
    assert judged_strengths(A, B, ratio, 5).value == pytest.approx(peer, abs=1e-3)


def test_the_covariance_is_the_sandwich_of_the_likelihood():
    """Scores and curvature by finite differences, inverted among strengths that sum to 0."""
    ratio = np.random.default_rng(1).normal(0, 2, 300)
    found = judged_strengths(A, B, ratio, 5)

    def likelihoods(theta):
        p = 1 / (1 + np.exp(-(theta[A] - theta[B])))
        return np.log(p * np.exp(ratio) + 1 - p)

    def loss(theta):
        return theta @ theta / 18 - likelihoods(theta).sum()

    step, at = 1e-4 * np.eye(5), found.value
    scores = np.array([likelihoods(at + s) - likelihoods(at - s) for s in step]).T / 2e-4
    curvature = np.array(
        [
            [
                loss(at + s + t) - loss(at + s - t) - loss(at - s + t) + loss(at - s - t)
                for t in step
            ]
            for s in step
        ]
    )
    free = np.linalg.svd(np.ones((1, 5)))[2][1:].T  # a basis of what sums to 0
    inverse = free @ np.linalg.inv(free.T @ (curvature / 4e-8) @ free) @ free.T
    spread = np.cov(scores.T, bias=True) * 300 * (300 / 296) ** 2
    np.testing.assert_allclose(found.covariance, inverse @ spread @ inverse, rtol=1e-3, atol=1e-6)


def test_predictions_weigh_what_makes_the_variance_least():
    """The weight of PPI++ minimises the trace of the covariance, here by direct search."""
    rng = np.random.default_rng(2)
    a, b, y, _ = drawn(120, rng)
    soft = np.clip(1.0 - y + rng.normal(0, 0.35, 120), 0.02, 0.98)
    gold = np.where(np.arange(120) < 60, 1.0 - y, np.nan)
    x = np.eye(5)[a] - np.eye(5)[b]
    theta, known = np.array([0.5, 0.2, 0.0, -0.2, -0.5]), np.arange(120) < 60
    p = 1 / (1 + np.exp(-(x @ theta)))
    hessian = (x[known] * (p * (1 - p))[known, None]).T @ x[known] / 60
    hessian += np.eye(5) / 9 / 60 + np.ones((5, 5)) / 5
    off, guess = ((p - v)[:, None] * x @ np.linalg.inv(hessian) for v in (gold, soft))

    def variance(weight):
        own, common = guess[known] - guess[known].mean(axis=0), off[known] - off[known].mean(axis=0)
        both, alone = np.sum(common * own) / 60, guess.var(axis=0).sum()
        return (weight**2 * alone - 2 * weight * both) / 60 + weight**2 * alone / 120

    best = minimize_scalar(variance, bounds=(0, 1), method="bounded", options={"xatol": 1e-9}).x
    assert 0.2 < best < 0.8
    assert _power(x, soft, gold, known, theta) == pytest.approx(best, abs=1e-5)


def test_ranks_and_tiers_by_hand():
    strength, covariance = np.array([3.0, 2.9, 0.0]), np.diag([0.1, 0.1, 0.1])
    best, worst, better = rank_limits(strength, covariance, 2.5)
    assert (best.tolist(), worst.tolist()) == ([1, 1, 3], [2, 2, 3])
    assert tiers_of(better).tolist() == [1, 1, 2]
    chain = np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]], dtype=bool)
    assert tiers_of(chain).tolist() == [1, 1, 2]


def test_the_quantile_of_two_is_normal():
    found = simultaneous_quantile(np.diag([1.0, 2.0]), 0.95, np.random.default_rng(0))
    assert found == pytest.approx(1.96, abs=0.04)
    found = simultaneous_quantile(np.diag([1.0, 2.0]), 0.99999, np.random.default_rng(0))
    assert found == pytest.approx(4.417, abs=0.1)


def test_differences_of_correlated_strengths_vary_less():
    """Two strengths of variance 1 and correlation .6: their difference has the variance .8."""
    covariance = np.array([[1.0, 0.6], [0.6, 1.0]])
    for gap, apart in ((1.99 * np.sqrt(0.8), False), (2.01 * np.sqrt(0.8), True)):
        found = rank_limits(np.array([gap, 0.0]), covariance, 2.0)
        assert found[2].tolist() == [[False, apart], [False, False]]
    quantile = simultaneous_quantile(covariance, 0.95, np.random.default_rng(0))
    assert quantile == pytest.approx(1.96, abs=0.04)


def test_names_mappings_and_gold():
    names = np.array(["e", "d", "c", "b", "a"])
    found = rank_systems(FITTED, names[A], names[B], rng=0)
    assert found.systems == ("e", "d", "c", "b", "a")
    assert (found.method, found.n_gold) == ("judged", 0)
    by_item = rank_systems(
        FITTED, dict(enumerate(names[A])), dict(enumerate(names[B])), y_true={0: 1, 5: 0, 9: "tie"}
        | {i: int(Y[i]) for i in range(20, 60)}, rng=0,
    )  # fmt: skip
    assert by_item.method == "gold"
    assert by_item.n_gold == 43
    assert found.n_pairs.sum() == 600


def test_pairs_in_two_orders():
    text = np.array(["A", "B"])[VOTES]
    est = PairEstimator(dependence="none", chains=2, draws=100, rng=0).fit(text, text)
    found = rank_systems(est, A, B, y_true=np.array(["A", "B"])[Y], rng=0)
    assert found.systems == (0, 1, 2, 3, 4)
    assert found.n_gold == 300


def test_bad_input_is_said():
    seen = ErrorEstimator(dependence="none", chains=2, draws=50, rng=0)
    seen.fit(VOTES, y_true={i: int(Y[i]) for i in range(5)})
    with pytest.raises(DataError, match="has seen gold"):
        rank_systems(seen, A, B, y_true={7: 1})
    with pytest.raises(LengthMismatchError, match="300 pairs"):
        rank_systems(FITTED, A[:10], B[:10])
    with pytest.raises(DataError, match="with itself"):
        rank_systems(FITTED, A, A)
    with pytest.raises(LabelError, match="no system"):
        rank_systems(FITTED, {0: "x"}, B)
    with pytest.raises(LabelError, match="not a class label"):
        rank_systems(FITTED, A, B, y_true=np.full(300, 7))
    with pytest.warns(SmallSampleWarning, match="at least 20"):
        rank_systems(FITTED, A, B, y_true={0: 1, 1: 0, 2: 1, 3: 0, 4: 1, 5: 0}, rng=0)


@given(st.permutations(range(300)))
@settings(max_examples=5, deadline=None)
def test_order_and_sides_do_not_matter(rows):
    ratio = np.random.default_rng(1).normal(0, 2, 300)
    base = judged_strengths(A, B, ratio, 5)
    moved = judged_strengths(A[rows], B[rows], ratio[rows], 5)
    turned = judged_strengths(B, A, -ratio, 5)
    for other in (moved, turned):
        assert other.value == pytest.approx(base.value, abs=1e-7)
        assert other.covariance == pytest.approx(base.covariance, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(("gold", "favour"), [(0, 0.0), (60, 0.0), (60, 0.4)])
def test_limits_cover(gold, favour):
    """60 runs: all ranks at once .95 against .80, strengths (5 a run) .93 against .87."""
    rng, runs, ranks, strengths = np.random.default_rng(5), 60, 0, 0
    for _ in range(runs):
        a, b, y, votes = drawn(400, rng, favour)
        fitted = ErrorEstimator(dependence="none", draws=80, chains=2, rng=rng).fit(votes)
        known = np.where(rng.permutation(400) < gold, y, -1) if gold else None
        found = rank_systems(fitted, a, b, y_true=known, rng=rng)
        ids = np.array(found.systems)
        ranks += bool(((found.rank_best <= ids + 1) & (ids + 1 <= found.rank_worst)).all())
        strengths += int(((found.lower <= SKILL[ids]) & (SKILL[ids] <= found.upper)).sum())
    assert binomtest(ranks, runs, 0.95, alternative="less").pvalue > 0.001
    assert binomtest(strengths, 5 * runs, 0.93, alternative="less").pvalue > 0.001


def test_systems_that_nothing_compares_are_refused():
    """Pairs of s0 with s1 and of s2 with s3 say nothing of s0 beside s2."""
    low = np.arange(300) % 2 * 2
    first = np.array(["s0", "s1", "s2", "s3"])[low]
    second = np.array(["s0", "s1", "s2", "s3"])[low + 1]
    said = "s0, s1 are never compared, even through others, with s2, s3; rank each part by itself"
    for gold in (None, Y):
        with pytest.raises(DataError, match=said):
            rank_systems(FITTED, first, second, y_true=gold, rng=0)
    second = second.copy()
    second[0] = "s2"  # one pair links the parts
    assert len(rank_systems(FITTED, first, second, rng=0).systems) == 4
    some = np.where(np.arange(300) > 100, Y, -1)  # but not one with gold
    with pytest.raises(DataError, match=r"never compared in a gold pair.*label more random pairs"):
        rank_systems(FITTED, first, second, y_true=some, rng=0)


def test_votes_in_place_of_a_fit_are_refused():
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 1]})
    with pytest.raises(DataError, match="pass a fitted ErrorEstimator, not a DataFrame"):
        rank_systems(frame, ["a"], ["b"])
    with pytest.raises(NotFittedError, match="PairEstimator is not fitted"):
        rank_systems(PairEstimator(), ["a"], ["b"])
