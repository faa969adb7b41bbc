"""Summaries of drawn partitions against their definitions, and what is told of them."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from karat._result import Estimate
from karat.consensus import ErrorEstimator
from karat.consensus._fitting import best_partition, certainty, same_label_pairs, shared_probability
from karat.consensus.result import CoClustering

mpl.use("Agg")

drawn_partitions = st.tuples(st.integers(1, 25), st.integers(1, 7)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 4))
)


def together(labels):
    return np.asarray(labels)[:, None] == np.asarray(labels)


@given(drawn_partitions)
@settings(deadline=None)
def test_the_best_partition_has_the_least_binder_loss(members):
    pairs = np.array([together(z) for z in members])
    loss = [(pairs != one).sum(axis=(1, 2)).mean() for one in pairs]
    best = best_partition(members)
    assert (pairs == together(best)).all(axis=(1, 2)).any()  # it is one of the draws
    assert (pairs != together(best)).sum(axis=(1, 2)).mean() == pytest.approx(min(loss))
    sizes = np.bincount(best)
    assert (sizes > 0).all()
    assert (np.diff(sizes) <= 0).all()  # the largest first


@given(drawn_partitions)
@settings(deadline=None)
def test_probability_and_certainty_are_shares_of_draws(members):
    probability = shared_probability(members)
    np.testing.assert_allclose(probability, np.mean([together(z) for z in members], axis=0))
    labels = best_partition(members)
    sure = certainty(members, labels)
    for i, k in enumerate(labels):
        others = [j for j in range(len(labels)) if labels[j] == k and j != i]
        expected = np.mean(probability[i, others]) if others else 1.0
        assert sure[i] == pytest.approx(expected)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=9), st.sampled_from([1, 7, 10**6]))
def test_pairs_are_counted_whatever_the_numbers_of_the_clusters(labels, step):
    assert same_label_pairs(np.array(labels) * step) == together(labels).sum()


def test_a_clear_partition_is_found_among_many_draws(rng):
    truth = np.repeat([2, 0, 1], [5, 3, 2])
    members = np.tile(truth, (3000, 1))
    members[np.arange(3000), rng.integers(0, 10, 3000)] = 7  # one item astray in every draw
    members[::3] = truth
    np.testing.assert_array_equal(best_partition(members), np.repeat([0, 1, 2], [5, 3, 2]))


def example(structure="coupled", n=4):
    labels = np.arange(n) // 3
    return CoClustering(
        structure=structure,
        names=tuple(f"$d_{i}$" for i in range(n)),
        labels=labels,
        certainty=np.linspace(1, 0.6, n),
        probability=together(labels) * 0.9,
        estimate=Estimate.of(2.2, 2.0, 3.0, 0.95, "model"),
        concentration=Estimate.of(*np.array([[0.8], [0.1], [2.0]]), 0.95, "model"),
    )


def test_summary_says_how_many_clusters():
    assert example().summary() == (
        "4 domains share error rates in 2 clusters (posterior mean 2.2, 95 %: 2 to 3); the largest "
        "has 3"
    )
    assert "4 voters in domains share" in example("hierarchical").summary()
    assert "in 1 cluster (" in example(n=3).summary()
    data = example().to_dict()
    assert data["labels"] == [0, 0, 0, 1]


@pytest.mark.parametrize("n", [1, 4, 60])
def test_the_picture_has_the_clusters_in_blocks(n):
    ax = example(n=n).plot()
    shown = ax.images[0].get_array()
    assert shown.shape == (n, n)
    assert len(ax.lines) == 2 * ((n - 1) // 3)
    assert len(ax.get_yticks()) == (n if n <= 40 else 0)
    assert ax.get_title() == {1: "1 cluster", 4: "2 clusters", 60: "20 clusters"}[n]
    mpl.pyplot.close(ax.figure)


def test_many_items_are_shown_by_the_sizes_of_their_clusters():
    ax = replace(example(n=7), probability=np.empty((0, 0))).plot()
    assert [bar.get_height() for bar in ax.patches] == [3, 3, 1]
    mpl.pyplot.close(ax.figure)


@pytest.mark.filterwarnings("ignore:votes do not identify")  # so few draws do not mix
@pytest.mark.parametrize("structure", ["coupled", "hierarchical"])
def test_the_answer_of_a_fit_is_consistent(structure, rng):
    y = rng.integers(0, 2, 240)
    votes = np.where(rng.random((240, 3)) < [0.1, 0.2, 0.3], 1 - y[:, None], y[:, None])
    domains = np.repeat(["a", "b", "c"], 80)
    est = ErrorEstimator(structure=structure, dependence="none", draws=50, chains=2, rng=0)
    found = est.fit(votes, domains).co_clustering_
    n = 3 if structure == "coupled" else 9
    assert found.structure == structure
    assert len(found.names) == len(found.labels) == len(found.certainty) == n
    assert found.probability.shape == (n, n)
    np.testing.assert_allclose(np.diag(found.probability), 1)
    np.testing.assert_allclose(found.probability, found.probability.T)
    assert (found.certainty >= 0).all()
    assert (found.certainty <= 1).all()
    assert found.concentration.value.shape == (1 if structure == "coupled" else 2,)
    mean, low, high = found.value, found.lower, found.upper
    # Counts are skewed: where 2 % of the draws have a second cluster, 1.02 lies above [1, 1].
    assert 1 <= low <= high <= n
    assert 1 <= mean <= n
    of = found.concentration
    for mean, low, high in zip(of.value, of.lower, of.upper, strict=True):
        assert 0 < low <= mean <= high
