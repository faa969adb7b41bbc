"""Items joined into cells: what stays exact, and a bound on what does not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.decisions.population import Population, compressed, order_of_many
from karat.decisions.rules import decide


def law(rng, n, k, *, calibrated=False, trees=None):
    """Draw a softmax law of three features, or a forest's votes, with labels or without."""
    power = rng.normal(size=(n, 3)) @ (2.0 * rng.normal(size=(3, k)))
    proba = np.exp(power - power.max(axis=1, keepdims=True))
    proba /= proba.sum(axis=1, keepdims=True)
    if trees is not None:
        proba = rng.multinomial(trees, proba) / trees
    y = (rng.random((n, 1)) > proba.cumsum(axis=1)).sum(axis=1).clip(max=k - 1)
    weight = rng.exponential(size=n)
    truth = proba if calibrated else np.eye(k)[y]
    return Population(proba, truth * (weight / weight.sum())[:, None])


def test_small_populations_are_left_alone(rng):
    for k in (2, 3):
        population = law(rng, 64, k)
        assert compressed(population, levels=6) is population
        assert compressed(population) is population
        assert order_of_many(population.proba) is None


@pytest.mark.parametrize("trees", [None, 100])
def test_two_classes_stay_exact(rng, trees):
    population = law(rng, 5000, 2, trees=trees)
    small = compressed(population, levels=6)
    assert len(small.proba) == len(np.unique(population.proba, axis=0))
    odds = small.proba[:, 1] / np.where(small.proba[:, 0] > 0, small.proba[:, 0], 1e-300)
    assert (np.diff(odds) <= 0).all()
    gains = rng.normal(size=(50, 2, 2))
    assert np.allclose(small.optimal(gains), population.optimal(gains), atol=1e-12)
    assert not small.doubtful(gains).any()
    a, b = small.thresholds, population.thresholds
    assert np.allclose(a.predicted[np.searchsorted(-a.log_ratios, -b.log_ratios)],
                       b.predicted[:-1], atol=1e-12)  # fmt: skip


def test_parts_of_sorted_rows_need_no_second_sort(rng):
    proba = law(rng, 70_000, 2).proba
    order = order_of_many(proba)
    assert order is not None
    assert order_of_many(proba[order]) is None
    assert order_of_many(proba[order][::1][rng.random(70_000) < 0.99]) is None


def test_few_different_rows_stay_exact(rng):
    """Ten trees say tenths: however many items there are, few rows differ."""
    population = law(rng, 20_000, 3, trees=10)
    small = compressed(population, levels=8)
    assert len(small.proba) <= 2**8
    assert small.low is None
    gains = rng.normal(size=(50, 3, 3))
    assert np.allclose(small.optimal(gains), population.optimal(gains), atol=1e-12)
    assert np.allclose(small.prior, population.prior, atol=1e-14)


def cells_of(population, small):
    """Return the cell whose box holds each item, and check that there is one."""
    inside = np.ones((len(population.proba), len(small.proba)), dtype=bool)
    for p, low, high in zip(population.proba.T, small.low.T, small.high.T, strict=True):
        inside &= (low <= p[:, None]) & (p[:, None] <= high)
    return inside


@pytest.mark.parametrize("k", [3, 4])
def test_cells_hold_as_many_items_each_and_all_of_them(rng, k):
    population = law(rng, 4000, k)
    small = compressed(population, levels=7)
    assert len(small.proba) == 2**7
    assert cells_of(population, small).any(axis=1).all()
    assert np.allclose(small.prior, population.prior, atol=1e-14)
    assert np.allclose(small.proba.sum(axis=1), 1.0)
    assert ((small.low <= small.proba) & (small.proba <= small.high)).all()
    sizes = cells_of(population, small).sum(axis=0)  # boxes may touch
    assert (sizes >= 4000 // 2**7).all()


@given(seed=st.integers(0, 2**32), k=st.integers(3, 5), calibrated=st.booleans())
@settings(max_examples=25, deadline=None)
def test_no_confusion_moves_by_more_than_the_doubtful_mass(seed, k, calibrated):
    """Rules of any sign, also those that ties with an item or with the mean of a cell make."""
    rng = np.random.default_rng(seed)
    population = law(rng, 1500, k, calibrated=calibrated)
    small = compressed(population, levels=6)
    gains = rng.normal(size=(40, k, k)) * 10.0 ** rng.uniform(-2, 2, (40, k, k))
    gains[20:] -= np.einsum("bii->bi", gains[20:])[:, :, None]  # errors alone count
    ties = population.proba[:10], small.proba[:10]
    for some, p in zip((gains[:10], gains[10:20]), ties, strict=True):
        scores = np.einsum("bi,bij->bj", p, some)
        some[:, :, 1] += (scores[:, 0] - scores[:, 1])[:, None]  # the first two are level there
    moved = np.abs(small.optimal(gains) - population.optimal(gains))
    assert (moved <= small.doubtful(gains)[:, :, None] + 1e-12).all()


def test_doubtful_mass_is_that_of_cells_with_items_of_both_sides(rng):
    """Never less than the cells that a rule does cut, and not much more."""
    population = law(rng, 3000, 3)
    small = compressed(population, levels=8)
    inside = cells_of(population, small)
    gains = rng.normal(size=(20, 3, 3))
    for rule, bound in zip(gains, small.doubtful(gains).sum(axis=1), strict=True):
        decided = decide(population.proba, rule)
        cut = [len(set(decided[items])) > 1 for items in inside.T]
        assert small.mass[cut].sum() <= bound + 1e-12
        assert bound < 0.25


def test_65_536_cells_move_confusions_by_less_than_labels_do(rng):
    """Labels of a million items leave a standard deviation of 5e-4 at most."""
    population = law(rng, 300_000, 3)
    small = compressed(population)
    assert 30_000 < len(small.proba) <= 65_536
    gains = -rng.exponential(size=(100, 3, 3)) * (1 - np.eye(3))
    moved = np.abs(small.optimal(gains) - population.optimal(gains))
    assert moved.max() < 5e-4
    assert np.median(moved.max(axis=(1, 2))) < 1e-4


@pytest.mark.parametrize("trees", [None, 30])
def test_the_order_of_items_makes_no_difference(rng, trees):
    """Also where many of them are level in some coordinate."""
    population = law(rng, 5000, 4, trees=trees)
    order = rng.permutation(5000)
    one = compressed(population, levels=7)
    two = compressed(Population(population.proba[order], population.mass[order]), levels=7)
    assert one.low is not None
    assert np.array_equal(one.low, two.low)
    assert np.array_equal(one.high, two.high)
    assert np.allclose(one.proba, two.proba, atol=1e-14)
    assert np.allclose(one.mass, two.mass, atol=1e-16)


def test_equal_items_are_in_one_cell(rng):
    proba = law(rng, 3000, 4, trees=12).proba
    rows, which = np.unique(proba, axis=0, return_inverse=True)
    small = compressed(Population(proba, np.eye(len(rows))[which.ravel()]), levels=6)
    assert small.low is not None
    assert ((small.mass > 0).sum(axis=0) == 1).all()


def test_cells_of_a_calibrated_law_are_calibrated(rng):
    small = compressed(law(rng, 5000, 3, calibrated=True), levels=6)
    assert small.low is not None
    assert small.calibrated


def test_items_without_mass_do_not_count(rng):
    population = law(rng, 3000, 3)
    mass = population.mass * (np.arange(3000) % 2)[:, None]
    some = Population(population.proba[1::2], population.mass[1::2])
    gains = rng.normal(size=(10, 3, 3))
    both = [
        compressed(p, levels=5).optimal(gains) for p in (Population(population.proba, mass), some)
    ]
    assert np.allclose(*both, atol=1e-14)


def test_many_classes_are_joined_too(rng):
    population = law(rng, 20_000, 10)
    small = compressed(population, levels=12)
    assert len(small.proba) == 2**12
    gains = -rng.exponential(size=(20, 10, 10)) * (1 - np.eye(10))
    assert np.abs(small.optimal(gains) - population.optimal(gains)).max() < 0.01
