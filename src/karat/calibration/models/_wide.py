"""The centred model with more slopes, for estimates from which its variance drops out."""

import numpy as np

from karat._typing import FloatArray
from karat.calibration.models._centred import moved
from karat.calibration.models._latent import LatentCopula

__all__ = ["WideCopula"]

_RIDGE = 0.002  # relative to the squares of each feature
_STEEP = 6.0  # logits beyond are taken as this
_BLOCK = 2048  # rows whose features are in memory at a time


class WideCopula:
    r"""The latent model's move, corrected by a regression that can also follow logistic maps.

    What is left of y after ``h + L_{y,h} − L_{h,h}`` is regressed, label by label, on
    ``(1, v, v_j·v, q_j, q_j·x)`` with the normal scores v, the logits x and
    ``q_j = h_j(1 − h_j)``: a logistic regression on all logits moves h_j by ``q_j·(a + bᵀx)`` to
    first order. Nothing is cut to [0, 1], for that would move calibrated probabilities near 0 up on
    average. It is too rough to predict with, and right for `debiased_terms`, where only what is
    wrong *on average* counts.
    """

    def __init__(self, y: FloatArray, h: FloatArray, *, ridge: float = _RIDGE) -> None:
        self.seen = LatentCopula(y, h)
        self.scores, self.rows = self.seen.scores, h
        self.expected = LatentCopula(h, h, scores=self.scores)
        v = self.scores.own
        rest = y - moved(h, v, self.seen, self.expected)
        self.weight = np.array([_slopes(h, v, rest[:, j], j, ridge) for j in range(y.shape[1])])

    @staticmethod
    def slopes(n_labels: int) -> int:
        """Return how many weights each label has."""
        return 2 + 3 * n_labels

    def __call__(self, h: FloatArray) -> FloatArray:
        return self._corrected(h, self.scores(h))

    @property
    def fitted(self) -> FloatArray:
        """E[y | h] of the rows that the model was fitted to."""
        return self._corrected(self.rows, self.scores.own)

    def _corrected(self, h: FloatArray, v: FloatArray) -> FloatArray:
        k = h.shape[1]
        one, own, bent, level, steep = np.split(self.weight, np.cumsum([1, k, k, 1]), axis=1)
        off = one[:, 0] + v @ own.T + v * (v @ bent.T)
        off += h * (1 - h) * (level[:, 0] + _logits(h) @ steep.T)
        return np.asarray(off + moved(h, v, self.seen, self.expected))


def _slopes(h: FloatArray, v: FloatArray, rest: FloatArray, j: int, ridge: float) -> FloatArray:
    size = WideCopula.slopes(h.shape[1])
    gram, target = np.zeros((size, size)), np.zeros(size)
    for start in range(0, len(h), _BLOCK):
        rows = slice(start, start + _BLOCK)
        at = h[rows, j]
        spread = (at * (1 - at))[:, None]
        x = np.hstack(
            [np.ones((len(at), 1)), v[rows], v[rows, j : j + 1] * v[rows], spread,
             spread * _logits(h[rows])]
        )  # fmt: skip
        gram += x.T @ x
        target += x.T @ rest[rows]
    penalty = ridge * np.diag(gram) + 1e-12
    return np.asarray(np.linalg.solve(gram + np.diag(penalty), target))


def _logits(h: FloatArray) -> FloatArray:
    from scipy.special import logit

    edge = 1 / (1 + np.exp(_STEEP))
    return np.asarray(logit(np.clip(h, edge, 1 - edge)))
