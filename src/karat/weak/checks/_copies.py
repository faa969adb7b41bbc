"""A labeler that may copy another, where a label model has failed."""

import numpy as np

from karat.votes.agreement import copying_forest, shared_votes
from karat.votes.em import ListedProblem, VoteLaw, fit_point, starting_state
from karat.votes.tables import VoteTable
from karat.weak.checks._evidence import Evidence

__all__ = ["copied_pair"]

_ITEMS = 30  # that both label; the agreement on fewer items is too uncertain
# A pair is only called a copy if it agrees this often, and this much more often than the others:
# the reason names two labelers, so it has to be plain to see.
_AGREE, _LEAD = 0.9, 0.15


def copied_pair(evidence: Evidence) -> tuple[int, float] | None:
    """Return the pair that may be a copy, and how often the other pairs agree (median); or None.

    The pair agrees far more often than the others, and `copying_forest` finds it too. Two labelers
    that are nearly always right agree as often as a labeler and its copy; the forest, which fits
    error rates, does not mistake them for one.
    """
    figures = evidence.agreement
    common = np.flatnonzero(figures.n >= _ITEMS)
    if len(common) < 3:
        return None
    most = int(common[figures.observed[common].argmax()])
    others = float(np.median(figures.observed[common[common != most]]))
    if figures.observed[most] < max(_AGREE, others + _LEAD):
        return None
    pair = {int(figures.first[most]), int(figures.second[most])}
    return (most, others) if pair in _edges(evidence) else None


def _edges(evidence: Evidence) -> list[set[int]]:
    """Return the pairs of which one labeler copies the other."""
    k = len(evidence.found.classes)
    table = VoteTable.of_codes(evidence.found.patterns, evidence.found.counts, k)
    problem = ListedProblem.of(table, VoteLaw.of_confusions(k, table.n_outcomes))
    state, _, _ = fit_point(problem, starting_state(problem, table.vote_shares()))
    parent = copying_forest(problem, state, shared_votes(table))
    if parent is None:
        return []
    return [{j, int(above)} for j, above in enumerate(parent) if above >= 0]
