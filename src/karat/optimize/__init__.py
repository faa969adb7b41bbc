"""How do we get a classifier that is good at it? Post-shift a model for the metric you want.

The metric may be known, or only be measured, or only be preferred by: a function of the validation
rows, a regulator's number, someone's choices. The model is not retrained.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from karat.optimize.basis import Basis, Clusters, ColumnBasis, Constant, RadialBasis
from karat.optimize.feedback import Preferences
from karat.optimize.result import DecisionRegions, OptimizationHistory
from karat.optimize.weights_result import ClassWeights

if TYPE_CHECKING:
    from karat.optimize._coordinate_search_classifier import CoordinateSearchClassifier
    from karat.optimize._cost_sensitive_classifier import CostSensitiveClassifier
    from karat.optimize._frank_wolfe_classifier import FrankWolfeClassifier
    from karat.optimize._importance_weighted_classifier import ImportanceWeightedClassifier
    from karat.optimize._plug_in_classifier import PlugInClassifier

__all__ = [
    "Basis",
    "ClassWeights",
    "Clusters",
    "ColumnBasis",
    "Constant",
    "CoordinateSearchClassifier",
    "CostSensitiveClassifier",
    "DecisionRegions",
    "FrankWolfeClassifier",
    "ImportanceWeightedClassifier",
    "OptimizationHistory",
    "PlugInClassifier",
    "Preferences",
    "RadialBasis",
]

# Imported on first use: scikit-learn takes a second that results and pictures do not need.
_CLASSIFIERS = {
    "CoordinateSearchClassifier": "_coordinate_search_classifier",
    "CostSensitiveClassifier": "_cost_sensitive_classifier",
    "FrankWolfeClassifier": "_frank_wolfe_classifier",
    "ImportanceWeightedClassifier": "_importance_weighted_classifier",
    "PlugInClassifier": "_plug_in_classifier",
}


def __getattr__(name: str) -> Any:
    if name in _CLASSIFIERS:
        return getattr(import_module(f"karat.optimize.{_CLASSIFIERS[name]}"), name)
    raise AttributeError(f"module 'karat.optimize' has no attribute {name!r}")
