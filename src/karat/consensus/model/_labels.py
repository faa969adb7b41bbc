"""Probable labels of patterns, and the errors of voters that follow from them."""

import numpy as np

from karat._typing import FloatArray
from karat.consensus.model._model import Problem
from karat.votes.tables import VoteTable

__all__ = ["class_proba", "labelled_errors"]


def class_proba(problem: Problem, component_proba: FloatArray) -> FloatArray:
    """Return P(class) of each pattern from P(component)."""
    classes, levels = problem.table.n_classes, problem.model.levels
    return np.asarray(component_proba.reshape(-1, classes, levels).sum(axis=2))


def labelled_errors(table: VoteTable, proba: FloatArray) -> FloatArray:
    """Return the share of each voter's votes that are wrong if the labels are as ``proba`` says.

    Abstentions do not count; NaN for a voter that cast no vote.
    """
    cast = table.outcome < table.n_classes
    pattern, voter = table.pattern_of_vote[cast], table.voter[cast]
    weight = table.count[pattern]
    wrong = weight * (1 - proba[pattern, table.outcome[cast]])
    votes = np.bincount(voter, weights=weight, minlength=table.n_voters)
    errors = np.bincount(voter, weights=wrong, minlength=table.n_voters)
    nothing = np.full(len(votes), np.nan)
    return np.asarray(np.divide(errors, votes, out=nothing, where=votes > 0))
