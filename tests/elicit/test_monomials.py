"""Polynomials as weights of monomials, against tensors contracted one index at a time."""

from itertools import permutations
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.elicit.families import Monomials
from karat.metrics import PolynomialMetric

CASES = [(2, 1), (2, 2), (2, 3), (2, 5), (6, 2), (6, 3), (3, 4)]


def contracted(tensor, point):
    """Return ``⟨A, r ⊗ … ⊗ r⟩``."""
    while np.ndim(tensor):
        tensor = tensor @ point
    return float(tensor)


def value(tensors, point):
    return sum(contracted(t, point) / factorial(n) for n, t in enumerate(tensors, start=1))


@pytest.mark.parametrize(("q", "order"), CASES)
@pytest.mark.parametrize("diagonal", [False, True])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=5, deadline=None)
def test_values_and_gradients_are_those_of_the_tensors(q, order, diagonal, seed):
    rng = np.random.default_rng(seed)
    monomials = Monomials(q, order, diagonal=diagonal)
    weights, points = rng.normal(size=monomials.size), rng.uniform(0, 1, (4, q))
    tensors = monomials.tensors(weights)
    values = monomials.values(points) @ weights
    assert np.allclose(values, [value(tensors, point) for point in points], atol=1e-12)
    # The gradient is that of the values, by central differences, and linear in the weights.
    step = 1e-5
    for point in points:
        slope = monomials.gradient(point) @ weights
        sides = [monomials.values(point + s * step * np.eye(q)) @ weights for s in (1, -1)]
        assert np.allclose(slope, (sides[0] - sides[1]) / (2 * step), atol=1e-8)


@pytest.mark.parametrize(("q", "order"), [(2, 2), (2, 3), (6, 2), (6, 3)])
def test_they_are_the_metric_that_has_the_tensors(q, order, perfect, rng):
    """Values of confusions, and derivatives in the rates."""
    space = perfect(2 if q == 2 else 3)
    monomials = Monomials(q, order)
    weights, rates = rng.normal(size=monomials.size), rng.uniform(0, 0.5, (6, q))
    metric = PolynomialMetric(monomials.tensors(weights))
    assert np.allclose(metric(space.confusion(rates)), monomials.values(rates) @ weights)
    slopes = np.stack([monomials.gradient(r) @ weights for r in rates])
    assert np.allclose(metric._slopes(rates), slopes)


@pytest.mark.parametrize(("q", "order"), CASES)
@pytest.mark.parametrize("diagonal", [False, True])
def test_tensors_are_symmetric_and_have_the_norm_of_the_weights(q, order, diagonal, rng):
    monomials = Monomials(q, order, diagonal=diagonal)
    assert monomials.size == (q * order if diagonal else comb(q + order, order) - 1)
    weights = rng.normal(size=monomials.size)
    tensors = monomials.tensors(weights)
    assert [t.shape for t in tensors] == [(q,) * n for n in range(1, order + 1)]
    total = 0.0
    for tensor in tensors:
        total += np.sum(tensor**2)
        for axes in permutations(range(tensor.ndim)):
            assert np.array_equal(tensor, tensor.transpose(axes))
    assert total == pytest.approx(weights @ weights)
    # Every entry stands where its name says, once for each order of its indices.
    names = monomials.names([f"r{i}" for i in range(q)])
    assert len(set(names)) == monomials.size
    for name, which, entry in zip(
        names, monomials.exponents, monomials.entries(weights), strict=True
    ):
        assert name == " × ".join(f"r{i}" for i in which)
        assert tensors[len(which) - 1][which] == entry
    if diagonal:
        for tensor in tensors[1:]:
            off = np.ones(tensor.shape, dtype=bool)
            off[(range(q),) * tensor.ndim] = False
            assert not tensor[off].any()


def test_a_square_by_hand():
    """½ rᵀBr with B = [[2, 3], [3, 4]] and a = (5, 7) at r = (1, 10)."""
    monomials = Monomials(2, 2)
    assert monomials.exponents == [(0,), (1,), (0, 0), (0, 1), (1, 1)]
    weights = np.array([5, 7, 2, 3 * np.sqrt(2), 4])
    assert np.allclose(monomials.tensors(weights)[1], [[2, 3], [3, 4]])
    point = np.array([1.0, 10.0])
    assert monomials.values(point[None]) @ weights == pytest.approx(5 + 70 + (2 + 60 + 400) / 2)
    assert np.allclose(monomials.gradient(point) @ weights, [5 + 2 + 30, 7 + 3 + 40])
