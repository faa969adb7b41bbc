"""Classifiers that are one fixed rule: the baselines."""

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.decisions.rules import decide, one_hot
from karat.optimize.post_shift import PostShiftClassifier

__all__ = ["RuleClassifier"]


class RuleClassifier(PostShiftClassifier):
    """Base of classifiers that decide by ``rule_``, the weights of a plug-in rule."""

    rule_: FloatArray

    def _codes(self, proba: FloatArray, basis: FloatArray) -> IntArray:
        return decide(proba, self.rule_, np.ones((len(proba), 1)))

    def _shares(self, proba: FloatArray, basis: FloatArray) -> FloatArray:
        return one_hot(self._codes(proba, basis), proba.shape[1])
