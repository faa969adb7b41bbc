"""How good are classifiers, or judges, from their votes alone.

`ErrorEstimator` estimates the error rates of voters with no labels, or a few, and says where votes
cannot tell; `compare_models` chooses a model of how voters err together by votes held out.
"""

from karat.consensus._compare_models import compare_models
from karat.consensus._estimator import ErrorEstimator
from karat.consensus._label_model import ConsensusLabelModel
from karat.consensus.result import (
    CoClustering,
    ErrorRates,
    Explanations,
    ModelComparison,
    VoterAgreement,
)

__all__ = [
    "CoClustering",
    "ConsensusLabelModel",
    "ErrorEstimator",
    "ErrorRates",
    "Explanations",
    "ModelComparison",
    "VoterAgreement",
    "compare_models",
]
