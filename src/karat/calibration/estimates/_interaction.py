"""A test for interactions: a label that goes with a product of two labels' probabilities."""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray

__all__ = ["Interaction", "chernoff_p_value", "interaction_test"]

_BLOCK = 4096  # rows whose products are in memory at a time
_CANDIDATES = 8  # of the largest sums, whose p-values are worked out
_MOST = 2_000_000  # sums; beyond that nothing is looked at
_STEPS = 50


class Interaction(NamedTuple):
    """The product of two probabilities that a label's residuals go with most.

    Attributes
    ----------
    label, first, second : int
        The label, and the two whose probabilities are multiplied.
    sign : int
        1 if the label is more frequent than its probability says where both are high or both low,
        −1 if it is where one is high and the other low.
    p_value : float
        Of the hypothesis that probabilities are canonically calibrated.
    """

    label: int
    first: int
    second: int
    sign: int
    p_value: float


def interaction_test(y: FloatArray, h: FloatArray, v: FloatArray) -> Interaction | None:
    """Test whether residuals of any label go with a product of two labels' ranks.

    ``S = Σ_i (y_ij − h_ij) f_i`` with ``f = u_k u_l`` and ranks u scaled to (−1, 1), which the
    normal scores v give. Where the label is Bernoulli(h_ij) in every row the law of S is known
    whatever labels have to do with each other, so its tail is bounded (Chernoff), and the least of
    these bounds is multiplied by the number of sums (Bonferroni): the level holds for any number of
    rows and any rarity. None for one label, or for more than about 150.
    """
    from scipy.special import ndtr

    k = y.shape[1]
    first, second = np.triu_indices(k, 1)
    tests = k * len(first)
    if not 0 < tests <= _MOST:
        return None
    u = 2 * ndtr(v) - 1
    size, spread = np.zeros((k, len(first))), np.zeros((k, len(first)))
    for start in range(0, len(y), _BLOCK):
        rows = slice(start, start + _BLOCK)
        product = u[rows][:, first] * u[rows][:, second]
        size += (y[rows] - h[rows]).T @ product
        spread += (h[rows] * (1 - h[rows])).T @ product**2
    scaled = np.divide(np.abs(size), np.sqrt(spread), out=np.zeros_like(size), where=spread > 1e-12)
    found = []
    for place in np.argsort(-scaled, axis=None)[:_CANDIDATES]:
        j, pair = divmod(int(place), len(first))
        a, b, sign = int(first[pair]), int(second[pair]), 1 if size[j, pair] >= 0 else -1
        tail = chernoff_p_value(y[:, j], h[:, j], sign * u[:, a] * u[:, b])
        found.append(Interaction(j, a, b, sign, min(1.0, 2 * tests * tail)))
    return min(found, key=lambda each: each.p_value)


def chernoff_p_value(y: FloatArray, h: FloatArray, f: FloatArray) -> float:
    """Return a bound on the chance of ``Σ (y − h) f`` or more, for independent Bernoulli(h).

    ``min_t exp(Σ log(1 − h + h e^{tf}) − t Σ y f)`` over t ≥ 0, by Newton's method; any t gives a
    bound.
    """
    from scipy.special import expit, log_expit

    certain = (h <= 0) | (h >= 1)
    if np.any(y[certain] != h[certain]):
        return 0.0  # what was impossible has happened
    y, h, f = y[~certain], h[~certain], f[~certain]
    at, seen = np.log(h) - np.log1p(-h), float(y @ f)

    def log_bound(t: float) -> float:
        # log(1 − h + h e^{tf}) = log(1 − h) − log(1 − σ(logit h + tf))
        return float((np.log1p(-h) - log_expit(-(at + t * f))).sum() - t * seen)

    t, best = 0.0, 0.0
    for _ in range(_STEPS):
        p = expit(at + t * f)
        slope, curve = float(p @ f) - seen, float((f**2) @ (p * (1 - p)))
        if curve <= 1e-12 or abs(slope) <= 1e-9 or (t == 0 and slope > 0):
            break
        step = float(np.clip(-slope / curve, -t, 1.0 + t))
        while (then := log_bound(t + step)) > best and abs(step) > 1e-9:
            step /= 2
        if then > best:
            break
        t, best = t + step, then
    return float(np.exp(best))
