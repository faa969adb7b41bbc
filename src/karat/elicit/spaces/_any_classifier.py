"""Classifiers that are best for any costs and gains, and mixtures of them."""

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_rng
from karat.elicit.spaces._space import Space

__all__ = ["AnyClassifier"]


class AnyClassifier:
    """All that is attained, for metrics whose best classifier may lie inside the feasible set.

    A third of the classifiers are best for random costs, a third lie between two that are best for
    costs and gains of any sign, and a third between one of them and guessing.
    """

    def __init__(self, space: Space) -> None:
        self.space = space

    @property
    def dim(self) -> int:
        return self.space.dim

    @property
    def names(self) -> tuple[str, ...]:
        return self.space.names

    @property
    def guess(self) -> FloatArray:
        return self.space.guess

    def coordinates(self, confusions: FloatArray) -> FloatArray:
        return self.space.coordinates(confusions)

    def sample(self, n: int, *, rng: int | np.random.Generator | None = None) -> FloatArray:
        """Draw confusions (n, k, k)."""
        generator = check_rng(rng)
        best = self.space.sample(n, rng=generator)
        some, others = (self.space.boundary(generator.normal(size=(n, self.dim))) for _ in range(2))
        share = generator.random((n, 1, 1))
        kind = (np.arange(n) % 3)[:, None, None]
        between = share * some + (1.0 - share) * others
        mixed = share * np.where(kind == 0, best, some) + (1.0 - share) * self.guess
        return np.asarray(np.where(kind == 0, best, np.where(kind == 1, between, mixed)))
