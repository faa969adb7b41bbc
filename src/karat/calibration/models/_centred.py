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

    def __init__(self, y: FloatArray, h: FloatArray, weight: FloatArray | None = None) -> None:
        self.seen = LatentCopula(y, h, weight)
        self.scores, self.rows = self.seen.scores, h
        self.expected = LatentCopula(h, h, weight, scores=self.scores)
        v = self.scores.own
        rest = y - self._moved(h, v)
        self.weight = _ridge_weights(v, rest, weight)

    def __call__(self, h: FloatArray) -> FloatArray:
        return self._corrected(h, self.scores(h))

    @property
    def fitted(self) -> FloatArray:
        """E[y | h] of the rows that the model was fitted to."""
        return self._corrected(self.rows, self.scores.own)

    def _moved(self, h: FloatArray, v: FloatArray) -> FloatArray:
        return np.asarray(h + self.seen.at_scores(v) - self.expected.at_scores(v))

    def _corrected(self, h: FloatArray, v: FloatArray) -> FloatArray:
        own, bent = np.split(self.weight, [1 + v.shape[1]], axis=1)
        off = own[:, 0] + v @ own[:, 1:].T + v * (v @ bent.T)
        return np.asarray(np.clip(self._moved(h, v) + off, 0.0, 1.0))


def _ridge_weights(v: FloatArray, rest: FloatArray, weight: FloatArray | None) -> FloatArray:
    """Return for each label j the weights of ``(1, v, v_j·v)``, from products of columns alone."""
    n, k = v.shape
    plain = np.column_stack([np.ones(n), v])
    if weight is not None:
        root = np.sqrt(weight)[:, None]
        plain, rest = plain * root, rest * root
    common, found = plain.T @ plain, np.empty((k, 1 + 2 * k))
    for j in range(k):
        bent = v[:, j : j + 1] * plain[:, 1:]
        across = plain.T @ bent
        gram = np.block([[common, across], [across.T, bent.T @ bent]])
        ridge = _RIDGE * np.diag(gram) + 1e-12
        target = np.concatenate([plain.T @ rest[:, j], bent.T @ rest[:, j]])
        found[j] = np.linalg.solve(gram + np.diag(ridge), target)
    return found
