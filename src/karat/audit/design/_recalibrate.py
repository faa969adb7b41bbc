"""Guesses of the truth, corrected by the labels so far."""

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["recalibrated"]

_STEPS = 25
_RIDGE = (0.5, 4.0)  # pull of shift and slope towards 0 and 1, as of so many labels


def recalibrated(
    guess: FloatArray, labelled: FloatArray, label: IntArray, weight: FloatArray
) -> FloatArray:
    """Return guesses of two classes with log-odds a + b·log-odds, fitted to the labels by ridge.

    ``labelled`` are the guesses of the labelled items and ``weight`` how many items each stands
    for; a is pulled to 0 and b to 1, so that few labels change little.
    """
    x, w = _odds(labelled), weight * (len(weight) / weight.sum())
    shift, slope = 0.0, 1.0
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-(shift + slope * x)))
        curve = w * p * (1 - p)
        gain = np.array([w @ (label - p) - _RIDGE[0] * shift,
                         w @ ((label - p) * x) - _RIDGE[1] * (slope - 1)])  # fmt: skip
        cross = float(curve @ x)
        bend = np.array([[curve.sum() + _RIDGE[0], cross], [cross, curve @ x**2 + _RIDGE[1]]])
        step = np.linalg.solve(bend, gain)
        size = max(1.0, float(np.abs(step).max()) / 2)
        shift, slope = shift + step[0] / size, slope + step[1] / size
        if np.abs(step).max() < 1e-8:
            break
    slope = max(slope, 0.05)  # a guess that says the opposite is taken to say nothing
    p = 1 / (1 + np.exp(-(shift + slope * _odds(guess))))
    return np.stack([1 - p, p], axis=1)


def _odds(guess: FloatArray) -> FloatArray:
    p = np.clip(guess[:, 1], 1e-4, 1 - 1e-4)
    return np.asarray(np.log(p / (1 - p)))
