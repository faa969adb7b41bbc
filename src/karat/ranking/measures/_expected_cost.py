"""The least expected cost over all thresholds, and its limits."""

import numpy as np
from scipy.special import ndtri

from karat._typing import FloatArray
from karat.ranking.measures._average_precision import negatives_between
from karat.ranking.measures._pivots import ring_limits
from karat.ranking.orderings import Ordering

__all__ = ["best_cut", "cheapest_cuts", "cost_limits", "errors_of", "left_out_errors"]

_FEW = 10_000  # cuts that may all be tried for every weight


def errors_of(ordered: Ordering) -> tuple[FloatArray, FloatArray]:
    """Return missed positives and false alarms when 0, 1, … steps are taken."""
    missed = ordered.n_positive - np.concatenate([[0.0], ordered.taken])
    alarms = np.concatenate([[0.0], ordered.above + ordered.tied])
    return np.maximum(missed, 0.0), alarms


def cheapest_cuts(
    missed: FloatArray, alarms: FloatArray, few: int = _FEW
) -> tuple[FloatArray, FloatArray]:
    """Drop cuts that are the cheapest for no weight, until few are left.

    A cut on or above the line between two others is never the cheapest alone; each round looks at
    both neighbours of every cut.
    """
    while len(missed) > few:
        down, across = -np.diff(missed), np.diff(alarms)
        kept = np.ones(len(missed), bool)
        kept[1:-1] = down[:-1] * across[1:] > down[1:] * across[:-1]
        if kept.all():
            break
        missed, alarms = missed[kept], alarms[kept]
    return missed, alarms


def best_cut(
    ordered: Ordering, at: FloatArray, cuts: tuple[FloatArray, FloatArray] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return missed positives and false alarms at the cheapest cut, for each weight of a miss.

    ``cuts`` are those of `cheapest_cuts`, where they are known.
    """
    missed, alarms = cheapest_cuts(*errors_of(ordered)) if cuts is None else cuts
    miss, alarm = missed / ordered.n_positive, alarms / ordered.n_negative
    steps = np.array([int(np.argmin(c * miss + (1 - c) * alarm)) for c in at])
    return missed[steps], alarms[steps]


def left_out_errors(ordered: Ordering, at: float) -> tuple[float, float]:
    """Return missed positives and false alarms when each row is left out of the choice of its cut.

    Without a positive, every cut above it is cheaper by one miss; without a negative, every cut
    below it by one false alarm: least costs from either end tell which side the choice falls on.
    """
    missed, alarms = errors_of(ordered)
    cost = at * missed / ordered.n_positive + (1 - at) * alarms / ordered.n_negative
    first, last = np.minimum.accumulate(cost), np.minimum.accumulate(cost[::-1])[::-1]
    is_missed = first[:-1] - at / ordered.n_positive < last[1:]
    among = negatives_between(ordered)[::-1]  # above all steps, …, below all
    is_alarm = last[1:] - (1 - at) / ordered.n_negative < first[:-1]
    return float(ordered.positive @ is_missed), float(among[:-1] @ is_alarm)


def cost_limits(
    ordered: Ordering,
    at: float,
    delta: float,
    cuts: tuple[FloatArray, FloatArray] | None = None,
) -> tuple[float, float]:
    """Return limits of the least expected cost in the population.

    The least cost of the rows is lower than that of the population's best cut would be on them, so
    the least of the lower limits of all cuts is one of the population's. A cut that a row had no
    say in is no better than the best: the errors of rows left out give an upper limit. Where many
    cuts cost nearly the same, the least of them is lower still, as the greatest of many errors is:
    the upper limit is at least what all cuts together allow. No cost exceeds that of taking all
    rows or none.
    """
    z = -float(ndtri(delta / 2))
    ends = []
    missed, alarms = (float(x[0]) for x in best_cut(ordered, np.array([at]), cuts))
    for miss, alarm in ((missed, alarms), left_out_errors(ordered, at)):
        ones = np.asarray(miss), np.asarray(ordered.n_positive)
        zeros = np.asarray(alarm), np.asarray(ordered.n_negative)
        miss_rate, alarm_rate = ring_limits(ones, zeros, z)
        ends.append(at * miss_rate + (1 - at) * alarm_rate)
    low, high = _limits_of_all_cuts(ordered, at, delta)
    lower = max(0.0, min(float(ends[0].min()), low))
    return lower, float(min(at, 1 - at, max(ends[1].max(), high)))


def _limits_of_all_cuts(ordered: Ordering, at: float, delta: float) -> tuple[float, float]:
    """Return the least lower limit of a cut, and the least cost with what many cuts may hide.

    ``√(2 ln(2/δ))`` standard errors is what a Brownian bridge exceeds its own largest standard
    error by, as the errors of all cuts do for a ranking by chance (Smirnov); the largest is taken
    over the cuts whose cost is that near to the least.
    """
    missed, alarms = errors_of(ordered)
    n1, n0 = ordered.n_positive, ordered.n_negative
    cost = (at / n1) * missed + ((1 - at) / n0) * alarms
    factor = float(np.sqrt(2 * np.log(2 / delta)))
    least = float(cost.min())
    near = cost <= least + factor * float(np.sqrt(at**2 / n1 + (1 - at) ** 2 / n0)) / 2
    miss, alarm = missed[near] / n1, alarms[near] / n0
    variance = at**2 * miss * (1 - miss) / n1 + (1 - at) ** 2 * alarm * (1 - alarm) / n0
    error = np.sqrt(variance)
    low = float((cost[near] + float(ndtri(delta / 2)) * error).min())
    return low, least + factor * float(error.max())
