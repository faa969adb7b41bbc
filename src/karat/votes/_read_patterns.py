"""Votes as patterns, whatever the table they come in."""

from karat._frames import keeps_kind
from karat._typing import Column, Frame
from karat.statistics import Patterns
from karat.votes.reading import read_weak_labels

__all__ = ["read_patterns"]


@keeps_kind
def read_patterns(
    weak_labels: Frame | Patterns,
    *,
    classes: Column | None = None,
    sample_weight: Column | None = None,
    null: str = "not asked",
) -> Patterns:
    """Read votes from a wide table, a long one or counts, and reduce them to patterns.

    The patterns can be passed wherever weak labels are: to label models, to bounds and to
    `karat.consensus.ErrorEstimator`. So a long table can be used with predictions, and parts of
    the data can be counted apart and added.

    Parameters
    ----------
    weak_labels : matrix, frame or Patterns
        Wide: one row per item, one column per labeler; -1 where a labeler abstained, null where it
        was not asked. Long: a frame with the columns ``item``, ``classifier`` and ``vote``; a pair
        of item and labeler without a row was not asked. Or patterns that were counted before.
    classes : column (k,), optional
        The classes in the wanted order; by default those found, sorted.
    sample_weight : column, optional
        Weights of at least 0, one per row; in a long table equal for all rows of an item.
    null : {"not asked", "abstain"}, default "not asked"
        What a null is. It is not asked unless said otherwise; -1 is always an abstention.

    Returns
    -------
    Patterns
        Rows of a wide table keep their order; the items of a long one are sorted.

    Examples
    --------
    >>> import pandas as pd
    >>> votes = {"item": [7, 7, 3], "classifier": ["a", "b", "b"], "vote": ["ham", "-1", "spam"]}
    >>> found = read_patterns(pd.DataFrame(votes))
    >>> found.labels()[found.ids].tolist()
    [[None, 'spam'], ['ham', -1]]
    """
    return read_weak_labels(weak_labels, classes, sample_weight=sample_weight, null=null)
