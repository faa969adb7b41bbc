"""Rows of a sample, and what a classifier does on them as sums over the rows."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.decisions.rules import CHUNK, one_hot

__all__ = ["Decisions", "Sample", "as_shares"]

# A classifier on the rows of a sample: the class of each, or the share of each class.
Decisions = IntArray | FloatArray


def as_shares(decisions: Decisions, k: int) -> FloatArray:
    """Return the share of each class in each row."""
    return np.asarray(np.eye(k)[decisions] if decisions.ndim == 1 else decisions)


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Rows with probabilities, basis functions, weights that sum to 1, and labels.

    Without labels the probabilities stand for them: ``1(y = i)`` is replaced by its expectation
    ``η_i(x)`` under the model. With groups, plain sums are over each group and class: a confusion
    has the rows (group, truth), groups first.
    """

    proba: FloatArray
    basis: FloatArray
    weight: FloatArray
    labels: IntArray | None = None
    groups: IntArray | None = None
    n_groups: int = 1

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.proba.shape[1])

    def take(self, rows: IntArray) -> Self:
        """Return some of the rows."""
        weight = self.weight[rows]
        return type(self)(
            self.proba[rows],
            self.basis[rows],
            weight / weight.sum(),
            None if self.labels is None else self.labels[rows],
            None if self.groups is None else self.groups[rows],
            self.n_groups,
        )

    @property
    def truth(self) -> IntArray:
        """The row of the confusion that each row of the sample belongs to."""
        assert self.labels is not None
        return self.labels if self.groups is None else self.groups * self.n_classes + self.labels

    def without_labels(self) -> "Sample":
        """Return the rows with the labels that the model expects."""
        return Sample(self.proba, self.basis, self.weight)

    def confusion(self, decisions: Decisions, *, chunk: int = CHUNK) -> FloatArray:
        """Return ``Σ_x w·1(y=i)·h_j(x)``, shape (k, k), or (groups·k, k)."""
        ones = np.ones((len(self.proba), 1))
        return np.asarray(self.moments(ones, decisions, plain=True, chunk=chunk)[0, 0])

    def moments(
        self,
        select: FloatArray,
        decisions: Decisions,
        *,
        plain: bool = False,
        chunk: int = CHUNK,
    ) -> FloatArray:
        """Return ``Σ_x w·s(x)·φ_l(x)·1(y=i)·h_j(x)``, shape (S, L, k, k).

        ``select`` holds one column for each s; ``plain`` leaves the basis functions out. Rows are
        summed in chunks whose temporaries stay in the processor's cache.
        """
        k, n_basis = self.n_classes, 1 if plain else self.basis.shape[1]
        n_truth = k * self.n_groups if plain else k
        if plain and self.labels is not None and decisions.ndim == 1:
            cells, most = self.truth * k + decisions, n_truth * k
            counts = [np.bincount(cells, self.weight * s, minlength=most) for s in select.T]
            return np.asarray(counts, dtype=float).reshape(-1, 1, n_truth, k)
        total = np.zeros((select.shape[1], n_basis, n_truth, k))
        for start in range(0, len(self.proba), chunk):
            rows = slice(start, start + chunk)
            target = self._targets(rows, plain) * self.weight[rows, None]
            shares = as_shares(decisions[rows], k)
            for s, chosen in enumerate(select[rows].T):
                picked = target * chosen[:, None]
                for b in range(n_basis):
                    part = picked if plain else picked * self.basis[rows, b, None]
                    total[s, b] += part.T @ shares
        return total

    def sums(self, select: FloatArray, *, plain: bool = False, chunk: int = CHUNK) -> FloatArray:
        """Return ``Σ_x w·s(x)·φ_l(x)·1(y=i)``, shape (S, L, k): the moments of predicting i."""
        n_basis = 1 if plain else self.basis.shape[1]
        n_truth = self.n_classes * (self.n_groups if plain else 1)
        total = np.zeros((select.shape[1], n_basis, n_truth))
        for start in range(0, len(self.proba), chunk):
            rows = slice(start, start + chunk)
            target = self._targets(rows, plain) * self.weight[rows, None]
            basis = np.ones((len(target), 1)) if plain else self.basis[rows]
            total += np.einsum("ns,nl,ni->sli", select[rows], basis, target, optimize=True)
        return total

    def _targets(self, rows: slice, plain: bool) -> FloatArray:
        if self.labels is None:
            return self.proba[rows]
        if plain:
            return one_hot(self.truth[rows], self.n_classes * self.n_groups)
        return one_hot(self.labels[rows], self.n_classes)
