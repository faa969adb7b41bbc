"""Small moves of a classifier, and the weights of the classes that their slopes give.

A `Sample` holds rows with probabilities and basis functions, and sums over them what a classifier
does. `ClassProbes` (fixed) and `separated_probes` move a classifier, given as a `Position`, a
little in known directions; `WeightSystem` solves for the class weights whose weighted moments move
along the probes as the metric does (Hiranandani 2021, eq. 7.12–7.16 and appendix E.1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from karat._typing import FloatArray, IntArray
from karat._validate import shown
from karat.decisions import Mixture
from karat.decisions.rules import CHUNK, decide, one_hot
from karat.decisions.solvers import Columns, Program, solve
from karat.exceptions import ProbeError

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
            np.zeros(n),
            np.ones(1),
            above_x=apart,
            above_z=np.ones((n - 1, 1)),
            limit=np.zeros(n - 1),
            free=True,
        )
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


# --- Classifiers near the current one at which the metric is evaluated.
#
# A probe moves the current classifier h̄ a little, ``h = h̄ + ε·s(x)·(t(x) − h̄(x))``, and the
# slope of the metric along each move gives the weights: the moves on the matching sample times the
# weights are the slopes (Hiranandani 2021, eq. 7.12, with differences in place of values).


@dataclass(slots=True, eq=False)
class Position:
    """A classifier as the sums that the search needs of it, all linear in the classifier."""

    confusion: FloatArray  # on the validation sample
    matched: FloatArray | None  # moments on the matching sample, (S, L, k, k)
    seen: FloatArray | None  # moments on the validation sample without basis, (S, k, k)
    shares: FloatArray | None  # on the rows of the validation sample, for a metric of rows

    def toward(self, other: Position, step: float) -> Position:
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


# --- Rows of a sample, and what a classifier does on them as sums over the rows.

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

    def without_labels(self) -> Sample:
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
            cells, most = self.truth * k + np.asarray(decisions, dtype=np.int64), n_truth * k
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


# --- From slopes of the metric to weights of classes: one linear system.

# A system whose smallest singular value is below this share of the largest has no one solution.
_SINGULAR = 1e-10


class WeightSystem:
    """Weights whose weighted moments move as the metric does: ``moves · weights = slopes``.

    Columns are scaled to norm 1 and then rows, so that a rare class counts as much as a common one,
    and a small ridge keeps noise along badly determined directions from growing. With off-diagonal
    entries a constant added to the weights of one true class changes nothing (each row of a
    confusion has a fixed sum), so these weights are solved for up to that constant.
    """

    def __init__(self, moves: FloatArray, *, off_diagonal: bool, ridge: float) -> None:
        n_probes, self._n_basis, k, _ = moves.shape
        self._k, self._off_diagonal, self._ridge = k, off_diagonal, ridge
        self._contrast = _contrasts(k)
        if off_diagonal:
            matrix = (moves @ self._contrast).reshape(n_probes, -1)
        else:
            matrix = np.diagonal(moves, axis1=2, axis2=3).reshape(n_probes, -1)
        self._columns = np.linalg.norm(matrix, axis=0)
        scaled = matrix / np.where(self._columns > 0, self._columns, 1.0)
        rows = np.linalg.norm(scaled, axis=1)
        self._rows = np.where(rows > 0, rows, 1.0)
        left, self._singular, right = np.linalg.svd(
            scaled / self._rows[:, None], full_matrices=False
        )
        self._left, self._right = left, right

    @property
    def condition(self) -> float:
        """Condition number of the scaled system."""
        least = self._singular[-1]
        return float(self._singular[0] / least) if least > 0 else float("inf")

    @property
    def solvable(self) -> bool:
        """Whether there is one solution."""
        return bool(self._singular[-1] > _SINGULAR * self._singular[0])

    def require_solvable(self, basis_names: Sequence[str], classes: Sequence[Any]) -> None:
        """Raise an error that names a weight which the probes do not determine, if any."""
        if self.solvable:
            return
        unmoved = np.flatnonzero(self._columns == 0)
        at = int(unmoved[0]) if unmoved.size else int(np.argmax(np.abs(self._right[-1])))
        at_basis, rest = divmod(at, len(self._columns) // self._n_basis)
        i = rest // (self._k - 1) if self._off_diagonal else rest
        raise ProbeError(
            f"the probe system is singular: the weight of class {shown(classes[i])} with the basis "
            f"function {basis_names[at_basis]!r} is not determined. Either no row has both, or the "
            "probabilities hardly vary there; drop that basis function, merge it with another, or "
            "pass more rows"
        )

    def solve(self, slopes: FloatArray) -> FloatArray:
        """Return the weights, shape (L, k) or, with off-diagonal entries, (L, k, k)."""
        s = self._singular
        damped = s / (s**2 + (self._ridge * s[0]) ** 2)
        solution = self._right.T @ (damped * (self._left.T @ (slopes / self._rows)))
        solution = solution / np.where(self._columns > 0, self._columns, np.inf)
        if not self._off_diagonal:
            return np.asarray(solution.reshape(self._n_basis, self._k))
        free = solution.reshape(self._n_basis, self._k, self._k - 1)
        return np.asarray(free @ self._contrast.T)


def _contrasts(k: int) -> FloatArray:
    """Return k×(k−1) orthonormal columns that sum to 0."""
    basis, _ = np.linalg.qr(np.column_stack([np.ones(k), np.eye(k)[:, : k - 1]]))
    return np.asarray(basis[:, 1:])
