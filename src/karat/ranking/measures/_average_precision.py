"""Average precision, what each row adds to it, and its limits."""

import numpy as np

from karat._typing import FloatArray
from karat.ranking.orderings import Ordering

__all__ = [
    "average_precision_effects",
    "average_precision_limits",
    "average_precision_of",
    "negatives_between",
]

# What a negative above all rows, which was not seen, adds to the variance: settled by simulation.
_UNSEEN = 0.125


def average_precision_of(ordered: Ordering) -> float:
    """Return the mean over positives of the precision at their score."""
    positives, rows = ordered.taken, ordered.rows
    return min(1.0, float(ordered.positive @ (positives / rows)) / ordered.n_positive)


def average_precision_effects(ordered: Ordering) -> tuple[FloatArray, FloatArray]:
    """Return what a positive of each step, and a negative above 0, 1, … steps, add to the value.

    A row changes the precision ``p`` at every score below its own by ``(y − p)/N``, with N rows at
    or above that score; a positive also adds its own precision. The sum over rows is 0.
    """
    precision = ordered.taken / ordered.rows
    value = float(ordered.positive @ precision) / ordered.n_positive
    each = (ordered.positive / ordered.rows)[::-1]
    lost = np.cumsum(each * precision[::-1])
    ones = precision  # its sum with the others, in place: there may be millions of steps
    ones -= value
    ones += np.cumsum(each)[::-1]
    ones -= lost[::-1]
    ones /= ordered.n_positive
    return ones, np.concatenate([[0.0], lost]) / -ordered.n_positive


def average_precision_limits(ordered: Ordering, delta: float) -> tuple[float, float]:
    """Return limits on the scale of log-odds, with one more row of either class.

    The positive is half above and half below all rows; the negative, above all of them, counts in
    part: what was not seen among few rows may still be there. A positive counts itself
    in its precision, which lifts the mean of few positives: the lower limit leaves each out of its
    own precision, the upper limit does not.
    """
    from scipy.special import expit, logit, stdtrit

    n = ordered.n_positive
    value = average_precision_of(ordered)
    ones, zeros = average_precision_effects(ordered)
    least = float(zeros[-1])
    seen = float(ordered.positive @ np.square(ones, out=ones))
    seen += float(negatives_between(ordered) @ np.square(zeros, out=zeros))
    others = np.subtract(ordered.taken, 1.0, out=ones)
    others /= np.maximum(ordered.rows - 1.0, 1.0)
    others[: int(np.searchsorted(ordered.rows, 1.0, side="right"))] = 0.5  # above all others
    alone = float(ordered.positive @ np.maximum(others, 0.0, out=others)) / n
    t = -float(stdtrit(max(n - 1.0, 1.0), delta / 2))

    def moved(centre: float, sign: float) -> float:
        centre = (n * centre + 0.5) / (n + 1.0)
        unseen = (centre**2 + (1 - centre) ** 2) / 2 / n**2 + _UNSEEN * least**2
        reach = t * np.sqrt(seen * n / (n + 1.0) + unseen) / (centre * (1 - centre))
        return float(expit(logit(centre) + sign * reach))

    upper = 1.0 if value >= 1 - 1e-12 else moved(value, 1.0)
    return min(moved(alone, -1.0), value), max(upper, value)


def negatives_between(ordered: Ordering) -> FloatArray:
    """Return the negatives that stand at or above 0, 1, … steps, counted from the lowest."""
    upto = ordered.above + ordered.tied  # at or above each step
    return np.diff(np.concatenate([[0.0], upto, [ordered.n_negative]]))[::-1]
