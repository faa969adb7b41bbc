"""From slopes of the metric to weights of classes: one linear system."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat._validate import shown
from karat.exceptions import ProbeError

__all__ = ["WeightSystem"]

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
