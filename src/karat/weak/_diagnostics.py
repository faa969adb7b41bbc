"""Coverage, overlap and conflict of labelers, from their votes alone."""

import numpy as np

from karat._result import keeps_kind
from karat._typing import Column, Frame
from karat.statistics.patterns import Patterns
from karat.votes.reading import read_weak_labels
from karat.weak.label_model import totals_of
from karat.weak.result import VoteDiagnostics


@keeps_kind
def vote_diagnostics(
    weak_labels: Frame | Patterns, *, classes: Column | None = None
) -> VoteDiagnostics:
    """Count how often each labeler votes, beside others and against them.

    Parameters
    ----------
    weak_labels : matrix or frame (n, m)
        One row per item, one column per labeler; -1 where a labeler abstained, null where it was
        not asked. Neither is a vote, so the diagnostics treat them alike.
    classes : column (k,), optional
        The classes in the wanted order; by default those found, sorted.

    Returns
    -------
    VoteDiagnostics
        Per labeler: ``coverage`` (share of items with its vote), ``overlap`` (with its vote and
        another's), ``conflict`` (with its vote and a different one), ``votes`` (share of all items
        with its vote for each class) and ``polarity`` (the classes it ever votes for); and
        ``uncovered``, the share of items without any vote.

    Examples
    --------
    >>> d = vote_diagnostics([[0, 0, -1], [1, -1, -1], [0, 1, 1], [-1, -1, -1]])
    >>> d.coverage.tolist(), d.overlap.tolist(), d.conflict.tolist()
    ([0.75, 0.5, 0.25], [0.5, 0.5, 0.25], [0.25, 0.25, 0.25])
    >>> d.polarity
    ((0, 1), (0, 1), (1,))
    """
    found = read_weak_labels(weak_labels, classes)
    codes, k = found.patterns, len(found.classes)
    share = found.counts / found.n
    totals = totals_of(codes, k)
    n_votes = totals.sum(axis=1)[:, None]
    voted = codes >= 0
    same = np.take_along_axis(totals, np.maximum(codes, 0), axis=1)
    votes = np.stack([share @ (codes == c) for c in range(k)], axis=1)
    labels = found.classes.tolist()
    answer = VoteDiagnostics(
        n=int(found.n),
        names=found.names,
        classes=found.classes,
        coverage=share @ voted,
        overlap=share @ (voted & (n_votes > 1)),
        conflict=share @ (voted & (n_votes > same)),
        votes=votes,
        polarity=tuple(tuple(c for c, v in zip(labels, row, strict=True) if v) for row in votes),
        uncovered=float(share @ ~voted.any(axis=1)),
    )
    return found._like(answer)
