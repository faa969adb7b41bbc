"""Requirements of label models: a class prior, and enough labelers."""

import numpy as np

from karat._typing import AnyArray, Column, FloatArray, IntArray
from karat._validate import named, read_column, shown
from karat.exceptions import LabelError, ProbabilityError, ShapeError

__all__ = [
    "check_class_prior",
    "require_three_voters",
]


def check_class_prior(class_prior: Column | None, classes: AnyArray) -> FloatArray | None:
    """Check a user's ``class_prior=``: one probability per class, summing to 1."""
    if class_prior is None:
        return None
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
            f"class_prior is {shown(prior.tolist())}; expected probabilities of at least 0"
        )
    if abs(prior.sum() - 1.0) > 1e-6:
        raise ProbabilityError(
            f"class_prior sums to {prior.sum():.6g}; expected 1. Divide it by its sum"
        )
    return np.asarray(prior / prior.sum())


def require_three_voters(codes: IntArray, model: str) -> None:
    """Refuse votes of fewer than three labelers, from which accuracies cannot be estimated."""
    voting = int((codes >= 0).any(axis=0).sum())
    if voting == 0:
        raise LabelError("every vote in weak_labels abstains; pass at least one vote")
    if voting < 3:
        of_all = "" if voting == codes.shape[1] else f" of {codes.shape[1]}"
        raise ShapeError(
            f"weak_labels has votes of {voting}{of_all} labeler{'s' * (voting > 1)}; {model} "
            "needs three or more, because two cannot tell who is right. MajorityVote works with "
            "any number, and OracleLabelModel with some true labels"
        )
