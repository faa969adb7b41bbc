"""What answers say beyond the metric: whether it predicts them, and whether they were thought over.

``read_answered`` reads answers with their questions, ``metric_margin`` is what a metric says of a
question, and ``neither_dominates``, ``better_side`` and ``worst_rates`` whether a question is one
at all; ``drawn_in`` makes classifiers fit to be shown by mixing them with ``safest_classifier``.
`AgreementOnPairs`, `CheckScores` and `IndifferenceTest` are the results; McNemar's test,
permutations and a logistic slope are what they are counted with.
"""

from karat.elicit.answers._agreement_on_pairs import AgreementOnPairs
from karat.elicit.answers._answered import Answered, check_pairs, read_answered, seconds_of
from karat.elicit.answers._association import (
    centred_ranks,
    logistic_slope,
    permutation_p_value,
    rank_correlation,
)
from karat.elicit.answers._check_scores import CheckScores
from karat.elicit.answers._dominance import better_side, neither_dominates, worst_rates
from karat.elicit.answers._indifference_test import IndifferenceTest
from karat.elicit.answers._metric_margin import ROUNDING, metric_margin
from karat.elicit.answers._paired import mcnemar_p_value, paired_limits
from karat.elicit.answers._safest import drawn_in, safest_classifier

__all__ = [
    "ROUNDING",
    "AgreementOnPairs",
    "Answered",
    "CheckScores",
    "IndifferenceTest",
    "better_side",
    "centred_ranks",
    "check_pairs",
    "drawn_in",
    "logistic_slope",
    "mcnemar_p_value",
    "metric_margin",
    "neither_dominates",
    "paired_limits",
    "permutation_p_value",
    "rank_correlation",
    "read_answered",
    "safest_classifier",
    "seconds_of",
    "worst_rates",
]
