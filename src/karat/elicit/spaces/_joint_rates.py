"""The error rates of every group side by side: where classifiers for groups are compared."""

from functools import cached_property
from itertools import combinations

import numpy as np

from karat._typing import FloatArray, IntArray
from karat._validate import check_rng
from karat.elicit.spaces._rate_space import RateSpace
from karat.metrics.rates import off_diagonal

__all__ = ["JointRates"]


class JointRates:
    """Coordinates of joint confusions: the ``q = k² − k`` error rates of each of m groups.

    Attributes
    ----------
    space : RateSpace
        The space with groups.
    prevalence : array (m, q)
        ``τ_g``: the share of group g within the true class of each error, so that the overall
        rates are ``Σ_g τ_g ⊙ r_g`` (Hiranandani 2021, equation 5.8).
    pairs : array (pairs, 2)
        The pairs of groups, in lexicographic order.
    """

    def __init__(self, space: RateSpace) -> None:
        self.space = space
        self.n_groups = len(space.parts)
        self.q = space.dim
        shares = np.asarray(space.shares)[:, None]
        joint = shares * np.stack([part.prior for part in space.parts])
        rows, _ = off_diagonal(space.n_classes)
        self.prevalence: FloatArray = (joint / joint.sum(axis=0))[:, rows]
        self.pairs: IntArray = np.array(list(combinations(range(self.n_groups), 2)))

    @property
    def dim(self) -> int:
        return self.n_groups * self.q

    @cached_property
    def names(self) -> tuple[str, ...]:
        groups = np.asarray(self.space.groups).tolist()
        return tuple(f"{group}: {name}" for group in groups for name in self.space.names)

    @cached_property
    def pair_names(self) -> tuple[str, ...]:
        """Each pair of groups, in words."""
        groups = np.asarray(self.space.groups).tolist()
        return tuple(f"{groups[u]} and {groups[v]}" for u, v in self.pairs)

    @property
    def guess(self) -> FloatArray:
        return self.space.group_confusion(np.tile(self.space.center, (self.n_groups, 1)))

    def coordinates(self, confusions: FloatArray) -> FloatArray:
        rates = self.space.group_rates(confusions)
        return np.asarray(rates.reshape(*rates.shape[:-2], self.dim))

    def sample(self, n: int, *, rng: int | np.random.Generator | None = None) -> FloatArray:
        """Draw joint confusions (n, m, k, k): best for random costs in each group, or mixed.

        Every other one is mixed with guessing in some groups, so that there are gaps even where
        the model is as good as can be in all of them.
        """
        generator = check_rng(rng)
        best = self.space.group_sample(n, rng=generator)
        share = generator.random((n, self.n_groups)) * (generator.random((n, self.n_groups)) < 0.5)
        share[::2] = 0.0
        mixed = share[:, :, None, None]
        return np.asarray((1.0 - mixed) * best + mixed * self.guess)

    def parts_of(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the overall rates (n, q) and the gaps of each pair (n, pairs, q) of points."""
        rates = points.reshape(len(points), self.n_groups, self.q)
        first, second = self.pairs.T
        return (rates * self.prevalence).sum(axis=1), rates[:, first] - rates[:, second]

    def constant(self, label: int) -> FloatArray:
        """Return the rates of predicting one class always, the same in every group."""
        _, columns = off_diagonal(self.space.n_classes)
        return np.asarray(columns == label, dtype=np.float64)
