"""The latent Gaussian model of labels given all probabilities, in closed form."""

import numpy as np

from karat._typing import FloatArray
from karat.calibration.models._normal_scores import NormalScores

__all__ = ["LatentCopula", "shrunk_correlation"]

# Share of a latent label's variance that probabilities may explain: at 1 the noise s_j would be 0.
_MOST = 0.98


class LatentCopula:
    r"""Each label as a latent Gaussian variable above a threshold, fitted by moments.

    ``P(y_j = 1 | h) = Φ((μ_j − τ_j)/s_j)``, where ``y_j`` is 1 if a latent Gaussian exceeds
    ``τ_j = Φ⁻¹(p_j(0))``; latent variables and the normal scores v of h are jointly Gaussian. With
    the biserial correlations ``r_j`` and the correlation R of the scores, ``μ_j = r_jᵀR⁻¹v`` and
    ``s_j² = 1 − r_jᵀR⁻¹r_j``.
    """

    def __init__(
        self,
        y: FloatArray,
        h: FloatArray,
        weight: FloatArray | None = None,
        *,
        scores: NormalScores | None = None,
    ) -> None:
        from scipy.special import ndtri

        self.scores = NormalScores(h, weight) if scores is None else scores  # of the same rows
        v, n = self.scores.own, self.scores.total
        each = np.full(len(y), 1 / n) if weight is None else weight / n
        spread = np.sqrt(each @ v**2 - (each @ v) ** 2)
        spread[~(spread > 1e-9)] = 1.0
        v = v / spread
        share = each @ y
        # A label that is always 0 or 1 stays so, as far as n rows can say.
        self.tau = -ndtri(np.clip(share, 0.5 / (n + 1), 1 - 0.5 / (n + 1)))
        density = np.exp(-(self.tau**2) / 2) / np.sqrt(2 * np.pi)
        r = ((y - share) * each[:, None]).T @ v / density[:, None]
        slope = np.linalg.solve(shrunk_correlation(v, weight), r.T).T
        explained = (slope * r).sum(axis=1)
        factor = np.sqrt(np.minimum(1.0, _MOST / np.maximum(explained, 1e-300)))
        self.weight = slope * factor[:, None] / spread
        self.noise = np.sqrt(1.0 - explained * factor**2)

    def __call__(self, h: FloatArray) -> FloatArray:
        return self.at_scores(self.scores(h))

    @property
    def fitted(self) -> FloatArray:
        """E[y | h] of the rows that the model was fitted to."""
        return self.at_scores(self.scores.own)

    def at_scores(self, v: FloatArray) -> FloatArray:
        """Return E[y | h] of rows by their normal scores."""
        from scipy.special import ndtr

        at = v @ (self.weight / self.noise[:, None]).T
        at -= self.tau / self.noise
        return np.asarray(ndtr(at, out=at))


def shrunk_correlation(v: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return the correlation of columns of mean 0, drawn toward independence (Ledoit–Wolf)."""
    k = v.shape[1]
    n = float(len(v) if weight is None else weight.sum())
    root = v if weight is None else v * np.sqrt(weight)[:, None]
    cov = root.T @ root / n
    scale = np.trace(cov) / k
    off = cov - scale * np.eye(k)
    distance = (off**2).sum()
    length = (v**2).sum(axis=1)  # Σ_jk v_j² v_k² is its square
    fourth = float(length @ length if weight is None else weight @ length**2)
    spread = (fourth / n - (cov**2).sum()) / n
    amount = 1.0 if distance <= 0 else min(1.0, max(0.0, float(spread / distance)))
    shrunk = cov - amount * off + 1e-9 * np.eye(k)  # constant columns have no variance at all
    size = np.sqrt(np.diag(shrunk))
    size[size == 0] = 1.0
    return np.asarray(shrunk / np.outer(size, size))
