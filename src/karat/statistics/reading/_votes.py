"""Counts of votes by domain and true label, from what users pass."""

import numpy as np

from karat._typing import Column, FloatArray, Frame
from karat._validate import (
    check_same_length,
    check_weights,
    encode_gold,
    encode_groups,
    encode_weak_labels,
    present_gold,
    require_two_classes,
)
from karat.statistics.vote_result import VoteCounts, joined_votes

__all__ = ["count_votes"]


def count_votes(
    votes: Frame,
    counts: Column,
    *,
    domains: Column | None = None,
    y_true: Column | None = None,
    classes: Column | None = None,
    null: str = "not asked",
    squares: FloatArray | None = None,
) -> VoteCounts:
    """Return the votes of rows that stand for several items each; equal rows are added up.

    ``squares`` are the sums of squared weights, where ``counts`` are sums of importances.
    """
    also = None
    if y_true is not None and classes is None:
        values, present = present_gold(y_true)
        also = {"y_true": np.unique(values[present])} if present.any() else None
    found = encode_weak_labels(votes, classes, also=also, name="votes", null=null)
    require_two_classes(found.classes, "votes")
    weight = check_weights(counts, "counts")
    assert weight is not None
    codes, names = encode_groups(domains, name="domains")
    label = None if y_true is None else encode_gold(y_true, found.classes)
    check_same_length(votes=found.codes, counts=weight, domains=codes, y_true=label)
    whole = squares is None and bool((weight % 1 == 0).all())
    rows = VoteCounts(
        votes=found.codes.astype(np.int64),
        counts=weight.astype(np.int64) if whole else weight,
        classes=found.classes,
        names=tuple(found.names),
        domain=codes,
        domains=names,
        label=label,
        squares=squares,
    )
    return joined_votes([rows], found.classes, names)
