"""What should we measure? A metric from answers to "which of these two classifiers is better?".

A space says what classifiers attain, a family which metrics are possible. An `Elicitation` of both
asks, an oracle (a person, a program, an A/B test) answers, and the result is a metric with honest
limits. Evaluation pairs, check pairs and response times say how far the result, and the answers,
can be trusted.
"""

from karat.elicit._agreement import AgreementOnPairs, agreement_on, evaluation_pairs
from karat.elicit._elicitation import Elicitation
from karat.elicit._rate_space import RateSpace
from karat.elicit._shared_metric import SharedMetric, shared_metric
from karat.elicit.checks import CheckScores, indifference_test, score_checks
from karat.elicit.oracles import MetricOracle, RandomOracle, TerminalOracle
from karat.elicit.result import ElicitationResult
from karat.elicit.spaces import BinarySpace, ConfusionSpace, DiagonalSpace
from karat.elicit.transcript import Query, Transcript, load_transcript

__all__ = [
    "AgreementOnPairs",
    "BinarySpace",
    "CheckScores",
    "ConfusionSpace",
    "DiagonalSpace",
    "Elicitation",
    "ElicitationResult",
    "MetricOracle",
    "Query",
    "RandomOracle",
    "RateSpace",
    "SharedMetric",
    "TerminalOracle",
    "Transcript",
    "agreement_on",
    "evaluation_pairs",
    "indifference_test",
    "load_transcript",
    "score_checks",
    "shared_metric",
]
