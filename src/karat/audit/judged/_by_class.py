"""The rate of a class from the verdicts on all items and the judges' own error rates."""

import numpy as np

from karat._typing import FloatArray

__all__ = ["class_limits"]

_DRAWS = 4000


def class_limits(
    right: FloatArray,
    seen: FloatArray,
    *,
    delta: float,
    rng: np.random.Generator,
    clusters: FloatArray | None = None,
) -> tuple[float, float, float]:
    """Return the share of the last class with its limits.

    ``right`` (k, k) counts the labelled items by truth and verdict, of sets drawn class by class;
    ``seen`` (k,) the verdicts on the items without a label. With P(verdict | truth) = C the shares
    θ solve Cᵀθ = p; of two classes that is (p + q₀ − 1)/(q₀ + q₁ − 1). Every row draws its shares
    with gamma variables, and one cell of all has a surprise of ½ on top. Judges that are no better
    than chance leave everything open. ``clusters`` (clusters, k + 1, k) are the same counts of each
    cluster, those of ``seen`` last: all items of a cluster then draw one weight, and the surprise
    is half a cluster of the usual size.
    """
    value = float(_share(right[None], seen[None])[0])
    rows = np.concatenate([right, seen[None]])
    extra = np.repeat(rng.standard_gamma(0.5, (_DRAWS, 1)), len(rows), axis=1)
    if clusters is None:
        shapes = np.where(rows > 0, rows, 1.0)
        base = rng.standard_gamma(shapes, (_DRAWS, *rows.shape)) * (rows > 0)
    else:
        drawn = rng.standard_gamma(1.0, (_DRAWS, len(clusters)))
        base = (drawn @ clusters.reshape(len(clusters), -1)).reshape(_DRAWS, *rows.shape)
        sums = clusters.sum(axis=2)
        extra = extra * sums.sum(axis=0) / np.maximum((sums > 0).sum(axis=0), 1)
    low, high = 1.0, 0.0
    for row in range(rows.shape[0]):
        for cell in range(rows.shape[1]):
            table = base.copy()
            table[:, row, cell] += extra[:, row]
            values = _share(table[:, :-1], table[:, -1])
            ends = [np.where(np.isfinite(values), values, end) for end in (0.0, 1.0)]
            low = min(low, float(np.quantile(ends[0], delta)))
            high = max(high, float(np.quantile(ends[1], 1 - delta)))
    return value, low, high


def _share(right: FloatArray, seen: FloatArray) -> FloatArray:
    """Return the share of the last class of each draw; NaN where verdicts say nothing."""
    rates = right / right.sum(axis=2, keepdims=True)
    p = seen / seen.sum(axis=1, keepdims=True)
    k = p.shape[1]
    if k == 2:
        strength = rates[:, 0, 0] + rates[:, 1, 1] - 1
        top = p[:, 1] + rates[:, 0, 0] - 1
        ok = strength > 0
        found = np.divide(top, strength, out=np.full(len(p), np.nan), where=ok)
        return np.asarray(np.clip(found, 0.0, 1.0))
    shares = np.full(p.shape, np.nan)
    ok = np.abs(np.linalg.det(rates)) > 1e-9
    if ok.any():
        shares[ok] = np.linalg.solve(np.swapaxes(rates[ok], 1, 2), p[ok][:, :, None])[:, :, 0]
    clipped = np.clip(shares, 0.0, None)
    return np.asarray(clipped[:, -1] / clipped.sum(axis=1))
