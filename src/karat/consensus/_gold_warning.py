"""A warning of gold labels that are coded unlike the votes."""

import warnings

import numpy as np

from karat.consensus._explanations import labelled_errors
from karat.exceptions import KaratWarning
from karat.votes.reading import Votes

__all__ = ["warn_of_upside_down_gold"]


def warn_of_upside_down_gold(data: Votes) -> None:
    """Say so if every voter is wrong on most of its gold labels."""
    for domain in data.domains:
        table = domain.table
        labelled = table.gold >= 0
        if table.count[labelled].sum() < 5:
            continue
        known = table.with_counts(np.where(labelled, table.count, 0.0))
        truth = np.eye(table.n_classes)[np.maximum(table.gold, 0)]
        errors = labelled_errors(known, truth)
        asked = known.votes_cast >= 5
        if asked.any() and (errors[asked] > 0.5).all():
            where = "" if data.single else f" of domain {domain.name!r}"
            warnings.warn(
                f"every voter is wrong on more than half of its gold labels{where}; are the labels "
                "of y_true coded like those of votes?",
                KaratWarning,
                stacklevel=3,
            )
