"""Linear-fractional metrics from two of their level sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from karat.elicit.families import RatioFamily
from karat.elicit.posterior import Brackets
from karat.elicit.search import (
    angles_of,
    direction,
    grid_ratio,
    level_set_normals,
    level_set_search,
    ratio_from_level_sets,
    two_centers,
)

NAMES = ["binary", "diagonal", "confusion", "rate"]


def ratio(p, u, top, points):
    """Return N / (N + M) with N = ⟨p, c⟩ and M = ⟨u, top − c⟩."""
    above = points @ p
    return above / (above + (top - points) @ u)


def level_set(p, u, top, at):
    """Return the normal of the level set through a point: the gradient, up to scale."""
    value = ratio(p, u, top, at)
    return p - value * (p - u)


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_two_exact_level_sets_give_the_order(name, seed, spaces, draw_confusions, ranks_alike):
    """Up to one free parameter, which changes no preference."""
    space, rng = spaces[name], np.random.default_rng(seed)
    p, u = np.abs(rng.normal(size=(2, space.dim)))
    points = space.coordinates(draw_confusions(space, 60, rng))
    best, worst, _ = two_centers(space)
    if space.sign < 0:
        best, worst = worst, best  # the greater ratio of errors
    upper, lower = (level_set(p, u, space.top, at) for at in (best, worst))
    found = ratio_from_level_sets(upper[None], best, lower[None], worst, space.top)[0]
    assert found.shape == (2 * space.dim,)
    assert (found > 0).all()
    true, again = ratio(p, u, space.top, points), ratio(*np.split(found, 2), space.top, points)
    assert ranks_alike(true, again)
    # The scale of a normal, and which of the two is called the upper one, are immaterial.
    other = ratio_from_level_sets(7 * lower[None], worst, 0.2 * upper[None], best, space.top)[0]
    assert ranks_alike(again, ratio(*np.split(other, 2), space.top, points))


def test_several_at_a_time(binary):
    rng = np.random.default_rng(0)
    best, worst, _ = two_centers(binary)
    rows = np.abs(rng.normal(size=(5, 4)))
    normals = [
        [level_set(row[:2], row[2:], binary.top, at) for row in rows] for at in (best, worst)
    ]
    together = ratio_from_level_sets(
        np.array(normals[0]), best, np.array(normals[1]), worst, binary.top
    )
    for n in range(5):
        one = ratio_from_level_sets(
            normals[0][n][None], best, normals[1][n][None], worst, binary.top
        )
        assert np.allclose(one[0], together[n])


@given(seed=st.integers(0, 2**32), dim=st.integers(2, 12))
@settings(max_examples=100, deadline=None)
def test_opposite_points_compare_as_the_level_set_says(seed, dim):
    """(N+ρn)(D−ρd) > (N−ρn)(D+ρd) exactly when n − φ(z)·d > 0, whatever ρ."""
    rng = np.random.default_rng(seed)
    p, u = np.abs(rng.normal(size=(2, dim)))
    top = rng.uniform(0.2, 1, dim)
    z, along = top * rng.uniform(0.2, 0.8, dim), rng.normal(size=dim)
    slope = level_set(p, u, top, z) @ along
    reach = np.min(np.minimum(z, top - z) / np.abs(along))
    for share in (0.01, 0.5, 1.0):
        step = share * reach * along
        gap = ratio(p, u, top, z + step) - ratio(p, u, top, z - step)
        assert abs(slope) < 1e-9 or (gap > 0) == (slope > 0)


@pytest.mark.parametrize("name", NAMES)
def test_balls_around_both_centers_are_feasible(name, spaces, rng):
    space = spaces[name]
    *centers, radius = two_centers(space)
    assert radius > 0
    values = space.sign * np.array([center.sum() for center in centers])
    assert values[0] > values[1]
    for center in centers:
        for along in rng.normal(size=(4, space.dim)):
            along /= np.linalg.norm(along)
            assert space.contains(center + radius * along, tol=1e-7)


def test_two_normals_from_their_angles(rng):
    upper, lower = (v / np.linalg.norm(v) for v in np.abs(rng.normal(size=(2, 4))))
    angles = np.concatenate([angles_of(upper), angles_of(lower)])
    found = level_set_normals(angles[None], 4)
    assert np.allclose(found[0][0], upper)
    assert np.allclose(found[1][0], lower)
    assert np.allclose(found[0], direction(angles[None, :3]))


@pytest.mark.parametrize("name", NAMES)
def test_search_finds_both_level_sets(name, spaces, draw_confusions):
    """Every question is about two feasible points around one of the centers."""
    space, rng = spaces[name], np.random.default_rng(3)
    family = RatioFamily(space)
    best, worst, _ = two_centers(space)
    points = space.coordinates(draw_confusions(space, 60, rng))
    for _ in range(3):
        parameters = np.abs(rng.normal(size=family.size))
        brackets = Brackets.of(0.0, np.pi / 2, 2 * (space.dim - 1))
        steps = level_set_search(space, brackets, 0.002)
        try:
            query = next(steps)
            while True:
                sides = space.coordinates(np.stack([query.first, query.second]))
                first, second = family.values(parameters[None], sides)[0]
                query = steps.send("first" if first > second else "second")
        except StopIteration:
            pass
        upper, lower = level_set_normals(brackets.middle[None], space.dim)
        p, u = family._parts(parameters)
        for found, at in ((upper[0], best), (lower[0], worst)):
            normal = level_set(p, u, space.top, at)
            assert np.linalg.norm(found - normal / np.linalg.norm(normal)) < 0.005
        again = ratio_from_level_sets(upper, best, lower, worst, space.top)
        tau = kendalltau(
            family.values(parameters[None], points)[0], family.values(again, points)[0]
        ).statistic
        assert tau > 0.97


def test_grid_finds_the_ratio_of_a_true_one(binary):
    """Exact tangents of F1 and of a metric between F1 and accuracy, on the grid of 0.01."""
    turn = np.linspace(0.01, np.pi / 2 - 0.01, 400)
    ups = np.column_stack([np.cos(turn), np.sin(turn)])
    points = np.vstack([binary.extreme_points(ups), binary.extreme_points(-ups)])
    for p, u in (([1.0, 0.0], [0.5, 0.5]), ([0.7, 0.3], [0.4, 0.6])):
        p, u = np.array(p), np.array(u)
        values = ratio(p, u, binary.top, points)
        best, worst = points[np.argmax(values)], points[np.argmin(values)]
        upper, lower = (level_set(p, u, binary.top, at) for at in (best, worst))
        upper, lower = upper / np.linalg.norm(upper), lower / np.linalg.norm(lower)
        found = grid_ratio(upper, upper @ best, lower, lower @ worst, binary.top, lambda j: points)
        assert found.shape == (4,)
        assert (found >= 0).all()
        assert found[:2].sum() == pytest.approx(1)
        tau = kendalltau(values, ratio(*np.split(found, 2), binary.top, points)).statistic
        assert tau > 0.9
