"""Classifiers near the current one at which the metric is evaluated.

A probe moves the current classifier h̄ a little, ``h = h̄ + ε·s(x)·(t(x) − h̄(x))``, and the slope of
the metric along each move gives the weights: the moves on the matching sample times the weights are
the slopes (Hiranandani 2021, eq. 7.12, with differences in place of values).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat.optimize.probes._sample import Decisions, Sample, as_shares

__all__ = ["ClassProbes", "Position", "Probes", "TargetProbes"]


@dataclass(slots=True, eq=False)
class Position:
    """A classifier as the sums that the search needs of it, all linear in the classifier."""

    confusion: FloatArray  # on the validation sample
    matched: FloatArray | None  # moments on the matching sample, (S, L, k, k)
    seen: FloatArray | None  # moments on the validation sample without basis, (S, k, k)
    shares: FloatArray | None  # on the rows of the validation sample, for a metric of rows

    def toward(self, other: "Position", step: float) -> "Position":
        """Return the mixture of the two: this one and, with probability ``step``, the other."""

        def mixed(a: Any, b: Any) -> Any:
            return None if a is None or b is None else (1.0 - step) * a + step * b

        return Position(
            mixed(self.confusion, other.confusion),
            mixed(self.matched, other.matched),
            mixed(self.seen, other.seen),
            mixed(self.shares, other.shares),
        )


class Probes(ABC):
    """The probes of a problem; `matching` gives the weights, `validation` the metric."""

    def __init__(self, validation: Sample, matching: Sample, select: tuple[Any, Any]) -> None:
        self.validation, self.matching = validation, matching
        self._select_seen, self._select_matched = select

    def position(
        self, on_validation: Decisions, on_matching: Decisions, *, sums: bool, rows: bool
    ) -> Position:
        """Return what the search needs of a classifier; ``sums`` where probes start from it."""
        shares = as_shares(on_validation, self.validation.n_classes) if rows else None
        if not sums:
            return Position(self.validation.confusion(on_validation), None, None, shares)
        return Position(
            self.validation.confusion(on_validation),
            self.matching.moments(self._select_matched, on_matching),
            self.validation.moments(self._select_seen, on_validation, plain=True)[:, 0],
            shares,
        )

    @abstractmethod
    def plain(self, at: Position) -> FloatArray | None:
        """Return the matched moments (L, k, k) without s, None where the sums leave them open."""

    @abstractmethod
    def moves(self, at: Position) -> tuple[FloatArray, FloatArray]:
        """Return each probe's moves per ε.

        The first are of the matched moments, (P, L, k, k), the second of the validation confusion,
        (P, k, k).
        """

    @abstractmethod
    def moved_shares(self, shares: FloatArray, probe: int, epsilon: float) -> FloatArray:
        """Return the shares of a probe on the rows of the validation sample."""

    @abstractmethod
    def name(self, probe: int) -> tuple[int, int]:
        """Return the basis function and the class that a probe is for."""


class ClassProbes(Probes):
    """Moves toward always predicting one class, where a function s(x) is large.

    With s the basis functions these are the fixed probes of eq. 7.16 of Hiranandani (2021). With s
    the products of basis functions and class probabilities they also determine the weights of
    off-diagonal entries, for which the fixed probes do not suffice (appendix E.1).
    """

    def __init__(self, validation: Sample, matching: Sample, *, off_diagonal: bool) -> None:
        def selectors(sample: Sample) -> FloatArray:
            if not off_diagonal:
                return sample.basis
            products = sample.basis[:, :, None] * sample.proba[:, None, :]
            return np.asarray(products.reshape(len(sample.proba), -1))

        seen = selectors(validation)
        same = matching.proba is validation.proba and matching.basis is validation.basis
        matched = seen if same else selectors(matching)
        super().__init__(validation, matching, (seen, matched))
        self._per_basis = seen.shape[1] // validation.basis.shape[1]
        self._all_matched = matching.sums(matched)
        self._all_seen = validation.sums(seen, plain=True)[:, 0]
        self._one = _as_one(matching)

    def plain(self, at: Position) -> FloatArray | None:
        if self._one is None or at.matched is None:
            return None
        # Class probabilities sum to 1, so the sum over them leaves the basis functions.
        by_basis = at.matched.reshape(len(self._one), self._per_basis, *at.matched.shape[1:])
        return np.asarray(np.einsum("s,sclij->lij", self._one, by_basis))

    def moves(self, at: Position) -> tuple[FloatArray, FloatArray]:
        assert at.matched is not None
        assert at.seen is not None
        k = self.validation.n_classes
        matched = np.repeat(-at.matched[:, None], k, axis=1)
        seen = np.repeat(-at.seen[:, None], k, axis=1)
        for j in range(k):
            matched[:, j, :, :, j] += self._all_matched
            seen[:, j, :, j] += self._all_seen
        return matched.reshape(-1, *matched.shape[2:]), seen.reshape(-1, *seen.shape[2:])

    def moved_shares(self, shares: FloatArray, probe: int, epsilon: float) -> FloatArray:
        s, j = divmod(probe, self.validation.n_classes)
        amount = epsilon * self._select_seen[:, s]
        moved = shares * (1.0 - amount)[:, None]
        moved[:, j] += amount
        return np.asarray(moved)

    def name(self, probe: int) -> tuple[int, int]:
        s, j = divmod(probe, self.validation.n_classes)
        return s // self._per_basis, j


class TargetProbes(Probes):
    """Moves toward given classifiers, one for each basis function and class.

    Those that satisfy eq. 7.14 of Hiranandani (2021) are made by `separated_probes`.
    """

    def __init__(
        self,
        validation: Sample,
        matching: Sample,
        targets: list[tuple[FloatArray, FloatArray]],
        *,
        off_diagonal: bool,
    ) -> None:
        self._off_diagonal = off_diagonal
        ones = (np.ones((len(validation.proba), 1)), np.ones((len(matching.proba), 1)))
        super().__init__(validation, matching, ones)
        self._shares = [on_validation for on_validation, _ in targets]
        self._seen = np.stack([validation.confusion(v) for v, _ in targets])
        self._matched = np.stack([matching.moments(ones[1], m)[0] for _, m in targets])

    def plain(self, at: Position) -> FloatArray | None:
        return None if at.matched is None else np.asarray(at.matched[0])

    def moves(self, at: Position) -> tuple[FloatArray, FloatArray]:
        assert at.matched is not None
        return self._matched - at.matched[0], self._seen - at.confusion

    def moved_shares(self, shares: FloatArray, probe: int, epsilon: float) -> FloatArray:
        return np.asarray((1.0 - epsilon) * shares + epsilon * self._shares[probe])

    def name(self, probe: int) -> tuple[int, int]:
        k = self.validation.n_classes
        b, entry = divmod(probe, k * k if self._off_diagonal else k)
        return b, entry % k


def _as_one(sample: Sample) -> FloatArray | None:
    """Return coefficients with which the basis functions add up to 1, None if there are none."""
    weighted = sample.basis * sample.weight[:, None]
    gram, mean = sample.basis.T @ weighted, weighted.sum(axis=0)
    coefficients = np.linalg.lstsq(gram, mean, rcond=None)[0]
    # The residual of 1 after its projection on the functions, in mean square.
    return np.asarray(coefficients) if 1.0 - mean @ coefficients < 1e-9 else None
