r"""Whether two classes explain the scores better than one scale without classes.

If voters see one quality t that varies continuously, :math:`z_j = \lambda_j t + \sqrt{1 -
\lambda_j^2}\,\epsilon_j`, their scores agree as they do with two classes, and which side of what
point is "class 1" cannot be known. Both models have one number per voter beside the cut-points.
"""

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["two_classes_ahead"]

_MOST = 1500  # items that are compared
_NODES = 21


def two_classes_ahead(
    codes: IntArray, weight: FloatArray, chances: FloatArray, share: float, levels: IntArray
) -> float:
    """Return by how many standard errors two classes predict the scores better than one scale."""
    rows = np.arange(len(codes))
    if len(rows) > _MOST:
        rows = np.random.default_rng(0).choice(
            len(codes), _MOST, replace=False, p=weight / weight.sum()
        )
        weight = np.ones(len(codes))
    codes, weight = codes[rows], weight[rows]
    two = _two_classes(codes, chances, share)
    one = _one_scale(codes, weight, levels)
    ahead = two - one
    total = weight.sum()
    mean = float(weight @ ahead / total)
    spread = float(np.sqrt(max(weight @ (ahead - mean) ** 2 / total, 1e-12)))
    return float(mean * np.sqrt(total) / spread)


def _two_classes(codes: IntArray, chances: FloatArray, share: float) -> FloatArray:
    log = np.log(np.maximum(chances, 1e-12))
    parts = np.log([1 - share, share])[:, None] + np.zeros(len(codes))
    for j in range(codes.shape[1]):
        said = codes[:, j] >= 0
        parts[:, said] += log[j][:, codes[said, j]]
    return np.asarray(np.logaddexp(parts[0], parts[1]))


def _one_scale(codes: IntArray, weight: FloatArray, levels: IntArray) -> FloatArray:
    """Return the log-likelihood of each item under the best loadings."""
    from scipy.optimize import minimize
    from scipy.special import ndtri

    cuts = []
    for j in range(codes.shape[1]):
        said = codes[:, j] >= 0
        count = np.bincount(codes[said, j], weights=weight[said], minlength=levels[j]) + 1e-3
        below = ndtri(np.cumsum(count)[:-1] / count.sum())
        cuts.append(np.concatenate([[-np.inf], below, [np.inf]]))
    nodes, mass = np.polynomial.hermite_e.hermegauss(_NODES)
    mass = mass / mass.sum()

    def items(loading: FloatArray) -> FloatArray:
        return _factor_log(codes, cuts, np.tanh(loading), nodes, mass)

    best = minimize(
        lambda loading: -float(weight @ items(loading)) / weight.sum(),
        np.full(codes.shape[1], 0.9),
        method="L-BFGS-B",
        bounds=[(-3.0, 3.0)] * codes.shape[1],
        options={"maxiter": 40},
    )
    return items(best.x)


def _factor_log(
    codes: IntArray,
    cuts: list[FloatArray],
    loading: FloatArray,
    nodes: FloatArray,
    mass: FloatArray,
) -> FloatArray:
    from scipy.special import ndtr

    log = np.zeros((len(codes), len(nodes)))
    for j, edges in enumerate(cuts):
        scale = np.sqrt(1 - loading[j] ** 2)
        below = ndtr((edges[:, None] - loading[j] * nodes) / scale)
        level = np.log(np.maximum(np.diff(below, axis=0), 1e-12))
        said = codes[:, j] >= 0
        log[said] += level[codes[said, j]]
    top = log.max(axis=1, keepdims=True)
    return np.asarray(top[:, 0] + np.log(np.exp(log - top) @ mass))
