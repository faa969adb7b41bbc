"""Checks of the options that the functions of this package share."""

from typing import Any

import numpy as np

from karat._typing import AnyArray, Column, FloatArray
from karat._validate import check_number
from karat.bounds._problem import Limit
from karat.exceptions import DataError
from karat.weak._checks import check_choice, check_class_prior

__all__ = ["check_limit", "check_method", "check_prior", "check_slack"]


def check_method(method: Any, choices: tuple[str, ...] = ("crossfit", "plugin")) -> str:
    """Check the name of a method."""
    return check_choice(method, "method", choices)


def check_limit(limit: Any, confidence: Any, *, weighted: bool) -> Limit:
    """Check the kind and the confidence of the limits."""
    kind = check_choice(limit, "limit", ("normal", "bernstein"))
    level = check_number(confidence, "confidence")
    if not 0.5 < level < 1:
        raise DataError(f"confidence is {confidence!r}; expected a number between 0.5 and 1")
    if kind == "bernstein" and weighted:
        raise DataError(
            "limit='bernstein' holds for items that are independent and count the same; with "
            "weights, clusters or class probabilities as predictions use limit='normal'"
        )
    return Limit(kind, level)


def check_slack(robustness: Any) -> float:
    """Check a total variation."""
    return check_number(robustness, "robustness", at_least=0.0, at_most=1.0)


def check_prior(class_prior: Column | None, classes: AnyArray) -> FloatArray | None:
    """Check a class prior in the order of the classes."""
    prior = check_class_prior(class_prior, classes)
    return None if prior is None else np.asarray(prior)
