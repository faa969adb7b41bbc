"""The latent model, centred: it leaves calibrated probabilities where they are."""

import numpy as np

from karat._typing import FloatArray
from karat.calibration.models._latent import LatentCopula

__all__ = ["CentredCopula"]

_RIDGE = 0.02  # of the ridge regression, relative to the squares of each feature


class CentredCopula:
    r"""The latent model's move away from labels as probable as h says, with a linear correction.

    The latent model L cannot represent every calibrated law: for classes of which one is right, or
    for a few distinct probabilities, it moves away from h even if labels are drawn from h. Its
    moments are linear in the labels, so fitting it to h in place of y gives that move without a
    draw, and

    .. math:: G_0 = h + L_{y,h} - L_{h,h}

    is h where the labels are calibrated. What is left of y is regressed, label by label, on
    ``(1, v, v_j·v)`` with the normal scores v of h, by ridge.
    """

    def __init__(self, y: FloatArray, h: FloatArray) -> None:
        self.seen, self.expected = LatentCopula(y, h), LatentCopula(h, h)
        self.scores, self.rows = self.seen.scores, h
        v = self.scores.own
        rest = y - self._moved(h, v)
        self.weight = np.stack([_ridge(_features(v, j), rest[:, j]) for j in range(y.shape[1])])

    def __call__(self, h: FloatArray) -> FloatArray:
        return self._corrected(h, self.scores(h))

    @property
    def fitted(self) -> FloatArray:
        """E[y | h] of the rows that the model was fitted to."""
        return self._corrected(self.rows, self.scores.own)

    def _moved(self, h: FloatArray, v: FloatArray) -> FloatArray:
        return np.asarray(h + self.seen.at_scores(v) - self.expected.at_scores(v))

    def _corrected(self, h: FloatArray, v: FloatArray) -> FloatArray:
        off = np.column_stack([_features(v, j) @ w for j, w in enumerate(self.weight)])
        return np.asarray(np.clip(self._moved(h, v) + off, 0.0, 1.0))


def _features(v: FloatArray, j: int) -> FloatArray:
    return np.column_stack([np.ones(len(v)), v, v[:, j : j + 1] * v])


def _ridge(x: FloatArray, rest: FloatArray) -> FloatArray:
    penalty = _RIDGE * len(x) * (x**2).mean(axis=0) + 1e-12
    return np.asarray(np.linalg.solve(x.T @ x + np.diag(penalty), x.T @ rest))
