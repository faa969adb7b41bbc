"""Average precision, cuts, net benefit and expected cost: their values, limits and effects of rows.

A `Measure` reads an `Ordering`. The limits rest on the exact laws of counts where there are any
(a cut at a score), on two such counts whose surprises add (`NetBenefit`, `ExpectedCost`), with the
cut of the population as a third unknown (`Cut` by share), and on what each row adds
(`AveragePrecision`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import betainc, betaincinv, ndtr, ndtri

from karat._typing import BoolArray, FloatArray
from karat.ranking._orderings import Ordering, selected_by_share, selected_by_threshold

# --- The measures as values: what each is called, and how it reads an ordering.


class Curve(NamedTuple):
    """Points to draw; limits of each by itself, NaN where there are none."""

    x: FloatArray
    y: FloatArray
    lower: FloatArray
    upper: FloatArray


class Reading(NamedTuple):
    """Value, limits and curve of one ordering."""

    value: float
    lower: float
    upper: float
    curve: Curve


class Row(NamedTuple):
    """Rows of one model, for what each adds to a measure."""

    positive: BoolArray
    score: FloatArray
    mass: FloatArray  # what a row counts, on the scale of the ordering
    ordered: Ordering


def no_limits(x: FloatArray, y: FloatArray) -> Curve:
    """Return a curve without limits."""
    return Curve(x, y, np.full(len(x), np.nan), np.full(len(x), np.nan))


_THRESHOLDS = np.linspace(0.01, 0.99, 50)
_WEIGHTS = np.linspace(0.0, 1.0, 51)


@dataclass(frozen=True, slots=True)
class Measure:
    """Base of the measures of a ranking."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The word of it."""

    @property
    def title(self) -> str:
        """What it is called with its cut."""
        return self.name

    @abstractmethod
    def value(self, ordered: Ordering) -> float:
        """Return the measure of the rows."""

    @abstractmethod
    def limits(self, ordered: Ordering, delta: float) -> tuple[float, float]:
        """Return limits of the measure in the population."""

    @abstractmethod
    def chance(self, ordered: Ordering) -> float:
        """Return the measure of a ranking that knows nothing."""

    @abstractmethod
    def curve(self, ordered: Ordering, delta: float) -> Curve:
        """Return what the picture shows."""

    @abstractmethod
    def effects(self, rows: Row) -> FloatArray:
        """Return what each row adds to the error of the measure."""

    @abstractmethod
    def unit(self, ordered: Ordering) -> tuple[float, float]:
        """Return what one row can move at most, and how many rows the measure rests on."""

    def span(self, ordered: Ordering) -> float:
        """Return how far apart two models can be at most."""
        return 1.0

    def read(self, ordered: Ordering, delta: float) -> Reading:
        """Return value, limits and curve."""
        value = self.value(ordered)
        return Reading(value, *self.limits(ordered, delta), self.curve(ordered, delta))

    def missing(self, ordered: Ordering) -> str:
        """Return why the rows have no such measure; empty if they have one."""
        return ""

    def note(self, ordered: Ordering) -> str:
        """Return what a reader must know of this value; empty if nothing."""
        return ""


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


# --- The least expected cost over all thresholds, and its limits.

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


# --- Precision and recall above a cut, as a measure.


@dataclass(frozen=True, slots=True)
class Cut(Measure):
    """Precision, recall or lift of k rows, of a share of the rows, or of those from a score on."""

    kind: str
    k: int | None = None
    share: float | None = None
    threshold: float | None = None

    @property
    def name(self) -> str:
        return self.kind

    @property
    def title(self) -> str:
        if self.threshold is not None:
            return f"{self.kind} at scores of {self.threshold:g} or more"
        return f"{self.kind} at {f'{self.k:,} rows' if self.k else f'the top {self.share:.4g}'}"

    def share_of(self, ordered: Ordering) -> float:
        """Return the share of all rows that is taken."""
        if self.threshold is not None:
            ones, zeros = self._counts(ordered)
            return (ones + zeros) / ordered.n
        return self.share if self.share is not None else float(self.k or 0) / ordered.n

    def _counts(self, ordered: Ordering) -> tuple[float, float]:
        """Return positives and negatives that are taken."""
        if self.threshold is not None:
            above, alarms = ordered.counts_at(np.array([self.threshold]))
            return float(above[0]), float(alarms[0])
        rows = self.share_of(ordered) * ordered.n
        ones = float(ordered.positives_among(np.array([rows]))[0])
        return ones, max(rows - ones, 0.0)

    def missing(self, ordered: Ordering) -> str:
        if self.k is not None and self.k > ordered.n:
            return f"k is {self.k:,} and there are {ordered.n:,.6g} rows"
        if (
            self.threshold is not None
            and self.kind == "precision"
            and not sum(self._counts(ordered))
        ):
            return f"no row has a score of at least {self.threshold:g}"
        return ""

    def value(self, ordered: Ordering) -> float:
        ones, zeros = self._counts(ordered)
        if self.kind == "precision":
            return ones / (ones + zeros)
        recall = ones / ordered.n_positive
        return recall / self.share_of(ordered) if self.kind == "lift" else recall

    def limits(self, ordered: Ordering, delta: float) -> tuple[float, float]:
        if self.threshold is not None:
            ones, zeros = self._counts(ordered)
            of = ones + zeros if self.kind == "precision" else ordered.n_positive
            return proportion_limits(ones, of, delta)
        share = self.share_of(ordered)
        if self.kind == "precision":
            return precision_share_limits(ordered, share, delta)
        lower, upper = recall_share_limits(ordered, share, delta) if share < 1 else (1.0, 1.0)
        return (lower / share, upper / share) if self.kind == "lift" else (lower, upper)

    def chance(self, ordered: Ordering) -> float:
        if self.kind == "lift":
            return 1.0
        return ordered.prevalence if self.kind == "precision" else self.share_of(ordered)

    def curve(self, ordered: Ordering, delta: float) -> Curve:
        first = min(1.0, max(1.0 / ordered.n, 1e-4))
        share = np.unique(np.concatenate([np.geomspace(first, 1, 60), np.linspace(first, 1, 141)]))
        ones = ordered.positives_among(share * ordered.n)
        found = {"precision": ones / (share * ordered.n), "recall": ones / ordered.n_positive}
        found["lift"] = found["recall"] / share
        return no_limits(share, found[self.kind])

    def effects(self, rows: Row) -> FloatArray:
        """Return the influence of rows; a cut by share moves with all rows of its neighbourhood."""
        ordered, y = rows.ordered, rows.positive.astype(float)
        ones, zeros = self._counts(ordered)
        taken, value = ones + zeros, self.value(ordered)
        if self.threshold is not None:
            part = selected_by_threshold(rows.score, self.threshold).taken
            if self.kind == "precision":
                return part * (y - value) / taken
            return y * (part - value) / ordered.n_positive
        share = self.share_of(ordered)
        part = selected_by_share(rows.score, rows.mass, share).taken
        edge = self._rate_at_cut(ordered, share)
        moved = part * (y - edge) - (ones / ordered.n - share * edge)  # of P(taken and positive)
        if self.kind == "precision":
            return moved / taken
        recall = ones / ordered.n_positive
        effect = (moved - recall * (y - ordered.prevalence)) / ordered.n_positive
        return effect / share if self.kind == "lift" else effect

    def _rate_at_cut(self, ordered: Ordering, share: float) -> float:
        """Return the share of positives among rows near the cut, one error of its place wide."""
        reach = max(2.0, np.sqrt(ordered.n * share * (1 - share)))
        ends = np.clip(ordered.n * share + reach * np.array([-1.0, 1.0]), 0.0, ordered.n)
        ones = ordered.positives_among(ends)
        return float((ones[1] - ones[0]) / max(ends[1] - ends[0], 1.0))

    def unit(self, ordered: Ordering) -> tuple[float, float]:
        if self.kind == "precision":
            rows = max(1.0, self.share_of(ordered) * ordered.n)
            return 1.0 / rows, rows
        unit = 1.0 / ordered.n_positive
        if self.kind == "lift":
            unit /= self.share_of(ordered)
        return unit, ordered.n_positive

    def span(self, ordered: Ordering) -> float:
        return 1.0 / self.share_of(ordered) if self.kind == "lift" else 1.0

    def note(self, ordered: Ordering) -> str:
        """Say how many rows are level at the cut, and what their order could make of the value."""
        if self.threshold is not None:
            return ""
        rows = self.share_of(ordered) * ordered.n
        positives, taken = ordered.taken, ordered.rows
        size = ordered.positive + ordered.tied
        step = int(np.searchsorted(taken, rows * (1 - 1e-12)))
        if step >= len(taken) or not taken[step] - size[step] < rows - 1e-9 < taken[step] - 1e-6:
            return ""
        room, level = rows - (taken[step] - size[step]), float(size[step])
        before = positives[step] - ordered.positive[step]
        least = before + max(0.0, room - ordered.tied[step])
        most = before + min(room, ordered.positive[step])
        scale = self.value(ordered) / max(self._counts(ordered)[0], 1e-300)
        if least == most:
            return ""
        return (
            f"{level:,.6g} rows are level at the cut, of which {room:,.6g} fit: they count in "
            f"proportion, and by their order alone it is {least * scale:.4f} to {most * scale:.4f}"
        )


# --- Precision and recall of the rows above a cut: a score, or a share of all rows.

_ROWS = 161  # numbers of rows above the true cut that are tried
_HALVINGS = 50


def proportion_limits(count: float, trials: float, delta: float) -> tuple[float, float]:
    """Return Clopper and Pearson's limits."""
    z = np.asarray(-ndtri(delta / 2))
    counts, all_of = np.asarray(count), np.asarray(trials)
    return float(limit_below(counts, all_of, z)), float(limit_above(counts, all_of, z))


def precision_share_limits(ordered: Ordering, share: float, delta: float) -> tuple[float, float]:
    """Return limits of the precision in the highest share of the population.

    The cut of the population is not that of the rows: N rows are above it, a binomial number, and
    given N the positives among them are binomial too. Every N is tried, and what it takes from the
    surprise that is allowed is not left for the positives.
    """
    z = -float(ndtri(delta / 2))
    rows = _tried(ordered.n, share, z)
    far = distance(rows, np.asarray(ordered.n), np.asarray(share))
    left = np.sqrt(np.maximum(z**2 - far**2, 0.0))
    seen = np.minimum(ordered.positives_among(rows), rows)
    inside = far <= z
    return (
        float(limit_below(seen, rows, left)[inside].min()),
        float(limit_above(seen, rows, left)[inside].max()),
    )


def recall_share_limits(ordered: Ordering, share: float, delta: float) -> tuple[float, float]:
    """Return limits of the share of positives in the highest share of the population.

    As for the precision, with the positives among all positives; the number of rows above the cut
    varies with that of the positives above it, of the negatives above it, and of positives at all.
    """
    z = -float(ndtri(delta / 2))
    n1, n, prevalence = ordered.n_positive, ordered.n, ordered.prevalence
    rows = _tried(n, share, z)
    seen = np.minimum(ordered.positives_among(rows), n1)

    def surprise(recall: float) -> float:
        others = np.clip((share - prevalence * recall) / (1 - prevalence), 0.0, 1.0)
        spread = ordered.n_negative * others * (1 - others)
        spread += (recall - others) ** 2 * n * prevalence * (1 - prevalence)
        missing = rows - n * share - (seen - n1 * recall)
        by_rows = missing**2 / max(float(spread), 0.25)
        by_count = distance(seen, np.asarray(n1), np.asarray(recall)) ** 2
        return float((by_rows + by_count).min())

    here = float(np.interp(n * share, rows, seen)) / n1
    return _end(surprise, here, 0.0, z), _end(surprise, here, 1.0, z)


def _tried(n: float, share: float, z: float) -> FloatArray:
    """Return numbers of rows that may be above the true cut, with the one expected."""
    reach = (z + 1.0) * np.sqrt(n * share * (1 - share)) + 2.0
    low, high = max(0.0, n * share - reach), min(n, n * share + reach)
    whole = np.unique(np.rint(np.linspace(low, high, _ROWS)))
    return np.union1d(whole, [n * share])


def _end(surprise: Callable[[float], float], here: float, end: float, z: float) -> float:
    """Return the last value between ``here`` and ``end`` that is not too surprising."""
    if surprise(end) <= z**2:
        return end
    inside, outside = here, end
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if surprise(middle) <= z**2:
            inside = middle
        else:
            outside = middle
    return outside


def net_benefit_limits(
    right: FloatArray, wrong: FloatArray, n: float, odds: FloatArray, delta: float
) -> tuple[FloatArray, FloatArray]:
    """Return limits of ``(right − odds·wrong)/n``, for arrays of counts and odds.

    It is ``q(θ − odds·(1 − θ))`` with q the share of rows that are acted on, and θ that of the
    right ones among them: two binomial counts, one given the other. The limits are the extremes
    over pairs (q, θ) whose distances from the counts make one normal quantile together.
    """
    z = -float(ndtri(delta / 2))
    acted = right + wrong
    share, rate = ring_limits((acted, np.full_like(acted, n)), (right, acted), z)
    gain = share * (rate * (1 + odds[..., None]) - odds[..., None])
    return gain.min(axis=-1), gain.max(axis=-1)


_POINTS = 400


# --- Average precision, what each row adds to it, and its limits.

# What a negative above all rows, which was not seen, adds to the variance: settled by simulation.
_UNSEEN = 0.125


@dataclass(frozen=True, slots=True)
class AveragePrecision(Measure):
    """The mean over positives of the precision at their score."""

    @property
    def name(self) -> str:
        return "average precision"

    def value(self, ordered: Ordering) -> float:
        return average_precision_of(ordered)

    def limits(self, ordered: Ordering, delta: float) -> tuple[float, float]:
        return average_precision_limits(ordered, delta)

    def chance(self, ordered: Ordering) -> float:
        return ordered.prevalence

    def curve(self, ordered: Ordering, delta: float) -> Curve:
        positives, rows = ordered.taken, ordered.rows
        last = len(positives) - 1
        even = np.linspace(0, last, _POINTS // 2)
        few = np.geomspace(1, last + 1, _POINTS // 2) - 1  # precision moves most at the top
        chosen = np.unique(np.rint(np.concatenate([even, few])).astype(int))
        positives, rows = positives[chosen], rows[chosen]
        z = np.asarray(-ndtri(delta / 2))
        found = (
            positives / ordered.n_positive,
            positives / rows,
            limit_below(positives, rows, z),
            limit_above(positives, rows, z),
        )
        recall, *others = (np.append(values[:1], values) for values in found)
        recall[0] = 0.0  # up to the first positive's recall, its precision holds
        return Curve(recall, *others)

    def effects(self, rows: Row) -> FloatArray:
        ones, zeros = average_precision_effects(rows.ordered)
        steps = np.searchsorted(rows.ordered.score[::-1], rows.score, side="right")
        at = len(ones) - steps  # of a positive: its own step, counted from the highest
        return np.where(rows.positive, ones[np.minimum(at, len(ones) - 1)], zeros[steps])

    def unit(self, ordered: Ordering) -> tuple[float, float]:
        return 1.0 / ordered.n_positive, ordered.n_positive


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


# --- How far a count of trials is from a probability, by the exact law of the count.

_ANGLES = 64


def distance(count: FloatArray, trials: FloatArray, p: FloatArray) -> FloatArray:
    """Return how surprising a count is, in standard deviations of a normal variable.

    Of the two tails of the binomial law that hold the count itself the smaller decides, as in
    Clopper and Pearson's limits; 0 where both exceed one half. Counts need not be whole.
    """
    count, trials, p = np.broadcast_arrays(count, trials, p)
    some, most = np.maximum(count, 1e-300), np.maximum(trials - count, 1e-300)
    over = np.where(count > 0, betainc(some, trials - count + 1, p), 1.0)
    under = np.where(trials > count, betainc(most, count + 1, 1 - p), 1.0)
    return np.asarray(np.maximum(0.0, -ndtri(np.minimum(over, under))))


def limit_below(count: FloatArray, trials: FloatArray, z: FloatArray) -> FloatArray:
    """Return the least probability at a distance of ``z`` from a count."""
    some = np.maximum(count, 1e-300)
    return np.where(count > 0, betaincinv(some, trials - count + 1, ndtr(-z)), 0.0)


def limit_above(count: FloatArray, trials: FloatArray, z: FloatArray) -> FloatArray:
    """Return the greatest probability at a distance of ``z`` from a count."""
    rest = np.maximum(trials - count, 1e-300)
    return np.where(trials > count, betaincinv(count + 1, rest, ndtr(z)), 1.0)


def ring_limits(
    first: tuple[FloatArray, FloatArray], second: tuple[FloatArray, FloatArray], z: float
) -> tuple[FloatArray, FloatArray]:
    """Return pairs of probabilities whose distances from two counts make ``z`` together.

    The two counts are independent given their numbers of trials, so the squares of their distances
    add; each pair is one angle of the ring (last axis).
    """
    angle = np.linspace(0, 2 * np.pi, _ANGLES, endpoint=False)
    found = []
    for (count, trials), part in ((first, np.cos(angle)), (second, np.sin(angle))):
        count, trials, far = np.asarray(count)[..., None], np.asarray(trials)[..., None], z * part
        low, high = limit_below(count, trials, -far), limit_above(count, trials, far)
        found.append(np.where(far < 0, low, high))
    return found[0], found[1]
