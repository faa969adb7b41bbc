"""Classifiers that are one fixed rule: the baselines."""

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.optimize._estimator import PostShiftClassifier
from karat.optimize._rule import decide, one_hot

__all__ = ["RuleClassifier"]


class RuleClassifier(PostShiftClassifier):
    """Base of classifiers that decide by ``rule_``, the weights of a plug-in rule."""

    rule_: FloatArray

    def _codes(self, proba: FloatArray, basis: FloatArray) -> IntArray:
        return decide(proba, np.ones((len(proba), 1)), self.rule_)

    def _shares(self, proba: FloatArray, basis: FloatArray) -> FloatArray:
        return one_hot(self._codes(proba, basis), proba.shape[1])
