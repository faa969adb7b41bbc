"""Net benefit and expected cost as measures."""

from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray
from karat.ranking.measures._expected_cost import best_cut, cheapest_cuts, cost_limits, errors_of
from karat.ranking.measures._measure import Curve, Measure, Reading, Row, no_limits
from karat.ranking.measures._net_benefit import net_benefit_limits
from karat.ranking.orderings import Ordering

__all__ = ["ExpectedCost", "NetBenefit"]

_THRESHOLDS = np.linspace(0.01, 0.99, 50)
_WEIGHTS = np.linspace(0.0, 1.0, 51)


@dataclass(frozen=True, slots=True)
class NetBenefit(Measure):
    """What acting on scores of at least a threshold gains, in true positives per row."""

    threshold: float

    @property
    def name(self) -> str:
        return "net benefit"

    @property
    def title(self) -> str:
        return f"net benefit at a threshold of {self.threshold:g}"

    def value(self, ordered: Ordering) -> float:
        return float(_benefit(ordered, np.array([self.threshold]))[0])

    def limits(self, ordered: Ordering, delta: float) -> tuple[float, float]:
        curve = _benefit_limits(ordered, np.array([self.threshold]), delta)
        return float(curve[0][0]), float(curve[1][0])

    def over_all(self, ordered: Ordering, delta: float) -> tuple[float, float, float]:
        """Return how much better this is than acting on all rows, with limits.

        Rows that are left alone spare false positives and miss true ones.
        """
        at = np.array([self.threshold])
        ones, zeros = ordered.counts_at(at)
        odds = at / (1 - at)
        missed, spared = ordered.n_positive - ones, ordered.n_negative - zeros
        value = (odds * spared - missed) / ordered.n
        # The same law with the classes swapped, in units of the odds.
        lower, upper = net_benefit_limits(spared, missed, ordered.n, 1 / odds, delta)
        return float(value[0]), float(lower[0] * odds[0]), float(upper[0] * odds[0])

    def chance(self, ordered: Ordering) -> float:
        """Return the better of acting on nobody and on everybody."""
        return max(0.0, float(benefit_of_all(ordered, np.array([self.threshold]))[0]))

    def curve(self, ordered: Ordering, delta: float) -> Curve:
        lower, upper = _benefit_limits(ordered, _THRESHOLDS, delta)
        return Curve(_THRESHOLDS, _benefit(ordered, _THRESHOLDS), lower, upper)

    def effects(self, rows: Row) -> FloatArray:
        odds = self.threshold / (1 - self.threshold)
        gain = np.where(rows.positive, 1.0, -odds) * (rows.score >= self.threshold)
        return (gain - self.value(rows.ordered)) / rows.ordered.n

    def unit(self, ordered: Ordering) -> tuple[float, float]:
        odds = self.threshold / (1 - self.threshold)
        return max(1.0, odds) / ordered.n, min(ordered.n_positive, ordered.n_negative)

    def span(self, ordered: Ordering) -> float:
        odds = self.threshold / (1 - self.threshold)
        return ordered.prevalence + (1 - ordered.prevalence) * odds


def benefit_of_all(ordered: Ordering, thresholds: FloatArray) -> FloatArray:
    """Return the net benefit of acting on every row."""
    return ordered.prevalence - (1 - ordered.prevalence) * thresholds / (1 - thresholds)


def _benefit(ordered: Ordering, thresholds: FloatArray) -> FloatArray:
    ones, zeros = ordered.counts_at(thresholds)
    return (ones - zeros * thresholds / (1 - thresholds)) / ordered.n


def _benefit_limits(
    ordered: Ordering, thresholds: FloatArray, delta: float
) -> tuple[FloatArray, FloatArray]:
    ones, zeros = ordered.counts_at(thresholds)
    return net_benefit_limits(ones, zeros, ordered.n, thresholds / (1 - thresholds), delta)


@dataclass(frozen=True, slots=True)
class ExpectedCost(Measure):
    """The least cost over all thresholds, with a weight of misses against false alarms."""

    at: float

    @property
    def name(self) -> str:
        return "expected cost"

    @property
    def title(self) -> str:
        return f"expected cost where misses weigh {self.at:g}"

    def value(self, ordered: Ordering) -> float:
        return float(_cost(ordered, np.array([self.at]))[0])

    def limits(self, ordered: Ordering, delta: float) -> tuple[float, float]:
        return cost_limits(ordered, self.at, delta)

    def chance(self, ordered: Ordering) -> float:
        return min(self.at, 1 - self.at)

    def curve(self, ordered: Ordering, delta: float) -> Curve:
        return no_limits(_WEIGHTS, _cost(ordered, _WEIGHTS))

    def read(self, ordered: Ordering, delta: float) -> Reading:
        """Return value, limits and curve, with the cuts that can be the cheapest found once."""
        cuts = cheapest_cuts(*errors_of(ordered))
        weights = np.append(_WEIGHTS, self.at)
        missed, alarms = best_cut(ordered, weights, cuts)
        costs = weights * missed / ordered.n_positive + (1 - weights) * alarms / ordered.n_negative
        limits = cost_limits(ordered, self.at, delta, cuts)
        return Reading(float(costs[-1]), *limits, no_limits(_WEIGHTS, costs[:-1]))

    def effects(self, rows: Row) -> FloatArray:
        ordered, at = rows.ordered, np.array([self.at])
        missed, alarms = (float(x[0]) for x in best_cut(ordered, at))
        n1, n0 = ordered.n_positive, ordered.n_negative
        steps = int(np.searchsorted(ordered.taken, n1 - missed - 1e-9))
        none = missed >= n1 - 1e-9
        cut = np.inf if none else ordered.score[min(steps, len(ordered.score) - 1)]
        taken = (rows.score >= cut).astype(float)
        ones = self.at * (1 - taken - missed / n1) / n1
        return np.where(rows.positive, ones, (1 - self.at) * (taken - alarms / n0) / n0)

    def unit(self, ordered: Ordering) -> tuple[float, float]:
        unit = max(self.at / ordered.n_positive, (1 - self.at) / ordered.n_negative)
        return unit, min(ordered.n_positive, ordered.n_negative)

    def span(self, ordered: Ordering) -> float:
        return min(self.at, 1 - self.at)


def _cost(ordered: Ordering, at: FloatArray) -> FloatArray:
    missed, alarms = best_cut(ordered, at)
    return at * missed / ordered.n_positive + (1 - at) * alarms / ordered.n_negative
