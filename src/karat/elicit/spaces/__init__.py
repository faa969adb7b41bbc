"""What classifiers can attain: the sets of confusions that may be asked about.

A `Space` describes the convex set of attainable confusions in the coordinates that a metric weighs:
`BinarySpace`, `DiagonalSpace`, `ConfusionSpace` and `RateSpace` are its kinds, built from a sample,
from probabilities or from a law. `QuestionSpace` is what a search for questions needs of any of
them; `JointRates` puts the rates of all groups of a `RateSpace` side by side, and `AnyClassifier`
holds the inside of the set too.
"""

from karat.elicit.spaces._any_classifier import AnyClassifier
from karat.elicit.spaces._binary_space import BinarySpace
from karat.elicit.spaces._confusion_space import ConfusionSpace
from karat.elicit.spaces._diagonal_space import DiagonalSpace
from karat.elicit.spaces._joint_rates import JointRates
from karat.elicit.spaces._question_space import QuestionSpace
from karat.elicit.spaces._rate_space import RateSpace
from karat.elicit.spaces._space import Space

__all__ = [
    "AnyClassifier",
    "BinarySpace",
    "ConfusionSpace",
    "DiagonalSpace",
    "JointRates",
    "QuestionSpace",
    "RateSpace",
    "Space",
]
