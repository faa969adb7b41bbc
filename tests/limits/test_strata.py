"""Limits of a statistic of labels in strata."""

import numpy as np
import pytest

from karat.limits import clopper_pearson, pseudo_count
from karat.limits.strata import stratified_limits


def share(tables):
    return tables[:, :, 1].sum(axis=1) / tables.sum(axis=(1, 2))


def test_one_large_stratum_is_a_proportion():
    rng = np.random.default_rng(0)
    found = stratified_limits(
        share, np.array([[33.0, 7.0]]), np.array([1e7]), (0, 1), delta=0.025, draws=40_000, rng=rng,
        pseudo=1.0,
    )  # fmt: skip
    exact = clopper_pearson(7, 40)
    assert found == pytest.approx((exact.lower, exact.upper), abs=0.005)


def test_every_item_labelled_leaves_nothing_open():
    rng, counts = np.random.default_rng(0), np.array([[3.0, 1.0], [0.0, 4.0]])
    found = stratified_limits(
        share, counts, counts.sum(axis=1), (0, 1), delta=0.025, draws=10, rng=rng
    )
    assert found == (5 / 8, 5 / 8)


def test_a_stratum_without_labels_may_hold_anything():
    rng, counts = np.random.default_rng(0), np.array([[50.0, 0.0], [0.0, 0.0]])
    low, high = stratified_limits(
        share, counts, np.array([100.0, 100.0]), (0, 1), delta=0.025, draws=4000, rng=rng
    )
    assert low == pytest.approx(0, abs=0.02)
    assert high >= 0.5


def test_strata_that_hold_one_kind_are_narrower_than_one_sample():
    rng = np.random.default_rng(0)
    options = {"delta": 0.025, "draws": 4000, "rng": rng}
    apart = stratified_limits(
        share, np.array([[20.0, 0], [0, 20.0]]), np.array([500.0, 500.0]), (0, 1), **options
    )
    together = stratified_limits(share, np.array([[20.0, 20.0]]), np.array([1000.0]), (0, 1),
                                 **options)  # fmt: skip
    assert apart[1] - apart[0] < 0.6 * (together[1] - together[0])


def test_the_public_pseudo_count_of_a_proportion():
    found = pseudo_count(lambda w: w[:, 0], [7, 13], size=1.0, n_resamples=40_000, rng=0)
    exact = clopper_pearson(7, 20)
    assert (found.lower, found.upper) == pytest.approx((exact.lower, exact.upper), abs=0.006)
    assert found.value == 0.35


@pytest.mark.parametrize("seed", range(2))
def test_of_many_cells_those_that_are_tried_are_the_outermost(seed):
    """Ten classes of which five count alike are two classes, all of whose cells are tried."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(25, rng.dirichlet(np.ones(10)), 6).astype(float)
    size = rng.integers(100, 2000, 6).astype(float)
    two = np.stack([counts[:, :5].sum(axis=1), counts[:, 5:].sum(axis=1)], axis=1)
    many, few = (
        stratified_limits(
            lambda t: t[:, :, t.shape[2] // 2 :].sum(axis=(1, 2)) / size.sum(), own, size, (0, 1),
            delta=0.025, draws=6000, rng=rng,
        )
        for own in (counts, two)
    )  # fmt: skip
    assert many == pytest.approx(few, abs=0.005)


@pytest.mark.slow
def test_strata_are_covered(fails):
    """250 samples notice .93 against .87: a rare class in four strata of very different size."""
    rng, runs, seen = np.random.default_rng(1), 250, 0
    sizes, rates = np.array([4000, 600, 300, 100]), np.array([0.002, 0.05, 0.3, 0.8])
    found = np.array([False, False, True, True])  # strata that are called positive

    def recall(tables):
        top = (tables[:, :, 1] * found).sum(axis=1)
        whole = tables[:, :, 1].sum(axis=1)
        return np.divide(top, whole, out=np.full(len(top), np.nan), where=whole > 0)

    for _ in range(runs):
        positives = rng.binomial(sizes, rates)
        truth = positives[found].sum() / positives.sum()
        got = rng.hypergeometric(positives, sizes - positives, 20)
        counts = np.stack([20 - got, got], axis=1).astype(float)
        low, high = stratified_limits(
            recall, counts, sizes.astype(float), (0, 1), delta=0.025, draws=600, rng=rng
        )
        seen += low <= truth <= high
    print(f"recall in strata: covered {seen / runs:.3f}")
    assert not fails(seen, runs, 0.93)
