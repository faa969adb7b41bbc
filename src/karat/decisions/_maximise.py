"""The best classifier that given probabilities allow, for any metric."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from karat._callers import caller_level
from karat._result import Estimate, basis_of, keeps_kind
from karat._sentences import Argument, Expected, Option, Remedy, Shown
from karat._validate import check_count, check_number, named
from karat.decisions._attainable import AttainableSet
from karat.decisions.result import Optimum
from karat.decisions.rules import Mixture
from karat.decisions.solvers import Columns, confusion_shape, solution_of
from karat.exceptions import KaratWarning, LabelError, MetricError, PositiveClassError
from karat.metrics.base import MetricBase


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
            KaratWarning(
                f"{metric.title} can still rise by up to {found.gap:.2g} after "
                f"{len(found.gaps)} rounds",
                Remedy("raise max_rounds, or accept the gap with ", Option("tol")),
            ),
            stacklevel=caller_level(),
        )
    shape = confusion_shape(fixed, attainable.n_classes)
    return Optimum(
        metric=metric.title,
        estimate=Estimate(
            value=float(found.value),
            lower=float(found.value),
            upper=float(found.value + found.gap) if certified else float("nan"),
            confidence=1.0,
            basis=basis_of("complete", decided=certified),
        ),
        gap=float(found.gap),
        tol=level,
        confusion=found.point.reshape(shape),
        groups=attainable.groups,
        mixture=Mixture.of_blocks(found.shares, known.makers),
        values=np.array(found.values),
        gaps=np.array(found.gaps),
    )


def _checked(metric: Any, attainable: AttainableSet) -> MetricBase:
    if not isinstance(metric, MetricBase):
        raise MetricError(
            Argument("metric"),
            f" is {metric!r}; expected ",
            Expected("a metric of karat.metrics"),
        )
    if metric.n_groups != attainable.n_groups:
        wanted, given = (
            "no groups" if n is None else f"{n} groups"
            for n in (metric.n_groups, attainable.n_groups)
        )
        raise MetricError(f"{metric.title} is for {wanted} and what is attainable has {given}")
    _check_order(metric, attainable)
    return metric.for_classes(attainable.n_classes)


def _check_order(metric: MetricBase, attainable: AttainableSet) -> None:
    """Refuse classes, or groups, that are in another order than those of the metric."""
    known = getattr(attainable, "classes", None)
    if known is not None:
        try:
            wanted = metric._order_of(
                known, stated=getattr(attainable, "stated", True), name="what is attainable"
            )
        except PositiveClassError as error:
            raise PositiveClassError(
                f"labels are {named(known.tolist())} and {metric.title} needs to know "
                "which is positive",
                Remedy(
                    "pass ",
                    Option("classes"),
                    " to Attainable.from_proba, the positive class last, for example ",
                    Option("classes", Shown(known.tolist())),
                    ", with the columns in this order",
                ),
            ) from error
        if wanted.tolist() != known.tolist():
            raise LabelError(
                f"{metric.title} is about {named(wanted.tolist())}, in this order, and the columns "
                f"of what is attainable are {named(known.tolist())}",
                Remedy(
                    "pass ",
                    Option("classes", Shown(wanted.tolist())),
                    " to Attainable.from_proba, with the columns in this order",
                ),
            )
    own = getattr(metric, "groups", None)
    if own is not None and attainable.n_groups is not None:
        found = attainable.groups.tolist()
        if list(own) != found and set(own) == set(found):
            raise LabelError(
                f"{metric.title} compares the groups {named(list(own))}, in this order, and what "
                f"is attainable has {named(found)}; name the groups of the metric in that order"
            )
