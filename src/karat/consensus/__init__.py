"""How good are classifiers, or judges, from their votes alone.

`ErrorEstimator` estimates the error rates of voters with no labels, or a few, and says where votes
do not identify them; `compare_models` compares models of how voters err together on votes held out.
"""

from karat.consensus._annotator_test import annotator_test
from karat.consensus._cheapest_panel import cheapest_panel
from karat.consensus._compare_models import compare_models
from karat.consensus._consensus_label_model import ConsensusLabelModel
from karat.consensus._error_estimator import ErrorEstimator
from karat.consensus._pair_estimator import PairEstimator
from karat.consensus._position_bias import position_bias
from karat.consensus._rank_systems import rank_systems
from karat.consensus._score_estimator import ScoreEstimator
from karat.consensus.explanation_result import Explanations, RankingRobustness, VoterAgreement
from karat.consensus.model_result import CoClustering, ModelComparison
from karat.consensus.pair_result import PairErrors, PositionBias, SystemRanking
from karat.consensus.panel_result import JudgePanel
from karat.consensus.people_result import AnnotatorTest
from karat.consensus.result import ErrorRates
from karat.consensus.score_result import ScoreErrors

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
