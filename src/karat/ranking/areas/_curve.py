"""The ROC curve as straight lines between corners: as seen, inside bands, and inside a box."""

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.ranking.areas._bands import Band
from karat.ranking.placements import Placements
from karat.ranking.weights import FprBand, TwoWayBand

__all__ = ["band_inside", "box_area", "curve", "curves_in_bands"]


def curve(placed: Placements, at: IntArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Return the corners of the interpolated ROC curve, from (0, 0) to (1, 1).

    ``at`` names some of the positives, in ascending order, whose corners are enough.
    """
    left, right = (side if at is None else side[at] for side in (placed.left, placed.right))
    # Tied positives make one straight line together.
    new = np.concatenate([[True], (np.diff(left) > 0) | (np.diff(right) > 0)])
    left, right = left[new], right[new]
    first = np.maximum(_before(placed.left, left), _before(placed.right, right))
    last = np.minimum(_through(placed.left, left), _through(placed.right, right))
    missed = _missed(placed, np.column_stack([first, last]).ravel())
    high, low = placed.share_at(right), placed.share_at(left)
    fpr = 1.0 - np.column_stack([low, high]).ravel()[::-1]
    tpr = 1.0 - missed[::-1]
    return np.concatenate([[0.0], fpr, [1.0]]), np.concatenate([[0.0], tpr, [1.0]])


def _missed(placed: Placements, at: IntArray) -> FloatArray:
    """Return the share of the positives before each place."""
    if placed.mass is None:
        return np.asarray(at / len(placed))
    return placed.cumulative_mass(slice(0, len(placed)))[at]


def _before(steps: IntArray, at: IntArray) -> IntArray:
    return np.searchsorted(steps, at, side="left")


def _through(steps: IntArray, at: IntArray) -> IntArray:
    return np.searchsorted(steps, at, side="right")


def box_area(fpr: FloatArray, tpr: FloatArray, box: TwoWayBand) -> float:
    """Return the area under a curve of straight lines inside a box."""
    low, high = box.fpr.low, box.fpr.high
    rise, run = np.diff(tpr), np.diff(fpr)
    slope = np.divide(rise, run, out=np.zeros_like(rise), where=run > 0)
    start, end = np.clip(fpr[:-1], low, high), np.clip(fpr[1:], low, high)
    first = tpr[:-1] + slope * (start - fpr[:-1])
    last = tpr[:-1] + slope * (end - fpr[:-1])
    return float(((end - start) * _mean_clipped(first, last, box.tpr.low, box.tpr.high)).sum())


def band_inside(fpr: FloatArray, tpr: FloatArray, box: TwoWayBand) -> FprBand | None:
    """Return the false-positive rates at which the curve is inside a box; None if it never is.

    Where the curve enters the box its height above the floor is 0, and above the ceiling that
    height does not change: to first order the error of the two-way area is that of the partial
    area between these two rates.
    """
    low = max(_first_rate(fpr, tpr, box.tpr.low), box.fpr.low)
    high = min(_first_rate(fpr, tpr, box.tpr.high), box.fpr.high)
    return FprBand(low, high) if low < high else None


def _first_rate(fpr: FloatArray, tpr: FloatArray, height: float) -> float:
    """Return the false-positive rate at which the curve reaches a height."""
    at = int(np.searchsorted(tpr, height))
    if at == 0 or tpr[at] == tpr[at - 1]:
        return float(fpr[at])
    part = (height - tpr[at - 1]) / (tpr[at] - tpr[at - 1])
    return float(fpr[at - 1] + part * (fpr[at] - fpr[at - 1]))


def _mean_clipped(first: FloatArray, last: FloatArray, low: float, high: float) -> FloatArray:
    """Return the mean of ``clip(t, low, high) − low`` for t from first to last."""
    middle = np.clip((first + last) / 2, low, high) - low
    crosses = ((first < low) & (last > low)) | ((first < high) & (last > high))

    def total(t: FloatArray) -> FloatArray:
        inside = np.clip(t, low, high) - low
        return inside**2 / 2 + (high - low) * np.maximum(t - high, 0.0)

    first, last = first[crosses], last[crosses]
    middle[crosses] = (total(last) - total(first)) / (last - first)
    return middle


def curves_in_bands(
    fpr: FloatArray, tpr: FloatArray, zero: Band, one: Band
) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    """Return the corners of the lowest and of the highest curve inside the bands."""
    lowest = 1.0 - zero.low(1.0 - fpr), 1.0 - one.high(1.0 - tpr)
    highest = 1.0 - zero.high(1.0 - fpr), 1.0 - one.low(1.0 - tpr)
    return (
        (np.concatenate([[0.0], lowest[0]]), np.concatenate([lowest[1][:1], lowest[1]])),
        (np.concatenate([highest[0], highest[0][-1:], [1.0]]),
         np.concatenate([highest[1], [1.0, 1.0]])),
    )  # fmt: skip
