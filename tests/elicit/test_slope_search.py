"""Slopes found by questions, and the null vectors that they lead to."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.elicit.search import (
    Site,
    find_slope,
    informative_places,
    null_vectors,
    off_slope,
    site_brackets,
    slope_of,
    trace_slope,
)

SEEDS = st.integers(0, 2**32)


# --- kernels


@given(seed=SEEDS, size=st.integers(1, 30), noise=st.sampled_from([0.0, 1e-6, 1e-3, 1.0]))
@settings(max_examples=40, deadline=None)
def test_null_vectors_are_the_last_of_a_decomposition(seed, size, noise):
    """Whatever the scale; as far as the least singular value stands apart from the next."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(3, size + 4, size))
    null = rng.normal(size=(3, size))
    null /= np.linalg.norm(null, axis=1, keepdims=True)
    rows -= (rows @ null[:, :, None]) * null[:, None, :]
    rows = (rows + noise * rng.normal(size=rows.shape)) * 10.0 ** rng.integers(-4, 4)
    found = null_vectors(rows)
    assert np.allclose(np.linalg.norm(found, axis=1), 1)
    for matrix, vector in zip(rows, found, strict=True):
        singular, right = np.linalg.svd(matrix)[1:]
        # Five iterations shrink what is foreign by the fifth power of this ratio's square.
        if size == 1 or singular[-1] < 0.3 * singular[-2]:
            assert abs(vector @ right[-1]) == pytest.approx(1, abs=1e-5)
        if noise == 0:
            assert np.linalg.norm(matrix @ vector) <= 1e-6 * max(singular[0], 1e-300)


@given(seed=SEEDS, q=st.integers(1, 8), size=st.integers(1, 12), own=st.booleans())
@settings(max_examples=30, deadline=None)
def test_outside_is_what_is_left_of_the_matrix(seed, q, size, own):
    rng = np.random.default_rng(seed)
    slopes = rng.normal(size=(4, q))
    slopes /= np.linalg.norm(slopes, axis=1, keepdims=True)
    slopes[0] = 0.0  # a flat place: all of the gradient is off_slope
    design = rng.normal(size=(4, q, size) if own else (q, size))
    found = off_slope(slopes, design)
    for i, f in enumerate(slopes):
        matrix = design[i] if own else design
        assert np.allclose(found[i], (np.eye(q) - np.outer(f, f)) @ matrix)
    assert np.allclose(np.einsum("nq,nqd->nd", slopes[1:], found[1:]), 0, atol=1e-12)


@given(seed=SEEDS, places=st.integers(1, 12), rows=st.integers(1, 3), size=st.integers(1, 3),
       n=st.integers(1, 14))  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_places_are_chosen_one_by_one_for_the_greatest_determinants(seed, places, rows, size, n):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(places, rows, size))
    chosen = informative_places(features, n).tolist()
    assert len(chosen) == min(n, places) == len(set(chosen))

    def determinants(some):
        inside = 1e-6 * np.eye(size) + np.einsum("crd,cre->rde", features[some], features[some])
        return np.linalg.slogdet(inside)[1].sum()

    for count in range(len(chosen)):
        rest = [i for i in range(places) if i not in chosen[:count]]
        best = max(determinants([*chosen[:count], i]) for i in rest)
        assert determinants(chosen[: count + 1]) >= best - 1e-6
    # A place that must be among them is the first.
    last = places - 1
    assert informative_places(features, n, first=(last,))[0] == last


def test_the_first_of_equal_places_is_chosen():
    """Copies add little: all kinds come before the second of any."""
    features = np.repeat(np.eye(3)[:, None, :], 4, axis=0)
    assert informative_places(features, 3).tolist() == [0, 4, 8]


# --- a slope by questions


def straight_site(width, *, dim=None, sign=1, positive=False):
    return Site(lambda offset: offset, width, dim or width, sign, positive)


def answered(steps, value, tie=1e-13):
    """Answer by a function of one side; return how many questions there were."""
    count = 0
    try:
        query = next(steps)
        while True:
            count += 1
            assert not query.identical
            assert np.linalg.norm(query.first) <= 1 + 1e-12
            assert np.linalg.norm(query.second) <= 1 + 1e-12
            gap = value(query.first) - value(query.second)
            query = steps.send("tie" if abs(gap) <= tie else "first" if gap > 0 else "second")
    except StopIteration:
        return count


@pytest.mark.parametrize("sign", [1, -1])
@given(seed=SEEDS, width=st.integers(2, 7))
@settings(max_examples=20, deadline=None)
def test_a_slope_of_any_signs_is_found_by_one_sweep(sign, seed, width):
    """Within half a width for each angle, of one question a halving and one for a sign."""
    true = np.random.default_rng(seed).normal(size=width)
    true /= np.linalg.norm(true)
    sites, tol = [straight_site(3), straight_site(width, sign=sign)], 1e-3
    brackets = site_brackets(sites)
    assert len(brackets.low) == 2 + width - 1
    count = answered(find_slope(brackets, sites, 1, tol), lambda x: sign * (true @ x))
    halvings = int(np.ceil(np.log2(np.pi / tol)))
    assert count == 1 + (width - 1) * halvings
    found = slope_of(brackets.middle[None], brackets, sites, 1)[0]
    assert np.linalg.norm(found - true) <= np.sqrt(width - 1) * tol / 2 + 1e-5
    # What was said of one place says nothing of another.
    assert np.array_equal(brackets.answered[:2], np.zeros((2, 2)))


@given(seed=SEEDS, width=st.integers(2, 6))
@settings(max_examples=15, deadline=None)
def test_a_slope_without_negative_entries_takes_a_halving_less(seed, width):
    true = np.abs(np.random.default_rng(seed).normal(size=width)) + 1e-3
    true /= np.linalg.norm(true)
    sites, tol = [straight_site(width, positive=True)], 1e-3
    brackets = site_brackets(sites)
    count = answered(find_slope(brackets, sites, 0, tol), lambda x: true @ x)
    assert count == 1 + (width - 1) * int(np.ceil(np.log2(np.pi / 2 / tol)))
    found = slope_of(brackets.middle[None], brackets, sites, 0)[0]
    assert np.linalg.norm(found - true) <= np.sqrt(width - 1) * tol / 2 + 1e-5


def test_a_bend_does_not_matter_to_opposite_points():
    """``φ(u) − φ(−u)`` of a quadratic is its slope, however much it bends."""
    rng = np.random.default_rng(0)
    true, bend = rng.normal(size=4), 50 * rng.normal(size=(4, 4))
    found = []
    for curve in (np.zeros((4, 4)), bend):
        sites = [straight_site(4)]
        brackets = site_brackets(sites)
        answered(find_slope(brackets, sites, 0, 1e-3), lambda x, c=curve: true @ x + x @ c @ x)
        found.append(brackets.middle)
    assert np.array_equal(*found)


def test_zeros_are_seen_by_two_questions_if_many_are_expected():
    counts = {}
    for sparse in (False, True):
        sites = [straight_site(6)]
        brackets = site_brackets(sites)
        true = np.array([0, 0, 0.6, 0, 0, 0.8])
        counts[sparse] = answered(
            find_slope(brackets, sites, 0, 1e-3, sparse=sparse), lambda x, t=true: t @ x
        )
        found = slope_of(brackets.middle[None], brackets, sites, 0)[0]
        assert np.allclose(found, true, atol=2e-3)
    assert counts[True] <= counts[False] - 4 * 8


@given(seed=SEEDS)
@settings(max_examples=10, deadline=None)
def test_a_slope_in_a_known_plane_takes_one_angle(seed):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(6, 2)))[0]
    true = basis @ (lambda v: v / np.linalg.norm(v))(rng.normal(size=2))
    sites = [straight_site(6, dim=2)]
    brackets = site_brackets(sites)
    assert not slope_of(brackets.middle[None], brackets, sites, 0).any()  # no plane yet
    brackets.bases[0] = basis
    count = answered(find_slope(brackets, sites, 0, 1e-3), lambda x: true @ x)
    assert count == 1 + int(np.ceil(np.log2(np.pi / 1e-3)))
    found = slope_of(brackets.middle[None], brackets, sites, 0)[0]
    assert np.linalg.norm(found - true) <= 6e-4


@given(seed=SEEDS, width=st.integers(2, 4))
@settings(max_examples=10, deadline=None)
def test_the_published_asks_for_all_signs_and_then_in_cycles(seed, width):
    """``q + 4·cycles·(q−1)·⌈log₂(π/2/tol)⌉`` questions."""
    true = np.random.default_rng(seed).normal(size=width)
    true /= np.linalg.norm(true)
    sites, tol, cycles = [straight_site(width)], 0.01, 6
    brackets = site_brackets(sites)

    def near(x):  # the sphere around a far peak: as linear as a ball can be
        return true @ x

    count = answered(trace_slope(brackets, sites, 0, tol, cycles), near)
    assert count == width + 4 * cycles * (width - 1) * int(np.ceil(np.log2(np.pi / 2 / tol)))
    found = slope_of(brackets.middle[None], brackets, sites, 0)[0]
    assert np.linalg.norm(found - true) <= 0.05
    assert np.array_equal(np.sign(found), np.sign(true))


@pytest.mark.parametrize("positive", [False, True])
def test_a_flat_place_is_seen_and_left(positive):
    """Each axis is tried once, or the middle of the orthant alone."""
    sites = [straight_site(4, positive=positive), straight_site(4)]
    brackets = site_brackets(sites)
    assert answered(find_slope(brackets, sites, 0, 1e-3), lambda x: 0.0) == (1 if positive else 4)
    assert not slope_of(brackets.middle[None], brackets, sites, 0).any()
    assert slope_of(brackets.middle[None], brackets, sites, 1).any()
    fresh = site_brackets(sites)
    assert answered(trace_slope(fresh, sites, 0, 1e-3, 2), lambda x: 0.0) == (1 if positive else 4)
    assert not fresh.signs[0].any()


def test_a_last_entry_of_zero_is_no_flat_place():
    sites = [straight_site(3)]
    brackets = site_brackets(sites)
    true = np.array([0.6, -0.8, 0.0])
    answered(find_slope(brackets, sites, 0, 1e-3), lambda x: true @ x)
    found = slope_of(brackets.middle[None], brackets, sites, 0)[0]
    assert np.allclose(found, true, atol=2e-3)


def test_a_skipped_sign_is_asked_for_again_a_few_times():
    sites = [straight_site(2)]
    brackets = site_brackets(sites)
    steps = find_slope(brackets, sites, 0, 1e-3)
    asked = [next(steps), *(steps.send("skip") for _ in range(4))]
    same = [a == b for a, b in pairwise(asked)]
    assert same == [True, True, True, False]  # four times in all, then on
    assert brackets.signs[0].any()
