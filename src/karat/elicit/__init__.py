"""What should we measure? A metric from answers to "which of these two classifiers is better?".

A space says what classifiers attain, a procedure asks, an oracle (a person, a program, an A/B test)
answers, and the result is a metric with honest limits. Evaluation pairs, check pairs and response
times say how far the result, and the answers, can be trusted.
"""

from karat.elicit._agreement_on import agreement_on
from karat.elicit._binary_linear import BinaryLinear
from karat.elicit._binary_linear_fractional import BinaryLinearFractional
from karat.elicit._diagonal_linear import DiagonalLinear
from karat.elicit._diagonal_linear_fractional import DiagonalLinearFractional
from karat.elicit._diagonal_monotone import DiagonalMonotone
from karat.elicit._evaluation_pairs import evaluation_pairs
from karat.elicit._fair import Fair
from karat.elicit._fair_quadratic import FairQuadratic
from karat.elicit._indifference_test import indifference_test
from karat.elicit._linear import Linear
from karat.elicit._linear_fractional import LinearFractional
from karat.elicit._polynomial import Polynomial
from karat.elicit._quadratic import Quadratic
from karat.elicit._score_checks import score_checks
from karat.elicit._shared_metric import shared_metric
from karat.elicit.answers import AgreementOnPairs, CheckScores, IndifferenceTest
from karat.elicit.oracles import MetricOracle, RandomOracle, TerminalOracle
from karat.elicit.people import SharedMetric
from karat.elicit.procedure import Procedure
from karat.elicit.result import AgreementHistory, AskedQuestions, ElicitationResult
from karat.elicit.spaces import BinarySpace, ConfusionSpace, DiagonalSpace, RateSpace, Space
from karat.elicit.transcript import Query, Transcript, load_transcript
from karat.elicit.weights import FairnessFrontier, TradeOff, WeightInterval, WeightTable

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
