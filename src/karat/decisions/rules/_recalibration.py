"""Probabilities recalibrated by a logistic model of their log-odds."""

import numpy as np

from karat._typing import FloatArray

__all__ = ["log_odds", "recalibrated"]


def log_odds(proba: FloatArray, floor: float) -> FloatArray:
    """Return the log-odds (n, k−1) of each class against the first, none below ``floor``."""
    logs = np.log(np.clip(proba, floor, None))
    return np.asarray(logs[:, 1:] - logs[:, :1])


def recalibrated(proba: FloatArray, matrix: FloatArray, floor: float) -> FloatArray:
    """Return the probabilities (n, k) of a logistic model of the log-odds.

    ``matrix`` (k, k) has a row per class: its level, and its slopes in the k−1 log-odds.
    """
    scores = matrix[:, 0] + log_odds(proba, floor) @ matrix[:, 1:].T
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))
