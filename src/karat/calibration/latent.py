"""The latent Gaussian model of several labels that depend on each other."""

from __future__ import annotations

import numpy as np

from karat._typing import FloatArray

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
        """Return the probabilities of the labels, given those of the model."""
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


# --- The latent Gaussian model of labels given all probabilities, in closed form.

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
        """Return the probabilities of the labels, given those of the model."""
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


# --- The form of the latent model, fitted by maximum likelihood.

_STEPS = 30  # Newton's method needs fewer than ten unless labels can be separated
_RIDGE = 1.0  # of one observation's worth: keeps separable labels finite


class ProbitCopula:
    """A probit regression of each label on the normal scores v of all probabilities.

    ``P(y_j = 1 | h) = Φ(a_j + b_jᵀv)``, by Newton's method.
    """

    def __init__(self, y: FloatArray, h: FloatArray, weight: FloatArray | None = None) -> None:
        self.scores = NormalScores(h, weight)
        v = self.scores.own
        x = np.column_stack([np.ones(len(v)), v])
        self.weight = np.array([probit_weights(x, y[:, j], weight) for j in range(y.shape[1])])

    def __call__(self, h: FloatArray) -> FloatArray:
        return self._conditional_mean(self.scores(h))

    @property
    def fitted(self) -> FloatArray:
        """E[y | h] of the rows that the model was fitted to."""
        return self._conditional_mean(self.scores.own)

    def _conditional_mean(self, v: FloatArray) -> FloatArray:
        from scipy.special import ndtr

        return np.asarray(ndtr(v @ self.weight[:, 1:].T + self.weight[:, 0]))


def probit_weights(x: FloatArray, y: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return the weights of a probit regression with a small ridge on all but the intercept."""
    from scipy.special import log_ndtr, ndtri

    each = np.ones(len(y)) if weight is None else weight
    half = 0.5 / (each.sum() + 1)
    share = float(np.clip(each @ y / each.sum(), half, 1 - half))
    beta = np.zeros(x.shape[1])
    beta[0] = ndtri(share)
    if share in (half, 1 - half):
        return beta
    ridge = np.full(x.shape[1], _RIDGE)
    ridge[0] = 1e-6
    sign = 2 * y - 1
    for _ in range(_STEPS):
        t = sign * (x @ beta)
        mills = np.exp(-(t**2) / 2 - log_ndtr(t)) / np.sqrt(2 * np.pi)
        curve = each * mills * (mills + t)
        gradient = x.T @ (each * sign * mills) - ridge * beta
        step = np.linalg.solve((x * curve[:, None]).T @ x + np.diag(ridge), gradient)
        beta = beta + step
        if np.abs(step).max() < 1e-8:
            break
    return beta


class NormalScores:
    """Maps each column to ``Φ⁻¹(mid-rank / (N + 1))`` among the rows it was made from.

    Mid-ranks over N + 1 keep the extremes finite, whatever the ties. ``own`` are the scores of
    those rows themselves. A row of weight w counts as w rows.
    """

    def __init__(self, h: FloatArray, weight: FloatArray | None = None) -> None:
        from scipy.special import ndtri

        n, k = h.shape
        self.columns = np.empty((k, n))
        self.below: FloatArray | None = None if weight is None else np.zeros((k, n + 1))
        self.total = float(n if weight is None else weight.sum())
        ranks = np.empty((k, n))
        columns = np.ascontiguousarray(h.T)
        for j in range(k):
            order = np.argsort(columns[j])
            self.columns[j] = column = columns[j, order]
            first = np.flatnonzero(np.concatenate([[True], column[1:] > column[:-1]]))
            ends = np.append(first, n)
            if weight is not None and self.below is not None:
                np.cumsum(weight[order], out=self.below[j, 1:])
                reach = self.below[j, ends]
            else:
                reach = ends.astype(float)
            middle = (reach[:-1] + reach[1:] + 1) / 2
            ranks[j, order] = middle if len(first) == n else np.repeat(middle, np.diff(ends))
        ranks /= self.total + 1
        self.own = np.ascontiguousarray(ndtri(ranks, out=ranks).T)

    def __call__(self, h: FloatArray) -> FloatArray:
        from scipy.special import ndtri

        ranks = np.empty(h.shape)
        for j, column in enumerate(self.columns):
            below = np.searchsorted(column, h[:, j], side="left")
            upto = np.searchsorted(column, h[:, j], side="right")
            if self.below is not None:
                below, upto = self.below[j, below], self.below[j, upto]
            ranks[:, j] = (below + upto + 1) / 2
        most = self.total + 0.5
        return np.asarray(ndtri(np.clip(ranks, 0.5, most) / (self.total + 1)))
