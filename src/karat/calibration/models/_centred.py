"""The latent model, centred: it leaves calibrated probabilities where they are."""

import numpy as np

from karat._typing import FloatArray
from karat.calibration.models._latent import LatentCopula

__all__ = ["CentredCopula", "moved"]

_BLOCK = 1024  # rows
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

    def __init__(
        self,
        y: FloatArray,
        h: FloatArray,
        weight: FloatArray | None = None,
        *,
        ridge: float = _RIDGE,
        cut: bool = True,
    ) -> None:
        self.cut = cut
        self.seen = LatentCopula(y, h, weight)
        self.scores = self.seen.scores
        self.expected = LatentCopula(h, h, weight, scores=self.scores)
        v = self.scores.own
        self.own = moved(h, v, self.seen, self.expected)
        self.weight = _ridge_weights(v, y - self.own, weight, ridge)

    def __call__(self, h: FloatArray) -> FloatArray:
        v = self.scores(h)
        return self._corrected(moved(h, v, self.seen, self.expected), v)

    @property
    def fitted(self) -> FloatArray:
        """E[y | h] of the rows that the model was fitted to."""
        return self._corrected(self.own, self.scores.own)

    def _corrected(self, start: FloatArray, v: FloatArray) -> FloatArray:
        own, bent = np.split(self.weight, [1 + v.shape[1]], axis=1)
        off = v @ bent.T
        off *= v
        off += v @ own[:, 1:].T
        off += own[:, 0]
        off += start
        return np.clip(off, 0.0, 1.0, out=off) if self.cut else off


def moved(h: FloatArray, v: FloatArray, seen: LatentCopula, expected: LatentCopula) -> FloatArray:
    """Return ``h + L_y − L_h`` at rows with normal scores v."""
    found = seen.at_scores(v)
    found -= expected.at_scores(v)
    found += h
    return found


def _ridge_weights(
    v: FloatArray, rest: FloatArray, weight: FloatArray | None, ridge: float
) -> FloatArray:
    """Return for each label j the weights of ``(1, v, v_j·v)``.

    Products of two, three and four scores are all that the regressions need; those of v_a and v_b
    serve every label, so they are formed once, in blocks that fit in a processor's memory.
    """
    n, k = v.shape
    first, second = np.triu_indices(k)
    place = np.empty((k, k), dtype=int)
    place[first, second] = place[second, first] = np.arange(len(first))
    moments, plain = np.zeros((len(first), 1 + 2 * k)), np.zeros((1 + k, k))
    ahead, sums, total = np.zeros((k, k)), np.zeros(k), 0.0
    for start in range(0, n, _BLOCK):
        rows = slice(start, start + _BLOCK)
        at, off = v[rows], rest[rows]
        one = np.ones(len(at)) if weight is None else weight[rows]
        counted = at * one[:, None]
        products = counted[:, first] * at[:, second]
        moments += products.T @ np.column_stack([np.ones(len(at)), at, at**2])
        plain[0] += one @ off
        plain[1:] += counted.T @ off
        ahead += (at * off).T @ counted
        sums += counted.sum(axis=0)
        total += float(one.sum())
    square = moments[:, 0][place]  # of v_a v_b
    common = np.block([[np.array([[total]]), sums[None, :]], [sums[:, None], square]])
    found = np.empty((k, 1 + 2 * k))
    for j in range(k):
        across = np.vstack([square[j], moments[:, 1 + j][place]])
        gram = np.block([[common, across], [across.T, moments[:, 1 + k + j][place]]])
        penalty = ridge * np.diag(gram) + 1e-12
        found[j] = np.linalg.solve(gram + np.diag(penalty), np.append(plain[:, j], ahead[j]))
    return found
