"""Moves on partitions against the exact posterior of a few items, by enumeration."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import gammaln

from karat.consensus.sampling._arrays import row_layout
from karat.consensus.sampling._gibbs_loops import count_rows
from karat.consensus.sampling._partition_loops import (
    concentration,
    draw_rows,
    gain,
    log_gamma,
    pick,
    reassign,
    split_or_merge,
)
from karat.consensus.sampling._pooled_loops import local_concentration

PRIOR = np.array([[1.0, 2.0], [0.7, 1.4]])
# Two items that are alike, two that are not; votes enough to tell, not to be sure.
COUNTS = np.array(
    [[[1, 6], [2, 3]], [[2, 7], [1, 4]], [[5, 2], [0, 3]], [[3, 3], [4, 1]]], dtype=float
)
STRENGTH = 1.3
CHAINS, STEPS = 2000, 8
# Dead items lie between the living, as empty tables do between the others.
PLACES = {"all": np.arange(4), "some": np.array([1, 2, 4, 6])}


def evidence(prior, counts):
    """Return the log-probability of counts in Dirichlet rows, without the order of the votes."""
    added = gammaln(prior.sum(axis=-1)) - gammaln((prior + counts).sum(axis=-1))
    return float((added + (gammaln(prior + counts) - gammaln(prior)).sum(axis=-1)).sum())


def partitions(n):
    """Return all partitions of n items, clusters numbered as they appear."""
    found = [[0]]
    for _ in range(n - 1):
        found = [[*z, k] for z in found for k in range(max(z) + 2)]
    return [tuple(z) for z in found]


def canonical(labels):
    numbers = {}
    return tuple(numbers.setdefault(int(k), len(numbers)) for k in labels)


def exact_posterior():
    logs = []
    for z in partitions(4):
        value = 0.0
        for k in range(max(z) + 1):
            inside = [i for i in range(4) if z[i] == k]
            value += math.log(STRENGTH) + gammaln(len(inside))
            value += evidence(PRIOR, COUNTS[inside].sum(axis=0))
        logs.append(value)
    share = np.exp(np.array(logs) - max(logs))
    return share / share.sum()


def state_of(z, places):
    """Return stats, alive, member, size and total of a partition of the items in their places."""
    n = int(places.max()) + 1
    counts = np.full((n, *PRIOR.shape), 99.0)  # of the dead, which nobody may read
    counts[places] = COUNTS
    member = np.full(n, -7)
    member[places] = z
    size, total = np.zeros(5, dtype=np.int64), np.zeros((5, *PRIOR.shape))
    for i, k in enumerate(z):
        size[k] += 1
        total[k] += COUNTS[i]
    return counts, places, member, size, total


def moved(move, z, places, rng, steps):
    counts, alive, member, size, total = state_of(z, places)
    for _ in range(steps):
        move(rng, counts, alive, 4, PRIOR, STRENGTH, member, size, total)
    return member, size, total


def chi_square(drawn, exact):
    """Return the p-value of partitions drawn independently, rare ones in one bin."""
    place = {z: i for i, z in enumerate(partitions(4))}
    seen = np.bincount([place[canonical(z)] for z in drawn], minlength=len(exact))
    expected = exact * len(drawn)
    rare = expected < 10
    seen, expected = seen[~rare], expected[~rare]
    rest = len(drawn) - seen.sum(), len(drawn) - expected.sum()
    if rest[1] > 5:
        seen, expected = np.append(seen, rest[0]), np.append(expected, rest[1])
    else:
        expected *= seen.sum() / expected.sum()
    return stats.chisquare(seen, expected).pvalue


@given(st.floats(1e-8, 1e7))
@settings(deadline=None)
def test_log_gamma_is_that_of_math(z):
    assert log_gamma(z) == pytest.approx(math.lgamma(z), rel=1e-10, abs=1e-10)


tables = st.lists(st.floats(0, 300), min_size=6, max_size=6).map(
    lambda cells: np.array(cells).reshape(2, 3)
)
WIDE = np.array([[1.0, 2.0, 0.5], [0.5, 0.5, 2.0]])


@given(base=tables, first=tables, second=tables)
@settings(deadline=None)
def test_gain_is_a_ratio_of_dirichlet_multinomials_and_adds_up(base, first, second):
    found = gain(WIDE, base, first)
    exact = evidence(WIDE, base + first) - evidence(WIDE, base)
    assert found == pytest.approx(exact, rel=1e-9, abs=1e-7)
    in_turn = found + gain(WIDE, base + first, second)
    assert in_turn == pytest.approx(gain(WIDE, base, first + second), rel=1e-9, abs=1e-7)


def test_pick_follows_the_logits(rng):
    logits = np.array([-1e4, -9999.0, -10001.0, 5e5])  # the last is beyond n
    seen = np.bincount([pick(rng, logits, 3) for _ in range(20_000)], minlength=3)
    share = np.exp(logits[:3] + 9999)
    assert stats.chisquare(seen, share / share.sum() * 20_000).pvalue > 0.001


def test_rows_are_drawn_from_their_posterior(rng):
    rows = np.empty((8000, *PRIOR.shape))
    for row in rows:
        draw_rows(rng, PRIOR, COUNTS[0], row)
    np.testing.assert_allclose(rows.sum(axis=2), 1)
    for r in range(2):
        exact = stats.beta(*(PRIOR[r] + COUNTS[0, r]))
        assert stats.kstest(rows[:, r, 0], exact.cdf).pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("move", [reassign, split_or_merge], ids=["reassign", "split or merge"])
def test_a_move_leaves_the_posterior_as_it_is(move, where, rng):
    exact = exact_posterior()
    every = partitions(4)
    starts = rng.choice(len(every), 12_000, p=exact)
    places = PLACES[where]
    drawn = [moved(move, every[s], places, rng, 1)[0][places] for s in starts]
    assert chi_square(drawn, exact) > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("start", [(0, 0, 0, 0), (0, 1, 2, 3)], ids=["together", "alone"])
@pytest.mark.parametrize("move", [reassign, split_or_merge], ids=["reassign", "split or merge"])
def test_a_move_repeated_reaches_the_posterior(move, start, rng):
    """Each move by itself leads from any partition to any other; many short chains are enough."""
    steps = STEPS if move is reassign else 6 * STEPS  # of which two thirds change nothing
    drawn = [moved(move, start, PLACES["all"], rng, steps)[0] for _ in range(CHAINS)]
    assert chi_square(drawn, exact_posterior()) > 0.001


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("move", [reassign, split_or_merge], ids=["reassign", "split or merge"])
def test_clusters_are_kept_in_the_books(move, where, rng):
    places = PLACES[where]
    for z in partitions(4):
        member, size, total = moved(move, z, places, rng, 5)
        _, _, again, expected, counts = state_of(member[places], places)
        np.testing.assert_array_equal(member, again)
        np.testing.assert_array_equal(size, expected)
        np.testing.assert_allclose(total, counts, atol=1e-9)


def test_one_item_or_none_neither_splits_nor_merges(rng):
    for n in (0, 1):
        counts, alive, member, size, total = state_of((0, 0, 0, 0), PLACES["all"])
        found = split_or_merge(rng, counts, alive, n, PRIOR, STRENGTH, member, size, total)
        assert not found
        assert (member == 0).all()


def grid_distribution(log_density):
    """Return the distribution function of a density on the positive numbers, from a fine grid."""
    grid = np.exp(np.linspace(-14, 6, 40_001))
    log = log_density(grid) + np.log(grid)  # even steps of the logarithm
    mass = np.exp(log - log.max())
    return lambda x: np.interp(x, grid, np.cumsum(mass) / mass.sum())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clusters", "items", "shape", "rate"),
    [(1, 1, 1, 1), (1, 12, 1, 1), (5, 12, 1, 1), (12, 12, 1, 1), (3, 40, 2.5, 0.5)],
)
def test_concentration_is_drawn_from_its_posterior(clusters, items, shape, rate, rng):
    def log_density(a):
        prior = (shape - 1) * np.log(a) - rate * a
        return prior + clusters * np.log(a) + gammaln(a) - gammaln(a + items)

    drawn = np.empty(2000)
    for i in range(len(drawn)):
        value = 1.0
        for _ in range(10):
            value = concentration(rng, value, clusters, items, shape, rate)
        drawn[i] = value
    assert stats.kstest(drawn, grid_distribution(log_density)).pvalue > 0.001


def test_concentration_of_no_items_is_that_of_the_prior(rng):
    drawn = [concentration(rng, 1.0, 0, 0, 2.0, 3.0) for _ in range(4000)]
    assert stats.kstest(drawn, stats.gamma(2, scale=1 / 3).cdf).pvalue > 0.001


@pytest.mark.slow
def test_concentration_of_tables_is_drawn_from_its_posterior(rng):
    present = np.ones((4, 6), dtype=np.int64)
    present[1, 3:] = present[3] = 0  # 6, 3, 6 and no voters
    tables, hyper = 7, np.array([1.0, 1.0])

    def log_density(a):
        value = tables * np.log(a) - a
        return value + sum(gammaln(a) - gammaln(a + n) for n in (6, 3, 6))

    drawn = np.empty(2000)
    for i in range(len(drawn)):
        value = 1.0
        for _ in range(10):
            value = local_concentration(rng, value, tables, present, hyper)
        drawn[i] = value
    assert stats.kstest(drawn, grid_distribution(log_density)).pvalue > 0.001


@pytest.mark.parametrize("symmetric", [True, False])
def test_counts_do_not_depend_on_what_the_memory_held(symmetric, rng):
    """Zero times whatever fresh memory holds may be NaN, for ever."""
    counts = rng.integers(0, 5, (2 * 3, 2)).astype(float)  # two voters, three outcomes
    shape = (2, 2, 2) if symmetric else (2, 2, 3)
    prior = np.ones((1, 2)) if symmetric else np.ones((2, 3))
    layout = row_layout(prior, 3, np.arange(2), symmetric=symmetric)
    found = [np.zeros(shape), np.full(shape, np.nan)]
    for each in found:
        count_rows(counts, layout, each)
    np.testing.assert_array_equal(*found)
