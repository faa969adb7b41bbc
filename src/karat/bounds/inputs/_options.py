"""Checks of the options that the public functions of this package share."""

import warnings
from typing import Any

import numpy as np

from karat._callers import caller_level
from karat._typing import AnyArray, Column, FloatArray
from karat._validate import (
    check_choice,
    check_confidence,
    check_number,
    named,
    refuse_option,
)
from karat.bounds.inputs._read import Inputs
from karat.bounds.problem import Limit
from karat.exceptions import KaratWarning, MetricError
from karat.metrics import GroupMetric, Metric, as_metric
from karat.weak.models import check_class_prior

__all__ = [
    "check_groups",
    "check_limit",
    "check_method",
    "check_metric",
    "check_prior",
    "check_robustness",
    "sparse_share",
    "warn_if_sparse",
]

_RARE = 10  # fewer items than this determine P(Ŷ | z) of a pattern too poorly
_NOTABLE = 0.05  # share of the items in rare patterns from which the plug-in bounds are off


def check_metric(metric: Any) -> Metric:
    """Check a metric, or its name, where no groups are given."""
    chosen = as_metric(metric)
    if not isinstance(chosen, Metric):
        raise MetricError(
            f"{chosen.title} compares groups; bound it with performance_bounds(..., groups=...)"
        )
    return chosen


def check_groups(metric: GroupMetric, names: AnyArray | None) -> None:
    """Refuse groups that are not those of the metric."""
    if names is None:
        raise MetricError(f"{metric.title} compares groups; pass groups=, the group of each item")
    if len(names) != metric.n_groups:
        raise MetricError(
            f"{metric.title} is for {metric.n_groups} groups and groups holds {len(names)}: "
            f"{named(names.tolist())}. Pass a metric for that many, or merge or leave out groups"
        )


def check_method(method: Any, choices: tuple[str, ...] = ("crossfit", "plugin")) -> str:
    """Check the name of a method."""
    return check_choice(method, "method", choices)


def sparse_share(counts: AnyArray) -> float:
    """Return the share of the items in rare patterns."""
    return float(counts[counts < _RARE].sum() / counts.sum())


def warn_if_sparse(counts: AnyArray, which: str) -> None:
    """Warn that a method that takes observed frequencies for the law is too narrow here."""
    if (sparse := sparse_share(counts)) > _NOTABLE:
        warnings.warn(
            f"{100 * sparse:.0f} % of the items are in patterns seen fewer than {_RARE} times, "
            f"where the bounds of {which} are too narrow; use method='crossfit'",
            KaratWarning,
            stacklevel=caller_level(),
        )


def check_limit(limit: Any, confidence: Any, *, weighted: bool) -> Limit:
    """Check kind and confidence of the limits; ``weighted`` if items do not all count the same."""
    kind = check_choice(limit, "limit", ("skew", "normal", "bernstein"))
    level = check_confidence(confidence)
    if kind == "bernstein" and weighted:
        refuse_option(
            limit,
            "limit",
            "'skew' or 'normal' with weights, clusters or class probabilities as predictions, "
            "because 'bernstein' holds for items that are independent and count the same",
        )
    return Limit(kind, level)


def check_robustness(robustness: Any, name: str = "robustness") -> float:
    """Check the total variation by which P(Y | z) may be off."""
    return check_number(robustness, name, at_least=0.0, at_most=1.0)


def check_prior(class_prior: Column | None, inputs: Inputs) -> FloatArray | None:
    """Check a class prior, passed in the given order of the classes; return it positive last."""
    prior = check_class_prior(class_prior, inputs.given)
    return None if prior is None else np.asarray(prior[inputs.keep])
