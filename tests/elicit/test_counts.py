"""Whole counts: every number off by less than one case, every total kept."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.elicit import Query
from karat.elicit.counts import as_cases, whole_counts
from karat.elicit.transcript import looks_alike
from karat.exceptions import OptionError, ProbabilityError, ShapeError

NEAR = 1e-6  # counts that differ by less from a whole number are that number


def draw_pair(k, rng, groups=None, sparse=False):
    """Draw two confusions of the same classes (and groups): the rows have the same totals."""
    shape = (k,) if groups is None else (groups, k)
    prior = rng.dirichlet(np.ones(int(np.prod(shape)))).reshape(shape)
    sides = []
    for _ in range(2):
        table = rng.dirichlet(np.ones(k), shape)
        if sparse:
            table = np.where(rng.random(table.shape) < 0.4, 0.0, table) + 1e-12
            table = table / table.sum(axis=-1, keepdims=True)
        sides.append(prior[..., None] * table)
    return Query(*sides)


def rounded(whole, exact):
    return ((whole >= np.floor(exact + NEAR)) & (whole <= np.ceil(exact - NEAR))).all()


def assert_kept(query, out_of):
    """Check all that is promised of ``query.counts(out_of)``."""
    sides = query.counts(out_of)
    stacks = [side[None] if side.ndim == 2 else side for side in (query.first, query.second)]
    wholes = [side[None] if side.ndim == 2 else side for side in sides]
    for whole, stack in zip(wholes, stacks, strict=True):
        assert whole.dtype.kind == "i"
        exact = out_of * stack / stack.sum(axis=(1, 2), keepdims=True)
        assert rounded(whole, exact)
        assert rounded(whole.sum(axis=2), exact.sum(axis=2))
        assert rounded(whole.sum(axis=1), exact.sum(axis=1))
        assert (whole.sum(axis=(1, 2)) == out_of).all()
    np.testing.assert_array_equal(wholes[0].sum(axis=2), wholes[1].sum(axis=2))


def test_whole_counts_stay():
    first, second = np.array([[0.5, 0.1], [0.15, 0.25]]), np.array([[0.45, 0.15], [0.05, 0.35]])
    one, other = Query(first, second).counts(1000)
    np.testing.assert_array_equal(one, [[500, 100], [150, 250]])
    np.testing.assert_array_equal(other, [[450, 150], [50, 350]])


def test_rows_of_thirds_add_up():
    """1/9 of 100 each: eleven, and one cell of twelve, whose row and column hold one more."""
    one, other = Query(np.full((3, 3), 1 / 9), np.full((3, 3), 1 / 9)).counts(100)
    assert sorted(one.ravel().tolist()) == [11] * 8 + [12]
    np.testing.assert_array_equal(one, other)


def test_rows_that_cannot_be_rounded_one_by_one():
    """Two halves in each column: rounding both rows up would make a column of 2 of one of 1."""
    first = np.array([[0.5, 0, 0], [0.5, 0, 0], [0, 1.0, 0]])
    second = np.array([[0.5, 0, 0], [0, 0.5, 0], [0, 0, 1.0]])
    one, other = whole_counts(first, second)
    np.testing.assert_array_equal(one.sum(axis=0), [1, 1, 0])
    np.testing.assert_array_equal(one.sum(axis=1), other.sum(axis=1))


@given(k=st.integers(2, 5), seed=st.integers(0, 10**6), out_of=st.sampled_from([1, 7, 100, 10**4]),
       groups=st.sampled_from([None, 1, 3]), sparse=st.booleans())  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_everything_is_kept(k, seed, out_of, groups, sparse):
    query = draw_pair(k, np.random.default_rng(seed), groups, sparse)
    assert_kept(query, out_of)
    first, second = query.counts(out_of)
    other, one = query.swapped.counts(out_of)
    np.testing.assert_array_equal(first, one)
    np.testing.assert_array_equal(second, other)


@given(k=st.integers(2, 4), seed=st.integers(0, 10**6), out_of=st.sampled_from([3, 100, 1000]))
@settings(max_examples=60, deadline=None)
def test_equal_sides_are_shown_alike(k, seed, out_of):
    rng = np.random.default_rng(seed)
    table = draw_pair(k, rng).first
    halves = np.round(4 * k * k * table) / np.round(4 * k * k * table).sum()  # many ties
    for side in (table, halves):
        first, second = Query(side, side + 1e-16).counts(out_of)
        np.testing.assert_array_equal(first, second)
        assert looks_alike(Query(side, side), out_of)


def brute_force(first, second):
    """Return the least sum of squared changes of all roundings that keep every total."""
    sides = []
    for table in (first, second):
        choices = [range(int(np.floor(x)), int(np.ceil(x)) + 1) for x in table.ravel()]
        found = {}
        for cells in product(*choices):
            whole = np.array(cells).reshape(table.shape)
            if whole.sum() != round(table.sum()):
                continue
            if not (rounded(whole.sum(1), table.sum(1)) and rounded(whole.sum(0), table.sum(0))):
                continue
            rows = tuple(whole.sum(axis=1).tolist())
            found[rows] = min(found.get(rows, np.inf), ((whole - table) ** 2).sum())
        sides.append(found)
    return min(sides[0][rows] + sides[1][rows] for rows in sides[0].keys() & sides[1].keys())


@pytest.mark.parametrize("seed", range(40))
def test_it_is_the_nearest_rounding_that_keeps_everything(seed):
    """Against every rounding of both tables: 2⁹ each for three classes."""
    rng = np.random.default_rng(seed)
    query = draw_pair(2 + seed % 2, rng, sparse=seed % 4 > 1)
    first, second = (as_cases(side, 20) for side in (query.first, query.second))
    one, other = whole_counts(first, second)
    change = ((one - first) ** 2).sum() + ((other - second) ** 2).sum()
    # Ties are broken by amounts that nobody sees.
    assert change == pytest.approx(brute_force(first, second), abs=2e-3)


def test_sides_whose_classes_are_not_equally_frequent():
    """Two samples: each side is rounded by itself."""
    first, second = np.array([[0.51, 0.1], [0.14, 0.25]]), np.array([[0.2, 0.2], [0.2, 0.4]])
    one, other = Query(first, second).counts(10)
    for whole, side in ((one, first), (other, second)):
        assert rounded(whole, 10 * side)
        assert rounded(whole.sum(axis=1), 10 * side.sum(axis=1))
        assert whole.sum() == 10


def test_each_group_is_shown_for_as_many_cases():
    small, large = np.array([[0.05, 0.0], [0.02, 0.03]]), np.array([[0.4, 0.1], [0.1, 0.3]])
    first, second = Query(np.stack([small, large]), np.stack([small, large])).counts(100)
    np.testing.assert_array_equal(first[0], [[50, 0], [20, 30]])
    assert first.sum(axis=(1, 2)).tolist() == second.sum(axis=(1, 2)).tolist() == [100, 100]


def test_what_looks_alike():
    first = np.array([[0.5, 0.1], [0.15, 0.25]])
    near = first + 1e-4 * np.array([[1, -1], [1, -1]])
    assert looks_alike(Query(first, near), 1000)
    assert not looks_alike(Query(first, near), 10_000)
    assert not looks_alike(Query(first, first[::-1].copy()), 10)
    groups = Query(np.stack([first / 2, first / 2]), np.stack([first / 2, near / 2]))
    assert looks_alike(groups, 100)
    assert not looks_alike(groups, 10_000)


@given(k=st.integers(2, 4), seed=st.integers(0, 10**6), step=st.floats(0, 4))
@settings(max_examples=100, deadline=None)
def test_alike_means_the_same_counts(k, seed, step):
    """The short way to tell sides apart agrees with counting."""
    rng = np.random.default_rng(seed)
    query = draw_pair(k, rng)
    share = min(step / (100 * np.abs(query.first - query.second).max()), 1.0)
    near = Query(query.first, (1 - share) * query.first + share * query.second)
    first, second = near.counts(100)
    assert looks_alike(near, 100) == np.array_equal(first, second)


def test_confusions_that_cannot_be_shown():
    table = np.full((2, 2), 0.25)
    with pytest.raises(ShapeError, match=r"shapes \(2, 2\) and \(3, 3\)"):
        Query(table, np.full((3, 3), 1 / 9)).counts(10)
    with pytest.raises(ProbabilityError, match="holds no cases"):
        Query(np.stack([table, 0 * table]), np.stack([table, 0 * table])).counts(10)
    with pytest.raises(ProbabilityError, match="divide them by their sum"):
        Query(100 * table, 100 * table).counts(10)
    with pytest.raises(OptionError, match="out_of is 0"):
        looks_alike(Query(table, table), 0)


@pytest.mark.parametrize("kind", ["question", "dominated", "repeat"])
def test_the_kind_of_a_query(kind):
    first, second = np.full((2, 2), 0.25), np.diag([0.5, 0.5])
    query = Query(first, second, kind=kind)
    assert query.swapped.kind == kind
    assert query.swapped.swapped == query
    assert (query == Query(first, second)) == (kind == "question")
    with pytest.raises(OptionError, match="kind is 'trick'; expected 'question', 'dominated' or"):
        Query(first, second, kind="trick")
