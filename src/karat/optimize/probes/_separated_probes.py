"""Probes that satisfy eq. 7.14 of Hiranandani (2021): one moment high, the others low."""

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.decisions import Mixture
from karat.decisions.rules import decide
from karat.decisions.solvers import Columns, Program, solve
from karat.optimize.probes._probes import TargetProbes
from karat.optimize.probes._sample import Sample

__all__ = ["separated_probes"]

_ENOUGH = 1e-6  # moments are shares of the greatest they can be


def separated_probes(validation: Sample, matching: Sample, *, off_diagonal: bool) -> TargetProbes:
    """Return for each entry the randomised classifier that sets its moment most apart.

    With moments as shares of the greatest they can be, it maximises the least difference between
    the wanted moment and another one: the program E.77 of Hiranandani (2021) with its slacks γ and
    ω as one objective. It is solved by column generation over plug-in rules (the classifiers of
    E.74 and E.75 are such), so soft and overlapping basis functions need no other method.
    """
    moments = _Moments(matching, off_diagonal=off_diagonal)
    columns = Columns(moments.best, moments.always_one_class())
    n = len(moments.most)
    targets = []
    for p in range(n):
        apart = np.delete(np.eye(n), p, axis=0) - np.eye(n)[p]
        program = Program(
            np.zeros(n), np.ones(1), above_x=apart, above_z=np.ones((n - 1, 1)),
            limit=np.zeros(n - 1), free=True,
        )  # fmt: skip
        (shares,) = solve(program, columns, tol=_ENOUGH, max_rounds=30).shares
        used = np.flatnonzero(shares > 1e-12)
        mixture = Mixture(shares[used], columns.makers[0][used])
        targets.append(
            (
                mixture.class_shares(validation.proba, validation.basis),
                mixture.class_shares(matching.proba, matching.basis),
            )
        )
    return TargetProbes(validation, matching, targets, off_diagonal=off_diagonal)


class _Moments:
    """Moments (basis function, truth, prediction) of rules, as shares of their greatest values."""

    def __init__(self, sample: Sample, *, off_diagonal: bool) -> None:
        n_basis, k = sample.basis.shape[1], sample.n_classes
        self.sample = sample
        entries = [
            (b, i, j)
            for b in range(n_basis)
            for i in range(k)
            for j in (range(k) if off_diagonal else (i,))
        ]
        self.where: tuple[IntArray, ...] = tuple(np.array(entries).T)
        self._ones = np.ones((len(sample.proba), 1))
        most = sample.sums(self._ones)[0][self.where[0], self.where[1]]
        self.most = np.where(most > 0, most, 1.0)
        self._shape = (n_basis, k, k) if off_diagonal else (n_basis, k)

    def always_one_class(self) -> FloatArray:
        """Return the directions (k, entries) in which always predicting one class is best."""
        classes = np.arange(self.sample.n_classes)
        return np.asarray((self.where[2] == classes[:, None]) * self.most)

    def best(self, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the weights of the plug-in rule of each direction, and its moments."""
        sample, makers, points = self.sample, [], []
        at = self.where if len(self._shape) == 3 else self.where[:2]
        for direction in directions:
            weights = np.zeros(self._shape)
            np.add.at(weights, at, direction / self.most)
            codes = decide(sample.proba, weights, sample.basis)
            makers.append(weights)
            points.append(sample.moments(self._ones, codes)[0][self.where] / self.most)
        return np.stack(makers)[:, None], np.stack(points)[:, None]
