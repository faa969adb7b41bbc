"""Distinct rows of a vote matrix."""

from karat._frames import keeps_kind
from karat._typing import Column, Frame
from karat.statistics.pattern_result import Patterns
from karat.statistics.reading import find_patterns

__all__ = ["patterns"]


@keeps_kind
def patterns(
    weak_labels: Frame,
    *,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    classes: Column | None = None,
    null: str = "not asked",
) -> Patterns:
    """Reduce a vote matrix to its distinct rows and how often each occurs.

    Parameters
    ----------
    weak_labels : matrix or frame (n, m)
        One row per item, one column per labeler; -1 where a labeler abstained, null where it was
        not asked.
    sample_weight : column (n,), optional
        Weights of at least 0, in any unit.
    weighting : {"importance", "frequency"}, optional
        What ``sample_weight`` means: importances, of which the sums of squares are kept too; or
        numbers of equal rows.
    classes : column (k,), optional
        The classes in the wanted order; by default those found, sorted.
    null : {"not asked", "abstain"}, default "not asked"
        What a null is. It is not asked unless said otherwise; -1 is always an abstention.

    Returns
    -------
    Patterns
        Patterns, counts, and the pattern of each row (of a lazy frame, in the order in which its
        rows came when it was collected). Two of them can be added.

    Notes
    -----
    Rows are read as numbers in base k+1 (k+2 with nulls) and ranked, by a table of counts while it
    is small and by a sort beyond that: O(n·m), and no copy of an integer matrix whose values are
    0..k-1 and -1.

    Examples
    --------
    >>> p = patterns([[1, -1], [0, 1], [1, -1]])
    >>> p.patterns
    array([[ 0,  1],
           [ 1, -1]])
    >>> p.counts.tolist(), p.ids.tolist()
    ([1, 2], [1, 0, 1])
    >>> patterns([[1, None], [0, -1]]).patterns.tolist()
    [[0, -1], [1, -2]]
    """
    return find_patterns(
        weak_labels, classes, sample_weight=sample_weight, weighting=weighting, null=null
    )
