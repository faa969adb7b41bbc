"""A point as a mixture of extreme ones: feasibility, distance to the boundary, a classifier.

The feasible set is the convex hull of the Bayes-optimal confusions of all linear metrics. A small
linear program over the extreme points found so far either reaches the target or returns, as its
dual, the direction in which to look for the next one (column generation).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray

__all__ = ["Extremes", "Mixture", "farthest", "mixture_of"]

# Finds the extreme points of rows of directions.
Oracle = Callable[[FloatArray], FloatArray]
_MOST_ROUNDS = 200


@dataclass(frozen=True, slots=True)
class Mixture:
    """Extreme points (by the directions that find them), their shares, and what is missing."""

    directions: FloatArray
    shares: FloatArray
    missing: float


@dataclass(slots=True)
class Extremes:
    """The extreme points found so far; every program adds to its own copy."""

    directions: FloatArray
    points: FloatArray

    def copy(self) -> "Extremes":
        return Extremes(self.directions, self.points)

    def add(self, directions: FloatArray, extreme: Oracle) -> None:
        self.directions = np.vstack([self.directions, directions])
        self.points = np.vstack([self.points, extreme(directions)])


def farthest(
    center: FloatArray, along: FloatArray, known: Extremes, extreme: Oracle, gap: float = 0.05
) -> float:
    """Return t such that ``center + t·along`` is feasible, the greatest but for ``gap`` of it.

    Algorithm B.1, line 4. The mixture proves that t is feasible; the supporting hyperplane that
    is its dual proves that no t greater by more than the gap is.
    """
    best = 0.0
    steady = along / np.linalg.norm(along)
    for _ in range(_MOST_ROUNDS):
        # maximise t: Σ shares·points − t·along = center, Σ shares = 1
        columns = np.vstack([known.points.T, np.ones(len(known.points))])
        ray = np.append(-along, 0.0)[:, None]
        result = _solve(np.hstack([columns, ray]), np.append(center, 1.0), ray_column=True)
        if result is None:
            return best
        best, normal = float(result[0][-1]), result[1][:-1]
        normal = normal / np.linalg.norm(normal)
        # The program's normals swing; an average of them finds points where they are missing.
        steady = steady + normal
        steady = steady / np.linalg.norm(steady)
        tried = np.vstack([normal, normal + steady, steady])
        known.add(tried, extreme)
        gains = np.sum((known.points[-3:] - center) * tried, axis=1)
        bound = float(np.min(gains / (tried @ along)))
        if bound <= (1.0 + gap) * best + 1e-15:
            return best
    return best


def mixture_of(target: FloatArray, known: Extremes, extreme: Oracle, tol: float = 1e-9) -> Mixture:
    """Return the mixture of extreme points nearest to ``target`` in the sum of differences."""
    dim = len(target)
    for _ in range(_MOST_ROUNDS):
        slack = np.vstack([np.hstack([np.eye(dim), -np.eye(dim)]), np.zeros(2 * dim)])
        columns = np.vstack([known.points.T, np.ones(len(known.points))])
        result = _solve(np.hstack([columns, slack]), np.append(target, 1.0), n_slack=2 * dim)
        if result is None:  # pragma: no cover - the slack makes the program feasible
            break
        solution, duals = result
        missing = float(solution[len(known.points) :].sum())
        shares = solution[: len(known.points)]
        if missing <= tol or not _improved(duals[:-1], known, extreme, tol):
            break
    used = np.flatnonzero(shares > 1e-12)  # points found since are not in the mixture
    return Mixture(known.directions[used], shares[used] / shares[used].sum(), missing)


def _improved(normal: FloatArray, known: Extremes, extreme: Oracle, tol: float) -> bool:
    """Add the extreme point of a direction; false if it is no farther out than those known."""
    size = float(np.linalg.norm(normal))
    if size < 1e-14:
        return False
    direction = normal / size
    reached = float((known.points @ direction).max())
    known.add(direction[None], extreme)
    return float(known.points[-1] @ direction) > reached + tol


def _solve(
    columns: FloatArray, right: FloatArray, *, n_slack: int = 0, ray_column: bool = False
) -> tuple[FloatArray, FloatArray] | None:
    """Solve the program in standard form; return the solution and the outward normal."""
    from scipy.optimize import linprog

    cost = np.zeros(columns.shape[1])
    if n_slack:
        cost[-n_slack:] = 1.0
    if ray_column:
        cost[-1] = -1.0
    answer = linprog(cost, A_eq=columns, b_eq=right, bounds=(0, None), method="highs")
    if answer.status != 0:
        return None
    return answer.x, np.asarray(answer.eqlin.marginals)
