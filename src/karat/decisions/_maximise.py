"""The best classifier that can be made, for any metric."""

import warnings
from typing import Any

import numpy as np

from karat._callers import caller_level
from karat._frames import keeps_kind
from karat._validate import check_count, check_number
from karat.decisions._attainable import AttainableSet
from karat.decisions._mixture import Mixture
from karat.decisions.result import Optimum
from karat.decisions.solvers import (
    Columns,
    confusion_shape,
    solution_of,
)
from karat.exceptions import KaratWarning, MetricError
from karat.metrics import MetricBase

__all__ = ["maximise"]


@keeps_kind
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
            stacklevel=caller_level(),
        )
    shape = confusion_shape(fixed, attainable.n_classes)
    return Optimum(
        metric=metric.title,
        value=float(found.value),
        gap=float(found.gap),
        tol=level,
        certified=certified,
        confusion=found.point.reshape(shape),
        groups=attainable.groups,
        mixture=Mixture.of_blocks(found.shares, known.makers),
        values=np.array(found.values),
        gaps=np.array(found.gaps),
    )


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
