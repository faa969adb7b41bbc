"""Which items to label: strata in which labels tell alike much, and the coin that draws them.

`make_calls` sorts the items into *calls*, within which all have the same predictions; `plan_audit`
finds what a label can move the metric by, and cuts every call into strata of equal sums of that.
`draw_items` draws strata one label at a time, with a coin that leans towards those that fell
behind; limits at every look need its `chances`. `recalibrated` corrects the guesses by labels;
`spread_of` tells beforehand what labels vary by, `labels_for` how many a precision takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.audit._inputs import Items
from karat.exceptions import MetricError
from karat.metrics import LinearFractionalMetric, LinearMetric, recall
from karat.metrics.base import Metric
from karat.metrics.estimates import table_ends, table_value, table_values
from karat.metrics.named import BalancedAccuracy, Macro, one_vs_rest

# --- Items with the same predictions, and what a label of one of them adds to the metric.


@dataclass(frozen=True)
class Part:
    """A ratio whose limits hold at every look, and the factor with which it enters the metric.

    ``top`` and ``bottom`` (calls, outcomes) are what an item adds.
    """

    factor: float
    top: FloatArray
    bottom: FloatArray
    span: tuple[float, float]


@dataclass(frozen=True)
class Calls:
    """Kinds of items by their predictions: ``code`` of each item, and what each kind is.

    An outcome is a class, or, for a difference of linear metrics, a value of the difference:
    ``outcome`` (calls, classes) says which a label is. Calls that are not ``open`` need no labels:
    whatever the truth is, they add the same.
    """

    metric: Metric
    code: IntArray
    first: IntArray
    second: IntArray | None
    group: IntArray | None
    outcome: IntArray
    n_outcomes: int
    worth: FloatArray | None  # of outcomes, for a difference of linear metrics
    span: tuple[float, float]
    number: IntArray  # of items in each call

    @property
    def open(self) -> BoolArray:
        """Whether labels of a call tell anything."""
        if self.worth is None:
            return np.ones(len(self.first), dtype=bool)
        return np.asarray((self.outcome != self.outcome[:, :1]).any(axis=1))

    def values(self, totals: FloatArray) -> FloatArray:
        """Return the metric, or the difference, of numbers of items (b, calls, classes)."""
        n = totals.sum(axis=(1, 2))[:, None, None]
        first = table_values(self.metric, self.confusions(totals, self.first) / n)
        if self.second is None:
            return first
        second = table_values(self.metric, self.confusions(totals, self.second) / n)
        return np.asarray(first - second)

    def ends(self, totals: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the least and greatest of `values`; they differ where it is undefined."""
        n = totals.sum(axis=(1, 2))[:, None, None]
        low, high = table_ends(self.metric, self.confusions(totals, self.first) / n)
        if self.second is None:
            return low, high
        less, more = table_ends(self.metric, self.confusions(totals, self.second) / n)
        return low - more, high - less

    def value(self, totals: FloatArray) -> float:
        """Return the metric, or the difference, of one table (calls, classes) of items."""
        n, one = totals.sum(), totals[None]
        first = table_value(self.metric, self.confusions(one, self.first)[0] / n)
        if self.second is None:
            return first
        return first - table_value(self.metric, self.confusions(one, self.second)[0] / n)

    def confusions(self, totals: FloatArray, called: IntArray) -> FloatArray:
        """Return the confusions (b, k, k) of one of the two predictions."""
        k = self.outcome.shape[1]
        return np.asarray(np.einsum("bcy,cj->byj", totals, np.eye(k)[called]))

    def parts(self) -> list[Part] | None:
        """Return the ratios that the metric is a sum of; None if it is no such sum."""
        if self.worth is not None:
            top = np.broadcast_to(self.worth, (len(self.first), self.n_outcomes))
            return [Part(1.0, top, np.ones(top.shape), self.span)]
        own = ratios_of(self.metric, self.outcome.shape[1])
        if own is None:
            return None
        sides = [(1.0, self.first)] + ([] if self.second is None else [(-1.0, self.second)])
        return [
            Part(sign * factor, top[:, called].T, bottom[:, called].T, span)
            for sign, called in sides
            for factor, top, bottom, span in own
        ]


_Ratio = tuple[float, FloatArray, FloatArray, tuple[float, float]]


def ratios_of(metric: Metric, k: int) -> list[_Ratio] | None:
    """Return a metric as a sum of ratios of linear functions of the confusion."""
    if isinstance(metric, LinearMetric):
        return [(1.0, metric.weights, np.ones((k, k)), metric.value_range)]
    if isinstance(metric, LinearFractionalMetric):
        return [(1.0, metric.numerator, metric.denominator + metric.constant, metric.value_range)]
    if isinstance(metric, BalancedAccuracy):
        return _one_by_one(recall, k)
    if isinstance(metric, Macro):
        inner = metric.metric.for_classes(2)
        return _one_by_one(inner, k) if isinstance(inner, LinearFractionalMetric) else None
    return None


def _one_by_one(inner: LinearFractionalMetric, k: int) -> list[_Ratio]:
    """Return a ratio of two classes for every class against the rest, each worth 1/k."""
    cells = np.eye(k * k).reshape(-1, k, k)
    apart = one_vs_rest(cells).reshape(k, k, k, 2, 2)  # true, called, class, side, side
    found = []
    for c in range(k):
        top = np.einsum("abst,st->ab", apart[:, :, c], inner.numerator)
        bottom = np.einsum("abst,st->ab", apart[:, :, c], inner.denominator + inner.constant)
        found.append((1 / k, top, bottom, inner.value_range))
    return found


def make_calls(items: Items, metric: Metric) -> Calls:
    """Sort the items by what was predicted of them, and, with groups, by group."""
    k = len(items.classes)
    code = items.called.astype(np.int64)
    if items.other is not None:
        code = code * k + items.other
    if items.group is not None:
        code = code + k**2 * items.group
    # A table is much faster than a sort of all items.
    number = np.bincount(code)
    kinds = np.flatnonzero(number)
    codes = (np.cumsum(number > 0) - 1)[code]
    number = number[kinds]
    group = None if items.group is None else kinds // k**2
    rest = kinds if group is None else kinds % k**2
    first, second = (rest, None) if items.other is None else (rest // k, rest % k)
    outcome = np.broadcast_to(np.arange(k), (len(kinds), k)).copy()
    span = metric.value_range
    if second is None:
        return Calls(metric, codes, first, None, group, outcome, k, None, span, number)
    span = (span[0] - span[1], span[1] - span[0])
    if not isinstance(metric, LinearMetric):
        return Calls(metric, codes, first, second, group, outcome, k, None, span, number)
    # Of a linear metric only the difference of the two weights of an item counts.
    apart = metric.weights[:, first].T - metric.weights[:, second].T
    worth, outcome = np.unique(np.round(apart, 12), return_inverse=True)
    return Calls(
        metric,
        codes,
        first,
        second,
        group,
        outcome.reshape(apart.shape),
        len(worth),
        worth,
        span,
        number,
    )


# --- Strata of items, pure in their predictions, among which labels are shared out.

_PIECES = 6
_EVEN = 0.1  # share of the labels that goes to all items alike
_FLOOR = 0.003  # no class is less probable than that, whatever a model says


class Strata(NamedTuple):
    """The stratum of each item (-1: needs no label), and what is known of each stratum.

    ``member`` are the items in the order of the strata, ``start`` where each stratum begins;
    ``score`` the least and greatest guess of the last class (or of being right) in it.
    """

    of: IntArray
    call: IntArray
    size: FloatArray
    share: FloatArray
    member: IntArray
    start: IntArray
    score: FloatArray

    @property
    def n(self) -> int:
        """Number of strata."""
        return len(self.call)


def bounded_guess(guess: FloatArray) -> FloatArray:
    """Return guesses in which no class is impossible."""
    p = np.clip(guess, _FLOOR, 1 - _FLOOR)
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _need(calls: Calls, guess: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how much a label of each item is expected to tell, and its expected influence."""
    p = bounded_guess(guess)
    totals: FloatArray = np.stack(
        [np.bincount(calls.code, p[:, y], len(calls.first)) for y in range(p.shape[1])],
        axis=1,
        dtype=np.float64,
    )
    groups = [None] if calls.group is None else [None, *np.unique(calls.group).tolist()]
    need, score = np.zeros(len(p)), np.zeros(len(p))
    linear = calls.metric.form == "linear" and calls.parts() is not None
    for group in groups:
        added = influence(calls, totals, group)
        # One column of weights at a time: no table of items and classes is built.
        mean, square = np.zeros(len(p)), np.zeros(len(p))
        for y in range(p.shape[1]):
            own = added[:, y][calls.code]
            mean += p[:, y] * own
            square += p[:, y] * own**2
        # What varies within a stratum counts. For a ratio its mean is uncertain too.
        own_need = np.sqrt(np.maximum(square - mean**2 if linear else square, 0.0))
        need += own_need / max(float(own_need.sum()), 1e-300)
        score += mean
    open_calls = calls.open[calls.code]
    need = need * open_calls
    total = need.sum()
    even = open_calls / max(float(open_calls.sum()), 1.0)
    mass = (1 - _EVEN) * need / total + _EVEN * even if total > 0 else even
    return np.asarray(mass), score


def plan_audit(calls: Calls, guess: FloatArray, *, informed: bool) -> Strata:
    """Cut the items into strata of equal sums of what a label tells.

    Not ``informed``, where the guess is the same for all items of a call, every call is a stratum.
    """
    mass, score = _need(calls, guess)
    merged = calls.worth is not None
    code = calls.code
    if merged:  # by group alone: an outcome says already who is right
        code = np.zeros(len(mass), np.int64) if calls.group is None else calls.group[calls.code]
    wanted = np.flatnonzero(calls.open[calls.code])
    of = np.full(len(mass), -1, dtype=np.int64)
    call: list[int] = []
    share: list[float] = []
    scores: list[tuple[float, float]] = []
    kinds = np.unique(code[wanted])
    shown = guess[:, -1]
    for kind in kinds:
        at = wanted[code[wanted] == kind]
        total = float(mass[at].sum())
        pieces = max(1, round(_PIECES * total)) if informed and not merged else 1
        if pieces > 1:
            at = at[np.argsort(score[at], kind="stable")]
        cut = np.minimum((np.cumsum(mass[at]) / total * pieces).astype(int), pieces - 1)
        for piece in np.unique(cut):
            own = at[cut == piece]
            of[own] = len(call)
            call.append(int(kind))
            share.append(float(mass[own].sum()))
            scores.append((float(shown[own].min()), float(shown[own].max())))
    member = np.argsort(of, kind="stable")[np.sum(of < 0) :]
    size = np.bincount(of[of >= 0], minlength=len(call)).astype(np.float64)
    start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    weights = np.array(share)
    return Strata(
        of,
        np.array(call, np.int64),
        size,
        weights / weights.sum(),
        member,
        start,
        np.array(scores).reshape(-1, 2),
    )


def shares_of(calls: Calls, guess: FloatArray, strata: Strata) -> FloatArray:
    """Return the share of the labels of each stratum by other guesses."""
    mass, _ = _need(calls, guess)
    total = np.bincount(strata.of[strata.of >= 0], mass[strata.of >= 0], strata.n)
    return np.asarray(total / total.sum())


def influence(calls: Calls, totals: FloatArray, group: int | None = None) -> FloatArray:
    """Return what an item of each call and class adds to the metric at ``totals`` (calls, classes).

    It is the slope of the metric in a cell minus the mean slope, and 0 outside ``group``.
    """
    mine: FloatArray = np.ones(len(calls.first))
    if group is not None and calls.group is not None:
        mine = (calls.group == group).astype(np.float64)
    if calls.worth is not None:
        found = calls.worth[calls.outcome]
        mean = float(np.sum(totals * found * mine[:, None]) / max(np.sum(totals.T @ mine), 1e-12))
        return np.asarray((found - mean) * mine[:, None])
    within = totals * mine[:, None]
    sides = [(1.0, calls.first)] + ([] if calls.second is None else [(-1.0, calls.second)])
    added = np.zeros(totals.shape)
    for sign, called in sides:
        table = calls.confusions(within[None], called)[0]
        table = table / table.sum()
        try:
            slope = calls.metric.gradient(table)
        except MetricError:  # at an edge there is no slope: all items count alike
            return np.ones(totals.shape) * mine[:, None]
        added += sign * (slope[:, called].T - float(np.sum(slope * table)))
    return np.asarray(added * mine[:, None])


# --- The coin that draws strata, one label at a time.

_LEAN = 0.25  # how much more likely a stratum is for each label that it is behind
_LEAST, _MOST = 0.3, 3.0  # times its share


def chances(share: FloatArray, asked: IntArray, size: FloatArray) -> FloatArray:
    """Return the probability of each stratum, given how many of its items were asked for."""
    behind = share * (asked.sum() + 1) - asked
    lean = share * np.clip(1 + _LEAN * behind, _LEAST, _MOST) * (asked < size)
    return np.asarray(lean / lean.sum())


def draw_items(
    share: FloatArray,
    taken: IntArray,
    members: list[IntArray],
    n: int,
    rng: np.random.Generator,
    is_free: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> tuple[list[int], list[int]]:
    """Draw n items that are free: strata by the coin, items of a stratum at random.

    ``taken`` counts the items of each stratum that are not free; it and ``is_free`` are changed.
    """
    size = np.array([len(m) for m in members], dtype=np.float64)
    items, strata = [], []
    for _ in range(n):
        h = int(rng.choice(len(size), p=chances(share, taken, size)))
        item = _one(members[h], size[h] - taken[h], is_free, rng)
        is_free[item] = False
        taken[h] += 1
        items.append(item)
        strata.append(h)
    return items, strata


def _one(
    member: IntArray,
    left: float,
    is_free: np.ndarray[tuple[int], np.dtype[np.bool_]],
    rng: np.random.Generator,
) -> int:
    """Draw one of the members that are free."""
    if left > 0.2 * len(member):  # most tries succeed
        while True:
            item = int(member[rng.integers(len(member))])
            if is_free[item]:
                return item
    free = member[is_free[member]]
    return int(free[rng.integers(len(free))])


# --- Guesses of the truth, corrected by the labels so far.

_STEPS = 25
_RIDGE = (0.5, 4.0)  # pull of shift and slope towards 0 and 1, as of so many labels


def recalibrated(
    guess: FloatArray, labelled: FloatArray, label: IntArray, weight: FloatArray
) -> FloatArray:
    """Return guesses of two classes with log-odds a + b·log-odds, fitted to the labels by ridge.

    ``labelled`` are the guesses of the labelled items and ``weight`` how many items each stands
    for; a is pulled to 0 and b to 1, so that few labels change little.
    """
    x, w = _odds(labelled), weight * (len(weight) / weight.sum())
    shift, slope = 0.0, 1.0
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-(shift + slope * x)))
        curve = w * p * (1 - p)
        gain = np.array(
            [w @ (label - p) - _RIDGE[0] * shift, w @ ((label - p) * x) - _RIDGE[1] * (slope - 1)]
        )
        cross = float(curve @ x)
        bend = np.array([[curve.sum() + _RIDGE[0], cross], [cross, curve @ x**2 + _RIDGE[1]]])
        step = np.linalg.solve(bend, gain)
        size = max(1.0, float(np.abs(step).max()) / 2)
        shift, slope = shift + step[0] / size, slope + step[1] / size
        if np.abs(step).max() < 1e-8:
            break
    slope = max(slope, 0.05)  # a guess that says the opposite is taken to say nothing
    p = 1 / (1 + np.exp(-(shift + slope * _odds(guess))))
    return np.stack([1 - p, p], axis=1)


def _odds(guess: FloatArray) -> FloatArray:
    p = np.clip(guess[:, 1], 1e-4, 1 - 1e-4)
    return np.asarray(np.log(p / (1 - p)))


_SLACK = 1.2  # limits that hold for few labels need so many more than the normal law says


class Spread(NamedTuple):
    """The metric that the guesses imply, and the variance of one label, random and chosen."""

    expected: float
    random: float
    chosen: float


def spread_of(calls: Calls, guess: FloatArray, strata: Strata) -> Spread:
    """Return what labels vary by if the guesses are right."""
    p = bounded_guess(guess)
    totals: FloatArray = np.stack(
        [np.bincount(calls.code, p[:, y], len(calls.first)) for y in range(p.shape[1])],
        axis=1,
        dtype=np.float64,
    )
    added = influence(calls, totals)
    mean, square = np.zeros(len(p)), np.zeros(len(p))
    for y in range(p.shape[1]):
        own = added[:, y][calls.code]
        mean += p[:, y] * own
        square += p[:, y] * own**2
    n, inside = len(p), strata.of >= 0
    sums = [np.bincount(strata.of[inside], part[inside], strata.n) for part in (mean, square)]
    within = np.maximum(sums[1] / strata.size - (sums[0] / strata.size) ** 2, 0.0)
    chosen = float(np.sum((strata.size / n) ** 2 * within / strata.share))
    if calls.worth is None:
        expected = float(calls.values(totals[None])[0])
    else:
        expected = float(np.sum(totals * calls.worth[calls.outcome]) / n)
    return Spread(expected, float(square.sum() / n), chosen)


def precision_of(variance: float, n: FloatArray, total: float, z: float) -> FloatArray:
    """Return half the distance between the limits of n labels."""
    left = np.clip(1 - n / total, 0.0, None)
    return np.asarray(z * np.sqrt(_SLACK * variance * left / n))


def labels_for(variance: float, precision: float, total: float, z: float) -> int:
    """Return how many labels have a precision."""
    wanted = _SLACK * variance * (z / precision) ** 2
    return int(np.ceil(min(wanted / (1 + wanted / total), total)))
