"""The estimator of Panda & Garain (2023), kept for comparison."""

import numpy as np

from karat._typing import FloatArray
from karat.calibration.models._latent import shrunk_correlation
from karat.calibration.models._normal_scores import NormalScores

__all__ = ["DequantizedCopula"]

_BLOCK = 512  # rows whose products with all rows are in memory at a time


class DequantizedCopula:
    """A Gaussian copula of probabilities and labels that uniform noise makes continuous.

    ``Ê[z_j | h] = (1/N) Σ_i z_ij φ̂(𝔉_j(z_ij), F(h))`` with ``z = y + U(−½, ½)`` (eq. 5–14). φ is
    the ratio of Gaussian copula densities, so each term weighs row i by the density of its normal
    score under the conditional law of z_j given h. The noise makes z independent of h given y,
    which a Gaussian copula of (z, h) is not: the estimate stays biased however many rows there are.
    It costs O(N²K).
    """

    def __init__(self, y: FloatArray, h: FloatArray, rng: np.random.Generator) -> None:
        from scipy.special import ndtri

        n, _ = y.shape
        self.scores = NormalScores(h)
        v = self.scores.own
        jitter = rng.random(y.shape) - 0.5
        self.z = y + jitter
        none = 1.0 - y.mean(axis=0)
        level = np.where(y == 0, none * (jitter + 0.5), none + (1 - none) * (jitter + 0.5))
        self.q = ndtri(np.clip(level, 0.5 / n, 1 - 0.5 / n))
        spread = v.std(axis=0)
        spread[spread == 0] = 1.0
        q = self.q - self.q.mean(axis=0)
        size = q.std(axis=0)
        size[size == 0] = 1.0
        r = (q / size).T @ (v / spread) / n
        weight = np.linalg.solve(shrunk_correlation(v / spread), r.T).T
        explained = np.clip((weight * r).sum(axis=1), 0.0, 0.98)
        self.weight, self.noise = weight / spread, np.sqrt(1.0 - explained)

    def __call__(self, h: FloatArray) -> FloatArray:
        return self._conditional_mean(self.scores(h))

    @property
    def fitted(self) -> FloatArray:
        """E[y | h] of the rows that the model was fitted to."""
        return self._conditional_mean(self.scores.own)

    def _conditional_mean(self, v: FloatArray) -> FloatArray:
        mean = v @ self.weight.T
        found = np.empty(v.shape)
        for start in range(0, len(v), _BLOCK):
            block = mean[start : start + _BLOCK]
            for j in range(v.shape[1]):
                t = (self.q[:, j] - block[:, j, None]) / self.noise[j]
                ratio = np.exp((self.q[:, j] ** 2 - t**2) / 2) / self.noise[j]
                found[start : start + _BLOCK, j] = ratio @ self.z[:, j] / len(self.z)
        return found
