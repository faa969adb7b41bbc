"""What slopes at several places say of the parameters of a metric.

Where the gradient is ``Jθ`` for parameters θ and a known matrix J, the slope f (the gradient's
direction) says ``(I − ffᵀ)Jθ = 0``; all slopes together leave one direction of θ, found as a null
vector (Hiranandani 2021, sections 5.3 and 6.2, solves ratios of single entries in its place).

For groups each gradient is ``h + Jθ`` with h known, in units of what errors cost:
``(I − ffᵀ)(h + Jθ) = 0``. Where gaps hardly cost anything, weights that no violation may have, or
very great ones, have nearly the same slopes.
"""

from collections.abc import Callable

import numpy as np

from karat._typing import FloatArray

__all__ = ["least_squares_within", "null_vectors", "off_slope", "solve_slopes"]

_DESCENTS = 300  # accelerated gradient steps
_STILL = 1e-14  # a step this short, relative to the weights, is rounding
_LEAST = 1.0  # times tol: weight of the rows that pull costs of gaps toward 0
_REWEIGHED = 3  # rounds in which sites are weighed by the lengths of their gradients
_SHORT = 1e-3  # of the unit of errors: a shorter gradient is taken for 0
_SLACK = 10.0  # times tol: by how much errors of slopes make weights inadmissible
_GREAT = 10.0  # what gaps may cost in units of errors before smaller costs are tried


def solve_slopes(
    slopes: list[FloatArray],
    knowns: list[FloatArray],
    designs: list[FloatArray],
    admissible: Callable[[FloatArray], FloatArray],
    tol: float,
) -> FloatArray:
    """Return θ (n, size) such that each gradient ``known + design θ`` is along its slope.

    Slopes and knowns are (n, q), designs (q, size); ``admissible`` returns the nearest θ that a
    violation may have. If all knowns are 0 (errors do not count) θ has norm 1.
    """
    free = not any(known.any() for known in knowns)
    wholes = []
    for slope, known, design in zip(slopes, knowns, designs, strict=True):
        whole = np.broadcast_to(design, (len(slope), *design.shape))
        wholes.append(whole if free else np.concatenate([known[:, :, None], whole], axis=2))
    rows = [off_slope(slope, whole) for slope, whole in zip(slopes, wholes, strict=True)]
    found = _null_vectors_by_angle(rows, wholes, 0.0 if free else _LEAST * tol)
    along = sum(
        np.einsum("nq,nqd,nd->n", slope, whole, found)
        for slope, whole in zip(slopes, wholes, strict=True)
    )
    found = np.where(along < 0, -1.0, 1.0)[:, None] * found
    if free:
        return admissible(found)
    # The first entry is the weight of errors, which is not negative: 0 if only gaps count.
    theta = found[:, 1:] / np.maximum(found[:, :1], 1e-12)
    nearest = admissible(theta)
    size = 1.0 + np.linalg.norm(theta, axis=1)
    far = np.linalg.norm(nearest - theta, axis=1) > _SLACK * tol * size
    doubtful = np.flatnonzero(far | (found[:, 0] <= 0) | (size > _GREAT))
    if len(doubtful):  # take the smallest admissible weights that explain the slopes as well
        least = least_squares_within(np.concatenate(rows, axis=1)[doubtful], admissible)
        sites = [(f[doubtful], w[doubtful]) for f, w in zip(slopes, wholes, strict=True)]
        before = np.max([_sine(f, w, nearest[doubtful]) for f, w in sites], axis=0)
        after = np.max([_sine(f, w, least) for f, w in sites], axis=0)
        better = after <= np.maximum(before, tol)
        nearest[doubtful[better]] = least[better]
    return nearest


def _null_vectors_by_angle(
    rows: list[FloatArray], wholes: list[FloatArray], least: float
) -> FloatArray:
    """Return null vectors of rows, each site weighed by the length of its gradient.

    A slope is known to the same angle, however long the gradient is. With ``least`` above 0, what
    rounding leaves open is not taken for a large cost: the solution shifts by less than rounding
    shifts it.
    """
    n, _, size = rows[0].shape
    ridge = [np.broadcast_to(least * np.eye(size)[1:], (n, size - 1, size))] if least else []
    found = null_vectors(np.concatenate([*rows, *ridge], axis=1))
    for _ in range(_REWEIGHED):
        lengths = [np.linalg.norm((w @ found[:, :, None])[:, :, 0], axis=1) for w in wholes]
        lengths += [np.max(lengths, axis=0)] * len(ridge)
        weighed = [
            row / np.maximum(length, _SHORT)[:, None, None]
            for row, length in zip([*rows, *ridge], lengths, strict=True)
        ]
        found = null_vectors(np.concatenate(weighed, axis=1))
    return found


def least_squares_within(
    equations: FloatArray, nearest: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Return θ (n, size) in a convex set that best solves equations (n, r, 1 + size) in (1, θ).

    ``nearest`` is the projection onto the set. By accelerated gradient steps from 0, so that what
    the equations leave open stays near 0.
    """
    left, right = equations[:, :, 1:], -equations[:, :, 0]
    gram = left.swapaxes(1, 2) @ left
    target = (left.swapaxes(1, 2) @ right[:, :, None])[:, :, 0]
    step = 1.0 / (np.linalg.eigvalsh(gram)[:, -1:] + 1e-300)
    theta = ahead = nearest(np.zeros_like(target))
    for n in range(_DESCENTS):
        slope = (gram @ ahead[:, :, None])[:, :, 0] - target
        moved = nearest(ahead - step * slope)
        if np.abs(moved - ahead).max() <= _STILL * (1.0 + np.abs(moved).max()):
            return moved  # a point that a step leaves where it is solves the problem
        ahead = moved + (moved - theta) * n / (n + 3.0)
        theta = moved
    return theta


def _sine(slope: FloatArray, whole: FloatArray, theta: FloatArray) -> FloatArray:
    """Return the sine of the angle between slopes (n, q) and gradients; 1 beyond 90 degrees."""
    gradient = whole[:, :, 0] + (whole[:, :, 1:] @ theta[:, :, None])[:, :, 0]
    along = np.einsum("nq,nq->n", slope, gradient)
    off = np.linalg.norm(gradient - slope * along[:, None], axis=1)
    return np.where(along > 0, off / (np.linalg.norm(gradient, axis=1) + 1e-300), 1.0)


def off_slope(slopes: FloatArray, design: FloatArray) -> FloatArray:
    """Return ``(I − ffᵀ)J``, (n, q, size): the part of J across the slopes f; J where f is 0."""
    along = np.einsum("nq,...qd->nd" if design.ndim == 2 else "nq,nqd->nd", slopes, design)
    return np.asarray(design - slopes[:, :, None] * along[:, None, :])


def null_vectors(rows: FloatArray) -> FloatArray:
    """Return the unit vectors (n, size) that rows (n, r, size) send nearest to 0.

    By inverse iteration, which is some ten times faster than a decomposition of each.
    """
    gram = rows.swapaxes(1, 2) @ rows
    size = gram.shape[-1]
    scale = np.einsum("ndd->n", gram)[:, None, None] + 1e-300
    inverse = np.linalg.inv(gram / scale + 1e-14 * np.eye(size))  # not singular
    vector = np.tile(np.cos(np.arange(size)), (len(rows), 1))  # any start that is not orthogonal
    for _ in range(5):
        vector = (inverse @ vector[:, :, None])[:, :, 0]
        vector /= np.linalg.norm(vector, axis=1, keepdims=True)
    return np.asarray(vector)
