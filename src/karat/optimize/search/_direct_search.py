"""A direct search over plug-in rules, for metrics whose slopes mislead.

A greatest gap between groups, or an absolute one, has corners, and its slope on one side of a
corner says nothing of the other. Rules have few weights, so these are moved one by one, up and
down, as long as that helps.
"""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.optimize.feedback import Feedback
from karat.optimize.search._problem import Problem

__all__ = ["Rule", "climbed", "model_rule"]

_FIRST = 0.8  # how far a weight is moved at first, as a logarithm
_LAST = 0.02  # the move at which a weight is left alone
_LONGER, _SHORTER = 1.6, 0.4  # times a move after it helped, and after neither way did


class Rule(NamedTuple):
    """A plug-in rule: its weights, its decisions on the validation rows, and the metric there."""

    weights: FloatArray
    codes: IntArray
    value: float


def model_rule(problem: Problem, feedback: Feedback) -> Rule:
    """Return the rule that predicts the model's most probable class: all weights are alike."""
    k, n_basis = problem.probes.validation.n_classes, problem.probes.validation.basis.shape[1]
    one = np.eye(k) if problem.off_diagonal else np.ones(k)
    return _rule(problem, feedback, np.repeat(one[None], n_basis, axis=0))


def climbed(problem: Problem, feedback: Feedback, start: Rule, most: int) -> Rule:
    """Return the best rule that moves of single weights lead to, in ``most`` evaluations."""
    best, moves = start, dict.fromkeys(_places(start.weights), _FIRST)
    way = dict.fromkeys(moves, 1.0)  # the way that helped last is tried first
    spent = 0
    while moves and spent < most:
        for place in list(moves):
            for sign in (way[place], -way[place]):
                if spent >= most:
                    break
                weights = best.weights.copy()
                weights[place] *= np.exp(sign * moves[place])
                new = _rule(problem, feedback, weights)
                spent += 1
                if new.value > best.value:
                    best, way[place] = new, sign
                    moves[place] *= _LONGER
                    break
            else:
                moves[place] *= _SHORTER
                if moves[place] < _LAST:
                    del moves[place]
    return best


def _places(weights: FloatArray) -> list[tuple[int, ...]]:
    """Return the weights that are moved: one class is what the others are compared with."""
    every = np.argwhere(weights != 0)
    return [tuple(map(int, place)) for place in every if place[-1] > 0]


def _rule(problem: Problem, feedback: Feedback, weights: FloatArray) -> Rule:
    at, codes = problem.rule(weights, sums=False, rows=feedback.needs_rows)
    return Rule(weights, codes, feedback.value(at))
