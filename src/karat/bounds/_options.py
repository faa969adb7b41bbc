"""Checks of the options that the functions of this package share."""

import warnings
from typing import Any

import numpy as np

from karat._typing import AnyArray, Column, FloatArray
from karat._validate import check_choice, check_confidence, check_number, named
from karat.bounds._inputs import Inputs
from karat.bounds._problem import Limit
from karat.exceptions import DataError, KaratWarning, MetricError
from karat.metrics import GroupMetric, Metric, as_metric
from karat.weak._checks import check_class_prior

__all__ = [
    "RARE",
    "check_groups",
    "check_limit",
    "check_method",
    "check_metric",
    "check_prior",
    "check_slack",
    "sparse_share",
    "warn_if_sparse",
]

RARE = 10  # a pattern seen less often than this says little of P(Ŷ | z)
_NOTABLE = 0.05


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
    return float(counts[counts < RARE].sum() / counts.sum())


def warn_if_sparse(counts: AnyArray, which: str) -> None:
    """Warn that a method that takes observed frequencies for the law is too narrow here."""
    if (sparse := sparse_share(counts)) > _NOTABLE:
        warnings.warn(
            f"{100 * sparse:.0f} % of the items are in patterns seen fewer than {RARE} times, "
            f"where the bounds of {which} are too narrow; use method='crossfit'",
            KaratWarning,
            stacklevel=3,
        )


def check_limit(limit: Any, confidence: Any, *, weighted: bool) -> Limit:
    """Check the kind and the confidence of the limits."""
    kind = check_choice(limit, "limit", ("normal", "bernstein"))
    level = check_confidence(confidence)
    if kind == "bernstein" and weighted:
        raise DataError(
            "limit='bernstein' holds for items that are independent and count the same; with "
            "weights, clusters or class probabilities as predictions use limit='normal'"
        )
    return Limit(kind, level)


def check_slack(robustness: Any) -> float:
    """Check a total variation."""
    return check_number(robustness, "robustness", at_least=0.0, at_most=1.0)


def check_prior(class_prior: Column | None, inputs: Inputs) -> FloatArray | None:
    """Check a class prior, passed in the given order of the classes."""
    prior = check_class_prior(class_prior, inputs.given)
    return None if prior is None else np.asarray(prior[inputs.keep])
