"""Confusions of cost-sensitive classifiers against loops over single items."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.decisions.populations import Population, compressed, upper_hull
from karat.metrics import LinearMetric


def dyadic(rng, n, k):
    """Draw a population in eighths, so that sums are exact and ties are real ties."""
    proba = rng.multinomial(8, np.full(k, 1 / k), n) / 8
    return Population(proba, rng.integers(0, 4, (n, k)) / 64)


def decide(row, weights):
    """Return the class of greatest expected gain, the later one of equals."""
    k = len(row)
    gains = [sum(row[i] * weights[i, j] for i in range(k)) for j in range(k)]
    return max(j for j in range(k) if gains[j] == max(gains))


@given(seed=st.integers(0, 2**32), k=st.integers(2, 4), n=st.integers(1, 40))
@settings(max_examples=50, deadline=None)
def test_optimal_equals_a_loop_over_items_ties_included(seed, k, n):
    rng = np.random.default_rng(seed)
    population = dyadic(rng, n, k)
    weights = rng.integers(-2, 3, (5, k, k)).astype(float)
    found = population.optimal(weights)
    for table, w in zip(found, weights, strict=True):
        expected = np.zeros((k, k))
        for row, mass in zip(population.proba, population.mass, strict=True):
            expected[:, decide(row, w)] += mass
        assert np.array_equal(table, expected)


def test_blocks_do_not_show(rng):
    population, weights = dyadic(rng, 50, 3), rng.normal(size=(23, 3, 3))
    whole = population.optimal(weights)
    assert np.array_equal(population.optimal(weights, entries=1000), whole)


def test_optimal_agrees_with_the_metric_s_own_classifier(rng):
    """`metric.bayes_classifier()` is what is deployed: it must decide as the space counts."""
    population = dyadic(rng, 60, 3)
    weights = rng.integers(-3, 4, (20, 3, 3)).astype(float)
    for table, w in zip(population.optimal(weights), weights, strict=True):
        decided = LinearMetric(w).bayes_classifier().predict(population.proba)
        assert np.allclose(population.confusion(decided), table, atol=1e-15)


def test_confusion_counts_masses(rng):
    population = dyadic(rng, 30, 3)
    decisions = rng.integers(0, 3, 30)
    expected = np.zeros((3, 3))
    for decision, mass in zip(decisions, population.mass, strict=True):
        expected[:, decision] += mass
    assert np.array_equal(population.confusion(decisions), expected)
    assert np.array_equal(population.prior, expected.sum(axis=1))


def test_small_populations_are_left_alone(rng):
    population = dyadic(rng, 30, 3)
    assert compressed(population) is population


def test_compressed_keeps_priors_and_the_confusions_of_cells(rng):
    n, k = 25_000, 3
    proba = rng.dirichlet(np.ones(k), n)
    population = Population(proba, np.eye(k)[rng.integers(0, k, n)] * rng.random((n, 1)) / n)
    small = compressed(population, 15_000)
    assert len(small.proba) <= 15_000
    assert np.allclose(small.prior, population.prior, rtol=1e-12)
    assert np.allclose(small.proba.sum(axis=1), 1)
    # The cells, once more: items whose logarithms agree to five hundredths.
    cells: dict[tuple, list[int]] = {}
    for at, row in enumerate(np.round(np.log(np.clip(proba, 1e-9, None)) / 0.05)):
        cells.setdefault(tuple(row), []).append(at)
    assert len(cells) == len(small.proba)
    of_item = np.empty(n, dtype=int)
    order = {tuple(np.round(row, 9)): at for at, row in enumerate(small.proba)}
    for members in cells.values():
        of_item[members] = order[tuple(np.round(proba[members].mean(axis=0), 9))]
    weights = rng.normal(size=(5, k, k))
    for table, w in zip(small.optimal(weights), weights, strict=True):
        decided = np.array([np.argmax(row @ w) for row in small.proba])
        assert np.allclose(table, population.confusion(decided[of_item]), atol=1e-12)


def test_rare_classes_keep_their_order(rng):
    """All scores below 1 in 20,000, and still a threshold separates."""
    score = np.sort(rng.uniform(0, 4e-5, 60_000))
    proba = np.column_stack([1 - score, score])
    y = np.arange(60_000) > 59_900
    population = compressed(Population(proba, np.eye(2)[y.astype(int)] / 60_000))
    assert len(population.proba) == 60_000
    three = np.column_stack([1 - 2 * score, score, score[::-1]])
    assert len(compressed(Population(three, three / 60_000)).proba) > 500


@pytest.mark.parametrize("k", [2, 3])
def test_compressed_boundaries_stay_close(rng, k):
    """A cell of four digits moves no confusion by more than the items at the cut."""
    n = 30_000
    proba = rng.dirichlet(np.ones(k), n)
    population = Population(proba, proba / n)
    weights = rng.normal(size=(10, k, k))
    small = compressed(population, 20_000)
    gain = np.einsum("bij,bij->b", weights, population.optimal(weights))
    coarse = np.einsum("bij,bij->b", weights, small.optimal(weights))
    assert (coarse <= gain + 1e-12).all()
    assert (gain - coarse).max() < 1e-3


def test_many_classes_are_joined_as_far_as_it_goes(rng):
    """Ten classes: the cells may be as many as the items, and nothing is lost."""
    proba = rng.dirichlet(np.full(10, 0.5), 30_000)
    small = compressed(Population(proba, proba / 30_000))
    assert len(small.proba) <= 30_000
    assert np.allclose(small.prior, proba.mean(axis=0))


@given(seed=st.integers(0, 2**32), n=st.integers(2, 30), groups=st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_best_of_two_classes_is_the_best_of_all_thresholds(seed, n, groups):
    """In both senses, whatever the gains, ties and groups that the rule does not see included."""
    rng = np.random.default_rng(seed)
    second = rng.integers(0, 9, n) / 8
    population = Population(
        np.column_stack([1 - second, second]), rng.integers(0, 4, (n, 2 * groups)) / 64
    )
    gains = rng.normal(size=(6, 2 * groups, 2))
    rules, tables = population.best(gains)
    cuts = [*np.unique(second), np.inf]
    said = [s for c in cuts for s in (second >= c, second < c)]
    for gain, rule, table in zip(gains, rules, tables, strict=True):
        values = [np.sum(gain * population.confusion(s.astype(int))) for s in said]
        assert np.sum(gain * table) == pytest.approx(max(values), abs=1e-12)
        decided = np.array([decide(row, rule) for row in population.proba])
        assert np.allclose(population.confusion(decided), table, atol=1e-12)


@given(seed=st.integers(0, 2**32), n=st.integers(1, 40))
@settings(max_examples=80, deadline=None)
def test_upper_hull_equals_a_loop(seed, n):
    """Andrew's monotone chain, point by point; steps that gain nothing or lose nothing included."""
    rng = np.random.default_rng(seed)
    steps = np.vstack([[0, 0], rng.integers(0, 4, (n, 2)) / 64]).cumsum(axis=0)
    points = np.column_stack([steps[:, 0], steps[-1, 1] - steps[:, 1]])
    kept = []
    for at, (x, y) in enumerate(points):
        while len(kept) >= 2:
            (x0, y0), (x1, y1) = points[kept[-2]], points[kept[-1]]
            if (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) < -1e-15:
                break
            kept.pop()
        kept.append(at)
    assert np.allclose(points[upper_hull(points)], points[kept], atol=1e-12)
