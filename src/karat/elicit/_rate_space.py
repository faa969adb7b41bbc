"""The space of class-conditional rates, of one population or of several groups."""

import hashlib
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from karat._result import frozen_array, keeps_kind
from karat._sentences import Argument, Expected, Option, Remedy
from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_finite_matrix,
    check_probabilities,
    check_rng,
    check_same_length,
    check_weights,
    encode_groups,
    encode_labels,
    require_two_classes,
    shown,
)
from karat.decisions import Attainable, RandomizedClassifier
from karat.decisions.population import Population, order_of_many, taken
from karat.elicit.spaces import ConfusionSpace, sample_population
from karat.exceptions import DataError, ElicitationError, LabelError, ShapeError
from karat.metrics.rates import off_diagonal, with_zero_diagonal


class RateSpace(ConfusionSpace):
    """What classifiers attain as rates ``P(Ŷ=j | Y=i)``, overall and in each group.

    Hiranandani 2021, section 5.1. The ``k² − k`` coordinates are the rates of every kind of error,
    so that rare classes weigh as much as common ones. With ``groups``, ``parts`` holds the space of
    each group, and what all groups attain is inside the ball of ``common_radius``.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.datasets import LogisticLaw
    >>> law = LogisticLaw.binary(5.0)
    >>> x, y = law.sample(2000, rng=0)
    >>> space = RateSpace.from_proba(y, law.proba(x), groups=np.where(x**2 < 0.2, "in", "out"))
    >>> space.groups.tolist(), space.center
    (['in', 'out'], array([0.5, 0.5]))
    """

    kind: ClassVar[str] = "rate"

    def __init__(
        self,
        population: Population,
        classes: AnyArray,
        groups: AnyArray | None = None,
        parts: "tuple[RateSpace, ...]" = (),
        shares: FloatArray | None = None,
    ) -> None:
        super().__init__(population, classes)
        self.groups = None if groups is None else frozen_array(groups)
        self.parts = parts
        self.shares = None if shares is None else frozen_array(shares)

    @classmethod
    @keeps_kind
    def from_proba(
        cls,
        y_true: Column,
        proba: Frame,
        *,
        groups: Column | None = None,
        classes: Column | None = None,
        sample_weight: Column | None = None,
    ) -> "RateSpace":
        """Build the space from a sample: decisions by the probabilities, counts of the labels.

        Parameters
        ----------
        y_true : column (n,)
            True labels.
        proba : matrix (n, k)
            Estimated class probabilities, best from data that the model was not fitted to.
        groups : column (n,), optional
            Group of each item; every group must hold every class.
        classes : column (k,), optional
            The classes in the order of the columns; by default those found, sorted.
        sample_weight : column (n,), optional
            Weights of at least 0.
        """
        (codes,), order = encode_labels({"y_true": y_true}, classes)
        require_two_classes(order, "y_true")
        checked = check_probabilities(proba, "proba", classes=order)
        members, names = encode_groups(groups)
        if members is None or names is None:
            return cls(sample_population(codes, checked, sample_weight), order)
        weight = check_weights(sample_weight)
        check_same_length(y_true=codes, proba=checked)
        check_same_length(y_true=codes, sample_weight=weight, groups=members)
        rows = order_of_many(checked)
        if rows is not None:  # sorted once, for all groups
            codes, checked, weight, members = taken(rows, codes, checked, weight, members)
        whole = sample_population(codes, checked, weight)
        parts = []
        for g, name in enumerate(names):
            own = taken(np.flatnonzero(members == g), codes, checked, weight)
            try:
                part = cls(sample_population(*own), order)
            except DataError as error:
                raise type(error)(
                    f"group {shown(name)}: ",
                    error,
                ) from error
            parts.append(part)
        shares = np.bincount(members, weight, len(names))
        return cls(whole, order, names, tuple(parts), shares / shares.sum())

    def smoothed(self) -> "RateSpace":
        """Return the space of the fitted law in place of the sample, in every group too."""
        smooth = super().smoothed()
        smooth.groups, smooth.shares = self.groups, self.shares
        smooth.parts = tuple(part.smoothed() for part in self.parts)
        return smooth

    @property
    def top(self) -> FloatArray:
        """The greatest rate of each error: 1."""
        return np.ones(self.dim)

    def coordinates(self, confusions: FloatArray) -> FloatArray:
        """Return the rates of each error, row by row."""
        rows, _ = off_diagonal(self.n_classes)
        return np.asarray(super().coordinates(confusions) / self.prior[rows])

    def confusion(self, points: FloatArray) -> FloatArray:
        """Return the confusions with the given error rates."""
        rows, _ = off_diagonal(self.n_classes)
        return super().confusion(np.asarray(points) * self.prior[rows])

    def weights(self, directions: FloatArray) -> FloatArray:
        """Return the gains (losses if negative) of each error that weigh its rate."""
        return np.asarray(super().weights(directions) / self.prior[:, None])

    # --- groups

    @cached_property
    def attainable(self) -> Attainable:
        """What classifiers attain that see the group of an item, for `maximise`."""
        parts = zip(self._grouped(), np.asarray(self.shares), strict=True)
        blocks = [Population(p.population.proba, share * p.population.mass) for p, share in parts]
        return Attainable(blocks, n_groups=len(blocks), group=range(len(blocks)))

    @cached_property
    def common_radius(self) -> float:
        """Radius of a ball of rates around the center that every group attains (Algorithm C.1)."""
        return min(self.group_radii)

    @cached_property
    def group_radii(self) -> tuple[float, ...]:
        """Radius of a ball of rates around the center that each group attains."""
        parts, radii = self._grouped(), []
        for name, part in zip(np.asarray(self.groups).tolist(), parts, strict=True):
            try:
                radii.append(part.radius)
            except ElicitationError as error:
                raise ElicitationError(
                    f"group {shown(name)}: ",
                    error,
                ) from error
        return tuple(radii)

    def _fingerprint(self) -> str:
        whole = super()._fingerprint()
        if not self.parts:
            return whole
        seen = [whole, *(part.fingerprint for part in self.parts)]
        shares = np.round(np.asarray(self.shares), 9).tolist()
        words = f"{seen} {np.asarray(self.groups).tolist()} {shares}"
        return hashlib.sha256(words.encode()).hexdigest()[:16]

    def group_confusion(self, rates: FloatArray) -> FloatArray:
        """Return the joint confusions (..., m, k, k) of the rates (..., m, q) of each group."""
        k, truth = self.n_classes, self._truth
        rows, _ = off_diagonal(k)
        tables = with_zero_diagonal(np.asarray(rates) * truth[:, rows])
        tables[..., range(k), range(k)] = truth - tables.sum(axis=-1)
        return tables

    def group_rates(self, confusions: FloatArray) -> FloatArray:
        """Return the rates (..., m, q) of each group from joint confusions (..., m, k, k)."""
        within = confusions / self._joint
        parts = self._grouped()
        return np.stack(
            [part.coordinates(within[..., g, :, :]) for g, part in enumerate(parts)], axis=-2
        )

    def group_sample(self, n: int, *, rng: int | np.random.Generator | None = None) -> FloatArray:
        """Draw joint confusions (n, m, k, k): in each group a classifier best for random costs.

        Parameters
        ----------
        n : int
            How many.
        rng : int or generator, optional
            Randomness of the draws.
        """
        generator = check_rng(rng)
        tables = [part.sample(n, rng=generator) for part in self._grouped()]
        return np.asarray(np.stack(tables, axis=1) * self._joint)

    def group_contains(self, rates: Any, *, tol: float = 1e-9) -> bool:
        """Whether each group attains its rates (m, q).

        Parameters
        ----------
        rates : array (m, q)
            The rates of each group.
        tol : float
            Sum of absolute differences that still counts as attained.
        """
        parts, array = self._grouped(), check_finite_matrix(rates, "rates")
        if array.shape != (len(parts), self.dim):
            raise ShapeError(
                Argument("rates"),
                f" has shape {array.shape}; expected ",
                Expected(f"({len(parts)}, {self.dim}): one row per group"),
            )
        return all(part.contains(row, tol=tol) for part, row in zip(parts, array, strict=True))

    def group_classifier(self, confusion: FloatArray) -> dict[Any, RandomizedClassifier]:
        """Return for each group a classifier that attains its part of a joint confusion."""
        rates = self.group_rates(np.asarray(confusion))
        parts, names = self._grouped(), np.asarray(self.groups).tolist()
        return {
            name: part.classifier(row) for name, part, row in zip(names, parts, rates, strict=True)
        }

    @cached_property
    def _truth(self) -> FloatArray:
        """``P(G=g, Y=i)``."""
        return np.stack([part.prior for part in self._grouped()]) * self._joint[:, 0]

    @property
    def _joint(self) -> FloatArray:
        """``P(G=g)``, to be multiplied into a stack of confusions."""
        self._grouped()
        return np.asarray(self.shares)[:, None, None]

    def _grouped(self) -> "tuple[RateSpace, ...]":
        if not self.parts:
            raise LabelError(
                "this space has no groups",
                Remedy("pass ", Option("groups"), " to RateSpace.from_proba"),
            )
        return self.parts


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
