"""What each label of a stratum says of a ratio over all strata, whenever one stops."""

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.limits.kernels._anytime import Steps

__all__ = ["stratified_steps"]

_PRIOR = 4.0  # labels that the predicted shares of a stratum count for
_LEAST = 0.01  # share that a class is expected to have at least


def stratified_steps(
    stratum: IntArray,
    label: IntArray,
    chance: FloatArray,
    sizes: FloatArray,
    top: FloatArray,
    bottom: FloatArray,
    predicted: FloatArray,
) -> tuple[Steps, FloatArray]:
    r"""Return the steps of a ratio of the items of all strata, and what stays possible at the end.

    At each step a stratum was drawn with the probabilities ``chance`` (t, strata), given the
    earlier steps, and an item among those of it without a label. With the sums S_h of the labelled
    items, the R_h others and a guess f_h of their mean from earlier labels,

    .. math:: X = \frac1N \sum_h (S_h + R_h f_h) + \frac{R_h}{N q_h} (x - f_h)

    has the mean of all N items, whatever the guess is. ``top`` and ``bottom`` (strata, classes) are
    what an item adds; ``predicted`` (strata, classes) are shares expected before any label.
    """
    n, (strata, k) = len(stratum), top.shape
    total = float(sizes.sum())
    seen = np.zeros((n, strata, k))
    seen[np.arange(n), stratum, label] = 1.0
    after = np.cumsum(seen, axis=0)
    before = after - seen
    number = before.sum(axis=2)
    left = sizes - number
    prior = np.maximum(predicted, _LEAST)
    prior = prior / prior.sum(axis=1, keepdims=True)
    share = (_PRIOR * prior + before) / (_PRIOR + number)[:, :, None]
    # One over the chance of a stratum that cannot be drawn has no part in any case.
    factor = np.divide(left, total * chance, out=np.zeros(left.shape), where=chance > 0)
    found, cases = [], []
    for part in (top, bottom):
        guess = np.sum(share * part, axis=2)
        known = (np.sum(before * part, axis=2) + left * guess).sum(axis=1) / total
        case = known[:, None, None] + factor[:, :, None] * (part - guess[:, :, None])
        cases.append(case.reshape(n, -1))
        found.append(case[np.arange(n), stratum, label])
        found.append(known)
    value = np.divide(found[1], found[3], out=np.zeros(n), where=found[3] != 0)
    apart = (cases[0] - value[:, None] * cases[1]) ** 2
    spread = np.sum(apart * (chance[:, :, None] * share).reshape(n, -1), axis=1)
    steps = Steps(found[0], found[2], cases[0], cases[1], spread)
    return steps, _possible(after[-1], sizes, top, bottom)


def _possible(
    counts: FloatArray, sizes: FloatArray, top: FloatArray, bottom: FloatArray
) -> FloatArray:
    """Return the least and the greatest ratio if the other items were what suits it best."""
    rest = sizes - counts.sum(axis=1)
    sums = float(np.sum(counts * top)), float(np.sum(counts * bottom))
    if float((rest * bottom.max(axis=1)).sum()) + sums[1] <= 0:
        return np.array([-np.inf, np.inf])
    low, high = -np.inf, np.inf
    ends = []
    for best in (np.min, np.max):
        # The ratio is the root of its own worst case, which falls in g: Dinkelbach's iteration.
        g = 0.5
        for _ in range(50):
            gain = top - g * bottom
            pick = np.argmin(gain, axis=1) if best is np.min else np.argmax(gain, axis=1)
            at = np.arange(len(rest)), pick
            below = sums[1] + float(rest @ bottom[at])
            if below <= 0:
                break
            new = (sums[0] + float(rest @ top[at])) / below
            if abs(new - g) < 1e-12:
                break
            g = new
        ends.append(g)
    low, high = ends
    return np.array([low, high])
