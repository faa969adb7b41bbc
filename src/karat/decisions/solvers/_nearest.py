"""A point as a mixture of extreme ones: feasibility, and distance to the boundary."""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat.decisions.solvers._columns import Columns
from karat.decisions.solvers._polyhedral import Program, solve

__all__ = ["Nearest", "farthest", "nearest"]


class Nearest(NamedTuple):
    """The classifiers of a mixture, their shares, and its distance from the point it was for."""

    makers: FloatArray
    shares: FloatArray
    missing: float


def nearest(target: FloatArray, columns: Columns, tol: float = 1e-9) -> Nearest:
    """Return the mixture nearest to ``target`` in the sum of absolute differences.

    ``columns`` has one block, and grows by what is found.
    """
    dim = len(target)
    program = Program(
        np.zeros(dim), -np.ones(2 * dim), same_x=np.eye(dim),
        same_z=np.hstack([np.eye(dim), -np.eye(dim)]), target=target, most=0.0,
    )  # fmt: skip
    found = solve(program, columns, tol=tol)
    (shares,) = found.shares
    used = np.flatnonzero(shares > 1e-12)
    return Nearest(columns.makers[0][used], shares[used] / shares[used].sum(), -found.value)


def farthest(
    center: FloatArray, along: FloatArray, columns: Columns, *, share: float = 0.05
) -> float:
    """Return t such that ``center + t·along`` is attained, the greatest but for a ``share`` of it.

    Hiranandani (2021), Algorithm B.1, line 4. The mixture proves that t is attained; the
    supporting hyperplane that is its dual proves that no t greater by more than the share is.
    """
    program = Program(
        np.zeros(len(center)), np.ones(1), same_x=np.eye(len(center)),
        same_z=-along[:, None], target=center,
    )  # fmt: skip
    try:
        found = solve(program, columns, tol=1e-15, share=share)
    except ArithmeticError:  # the center itself is not a mixture of the columns
        return 0.0
    return found.value
