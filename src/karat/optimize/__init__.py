"""How do we get a classifier that is good at it? Post-shift a model for the metric you want.

The metric may be known, or only be measured, or only be preferred by: a function of the validation
rows, a regulator's number, someone's choices. The model is not retrained.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from karat.optimize._feedback import Preferences
from karat.optimize.basis import Basis, Clusters, ColumnBasis, Constant, RadialBasis

if TYPE_CHECKING:
    from karat.optimize._classifiers import (
        CoordinateSearchClassifier,
        CostSensitiveClassifier,
        FrankWolfeClassifier,
        ImportanceWeightedClassifier,
        PlugInClassifier,
    )

__all__ = [
    "Basis",
    "Clusters",
    "ColumnBasis",
    "Constant",
    "CoordinateSearchClassifier",
    "CostSensitiveClassifier",
    "FrankWolfeClassifier",
    "ImportanceWeightedClassifier",
    "PlugInClassifier",
    "Preferences",
    "RadialBasis",
]

# Imported on first use: scikit-learn takes a second that results and pictures do not need.
_CLASSIFIERS = (
    "CoordinateSearchClassifier",
    "CostSensitiveClassifier",
    "FrankWolfeClassifier",
    "ImportanceWeightedClassifier",
    "PlugInClassifier",
)


def __getattr__(name: str) -> Any:
    if name in _CLASSIFIERS:
        return getattr(import_module("karat.optimize._classifiers"), name)
    raise AttributeError(f"module 'karat.optimize' has no attribute {name!r}")
