"""What slopes settle: against non-negative least squares, and from slopes that are exact."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from karat.elicit.families import unit
from karat.elicit.search import least_squares_within, solve_slopes


def positive(theta):
    return np.maximum(theta, 0.0)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 5), extra=st.integers(1, 8))
def test_least_squares_within_is_that_of_scipy(seed, size, extra):
    rng = np.random.default_rng(seed)
    equations = rng.normal(size=(3, 2 * size + extra, 1 + size))
    found = least_squares_within(equations, positive)
    for system, theta in zip(equations, found, strict=True):
        right = nnls(system[:, 1:], -system[:, 0])[0]
        missed, least = (np.sum((system @ np.append(1.0, t)) ** 2) for t in (theta, right))
        assert missed <= least * (1 + 1e-3) + 1e-9
        assert (theta >= 0).all()


def sites(seed, q=4, pairs=2, scale=1.0):
    """Slopes of random costs and gaps, with the signs that corners would give them."""
    rng = np.random.default_rng(seed)
    known = np.abs(rng.normal(size=(1, q)))
    theta = scale * np.abs(rng.normal(size=(1, pairs * q)))
    signs = rng.choice([-1.0, 1.0], size=(6, pairs, q))
    designs = [np.hstack([np.diag(s) for s in sign]) for sign in signs]
    slopes = [unit(known + theta @ design.T) for design in designs]
    return slopes, [known] * len(designs), designs, theta


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(4))
def test_exact_slopes_settle_the_weights(seed, scale):
    slopes, knowns, designs, theta = sites(seed, scale=scale)
    found = solve_slopes(slopes, knowns, designs, positive, 1e-6)
    np.testing.assert_allclose(found, theta, rtol=1e-3, atol=1e-3 * scale)


@pytest.mark.parametrize("seed", range(4))
def test_no_gaps_stay_none_whatever_rounding_leaves_open(seed):
    slopes, knowns, designs, _ = sites(seed, scale=0.0)
    rng, tol = np.random.default_rng(seed), 1e-3
    slopes = [unit(f + tol * rng.normal(size=f.shape) / 4) for f in slopes]
    assert np.abs(solve_slopes(slopes, knowns, designs, positive, tol)).max() < 0.02


def test_without_errors_weights_are_settled_up_to_a_factor():
    slopes, knowns, designs, theta = sites(0)
    nothing = [np.zeros_like(known) for known in knowns]
    slopes = [unit(theta @ design.T) for design in designs]
    found = solve_slopes(slopes, nothing, designs, positive, 1e-6)
    np.testing.assert_allclose(found, unit(theta), atol=1e-4)
