"""Counts of votes as the arguments of a fit."""

from typing import Any

import numpy as np

from karat.exceptions import DataError
from karat.statistics import Patterns, VoteCounts
from karat.statistics.kernels import effective_counts

__all__ = ["counted_arguments"]


def counted_arguments(
    votes: VoteCounts, domains: Any, y_true: Any, sample_weight: Any, label_probability: Any,
    classes: Any,
) -> tuple[Patterns, Any, Any]:  # fmt: skip
    """Return counted votes as patterns, with the domain and the true label of each."""
    beside = {
        "domains": domains, "y_true": y_true, "sample_weight": sample_weight,
        "label_probability": label_probability, "classes": classes,
    }  # fmt: skip
    for name, value in beside.items():
        if value is not None:
            raise DataError(
                f"votes are counts by domain and true label, and {name}= was passed; say it where "
                "the rows are counted, with the roles of karat.scan"
            )
    found = Patterns(
        patterns=votes.votes,
        counts=(
            votes.counts
            if votes.squares is None
            else effective_counts(votes.counts, votes.squares, votes.domain)
        ),
        ids=np.arange(len(votes.votes)),
        classes=votes.classes,
        names=votes.names,
        in_order=False,
    )
    labels = None
    if votes.label is not None and (votes.label >= 0).any():
        listed = votes.classes.tolist()
        labels = [None if code < 0 else listed[code] for code in votes.label.tolist()]
    where = None
    if votes.domains is not None and votes.domain is not None:
        where = votes.domains[votes.domain]
    return found, where, labels
