"""What should we measure? A metric from answers to "which of these two classifiers is better?".

A space says what classifiers attain, a procedure asks, an oracle (a person, a program, an A/B test)
answers, and the result is a metric with honest limits. Evaluation pairs, check pairs and response
times say how far the result, and the answers, can be trusted.
"""

from karat.elicit._agreement import AgreementOnPairs, agreement_on, evaluation_pairs
from karat.elicit._checks import CheckScores, IndifferenceTest, indifference_test, score_checks
from karat.elicit._elicit_binary import BinaryLinear, BinaryLinearFractional
from karat.elicit._elicit_diagonal import DiagonalLinear, DiagonalLinearFractional, DiagonalMonotone
from karat.elicit._elicit_fair import Fair, FairQuadratic
from karat.elicit._elicit_general import Linear, LinearFractional, Polynomial, Quadratic
from karat.elicit._rate_space import RateSpace
from karat.elicit._shared_metric import SharedMetric, shared_metric
from karat.elicit.oracles import MetricOracle, RandomOracle, TerminalOracle
from karat.elicit.procedure._procedure import Procedure
from karat.elicit.result import (
    AgreementHistory,
    AskedQuestions,
    ElicitationResult,
    FairnessFrontier,
    TradeOff,
    WeightInterval,
    WeightTable,
)
from karat.elicit.spaces import BinarySpace, ConfusionSpace, DiagonalSpace, Space
from karat.elicit.transcript import Query, Transcript, load_transcript

__all__ = [
    "AgreementHistory",
    "AgreementOnPairs",
    "AskedQuestions",
    "BinaryLinear",
    "BinaryLinearFractional",
    "BinarySpace",
    "CheckScores",
    "ConfusionSpace",
    "DiagonalLinear",
    "DiagonalLinearFractional",
    "DiagonalMonotone",
    "DiagonalSpace",
    "ElicitationResult",
    "Fair",
    "FairQuadratic",
    "FairnessFrontier",
    "IndifferenceTest",
    "Linear",
    "LinearFractional",
    "MetricOracle",
    "Polynomial",
    "Procedure",
    "Quadratic",
    "Query",
    "RandomOracle",
    "RateSpace",
    "SharedMetric",
    "Space",
    "TerminalOracle",
    "TradeOff",
    "Transcript",
    "WeightInterval",
    "WeightTable",
    "agreement_on",
    "evaluation_pairs",
    "indifference_test",
    "load_transcript",
    "score_checks",
    "shared_metric",
]
