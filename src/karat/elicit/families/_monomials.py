"""Polynomials of rates as weights of monomials: values and gradients, linear in the weights."""

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np

from karat._typing import FloatArray

__all__ = ["Monomials"]


class Monomials:
    """The monomials of degree 1 to ``order`` in q rates.

    A symmetric tensor of degree n counts an entry ``c = n! / Π multiplicities!`` times, so the
    weight of its monomial is scaled by ``√c / n!``: weights then have the norm of all tensors
    together, ``Σ_n ‖A_n‖²``, and ``⟨A_n, r^⊗n⟩ / n!`` is linear in them.
    """

    def __init__(self, q: int, order: int, *, diagonal: bool = False) -> None:
        self.q, self.order = q, order
        self.exponents: list[tuple[int, ...]] = [
            which
            for n in range(1, order + 1)
            for which in combinations_with_replacement(range(q), n)
            if not diagonal or len(set(which)) == 1
        ]

    @property
    def size(self) -> int:
        return len(self.exponents)

    @cached_property
    def tensor_roots(self) -> FloatArray:
        """The square root of how often each monomial's entry stands in its tensor."""
        counts = [
            factorial(len(which)) / prod(factorial(which.count(i)) for i in set(which))
            for which in self.exponents
        ]
        return np.sqrt(counts)

    @cached_property
    def _scales(self) -> FloatArray:
        degrees = [factorial(len(which)) for which in self.exponents]
        return np.asarray(self.tensor_roots / np.array(degrees))

    def values(self, points: FloatArray) -> FloatArray:
        """Return the monomials (p, size) of points (p, q)."""
        columns = [np.prod(points[:, which], axis=1) for which in map(list, self.exponents)]
        return np.asarray(np.stack(columns, axis=1) * self._scales)

    def gradient(self, point: FloatArray) -> FloatArray:
        """Return the matrix (q, size) whose product with the weights is the gradient at a point."""
        matrix = np.zeros((self.q, self.size))
        for column, which in enumerate(self.exponents):
            for i in set(which):
                rest = list(which)
                rest.remove(i)
                matrix[i, column] = which.count(i) * np.prod(point[rest])
        return np.asarray(matrix * self._scales)

    def entries(self, weights: FloatArray) -> FloatArray:
        """Return the entries of the tensors (n, size), each once."""
        return np.asarray(weights / self.tensor_roots)

    def tensors(self, weights: FloatArray) -> list[FloatArray]:
        """Return the symmetric tensors of one vector of weights."""
        found = [np.zeros((self.q,) * n) for n in range(1, self.order + 1)]
        for which, entry in zip(self.exponents, self.entries(weights), strict=True):
            for position in set(_orders(which)):
                found[len(which) - 1][position] = entry
        return found

    def names(self, names: Sequence[str]) -> tuple[str, ...]:
        """Say what each entry weighs."""
        return tuple(" × ".join(names[i] for i in which) for which in self.exponents)


def _orders(which: tuple[int, ...]) -> list[tuple[int, ...]]:
    if len(which) <= 1:
        return [which]
    return [
        (which[i], *rest) for i in range(len(which)) for rest in _orders(which[:i] + which[i + 1 :])
    ]
