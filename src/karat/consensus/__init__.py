"""How good are classifiers, or judges, from their votes alone.

`ErrorEstimator` estimates the error rates of voters with no labels, or a few, and says where votes
do not identify them; `compare_models` compares models of how voters err together on votes held out.
What they return is described with them, and stands in `karat.consensus.result` (votes and scores)
and `karat.consensus.judged` (pairs, systems, panels, people).
"""

from karat.consensus._annotator_test import annotator_test
from karat.consensus._cheapest_panel import cheapest_panel
from karat.consensus._compare_models import compare_models
from karat.consensus._error_estimator import ErrorEstimator
from karat.consensus._label_model import ConsensusLabelModel
from karat.consensus._pair_estimator import PairEstimator, position_bias
from karat.consensus._rank_systems import rank_systems
from karat.consensus._score_estimator import ScoreEstimator

__all__ = [
    "ConsensusLabelModel",
    "ErrorEstimator",
    "PairEstimator",
    "ScoreEstimator",
    "annotator_test",
    "cheapest_panel",
    "compare_models",
    "position_bias",
    "rank_systems",
]
