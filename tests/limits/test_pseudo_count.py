"""Limits of any statistic of counts, by the worst item that could come next."""

import numpy as np
import pytest
from scipy.stats import binomtest

from karat.exceptions import DataError, OptionError
from karat.limits import clopper_pearson, pseudo_count
from karat.limits.pseudo import drawn_limits, pseudo_count_limits


def share(table):
    return table[:, 0]


@pytest.mark.parametrize(("hits", "n"), [(0, 12), (7, 20), (20, 20), (150, 400)])
def test_a_whole_pseudo_count_is_clopper_and_pearsons_limit(hits, n):
    rng = np.random.default_rng(0)
    counts = np.array([hits, n - hits], dtype=float)
    low, high = pseudo_count_limits(
        share, counts, (0, 1), delta=0.025, draws=40_000, rng=rng, pseudo=1.0
    )
    exact = clopper_pearson(hits, n)
    assert (low, high) == pytest.approx((exact.lower, exact.upper), abs=0.006)


@pytest.mark.parametrize("side", ["both", "lower", "upper"])
@pytest.mark.parametrize("confidence", [0.99, 0.999, 0.9999, 0.99995])
def test_limits_are_told_far_out(confidence, side):
    """2,000 draws gave the limits of .999 at best, whatever the confidence."""
    found = pseudo_count(share, [14, 6], size=1.0, confidence=confidence, side=side, rng=0)
    exact = clopper_pearson(14, 20, confidence=confidence, side=side)
    assert (found.lower, found.upper) == pytest.approx((exact.lower, exact.upper), abs=0.012)


def test_a_confidence_that_draws_do_not_tell_is_refused():
    with pytest.raises(OptionError, match=r"confidence is 0.999999; expected at most 0.99998 here"):
        pseudo_count(share, [14, 6], confidence=0.999999)
    with pytest.raises(
        OptionError, match="n_resamples is 2000; expected at least 10,000 for confi"
    ):
        pseudo_count(share, [14, 6], confidence=0.99, n_resamples=2000)
    assert pseudo_count(share, [14, 6], n_resamples=2000, rng=0).lower > 0


def test_where_the_statistic_is_undefined_it_may_be_anything():
    rng = np.random.default_rng(1)
    recall = lambda t: np.divide(t[:, 0], t[:, 0] + t[:, 1], where=t[:, 2] < 0.99,  # noqa: E731
                                 out=np.full(len(t), np.nan))  # fmt: skip
    low, high = pseudo_count_limits(
        recall, np.array([0.0, 0.0, 500.0]), (0, 1), delta=0.025, draws=500, rng=rng
    )
    assert (low, high) == (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 100])
def test_balanced_accuracy_is_covered(n):
    """400 samples of 10 % positives notice .93 against .885."""
    rng = np.random.default_rng(n)
    law = np.array([0.85, 0.05, 0.03, 0.07])  # TN, FP, FN, TP

    def balanced(t):
        t = t.reshape(-1, 2, 2)
        with np.errstate(all="ignore"):
            return np.mean(np.diagonal(t, axis1=1, axis2=2) / t.sum(axis=2), axis=1)

    true, seen = balanced(law[None])[0], 0
    for _ in range(400):
        counts = rng.multinomial(n, law).astype(float)
        low, high = pseudo_count_limits(balanced, counts, (0, 1), delta=0.025, draws=800, rng=rng)
        seen += low <= true <= high
    print(f"balanced accuracy, {n} labels: covered {seen / 400:.3f}")
    assert binomtest(seen, 400, 0.93, alternative="less").pvalue > 0.001


def balanced_of(k):
    """Return balanced accuracy of tables of k classes; a class without items does not count."""

    def balanced(t):
        t = t.reshape(-1, k, k)
        with np.errstate(all="ignore"):
            return np.nanmean(np.diagonal(t, axis1=1, axis2=2) / t.sum(axis=2), axis=1)

    return balanced


def test_classes_with_few_items_are_all_surprising_at_once():
    counts = np.diag([40.0, 1.0, 1.0, 0.0]).ravel()
    strata = np.repeat(np.arange(4), 4)
    options = {"delta": 0.025, "draws": 2000}
    one, every = (
        pseudo_count_limits(
            balanced_of(4), counts, (0, 1), rng=np.random.default_rng(0), strata=known, **options
        )
        for known in (None, strata)
    )
    assert every[0] < one[0] - 0.2  # three classes of which nothing is known
    assert every[1] == one[1] == 1.0
    gaps = pseudo_count_limits(  # numbers of classes that no cell has
        balanced_of(4), counts, (0, 1), rng=np.random.default_rng(0), strata=2 * strata + 1,
        **options,
    )  # fmt: skip
    assert gaps == every
    plenty = np.diag([40.0, 9.0, 8.0, 7.0]).ravel() + 1.0
    one, same = (
        pseudo_count_limits(
            balanced_of(4), plenty, (0, 1), rng=np.random.default_rng(0), strata=known, **options
        )
        for known in (None, strata)
    )
    assert same == one


@pytest.mark.slow
def test_balanced_accuracy_of_many_classes_is_covered():
    """40 labels of six classes, four of them rare and often missed: one pseudo-count covers .91.

    150 samples notice .93 against .85.
    """
    rng = np.random.default_rng(3)
    share, recall = np.array([0.5, 0.3, 0.08, 0.06, 0.04, 0.02]), np.linspace(0.95, 0.2, 6)
    law = np.where(np.eye(6, dtype=bool), recall, (1 - recall[:, None]) / 5) * share[:, None]
    truth = recall.mean()
    strata, seen = np.repeat(np.arange(6), 6), 0
    for _ in range(150):
        counts = rng.multinomial(40, law.ravel()).astype(float)
        low, high = pseudo_count_limits(
            balanced_of(6), counts, (0, 1), delta=0.025, draws=400, rng=rng, strata=strata
        )
        seen += low <= truth <= high
    print(f"six classes: covered {seen / 150:.3f}")
    assert binomtest(seen, 150, 0.93, alternative="less").pvalue > 0.001


def macro_f1_of(k):
    def macro_f1(t):
        t = t.reshape(-1, k, k)
        hit = np.diagonal(t, axis1=1, axis2=2)
        with np.errstate(all="ignore"):
            return np.mean(2 * hit / (t.sum(axis=1) + t.sum(axis=2)), axis=1)

    return macro_f1


@pytest.mark.parametrize("make", [balanced_of, macro_f1_of])
@pytest.mark.parametrize("seed", range(3))
def test_of_many_cells_those_that_are_tried_are_the_outermost(make, seed):
    """Every one of the 100 cells tried with all draws gives the same limits, or nearly."""
    k, rng = 10, np.random.default_rng(seed)
    law = rng.dirichlet(np.ones(k))[:, None] * (0.3 / k + 0.7 * np.eye(k))
    counts = rng.multinomial(250, law.ravel()).astype(float)
    counts[:: k + 1] += 1  # no class is without items
    base = rng.standard_gamma(np.maximum(counts, 1e-300), (600, k * k)) * (counts > 0)
    extra = rng.standard_gamma(0.5, 600)
    lows, highs = [], []
    for cell in range(k * k):
        table = base.copy()
        table[:, cell] += extra
        values = make(k)(table / table.sum(axis=1, keepdims=True))
        lows.append(np.quantile(values, 0.025))
        highs.append(np.quantile(values, 0.975))
    found = drawn_limits(make(k), base, extra, (0, 1), delta=0.025)
    assert found == pytest.approx((min(lows), max(highs)), abs=0.001)


@pytest.mark.parametrize(
    ("statistic", "said"),
    [
        (lambda w: w, r"an array of shape \(1, 2\) of type float64 for 1 rows.*one number per row"),
        (lambda w: 0.5, "gave 0.5 of type float64 for 1 rows of shares"),
        (lambda w: ["a"] * len(w), "expected one number per row"),
        (lambda w: w[:, 0] + 1j, "of type complex128"),
        (lambda w: 3 + w[:, 0], "statistic gave 3.4; expected numbers between low=0 and high=1"),
    ],
)
def test_a_statistic_that_is_none_is_named(statistic, said):
    with pytest.raises(DataError, match=said):
        pseudo_count(statistic, [4, 6], rng=0)


def test_constant_and_undefined_statistics():
    same = pseudo_count(lambda w: np.full(len(w), 0.25), [4, 6], rng=0)
    assert (same.value, same.lower, same.upper) == (0.25, 0.25, 0.25)
    none = pseudo_count(lambda w: np.full(len(w), np.nan), [4, 6], rng=0)
    assert np.isnan(none.value)
    assert (none.lower, none.upper) == (0, 1)
    whole = pseudo_count(lambda w: w[:, 0] > 0.5, [4, 6], rng=0)
    assert (whole.lower, whole.upper) == (0, 1)
    with pytest.raises(DataError, match="counts"):
        pseudo_count(lambda w: w[:, 0], [0, 0], rng=0)
