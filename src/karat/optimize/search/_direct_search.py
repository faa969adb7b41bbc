"""A direct search over plug-in rules, for metrics whose slopes mislead.

A greatest gap between groups, or an absolute one, has corners, and its slope on one side of a
corner says nothing of the other. Rules have few weights, so a simplex of rules is turned, stretched
and shrunk by the values at its corners (Nelder and Mead 1965). It can follow a ridge on which
several weights have to change together, where moves of single weights stop.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from karat._typing import FloatArray, IntArray
from karat.optimize.feedback import Feedback
from karat.optimize.search._problem import Problem

__all__ = ["Rule", "climbed", "model_rule"]

_FIRST = 0.8  # how far the corners of the first simplex are from the model, as a logarithm
_LAST = 0.02  # the size at which a simplex is left alone


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
    """Return the best rule of a simplex search from a rule, in ``most`` evaluations."""
    best = start
    # One class is what the others are compared with.
    places = tuple(np.argwhere((start.weights != 0) & (np.arange(start.weights.shape[-1]) > 0)).T)

    def loss(logarithms: FloatArray) -> float:
        nonlocal best
        if not logarithms.any():
            return -start.value
        weights = start.weights.copy()
        weights[places] *= np.exp(logarithms)
        new = _rule(problem, feedback, weights)
        if new.value > best.value:
            best = new
        return -new.value

    n = len(places[0])
    simplex = np.vstack([np.zeros(n), _FIRST * np.eye(n)])
    minimize(
        loss, simplex[0], method="Nelder-Mead",
        options={"initial_simplex": simplex, "maxfev": most, "xatol": _LAST, "fatol": np.inf},
    )  # fmt: skip
    return best


def _rule(problem: Problem, feedback: Feedback, weights: FloatArray) -> Rule:
    at, codes = problem.rule(weights, sums=False, rows=feedback.needs_rows)
    return Rule(weights, codes, feedback.value(at))
