"""How good are classifiers, or judges, from their votes alone.

`ErrorEstimator` estimates the error rates of voters with no labels, or a few, and says where votes
do not identify them; `compare_models` compares models of how voters err together on votes held out.
"""

from karat.consensus._annotator_test import AnnotatorTest, annotator_test
from karat.consensus._cheapest_panel import JudgePanel, cheapest_panel
from karat.consensus._compare_models import compare_models
from karat.consensus._error_estimator import ErrorEstimator
from karat.consensus._label_model import ConsensusLabelModel
from karat.consensus._pair_estimator import PairEstimator, position_bias
from karat.consensus._rank_systems import rank_systems
from karat.consensus._score_estimator import ScoreErrors, ScoreEstimator
from karat.consensus.result import (
    CoClustering,
    ErrorRates,
    Explanations,
    ModelComparison,
    PairErrors,
    PositionBias,
    RankingRobustness,
    SystemRanking,
    VoterAgreement,
)

__all__ = [
    "AnnotatorTest",
    "CoClustering",
    "ConsensusLabelModel",
    "ErrorEstimator",
    "ErrorRates",
    "Explanations",
    "JudgePanel",
    "ModelComparison",
    "PairErrors",
    "PairEstimator",
    "PositionBias",
    "RankingRobustness",
    "ScoreErrors",
    "ScoreEstimator",
    "SystemRanking",
    "VoterAgreement",
    "annotator_test",
    "cheapest_panel",
    "compare_models",
    "position_bias",
    "rank_systems",
]
