"""Confusions of cost-sensitive classifiers against loops over single items."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.decisions.population import Population, upper_hull
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
    """More rules and more items than are looked at together."""
    population, weights = dyadic(rng, 5000, 3), rng.normal(size=(70, 3, 3))
    whole = population.optimal(weights)
    for some in (slice(0, 1), slice(30, 70)):
        assert np.array_equal(population.optimal(weights[some]), whole[some])
    halves = [Population(population.proba[h], population.mass[h]) for h in np.s_[:700, 700:]]
    assert np.array_equal(sum(half.optimal(weights) for half in halves), whole)


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


def test_priors_of_many_equal_masses_are_not_rounded_away():
    """Ten million times 1e-7, added one by one, would miss 1 by 1e-10; in pairs, by 2e-14."""
    mass = np.full((10_000_000, 1), 1e-7)
    assert Population(mass, mass).prior == pytest.approx([1.0], abs=1e-13)


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


@given(
    seed=st.integers(0, 2**32),
    n=st.integers(1, 60),
    groups=st.integers(1, 2),
    better=st.sampled_from([-1, 0, 1]),
)
@settings(max_examples=60, deadline=None)
def test_best_gains_as_much_as_the_best_of_all_positions(seed, n, groups, better):
    """Whichever way the scores lean: good ones, useless ones, and the wrong way round."""
    rng = np.random.default_rng(seed)
    second = rng.random(n)
    chance = 0.5 + 0.5 * better * (second - 0.5)
    y = (rng.random(n) < chance).astype(int)
    mass = np.zeros((n, groups, 2))
    mass[np.arange(n), rng.integers(0, groups, n), y] = rng.random(n)
    population = Population(np.column_stack([1 - second, second]), mass.reshape(n, -1))
    gains = rng.normal(size=(20, 2 * groups, 2))
    tables = population.best(gains).confusions
    curve = population.thresholds.predicted
    sides = np.stack([curve[-1] - curve, curve], axis=2)
    every = np.concatenate([sides, sides[:, :, ::-1]])
    most = np.einsum("bij,pij->bp", gains, every).max(axis=1)
    assert np.allclose(np.einsum("bij,bij->b", gains, tables), most, atol=1e-12)


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
