"""The best classifier that can be made, for any metric."""

import warnings
from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_count, check_number
from karat.decisions._attainable import AttainableSet
from karat.decisions._columns import Columns
from karat.decisions._corrective import Smooth, climb
from karat.decisions._fair_program import fair_program
from karat.decisions._line_search import follow
from karat.decisions._mixture import Mixture
from karat.decisions._polyhedral import Solution, solve
from karat.decisions._ratio import best_ratio
from karat.decisions.result import Optimum
from karat.exceptions import KaratWarning, MetricError, UndefinedMetricWarning
from karat.metrics import MetricBase

__all__ = ["joined", "maximise", "solution_of"]


def maximise(
    metric: MetricBase,
    attainable: AttainableSet,
    *,
    tol: float = 1e-7,
    max_rounds: int = 400,
    columns: Columns | None = None,
) -> Optimum:
    """Return the classifier of greatest value, and how much more there can be.

    Parameters
    ----------
    metric : Metric or GroupMetric
        Greater is better. Its ``form`` chooses the solver: one call for linear metrics, a few for
        ratios (Dinkelbach 1967), Newton steps over the rules found so far for smooth concave ones,
        a linear program by column generation for absolute gaps between groups. For other metrics a
        line search follows the slope; it may end at a maximum among its neighbours only.
    attainable : Attainable
        What classifiers can be made.
    tol : float, default 1e-7
        The gap at which to stop.
    max_rounds : int, default 400
        Rounds after which to stop with a warning.
    columns : Columns, optional
        Rules to start from, from ``attainable.columns()``; it grows by those that are found, so
        that the next call with it starts where this one ended.

    Returns
    -------
    Optimum
        ``value`` is attained by ``mixture``, and no mixture of rules is better by more than
        ``gap`` if ``certified``.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.decisions import Attainable
    >>> from karat.metrics import FairMetric
    >>> rng = np.random.default_rng(0)
    >>> p, group = rng.beta(1, 2, 1000), rng.integers(0, 2, 1000)
    >>> some = Attainable.from_calibrated(np.column_stack([1 - p, p]), groups=group)
    >>> maximise(FairMetric([1, 1], [[1, 1]], 0.5), some).certified
    True
    """
    fixed = _checked(metric, attainable)
    level, rounds = check_number(tol, "tol", at_least=0.0), check_count(max_rounds, "max_rounds")
    known = attainable.columns() if columns is None else columns
    found = solution_of(fixed, known, tol=level, max_rounds=rounds)
    certified = attainable.exact and fixed.form != "smooth"
    if found.gap > 10 * max(level, 1e-12) and certified:
        warnings.warn(
            f"{metric.title} can still rise by up to {found.gap:.2g} after {len(found.gaps)} "
            "rounds; raise max_rounds, or accept the gap with tol=",
            KaratWarning,
            stacklevel=2,
        )
    shape = _shape(fixed, attainable.n_classes)
    return Optimum(
        metric=metric.title,
        value=float(found.value),
        gap=float(found.gap),
        tol=level,
        certified=certified,
        confusion=found.point.reshape(shape),
        mixture=joined(found.shares, known.makers),
        values=np.array(found.values),
        gaps=np.array(found.gaps),
    )


def solution_of(
    metric: MetricBase, columns: Columns, *, tol: float, max_rounds: int = 400
) -> Solution:
    """Maximise a metric over mixtures of the columns, by the solver that its form allows."""
    function = _flat(metric, columns)
    if metric.form == "gaps":
        return solve(fair_program(metric, columns), columns, tol=tol, max_rounds=max_rounds)
    if metric.form == "ratio":
        return best_ratio(metric, columns, tol=tol, max_rounds=max_rounds)
    if metric.form == "linear":
        return _best_linear(function, columns)
    if metric.form == "concave":
        return climb(function, columns, tol=tol, max_rounds=max_rounds)
    return follow(function, columns, tol=tol, max_rounds=max_rounds)


def _best_linear(function: Smooth, columns: Columns) -> Solution:
    """Return the best rule of each block for the slope, which is the same everywhere."""
    middle = np.sum([points.mean(axis=0) for points in columns.points], axis=0)
    slope = function.slopes(middle[None])[0]
    columns.look(slope[None])
    shares = [np.eye(len(p))[i] for p, i in zip(columns.points, columns.best(slope), strict=True)]
    point = np.sum([s @ p for s, p in zip(shares, columns.points, strict=True)], axis=0)
    value = float(function.values(point[None])[0])
    return Solution(value, 0.0, shares, point, np.empty(0), slope, [value], [0.0])


def joined(shares: list[FloatArray], rules: list[FloatArray], seed: int = 0) -> Mixture:
    """Return one mixture of rules for all blocks, weights (T, blocks, k, k).

    [0, 1) is cut where the shares of any block's rules end; in each piece every block has one
    rule. Blocks decide apart, so which of their rules come together does not matter.
    """
    used = [np.flatnonzero(s > 1e-12) for s in shares]
    ends = [np.cumsum(s[u] / s[u].sum()) for s, u in zip(shares, used, strict=True)]
    cuts = np.unique(np.round(np.concatenate([[0.0], *ends]), 12))
    cuts[-1] = 1.0
    middles = (cuts[1:] + cuts[:-1]) / 2
    weights = [
        rules[b][used[b][np.searchsorted(end, middles).clip(max=len(end) - 1)]]
        for b, end in enumerate(ends)
    ]
    return Mixture(np.diff(cuts), np.stack(weights, axis=1), seed=seed)


def _checked(metric: Any, attainable: AttainableSet) -> MetricBase:
    if not isinstance(metric, MetricBase):
        raise MetricError(f"metric is {metric!r}; expected a metric of karat.metrics")
    if metric.n_groups != attainable.n_groups:
        wanted, given = (
            "no groups" if n is None else f"{n} groups"
            for n in (metric.n_groups, attainable.n_groups)
        )
        raise MetricError(f"{metric.title} is for {wanted} and what is attainable has {given}")
    return metric.for_classes(attainable.n_classes)


def _shape(metric: MetricBase, k: int) -> tuple[int, ...]:
    return (k, k) if metric.n_groups is None else (metric.n_groups, k, k)


def _flat(metric: MetricBase, columns: Columns) -> Smooth:
    """Return the metric as a function of confusions that are written as rows."""
    groups = 1 if metric.n_groups is None else metric.n_groups
    shape = _shape(metric, int(np.sqrt(columns.dim // groups)))
    first = np.sum([points[0] for points in columns.points], axis=0)
    if metric.n_groups is not None:
        metric._values(first.reshape(1, *shape))  # says so where a group lacks a class

    def values(points: FloatArray) -> FloatArray:
        with warnings.catch_warnings():  # conventions at the edge need no warning in a search
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            return metric._values(points.reshape(-1, *shape))

    # A class that does not occur has no slope, and makes no difference.
    absent = (first.reshape(shape).sum(axis=-1, keepdims=True) == 0) & np.ones(shape, dtype=bool)

    def slopes(points: FloatArray) -> FloatArray:
        found = metric._gradients(points.reshape(-1, *shape))
        return np.where(absent, 0.0, found).reshape(len(points), -1)

    return Smooth(values, slopes)
