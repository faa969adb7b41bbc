"""The kernels against linear programs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.bounds.frechet import (
    best_duals,
    best_matches,
    best_plans,
    cell_bounds,
    dual_values,
    match_bounds,
    worst_mean,
)


@st.composite
def margins(draw, outcomes=None):
    k = draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sharp = draw(st.sampled_from([0.2, 1.0, 5.0]))
    p = rng.dirichlet(np.full(k, sharp))
    q = rng.dirichlet(np.full(k if outcomes is None else outcomes(k), sharp))
    if draw(st.booleans()):  # an empty cell is where closed forms go wrong
        p = np.where(p == p.min(), 0.0, p)
        p /= p.sum()
    return rng, p, q


def value(gain, p, q, slack=0.0):
    alpha = best_duals(gain, q[None], p[None], slack)
    return float(dual_values(gain, alpha, p[None], slack)[0] @ q)


@given(problem=margins())
@settings(max_examples=100, deadline=None)
def test_closed_forms_equal_the_linear_program(solve_program, problem):
    _, p, q = problem
    k = len(p)
    lower, upper = match_bounds(q[None], p[None])
    eye = np.eye(k)
    assert upper == pytest.approx(solve_program(eye, p, q), abs=1e-9)
    assert lower == pytest.approx(-solve_program(-eye, p, q), abs=1e-9)
    assert value(eye, p, q) == pytest.approx(upper, abs=1e-12)
    assert -value(-eye, p, q) == pytest.approx(lower, abs=1e-12)
    cell = np.zeros((k, k))
    cell[0, -1] = 1
    lower, upper = cell_bounds(q[None], p[None], 0, k - 1)
    assert upper == pytest.approx(solve_program(cell, p, q), abs=1e-9)
    assert lower == pytest.approx(-solve_program(-cell, p, q), abs=1e-9)


@given(problem=margins(), slack=st.sampled_from([0.0, 0.03, 0.2, 0.7]))
@settings(max_examples=100, deadline=None)
def test_any_gain_equals_the_linear_program(solve_program, problem, slack):
    rng, p, q = problem
    gain = rng.normal(size=(len(p), len(q)))
    assert value(gain, p, q, slack) == pytest.approx(solve_program(gain, p, q, slack), abs=1e-8)


@given(problem=margins())
@settings(max_examples=100, deadline=None)
def test_plans_are_couplings_of_greatest_gain(solve_program, problem):
    rng, p, q = problem
    gain = rng.normal(size=(len(p), len(q)))
    plan = best_plans(gain, q[None], p[None])[0]
    assert plan.min() >= -1e-12
    assert plan.sum(axis=1) == pytest.approx(p, abs=1e-9)
    assert plan.sum(axis=0) == pytest.approx(q, abs=1e-9)
    assert np.sum(gain * plan) == pytest.approx(solve_program(gain, p, q), abs=1e-8)


@given(problem=margins(outcomes=lambda k: k * k))
@settings(max_examples=60, deadline=None)
def test_more_outcomes_than_classes(solve_program, problem):
    rng, p, q = problem
    gain = rng.normal(size=(len(p), len(q)))
    assert value(gain, p, q) == pytest.approx(solve_program(gain, p, q), abs=1e-8)


@given(problem=margins(), slack=st.sampled_from([0.01, 0.1, 0.5]))
@settings(max_examples=100, deadline=None)
def test_robust_accuracy_equals_the_linear_program(solve_program, problem, slack):
    _, p, q = problem
    eye = np.eye(len(p))
    assert value(eye, p, q, slack) == pytest.approx(
        min(1.0, np.minimum(p, q).sum() + slack), abs=1e-9
    )
    assert value(eye, p, q, slack) == pytest.approx(solve_program(eye, p, q, slack), abs=1e-8)
    assert -value(-eye, p, q, slack) == pytest.approx(max(0.0, (p + q).max() - 1 - slack), abs=1e-9)


@given(problem=margins(), slack=st.sampled_from([0.0, 0.1]))
@settings(max_examples=100, deadline=None)
def test_any_dual_is_valid(solve_program, problem, slack):
    """Weak duality: a wrong guess of q loosens the bound and never breaks it."""
    rng, p, q = problem
    gain = rng.normal(size=(len(p), len(q)))
    wrong = rng.dirichlet(np.ones(len(q)))
    alpha = best_duals(gain, wrong[None], p[None], slack)
    bound = float(dual_values(gain, alpha, p[None], slack)[0] @ q)
    assert bound >= solve_program(gain, p, q, slack) - 1e-9


def test_worst_mean_moves_mass_from_the_lowest_to_the_highest():
    alpha, p = np.array([0.0, 1.0, 3.0]), np.array([0.2, 0.5, 0.3])
    assert worst_mean(alpha, p, 0.0) == pytest.approx(1.4)
    assert worst_mean(alpha, p, 0.1) == pytest.approx(1.4 + 0.1 * 3)
    assert worst_mean(alpha, p, 0.3) == pytest.approx(1.4 + 0.2 * 3 + 0.1 * 2)
    assert worst_mean(alpha, p, 1.0) == pytest.approx(3.0)


@given(problem=margins())
@settings(max_examples=100, deadline=None)
def test_values_stay_within_twice_the_range_of_the_gain(problem):
    """What Bernstein's limit takes for granted."""
    rng, p, q = problem
    gain = rng.normal(size=(len(p), len(q)))
    alpha = best_duals(gain, q[None], p[None])
    values = dual_values(gain, alpha, p[None], 0.0)
    assert np.ptp(alpha) <= np.ptp(gain) + 1e-12
    assert values.min() >= gain.min() - 1e-12
    assert values.max() <= gain.max() + np.ptp(gain) + 1e-12


@given(problem=margins(), zero=st.booleans())
@settings(max_examples=100, deadline=None)
def test_weighted_matches_equal_the_linear_program(solve_program, problem, zero):
    """Balanced accuracy and its kin: weights of one sign on the diagonal have closed forms."""
    rng, p, q = problem
    weights = rng.uniform(0.1, 5, len(p))
    weights[0] = 0.0 if zero else weights[0]
    for sign in (1, -1):
        gain = sign * np.diag(weights)
        best = solve_program(gain, p, q)
        assert value(gain, p, q) == pytest.approx(best, abs=1e-8)
        matches = best_matches(gain, q[None], p[None])[0]
        assert sign * weights @ matches == pytest.approx(best, abs=1e-8)
