"""Theorems 3 and 7 of Maurer & Pontil (2020): where they hold, and how sharp they are."""

import math

import numpy as np
import pytest

from karat.ranking import (
    GaussianComplexity,
    PiecewiseLinear,
    Uniform,
    uniform_margin,
    weighted_auc,
)

RISING = PiecewiseLinear([0, 1], [1, 0])  # W(v) = v, so W(1) = 1 and ∫W = ½


def loss(x):
    """A nondecreasing loss of slope 1 with ℓ(0) = ½."""
    return np.clip(0.5 + x, 0, 1)


def eq_1_surrogate(positive, negative):
    """Return ``f_{W,ℓ}`` as printed: W at the end of an atom; by enumeration."""
    f0 = np.searchsorted(np.sort(negative), negative, side="right") / len(negative)
    return float((loss(positive[:, None] - negative) * f0).mean())


def integrated_surrogate(positive, negative):
    """Return ``∫∫ ℓ(x − t) dK(F₀(t)) dF₁(x)``: W integrated over every step; by enumeration."""
    ordered = np.sort(negative)
    edges = np.arange(len(ordered) + 1) / len(ordered)
    weight = np.diff(edges**2 / 2)  # K(v) = v²/2
    return float((loss(positive[:, None] - ordered) @ weight).mean())


def test_theorem_3_fails_where_scores_tie_on_the_rows_alone():
    """All functions that are ε·u off a finite set and 0 on it: one of them is 0 on every row.

    Its law of scores has no atom, its rows are one atom. The surrogate of eq. 1 is ℓ(0)·W(1) = ½ on
    the rows and about ℓ(0)·∫W = ¼ in the population, whatever n is; the bound of Theorem 3 tends to
    0 with n, since the class has the Gaussian complexity ``ε·n·E γ₊ E u < ε·n/4``.
    """
    epsilon, n = 1e-6, 10_000_000
    bound = uniform_margin(
        n / 2, n / 2, family=GaussianComplexity(epsilon * n / 4), weight=RISING
    ).margin
    rng = np.random.default_rng(0)
    u = epsilon * rng.random((2, 2000))
    population = eq_1_surrogate(*u)  # 2,000 rows of the law without atoms stand in for it
    on_the_rows = eq_1_surrogate(np.zeros(50), np.zeros(50))  # the same for any number of rows
    assert population == pytest.approx(0.25, abs=1e-3)
    assert on_the_rows == pytest.approx(0.5)
    assert on_the_rows - population > bound
    assert bound == pytest.approx(0.131, abs=5e-3)


def test_the_integrated_surrogate_does_not_see_the_tie():
    rng = np.random.default_rng(0)
    u = 1e-6 * rng.random((2, 2000))
    assert integrated_surrogate(*u) == pytest.approx(
        integrated_surrogate(np.zeros(50), np.zeros(50)), abs=2e-6
    )


def test_the_integrated_surrogate_is_lipschitz_in_the_distance_of_wasserstein():
    """Condition (b) of Theorem 7, with ``L₁ = ‖ℓ‖_Lip ‖W‖_∞``, with ties and without."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        ones, zeros = rng.integers(0, 4, 12) / 3, rng.integers(0, 4, 15) / 3
        moved = np.clip(zeros + rng.choice([0, 1e-9, 0.2, -0.4], 15), 0, 1)
        distance = np.abs(np.sort(zeros) - np.sort(moved)).mean()
        change = abs(integrated_surrogate(ones, zeros) - integrated_surrogate(ones, moved))
        assert change <= distance + 1e-12


def test_limits_are_sharper_than_theorem_7():
    """Theorem 7(i), once for each class, is the closed form; limits in use are inside it."""
    rng = np.random.default_rng(2)
    y = np.arange(1000) < 100
    score = rng.normal(size=1000) + 1.4657 * y  # an AUC of .85
    each = math.log(4 / 0.05) / 2
    theorem_7 = math.sqrt(each / 100) + math.sqrt(each / 900)
    dkw = weighted_auc(y, score, weight=Uniform(), limits="dkw")
    auto = weighted_auc(y, score, weight=Uniform())
    assert dkw.half_width == pytest.approx(theorem_7)
    assert (dkw.upper - dkw.lower) / 2 < 0.8 * theorem_7
    assert (auto.upper - auto.lower) / 2 < 0.5 * theorem_7
