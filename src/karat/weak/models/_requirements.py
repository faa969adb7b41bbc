"""Requirements of label models: a class prior, and enough labelers."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from karat._typing import AnyArray, Column, FloatArray, IntArray
from karat._validate import named, read_column, shown
from karat.exceptions import ProbabilityError, ShapeError

__all__ = [
    "check_class_prior",
    "require_voters",
]


def check_class_prior(class_prior: Column | None, classes: AnyArray) -> FloatArray | None:
    """Check a user's ``class_prior=``: one probability above 0 per class, summing to 1.

    A mapping has the classes as its keys; other values are in their order.
    """
    if class_prior is None:
        return None
    if isinstance(class_prior, int | float | np.number):
        even = [round(1 / len(classes), 3)] * len(classes)
        raise ProbabilityError(
            f"class_prior is the number {class_prior:g}; pass one probability for each of the "
            f"classes {named(list(classes))}, in this order, such as {shown(even)}, or a mapping "
            "from each class to its probability"
        )
    if isinstance(class_prior, Mapping):
        class_prior = _in_order(class_prior, classes)
    array, mask = read_column(class_prior, "class_prior")
    if array.dtype.kind not in "biuf":
        raise ProbabilityError(f"class_prior holds {shown(array[0])}; expected probabilities")
    if len(array) != len(classes):
        raise ShapeError(
            f"class_prior has {len(array)} values and there are {len(classes)} classes "
            f"{named(list(classes))}; pass one probability per class, in this order"
        )
    prior = array.astype(np.float64)
    if mask is not None or not np.isfinite(prior).all() or (prior < 0).any():
        raise ProbabilityError(
            f"class_prior is {shown(prior.tolist())}; expected probabilities above 0"
        )
    if not prior.all():
        never = [c for c, p in zip(list(classes), prior, strict=True) if p == 0]
        raise ProbabilityError(
            f"class_prior is {shown(prior.tolist())}, so that {named(never)} could never be true, "
            "whatever the votes say; expected probabilities above 0. Give a rare class a small one"
        )
    if abs(prior.sum() - 1.0) > 1e-6:
        raise ProbabilityError(
            f"class_prior sums to {prior.sum():.6g}; expected 1. Divide it by its sum"
        )
    return np.asarray(prior / prior.sum())


def _in_order(shares: Mapping[Any, Any], classes: AnyArray) -> list[Any]:
    listed = classes.tolist()
    if set(shares) != set(listed):
        raise ProbabilityError(
            f"class_prior names {named(list(shares))} and the classes are {named(listed)}; give "
            "each of them one probability"
        )
    return [shares[label] for label in listed]


def require_voters(codes: IntArray, model: str, *, least: int) -> None:
    """Refuse votes of fewer labelers than a model needs to see how often each is right."""
    voting = int((codes >= 0).any(axis=0).sum())
    if voting >= least:
        return
    of_all = "" if voting == codes.shape[1] else f" of {codes.shape[1]}"
    needs, because = (
        ("three", "two cannot tell who is right")
        if least == 3
        else ("two", "the votes of one say nothing of how often it is right")
    )
    raise ShapeError(
        f"weak_labels has votes of {voting}{of_all} labeler{'s' * (voting > 1)}; {model} "
        f"needs {needs} or more, because {because}. MajorityVote works with "
        "any number, and OracleLabelModel with some true labels"
    )
