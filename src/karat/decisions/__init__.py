"""What classifiers can be made of given probabilities, and the best of them for a metric.

One rule (decide by weighted probabilities), one mixture of rules, one population on which they are
measured, one search for the best: `elicit`, `bounds` and `optimize` are built on these.
"""

from karat.decisions._attainable import Attainable
from karat.decisions._maximise import maximise
from karat.decisions.rules import BayesClassifier, Mixture, RandomizedClassifier

__all__ = [
    "Attainable",
    "BayesClassifier",
    "Mixture",
    "RandomizedClassifier",
    "maximise",
]
